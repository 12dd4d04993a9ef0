"""`tried diff`: what differs between two runs, or between a run and a config."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tried.cli.failure import Failure
from tried.cli.files import must_exist
from tried.cli.hits import count_hits
from tried.cli.options import AsJson, Pools, folder_of_here, open_workspace, tell_of_unread
from tried.cli.output import console, line_of, write_json
from tried.cli.selecting import drafts_in, record_named
from tried.draft.alignment import align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import RecordedValue, shown_value
from tried.pool.difference import Difference, ParameterDifference, Side, difference_of, side_of, side_of_draft
from tried.pool.headline import shown_number
from tried.record_names import find_record
from tried.render.escape import plain
from tried.render.lineage_reports import diff_report
from tried.render.words import counted
from tried.storage.paths import is_file
from tried.workspace import Workspace


@dataclass(frozen=True, slots=True)
class _Named:
    """One of the two, as it is shown: a record by its id; `draft` where it is a config."""

    shown: str
    side: Side
    draft: ExperimentDraft | None = None


def diff(
    left: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="A record, or the end of its id.")],
    right: Annotated[str, typer.Argument(metavar="ID|FILE", show_default=False, help="Another, or a config file.")],
    pools: Pools = None,
    as_json: AsJson = False,
) -> None:
    """Show what differs between two runs, or a run and a config."""
    workspace = open_workspace(folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    one, other = _named(workspace, left, pools), _named(workspace, right, pools)
    sides = _aligned(one, other.side), _aligned(other, one.side)
    found = difference_of(*sides, workspace.settings.metrics.directions)
    # First: whoever reads no further ends the program, and has compared them all the same.
    count_hits(workspace, dict.fromkeys(each.shown for each in (one, other) if each.draft is None), "compared")
    if as_json:
        write_json(diff_report(one.shown, other.shown, found))
    else:
        _print(one, other, found)


def _named(workspace: Workspace, name: str, pools: list[Path] | None) -> _Named:
    if find_record(workspace.snapshot, name).record is None and is_file(Path(name)):
        must_exist(Path(name))
        _, _, drafts = drafts_in(Path(name), workspace)
        draft = next((one for one in drafts if one.parameters), None)
        if draft is None:
            raise Failure(f"{name}: holds no parameters to compare")
        return _Named(name, side_of_draft(draft.parameters, draft.architecture), draft)
    record = record_named(workspace, name, pools)
    return _Named(record.id, side_of(record))


def _aligned(named: _Named, other: Side) -> Side:
    """A config in the terms of the other side, whose keys may be wrapped otherwise."""
    if named.draft is None:
        return named.side
    aligned = align(named.draft.parameters, other.parameters, _by_suffix(other.parameters))
    if not aligned.values:
        return named.side
    parameters = {
        key: RecordedValue(parameter.shown, parameter.entry.value, parameter.value, parameter.kind)
        for key, parameter in [*aligned.values.items(), *((one.key, one) for one in aligned.new)]
    }
    return Side(parameters, named.side.architecture)


def _by_suffix(keys: Iterable[str]) -> dict[str, str | None]:
    """The key that ends in these segments; None where several do."""
    found: dict[str, str | None] = {}
    for key in sorted(keys):
        rest = key
        while "." in rest:
            rest = rest.split(".", 1)[1]
            found[rest] = None if rest in found else key
    return found


def _print(one: _Named, other: _Named, found: Difference) -> None:
    out = console()
    out.print(line_of(("− ", "red"), plain(one.shown), ("   + ", "green"), plain(other.shown)))
    from_file = one.draft is not None or other.draft is not None
    stated, aside = list(found.compared), [each for each in found.parameters if not each.is_compared]
    if from_file:
        # What a file leaves open is a default, and no change.
        aside = []
        silent = [each for each in stated if (each.after if other.draft else each.before) is None]
        stated = [each for each in stated if each not in silent]
    else:
        silent = []
    for each in stated:
        out.print(_parameter(each))
    for change in found.architecture:
        more: Mapping[str, object] = change.model_extra or {}
        told = ", ".join(
            plain(str(value)) for value in (change.node, change.from_, change.to, *more.values()) if value is not None
        )
        out.print(line_of(f"  {change.change}: {told}"))
    if found.code is not None:
        out.print(line_of(f"  code: {found.code[0][:10]} → {found.code[1][:10]}"))
    if found.is_empty or not (stated or found.architecture or found.code):
        out.print(line_of("  nothing that makes another experiment differs"))
    for metric in found.metrics:
        if (metric.before is None and metric.after is None) or from_file:
            continue
        judged, style = {True: (" (better)", "green"), False: (" (worse)", "red"), None: ("", "")}[metric.better]
        out.print(
            line_of(f"  {plain(metric.name)}: {_number(metric.before)} → {_number(metric.after)}", (judged, style))
        )
    out.print(line_of((f"  {counted(found.equal, 'parameter is', 'parameters are')} equal", "dim")))
    _aside("differ too, and make no other experiment", (each.shown for each in aside))
    _aside("are not in the file", (each.shown for each in silent))
    _aside("cannot be compared, since a value was cut or cannot be read", found.unknown)


def _parameter(each: ParameterDifference) -> Text:
    before = plain(shown_value(each.before.recorded)) if each.before is not None else "–"
    after = plain(shown_value(each.after.recorded)) if each.after is not None else "–"
    return line_of("  ", (plain(each.shown), "bold"), ": ", (before, "red"), " → ", (after, "green"))


def _aside(what: str, names: Iterable[str]) -> None:
    every = [plain(name) for name in names]
    if every:
        more = f" and {len(every) - 8:,} more" if len(every) > 8 else ""
        console().print(line_of((f"  {len(every):,} {what}: {', '.join(every[:8])}{more}", "dim")))


def _number(value: float | None) -> str:
    return "–" if value is None else shown_number(value)
