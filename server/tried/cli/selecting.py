"""Runs that a command names: by a condition, a search, a path, or an id."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.text import Text

from tried.analysis import finding_settings, not_worth_reading
from tried.cli.failure import Failure
from tried.cli.files import read_config
from tried.cli.options import empty_pool_advice
from tried.cli.output import complain, line_of
from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import language_of, parse
from tried.pool.headline import line_about
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord
from tried.record_names import Found, find_record
from tried.render.escape import plain, shortened
from tried.render.words import MARKS
from tried.review.matching import members_of, repeats_of, runs_at
from tried.review.runs import last_without_time, newest_in, runs_in, runs_of
from tried.review.selection import SelectionError, parse_selection, unknown_name
from tried.storage.paths import is_folder, may_exist
from tried.workspace import Workspace

LAST = "last"
SHOWN = 20


def selected(condition: str, runs: Sequence[Run], option: str = "--where") -> list[Run]:
    """The runs that a condition selects; raises Failure with the place of a mistake in it."""
    try:
        selection = parse_selection(condition)
    except SelectionError as error:
        raise _mistake(error, option) from error
    unknown = unknown_name(selection, runs) if runs else None
    if unknown is not None:
        raise _mistake(unknown, option)
    return selection.of(runs)


def _mistake(error: SelectionError, option: str) -> Failure:
    return Failure(f"{option}: {plain(str(error))}", picture=error.picture)


def members(workspace: Workspace, sweep: str) -> list[Run]:
    """The members of a search; raises Failure where there are none."""
    runs = runs_in(workspace.snapshot.history)
    found = members_of(runs, sweep)
    if not found:
        known = list(dict.fromkeys(run.record.sweep for run in runs if run.record.sweep))
        hint = f"; there are {', '.join(plain(one) for one in known[:5])}" if known else "; no record names a sweep"
        raise Failure(f"--sweep {sweep}: no run is a member of it{hint}")
    return found


def named(workspace: Workspace, name: str) -> list[Run]:
    """The run of an id, the newest one (`last`), or the runs of a path; raises Failure if there is none."""
    snapshot = workspace.snapshot
    found = find_record(snapshot, name)
    if found.record is not None:
        return runs_of([found.record], snapshot.history, snapshot.directions)
    if name == LAST:
        return [newest(workspace)]
    path = Path(name)
    if may_exist(path):
        return _at(workspace, path)
    raise Failure(_unknown(name, found))


def record_named(workspace: Workspace, name: str, pools: list[Path] | None = None) -> ExperimentRecord:
    """The record of an id, or the newest run (`last`); raises Failure if there is none."""
    snapshot = workspace.snapshot
    if not snapshot:
        raise Failure(empty_pool_advice(workspace, pools))
    found = find_record(snapshot, name)
    if found.record is not None:
        return found.record
    if name == LAST:
        return newest(workspace).record
    raise Failure(_unknown(name, found))


def newest(workspace: Workspace) -> Run:
    """The run that began last. Raises Failure if there is none."""
    history = workspace.snapshot.history
    found = newest_in(history)
    if found is None:
        raise Failure("there is no run yet")
    timeless = last_without_time(history)
    if timeless is not None and timeless.id != found.id:
        complain(f"`{LAST}` goes by time, and {plain(timeless.id)} has none: name it if you mean it")
    return found


def drafts_in(path: Path, workspace: Workspace) -> tuple[str, str, tuple[ExperimentDraft, ...]]:
    """(language, text, drafts) of a config file; raises Failure if it is none that can be read."""
    language = language_of(str(path))
    if language is None:
        raise Failure(f"{path}: no language of configs (YAML, JSON, TOML, Python, .env, shell)")
    text = read_config(path, workspace.settings)
    if why := not_worth_reading(text, workspace.settings):
        raise Failure(f"{path}: {why}")
    return language, text, drafts_of(parse(text, language), text)


def _at(workspace: Workspace, path: Path) -> list[Run]:
    place = Path(path.absolute().resolve())
    home = workspace.folder
    runs = runs_in(workspace.snapshot.history)
    found = runs_at(runs, path.absolute(), home) or runs_at(runs, place, home)
    if found or is_folder(path):
        if not found:
            raise Failure(f"{path}: no run of the pool has this folder; `tried rank --text WORDS` finds runs otherwise")
        return found
    _, _, drafts = drafts_in(path, workspace)
    found = repeats_of(drafts, workspace.snapshot.history, finding_settings(workspace.settings))
    if not found:
        raise Failure(f"{path}: no run was made with exactly these parameters; `tried rank {path}` lists similar ones")
    return found


def _unknown(name: str, found: Found) -> str:
    if found.several:
        return f"{found.why_not(name)}; give a whole id"
    hint = "" if found.near else "; `tried rank --text WORDS` finds records by what they say"
    return f"{found.why_not(name)}{hint}"


def told(run: Run) -> Text:
    """A run on one line."""
    record = run.record
    name = f"  {shortened(record.name, 40)}" if record.name and record.name != record.id else ""
    about = line_about(record)
    headline = f"  {shortened(about, 80)}" if about and about != record.name else ""
    day = f"  {record.time.date().isoformat()}" if record.time else ""
    return line_of(f"  {MARKS[run.ending]} {plain(record.id)}", (name, "bold"), headline, (day, "dim"))
