"""`tried import`: copy the records of a source into a journal, for those who want one file to keep and to commit."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from tried.cli.failure import Failure
from tried.cli.options import AsJson, empty_pool_advice, folder_of_here, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.pool import journal
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource
from tried.render.reports import import_report
from tried.render.words import counted
from tried.storage.files import replace_file
from tried.storage.paths import exists, is_folder, leads_out, may_exist, open_plain
from tried.workspace import Workspace

BATCH: Final = 2_000
"""Records that are written at one stroke. Whatever ends an import halfway, the next one goes on where it ended."""

ATTRIBUTES: Final = ".gitattributes"


def import_source(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", show_default=False, help="A store, results table or journal."),
    ],
    into: Annotated[
        Path | None,
        typer.Option("--into", metavar="FILE", help="The journal to write to.", show_default=".tried/pool.jsonl"),
    ] = None,
    gitattributes: Annotated[
        bool, typer.Option("--gitattributes", help="Also let git merge the journal line by line (merge=union).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Copy the records of a source into the journal."""
    if not may_exist(source):
        raise Failure(f"{source}: there is no such file or folder")
    if into is not None and is_folder(into):
        raise Failure(f"--into {into}: is a folder; name a file, such as {into / 'pool.jsonl'}")
    folder = folder_of_here()
    target = Path(os.path.normpath(into.absolute())) if into is not None else folder / journal.OUR_JOURNAL
    if exists(target) and exists(source) and target.resolve() == source.resolve():
        raise Failure(f"{source}: is the journal itself")
    if gitattributes:
        _must_be_attributable(folder, target)
    workspace = open_workspace(folder, [source])
    tell_of_unread(workspace, [source])
    if not workspace.snapshot:
        raise Failure(empty_pool_advice(workspace, [source]))
    known = _known_in(target)
    fresh: list[ExperimentRecord] = []
    copied = present = running = 0
    for record in _records(workspace):
        if record.id in known or not known.isdisjoint(record.aliases):
            present += 1
        elif (record.outcome or "").casefold() == "running":
            running += 1
        else:
            fresh.append(record)
            copied += 1
        if len(fresh) >= BATCH:
            _write(folder, into, fresh)
            fresh = []
    _write(folder, into, fresh)
    attributes = _attribute(folder, target) if gitattributes else None
    if as_json:
        write_json(import_report(target, copied, present, running, attributes))
        return
    out = console()
    aside = [f"{present:,} were there already"] if present else []
    aside += (
        [f"{running:,} still {'runs' if running == 1 else 'run'} and {'is' if running == 1 else 'are'} left"]
        if (running)
        else []
    )
    out.print(line_of(f"{counted(copied, 'record')} copied into {target}" + "".join(f"; {one}" for one in aside)))
    if attributes is not None:
        out.print(line_of(f"{attributes} lets git merge it line by line"))
    elif target.is_relative_to(folder):
        place = target.relative_to(folder).as_posix()
        out.print(line_of(f"if you commit it, put `{place} merge=union` into {ATTRIBUTES} (--gitattributes does)"))


def _records(workspace: Workspace) -> Iterator[ExperimentRecord]:
    snapshot = workspace.snapshot
    return (snapshot.records[record_id] for record_id in snapshot.records)


def _known_in(target: Path) -> set[str]:
    """Ids and aliases of the records that the journal has."""
    known: set[str] = set()
    if not exists(target):
        return known
    source = JournalSource(target)
    cursor: object | None = None
    while True:
        delta = source.scan(cursor)
        for record in delta.upserts:
            if record.kind == "experiment":
                known.update((record.id, *record.aliases))
        if not delta.more:
            break
        cursor = delta.cursor
    if any(skipped.where == "the file" for skipped in delta.skipped):
        raise Failure(f"{target}: {delta.skipped[0].why}; nothing was written")
    return known


def _write(folder: Path, into: Path | None, records: list[ExperimentRecord]) -> None:
    if into is None:
        journal.write_down(folder, records)
    else:
        journal.append_all(into.absolute(), records)


def _must_be_attributable(folder: Path, target: Path) -> None:
    path = folder / ATTRIBUTES
    if not target.is_relative_to(folder):
        raise Failure(f"--gitattributes: {target} lies outside of {folder}, where git does not look")
    if leads_out(path, folder):
        raise Failure(f"{path}: is a link out of the workspace and is not written to")


def _attribute(folder: Path, target: Path) -> Path:
    """Adds the line, if it is not there; the file."""
    path = folder / ATTRIBUTES
    line = f"{target.relative_to(folder).as_posix()} merge=union"
    try:
        with open_plain(path) as file:
            before = file.read().decode("utf-8", "surrogateescape")
    except FileNotFoundError:
        before = ""
    except OSError as error:
        raise Failure(f"{path}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    if line in (" ".join(one.split()) for one in before.splitlines()):
        complain(f"{path} has the line already")
        return path
    end = "" if before.endswith("\n") or not before else "\n"
    replace_file(path, f"{before}{end}{line}\n".encode("utf-8", "surrogateescape"))
    return path
