"""`tried audit`: what repetition has cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Final

import typer
from rich.text import Text

from tried.cli.options import AsJson, Pools, Where, folder_of_here, no_runs_advice, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import selected
from tried.pool.record import Cause
from tried.render.escape import plain
from tried.render.review_reports import audit_report
from tried.render.words import counted
from tried.review.audit import Audit, Cost, Past, Repeat
from tried.review.audit import audit as audited
from tried.review.runs import runs_in

MOST_LINES = 10
MOST_MONTHS = 12
CAUSE_WORDS: Final[dict[Cause, tuple[str, str]]] = {
    "out_of_memory": ("out of memory", "out of memory"),
    "diverged": ("diverged", "diverged"),
    "worse": ("came out worse", "came out worse"),
    "code_error": ("code error", "code errors"),
    "infrastructure": ("machine failure", "machine failures"),
    "stopped": ("stopped", "stopped"),
    "unknown": ("of unknown cause", "of unknown cause"),
}


def audit(
    where: Where = None,
    pools: Pools = None,
    listed: Annotated[
        bool, typer.Option("--list", help="Also list every repeat, with the run that it repeats.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what repetition has cost."""
    workspace = open_workspace(folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    runs = runs_in(workspace.snapshot.history)
    found = audited(selected(where, runs) if where is not None else runs)
    if as_json:
        write_json(audit_report(found))
    elif not runs:
        complain(no_runs_advice(workspace, pools))
    else:
        _print(found, listed)


def _print(found: Audit, listed: bool) -> None:
    out = console()
    repeated = found.repeated
    out.print(
        line_of(
            (f"{counted(len(found.runs), 'run')}: {counted(repeated.count, 'unintended repeat')}", "bold"),
            f"{_time(repeated, ', ')}{_causes(found, (one.run for one in found.repeats))}",
        )
    )
    if (dead := found.dead_ends_repeated).count:
        out.print(line_of(f"  {dead.count:,} of them repeated a dead end{_time(dead, ', ')}"))
    if repeated.count and repeated.unknown == repeated.count:
        out.print(line_of("  nobody recorded how long they took"))
    aside = []
    if found.retries:
        retries = counted(len(found.retries), "retry", "retries")
        aside.append(f"{retries} of what broke or told nothing{_time(found.retried, ', ')}")
    if found.replicates:
        aside.append(f"{counted(found.replicates, 'replicate')} (another seed, side by side, or meant)")
    if found.other_code:
        aside.append(f"{counted(found.other_code, 'run')} again with other code")
    if aside:
        out.print(line_of(f"  not counted: {'; '.join(aside)}"))
    if found.not_compared:
        out.print(
            line_of(
                f"  not compared: {counted(found.not_compared, 'run')} that"
                f" {'logs' if found.not_compared == 1 else 'log'} fewer than three parameters, or changed what is no"
                " parameter"
            )
        )
    for what, is_bad in (("ended badly, repeated or not", True), ("neither well nor badly", False)):
        causes = found.by_cause(run for run in found.runs if (run.ending == "dead_end") is is_bad)
        told = "; ".join(f"{_counted_cause(cause, cost.count)}{_time(cost, ', ')}" for cause, cost in causes.items())
        if told:
            out.print(line_of(f"  {what}: {told}"))
    _table("research line", found.by_line, MOST_LINES)
    _table("month", found.by_month, MOST_MONTHS, last=True)
    if listed:
        for one in (*found.repeats, *found.retries):
            out.print(_line(one))
    elif found.repeats:
        out.print(line_of("  --list names them"))


def _table(title: str, rows: Mapping[str | None, tuple[int, Cost]], limit: int, *, last: bool = False) -> None:
    if len(rows) < 2 or not any(cost.count for _, cost in rows.values()):
        return
    out = console()
    shown = list(rows.items())
    shown = shown[-limit:] if last else [row for row in shown if row[1][1].count][:limit]
    width = min(40, max(len(title), *(len(plain(name or "unknown")) for name, _ in shown)))
    out.print(line_of((f"  {title:<{width}}  {'runs':>7}  {'repeats':>7}  time", "dim")))
    for name, (count, cost) in shown:
        label = plain(name or "unknown")[:width]
        out.print(
            line_of(f"  {label:<{width}}  {count:>7,}  {cost.count:>7,}  {_time(cost) or ('–' if cost.count else '')}")
        )
    left = sum(1 for _, (_, cost) in rows.items() if cost.count) - sum(1 for _, (_, cost) in shown if cost.count)
    if left > 0:
        out.print(line_of(f"  … and {left:,} more; --json has all"))


def _line(one: Repeat) -> Text:
    run, earlier = one.run, one.earlier
    day = f"{run.time.date().isoformat()}  " if run.time else ""
    took = f" ({_span(run.seconds)})" if run.seconds is not None else ""
    verb = "repeats" if one.kind == "repeat" else "retries"
    cause = f" ({CAUSE_WORDS[earlier.cause][0]})" if earlier.cause and earlier.cause != "unknown" else ""
    ended = f", a dead end{cause}" if one.of_dead_end else ""
    return line_of(f"  {day}{plain(run.id)}{took} {verb} {plain(earlier.id)}{ended}")


def _causes(found: Audit, runs: Iterable[Past]) -> str:
    told = [_counted_cause(cause, cost.count) for cause, cost in found.by_cause(runs).items()]
    return f"; {', '.join(told)}" if told else ""


def _counted_cause(cause: Cause, count: int) -> str:
    return f"{count:,} {CAUSE_WORDS[cause][0 if count == 1 else 1]}"


def _time(cost: Cost, before: str = "") -> str:
    """ "212 hours", "212 hours and 3 of unknown length"; nothing where nobody knows."""
    if cost.unknown == cost.count:
        return ""
    unknown = f" and {cost.unknown:,} of unknown length" if cost.unknown else ""
    return f"{before}{_span(cost.seconds)}{unknown}"


def _span(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:,.0f} hours" if seconds >= 36_000 else f"{seconds / 3600:.1f} hours"
