"""One record in full, beside the config that is being edited."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from tried.draft.alignment import align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameter_kinds import ParameterKind
from tried.findings.find import own_line
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.headline import error_line, line_about, written_of
from tried.pool.history.line_history import LineHistory
from tried.pool.history.run import Run
from tried.pool.lineage import PARAMETER_CHANGES, blamed_changes
from tried.pool.outcome import cause_of, direction_of, moved_the_right_way, objective_of
from tried.pool.record import Cause, Direction, ExperimentRecord, Verdict
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord
from tried.related.change_lines import change_line
from tried.related.grouping import Grouping
from tried.related.outcome import Outcome, outcome_of
from tried.related.parameter_rows import ParameterRow, parameter_rows
from tried.related.plots import Axis, Plot, plots_of
from tried.related.result import Result, result_of

MOST_REPLICATES: Final = 50
MOST_ANCESTORS: Final = 20
MOST_CHILDREN: Final = 50
MOST_METRICS: Final = 500
MOST_CHANGES: Final = 200
MOST_AXES: Final = 64
"""Parameters that are tried as plots: enough to find as many as are shown, in a record of whatever size."""

HeadlineKind = Literal["written", "generated", "none"]

CAUSE_WORDS: Final[dict[Cause, str]] = {
    "out_of_memory": "out of memory",
    "diverged": "diverged",
    "worse": "worse than what it came from",
    "code_error": "an error in the code",
    "infrastructure": "the infrastructure failed",
    "stopped": "stopped",
}

_EXPLAINED: Final[tuple[Cause, ...]] = ("out_of_memory", "diverged")
"""Causes of which a changed parameter makes a dead end; crashes and what came out worse are judged by people."""


@dataclass(frozen=True, slots=True)
class Replicate:
    """`value` is of the metric that the replicates are judged by."""

    id: str
    time: datetime | None
    value: float | None


@dataclass(frozen=True, slots=True)
class Replicates:
    """`runs` counts the record itself; `records` are the latest first, at most MOST_REPLICATES."""

    runs: int
    result: Result | None
    records: tuple[Replicate, ...]


@dataclass(frozen=True, slots=True)
class MetricRow:
    """`before` is that of what the record came from, where somebody or the pool knows what moved."""

    name: str
    value: float
    before: float | None
    delta: float | None
    direction: Direction | None
    is_objective: bool
    is_better: bool | None


@dataclass(frozen=True, slots=True)
class Relative:
    id: str
    outcome: Outcome
    headline: str


@dataclass(frozen=True, slots=True)
class RecordView:
    """`scored` and `rank` (from 1) are None without a draft, or where it asks nothing. `has_draft`: `parameters` are
    beside a draft's. `proposed` is the verdict that a conclusion would give, `prefill` what it could say."""

    record: ExperimentRecord
    headline: str
    headline_kind: HeadlineKind
    outcome: Outcome
    cause: Cause | None
    has_draft: bool
    replicates: Replicates
    parameters: tuple[ParameterRow, ...]
    metrics: tuple[MetricRow, ...]
    change_summary: str | None
    changes: tuple[str, ...]
    ancestors: tuple[Relative, ...]
    children: tuple[Relative, ...]
    children_total: int
    scored: ScoredRecord | None
    rank: int | None
    plots: tuple[Plot, ...]
    prefill: str
    proposed: Verdict | None


def record_view(
    record: ExperimentRecord,
    snapshot: PoolSnapshot,
    settings: FindingSettings,
    drafts: Sequence[ExperimentDraft] = (),
    ranked: tuple[int, ScoredRecord] | None = None,
    *,
    with_plots: bool = True,
) -> RecordView:
    """Of several drafts (documents of one file) the record stands beside the one that it has most in common with."""
    run = snapshot.history.run(record.id)
    line = snapshot.history.lines[record.research_line] if run is not None else None
    draft, scope, rows = _beside(record, run, line, snapshot, settings, drafts)
    cause = cause_of(record, snapshot.directions)
    headline, kind = headline_of_view(record)
    plots: tuple[Plot, ...] = ()
    if with_plots and run is not None and line is not None:
        plots = plots_of(run, line, _axes(rows, run, line, draft is not None), scope)
    children = snapshot.children_of(record.id)
    return RecordView(
        record=record,
        headline=headline,
        headline_kind=kind,
        outcome=outcome_of(record, snapshot),
        cause=cause,
        has_draft=draft is not None,
        replicates=_replicates(record, run, line, snapshot),
        parameters=rows,
        metrics=tuple(_metrics(record, snapshot)),
        change_summary=(record.derivation.summary if record.derivation else None) or None,
        changes=tuple(map(change_line, record.derivation.changes[:MOST_CHANGES])) if record.derivation else (),
        ancestors=tuple(_ancestors(record, snapshot)),
        children=tuple(_relatives(children[:MOST_CHILDREN], snapshot)),
        children_total=len(children),
        scored=ranked[1] if ranked is not None else None,
        rank=ranked[0] if ranked is not None else None,
        plots=plots,
        prefill=prefill_of(record, cause),
        proposed=proposed_verdict(record, run, cause),
    )


def headline_of_view(record: ExperimentRecord) -> tuple[str, HeadlineKind]:
    """What is said of a record on one line, and whether somebody wrote it."""
    if written := written_of(record):
        return written, "written"
    line = line_about(record)
    return line, "generated" if line else "none"


def prefill_of(record: ExperimentRecord, cause: Cause | None) -> str:
    """The cause and the last error in words: what a conclusion may begin with. Empty where neither is known, and where
    somebody has said what came of it. "Worse" is no reason: why it is worse is what a conclusion would say."""
    if written_of(record):
        return ""
    said = CAUSE_WORDS.get(cause, "") if cause is not None and cause != "worse" else ""
    error = error_line(record.error or "")
    return ": ".join(part for part in (said, error) if part)


def proposed_verdict(record: ExperimentRecord, run: Run | None, cause: Cause | None) -> Verdict | None:
    """What stands already; else a dead end, if it ran out of memory or diverged after one parameter was changed."""
    if record.verdict is not None or run is None:
        return record.verdict
    changed = [change for change in blamed_changes(record) if change.change in PARAMETER_CHANGES]
    explained = len(changed) == 1 or (not changed and len(run.changes) == 1)
    return "dead_end" if run.ending == "dead_end" and cause in _EXPLAINED and explained else None


def _beside(
    record: ExperimentRecord,
    run: Run | None,
    line: LineHistory | None,
    snapshot: PoolSnapshot,
    settings: FindingSettings,
    drafts: Sequence[ExperimentDraft],
) -> tuple[ExperimentDraft | None, Scope | None, tuple[ParameterRow, ...]]:
    best: tuple[int, ExperimentDraft, Scope | None, tuple[ParameterRow, ...]] | None = None
    for draft in drafts:
        if not draft.parameters and len(drafts) > 1:
            continue
        scope = scope_in(line, draft, snapshot, settings) if line is not None else None
        rows = parameter_rows(record, run, draft, scope)
        equal = sum(row.status == "equal" for row in rows)
        if best is None or equal > best[0]:
            best = equal, draft, scope, rows
    if best is None:
        return None, None, parameter_rows(record, run, None, None)
    return best[1:]


def scope_in(
    line: LineHistory, draft: ExperimentDraft, snapshot: PoolSnapshot, settings: FindingSettings
) -> Scope | None:
    """A draft beside one research line, however little they have in common; None where nothing can be aligned."""
    aligned = align(draft.parameters, line.keys, line.keys_by_suffix)
    if not aligned.values:
        return None
    machine = {p.key.rsplit(".", 1)[-1]: p.value for p in draft.parameters if p.kind is ParameterKind.HARDWARE}
    is_own = own_line(draft, snapshot.history, settings) is line
    return Scope(line, is_own, aligned, settings, frozenset(), machine)


def _axes(rows: Iterable[ParameterRow], run: Run, line: LineHistory, has_draft: bool) -> Iterator[Axis]:
    """What differs from the draft, the record's own changes first; without a draft all that it ran with."""
    changed = {change.key for change in run.changes}
    wanted = ("differs", "only_record", "only_draft") if has_draft else ("not_compared",)
    chosen = [row for row in rows if row.status in wanted and row.name in line.keys]
    chosen.sort(key=lambda row: (has_draft and row.status != "differs", row.name not in changed))
    for row in chosen[:MOST_AXES]:
        yield Axis(row.name, row.key, row.parameter)


def _replicates(
    record: ExperimentRecord, run: Run | None, line: LineHistory | None, snapshot: PoolSnapshot
) -> Replicates:
    if run is None or line is None:
        return Replicates(1, None, (Replicate(record.id, record.time, None),))
    runs = line.runs_in_time(Grouping(snapshot).replicates_of(run.id))
    result = result_of(runs)
    latest = runs[::-1][:MOST_REPLICATES]
    if run.id not in {each.id for each in latest}:
        latest[-1] = run
    return Replicates(len(runs), result, tuple(_replicate(each, result) for each in latest))


def _replicate(run: Run, result: Result | None) -> Replicate:
    objective = run.objective
    shown = objective is not None and (result is None or objective[0] == result.metric)
    return Replicate(run.id, run.record.time, objective[1] if objective is not None and shown else None)


def _metrics(record: ExperimentRecord, snapshot: PoolSnapshot) -> Iterator[MetricRow]:
    """The metric that the record is judged by first, then as the record has them."""
    objective = objective_of(record, snapshot.directions)
    deltas = record.derivation.metric_delta if record.derivation else {}
    values = dict(record.numbers)
    for name, known in deltas.items():
        if name not in values and known.after is not None:
            values[name] = known.after
    own = objective[0] if objective is not None else None
    names = [*([own] if own in values else []), *(name for name in values if name != own)]
    for name in names[:MOST_METRICS]:
        assert name is not None
        delta = deltas.get(name)
        moved = moved_the_right_way(record, name, snapshot.directions)
        yield MetricRow(
            name=name,
            value=values[name],
            before=delta.before if delta is not None else None,
            delta=delta.change if delta is not None else None,
            direction=direction_of(name, record, snapshot.directions),
            is_objective=name == own,
            # What was NaN before it and is NaN after it has not moved.
            is_better=None if _is_nan(values[name]) and delta is not None and _is_nan(delta.before) else moved,
        )


def _is_nan(value: float | None) -> bool:
    return value is not None and math.isnan(value)


def _ancestors(record: ExperimentRecord, snapshot: PoolSnapshot) -> Iterator[Relative]:
    """The nearest first; a circle ends them."""
    seen = {record.id}
    while record.parent and len(seen) <= MOST_ANCESTORS:
        parent = snapshot.get(record.parent)
        if parent is None or parent.id in seen:
            return
        seen.add(parent.id)
        yield _relative(parent, snapshot)
        record = parent


def _relatives(ids: Iterable[str], snapshot: PoolSnapshot) -> Iterator[Relative]:
    for record_id in ids:
        if (record := snapshot.get(record_id)) is not None:
            yield _relative(record, snapshot)


def _relative(record: ExperimentRecord, snapshot: PoolSnapshot) -> Relative:
    return Relative(record.id, outcome_of(record, snapshot), line_about(record) or record.name)
