"""A run's folder in a file store of MLflow's: `meta.yaml`, and a file for each parameter, metric and tag."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.yaml_text import UnreadableYaml, load_yaml
from tried.pool.sources.mlflow.batch import NAN, StoredRun
from tried.pool.sources.mlflow.run import RunInfo
from tried.pool.sources.mlflow.tables import milliseconds
from tried.storage.files import reason_of
from tried.storage.paths import UNFOLLOWED, is_link, open_plain, plain_descriptor

META: Final = "meta.yaml"
PARTS: Final = frozenset({"params", "metrics", "tags"})

VALUE_LIMIT: Final = 64 * 1024
"""Bytes of a parameter or tag that are read."""

PAGE: Final = 4 * 1024
"""Bytes at the end of a metric's history in which its last value is looked for."""

HISTORY_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of the history of a metric that ended as no finite number in which the first such step is looked for."""

FILES_LIMIT: Final = 10_000
DEPTH_LIMIT: Final = 16
"""Files and nested folders (a `/` in a key makes one) of one run's parameters, metrics or tags."""

_LINE = re.compile(r"(\w+): ?([^'\"&*!|>%@`{\[\]}#,:?\n -](?:[^:#\n]|:(?=\S)|(?<=\S)#)*|'[^'\n]*'|)\Z")


class UnreadableRun(Exception):
    """What of a run cannot be read and why, in words for the user."""


def read_meta(folder: Path) -> dict[str, Any]:
    """What `meta.yaml` says. Raises `FileNotFoundError` and `UnreadableRun`."""
    try:
        text = _text(plain_descriptor(f"{folder}/{META}", follow=False))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableRun(f"{META} cannot be read: {reason_of(error)}") from error
    plain = _plain_meta(text)
    if plain is not None:
        return plain
    try:
        data = load_yaml(text)
    except UnreadableYaml as error:
        raise UnreadableRun(f"{META} {error}") from error
    if not isinstance(data, dict):
        raise UnreadableRun(f"{META} is {'empty' if data is None else 'no mapping'}")
    return data


def read_run(folder: Path, meta: dict[str, Any], experiment: str | None, places: tuple[str, ...]) -> StoredRun:
    """The run as its files say; its id is the folder's name, as for MLflow itself.

    Raises `UnreadableRun` if one of the files cannot be read.
    """
    run = StoredRun(RunInfo(run_id=folder.name), places=places)
    written: int | float | None = None
    try:
        for key, path in _files(folder / "params"):
            run.params[key] = _text(os.open(path, UNFOLLOWED))
        for key, path in _files(folder / "tags"):
            run.tags[key] = _text(os.open(path, UNFOLLOWED))
        for key, path in _files(folder / "metrics"):
            last = _last_value(path)
            if last is None:
                continue
            run.metrics[key] = last[2]
            written = max(last[1], written or 0)
            if not -float("inf") < last[2] < float("inf"):
                run.nonfinite[key] = _first_nonfinite(path)
    except OSError as error:
        which = str(error.filename or "a file").removeprefix(f"{folder}/")
        raise UnreadableRun(f"{which} cannot be read: {reason_of(error)}") from error
    name, status = meta.get("run_name") or meta.get("name"), meta.get("status")
    run.info = RunInfo(
        run_id=folder.name,
        name=str(name) if name else None,
        status=status if isinstance(status, str | int) else None,
        started=milliseconds(meta.get("start_time")),
        ended=milliseconds(meta.get("end_time")),
        last_written=written,
        experiment=experiment,
    )
    return run


def stamp_of(folder: str, with_histories: bool) -> int:
    """Equal as long as nothing was written to the run: `meta.yaml`, the folders of its parts, the files of its tags
    and, if wanted, of its metrics, which only grow while it runs. A parameter is never changed, only added."""
    stamps: list[object] = []
    followed = ("metrics", "tags") if with_histories else ("tags",)
    pending = [(folder, True)]
    while pending and len(stamps) < FILES_LIMIT:
        place, is_run = pending.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if is_run and entry.name in followed and entry.is_dir(follow_symlinks=False):
                        pending.append((entry.path, False))
                    elif not is_run or entry.name == META or entry.name in PARTS:
                        found = entry.stat(follow_symlinks=False)
                        stamps.append((entry.name, found.st_mtime_ns, found.st_size))
                        if not is_run and stat.S_ISDIR(found.st_mode):
                            pending.append((entry.path, False))
        except OSError:
            stamps.append(None)
    return hash(tuple(stamps))


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    """(key, path) of all files below a folder, in the order of the keys; links are not followed."""
    pending = [("", str(folder), 0)]
    found: list[tuple[str, str]] = []
    if is_link(folder):
        raise UnreadableRun(f"{folder.name} is a link and is not read")
    while pending:
        prefix, place, depth = pending.pop()
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    if entry.is_file(follow_symlinks=False):
                        found.append((prefix + entry.name, entry.path))
                    elif entry.is_dir(follow_symlinks=False) and depth < DEPTH_LIMIT:
                        pending.append((f"{prefix}{entry.name}/", entry.path, depth + 1))
                    if len(found) > FILES_LIMIT:
                        raise UnreadableRun(f"{folder.name} holds more than {FILES_LIMIT:,} files")
        except FileNotFoundError:
            continue
    found.sort()
    return iter(found)


def _text(descriptor: int) -> str:
    """Closes it."""
    try:
        data = os.read(descriptor, PAGE)
        if len(data) == PAGE:
            data += os.read(descriptor, VALUE_LIMIT - PAGE)
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "replace")


def _last_value(path: str) -> tuple[int, int, float] | None:
    """(step, time, value) of the last complete line, by step and then time, among those at the end of a history."""
    descriptor = os.open(path, UNFOLLOWED)
    try:
        data = os.read(descriptor, PAGE)
        is_cut = len(data) == PAGE
        if is_cut:
            os.lseek(descriptor, -PAGE, os.SEEK_END)
            data = os.read(descriptor, PAGE)
    finally:
        os.close(descriptor)
    best: tuple[int, int, float] | None = None
    for line in data.split(b"\n")[1 if is_cut else 0 : -1]:
        read = _measured(line)
        if read is not None and (best is None or read[:2] >= best[:2]):
            best = read
    return best


def _first_nonfinite(path: str) -> int | None:
    first: int | None = None
    with open_plain(path, follow=False) as file:
        for line in file.read(HISTORY_LIMIT).split(b"\n"):
            read = _measured(line)
            if read is not None and not -float("inf") < read[2] < float("inf"):
                first = read[0] if first is None else min(first, read[0])
    return first


def _measured(line: bytes) -> tuple[int, int, float] | None:
    """A line `time value [step [dataset digest]]`."""
    parts = line.split()
    try:
        value = float(parts[1])
        return int(parts[2]) if len(parts) > 2 else 0, int(parts[0]), value if value == value else NAN
    except (ValueError, IndexError):
        return None


def _plain_meta(text: str) -> dict[str, Any] | None:
    """What MLflow writes, one plain `key: value` a line, read without a YAML library; None if it is more than that."""
    found: dict[str, Any] = {}
    for line in text.split("\n"):
        if not line or line == "tags: []":
            continue
        match = _LINE.match(line)
        if match is None:
            return None
        key, value = match[1], match[2].strip()
        if value[:1] == "'":
            found[key] = value[1:-1]
        elif value in ("null", "", "~"):
            found[key] = None
        else:
            found[key] = int(value) if value.isdecimal() and value.isascii() and len(value) < 19 else value
    return found or None
