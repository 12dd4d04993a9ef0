"""`tried lineage`: what a run came from, and what came from it."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from tried.cli.failure import Failure
from tried.cli.options import AsJson, Pools, folder_of_here, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import record_named
from tried.pool.lineage import Step, lineage_of
from tried.render.escape import plain, shortened
from tried.render.lineage_reports import lineage_report
from tried.render.words import MARKS, ending_of
from tried.workspace import Workspace


def lineage(
    record_id: Annotated[
        str, typer.Argument(metavar="ID", show_default=False, help="The record, or the end of its id.")
    ],
    pools: Pools = None,
    as_json: AsJson = False,
) -> None:
    """Show what a run came from, and what came from it."""
    workspace = open_workspace(folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    record = record_named(workspace, record_id, pools)
    found = lineage_of(workspace.snapshot, record.id)
    if found is None:  # it was there a moment ago
        raise Failure(f"no record {record_id} in the pool")
    if as_json:
        write_json(lineage_report(found))
        return
    out = console()
    if found.missing is not None:
        out.print(line_of(("…  ", "dim"), f"{plain(found.missing)}  ", ("no source of the pool has it", "dim")))
    top = len(found.ancestors)
    for step in (*reversed(found.ancestors), found.record, *found.descendants):
        out.print(_line(workspace, step, top))
    if not found.ancestors and not found.descendants and found.missing is None:
        complain(f"{record.id}: nobody recorded what it came from, and nothing names it as its parent")
    if found.circular:
        complain("a record is its own ancestor here; it is shown once")
    if found.cut:
        complain("there are more; the nearest are shown")


def _line(workspace: Workspace, step: Step, top: int) -> Text:
    record = step.record
    indent = "  " * (top + step.depth)
    name = f"  {shortened(record.name, 60)}" if record.name and record.name != record.id else ""
    summary = step.derivation.summary if step.derivation else None
    said = f"  {shortened(summary, 120)}" if summary else ""
    return line_of(
        f"{indent}{MARKS[ending_of(workspace.snapshot, record.id)]} ",
        (plain(record.id), "bold underline" if step.depth == 0 else ""),
        (name, "bold" if step.depth == 0 else ""),
        (said, "dim"),
    )
