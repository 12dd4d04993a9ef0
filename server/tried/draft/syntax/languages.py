"""Which language a file is read as."""

from __future__ import annotations

import re

_BY_EDITOR_ID = {
    "yaml": "yaml",
    "json": "json",
    "jsonc": "json",
    "json5": "json",
    "toml": "toml",
    "python": "python",
    "dotenv": "env",
    "env": "env",
    "properties": "env",
    "shellscript": "env",
    "shell": "env",
    "sh": "env",
    "bash": "env",
    "zsh": "env",
}
_BY_EXTENSION = {
    "yaml": "yaml",
    "yml": "yaml",
    "json": "json",
    "jsonc": "json",
    "json5": "json",
    "toml": "toml",
    "py": "python",
    "env": "env",
    "sh": "env",
    "bash": "env",
    "zsh": "env",
    "properties": "env",
}
_BY_NAME = {"mlproject": "yaml", ".envrc": "env"}

LANGUAGES = frozenset(_BY_EXTENSION.values())


def language_of(path: str, language_id: str | None = None) -> str | None:
    """The language to `parse` a file as, by the editor's language id, else by file name; None if we read none.

    Compound ids (``yaml.ansible``) count by their first part.
    """
    if language_id:
        known = _BY_EDITOR_ID.get(language_id.lower().partition(".")[0])
        if known:
            return known
    name = re.split(r"[/\\]", path)[-1].lower()
    if name in _BY_NAME:
        return _BY_NAME[name]
    if name == ".env" or name.startswith(".env."):
        return "env"
    stem, dot, extension = name.rpartition(".")
    return _BY_EXTENSION.get(extension) if dot and stem else None
