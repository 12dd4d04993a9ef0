"""The places that settings come from, and what is wrong with them."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tried.storage.user_folders import settings_folder

TRIED_TOML = "tried.toml"
PYPROJECT = "pyproject.toml"
MAX_BYTES = 1_048_576
_ERROR_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_SOURCES_LIST = re.compile(r"^[ \t]*(?:pool[ \t]*\.[ \t]*)?sources[ \t]*=", re.MULTILINE)
_SOURCES_TABLE = re.compile(r"^[ \t]*\[\[[^\]\n]*\bpool[ \t]*\.[ \t]*sources[ \t]*\]\]", re.MULTILINE)
_TOOL_TABLE = re.compile(r"^\s*\[+\s*tool\s*\.\s*[\"']?tried\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SettingsProblem:
    """A mistake in settings: what is wrong, what is accepted and what is used instead, in one line.

    `path` is the file, None for editor settings and flags. `line` counts from 1; 1 where no line is to blame.
    `key` is the setting (``ranking.limit``), empty where the file as a whole is to blame.

    Invariant: `message` is one printable line, whatever keys and values it quotes.
    """

    path: Path | None
    line: int
    message: str
    key: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", _printable(self.message))

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.path else ""
        return f"{where}{self.message}"


def _printable(text: str) -> str:
    """What cannot be printed is written as its escape, so that a strange key can still be found."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


@dataclass(frozen=True, slots=True)
class Layer:
    """The settings of one place as plain data. `trusted`: the user's own, not a file that came with the project.

    `prefix` is where they stand in the file, ``("tool", "tried")`` in a pyproject.toml.
    """

    name: str
    data: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    text: str = ""
    prefix: tuple[str, ...] = ()
    trusted: bool = False

    def line_of(self, path: tuple[str | int, ...]) -> int:
        """The line, from 1, of the setting at `path`, else of the table around it, else 1."""
        if not self.text:
            return 1
        # Only a mistake needs places, so the reader is loaded only then.
        from tried.draft.syntax import parse
        from tried.text import LineIndex

        wanted = (*self.prefix, *path)
        best = 0
        offset = 0
        for entry in parse(self.text, "toml").entries:
            shared = _shared_length(entry.path, wanted)
            if shared > best:
                best, offset = shared, (entry.key or entry.span).start
        return LineIndex(self.text).line_of(offset) + 1


def _shared_length(left: tuple[str | int, ...], right: tuple[str | int, ...]) -> int:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length


def user_file() -> Path | None:
    """The user's own file of settings, whether it is there or not; None for a user without a home."""
    folder = settings_folder()
    return folder / TRIED_TOML if folder is not None else None


def settings_files(folder: Path) -> tuple[Path, ...]:
    """The settings files of a workspace folder, weakest first, whether they are there or not."""
    return folder / PYPROJECT, folder / TRIED_TOML


def has_settings(folder: Path) -> bool:
    """True for a folder with a tried.toml, or with a pyproject.toml that speaks of tried."""
    if os.path.lexists(folder / TRIED_TOML):
        return True
    text, _ = _read(folder / PYPROJECT) if os.path.lexists(folder / PYPROJECT) else (None, None)
    return text is not None and _TOOL_TABLE.search(text) is not None


def file_layers(folder: Path | None) -> tuple[list[Layer], list[SettingsProblem]]:
    """The layers of the user's file and of those in `folder`, weakest first, and what cannot be read of them."""
    layers: list[Layer] = []
    problems: list[SettingsProblem] = []
    own = user_file()
    for path in (*((own,) if own else ()), *(settings_files(folder) if folder else ())):
        name = path.name
        if not os.path.lexists(path):
            continue
        text, problem = _read(path)
        if problem and name == TRIED_TOML:
            problems.append(problem)
        if text is None:
            continue
        try:
            data: Any = tomllib.loads(text)
        except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
            # A pyproject.toml without a word about tried is somebody else's to complain about.
            if name == TRIED_TOML or _TOOL_TABLE.search(text):
                problems.append(_syntax_problem(path, text, error))
            continue
        prefix: tuple[str, ...] = ()
        if name == PYPROJECT:
            prefix = ("tool", "tried")
            tools = data.get("tool")
            data = tools.get("tried") if isinstance(tools, dict) else None
            if data is None:
                continue
        if not isinstance(data, dict):
            problems.append(SettingsProblem(path, 1, "tool.tried: expected a table; ignored", "tool.tried"))
            continue
        layers.append(Layer(name, data, path, text, prefix, trusted=path == own))
    return layers, problems


def _read(path: Path) -> tuple[str | None, SettingsProblem | None]:
    try:
        if not path.is_file():
            return None, SettingsProblem(path, 1, "expected a file here, and this is none; defaults are used")
        if path.stat().st_size > MAX_BYTES:
            return None, SettingsProblem(path, 1, f"larger than {MAX_BYTES} bytes; defaults are used")
        return path.read_bytes().decode("utf-8-sig"), None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        return None, SettingsProblem(path, line, "not UTF-8 text; save it as UTF-8. Defaults are used")
    except OSError as error:
        return None, SettingsProblem(path, 1, f"cannot be read ({error.strerror or error}); defaults are used")


def _syntax_problem(path: Path, text: str, error: Exception) -> SettingsProblem:
    if isinstance(error, RecursionError):
        return SettingsProblem(path, 1, "nested too deeply; defaults are used")
    said = str(error)
    if match := _ERROR_LINE.search(said):
        line = int(match.group(1))
        said = said[: match.start()].rstrip()
    else:  # "at end of document"
        line = text.rstrip("\n").count("\n") + 1
    if said.startswith("Cannot ") and _SOURCES_LIST.search(text) and _SOURCES_TABLE.search(text):
        said = "`sources = […]` and `[[pool.sources]]` exclude each other: write all sources in one of the two forms"
    return SettingsProblem(path, line, f"not TOML: {said}; defaults are used")


def editor_layer(data: Mapping[str, Any] | None) -> Layer:
    """Settings of the editor: plain, under a key `tried`, or as dotted names, as editors send them."""
    if not isinstance(data, Mapping):
        return Layer("editor settings", trusted=True)
    nested: dict[str, Any] = {}
    for key, value in data.items():
        target = nested
        *groups, last = str(key).split(".")
        for group in groups:
            below = target.setdefault(group, {})
            if not isinstance(below, dict):
                break
            target = below
        else:
            if isinstance(value, Mapping) and isinstance(target.get(last), dict):
                target[last].update(value)
            else:
                target[last] = dict(value) if isinstance(value, Mapping) else value
    inner = nested.pop("tried", None)
    if isinstance(inner, Mapping):
        nested.update(inner)
    return Layer("editor settings", nested, trusted=True)
