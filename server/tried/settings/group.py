"""What the models of settings have in common, and what a field can say of itself.

What a field says beyond its type, in `json_schema_extra`: `adds_up` (each place adds to the list), `accepts` (in words,
where the type says too little), `or_text` (a table in the list may be a text), `names` and `keys` and `values` (what is
known), `key_pattern` (the same of keys, as a regular expression) and `pattern` (in words), `table_names` (the schema of
a name, of tables by name), `enum_descriptions`, `in_editor` (the description where the setting is not written in TOML),
`scope` (in VS Code; else `resource`), `trusted_only` (files of a workspace cannot set it).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict

ADDS_UP: dict[str, Any] = {"adds_up": True}
"""Marks a list to which each place adds; every other list replaces that of the weaker places."""

USER_ONLY: dict[str, Any] = {"scope": "machine"}
"""Marks what names servers or places outside: the .vscode/settings.json of a workspace is a file that came with it."""

TRUSTED_ONLY: dict[str, Any] = {"scope": "machine", "trusted_only": True}
"""Marks what a file of a workspace cannot set at all: it is about what the user keeps outside of it."""

WINDOW: dict[str, Any] = {"scope": "window"}
"""Marks what is one for a window of the editor, whatever folders are open in it."""

MACHINE_OVERRIDABLE: dict[str, Any] = {"scope": "machine-overridable"}
"""Marks what names programs: a workspace sets it only where the user trusts it."""


class Group(BaseModel):
    """Settings that belong together: immutable, strictly typed, without any that are not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=True)


def read_only(value: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(value))
