"""Components that no mark makes one: layers by their bare names, layouts in letters, nodes of an explicit graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tried.draft.component_marks import Part, named_component
from tried.draft.component_roles import Role, role_of_path
from tried.draft.entries import Entry, EntryValue, Path
from tried.draft.word_tables import word_set

LAYER_LISTS = word_set(
    """
    layers blocks stages modules layout block_layout layer_layout layer_types block_types block_pattern
    layer_pattern layers_block_type
    """
)
"""Keys of lists whose items are components, also where an item is a bare name or names itself by its only key."""

LAYOUT_LETTERS = {"A": "attention", "S": "ssm", "M": "mamba", "H": "parallel-hybrid", "E": "moe", "F": "mlp"}
"""Letters of a layout in one word (`block_layout: AAASSS`); a layout with any other letter is not read."""

ROW_TABLES = word_set("backbone neck head")
"""Keys at the root of tables of layers, whose rows are `[from, repeats, module, arguments]`."""

ROW_NAME = 2
REPEAT_KEYS = word_set("repeat repeats num_repeats n_repeats loop loops times")
BRANCH_KEYS = word_set("branch branches")
_LONGEST_LAYOUT = 512


def listed_parts(entries: Iterable[Entry], graphs: frozenset[Path], marked: Mapping[Path, Part]) -> dict[Path, Part]:
    """The components of a document that stand in lists of layers and in explicit graphs, by path."""
    found: dict[Path, Part] = {}
    members: dict[Path, list[Entry]] = defaultdict(list)
    for entry in entries:
        path = entry.path
        if not path:
            continue
        if path[:-1] in graphs and path[-1] == "nodes":
            found.update(_named_items(entry, path))
        elif len(path) > 1 and path[:-2] in graphs and path[-2] == "nodes":
            found.update(_named(entry, path, entry.value))
        elif isinstance(path[-1], int):
            if _is_layer_list(path[:-1]) or _names_a_row(path):
                found.update(_named(entry, path[:-1] if _names_a_row(path) else path, entry.value))
        elif path[-1].lower() == "architectures":
            # What the mapping around a single name describes is that architecture, with all that it holds.
            if isinstance(entry.value, tuple) and len(entry.value) == 1:
                found.update(_named(entry, path[:-1], entry.value[0]))
            else:
                found.update(_named_items(entry, path))
        elif _is_layer_list(path):
            found.update(_named_items(entry, path) or _layout(entry))
        elif len(path) > 2 and isinstance(path[-2], int) and _is_layer_list(path[:-2]):
            members[path[:-1]].append(entry)
    for item, entries_of_item in members.items():  # layers written as `- Conv2d: {filters: 32}`
        if len(entries_of_item) == 1 and item not in marked:
            found.update(_named(entries_of_item[0], item, str(entries_of_item[0].path[-1])))
    return found


def enclosing_parts(entries: Iterable[Entry], parts: Mapping[Path, Part]) -> dict[Path, Part]:
    """Loops and branches around parts. A loop of a part itself lies at the path of its count (`block.repeat`)."""
    holding: set[Path] = set()
    for path in parts:
        while path not in holding:
            holding.add(path)
            path = path[:-1]
    found: dict[Path, Part] = {}
    for entry in entries:
        if not entry.path or not isinstance(entry.path[-1], str):
            continue
        key, owner = entry.path[-1].lower(), entry.path[:-1]
        if key in REPEAT_KEYS and type(entry.value) is int and entry.value > 0:
            if owner in holding and role_of_path(owner) is Role.MODEL:
                token = f"loop:{entry.value}"
                path = entry.path if owner in parts else owner
                found[path] = Part(path, token, token, entry)
        elif key in BRANCH_KEYS and entry.path in holding and entry.path not in parts:
            found[entry.path] = Part(entry.path, "branch", "branch", entry)
    return found


def graphs_in(entries: Sequence[Entry]) -> frozenset[Path]:
    """The mappings that hold both `nodes` and `edges`."""
    owners: dict[str, set[Path]] = {"nodes": set(), "edges": set()}
    for entry in entries:
        if entry.path and entry.path[-1] in ("nodes", "edges"):
            owners[str(entry.path[-1])].add(entry.path[:-1])
    return frozenset(owners["nodes"] & owners["edges"])


def is_row(part: Part) -> bool:
    """Whether a part is a row of a table of layers, `[from, repeats, module, arguments]`, as YOLO's configs have it."""
    return part.entry.path[:-1] == part.path and _names_a_row(part.entry.path)


def _names_a_row(path: Path) -> bool:
    return len(path) == 3 and path[2] == ROW_NAME and isinstance(path[1], int) and path[0] in ROW_TABLES


def _is_layer_list(path: Path) -> bool:
    return bool(path) and isinstance(path[-1], str) and path[-1].lower() in LAYER_LISTS


def _named(entry: Entry, path: Path, value: EntryValue) -> dict[Path, Part]:
    named = named_component(value)
    if named is None or role_of_path(path) is Role.OTHER:
        return {}
    return {path: Part(path, *named, entry)}


def _named_items(entry: Entry, path: Path) -> dict[Path, Part]:
    """The names in a list; none of them if one is no name (`layers: [64, 64]`)."""
    if not isinstance(entry.value, tuple) or role_of_path(path) is Role.OTHER:
        return {}
    found: dict[Path, Part] = {}
    for index, value in enumerate(entry.value):
        named = named_component(value)
        if named is None:
            return {}
        found[*path, index] = Part((*path, index), *named, entry)
    return found


def _layout(entry: Entry) -> dict[Path, Part]:
    letters = entry.value
    if not isinstance(letters, str) or not 1 < len(letters) <= _LONGEST_LAYOUT:
        return {}
    if role_of_path(entry.path) is Role.OTHER or any(letter not in LAYOUT_LETTERS for letter in letters):
        return {}
    names = [LAYOUT_LETTERS[letter] for letter in letters]
    paths = [(*entry.path, index) for index in range(len(names))]
    return {path: Part(path, name, f"filter:{name}", entry) for path, name in zip(paths, names, strict=True)}
