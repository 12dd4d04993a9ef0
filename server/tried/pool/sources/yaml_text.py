"""YAML that others wrote, as plain data: the only place that imports a YAML library.

Numbers are read as experimenters mean them (`1e-3` is a number, `on` is text, `1:30` is no sexagesimal), and what has a
tag of its own (`!!python/object: …`) becomes its plain data.

Invariant: nothing in a text is executed or constructed, and a text that is broken, too large or made to swell raises
`UnreadableYaml` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any, ClassVar, Final

import yaml

SIZE_LIMIT: Final = 4 * 1024 * 1024
"""Characters; a larger text is no config."""

DEPTH_LIMIT: Final = 100
VALUE_LIMIT: Final = 100_000
"""Values in all, what aliases repeat counted each time: a text with more is made to swell."""

_SWELLS: Final = "swells to more values than a config has"


class UnreadableYaml(ValueError):
    """What is wrong, in words for the user."""


_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Plain data only."""

    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}
    depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self.depth += 1
        if self.depth > DEPTH_LIMIT + 1:
            raise UnreadableYaml(f"is nested more than {DEPTH_LIMIT} levels deep")
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1

    def flatten_mapping(self, node: Any) -> None:
        super().flatten_mapping(node)
        if len(node.value) > VALUE_LIMIT:
            raise UnreadableYaml(_SWELLS)


def _plain(loader: Any, _tag: str, node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


def _scalar_as_text(loader: Any, node: Any) -> Any:
    return loader.construct_scalar(node) if isinstance(node, yaml.ScalarNode) else _plain(loader, node.tag, node)


def _number(loader: Any, node: Any) -> Any:
    """A number, or the text where it is none that Python can hold."""
    text = loader.construct_scalar(node)
    try:
        if node.tag == "tag:yaml.org,2002:int":
            return int(text.replace("_", ""), 0) if text[:2] in ("0x", "0o") else int(text)
        return float(text.replace("_", "").lower().replace(".inf", "inf").replace(".nan", "nan"))
    except ValueError:
        return text


_Loader.add_multi_constructor("", _plain)
for _tag in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _number)
for _tag in ("binary", "timestamp", "set", "omap", "pairs"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_tag}", _scalar_as_text)
for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})\Z"), [*_first])
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"\Z"), [""])


def load_yaml(text: str) -> Any:
    """The data of the first document of a text: dicts with text keys, lists, text, numbers, booleans, None.

    Raises `UnreadableYaml`.
    """
    if len(text) > SIZE_LIMIT:
        raise UnreadableYaml(f"is larger than {SIZE_LIMIT // 1024**2} MiB")
    try:
        loader = _Loader(text)
        try:
            data = loader.get_single_data() if "\n---" not in text else next(_documents(loader), None)
        finally:
            loader.dispose()
        return _unfolded(data, [VALUE_LIMIT], 0)
    except UnreadableYaml:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark is not None else ""
        raise UnreadableYaml(f"is no YAML: {where}{error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise UnreadableYaml(f"is no YAML: {' '.join(str(error).split())[:200]}") from error


def _documents(loader: Any) -> Any:
    while loader.check_data():
        yield loader.get_data()


def _unfolded(value: Any, left: list[int], depth: int) -> Any:
    """Plain data whose keys are text; what aliases repeat counts each time."""
    left[0] -= 1
    if left[0] < 0:
        raise UnreadableYaml(_SWELLS)
    if depth >= DEPTH_LIMIT and isinstance(value, dict | list | tuple | set):
        raise UnreadableYaml(f"is nested more than {DEPTH_LIMIT} levels deep")
    if isinstance(value, dict):
        return {_key(key): _unfolded(item, left, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [_unfolded(item, left, depth + 1) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _key(key: Hashable) -> str:
    if key is None or isinstance(key, bool):
        return "null" if key is None else str(key).lower()
    return str(key)
