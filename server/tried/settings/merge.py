"""Merges the places of settings into one `Settings`, with a problem for everything that was not understood."""

from __future__ import annotations

import difflib
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from tried.pool.sources.registry import plugins
from tried.ranking.policy import DEFAULT_POLICY, PRESETS, Policy, remark_on
from tried.settings.accepts import accepted, adapter_of, validated
from tried.settings.extension_model import ExtensionSettings
from tried.settings.finding_names import SILENCE_CODES
from tried.settings.json_schema import extra_of
from tried.settings.model import RemoteSettings, Settings, Silence, SourceSettings
from tried.settings.policies import policy_names, unknown_policy
from tried.settings.ranking_model import MOST_NAME
from tried.settings.sources import TRIED_TOML, Layer, SettingsProblem, editor_layer, file_layers, user_file
from tried.storage.consents import is_allowed

CLIENT_KEYS = frozenset({*ExtensionSettings.model_fields, "log_file", "trace.server"} - Settings.model_fields.keys())
"""Settings that an editor's extension keeps for itself and sends along."""

_Place: TypeAlias = tuple[str | int, ...]

_REFUSED: Final = object()
"""What a setting is that was not understood: as if nothing had been written."""

_Table = TypeVar("_Table", bound=BaseModel)

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
GLOB = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """Where one of `pool.sources` is named, as it was `written`."""

    written: str
    layer: Layer
    path: _Place

    def problem(self, why: str) -> SettingsProblem:
        return _problem(self.layer, self.path, f"{_shown(self.written)}: {why}")


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """`trusted_sources` are the paths of `settings.pool.sources` that the user listed or consented to; the others are
    held inside the workspace folder. `named_sources` says of each who named it; `outside` of those that a file of the
    workspace names outside of it, and that are not read as long as the user has not consented."""

    settings: Settings = field(default_factory=Settings)
    problems: tuple[SettingsProblem, ...] = ()
    trusted_sources: frozenset[str] = frozenset()
    named_sources: Mapping[str, NamedSource] = field(default_factory=dict)
    outside: Mapping[str, NamedSource] = field(default_factory=dict)


def load_settings(
    folder: Path | None,
    editor: Mapping[str, Any] | None = None,
    flags: Mapping[str, Any] | None = None,
    allowed: Collection[str] = (),
) -> LoadedSettings:
    """The settings in force in a workspace folder. `editor` and `flags` are nested tables as in tried.toml; `allowed`
    are the places outside of the workspace that the user lets it read.

    The paths in `pool.sources` come back absolute. Never raises for what files or editors hold.
    """
    layers, problems = file_layers(folder)
    layers.append(editor_layer(editor))
    layers.append(Layer("flags", flags or {}, trusted=True))
    merge = _Merge(folder, problems, allowed)
    for layer in layers:
        merge.add(layer)
    trusted = frozenset(merge.trusted_sources)
    outside = {path: named for path, named in merge.outside.items() if path not in trusted}
    return LoadedSettings(merge.settings, merge.standing_problems(), trusted, merge.named_sources, outside)


class _Merge:
    def __init__(self, folder: Path | None, problems: list[SettingsProblem], allowed: Collection[str]) -> None:
        self.folder = folder
        self.allowed = allowed
        self.problems = problems
        self.settings = Settings()
        self.trusted_sources: set[str] = set()
        self.named_sources: dict[str, NamedSource] = {}
        self.outside: dict[str, NamedSource] = {}
        self._outside: dict[str, SettingsProblem] = {}
        self._policy_named: tuple[Layer, _Place] = (Layer(""), ())
        self._layer = Layer("")

    def add(self, layer: Layer) -> None:
        self._layer = layer
        self.settings = self._group(self.settings, layer.data, ())

    def standing_problems(self) -> tuple[SettingsProblem, ...]:
        """All problems, without those about sources that the user listed as well."""
        settled = [problem for source, problem in self._outside.items() if source in self.trusted_sources]
        return (*(problem for problem in self.problems if problem not in settled), *self._unknown_policy())

    def _unknown_policy(self) -> Iterator[SettingsProblem]:
        """The active policy may be named in one place and defined in another."""
        name, known = self.settings.ranking.policy, policy_names(self.settings)
        if name not in known:
            yield _problem(*self._policy_named, unknown_policy(name, known, ", so default is used"))

    def _policies(self, below: Mapping[str, Policy], value: Any, path: _Place) -> Mapping[str, Policy]:
        """Policies by name, merged knob by knob."""
        if not isinstance(value, Mapping):
            if value != []:
                self._complain(path, f"expected tables of knobs by name, got {_shown(value)}; ignored")
            return below
        merged = dict(below)
        for name, table in value.items():
            name, here = str(name), (*map(str, path), str(name))
            if name.lower() in PRESETS:
                self._complain(here, f"ignored; {name.lower()} comes with tried: give your policy another name")
            elif not 0 < len(name) <= MOST_NAME:
                self._complain(here, f"ignored; the name of a policy has at least 1 and at most {MOST_NAME} characters")
            elif not isinstance(table, Mapping):
                self._complain(here, f"expected a table of knobs, got {_shown(table)}; ignored")
            else:
                policy = self._group(merged.get(name, DEFAULT_POLICY), table, here)
                merged[name] = policy = Policy.model_validate(policy.model_dump(exclude_unset=True))
                if remark := remark_on(policy):
                    self._complain(here, remark)
        return MappingProxyType(merged)

    def _group(self, current: Any, data: Mapping[str, Any], path: tuple[str, ...]) -> Any:
        """`current`, a group of settings, with what `data` says about it."""
        fields = type(current).model_fields
        update: dict[str, Any] = {}
        for written, value in data.items():
            name = _canonical(str(written))
            here = (*path, str(written))
            setting = ".".join(map(_canonical, here))
            is_clients = setting in CLIENT_KEYS
            if value is None or (is_clients and self._layer.name == "editor settings"):
                continue
            if here == ("tool",) and self._layer.name == TRIED_TOML:
                self._complain(
                    here, f"ignored; {TRIED_TOML} has no header [tool.tried]: drop it, and `tool.tried.` before others"
                )
                continue
            if name not in fields:
                if is_clients:
                    self._complain(here, "ignored; only an editor has this setting, put it into the editor's settings")
                    continue
                self._unknown(here, name, fields)
                continue
            below = getattr(current, name)
            if isinstance(below, BaseModel):
                if isinstance(value, Mapping):
                    update[name] = self._group(below, value, here)
                elif value != []:  # what an empty Lua table becomes
                    self._complain(here, f"expected a table, got {_shown(value)}; ignored")
                continue
            if extra_of(fields[name]).get("trusted_only") and not self._layer.trusted:
                own = user_file() or "your own file"
                self._complain(here, f"refused: no project may say so; put it into {own} or the editor's settings")
                continue
            if setting == "policies":
                update[name] = self._policies(below, value, here)
                continue
            if setting == "ranking.policy":
                self._policy_named = (self._layer, here)
            leaf = self._leaf(fields[name], below, value, here)
            if leaf is not _REFUSED:
                update[name] = leaf
        return current.model_copy(update=update) if update else current

    def _leaf(self, setting: FieldInfo, below: Any, value: Any, path: tuple[str, ...]) -> Any:
        if isinstance(below, Mapping):
            return self._table(setting, below, value, path)
        if isinstance(below, tuple):
            return self._list(setting, below, value, path)
        adapter = adapter_of(setting)
        try:
            return validated(adapter, value)
        except ValueError:
            wanted = accepted(adapter.json_schema())
            self._complain(path, f"expected {wanted}, got {_shown(value)}; using {_shown(below)}")
            return _REFUSED

    def _table(self, setting: FieldInfo, below: Mapping[str, Any], value: Any, path: tuple[str, ...]) -> Any:
        """Tables are merged key by key, so that a weaker place's other keys stay."""
        adapter = adapter_of(setting)
        if value == []:
            return below
        if not isinstance(value, Mapping):
            self._complain(path, f"expected {accepted(adapter.json_schema())}, got {_shown(value)}; ignored")
            return below
        merged = dict(below)
        extra = setting.json_schema_extra if isinstance(setting.json_schema_extra, dict) else {}
        known = extra.get("keys")
        for key, item in value.items():
            if isinstance(known, list) and key not in known:
                self._unknown(
                    (*path, str(key)), str(key), [str(name) for name in known], pattern=str(extra.get("pattern", ""))
                )
                continue
            try:
                merged |= validated(adapter, {str(key): item})
            except ValueError:
                wanted = accepted(adapter.json_schema()["additionalProperties"])
                self._complain((*path, str(key)), f"expected {wanted}, got {_shown(item)}; ignored")
        return validated(adapter, merged)

    def _list(self, setting: FieldInfo, below: tuple[Any, ...], value: Any, path: tuple[str, ...]) -> Any:
        adapter = adapter_of(setting)
        if not isinstance(value, list | tuple):
            self._complain(path, f"expected {accepted(adapter.json_schema())}, got {_shown(value)}; ignored")
            return below
        extra = setting.json_schema_extra if isinstance(setting.json_schema_extra, dict) else {}
        items: list[Any] = []
        for index, item in enumerate(value):
            here: _Place = (*path, index)
            name = _canonical(".".join(map(str, path)))
            if read := {"silence": self._silence, "pool.sources": self._source, "remote": self._remote}.get(name):
                items.extend(read(item, here))
                continue
            try:
                items.extend(validated(adapter, [item]))
            except ValueError:
                wanted = accepted(adapter.json_schema()["items"])
                self._complain(here, f"expected {wanted}, got {_shown(item)}; ignored")
        if isinstance(names := extra.get("names"), list):
            items = list(self._known_names(items, [str(one) for one in names], path))
        if items and isinstance(items[0], SourceSettings):
            return _united(below, items)
        return (*below, *(item for item in items if item not in below)) if extra.get("adds_up") else tuple(items)

    def _known_names(self, items: Iterable[str], names: list[str], path: _Place) -> Iterator[str]:
        """Kinds of sources; those of plug-ins are looked up only where a name is none of ours."""
        for index, item in enumerate(items):
            if item in names or item in (others := [kind.name for kind in plugins().kinds]):
                yield item
            else:
                near = difflib.get_close_matches(item, [*names, *others], n=1)
                hint = f"did you mean {near[0]}?" if near else f"known here: {', '.join([*names, *others])}"
                self._complain((*path, index), f"{_shown(item)} is no kind of source, ignored; {hint}")

    def _table_item(self, item: Any, kind: type[_Table], path: _Place, effect: str) -> _Table | None:
        """A table with a mistake has no effect: without its mistaken field it would have too much."""
        if not isinstance(item, Mapping):
            self._complain(path, f"expected a table, got {_shown(item)}; ignored")
            return None
        known: dict[str, Any] = {}
        for written, value in item.items():
            key = _canonical(str(written))
            if key not in kind.model_fields:
                self._unknown((*path, str(written)), key, kind.model_fields, effect)
                return None
            known[key] = value
        try:
            return kind.model_validate_json(json.dumps(known, default=str), strict=True)
        except ValidationError as error:
            key = str(error.errors()[0]["loc"][0])
            wanted = accepted(adapter_of(kind.model_fields[key]).json_schema())
            if key not in known:
                self._complain(path, f"needs a {key}; {effect}")
            else:
                self._complain((*path, key), f"expected {wanted}, got {_shown(known[key])}; {effect}")
        except (TypeError, ValueError, RecursionError):
            self._complain(path, f"cannot be read; {effect}")
        return None

    def _silence(self, item: Any, path: _Place) -> Iterator[Silence]:
        silence = self._table_item(item, Silence, path, "this table silences nothing")
        if silence is None:
            return
        if not (silence.path or silence.key or silence.code or silence.id):
            self._complain(path, "needs a path, key, code or id; this table silences nothing")
            return
        if silence.code is not None and silence.code not in SILENCE_CODES:
            near = difflib.get_close_matches(silence.code, SILENCE_CODES, n=1)
            hint = f"did you mean {near[0]}?" if near else "write repeat, dead-end, or a kind such as dead-end/near"
            self._complain((*path, "code"), f"{_shown(silence.code)} is no code, this table silences nothing; {hint}")
            return
        yield silence

    def _remote(self, item: Any, path: _Place) -> Iterator[RemoteSettings]:
        if not self._layer.trusted:
            own = user_file()
            where = f"{own} or the editor's settings" if own else "the editor's settings"
            self._complain(path, f"refused: no project may make tried talk to a server; put [[remote]] into {where}")
            return
        if (remote := self._table_item(item, RemoteSettings, path, "nothing is fetched")) is None:
            return
        if remote.kind == "mlflow" and not remote.address:
            self._complain(path, "needs an address, such as https://mlflow.example.org; nothing is fetched")
        elif remote.kind == "wandb" and not remote.projects:
            self._complain(path, 'needs projects, such as ["entity/project"]; nothing is fetched')
        else:
            yield remote

    def _source(self, item: Any, path: _Place) -> Iterator[SourceSettings]:
        """A source with an absolute path or glob; none for one of a workspace file that lies outside."""
        if isinstance(item, str) and item:
            item = {"path": item}
        elif not isinstance(item, Mapping):
            self._complain(path, f"expected some text or a table, got {_shown(item)}; ignored")
            return
        source = self._table_item(item, SourceSettings, path, "this source is not read")
        if source is not None:
            for absolute in self._absolute(source.path, path):
                yield source.model_copy(update={"path": absolute})

    def _absolute(self, source: str, path: _Place) -> Iterator[str]:
        try:
            expanded = str(Path(source).expanduser()) if self._layer.trusted and source.startswith("~") else source
            own = self._layer.path is None or self._layer.trusted
            base = self.folder or Path.cwd() if own or self._layer.path is None else self._layer.path.parent
            absolute = os.path.normpath(base / expanded)
        except RuntimeError:
            self._complain(path, f"{_shown(source)} is not read: nobody has that home folder; write the whole path")
            return
        except (OSError, ValueError) as error:
            self._complain(path, f"{_shown(source)} is not read: {error}; write the whole path")
            return
        named = NamedSource(source, self._layer, path)
        if self._layer.trusted or (not (inside := lies_inside(absolute, base)) and is_allowed(absolute, self.allowed)):
            self.trusted_sources.add(absolute)
        elif not inside:
            self._complain(
                path,
                f"{_shown(source)} lies outside the workspace and is not read without your consent;"
                f" `tried allow {_shown(absolute)}` gives it",
            )
            self._outside[absolute] = self.problems[-1]
            self.outside[absolute] = named
            return
        self.named_sources.setdefault(absolute, named)
        yield absolute

    def _unknown(
        self, path: _Place, name: str, known: Collection[str], effect: str = "ignored", pattern: str = ""
    ) -> None:
        """`pattern` says in words what is known, where a list of it would be too long to read."""
        near = difflib.get_close_matches(name, known, n=1)
        hints = [f"did you mean {near[0]}?"] if near else [] if pattern else [f"known here: {', '.join(known)}"]
        hints += [pattern] if pattern else []
        self._complain(path, f"unknown setting, {effect}; {' '.join(hints)}")

    def _complain(self, path: _Place, message: str) -> None:
        self.problems.append(_problem(self._layer, path, message))


def _united(below: Iterable[SourceSettings], above: Iterable[SourceSettings]) -> tuple[SourceSettings, ...]:
    """Each path once: what a later place says of it replaces what was said, unless it only names it again."""
    united: dict[str, SourceSettings] = {}
    for source in (*below, *above):
        if source.path not in united or source != SourceSettings(path=source.path):
            united[source.path] = source
    return tuple(united.values())


def _problem(layer: Layer, path: _Place, message: str) -> SettingsProblem:
    key = "".join(f"[{part}]" if isinstance(part, int) else f".{_cut(part)}" for part in path).removeprefix(".")
    shown = f"{key}: {message}" if layer.path else f"{layer.name}: {key}: {message}"
    return SettingsProblem(layer.path, layer.line_of(path), shown, key)


def lies_inside(path: str, folder: Path) -> bool:
    """True if a path or glob stays in `folder`, symbolic links followed for what stands before the first wildcard."""
    if ".." in Path(path).parts:
        return False
    parts = Path(path).parts
    fixed = next((index for index, part in enumerate(parts) if GLOB.search(part)), len(parts))
    try:
        real = Path(*parts[:fixed]).resolve()
        home = folder.resolve()
    except (OSError, RuntimeError, ValueError):
        return False
    return real == home or home in real.parents


def _canonical(name: str) -> str:
    """``debounceMs`` and ``debounce-ms`` are other spellings of ``debounce_ms``."""
    return _HUMP.sub("_", name).replace("-", "_").lower()


def _shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        value = int(value)  # as a person writes it
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= 60 else text[:59] + "…"
