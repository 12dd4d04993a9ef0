"""Would the findings have been right? Each record of a research line as the draft, the records before it as the pool.

Invariant: a record is never evidence about itself, about what came before it, or about what began before it had ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Final

import numpy as np

from tried.draft.draft import ExperimentDraft
from tried.draft.entries import Entry
from tried.draft.parameters import Parameter, flatten
from tried.findings import FindingSettings, find
from tried.findings.claim import LOUDNESS
from tried.findings.finding import Evidence, Finding
from tried.pool.history.line_history import LineHistory
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import run_of
from tried.pool.history.run_row import OPEN, Flag, microseconds
from tried.pool.outcome import Directions
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.text import Span

Kind = tuple[str, str]
"""Evidence and severity."""

SMALLEST_LINE: Final = 10

MOST_DRAFTS: Final = 5_000
"""Of a pool so many are replayed, the latest of each line: more tell little more, and take a minute."""

MOST_BEFORE: Final = 5_000
"""Records of a line before the first draft that is replayed, the latest, that are taken as evidence."""


@dataclass(frozen=True)
class Tally:
    """Of `flagged` drafts, how many `ended_badly`."""

    flagged: int = 0
    ended_badly: int = 0

    @property
    def precision(self) -> float:
        """In [0, 1]; NaN where nothing was flagged."""
        return self.ended_badly / self.flagged if self.flagged else float("nan")

    def plus(self, bad: bool) -> Tally:
        return Tally(self.flagged + 1, self.ended_badly + bad)


@dataclass(frozen=True)
class BacktestReport:
    """`drafts`: how many were replayed and how many of them ended badly (the base rate), in so many `lines`.

    `by_kind` counts drafts with at least one finding of that evidence and severity, `by_severity` drafts by the loudest
    finding on them, `squiggles` drafts with a warning or an information of that evidence. `wrong` lists squiggles on
    drafts that did not end badly: (draft, finding's record, message). `left_out`: drafts that were not replayed because
    there are so many.
    """

    drafts: Tally = Tally()
    by_kind: dict[Kind, Tally] = field(default_factory=dict)
    by_severity: dict[str, Tally] = field(default_factory=dict)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)
    squiggles: dict[Evidence, Tally] = field(default_factory=dict)
    lines: int = 0
    left_out: int = 0

    def preceded(self, *severities: str) -> float:
        """The share of dead ends on whose draft the loudest finding had one of these severities."""
        told = sum(self.by_severity[name].ended_badly for name in severities if name in self.by_severity)
        return told / self.drafts.ended_badly if self.drafts.ended_badly else float("nan")

    def loudest(self, *severities: str) -> Tally:
        """The drafts on which the loudest finding had one of these severities."""
        tallies = [self.by_severity[name] for name in severities if name in self.by_severity]
        return Tally(sum(each.flagged for each in tallies), sum(each.ended_badly for each in tallies))


def draft_of_record(record: ExperimentRecord) -> ExperimentDraft:
    """The draft from which a record could have been started: its parameters, each at a place of its own."""
    parameters = tuple(
        Parameter(key, value.shown, value.value, value.kind, Entry((value.shown,), value.text, None, Span(i, i)))
        for i, (key, value) in enumerate(flatten(record.params).items())
    )
    return ExperimentDraft(Span(0, len(parameters)), research_line=record.research_line, parameters=parameters)


def backtest_of(
    snapshot: PoolSnapshot,
    settings: FindingSettings | None = None,
    *,
    research_line: str | None = None,
    smallest_line: int = SMALLEST_LINE,
    judged_only: bool = False,
    most_drafts: int = MOST_DRAFTS,
    pause: Callable[[], None] = lambda: None,
) -> BacktestReport:
    """Replays the lines of at least `smallest_line` runs in the order of time (`places_in_time`), or `research_line`
    alone; of many drafts the latest.

    A draft is a run with a parameter whose end is known, with `judged_only` one that carries a verdict, and that is not
    the first of its line. Evidence are those before it that had ended when it began; of which that is not known, all.
    `pause` is called between one record and the next, to let others work; what it raises ends the work.
    """
    lines = [line for line in lines_of(snapshot, research_line) if len(line) >= smallest_line]
    chosen = [_drafts_in(line, judged_only) for line in lines]
    latest = _share([len(drafts) for _, drafts in chosen], most_drafts)
    count = _Count(settings or FindingSettings(), snapshot.directions, judged_only)
    for ids, drafts in chosen:
        if not drafts:
            continue
        count.left_out += max(0, len(drafts) - latest)
        first = drafts[-latest:][0]
        before = _read(ids[max(0, first - MOST_BEFORE) : first], snapshot.records, pause)
        count.replay(before, _read(ids[first:], snapshot.records, pause))
    return count.report()


def lines_of(snapshot: PoolSnapshot, research_line: str | None = None) -> list[LineHistory]:
    """The pool's research lines, or that of a name, whatever its case."""
    lines = snapshot.history.lines
    if research_line is None:
        return list(lines.values())
    if research_line in lines:
        return [lines[research_line]]
    return [line for name, line in lines.items() if name and name.casefold() == research_line.casefold()]


def count_known(line: LineHistory, judged_only: bool) -> int:
    """How many runs of a line could be replayed: those but the first whose end is known, or (`judged_only`) that carry
    a verdict."""
    return len(_drafts_in(line, judged_only)[1])


def _drafts_in(line: LineHistory, judged_only: bool) -> tuple[Sequence[str], list[int]]:
    """(ids in the order of time, places among them of those that are drafts); the first has nothing before it."""
    facts = line.columns.facts
    rows = line.in_time(np.arange(len(line)))
    known = (facts["flags"] & int(Flag.JUDGED)) != 0
    if not judged_only:
        known = known | (facts["ending"] != OPEN)
    known &= np.isin(line.columns.shapes, _shapes_with_parameters(line))
    ids = [line.columns.ids[row] for row in rows.tolist()]
    return ids, [place for place in np.flatnonzero(known[rows]).tolist() if place]


def _shapes_with_parameters(line: LineHistory) -> list[int]:
    """The sets of logged keys in which something is compared."""
    shapes, examples = np.unique(line.columns.shapes, return_index=True)
    return [shape for shape, row in zip(shapes.tolist(), examples.tolist(), strict=True) if line.run_at(row).values]


def _share(counts: Sequence[int], most: int) -> int:
    """The largest number of which each can have as many, and all together at most `most`; at least 1."""
    low, high = 1, max(1, *counts, 1)
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(count, middle) for count in counts) <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _read(
    ids: Iterable[str], records: Mapping[str, ExperimentRecord], pause: Callable[[], None]
) -> Iterator[ExperimentRecord]:
    for record_id in ids:
        pause()
        yield records[record_id]


class _Evidence:
    """What may be held against drafts of one line, given in the order in which they began."""

    def __init__(self, directions: Directions | None, before: Sequence[ExperimentRecord]) -> None:
        self.begun = ParameterHistory.empty(directions)
        self._running: list[tuple[int, str]] = []
        self.add(before)

    def add(self, records: Sequence[ExperimentRecord]) -> None:
        self.begun = self.begun.updated((), records)
        for record in records:
            if (end := _end_of(record)) is not None:
                heappush(self._running, (end, record.id))

    def against(self, draft: ExperimentRecord) -> ParameterHistory:
        """What had ended when the draft began; all that began before it where nobody knows when that was."""
        if draft.time is None:
            return self.begun
        start = microseconds(draft.time)
        while self._running and self._running[0][0] <= start:
            heappop(self._running)
        return self.begun.updated((record_id for _, record_id in self._running), ()) if self._running else self.begun


def _end_of(record: ExperimentRecord) -> int | None:
    """In microseconds since 1970; None if it is not known."""
    if record.time is None or record.duration is None:
        return None
    return microseconds(record.time) + max(0, record.duration.secs * 1_000_000 + record.duration.nanos // 1_000)


class _Count:
    """What comes of one line after the other."""

    def __init__(self, settings: FindingSettings, directions: Directions | None, judged_only: bool) -> None:
        self.settings = settings
        self.directions = directions
        self.judged_only = judged_only
        self.drafts = Tally()
        self.by_kind: dict[Kind, Tally] = {}
        self.by_severity: dict[str, Tally] = {}
        self.squiggles: dict[Evidence, Tally] = {}
        self.wrong: list[tuple[str, str, str]] = []
        self.lines = 0
        self.left_out = 0

    def replay(self, before: Iterable[ExperimentRecord], line: Iterable[ExperimentRecord]) -> None:
        """Each record of the line as a draft, after those before it."""
        evidence = _Evidence(self.directions, list(before))
        replayed = self.drafts.flagged
        for record in line:
            run = run_of(record, 0, self.directions)
            known = run.judged if self.judged_only else run.judged or run.ending != "open"
            if known and run.values and evidence.begun.lines and record.role == "experiment":
                history = evidence.against(record)
                self.add(record, run.ending == "dead_end", find(draft_of_record(record), history, self.settings))
            evidence.add((record,))
        self.lines += self.drafts.flagged > replayed

    def add(self, record: ExperimentRecord, bad: bool, findings: Sequence[Finding]) -> None:
        self.drafts = self.drafts.plus(bad)
        for kind in {(finding.evidence, finding.severity) for finding in findings}:
            self.by_kind[kind] = self.by_kind.get(kind, Tally()).plus(bad)
        loud = [finding for finding in findings if LOUDNESS[finding.severity] > LOUDNESS["hover"]]
        for evidence in {finding.evidence for finding in loud}:
            self.squiggles[evidence] = self.squiggles.get(evidence, Tally()).plus(bad)
        loudest = max((finding.severity for finding in findings), key=LOUDNESS.__getitem__, default="none")
        self.by_severity[loudest] = self.by_severity.get(loudest, Tally()).plus(bad)
        if not bad:
            self.wrong.extend((record.id, finding.record, finding.message) for finding in loud)

    def report(self) -> BacktestReport:
        return BacktestReport(
            self.drafts, self.by_kind, self.by_severity, self.wrong, self.squiggles, self.lines, self.left_out
        )
