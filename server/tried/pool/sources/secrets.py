"""Credentials that somebody logged with a run: they are no parameters of an experiment, and nobody wants to see them in
an editor, in a journal or in a message.

Invariant: what is hidden here stands in no record; the key stays, so that one sees that there was something.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

HIDDEN: Final = "(hidden)"

_NAMES = (
    r"api[-_.]?keys?|secrets?|secret[-_.]?(?:access[-_.]?)?keys?|passwords?|passwd|passphrase|credentials?"
    r"|(?:access|auth|bearer|refresh|hf|hub|wandb|github|gitlab|slack|mlflow[-_.]tracking|use[-_.]auth)[-_.]?tokens?"
    r"|(?:access|private|account|storage)[-_.]?keys?|connection[-_.]?string"
)
_KEY = re.compile(rf"(?i)(?:\A|[-_./ ]|(?<=[a-z])(?=[A-Z]))(?:{_NAMES})\Z")
_STATED = re.compile(rf"(?i)((?:{_NAMES})[\"']?\s*[=:]\s*)(?:\"[^\"]*\"|'[^']*'|[^\s,;'\"}}\]]+)")
_ADDRESS = re.compile(r"(\b[a-zA-Z][\w+.-]*://)[^/\s:@]*:[^/\s@]+@")
_KNOWN_TOKEN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|glpat-[\w-]{20,}|xox[abpr]-[\w-]{20,}"
    r"|sk-[A-Za-z0-9_-]{32,}|AKIA[0-9A-Z]{16})\b"
)
_HINT = re.compile(
    r"(?i)key|secret|passw|passphrase|credential|token|connection|://|hf_|gh\w_|github_pat|glpat|xox|sk-|AKIA"
)
_NOTHING: Final = frozenset({"", "true", "false", "none", "null"})


def without_secrets(value: Any) -> Any:
    """The same plain data without credentials: values of keys that name one, `key=value` in texts, and addresses with
    a password in them."""
    if isinstance(value, str):
        return _text_without(value)
    if isinstance(value, Mapping):
        if _is_harmless(value):
            return value
        return {
            key: HIDDEN if _names_secret(key) and _hides(item) else without_secrets(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    return value


def _is_harmless(texts: Mapping[Any, Any]) -> bool:
    """A quick look: most mappings hold short texts and numbers under names of no credential."""
    if any(map(_names_secret, texts)):
        return False
    try:
        return not _HINT.search("\n".join(texts.values()))
    except TypeError:
        return False


@lru_cache(maxsize=65_536)
def _names_secret(key: object) -> bool:
    return isinstance(key, str) and bool(_KEY.search(key))


def _hides(value: Any) -> bool:
    """Switches, numbers of tokens and what is not set are no secrets; nor are groups, which are looked into."""
    return (
        isinstance(value, str)
        and bool(value.strip())
        and value.strip().lower() not in ("true", "false", "none", "null")
    )


def _text_without(text: str) -> str:
    if not _HINT.search(text):
        return text
    text = _ADDRESS.sub(rf"\1{HIDDEN}@", text)
    text = _KNOWN_TOKEN.sub(HIDDEN, text)
    return _STATED.sub(rf"\1{HIDDEN}", text)
