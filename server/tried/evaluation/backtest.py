"""Would the findings have been right? Each record of a research line as the draft, the records before it as the pool.

Invariant: a record is never evidence about itself or about what came before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tried.draft.draft import ExperimentDraft
from tried.draft.entries import Entry
from tried.draft.parameters import Parameter, flatten
from tried.findings import FindingSettings, find
from tried.findings.claim import LOUDNESS
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import run_of
from tried.pool.outcome import Directions
from tried.pool.record import ExperimentRecord
from tried.text import Span

Kind = tuple[str, str]
"""Evidence and severity."""


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
    """`drafts`: how many were replayed and how many of them ended badly (the base rate).

    `by_kind` counts drafts with at least one finding of that evidence and severity, `by_severity` drafts by the loudest
    finding on them. `wrong` lists squiggles on drafts that did not end badly: (draft, finding's record, message).
    """

    drafts: Tally = Tally()
    by_kind: dict[Kind, Tally] = field(default_factory=dict)
    by_severity: dict[str, Tally] = field(default_factory=dict)
    wrong: list[tuple[str, str, str]] = field(default_factory=list)

    def preceded(self, *severities: str) -> float:
        """The share of dead ends on whose draft the loudest finding had one of these severities."""
        told = sum(self.by_severity[name].ended_badly for name in severities if name in self.by_severity)
        return told / self.drafts.ended_badly if self.drafts.ended_badly else float("nan")


def draft_of_record(record: ExperimentRecord) -> ExperimentDraft:
    """The draft from which a record could have been started: its parameters, each at a place of its own."""
    parameters = tuple(
        Parameter(key, value.shown, value.value, value.kind, Entry((value.shown,), value.text, None, Span(i, i)))
        for i, (key, value) in enumerate(flatten(record.params).items())
    )
    return ExperimentDraft(Span(0, len(parameters)), research_line=record.research_line, parameters=parameters)


def backtest(
    records: Iterable[ExperimentRecord],
    settings: FindingSettings | None = None,
    directions: Directions | None = None,
    smallest_line: int = 10,
    judged_only: bool = False,
) -> BacktestReport:
    """Replays the lines of at least `smallest_line` records, given in the order in which they were run.

    A draft is a record with a parameter whose end is known, with `judged_only` one that carries a verdict.
    """
    settings = settings or FindingSettings()
    lines: dict[str | None, list[ExperimentRecord]] = {}
    for record in records:
        lines.setdefault(record.research_line, []).append(record)
    report = BacktestReport()
    for line in lines.values():
        if len(line) >= smallest_line:
            report = _replay(line, settings, directions, judged_only, report)
    return report


def _replay(
    line: list[ExperimentRecord],
    settings: FindingSettings,
    directions: Directions | None,
    judged_only: bool,
    report: BacktestReport,
) -> BacktestReport:
    history = ParameterHistory.empty(directions)
    drafts, by_kind, by_severity = report.drafts, dict(report.by_kind), dict(report.by_severity)
    for record in line:
        run = run_of(record, 0, directions)
        known = run.judged if judged_only else run.judged or run.ending != "open"
        if known and run.values and history.lines:
            bad = run.ending == "dead_end"
            findings = find(draft_of_record(record), history, settings)
            drafts = drafts.plus(bad)
            for kind in Counter((finding.evidence, finding.severity) for finding in findings):
                by_kind[kind] = by_kind.get(kind, Tally()).plus(bad)
            loudest = max((finding.severity for finding in findings), key=LOUDNESS.__getitem__, default="none")
            by_severity[loudest] = by_severity.get(loudest, Tally()).plus(bad)
            if not bad:
                report.wrong.extend((record.id, f.record, f.message) for f in findings if LOUDNESS[f.severity] > 1)
        history = history.updated((), (record,))
    return BacktestReport(drafts, by_kind, by_severity, report.wrong)
