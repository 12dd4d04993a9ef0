"""The architecture that a config describes: its components, and the graph that they make.

What makes a component is in `component_marks` (marked mappings and calls) and `component_lists` (layer lists, explicit
graphs, loops and branches); what counts as architecture at all in `component_roles`; edges in `component_edges`.

Node ids are paths in the document (`model.encoder`); node tokens are soma's: `filter:ResNet`, `step:Pool`,
`subgraph:…`, `loop:3`, `branch`. A config that sets scalars only has no architecture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint
from tried.draft.component_edges import edges_of
from tried.draft.component_lists import enclosing_parts, graphs_in, listed_parts
from tried.draft.component_marks import Part, marked_parts
from tried.draft.entries import Entry, Path
from tried.draft.keys import shown_path

DEEPEST = 40
"""Levels of nesting below which nothing is looked for: no architecture is written so, and hostile texts are."""


@dataclass(frozen=True, slots=True)
class Component:
    """A part of the architecture: `name` is the last name part (`ResNet`), `token` what ranking compares.

    `entry` is where the name stands: the value of `_target_`, the tagged mapping or call, or the whole list of names.
    """

    id: str
    name: str
    token: str
    entry: Entry


def architecture_of(
    entries: Sequence[Entry], text: str
) -> tuple[tuple[Component, ...], ArchitectureFingerprint | None]:
    """The components of one document in the order of the text, and their graph; ((), None) if it describes none."""
    entries = [entry for entry in entries if len(entry.path) <= DEEPEST]
    marked = marked_parts(entries)
    graphs = graphs_in(entries)
    parts = {**listed_parts(entries, graphs, marked), **marked}
    if not parts:
        return (), None
    parts.update(enclosing_parts(entries, parts))
    parts = _in_order(parts, entries)
    ids = _ids(parts)
    edges = (
        ArchitectureEdge(source=ids[source], target=ids[target], kind=kind)
        for source, target, kind in edges_of(entries, text, parts, graphs)
    )
    fingerprint = ArchitectureFingerprint.of({ids[path]: part.token for path, part in parts.items()}, edges)
    return tuple(Component(ids[path], part.name, part.token, part.entry) for path, part in parts.items()), fingerprint


def _in_order(parts: dict[Path, Part], entries: Sequence[Entry]) -> dict[Path, Part]:
    """Parts by where their names stand; the items of one list of names by their number."""
    place = {id(entry): number for number, entry in enumerate(entries)}

    def order(path: Path) -> tuple[int, int]:
        last = path[-1] if path else 0
        return place[id(parts[path].entry)], last if isinstance(last, int) else 0

    return {path: parts[path] for path in sorted(parts, key=order)}


def _ids(parts: dict[Path, Part]) -> dict[Path, str]:
    """Paths as text; where two read alike (`a.b` as one key), the later get a number."""
    ids: dict[Path, str] = {}
    taken: set[str] = set()
    uses: Counter[str] = Counter()
    for path in parts:
        shown = shown_path(path) or "root"
        free = shown
        while free in taken:
            uses[shown] += 1
            free = f"{shown}#{uses[shown] + 1}"
        taken.add(free)
        ids[path] = free
    return ids
