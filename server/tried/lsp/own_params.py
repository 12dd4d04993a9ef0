"""How the params of our own requests are read: what is misspelled or misplaced is refused, for the answer would be one
to another question.

Names are in camel case on the wire, as those of the specification; the snake case of our answers is taken as well.
Params that the specification allows with every request are passed over.
"""

from __future__ import annotations

import difflib
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final

import attrs
import cattrs
from cattrs.gen import make_dict_structure_fn, make_dict_unstructure_fn, override

OF_EVERY_REQUEST: Final = frozenset({"workDoneToken", "partialResultToken", "_meta"})
EXAMPLE: Final = "example"
"""Metadata of a field that takes a table: one such table, as JSON."""

_OURS: Final = "tried."
_SHOWN: Final = 60
_MOST_NAMED: Final = 5


def register(converter: cattrs.Converter, kind: type[Any]) -> None:
    """Makes the converter read and write an attrs class of ours, and those of its fields that are such themselves."""
    hints = typing.get_type_hints(kind)
    for field in attrs.fields(kind):
        for part in (hints[field.name], *typing.get_args(hints[field.name])):
            if isinstance(part, type) and attrs.has(part) and part.__module__.startswith(_OURS):
                register(converter, part)
    names = {field.name: _camel_case(field.name) for field in attrs.fields(kind)}
    renamed = {name: override(rename=spelled) for name, spelled in names.items() if spelled != name}
    read = make_dict_structure_fn(kind, converter, **renamed)  # type: ignore[arg-type]
    converter.register_structure_hook(kind, _strict(kind, hints, names, read))
    converter.register_unstructure_hook(kind, make_dict_unstructure_fn(kind, converter, **renamed))  # type: ignore[arg-type]


def _strict(
    kind: type[Any], hints: Mapping[str, Any], names: Mapping[str, str], read: Callable[[Mapping[str, Any], Any], Any]
) -> Callable[[Any, Any], Any]:
    fields = {names[field.name]: field for field in attrs.fields(kind)}

    def structured(value: Any, wanted: Any) -> Any:
        if not isinstance(value, dict):
            raise TypeError(f"expected an object, got {json_kind(value)}")
        data = {names.get(name, name): item for name, item in value.items()}
        if unknown := [name for name in data if name not in fields and name not in OF_EVERY_REQUEST]:
            raise ValueError(_unknown(unknown, list(fields)))
        for name, field in fields.items():
            if data.get(name) is not None:
                data[name] = _checked(name, data[name], hints[field.name], field.metadata.get(EXAMPLE))
        return read(data, wanted)

    return structured


def _checked(name: str, value: Any, hint: Any, example: str | None) -> Any:
    """Numbers here count things, and an object is an object. Raises ValueError, TypeError."""
    takes = {typing.get_origin(part) or part for part in (hint, *typing.get_args(hint))}
    if any(part is dict or attrs.has(part) for part in takes) and not isinstance(value, dict):
        as_in = f" such as {example}" if example is not None else ""
        raise TypeError(f"{name}: expected an object{as_in}, got {json_kind(value)}")
    if bool in takes and not isinstance(value, bool):
        raise TypeError(f"{name}: expected true or false, got {json_kind(value)}")
    if int in takes:
        is_whole = isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1
        if not is_whole or value < 0:
            shown = f"{value:.12g}" if isinstance(value, float) else json_kind(value)
            shown = str(value)[:_SHOWN] if isinstance(value, int) and not isinstance(value, bool) else shown
            raise ValueError(f"{name}: expected a whole number of at least 0, got {shown}")
        return int(value)
    return value


def _unknown(names: list[str], known: list[str]) -> str:
    shown = ", ".join(name if len(name) <= _SHOWN else f"{name[: _SHOWN - 1]}…" for name in names[:_MOST_NAMED])
    near = difflib.get_close_matches(names[0][:_SHOWN], known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    return f"{shown}: nothing that is known here; {hint}"


def _camel_case(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.title() for part in rest)


def json_kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "text" if isinstance(value, str) else "true or false" if isinstance(value, bool) else "a number"
