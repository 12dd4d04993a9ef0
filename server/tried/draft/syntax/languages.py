"""Which language a file is read as."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

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


def names_of_languages() -> dict[str, list[str]]:
    """Globs of the file names that each language is known by, in lower case."""
    names: dict[str, list[str]] = {}
    for extension, language in _BY_EXTENSION.items():
        names.setdefault(language, []).append(f"*.{extension}")
    names["env"] = [".env", ".env.*", *names["env"]]
    for name, language in _BY_NAME.items():
        if not any(fnmatchcase(name, glob) for glob in names[language]):
            names[language].append(name)
    return names


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
