"""`tried pool`: where past experiments are read from, how many, how much they tell, and what could not be read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tried.cli.failure import Failure
from tried.cli.options import AsJson, Pools, empty_pool_advice, folder_of_here, open_workspace, tell_of_unknown_line
from tried.cli.output import complain, console, line_of, write_json
from tried.pool.pool import Coverage, PoolSnapshot, SourceReport
from tried.render.escape import plain
from tried.render.reports import pool_report
from tried.render.words import counted
from tried.storage.paths import is_folder
from tried.workspace import workspace_folder

MOST_SKIPPED = 5
MOST_LINES = 8


def pool(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", show_default=False, help="A folder, instead of this one.")
    ] = None,
    pools: Pools = None,
    as_json: AsJson = False,
) -> None:
    """Show the past experiments that are found here."""
    if folder is not None and not is_folder(folder):
        raise Failure(f"{folder}: there is no such folder; to read a file, use --pool {folder}")
    workspace = open_workspace(workspace_folder(folder / "here") if folder else folder_of_here(), pools)
    if as_json:
        write_json(pool_report(workspace.snapshot))
        return
    out = console()
    for source in workspace.snapshot.sources:
        out.print(_source(source, workspace.folder))
        unread = (*source.skipped, *source.remarks)
        for skipped in unread[:MOST_SKIPPED]:
            out.print(line_of("    not read: ", f"{plain(skipped.where)}: {plain(skipped.why)}"))
        if len(unread) > MOST_SKIPPED:
            out.print(line_of(f"    … and {len(unread) - MOST_SKIPPED:,} more; --json lists them"))
    if not workspace.snapshot:
        complain(empty_pool_advice(workspace, pools))
        return
    _print_totals(workspace.snapshot)
    tell_of_unknown_line(workspace)


def _source(source: SourceReport, folder: Path | None) -> Text:
    path = Path(source.path)
    shown = path.relative_to(folder) if folder and path.is_relative_to(folder) else path
    return line_of(
        (plain(str(shown)), "bold"),
        f"  {source.kind}: {counted(source.records, 'record')}, {counted(source.dead_ends, 'dead end')}"
        + (f", {counted(source.amendments, 'amendment')}" if source.amendments else "")
        + (_coverage(source.coverage) if source.records else ""),
    )


def _coverage(coverage: Coverage) -> str:
    return (
        f"; conclusion {coverage.conclusion:.0%}, lineage {coverage.lineage:.0%},"
        f" architecture {coverage.architecture:.0%}, timestamp {coverage.timestamp:.0%}"
    )


def _print_totals(snapshot: PoolSnapshot) -> None:
    out = console()
    totals = snapshot.totals
    out.print(
        line_of(
            f"{counted(totals.records, 'record')} in all, {counted(totals.dead_ends, 'dead end')}"
            f"{_coverage(totals.coverage)}"
        )
    )
    lines = sorted(snapshot.research_lines.items(), key=lambda item: (-item[1], item[0]))
    if lines:
        named = ", ".join(f"{plain(name)} ({count:,})" for name, count in lines[:MOST_LINES])
        more = f" and {len(lines) - MOST_LINES:,} more" if len(lines) > MOST_LINES else ""
        out.print(line_of(f"research lines: {named}{more}"))
    if totals.coverage.conclusion < 0.5:
        out.print(line_of('most records say nothing of what came of them: `tried conclude ID "why" --dead-end`'))
