"""YAML that others wrote, as plain data: the only place that imports a YAML library.

Numbers are read as experimenters mean them (`1e-3` is a number, `on` is text, `1:30` is no sexagesimal), and what has a
tag of its own (`!!python/object: …`) becomes its plain data. The library gives the tree of nodes; what they stand for
is decided here, so that there is nothing that could construct anything else.

Invariant: nothing in a text is executed or constructed, and a text that is broken, too large or made to swell raises
`UnreadableYaml` and nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import yaml

SIZE_LIMIT: Final = 4 * 1024 * 1024
"""Characters; a larger text is no config."""

DEPTH_LIMIT: Final = 100
VALUE_LIMIT: Final = 100_000
"""Values in all, what aliases repeat counted each time: a text with more is made to swell."""


class UnreadableYaml(ValueError):
    """What is wrong, in words for the user."""


_CORE: Final = "tag:yaml.org,2002:"
_TEXT: Final = f"{_CORE}str"
_NULL: Final = f"{_CORE}null"
_BOOLEAN: Final = f"{_CORE}bool"
_MERGE: Final = f"{_CORE}merge"

_PLAIN: Final[dict[str, list[tuple[str, Callable[[str], object]]]]] = {}
"""By first character: (tag, whether a scalar without quotes is of it)."""

for _name, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?(?:0|[1-9][0-9_]*)|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        "-+0123456789.",
    ),
    ("null", r"~|null|Null|NULL", "~nN"),
    ("merge", r"<<", "<"),
):
    for _character in _first:
        _PLAIN.setdefault(_character, []).append((f"{_CORE}{_name}", re.compile(rf"(?:{_pattern})\Z").match))

_Base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):  # type: ignore[misc]
    """Composes nodes; is never asked to construct."""

    depth = 0

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is not yaml.ScalarNode or not implicit[0]:
            return _TEXT
        return _tag_of(value)

    def compose_node(self, parent: Any, index: Any) -> Any:
        # Only the library's Python part comes here, which has no bound of its own.
        self.depth += 1
        if self.depth > DEPTH_LIMIT + 1:
            raise _too_deep()
        try:
            return super().compose_node(parent, index)
        finally:
            self.depth -= 1


def load_yaml(text: str) -> Any:
    """The data of the first document of a text: dicts with text keys, lists, text, numbers, booleans, None.

    Raises `UnreadableYaml`.
    """
    if len(text) > SIZE_LIMIT:
        raise UnreadableYaml(f"is larger than {SIZE_LIMIT // 1024**2} MiB")
    try:
        loader = _Loader(text)
        try:
            node = loader.get_node() if loader.check_node() else None
        finally:
            loader.dispose()
        return None if node is None else _data(node, [VALUE_LIMIT], 0)
    except UnreadableYaml:
        raise
    except yaml.MarkedYAMLError as error:
        raise _unreadable(error.problem or error.context or "", error.problem_mark) from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise _unreadable(str(error), None) from error


def _tag_of(scalar: str) -> str:
    if not scalar:
        return _NULL
    for tag, fits in _PLAIN.get(scalar[0], ()):
        if fits(scalar):
            return tag
    return _TEXT


def _data(node: Any, left: list[int], depth: int) -> Any:
    """Plain data whose keys are text; what aliases repeat counts each time."""
    left[0] -= 1
    if left[0] < 0:
        raise UnreadableYaml("swells to more values than a config has")
    if isinstance(node, yaml.ScalarNode):
        convert = _CONVERT.get(node.tag)
        return node.value if convert is None else convert(node.value)
    if depth >= DEPTH_LIMIT:
        raise _too_deep()
    if isinstance(node, yaml.SequenceNode):
        return [_data(item, left, depth + 1) for item in node.value]
    own: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise _unreadable("found a key that is no text", key.start_mark)
        if key.tag == _MERGE:
            for name, item in _merged(value, left, depth + 1):
                merged.setdefault(name, item)
        else:
            own[_key(key)] = _data(value, left, depth + 1)
    return {**merged, **own} if merged else own


def _merged(node: Any, left: list[int], depth: int) -> Iterator[tuple[str, Any]]:
    """What `<<` takes over, the most important first."""
    for each in node.value if isinstance(node, yaml.SequenceNode) else (node,):
        if not isinstance(each, yaml.MappingNode):
            raise _unreadable("expected a mapping to merge", each.start_mark)
        yield from _data(each, left, depth).items()


def _key(node: Any) -> str:
    if node.tag == _NULL:
        return "null"
    text: str = node.value
    return text.lower() if node.tag == _BOOLEAN else text


def _boolean(text: str) -> bool | str:
    word = text.lower()
    return word == "true" if word in ("true", "false") else text


def _integer(text: str) -> int | str:
    """The text where it is no number that Python can hold."""
    try:
        return int(text.replace("_", ""), 0) if text[:2] in ("0x", "0o") else int(text)
    except ValueError:
        return text


def _float(text: str) -> float | str:
    for number in (text, text.lower().replace(".inf", "inf").replace(".nan", "nan")):
        try:
            return float(number)
        except ValueError:
            continue
    return text


def _nothing(text: str) -> None:
    return None


_CONVERT: Final[dict[str, Callable[[str], Any]]] = {
    _NULL: _nothing,
    _BOOLEAN: _boolean,
    f"{_CORE}int": _integer,
    f"{_CORE}float": _float,
}


def _too_deep() -> UnreadableYaml:
    return UnreadableYaml(f"is nested more than {DEPTH_LIMIT} levels deep")


def _unreadable(why: str, mark: Any) -> UnreadableYaml:
    where = f"line {mark.line + 1}: " if mark is not None else ""
    return UnreadableYaml(f"is no YAML: {where}{' '.join(why.split())[:200]}")
