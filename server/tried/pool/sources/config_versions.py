"""A version of a config file from a repository, read exactly as the editor reads the file that is open.

Invariant: equal settings give equal parameters, whatever stands around them; reading executes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from tried.draft.config_files import decided_by_name, is_config
from tried.draft.entries import EntryValue, ParsedConfig, Special
from tried.draft.parameters import comparable, normalise_key, parameters_of
from tried.draft.syntax import language_of, parse
from tried.draft.values import LONGEST_VALUE
from tried.pool.record import Change
from tried.storage.commit_cache import KnownConfig

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of a file that is read as a config."""

PARAMETER_LIMIT: Final = 1_000
CHANGE_LIMIT: Final = 100

_SPACE = re.compile(r"\s+")


def may_be_config(path: str) -> bool:
    """By its name alone."""
    return language_of(path) is not None and decided_by_name(PurePosixPath(path)) is not False


def reads_as_config(path: str, text: str) -> bool:
    """Whether the editor would take it for a config, beside a results table."""
    language = language_of(path)
    return language is not None and is_config(PurePosixPath(path), parse(text, language), has_results_table_beside=True)


def config_of(path: str, text: str) -> KnownConfig:
    """The parameters of the first document of a text; none for a file in no language that we read."""
    language = language_of(path)
    if language is None:
        return KnownConfig({})
    parsed = parse(text, language)
    params: dict[str, Any] = {}
    unknown: list[str] = []
    for parameter in parameters_of(entry for entry in parsed.entries if entry.document == 0)[:PARAMETER_LIMIT]:
        value = _plain(parameter.entry.value)
        if value is Special.UNKNOWN:
            unknown.append(parameter.shown)
        else:
            params[parameter.shown] = value
    return KnownConfig(params, tuple(unknown), _rest_of(parsed, text))


def changes_between(before: KnownConfig, after: KnownConfig) -> list[Change]:
    """What became of each parameter, in the order of the newer file; a value that cannot be read is not compared."""
    old, new = _by_key(before), _by_key(after)
    changes: list[Change] = []
    for key, (shown, value, meaning) in new.items():
        if key not in old:
            changes.append(Change(change="ParamAdded", key=shown, value=value))
        elif Special.UNKNOWN not in (meaning, old[key][2]) and meaning != old[key][2]:
            changes.append(
                Change.model_validate({"change": "ParamChanged", "key": shown, "from": old[key][1], "to": value})
            )
    changes += [
        Change(change="ParamRemoved", key=shown, value=value)
        for key, (shown, value, _) in old.items()
        if key not in new
    ]
    if len(changes) > CHANGE_LIMIT:
        more = len(changes) - CHANGE_LIMIT
        changes = [*changes[:CHANGE_LIMIT], Change(change="Unspecified", reason=f"{more:,} more parameters differ")]
    return changes


def _by_key(config: KnownConfig) -> Mapping[str, tuple[str, Any, object]]:
    found: dict[str, tuple[str, Any, object]] = {}
    for shown, value in config.params.items():
        found[normalise_key(shown)] = (shown, value, comparable(value))
    for shown in config.unknown:
        found[normalise_key(shown)] = (shown, None, Special.UNKNOWN)
    return found


def _plain(value: EntryValue) -> Any:
    if isinstance(value, Special):
        return Special.UNKNOWN
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return Special.UNKNOWN
    return list(value) if isinstance(value, tuple) else value


def _rest_of(parsed: ParsedConfig, text: str) -> str:
    """A digest of what is neither a value nor a comment nor space: in a script, the code."""
    spans = [entry.span for entry in parsed.entries if entry.value not in (Special.MAPPING, Special.LIST)]
    spans += [comment.span for comment in parsed.comments]
    parts: list[str] = []
    at = 0
    for span in sorted(spans):
        if span.start >= at:
            parts.append(text[at : span.start])
            at = span.end
    parts.append(text[at:])
    return hashlib.sha256(_SPACE.sub("", "\0".join(parts)).encode("utf-8", "replace")).hexdigest()[:16]
