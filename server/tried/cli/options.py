"""Options that several commands share."""

from __future__ import annotations

import difflib
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from tried.cli.failure import Failure
from tried.cli.output import complain
from tried.pool.pool import SourceReport
from tried.pool.record import parse_time
from tried.render.words import counted
from tried.settings import has_settings
from tried.storage.paths import exists, may_exist
from tried.workspace import POOL_MARKERS, Workspace, failure_of, workspace_folder

Pools = Annotated[
    list[Path] | None,
    typer.Option(
        "--pool",
        metavar="FILE",
        help="Read only this journal, results table or folder of them, instead of what is found and configured."
        " Can be given again.",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON for programs.")]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        help="Only runs of which this holds, as in: 'lr >= 3e-3 and dataset = cifar'.",
        show_default=False,
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing.")]
Now = Annotated[
    str | None, typer.Option("--now", metavar="RFC3339", help="The time that ages count from.", show_default="now")
]


ROLE_WORDS: Final = {
    "launcher": ("launcher", "launchers"),
    "step": ("pipeline step", "pipeline steps"),
    "sweep": ("search as a whole", "searches as a whole"),
}
"""Records that are no experiments, one and many."""


def now_from(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    moment = parse_time(text)
    if moment is None:
        raise Failure(f"--now {text}: expected a time such as 2026-11-30T12:00:00Z")
    return moment


def must_be_there(pools: list[Path] | None) -> None:
    """Raises Failure for one of `pools` that is not."""
    for pool in pools or ():
        if not may_exist(pool):
            raise Failure(f"--pool {pool}: there is no such file or folder; give a journal or a results table")


def open_workspace(folder: Path, pools: list[Path] | None, overrides: dict[str, object] | None = None) -> Workspace:
    """The folder's workspace with its pool loaded; mistakes in settings are told on stderr.

    Raises Failure for one of `pools` that is not there.
    """
    must_be_there(pools)
    workspace = Workspace(folder, extra_pools=pools or (), only_extra=bool(pools), overrides=overrides)
    workspace.refresh()
    for problem in workspace.settings_problems:
        complain(str(problem))
    for note in workspace.notes:
        complain(f"{note.where}: {note.why}")
    return workspace


def tell_of_unread(workspace: Workspace, pools: list[Path] | None) -> None:
    """Nothing of a pool is lost in silence: what was not read is told in one line on stderr.

    Raises Failure for one of `pools` that cannot be read as a whole.
    """
    workspace.refresh()  # an unfinished last line is told once it was seen to stay
    given = {str(pool.absolute()): pool for pool in pools or ()}
    damaged = [r for r in workspace.snapshot.sources if r.skipped and r.path not in workspace.source_problems]
    for report in damaged:
        if report.path in given and (why := failure_of(report)):
            raise Failure(f"--pool {given[report.path]}: {why}; give a journal or a results table")
    if damaged:
        command = "tried pool --pool …" if pools else "tried pool"
        complain(f"{_not_read(damaged, workspace.folder)}; see `{command}`")


def _not_read(reports: list[SourceReport], folder: Path | None) -> str:
    first, path = reports[0], Path(reports[0].path)
    place = path.relative_to(folder) if folder is not None and path.is_relative_to(folder) else path
    said = failure_of(first)
    if said is None:
        count = len(first.skipped)
        is_cut = first.skipped[-1].where == "further on"
        lines = f"more than {count - 1:,} lines" if is_cut else counted(count, "line")
        example = f"{first.skipped[0].where}: {first.skipped[0].why}"
        said = f"{lines} not read as {'it stands' if count == 1 else 'they stand'} ({example})"
    more = f", and more in {counted(len(reports) - 1, 'other source')}" if len(reports) > 1 else ""
    return f"{place}: {said}{more}"


def tell_of_unknown_line(workspace: Workspace) -> None:
    """A research line that is set and that no record has: nothing is then evidence of the same line."""
    line, known = workspace.settings.research_line, workspace.snapshot.research_lines
    if line is None or not workspace.snapshot or line.casefold() in map(str.casefold, known):
        return
    near = difflib.get_close_matches(line, known, n=1)
    hint = f"did you mean {near[0]}?" if near else "`tried pool` lists those that there are"
    complain(f"research_line {line}: no record has it; {hint}")


def folder_of(file: Path) -> Path:
    """The workspace folder of a file; where nothing marks one, that in which the command was given, if it holds it."""
    found = workspace_folder(file)
    here = Path.cwd()
    marked = has_settings(found) or any(exists(found / marker) for marker in (*POOL_MARKERS, "results.tsv"))
    return here if not marked and here in found.parents else found


def folder_of_here() -> Path:
    """The workspace folder around the current directory."""
    return workspace_folder(Path.cwd() / "here")


def no_runs_advice(workspace: Workspace, pools: list[Path] | None = None) -> str:
    """Why there is no experiment: nothing was found, or nothing that is one."""
    snapshot = workspace.snapshot
    if not snapshot:
        return empty_pool_advice(workspace, pools)
    roles: Counter[str] = Counter()
    for source in snapshot.sources:
        roles.update(source.roles)
    told = ", ".join(counted(count, *ROLE_WORDS.get(role, (role, role))) for role, count in roles.items())
    return f"none of the {counted(len(snapshot), 'record')} is an experiment: {told}"


def empty_pool_advice(workspace: Workspace, pools: list[Path] | None = None) -> str:
    """What to do when there is nothing that was tried."""
    if pools:
        return (
            f"no past experiments in {', '.join(map(str, pools))}: a pool is a tracker's store (mlflow.db, mlruns,"
            " wandb, outputs, …), a results table (.tsv, .csv), a journal (JSONL, a record a line), or a folder of them"
        )
    if workspace.source_problems:
        return (
            f"no past experiments found in {workspace.folder}, and none in what the settings name (see above): correct"
            " [pool] sources there, or pass --pool FILE"
        )
    if any(failure_of(report) for report in workspace.snapshot.sources) or workspace.notes:
        return (
            f"no past experiments in {workspace.folder} but in what could not be read (see above): put that right, or"
            " name another pool in tried.toml ([pool] sources)"
        )
    return (
        f"no past experiments found in {workspace.folder}: no runs of MLflow, Hydra, W&B or another tracker, no"
        " results.tsv, no .tried/pool.jsonl. Name others in tried.toml ([pool] sources), pass --pool PATH, or write a"
        " run down with `tried record`"
    )
