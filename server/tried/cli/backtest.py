"""`tried backtest`: which kinds of evidence have earned trust in a pool of one's own."""

from __future__ import annotations

import difflib
from typing import Annotated, Final, get_args

import typer

from tried.analysis import finding_settings
from tried.cli.failure import Failure
from tried.cli.options import AsJson, Pools, folder_of_here, no_runs_advice, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.evaluation.backtest import (
    SMALLEST_LINE,
    BacktestReport,
    Tally,
    backtest_of,
    count_known,
    lines_of,
)
from tried.evaluation.calibration import ENOUGH, TRUSTED_FROM, calibration_of, interval_of, trust_in
from tried.findings.finding import Evidence
from tried.pool.snapshot import PoolSnapshot
from tried.render.escape import plain
from tried.render.evaluation_reports import SEVERITIES, backtest_report
from tried.render.words import counted

LONGEST_LINE: Final = 1_000_000


def backtest(
    pools: Pools = None,
    research_line: Annotated[
        str | None,
        typer.Option("--research-line", metavar="LINE", help="Replay this research line alone.", show_default=False),
    ] = None,
    judged: Annotated[
        bool,
        typer.Option(
            "--judged/--all",
            help="Replay only the runs that carry a verdict, or all whose end is known.",
        ),
    ] = False,
    min_line: Annotated[
        int,
        typer.Option(
            "--min-line", metavar="N", min=2, max=LONGEST_LINE, help="Leave out research lines of fewer runs."
        ),
    ] = SMALLEST_LINE,
    as_json: AsJson = False,
) -> None:
    """Replay the pool: would the findings have been right here?"""
    workspace = open_workspace(folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    snapshot = workspace.snapshot
    if research_line is not None:
        _must_have(snapshot, research_line)
    report = backtest_of(
        snapshot,
        finding_settings(workspace.settings),
        research_line=research_line,
        smallest_line=min_line,
        judged_only=judged,
    )
    if as_json:
        found = backtest_report(
            report, calibration_of(report), research_line=research_line, smallest_line=min_line, judged=judged
        )
        write_json(found)
    elif report.drafts.flagged:
        _print(report, judged, is_calibrating=workspace.settings.findings.calibrate)
        return
    if not report.drafts.flagged:
        complain(
            _what_is_needed(snapshot, research_line, min_line, judged) if snapshot else no_runs_advice(workspace, pools)
        )


def _must_have(snapshot: PoolSnapshot, line: str) -> None:
    if snapshot and not lines_of(snapshot, line):
        near = difflib.get_close_matches(line, snapshot.research_lines, n=1)
        hint = f"did you mean {near[0]}?" if near else "`tried pool` lists those that there are"
        raise Failure(f"--research-line {line}: no run has it; {hint}")


def _what_is_needed(snapshot: PoolSnapshot, research_line: str | None, min_line: int, judged: bool) -> str:
    """Why there was nothing to replay, and what would change that."""
    lines = lines_of(snapshot, research_line)
    longest = max(map(len, lines), default=0)
    if longest < min_line:
        return (
            f"nothing to replay: a backtest needs a research line of at least {min_line} runs, and the longest has"
            f" {longest}; come back when there are more, or pass --min-line {max(2, longest)}"
        )
    long = [line for line in lines if len(line) >= min_line]
    if judged and (others := sum(count_known(line, judged_only=False) for line in long)):
        return (
            f"nothing to replay: no run of a research line of {min_line} carries a verdict; without --judged there are"
            f" {counted(others, 'run')} whose end is known, and `tried conclude` gives verdicts"
        )
    return (
        f"nothing to replay: of no run with parameters in a research line of {min_line} it is known how it ended; a"
        " status, a metric beside its parent's, or a verdict (`tried conclude`, `tried triage`) tells"
    )


def _print(report: BacktestReport, judged: bool, is_calibrating: bool) -> None:
    out = console()
    drafts, loud = report.drafts, report.loudest("warning", "information")
    first = _said(loud)
    out.print(line_of((first, "bold")))
    quiet = calibration_of(report).quiet
    for evidence in get_args(Evidence):
        out.print(line_of(f"  {_trust(evidence, report.squiggles.get(evidence, Tally()))}"))
    if quiet and not judged:
        names = " and ".join(f"`{evidence}`" for evidence in quiet)
        told = "speaks" if len(quiet) == 1 else "speak"
        if is_calibrating:
            out.print(line_of(f"  [findings] calibrate is on: {names} {told} only in the hover"))
        else:
            out.print(line_of(f"  with [findings] calibrate = true, {names} would speak only in the hover"))
    replayed = "runs with a verdict" if judged else "runs whose end is known"
    out.print(
        line_of(
            f"  replayed: {drafts.flagged:,} {replayed}, of {counted(report.lines, 'research line')}, each beside what"
            f" ran before it; {drafts.ended_badly:,} ended badly (base rate {drafts.precision:.3f})"
        )
    )
    if report.left_out:
        out.print(line_of(f"  not replayed: {report.left_out:,} older ones, because there are so many"))
    if drafts.ended_badly:
        out.print(
            line_of(
                f"  dead ends preceded by a squiggle: {report.preceded('warning', 'information'):.3f}; by a warning:"
                f" {report.preceded('warning'):.3f}"
            )
        )
    _print_table(report)


def _said(loud: Tally) -> str:
    if not loud.flagged:
        return "No squiggle would have stood on any of these drafts: there is nothing to trust or to distrust yet"
    return f"Squiggles were right {loud.ended_badly:,} of {loud.flagged:,} times here"


def _trust(evidence: Evidence, tally: Tally) -> str:
    if not tally.flagged:
        return f"{evidence}: never underlined anything"
    was = f"{evidence}: right {tally.ended_badly:,} of {tally.flagged:,} times"
    match trust_in(tally):
        case "too_few":
            return f"{was}, too few to judge it by (it takes {ENOUGH})"
        case "earned":
            return f"{was}, has earned trust"
        case "lacking":
            return f"{was}, under {TRUSTED_FROM:g}: has not earned trust"


def _print_table(report: BacktestReport) -> None:
    out = console()
    head = f"  {'evidence':<10}{'loudness':<13}{'drafts':>8}{'ended badly':>13}{'precision':>11}  95 %"
    out.print(line_of((head, "dim")))
    for evidence in get_args(Evidence):
        for severity in SEVERITIES:
            if tally := report.by_kind.get((evidence, severity)):
                out.print(line_of(_row(evidence, severity, tally)))
    for severity in (*SEVERITIES, "none"):
        if tally := report.by_severity.get(severity):
            out.print(line_of(_row("loudest" if severity != "none" else "no finding", severity, tally)))
    out.print(line_of(("  95 %: what the counts speak for (Wilson's score interval)", "dim")))


def _row(what: str, severity: str, tally: Tally) -> str:
    low, high = interval_of(tally)
    few = "  too few to judge" if tally.flagged < ENOUGH else ""
    name = severity if severity != "none" else ""
    return (
        f"  {plain(what):<10}{name:<13}{tally.flagged:>8,}{tally.ended_badly:>13,}{tally.precision:>11.3f}"
        f"  {low:.2f}–{high:.2f}{few}"
    )
