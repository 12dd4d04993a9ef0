"""`tried triage`: what ended badly and nobody wrote why, group by group, each with a sentence to agree to."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tried.cli.asking import ask
from tried.cli.hits import count_hits
from tried.cli.options import (
    AsJson,
    Pools,
    Where,
    folder_of_here,
    no_runs_advice,
    open_workspace,
    tell_of_unread,
)
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import selected, told
from tried.pool import journal
from tried.pool.record import ExperimentRecord, Verdict
from tried.render.escape import plain
from tried.render.review_reports import triage_report
from tried.render.words import counted
from tried.review.runs import runs_in
from tried.review.triage import Group, unexplained_in
from tried.review.triage import triage as groups_of
from tried.workspace import Workspace

SHOWN = 3
KEYS = "y yes, d yes and a dead end, e edit, s skip, a skip all the rest, q quit and write nothing"


def triage(
    where: Where = None,
    pools: Pools = None,
    listed: Annotated[bool, typer.Option("--list", help="List the groups and ask nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Agree to every sentence that is proposed.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write down why runs ended badly, group by group.

    Those without a written reason are shown with a sentence that you agree to, edit or skip.
    """
    workspace = open_workspace(folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    runs = runs_in(workspace.snapshot.history)
    groups = groups_of(selected(where, runs) if where is not None else runs)
    if not runs and not as_json:
        complain(no_runs_advice(workspace, pools))
        return
    if as_json:
        conclusions = _all_of(groups) if yes else []
        path = _write(workspace, conclusions)
        _count(workspace, conclusions)
        write_json(triage_report(groups, len(conclusions), path if conclusions else None))
        return
    out = console()
    count = sum(len(group.runs) for group in groups)
    if not groups:
        out.print(line_of("nothing ended badly without a reason that somebody wrote down"))
        return
    out.print(line_of((_told(groups), "bold"), f": {counted(len(groups), 'group')}"))
    if listed or yes:
        for number, group in enumerate(groups, start=1):
            _show(group, number, len(groups))
        if yes:
            _confirm(workspace, _all_of(groups), count)
        return
    answered = _asked(groups)
    if answered is not None:
        _confirm(workspace, answered, count)
    else:
        out.print(line_of("nothing was written"))


def _told(groups: Sequence[Group]) -> str:
    """How many runs the groups are of: those that ended badly, as `tried pool doctor` counts them, and the others."""
    bad = unexplained_in(groups)
    stopped = sum(len(group.runs) for group in groups) - bad
    if not bad:
        return f"{counted(stopped, 'run was', 'runs were')} stopped without a written reason"
    aside = f", and {stopped:,} {'was' if stopped == 1 else 'were'} stopped" if stopped else ""
    return f"{counted(bad, 'run')} ended badly without a written reason{aside}"


def _asked(groups: Sequence[Group]) -> list[ExperimentRecord] | None:
    """What the person agreed to; None if nothing is to be written after all."""
    conclusions: list[ExperimentRecord] = []
    for number, group in enumerate(groups, start=1):
        _show(group, number, len(groups))
        while True:
            answer = ask(_question(group))
            word = answer.casefold() if answer is not None else "a"
            if word in ("q", "quit"):
                return None
            if word in ("a", "all"):
                return conclusions
            if word in ("s", "skip", "n", "no"):
                break
            if word in ("e", "edit"):
                said = ask("     why:")
                if said is None:
                    return conclusions
                if said:
                    conclusions += _conclusions(group, said, group.verdict)
                    break
            elif word in ("y", "yes", "d") and group.proposal is None:
                console().print(line_of("     there is no sentence to agree to; e writes one, s skips"))
            elif word in ("y", "yes", "d"):
                conclusions += _conclusions(group, group.proposal or "", "dead_end" if word == "d" else group.verdict)
                break
            else:
                console().print(line_of(f"     {KEYS}"))
    return conclusions


def _question(group: Group) -> str:
    return "     [e/s/a/q/?]" if group.proposal is None else "     [y/d/e/s/a/q/?]"


def _all_of(groups: Sequence[Group]) -> list[ExperimentRecord]:
    return [
        conclusion
        for group in groups
        if group.proposal is not None
        for conclusion in _conclusions(group, group.proposal, group.verdict)
    ]


def _conclusions(group: Group, reason: str, verdict: Verdict | None) -> list[ExperimentRecord]:
    now = datetime.now(UTC)
    cause = group.cause if group.cause != "unknown" else None
    return [journal.conclusion_of(run.id, reason, verdict, now, cause) for run in group.runs]


def _write(workspace: Workspace, conclusions: Sequence[ExperimentRecord]) -> Path:
    return journal.write_down(workspace.folder or Path.cwd(), conclusions)


def _confirm(workspace: Workspace, conclusions: Sequence[ExperimentRecord], count: int) -> None:
    out = console()
    if not conclusions:
        out.print(line_of("nothing was written"))
        return
    path = _write(workspace, conclusions)
    _count(workspace, conclusions)
    left = count - len(conclusions)
    out.print(
        line_of(
            f"noted in {path}: {counted(len(conclusions), 'run')}"
            + (f"; {left:,} left without a reason" if left else "")
        )
    )


def _count(workspace: Workspace, conclusions: Sequence[ExperimentRecord]) -> None:
    count_hits(workspace, (one.amends for one in conclusions if one.amends), "concluded")


def _show(group: Group, number: int, of: int) -> None:
    out = console()
    lines = ", ".join(plain(line) for line in group.lines[:3] if line) + (" …" if len(group.lines) > 3 else "")
    out.print(
        line_of(
            (f"{number}/{of}  {group.cause.replace('_', ' ')}: {counted(len(group.runs), 'run')}", "bold"),
            f"  {lines}" if lines else "",
        )
    )
    for run in group.runs[:SHOWN]:
        out.print(Text("   ").append_text(told(run)))
    if len(group.runs) > SHOWN:
        out.print(line_of(f"       … and {len(group.runs) - SHOWN:,} more"))
    if group.proposal is None:
        out.print(line_of("     → ", "nothing in the runs says why"))
    else:
        verdict = "  (a dead end)" if group.verdict == "dead_end" else ""
        out.print(line_of("     → ", (plain(group.proposal), "bold cyan"), verdict))
