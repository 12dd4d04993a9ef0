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
    r"api[-_.]?keys?|secrets?|secret[-_.]?(?:access[-_.]?)?keys?|passwords?\d*|passwd|passphrase|pwd|credentials?"
    r"|(?:access|auth|bearer|refresh|api|hf|hub|wandb|github|gitlab|slack|mlflow[-_.]tracking|use[-_.]auth)[-_.]?tokens?"
    r"|(?:access|private|account|storage)[-_.]?keys?|connection[-_.]?string|authorization"
)
_PERHAPS = r"tokens?|auth|bearer|pass|sig|signature"
"""Names of credentials and of many other things (`token`, `auth`): what they hold must look like one."""

_KEY = re.compile(rf"(?i)(?:\A|[-_./ ]|(?<=[a-z])(?=[A-Z]))(?:{_NAMES})\Z")
_PERHAPS_KEY = re.compile(rf"(?i)(?:\A|[-_./ ])(?:{_PERHAPS})\Z")
_RANDOM = re.compile(r"(?=[^\s]*\d)(?=[^\s]*[A-Za-z])[\w.~+/=-]{16,}\Z")
"""Letters and digits in one piece, as nobody makes up."""

# What may repeat is bounded below: a hostile text must not make a search take the square of its length.

_VALUE = r"(?:\"[^\"]*\"|'[^']*'|[^\s,;'\"}\]]+)"
_STATED = re.compile(rf"(?i)((?:{_NAMES})[\"']?\s*[=:]\s*(?:bearer\s+|basic\s+)?){_VALUE}")
_OPTION = re.compile(rf"(?i)(--(?:[\w-]{1, 30}-)?(?:{_NAMES}|tokens?)(?:\s+|=)){_VALUE}")
_BEARER = re.compile(r"(?i)(\bbearer\s+)[\w.~+/=-]{8,}")
_IN_ADDRESS = re.compile(r"(?i)([?&](?:access_)?(?:token|sig|signature|key|apikey|x-amz-signature|auth)=)[^&\s\"'#]+")
_PERHAPS_STATED = re.compile(r"(?i)(\btokens?[\"']?\s*[=:]\s*[\"']?)(?=\S{0,60}\d)(?=\S{0,60}[A-Za-z])[\w.~+/=-]{16,}")
_ADDRESS = re.compile(r"(\b[a-zA-Z][\w+.-]{0,20}://)(?:[^/\s:@]*:[^/\s@]+|[^/\s:@]{16,})@")
_KNOWN_TOKEN = re.compile(
    r"\b(?:hf_[A-Za-z0-9]{30,}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{40,}|glpat-[\w-]{20,}|xox[abpr]-[\w-]{20,}"
    r"|sk-[A-Za-z0-9_-]{32,}|AKIA[0-9A-Z]{16}|eyJ[\w-]{10,400}\.eyJ[\w-]{10,4000}\.[\w-]{10,}"
    r"|hooks\.slack\.com/services/[\w/]{20,})"
)
_HINTS: Final = (
    *(
        "key",
        "secret",
        "passw",
        "passphrase",
        "pwd",
        "credential",
        "token",
        "connection",
        "auth",
        "bearer",
        "://",
        "sig=",
    ),
    *("signature=", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat", "glpat", "xox", "sk-", "akia", "eyj"),
    "hooks.slack",
)
"""In lower case: a text without any of them has nothing that the patterns above find."""
_NOTHING: Final = frozenset({"", "true", "false", "none", "null"})


def without_secrets(value: Any) -> Any:
    """The same plain data without credentials: values of keys that name one, `key=value` in texts, and addresses with
    a password in them."""
    if isinstance(value, str):
        return _text_without(value)
    if isinstance(value, Mapping):
        if _is_harmless(value):
            return value
        return {key: _item_without(key, item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(item) for item in value]
    return value


def names_secret(key: object) -> bool:
    """Whether values of a parameter of this name are credentials."""
    return _names_secret(key) == "surely"


def _item_without(key: object, item: Any) -> Any:
    names = _names_secret(key)
    if names == "surely":
        return _hidden(item)
    if names == "perhaps" and isinstance(item, str) and _RANDOM.match(item.strip()):
        return HIDDEN
    return without_secrets(item)


def _hidden(value: Any) -> Any:
    """All texts below a key that names a credential; switches and numbers stay."""
    if isinstance(value, str):
        return value if value.strip().lower() in _NOTHING else HIDDEN
    if isinstance(value, Mapping):
        return {key: _hidden(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(item) for item in value]
    return value


def _is_harmless(texts: Mapping[Any, Any]) -> bool:
    """A quick look: most mappings hold short texts and numbers under names of no credential."""
    if any(map(_names_secret, texts)):
        return False
    try:
        return not _hints("\n".join(texts.values()))
    except TypeError:
        return False


@lru_cache(maxsize=65_536)
def _names_secret(key: object) -> str:
    """`surely`, `perhaps`, or nothing."""
    if not isinstance(key, str):
        return ""
    return "surely" if _KEY.search(key) else "perhaps" if _PERHAPS_KEY.search(key) else ""


def _hints(text: str) -> bool:
    lower = text.lower()
    return any(hint in lower for hint in _HINTS)


def _text_without(text: str) -> str:
    if not _hints(text):
        return text
    text = _ADDRESS.sub(rf"\1{HIDDEN}@", text)
    text = _KNOWN_TOKEN.sub(HIDDEN, text)
    for pattern in (_STATED, _OPTION, _BEARER, _IN_ADDRESS, _PERHAPS_STATED):
        text = pattern.sub(rf"\1{HIDDEN}", text)
    return text
