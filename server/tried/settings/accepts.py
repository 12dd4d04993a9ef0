"""What a setting accepts: for the machine (a validator) and in words, both from its field in the model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import TypeAdapter
from pydantic.fields import FieldInfo


def adapter_of(setting: FieldInfo) -> TypeAdapter[Any]:
    """A validator of the field's type with its limits."""
    annotation: Any = setting.annotation
    for constraint in setting.metadata:
        annotation = Annotated[annotation, constraint]
    return TypeAdapter(annotation)


def validated(adapter: TypeAdapter[Any], value: Any) -> Any:
    """Read as JSON is read: strictly, but for lists and whole numbers (1.0 is one, as for JSON schemas). Raises
    ValueError."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        return adapter.validate_json(json.dumps(value, default=str), strict=True)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def accepted(schema: Mapping[str, Any]) -> str:
    """What a JSON schema accepts, in words: "a whole number from 0 to 10000"."""
    if "anyOf" in schema:
        return " or ".join(accepted(option) for option in schema["anyOf"] if option.get("type") != "null")
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(value) for value in schema["enum"])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        noun = "a whole number" if kind == "integer" else "a number"
        low, high = schema.get("minimum"), schema.get("maximum")
        above = schema.get("exclusiveMinimum")
        if low is not None and high is not None:
            return f"{noun} from {low:g} to {high:.12g}"
        if above is not None:
            return f"{noun} above {above:g}" + (f", at most {high:.12g}" if high is not None else "")
        return f"{noun} of at least {low:g}" if low is not None else noun
    if kind == "array":
        items = schema.get("items", {})
        if "enum" in items:
            return f"a list of {accepted(items)}"
        return "a list of text" if items.get("type") == "string" else "a list of tables"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"a table of {accepted(values)}" if isinstance(values, Mapping) else "a table"
    return {"boolean": "true or false", "string": "some text"}.get(str(kind), "a table")
