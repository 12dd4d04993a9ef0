"""`tried pool`: where past experiments are read from, how many, how much they tell, and what could not be read."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from tried.cli.doctor import doctor
from tried.cli.failure import Failure
from tried.cli.options import (
    ROLE_WORDS,
    AsJson,
    Pools,
    Where,
    empty_pool_advice,
    folder_of_here,
    open_workspace,
    tell_of_unknown_line,
)
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import selected, told
from tried.pool.pool import Coverage, PoolSnapshot, SourceReport
from tried.pool.sources.registry import COMMITS
from tried.render.escape import plain
from tried.render.reports import POOL_SCHEMA, runs_report
from tried.render.status import fetched_at, status_report
from tried.render.words import counted, moment_ago
from tried.review.runs import runs_in
from tried.storage.paths import is_folder
from tried.workspace import Workspace, workspace_folder

MOST_SKIPPED = 5
MOST_LINES = 8
FETCH_SECONDS = 20.0
"""A server that the user configured is waited for so long; elsewhere what was fetched before must do."""
DOCTOR: Final = "doctor"


def pool(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[doctor] [FOLDER]",
            show_default=False,
            help="A folder, instead of this one. With `doctor` before it: what would make the pool more useful.",
        ),
    ] = None,
    where: Where = None,
    pools: Pools = None,
    as_json: AsJson = False,
) -> None:
    """Show the past experiments found here, or what they lack (`pool doctor`)."""
    given = list(words or ())
    asks_doctor = given[:1] == [DOCTOR]
    given = given[asks_doctor:]
    if len(given) > 1:
        raise Failure(f"{given[1]}: give one folder")
    folder = Path(given[0]) if given else None
    if folder is not None and not is_folder(folder):
        raise Failure(f"{folder}: there is no such folder; to read a file, use --pool {folder}")
    if asks_doctor and where is not None:
        raise Failure("`tried pool doctor` looks at all runs: leave out --where")
    workspace = open_workspace(workspace_folder(folder / "here") if folder else folder_of_here(), pools)
    workspace.fetch(FETCH_SECONDS)
    if asks_doctor:
        doctor(workspace, pools, as_json)
    elif where is not None:
        _list(workspace, where, as_json)
    elif as_json:
        write_json({"schema": POOL_SCHEMA, **status_report(workspace)})
    else:
        _print(workspace, pools)


def _list(workspace: Workspace, where: str, as_json: bool) -> None:
    runs = selected(where, runs_in(workspace.snapshot.history))
    if as_json:
        write_json(runs_report(where, runs))
        return
    out = console()
    for run in runs:
        out.print(told(run))
    out.print(line_of(f"{counted(len(runs), 'run')} of {len(workspace.snapshot.history.line_of):,}"))


def _print(workspace: Workspace, pools: list[Path] | None) -> None:
    out = console()
    now = datetime.now(UTC)
    for source in workspace.snapshot.sources:
        if source.kind == COMMITS.name and not (source.records or source.amendments or source.skipped):
            continue  # every repository has commits
        out.print(_source(source, workspace.folder, now, workspace.remotes.get(source.path)))
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


def _source(source: SourceReport, folder: Path | None, now: datetime, address: str | None) -> Text:
    path = Path(source.path)
    shown: Path | str = path.relative_to(folder) if folder and path.is_relative_to(folder) else path
    aside = [counted(count, *ROLE_WORDS.get(role, (role, role))) for role, count in source.roles.items()]
    if source.merged:
        aside.append(f"{source.merged:,} also known from another source")
    told = [f"newest {moment_ago(source.newest, now)}"] if source.newest is not None else []
    if address is not None:
        shown, fetched = address, fetched_at(path)
        told.append(f"fetched {moment_ago(fetched, now)}" if fetched is not None else "nothing fetched yet")
    if source.seconds >= 0.05:
        told.append(f"read in {source.seconds:.1f} s")
    if source.total is not None:
        told.append(f"still being read, about {source.total:,} in all")
    return line_of(
        (plain(str(shown)), "bold"),
        f"  {source.kind}: {counted(source.records, 'record')}, {counted(source.dead_ends, 'dead end')}"
        + (f", {counted(source.amendments, 'amendment')}" if source.amendments else "")
        + (f" ({', '.join(aside)})" if aside else "")
        + (_coverage(source.coverage) if source.records else "")
        + (f"; {', '.join(told)}" if told else ""),
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
        out.print(line_of("most records say nothing of what came of them: `tried pool doctor` tells what to do"))
