"""Options that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.output import complain
from tried.pool.record import parse_time
from tried.workspace import Workspace, workspace_folder

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
Now = Annotated[
    str | None, typer.Option("--now", metavar="RFC3339", help="The time that ages count from.", show_default="now")
]


def now_from(text: str | None) -> datetime:
    if text is None:
        return datetime.now(UTC)
    moment = parse_time(text)
    if moment is None:
        raise Failure(f"--now {text}: expected a time such as 2026-11-30T12:00:00Z")
    return moment


def open_workspace(folder: Path, pools: list[Path] | None, overrides: dict[str, object] | None = None) -> Workspace:
    """The folder's workspace with its pool loaded; mistakes in settings are told on stderr."""
    for pool in pools or ():
        if not pool.exists():
            raise Failure(f"--pool {pool}: there is no such file or folder; give a journal or a results table")
    workspace = Workspace(folder, extra_pools=pools or (), only_extra=bool(pools), overrides=overrides)
    workspace.refresh()
    for problem in workspace.settings_problems:
        complain(str(problem))
    for note in workspace.notes:
        complain(f"{note.where}: {note.why}")
    return workspace


def folder_of_here() -> Path:
    """The workspace folder around the current directory."""
    return workspace_folder(Path.cwd() / "here")


def empty_pool_advice(workspace: Workspace, pools: list[Path] | None = None) -> str:
    """What to do when there is nothing that was tried."""
    if pools:
        return f"no past experiments in {', '.join(map(str, pools))}: `tried pool --pool …` says what could not be read"
    return (
        f"no past experiments found in {workspace.folder}: put a journal at .tried/pool.jsonl or a results.tsv beside"
        " the scripts, name others in tried.toml ([pool] sources), or pass --pool FILE"
    )
