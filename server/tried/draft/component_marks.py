"""What marks a part of a config as a component, and what the component is called.

A mark is a key of a mapping (`_target_: torchvision.models.ResNet`), a YAML tag (`!new:torch.nn.Linear`) or a Python
call (`nn.Linear(8, 8)`). Of several marks in one mapping the first of `MARKS` counts.

- *Strong* marks name something to build (`_target_`, `class_path`, `_component_`, `class_name`): they count wherever
  the place is not said to be machinery.
- *Class* marks (`type`, `class`, …) count below a model-like key; elsewhere only if the value is an import path that
  speaks of models (`type: mmdet.models.RPNHead`), since `type: LoadBalancer` and `type: int` stand in many a file.
- *Name* marks (`name`, `arch`, …) count only right below a model-like key (`backbone: {name: resnet50}`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from tried.draft.component_roles import Role, is_other_class, role_of_key, role_of_path, says_model
from tried.draft.entries import Entry, EntryValue, Path
from tried.draft.keys import words_of
from tried.draft.prose import named_value
from tried.draft.word_tables import word_set

LONGEST_NAME = 120


class Strength(IntEnum):
    STRONG = 0
    CLASS = 1
    NAME = 2


MARKS: dict[str, tuple[int, Strength]] = {
    key: (rank, strength)
    for rank, (key, strength) in enumerate(
        (
            *((key, Strength.STRONG) for key in ("_target_", "class_path", "_component_", "class_name", "_class_name")),
            *(
                (key, Strength.CLASS)
                for key in ("type", "filter", "step", "subgraph", "token", "target", "class", "cls", "op")
            ),
            *((key, Strength.NAME) for key in ("_name_", "meta_architecture", "architecture", "model_arch", "arch")),
            *((key, Strength.NAME) for key in ("model_architecture", "network_architecture", "model_name", "name")),
        )
    )
}
"""The keys that mark a component, best first (compared in lower case)."""

NAMES_OF_ARCHITECTURES = frozenset(
    ("arch", "architecture", "model_arch", "model_architecture", "meta_architecture", "network_architecture")
)
"""Keys that name an architecture by themselves, in whatever mapping they stand."""

TOKEN = re.compile(r"(?:filter|step|subgraph|loop):\S.*|branch")
"""A node token that is written out already."""

_IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(?:[.:][A-Za-z_]\w*)+")
_FACTORIES = word_set(
    """
    from_pretrained from_config from_params from_hparams from_name from_args create build load make new
    """
)
_TAG = re.compile(r"!(new|apply|name):(\S+)")
_CALLED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_NO_CLASSES = word_set(
    """
    int integer float double number numeric str string text bool boolean object array any none null
    categorical choice choices uniform loguniform log_uniform quniform normal range fixed constant list dict
    json yaml csv file path url default auto
    """
)
_TOKEN_KINDS = {"step": "step", "subgraph": "subgraph"}


@dataclass(frozen=True, slots=True)
class Part:
    """A component with its place: all that lies below `path` is in it; `entry` is where its name stands."""

    path: Path
    name: str
    token: str
    entry: Entry
    rank: int = 0


def marked_parts(entries: Iterable[Entry]) -> dict[Path, Part]:
    """The marked mappings and calls of a document by path; of several marks on one the best."""
    found: dict[Path, Part] = {}
    for entry in entries:
        parts: list[Part | None] = []
        if entry.tag is not None:
            parts.append(_part_of_tag(entry, in_component=nearest(entry.path, found) is not None))
        if entry.path and isinstance(entry.value, str):
            key = str(entry.path[-1]).lower()
            if key in MARKS:
                parts.append(_part_of_key(entry, key))
        for part in parts:
            if part is not None and (part.path not in found or part.rank < found[part.path].rank):
                found[part.path] = part
    return found


def nearest(path: Path, parts: Mapping[Path, Part], *, itself: bool = False) -> Part | None:
    """The innermost of the parts that a path lies in."""
    for length in range(len(path) if itself else len(path) - 1, -1, -1):
        if (part := parts.get(path[:length])) is not None:
            return part
    return None


def _part_of_key(entry: Entry, key: str) -> Part | None:
    """The mark that an entry sets on the mapping that holds it."""
    rank, strength = MARKS[key]
    value = named_value(entry.value)
    owner = entry.path[:-1]
    role = role_of_path(owner)
    if value is None or role is Role.OTHER:
        return None
    if TOKEN.fullmatch(value):
        return Part(owner, value.partition(":")[2] or value, value, entry, rank)
    name = _name_of(value, splits=strength is Strength.STRONG)
    if name is None or key == "token" or is_other_class(value):
        return None
    if not _counts(strength, value, owner, role):
        # `model_arch: Griffin` says what the model is, in whatever mapping it stands: a part without members.
        return Part(entry.path, name, f"filter:{name}", entry, rank) if key in NAMES_OF_ARCHITECTURES else None
    return Part(owner, name, f"{_TOKEN_KINDS.get(key, 'filter')}:{name}", entry, rank)


def _part_of_tag(entry: Entry, *, in_component: bool) -> Part | None:
    """The mark that a YAML tag or the name called in Python sets on its own entry.

    `in_component`: it lies in a component, where classes that are not built yet (`!name:`) are parts too.
    """
    tag = entry.tag or ""
    kind, name = "call", tag
    if written := _TAG.fullmatch(tag):
        kind, name = written[1], written[2]
    elif tag.startswith("!") or not _CALLED.fullmatch(tag):
        return None
    role = role_of_path(entry.path)
    short = _name_of(name, splits=True)
    if short is None or role is Role.OTHER or is_other_class(name):
        return None
    built = _is_class(short)
    if kind == "name" and not (built and in_component):
        return None
    if kind in ("apply", "call") and not (role is Role.MODEL or (built and (in_component or says_model(name)))):
        return None
    if kind == "call" and not built and not _ends_in_model(entry.path):
        return None
    return Part(entry.path, short, f"filter:{short}", entry)


@lru_cache(maxsize=8192)
def named_component(value: EntryValue) -> tuple[str, str] | None:
    """(name, token) of a text that stands for a component in a list of layers or nodes; None if it is none."""
    plain = named_value(value) if isinstance(value, str) else None
    if plain is None:
        return None
    if TOKEN.fullmatch(plain):
        return plain.partition(":")[2] or plain, plain
    name = _name_of(plain, splits=True)
    return (name, f"filter:{name}") if name is not None else None


def _name_of(value: str, *, splits: bool) -> str | None:
    """The last name part of an import path or a hub id, else the name as written."""
    plain = " ".join(value.split())
    if not plain or len(plain) > LONGEST_NAME or not re.search(r"[^\W\d_]", plain) or re.match(r"[./~]|\w+://", plain):
        return None
    if plain.count("/") == 1 and " " not in plain:
        plain = plain.rpartition("/")[2]
    elif "/" in plain and " " not in plain:
        return None
    if _IMPORT_PATH.fullmatch(plain):
        parts = re.split(r"[.:]", plain)
        if len(parts) > 1 and parts[-1] in _FACTORIES:
            parts.pop()
        if splits or len(parts) > 2 or parts[-1][0].isupper():
            return parts[-1]
    return plain or None


def _counts(strength: Strength, value: str, owner: Path, role: Role) -> bool:
    if strength is Strength.STRONG:
        return role is Role.MODEL or _is_class(_name_of(value, splits=True) or "") or says_model(value)
    if strength is Strength.CLASS:
        if value.lower() in _NO_CLASSES:
            return False
        if role is Role.MODEL:
            return True
        return bool(_IMPORT_PATH.fullmatch(value)) and says_model(value)
    own_key = next((part for part in reversed(owner) if isinstance(part, str)), None)
    return own_key is not None and role_of_key(own_key) is Role.MODEL


def _is_class(name: str) -> bool:
    return name[:1].isupper() and len(name) > 1


def _ends_in_model(path: Path) -> bool:
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    words = words_of(key)
    return bool(words) and role_of_key(words[-1]) is Role.MODEL
