"""`tried allow`: which places outside of this workspace may be read although only the workspace names them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.options import AsJson, folder_of_here
from tried.cli.output import console, line_of, write_json
from tried.render.escape import plain
from tried.storage.consents import allow as remember
from tried.storage.consents import consents_of, is_allowed, place_of, withdraw
from tried.storage.files import StorageError
from tried.storage.paths import may_exist
from tried.workspace import Workspace

ALLOW_SCHEMA = "tried.allow/v1"


def allow(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="PATH", show_default=False, help="A place outside of this workspace; none to list them."
        ),
    ] = None,
    take_back: Annotated[bool, typer.Option("--withdraw", help="Take it back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let this workspace read places outside of it that its tried.toml or a link in it names."""
    folder = folder_of_here()
    for path in paths or ():
        _change(folder, path, take_back)
    allowed = sorted(consents_of(folder))
    workspace = Workspace(folder)
    workspace.refresh()
    waiting = [needed for needed in workspace.consents_needed if not is_allowed(needed.path, allowed)]
    if as_json:
        needed = [{"path": one.path, "named_by": one.named_by} for one in waiting]
        write_json({"schema": ALLOW_SCHEMA, "workspace": str(folder), "allowed": allowed, "needed": needed})
        return
    out = console()
    for place in allowed:
        out.print(line_of(("allowed: ", "bold"), plain(place)))
    for one in waiting:
        why = f"a link to {place_of(one.path)}" if one.named_by == one.path else f"named by {one.named_by}"
        out.print(line_of(("not read: ", "bold"), plain(one.path), f"  ({plain(why)})"))
    if not allowed and not waiting:
        out.print(line_of(f"nothing outside of {plain(str(folder))} is read, and nothing in it asks for that"))


def _change(folder: Path, path: Path, take_back: bool) -> None:
    try:
        if take_back:
            if not withdraw(folder, path):
                raise Failure(f"{path}: was not allowed here; `tried allow` lists what is")
        elif not may_exist(path) and not any(character in str(path) for character in "*?["):
            raise Failure(f"{path}: there is no such file or folder")
        else:
            remember(folder, path)
    except StorageError as error:
        raise Failure(str(error)) from error
