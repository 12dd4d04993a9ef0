"""`tried pool doctor`: what would make the pool more useful."""

from __future__ import annotations

from pathlib import Path

from tried.cli.options import no_runs_advice
from tried.cli.output import complain, console, line_of, write_json
from tried.render.escape import plain
from tried.render.review_reports import doctor_report
from tried.render.words import counted
from tried.review.advice import Advice, advice
from tried.review.runs import runs_in
from tried.workspace import Workspace


def doctor(workspace: Workspace, pools: list[Path] | None, as_json: bool) -> None:
    """What is missing, the most useful first, each with what to do."""
    snapshot = workspace.snapshot
    found = advice(snapshot, runs_in(snapshot.history)) if snapshot else []
    off = _off(workspace)
    if as_json:
        write_json(doctor_report(len(snapshot), found, off))
        return
    if not snapshot.history.line_of:
        complain(no_runs_advice(workspace, pools))
        if not snapshot:
            return
    out = console()
    for one in found:
        _print(one)
    for told in off:
        out.print(line_of(("· ", "dim"), plain(told)))
    if not found and snapshot.history.line_of:
        out.print(line_of(f"{counted(len(snapshot), 'record')}: nothing is missing that would help"))


def _print(one: Advice) -> None:
    out = console()
    out.print(line_of(("! ", "bold yellow"), (plain(one.says), "bold")))
    for line in one.how:
        out.print(line_of("    ", plain(line)))


def _off(workspace: Workspace) -> list[str]:
    """What is there, perhaps, and is not read because somebody said so."""
    settings = workspace.settings.pool
    told = []
    if not settings.discover:
        told.append("pools are not looked for (pool.discover is off): only what settings name is read")
    if settings.disable:
        told.append(f"switched off in the settings (pool.disable): {', '.join(settings.disable)}")
    told += [
        f"{needed.path}, which {needed.named_by} names, waits for your consent: `tried allow {needed.path}`"
        for needed in workspace.consents_needed
    ]
    return told
