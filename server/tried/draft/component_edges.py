"""How the components of a config hang together.

*Data* edges follow explicit inputs (`inputs`, `input`, `from`), the edges of an explicit graph, and otherwise the order
of a list of components or of the members of a `Sequential`. *Control* edges go from a component to those that it
holds, by its place or by reference (`!ref <encoder>`), and from a loop or branch to its parts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Literal, TypeAlias

from tried.draft.component_lists import REPEAT_KEYS, is_row
from tried.draft.component_marks import Part, nearest
from tried.draft.entries import Entry, EntryValue, Path
from tried.draft.word_tables import word_set

Kind: TypeAlias = Literal["data", "control"]
Edge: TypeAlias = tuple[Path, Path, Kind]

PARALLEL_LISTS = word_set("branch branches parallel experts ensemble heads towers models encoders")
"""Keys of lists whose items lie beside each other: no data flows from one to the next."""

INPUT_KEYS = word_set("inputs input from input_from in source sources parents")
_ALIAS_KEYS = word_set("id name alias")
_EDGE_ENDS = {
    **dict.fromkeys(("source", "from", "src"), "source"),
    **dict.fromkeys(("target", "to", "dst"), "target"),
    **dict.fromkeys(("kind", "type"), "kind"),
}
_ARROW = re.compile(r"\s*(~>|-*>|→)\s*")
_REFERENCE = re.compile(r"[\s<@${]*([\w][\w.-]*)")


def edges_of(entries: Sequence[Entry], text: str, parts: Mapping[Path, Part], graphs: frozenset[Path]) -> list[Edge]:
    """The edges between parts, each once, none from a part to itself."""
    names = _Names(parts, entries)
    inputs = _inputs_in(entries, parts)
    found: dict[Edge, None] = {}
    for edge in (
        *_containment(parts),
        *_order(parts, inputs, graphs),
        *_explicit_inputs(parts, inputs, names),
        *_rows(entries, parts),
        *_graph_edges(entries, graphs, names),
        *_references(entries, text, parts, names),
    ):
        if edge[0] != edge[1]:
            found[edge] = None
    return list(found)


class _Names:
    """Finds the part that a name means: one beside the place that names it, else the only one of that name."""

    def __init__(self, parts: Mapping[Path, Part], entries: Iterable[Entry]) -> None:
        self._beside: dict[tuple[Path, str], Part] = {}
        self._anywhere: dict[str, Part | None] = {}
        for path, part in parts.items():
            if path:
                self._add(path, str(path[-1]), part)
                self._add(path, ".".join(map(str, path)), part)
            if isinstance(part.entry.value, tuple) and path:
                self._add(path, part.name, part)
        for entry in entries:
            if entry.path and entry.path[-1] in _ALIAS_KEYS and isinstance(entry.value, str | int):
                named = parts.get(entry.path[:-1])
                if named is not None and named.path:
                    self._add(named.path, str(entry.value), named)

    def _add(self, path: Path, name: str, part: Part) -> None:
        self._beside.setdefault((path[:-1], name), part)
        known = self._anywhere.setdefault(name, part)
        if known is not part:
            self._anywhere[name] = None

    def find(self, name: str, place: Path) -> Part | None:
        """`place`: the path of the mapping or list in which the name is looked for first."""
        match = _REFERENCE.match(name)
        wanted = match[1] if match else name
        while True:
            part = self._beside.get((place, wanted)) or self._anywhere.get(wanted)
            if part is not None or "." not in wanted:
                return part
            wanted = wanted.rpartition(".")[0]  # `encoder.output` is of the encoder


def _containment(parts: Mapping[Path, Part]) -> Iterator[Edge]:
    for path in parts:
        holder = nearest(path, parts)
        if path and str(path[-1]).lower() in REPEAT_KEYS and holder is not None and holder.path == path[:-1]:
            yield path, holder.path, "control"  # the loop of a part is around it
        elif holder is not None:
            yield holder.path, path, "control"


def _order(
    parts: Mapping[Path, Part], inputs: Mapping[Path, list[str | int]], graphs: frozenset[Path]
) -> Iterator[Edge]:
    lists: dict[Path, list[Path]] = defaultdict(list)
    sequences: dict[Path, list[Path]] = defaultdict(list)
    for path, part in parts.items():
        if not path or is_row(part):
            continue
        holder = parts.get(path[:-1])
        if holder is not None and holder.name == "Sequential":
            sequences[path[:-1]].append(path)
        elif holder is None and isinstance(path[-1], int):  # the arguments of a call are no list
            lists[path[:-1]].append(path)
    for place, items in lists.items():
        beside_each_other = place and str(place[-1]).lower() in PARALLEL_LISTS
        if not beside_each_other and not (place and place[-1] == "nodes" and place[:-1] in graphs):
            sequences[place] = sorted(items, key=itemgetter(-1))
    for items in sequences.values():
        for before, after in pairwise(items):
            if after not in inputs:
                yield before, after, "data"


def _inputs_in(entries: Iterable[Entry], parts: Mapping[Path, Part]) -> dict[Path, list[str | int]]:
    """What parts say that they read, by their paths: names, or places in their list."""
    found: dict[Path, list[str | int]] = {}
    for entry in entries:
        path = entry.path
        for owner in (path[:-1], path[:-2]):
            if len(path) > len(owner) and str(path[len(owner)]).lower() in INPUT_KEYS and owner in parts:
                values = entry.value if isinstance(entry.value, tuple) else (entry.value,)
                written = found.setdefault(owner, [])
                written.extend(value for value in values if isinstance(value, str) or type(value) is int)
                break
    return {path: written for path, written in found.items() if written}


def _explicit_inputs(
    parts: Mapping[Path, Part], inputs: Mapping[Path, list[str | int]], names: _Names
) -> Iterator[Edge]:
    for path, written in inputs.items():
        for name in written:
            if isinstance(name, str):
                source = names.find(name, path[:-1])
            elif path and isinstance(path[-1], int):
                source = parts.get((*path[:-1], path[-1] + name if name < 0 else name))
            else:
                source = None
            if source is not None:
                yield source.path, path, "data"


def _rows(entries: Iterable[Entry], parts: Mapping[Path, Part]) -> Iterator[Edge]:
    """Rows say which rows they read, by number over all tables: −1 is the one before."""
    rows = [path for path, part in parts.items() if is_row(part)]
    number = {path: index for index, path in enumerate(rows)}
    for entry in entries if rows else ():
        index = number.get(entry.path[:-1])
        if index is None or entry.path[-1] != 0:
            continue
        for source in entry.value if isinstance(entry.value, tuple) else (entry.value,):
            if type(source) is int and 0 <= (at := index + source if source < 0 else source) < len(rows):
                yield rows[at], rows[index], "data"


def _graph_edges(entries: Iterable[Entry], graphs: frozenset[Path], names: _Names) -> Iterator[Edge]:
    """Edges of explicit graphs: `[a, b]`, `a -> b -> c`, `{source: a, target: b}`, or `a: [b, c]`."""
    written: dict[Path, dict[str, str]] = defaultdict(dict)
    for entry in entries if graphs else ():
        place = next((n for n in (1, 2, 3) if len(entry.path) >= n and entry.path[-n] == "edges"), None)
        if place is None or entry.path[:-place] not in graphs:
            continue
        nodes = (*entry.path[:-place], "nodes")
        if place == 3:
            end = _EDGE_ENDS.get(str(entry.path[-1]).lower())
            if end is not None and isinstance(entry.value, str | int):
                written[entry.path[:-1]][end] = str(entry.value)
        elif place == 2 and isinstance(entry.path[-1], str):
            yield from _chain(((entry.path[-1], target, None) for target in _strings(entry.value)), nodes, names)
        elif place == 2 and isinstance(entry.value, tuple):
            ends = _strings(entry.value)
            if len(ends) > 1:
                yield from _chain([(ends[0], ends[1], ends[2] if len(ends) > 2 else None)], nodes, names)
        else:
            for text in _strings(entry.value):
                pieces = _ARROW.split(text)
                steps = zip(pieces[::2], pieces[2::2], pieces[1::2], strict=False)
                yield from _chain(((a, b, "control" if sign == "~>" else None) for a, b, sign in steps), nodes, names)
    for path, ends_of_edge in written.items():
        if "source" in ends_of_edge and "target" in ends_of_edge:
            edge = (ends_of_edge["source"], ends_of_edge["target"], ends_of_edge.get("kind"))
            yield from _chain([edge], (*path[:-2], "nodes"), names)


def _chain(edges: Iterable[tuple[str, str, str | None]], nodes: Path, names: _Names) -> Iterator[Edge]:
    for source_name, target_name, kind in edges:
        source, target = names.find(source_name, nodes), names.find(target_name, nodes)
        if source is not None and target is not None:
            yield source.path, target.path, "control" if kind and kind.lower() == "control" else "data"


def _references(entries: Iterable[Entry], text: str, parts: Mapping[Path, Part], names: _Names) -> Iterator[Edge]:
    for entry in entries:
        if entry.tag == "!ref":
            holder = nearest(entry.path, parts, itself=True)
            target = names.find(entry.span.of(text), ()) if holder is not None else None
            if holder is not None and target is not None:
                yield holder.path, target.path, "control"


def _strings(value: EntryValue) -> list[str]:
    values = value if isinstance(value, tuple) else (value,)
    return [str(item) for item in values if isinstance(item, str | int) and not isinstance(item, bool)]
