"""The settings in the manifest of the extension for VS Code: `contributes.configuration` of its package.json.

Invariant: of the manifest nothing is changed but the settings, and which of them an untrusted workspace cannot set.
Invariant: what names servers, places outside of the workspace or programs can be set by a workspace only where VS Code
asks the user first, or not at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tried.draft.syntax import parse
from tried.settings.extension_model import ExtensionSettings
from tried.settings.json_schema import Schema, extra_of, group_of, plain_default, value_schema
from tried.settings.model import Settings

CATEGORIES: Final = (
    ("Past Experiments", ("research_line", "pool", "remote")),
    ("Configs and Metrics", ("config", "metrics", "ranking", "policies", "trace")),
    ("Findings", ("findings", "silence")),
    ("In the Editor", ("hover", "code_actions", "code_lens", "inlay_hints", "completion", "links", "symbols")),
    ("While You Type", ("editor",)),
)
"""The titles under which the editor lists the server's settings, and the groups of each."""

SERVER: Final = "Server"
"""The title above the extension's own settings."""

RESTRICTED: Final = ("tried.path", "tried.interpreter", "tried.importStrategy", "tried.remote", "tried.pool.sources")
"""What a workspace cannot set as long as the user does not trust it."""

CONFIGURATION: Final = ("contributes", "configuration")
RESTRICTIONS: Final = ("capabilities", "untrustedWorkspaces", "restrictedConfigurations")

_SETTING = re.compile(r"`([a-z_]+(?:\.[a-z_]+)+)`")


def configuration() -> list[Schema]:
    """The categories, each with its settings in their order."""
    categories = [(SERVER, list(_settings_of(ExtensionSettings)))]
    for title, groups in CATEGORIES:
        wanted = {name: Settings.model_fields[name] for name in groups}
        categories.append((title, [setting for name, info in wanted.items() for setting in _settings_in(name, info)]))
    names = {".".join(path): editor_name(path) for _, settings in categories for path, _ in settings}
    return [
        {
            "title": title,
            "order": place,
            "properties": {
                editor_name(path): {**_property(info, names), "order": number}
                for number, (path, info) in enumerate(settings, start=1)
            },
        }
        for place, (title, settings) in enumerate(categories, start=1)
    ]


def editor_name(path: tuple[str, ...]) -> str:
    """``("ranking", "half_life_days")`` is ``tried.ranking.halfLifeDays`` in the editor."""
    return ".".join(("tried", *map(camel, path)))


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def manifest_with_settings(text: str) -> str:
    """A package.json with these settings in it. Raises ValueError if it lacks a place for them."""
    replaced = _replaced(text, CONFIGURATION, configuration())
    return _replaced(replaced, RESTRICTIONS, list(RESTRICTED))


def _settings_of(model: type[BaseModel], *above: str) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    for name, info in model.model_fields.items():
        yield from _settings_in(name, info, *above)


def _settings_in(name: str, info: FieldInfo, *above: str) -> Iterator[tuple[tuple[str, ...], FieldInfo]]:
    group = group_of(info)
    if group is None:
        yield (*above, name), info
    else:
        yield from _settings_of(group, *above, name)


def _property(info: FieldInfo, names: dict[str, str]) -> Schema:
    """One setting as the editor's list of settings shows it."""
    extra = extra_of(info)
    schema = value_schema(info, camel)
    if not info.is_required() and info.default is None:
        schema["type"] = [schema["type"], "null"]
    meanings = extra.get("enum_descriptions", {})
    for values in (schema, *(schema.get(place) for place in ("items", "additionalProperties"))):
        if isinstance(values, dict) and meanings and "enum" in values:
            values["enumDescriptions"] = [meanings[value] for value in values["enum"]]
    for values in schema.get("patternProperties", {}).values():
        values["enumDescriptions"] = [meanings[value] for value in values["enum"]]
    said = str(extra.get("in_editor", info.description or ""))
    return {
        "type": schema.pop("type"),
        "scope": extra.get("scope", "resource"),
        "default": plain_default(info),
        "markdownDescription": _SETTING.sub(lambda match: _linked(match, names), said),
        **schema,
    }


def _linked(match: re.Match[str], names: dict[str, str]) -> str:
    """The name of another setting becomes a link to it."""
    return f"`#{names[match[1]]}#`" if match[1] in names else match[0]


def _replaced(text: str, path: tuple[str, ...], value: Any) -> str:
    """The JSON text with another value at a path, all else as it was written."""
    place = next((entry for entry in parse(text, "json").entries if entry.path == path), None)
    if place is None:
        raise ValueError(f"there is no {'.'.join(path)} in it: add it with an empty list")
    depth = "  " * len(path)
    shown = json.dumps(value, indent=2, ensure_ascii=False).replace("\n", f"\n{depth}")
    return text[: place.span.start] + shown + text[place.span.end :]
