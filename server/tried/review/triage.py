"""Runs that ended badly, or were stopped, and of which nobody wrote why, in groups that one sentence explains.

A group shares a cause, and the research line where no error tells more; runs that failed share the line of their error
without its numbers, addresses and paths. Where a region of the parameters sets most of a group apart from what worked,
the group is parted there. What broke is held against all that ran its course, whatever came of it.

Invariant: the same runs give the same groups, sentences and order.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from tried.draft.parameters import COMPARED_KINDS, ParameterKind, kind_of
from tried.pool.headline import error_line
from tried.pool.history.run import Run
from tried.pool.outcome import WELL_OUTCOMES
from tried.pool.record import Cause, ExperimentRecord, Verdict
from tried.review.regions import Region, region_in_context, region_of
from tried.review.runs import is_concluded
from tried.review.working import Working

DEAD_END_CAUSES: Final[tuple[Cause, ...]] = ("out_of_memory", "diverged")
"""What a yes makes a dead end, if a parameter explains it. What crashed, was stopped or came out worse is not judged by
a yes alone."""

_ANYWHERE: Final[tuple[Cause, ...]] = ("infrastructure", "code_error")
"""Causes that have nothing to do with the research line, if an error tells what it was."""

_OF_A_CRASH: Final[tuple[Cause, ...]] = ("out_of_memory", "code_error", "unknown")
"""Causes that what ran its course did not meet, whether it came out well or not."""

_OF_PARAMETERS: Final[tuple[Cause, ...]] = ("out_of_memory", "diverged", "worse", "unknown")
"""Causes that a single changed parameter may be to blame for."""

_BY_ERROR: Final[tuple[Cause, ...]] = ("infrastructure", "code_error", "unknown")
_MOST_PARTS: Final = 4
_ERROR_SHOWN: Final = 120
_FEW: Final = 3

_PATH: Final = re.compile(r"(?:[A-Za-z]:)?(?:[\w.~-]*[/\\]){1,64}[\w.~-]*")
_HEX: Final = re.compile(r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{7,})\b")
_NUMBER: Final = re.compile(r"[-+]?\d[\d_,.]*(?:[eE][-+]?\d+)?")


@dataclass(frozen=True, slots=True)
class Group:
    """Runs that ended badly for one reason, as far as can be seen.

    `proposal` is a sentence for all of them, None where nothing can be said; `verdict` what a yes to it means.
    `worked` is how many runs of the research lines worked (for a crash: ran their course), against which `region` was
    found; without a region, `change` is what all of the runs changed from what they came from ("lr 0.5").
    """

    cause: Cause
    lines: tuple[str | None, ...]
    error: str
    runs: tuple[Run, ...]
    region: Region | None
    change: str | None
    worked: int
    proposal: str | None
    verdict: Verdict | None


@dataclass(frozen=True, slots=True)
class _Likeness:
    """What the runs of a group share."""

    cause: Cause
    line: str | None
    error: str


@dataclass(frozen=True, slots=True)
class _Bad:
    """A run that ended badly. `ran`: it ran its course, and what came out was bad."""

    run: Run
    cause: Cause
    ran: bool
    seconds: float | None


def triage(runs: Iterable[Run]) -> list[Group]:
    """Groups of what ended badly, or was stopped, without a reason, the largest first; then by their oldest run."""
    working: dict[str | None, list[Run]] = {}
    gathered: dict[_Likeness, list[Run]] = {}
    bad: dict[str | None, list[_Bad]] = {}
    for run in runs:
        record = run.record
        if run.ending == "worked" and not run.debug:
            working.setdefault(record.research_line, []).append(run)
            continue
        if run.cause is not None:
            ran = (record.outcome or "").strip().casefold() in WELL_OUTCOMES
            bad.setdefault(record.research_line, []).append(_Bad(run, run.cause, ran, _seconds(record)))
        if _is_unexplained(run):
            cause = run.cause or ("stopped" if _was_stopped(record) else "unknown")
            error = normalised_error(record.error or "") if cause in _BY_ERROR else ""
            line = None if cause in _ANYWHERE and error else record.research_line
            gathered.setdefault(_Likeness(cause, line, error), []).append(run)
    held_against: dict[tuple[tuple[str | None, ...], Cause | None], Working] = {}
    groups: list[Group] = []
    for likeness, members in gathered.items():
        lines = tuple(dict.fromkeys(run.record.research_line for run in members))
        crash = likeness.cause if likeness.cause in _OF_A_CRASH else None
        others = [one for line in lines for one in bad.get(line, ()) if crash is not None and one.cause != crash]
        if (lines, crash) not in held_against:
            worked = [run for line in lines for run in working.get(line, ())]
            held_against[lines, crash] = Working([*worked, *(one.run for one in others if one.ran)])
        against = held_against[lines, crash]
        if crash == "out_of_memory" and (longer := _longer(members, others)):
            against = Working([*against.runs, *longer])
        groups += _parted(likeness.cause, lines, members, against)
    return sorted(_gathered(groups), key=lambda group: (-len(group.runs), group.runs[0].order))


def unexplained_in(groups: Iterable[Group]) -> int:
    """How many runs of the groups ended badly; the others were stopped, which is neither good nor bad."""
    return sum(run.ending == "dead_end" for group in groups for run in group.runs)


def _gathered(groups: Iterable[Group]) -> list[Group]:
    """Small groups about which there is little to say become one for each cause and research line."""
    kept: list[Group] = []
    small: dict[tuple[Cause, tuple[str | None, ...]], list[Group]] = {}
    for group in groups:
        if group.region is None and group.change is None and not group.error and len(group.runs) < _FEW:
            small.setdefault((group.cause, group.lines), []).append(group)
        else:
            kept.append(group)
    for (cause, lines), parts in small.items():
        runs = sorted((run for part in parts for run in part.runs), key=lambda run: run.order)
        kept.append(_group(cause, lines, runs, None, max(part.worked for part in parts)))
    return kept


def _longer(group: Sequence[Run], others: Iterable[_Bad]) -> list[Run]:
    """Runs that broke for another cause, and later than most of the group: memory was not it."""
    durations = sorted(seconds for run in group if (seconds := _seconds(run.record)) is not None)
    if not durations:
        return []
    usual = durations[(len(durations) - 1) // 2]
    return [one.run for one in others if not one.ran and one.seconds is not None and one.seconds > usual]


def _seconds(record: ExperimentRecord) -> float | None:
    duration = record.duration
    return duration.secs + duration.nanos / 1e9 if duration is not None else None


def _is_unexplained(run: Run) -> bool:
    record = run.record
    return (run.ending == "dead_end" or _was_stopped(record)) and not is_concluded(record)


def _was_stopped(record: ExperimentRecord) -> bool:
    return (record.outcome or "").strip().casefold() in ("stopped", "killed", "cancelled")


def _parted(cause: Cause, lines: tuple[str | None, ...], runs: Sequence[Run], working: Working) -> list[Group]:
    """The group, or parts of it that regions of the parameters set apart."""
    groups: list[Group] = []
    rest = list(runs)
    while rest and len(groups) < _MOST_PARTS and len(lines) == 1 and cause not in ("infrastructure", "stopped"):
        region, part = _best(rest, working, cause)
        held = [run for run in part if region is not None and region.holds(run)]
        if region is None or not held:
            break
        groups.append(_group(cause, lines, held, region, len(working)))
        taken = {run.id for run in held}
        rest = [run for run in rest if run.id not in taken]
    if rest:
        groups.append(_group(cause, lines, rest, None, len(working)))
    return groups


def _best(runs: Sequence[Run], working: Working, cause: Cause) -> tuple[Region | None, Sequence[Run]]:
    """The region that explains most, and the runs that it is about: of parameters over all contexts; else of parameters
    in one context; else a context."""
    region = region_of(runs, working, cause)
    if (region is not None and not region.is_context) or cause not in _OF_PARAMETERS:
        return region, runs
    contexts: dict[frozenset[tuple[str, object]], list[Run]] = {}
    for run in runs:
        context = frozenset((k, r.value) for k, r in run.in_force.items() if r.kind is ParameterKind.CONTEXT)
        contexts.setdefault(context, []).append(run)
    for part in sorted(contexts.values(), key=lambda part: (-len(part), part[0].order)):
        found = region_in_context(part, working, cause)
        if found is not None:
            return found, part
    return region, runs


def _group(
    cause: Cause, lines: tuple[str | None, ...], runs: Sequence[Run], region: Region | None, worked: int
) -> Group:
    error = _common_error(runs)
    change = _common_change(runs) if region is None and cause in _OF_PARAMETERS else None
    explained = region is not None or change is not None
    return Group(
        cause=cause,
        lines=lines,
        error=error,
        runs=tuple(runs),
        region=region,
        change=change,
        worked=worked,
        proposal=sentence_for(cause, len(runs), region, error, change),
        verdict="dead_end" if cause in DEAD_END_CAUSES and explained else None,
    )


def _common_change(runs: Sequence[Run]) -> str | None:
    """The one parameter that each of the runs turned, and to the same value; None if there is none."""
    changes = runs[0].changes
    if len(changes) != 1 or changes[0].after is None or kind_of(changes[0].shown) not in COMPARED_KINDS:
        return None
    one = (changes[0].key, changes[0].after)
    if any([(change.key, change.after) for change in run.changes] != [one] for run in runs):
        return None
    return f"{changes[0].shown} {changes[0].text}"


def _common_error(runs: Sequence[Run]) -> str:
    """The line of the error that most of them have; of the first one as often."""
    lines = Counter(line for run in runs if (line := error_line(run.record.error or "")))
    line = lines.most_common(1)[0][0] if lines else ""
    return line if len(line) <= _ERROR_SHOWN else f"{line[: _ERROR_SHOWN - 1].rstrip()}…"


def sentence_for(
    cause: Cause, count: int, region: Region | None, error: str = "", change: str | None = None
) -> str | None:
    """What is proposed as the conclusion of each run of a group; None where there is nothing to say that the runs do
    not say themselves."""
    where = f" at {region}" if region is not None else f" with {change}" if change else ""
    said = f": {error}" if error else ""
    told = [f"{count:,} runs"] if count > 1 else []
    aside = f" ({'; '.join(told + _contrast(region, cause))})" if told or region is not None else ""
    match cause:
        case "out_of_memory":
            return f"out of memory{where}{aside}"
        case "diverged":
            return f"diverges{where}{aside}"
        case "worse":
            return f"comes out worse{where}{aside}" if where else None
        case "stopped":
            return None  # that it was stopped is no reason
        case "infrastructure":
            return f"the machine failed, not the experiment{said}{aside}"
        case "code_error":
            return f"fails{where or ' in the code'}{said}{aside}" if where or said else None
        case "unknown":
            return f"fails{where}{said}{aside}" if where or said else None


def _contrast(region: Region | None, cause: Cause) -> list[str]:
    if region is None:
        return []
    if region.nearest is not None:
        return [f"{region.nearest} {'fits' if cause == 'out_of_memory' else 'works'}"]
    ended = "ran" if cause in _OF_A_CRASH else "worked"
    others = f"{region.outside:,} other{'' if region.outside == 1 else 's'} {ended}"
    return [others + (f", {region.inside:,} here too" if region.inside else "")]


def normalised_error(text: str) -> str:
    """The line of a traceback that names the error, without what differs from run to run: numbers, addresses, paths."""
    line = error_line(text)
    for pattern in (_PATH, _HEX, _NUMBER):
        line = pattern.sub("…", line)
    return " ".join(line.split()).casefold()
