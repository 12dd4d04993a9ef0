"""A version of a config file from a repository, read exactly as the editor reads the file that is open.

Invariant: equal settings give equal parameters, whatever stands around them; reading executes nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from tried.draft.config_files import decided_by_name, is_config
from tried.draft.entries import EntryValue, ParsedConfig, Special
from tried.draft.parameters import comparable, normalise_key, parameters_of
from tried.draft.syntax import language_of, parse
from tried.draft.values import LONGEST_VALUE
from tried.pool.record import Change
from tried.storage.commit_cache import KnownConfig
from tried.text import Span

SIZE_LIMIT: Final = 1024 * 1024
"""Bytes of a file that is read as a config."""

PARAMETER_LIMIT: Final = 1_000
CHANGE_LIMIT: Final = 100

_REMEMBERED: Final = 6
_FEW: Final = 8
_SPACE = re.compile(r"\s+")


def may_be_config(path: str) -> bool:
    """By its name alone."""
    return language_of(path) is not None and decided_by_name(PurePosixPath(path)) is not False


def reads_as_config(path: str, text: str) -> bool:
    """Whether the editor would take it for a config, beside a results table."""
    language = language_of(path)
    return language is not None and is_config(PurePosixPath(path), parse(text, language), has_results_table_beside=True)


class ConfigVersions:
    """Reads versions of one file, one after the other. A version that differs from one of the last few in nothing but
    the values of constants, as most of a script's do, costs no more than these lines."""

    def __init__(self, path: str) -> None:
        self._language = language_of(path)
        self._last: deque[_Read] = deque(maxlen=_REMEMBERED)

    def read(self, text: str) -> KnownConfig:
        """The parameters of the first document of a text; none for a file in no language that we read."""
        if self._language is None:
            return KnownConfig({})
        lines = text.split("\n")
        if self._language == "python":
            for before in reversed(self._last):
                if (now := _with_other_values(before, lines)) is not None:
                    self._last.append(now)
                    return now.config
        parsed = parse(text, self._language)
        config = _config_of(parsed, text)
        if self._language == "python":
            self._last.append(_Read(lines, _constants(parsed, text), config))
        return config


@dataclass(frozen=True, slots=True)
class _Read:
    """`constants`: the line of each that is stated on a line of its own."""

    lines: Sequence[str]
    constants: Mapping[int, str]
    config: KnownConfig


def _constants(parsed: ParsedConfig, text: str) -> dict[int, str]:
    found: dict[int, str] = {}
    number, at = 0, 0
    for entry in sorted((entry for entry in parsed.entries if entry.key), key=lambda entry: entry.key or entry.span):
        start = entry.key.start if entry.key is not None else 0
        number += text.count("\n", at, start)
        at = max(at, start)
        alone = len(entry.path) == 1 and (start == 0 or text[start - 1] == "\n")
        if alone and not isinstance(entry.value, Special) and "\n" not in text[start : entry.span.end]:
            found[number] = str(entry.path[0])
    return found


def _with_other_values(before: _Read, lines: Sequence[str]) -> _Read | None:
    """None where anything but values of a few constants is other than before."""
    if len(lines) != len(before.lines):
        return None
    changed = [at for at, (old, new) in enumerate(zip(before.lines, lines, strict=True)) if old != new]
    if len(changed) > _FEW:
        return None
    params = dict(before.config.params)
    for at in changed:
        name = before.constants.get(at)
        old, new = _constant(before.lines[at]), _constant(lines[at])
        if name is None or old is None or new is None or old[:2] != new[:2] or new[0] != name or name not in params:
            return None
        params[name] = new[2]
    return _Read(lines, before.constants, KnownConfig(params, before.config.unknown, before.config.rest))


def _constant(line: str) -> tuple[str, str, Any] | None:
    """(name, the line without it, comment and space, value) of a line that states one constant and no more."""
    if line.rstrip().endswith("\\") or line[:1].isspace():
        return None
    parsed = parse(line, "python")
    if len(parsed.entries) != 1 or parsed.problems or len(parsed.entries[0].path) != 1:
        return None
    entry = parsed.entries[0]
    value = _plain(entry.value)
    if isinstance(entry.value, Special) or value is Special.UNKNOWN or entry.tag is not None:
        return None
    return str(entry.path[0]), _without(parsed, line), value


def config_of(path: str, text: str) -> KnownConfig:
    """One version alone."""
    return ConfigVersions(path).read(text)


def problem_in(path: str, text: str) -> str | None:
    """The first thing in a file that cannot be read, in words; None if there is none."""
    language = language_of(path)
    problems = parse(text, language).problems if language is not None else ()
    return problems[0].message if problems else None


def _config_of(parsed: ParsedConfig, text: str) -> KnownConfig:
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
    """A digest of what is neither a parameter nor a comment nor space: in a script, the code."""
    return hashlib.sha256(_without(parsed, text).encode("utf-8", "replace")).hexdigest()[:16]


def _without(parsed: ParsedConfig, text: str) -> str:
    """A text without the keys and values that can be read, comments and space."""
    spans = [
        Span(entry.key.start, entry.span.end) if entry.key is not None else entry.span
        for entry in parsed.entries
        if not isinstance(entry.value, Special)
    ]
    spans += [comment.span for comment in parsed.comments]
    parts: list[str] = []
    at = 0
    for span in sorted(spans):
        if span.start >= at:
            parts.append(text[at : span.start])
            at = span.end
    parts.append(text[at:])
    return _SPACE.sub("", "".join(parts))
