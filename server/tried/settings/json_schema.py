"""Settings as JSON schemas: that of a field for whoever shows one, and docs/tried.schema.json for a whole tried.toml.

Invariant: what the schema accepts, `load_settings` takes without a complaint, and the other way round; but for what
only the machine can tell (where a path leads), who wrote the file (`remote`), which policies there are, and other
spellings of a name.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tried.settings.accepts import adapter_of
from tried.settings.model import Settings

Schema = dict[str, Any]
Spelling = Callable[[str], str]
"""How the name of a field is written."""


def toml_schema() -> Schema:
    """The schema (draft-07) of a whole tried.toml."""
    properties: Schema = {}
    for name, info in Settings.model_fields.items():
        group = group_of(info)
        properties[name] = table_schema(group) if group else toml_field(info)
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "tried.toml",
        "description": "Settings of tried for a workspace folder, or the user's own. docs/settings.md explains them.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def group_of(info: FieldInfo) -> type[BaseModel] | None:
    """The model of a group of settings; None for a setting."""
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def extra_of(info: FieldInfo) -> Mapping[str, Any]:
    return info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}


def toml_field(info: FieldInfo) -> Schema:
    """A setting in a file, where there is no null: a setting without a value is left out."""
    schema: Schema = {"description": info.description or "", **value_schema(info)}
    schema = {"type": schema.pop("type"), **schema}
    if not info.is_required() and info.default is not None:
        schema["default"] = plain_default(info)
    return schema


def table_schema(model: type[BaseModel], spelled: Spelling = str) -> Schema:
    """A table of settings, with its descriptions."""
    schema: Schema = {
        "description": " ".join((model.__doc__ or "").split()),
        "type": "object",
        "additionalProperties": False,
        "properties": {
            spelled(name): table_schema(group, spelled) if (group := group_of(info)) else toml_field(info)
            for name, info in model.model_fields.items()
        },
    }
    if needed := [spelled(name) for name, info in model.model_fields.items() if info.is_required()]:
        schema["required"] = needed
    extra = model.model_config.get("json_schema_extra")
    return schema | (extra if isinstance(extra, dict) else {})


def value_schema(info: FieldInfo, spelled: Spelling = str) -> Schema:
    """What a setting accepts; tables in lists with their fields."""
    extra = extra_of(info)
    if (table := _table_in(info)) is not None:
        fields = table_schema(table, spelled)
        if "table_names" in extra:
            return {"type": "object", "propertyNames": dict(extra["table_names"]), "additionalProperties": fields}
        return {
            "type": "array",
            "items": {"anyOf": [{"type": "string", "minLength": 1}, fields]} if extra.get("or_text") else fields,
        }
    schema: Schema = _tidy(adapter_of(info).json_schema())
    if options := [option for option in schema.pop("anyOf", ()) if option.get("type") != "null"]:
        schema = {**options[0], **schema}
    if "values" in extra:
        schema["enum"] = list(extra["values"])
    if "key_pattern" in extra:
        schema["patternProperties"] = {extra["key_pattern"]: schema.pop("additionalProperties")}
        schema["additionalProperties"] = False
    return {"type": schema.pop("type"), **schema}


def plain_default(info: FieldInfo) -> Any:
    """The default as JSON has it."""
    value = info.default
    return _tidy(dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value)


def written(schema: Any) -> str:
    """JSON as it stands in a file."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _table_in(info: FieldInfo) -> type[BaseModel] | None:
    """The model of the items of a list of tables, or of tables by name."""
    found = (kind for kind in _inside(info.annotation) if isinstance(kind, type) and issubclass(kind, BaseModel))
    return next(found, None)


def _inside(kind: Any) -> Iterable[Any]:
    yield kind
    for inner in get_args(kind):
        yield from _inside(inner)


def _tidy(value: Any) -> Any:
    """Whole numbers without a point, as a person writes them."""
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
