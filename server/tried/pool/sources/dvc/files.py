"""What DVC's own files name: which files hold an experiment's parameters and its metrics, and what these hold.

Invariant: nothing here raises but `Unreadable`, whatever the texts hold, and no path that is named leads out of the
folder that DVC works in.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from tried.pool.record import as_number
from tried.pool.sources.common.run_files import Unreadable, json_in
from tried.pool.sources.common.yaml_text import UnreadableYaml, load_yaml

PARAMS: Final = "params.yaml"
LIVE: Final = "dvclive"
FILES_LIMIT: Final = 40
"""Files of parameters, and of metrics, of one experiment."""

METRICS_LIMIT: Final = 1_000
_DEEPEST: Final = 8


def named_files(pipeline: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(files of parameters, files of metrics) that a dvc.yaml names; DVC's usual ones come first whether named or not.

    Raises `Unreadable`.
    """
    params, metrics = [PARAMS, f"{LIVE}/params.yaml"], [f"{LIVE}/metrics.json"]
    data = _mapping(_yaml(pipeline)) if pipeline is not None else {}
    params += _paths(data.get("params"), "")
    metrics += _paths(data.get("metrics"), "")
    for stage in _mapping(data.get("stages")).values():
        inner = _mapping(_mapping(stage).get("do")) or _mapping(stage)
        folder = inner.get("wdir")
        folder = folder if isinstance(folder, str) else ""
        # An entry of a stage is a key of params.yaml, or {file: keys}.
        params += _paths([item for item in _list(inner.get("params")) if isinstance(item, dict)], folder)
        metrics += _paths(inner.get("metrics"), folder)
    return tuple(dict.fromkeys(params))[:FILES_LIMIT], tuple(dict.fromkeys(metrics))[:FILES_LIMIT]


def locked_params(lock: str | None) -> dict[str, Any]:
    """The parameters that the stages of a dvc.lock ran with, by dotted key. Raises `Unreadable`."""
    found: dict[str, Any] = {}
    data = _mapping(_yaml(lock)) if lock is not None else {}
    for stage in _mapping(data.get("stages")).values():
        for values in _mapping(_mapping(stage).get("params")).values():
            for key, value in flattened(_mapping(values)):
                found.setdefault(key, value)
    return found


def metrics_in(path: str, text: str) -> dict[str, Any]:
    """The numbers in a file of metrics, by dotted name; "nan" in text is one. Raises `Unreadable`."""
    lower = path.lower()
    if lower.endswith(".toml"):
        try:
            data: Any = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise Unreadable(f"is no TOML: {str(error)[:100]}") from None
    else:
        data = json_in(text) if lower.endswith(".json") else _yaml(text)
    found: dict[str, Any] = {}
    if not isinstance(data, dict):
        number = as_number(data)
        return {} if number is None else {posixpath.basename(path).partition(".")[0]: number}
    for key, value in flattened(data):
        number = as_number(value)
        if number is not None and len(found) < METRICS_LIMIT:
            found[key] = value if isinstance(value, int | float) else number
    return found


def flattened(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Dotted keys and plain values of nested mappings, in their order."""
    pending: list[tuple[str, Any, int]] = [(str(key), value, 0) for key, value in reversed(list(data.items()))]
    while pending:
        path, value, depth = pending.pop()
        if isinstance(value, dict) and value and depth < _DEEPEST:
            inner = [(f"{path}.{key}", item, depth + 1) for key, item in value.items()]
            pending.extend(reversed(inner))
        else:
            yield path, value


def merged(parts: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Values of several files: a key that a former file has with another value gets its file's name in front."""
    found: dict[str, Any] = {}
    for path, values in parts:
        stem = posixpath.splitext(path)[0].replace("/", ".")
        for key, value in values.items():
            if key not in found:
                found[key] = value
            elif found[key] != value:
                found[f"{stem}.{key}"] = value
    return found


def _paths(named: Any, folder: str) -> Iterator[str]:
    for item in _list(named):
        for path in item if isinstance(item, dict) else (item,):
            if not isinstance(path, str) or not path or "${" in path or "\n" in path:
                continue
            whole = posixpath.normpath(posixpath.join(folder, path))
            if not whole.startswith(("../", "/")) and whole not in ("..", "."):
                yield whole


def _yaml(text: str) -> Any:
    try:
        return load_yaml(text)
    except UnreadableYaml as error:
        raise Unreadable(str(error)) from None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
