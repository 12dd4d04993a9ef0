"""What a record came from and what came of it: derivations from recorded parents, ancestors and descendants.

A parent is only what somebody recorded as one; nothing here guesses from times or names.

Invariant: a derivation is a pure function of the parent's record, the record and the declared directions.
Invariant: circles and parents that nobody has end a walk; they are no errors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tried.draft.parameters import shown_value
from tried.pool.difference import Difference, MetricDifference, ParameterDifference, difference_of, side_of
from tried.pool.headline import finished_headline, shown_number
from tried.pool.outcome import Directions, objective_of
from tried.pool.record import Change, Derivation, ExperimentRecord

SUMMARY_CHANGES: Final = 3
"""Changes that a summary names; of more it says how many."""

SUMMARY_VALUE: Final = 40
"""Characters of a value in a summary."""

MOST_STEPS: Final = 1_000
"""Ancestors, and descendants, that a lineage shows."""

MOST_BLAMED: Final = 3
"""Changes of parameters in a computed derivation up to which one of them can be to blame."""

PARAMETER_CHANGES: Final = frozenset({"ParamChanged", "ParamAdded", "ParamRemoved"})
_UNFINISHED: Final = frozenset({"running", "queued", "pending", "stopped", "killed", "cancelled", "pruned"})
"""Outcomes of runs whose metrics are those of a part of the way: what was broken off is no worse than its parent."""


class Family(Protocol):
    """What a lineage needs of a snapshot."""

    @property
    def directions(self) -> Directions | None: ...

    def get(self, record_id: str) -> ExperimentRecord | None:
        """The record of an id or alias."""
        ...

    def children_of(self, record_id: str) -> tuple[str, ...]:
        """The ids of the records that name this record, or one of its aliases, as their parent."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """A record of a lineage. `depth`: generations from the record that was asked for, negative for ancestors.

    `derivation` is what the step from its parent changed and did: as it was recorded, else computed; None where the
    parent is not in the pool.
    """

    record: ExperimentRecord
    depth: int
    derivation: Derivation | None


@dataclass(frozen=True, slots=True)
class Lineage:
    """`ancestors`: the nearest first. `descendants`: each followed by its own, brothers in the order of their coming.

    `missing`: the parent at which the ancestors end because no source has it. `circular`: somebody is its own
    ancestor, and was left out the second time. `cut`: there are more than MOST_STEPS on a side.
    """

    record: Step
    ancestors: tuple[Step, ...] = ()
    descendants: tuple[Step, ...] = ()
    missing: str | None = None
    circular: bool = False
    cut: bool = False


def lineage_of(pool: Family, record_id: str) -> Lineage | None:
    """The lineage of a record (id or alias); None if the pool does not have it."""
    record = pool.get(record_id)
    if record is None:
        return None
    ancestors: list[Step] = []
    seen = {record.id}
    missing, circular, cut = None, False, False
    at = record
    while at.parent:
        parent = pool.get(at.parent)
        if parent is None:
            missing = at.parent
            break
        if parent.id in seen:
            circular = True
            break
        if len(ancestors) == MOST_STEPS:
            cut = True
            break
        seen.add(parent.id)
        ancestors.append(_step(pool, parent, -len(ancestors) - 1))
        at = parent
    descendants: list[Step] = []
    known = {record.id}
    pending = [(child, 1) for child in reversed(pool.children_of(record.id))]
    while pending:
        child_id, depth = pending.pop()
        child = pool.get(child_id)
        if child is None or child.id in known:
            circular |= child is not None
            continue
        if len(descendants) == MOST_STEPS:
            cut = True
            break
        known.add(child.id)
        descendants.append(_step(pool, child, depth))
        pending += [(each, depth + 1) for each in reversed(pool.children_of(child.id))]
    return Lineage(_step(pool, record, 0), tuple(ancestors), tuple(descendants), missing, circular, cut)


def _step(pool: Family, record: ExperimentRecord, depth: int) -> Step:
    """With the derivation that is recorded (or that the pool has filled in), else with that from its parent."""
    if record.derivation is not None and (record.derivation.changes or record.derivation.metric_delta):
        return Step(record, depth, record.derivation)
    parent = pool.get(record.parent) if record.parent else None
    if parent is None or parent.id == record.id:
        return Step(record, depth, record.derivation)
    return Step(record, depth, derivation_of(parent, record, pool.directions))


def derives(parent: ExperimentRecord, record: ExperimentRecord) -> bool:
    """The parent is an experiment of the same research line: not the sweep, launcher or pipeline that a run is of."""
    return (
        parent.id != record.id
        and parent.role == record.role == "experiment"
        and parent.id != record.sweep
        and parent.research_line == record.research_line
    )


def derivation_of(
    parent: ExperimentRecord, record: ExperimentRecord, directions: Directions | None = None
) -> Derivation:
    """What a record changed from its recorded parent and what that did, in the words of the record's format.

    Parameters are compared as in findings (knobs, budgets, contexts; neither seeds nor paths), and only where both
    logged some. Metrics of known direction count where both ran their course and have them as numbers, unless nothing
    is known to differ between two that logged parameters: a run that only repeats its parent shows the noise.
    """
    difference = difference_of(side_of(parent), side_of(record), directions)
    both_logged = bool(parent.params and record.params)
    parameters = difference.compared if both_logged else ()
    changes = [_parameter_change(each) for each in parameters]
    changes += difference.architecture
    if difference.code is not None:
        changes.append(_change("CodeChanged", from_sha=difference.code[0], to_sha=difference.code[1]))
    metrics = [
        each for each in difference.metrics if each.direction and each.before is not None and each.after is not None
    ]
    own_changes = record.derivation is not None and record.derivation.changes
    is_replicate = difference.is_empty and difference.equal > 0 and both_logged and not own_changes
    if is_replicate or not (_ran_its_course(parent) and _ran_its_course(record)):
        metrics = []
    return Derivation.model_validate(
        {
            "from": parent.id,
            "to": record.id,
            "changes": changes,
            "metric_delta": {each.name: _delta(each) for each in metrics},
            "summary": _summary(parameters, difference, _most_telling(metrics, record, directions)) or None,
            "computed": True,
        }
    )


def with_derivation(
    parent: ExperimentRecord, record: ExperimentRecord, directions: Directions | None = None
) -> ExperimentRecord:
    """The record with what its derivation leaves open filled in from its parent; what somebody stated stays.

    A generated headline that ends with the value of the objective then says where that stands ("finished, val_f1 0.88,
    0.02 below its parent"); of what did not finish it says nothing, for it would not be said of which metric.
    """
    own = record.derivation
    if not derives(parent, record) or (own is not None and own.changes and own.metric_delta):
        return record
    computed = derivation_of(parent, record, directions)
    if own is not None:
        fields: dict[str, Any] = own.model_dump(by_alias=True, exclude_unset=True)
        for name, value in computed.model_dump(by_alias=True, exclude_unset=True).items():
            if not fields.get(name):
                fields[name] = value
        computed = Derivation.model_validate(fields)
    if not (computed.changes or computed.metric_delta):
        return record
    update: dict[str, Any] = {"derivation": computed}
    names_result = record.generated_headline == finished_headline(record, directions)
    if names_result and (standing := _standing(computed, record, directions)):
        update["generated_headline"] = f"{record.generated_headline}, {standing}"
    return record.model_copy(update=update)


def blamed_changes(record: ExperimentRecord) -> Sequence[Change]:
    """The changes of its derivation of which one may be why it ended as it did.

    None where they were computed and more than MOST_BLAMED parameters differ: that is another experiment, and no single
    change is to blame. What somebody stated is taken as it is.
    """
    derivation = record.derivation
    if derivation is None:
        return ()
    if derivation.computed and sum(change.change in PARAMETER_CHANGES for change in derivation.changes) > MOST_BLAMED:
        return ()
    return derivation.changes


def _ran_its_course(record: ExperimentRecord) -> bool:
    return (record.outcome or "").strip().lower() not in _UNFINISHED


def _parameter_change(each: ParameterDifference) -> Change:
    if each.before is None:
        return _change("ParamAdded", key=each.shown, value=_recorded(each.after))
    if each.after is None:
        return _change("ParamRemoved", key=each.shown, value=_recorded(each.before))
    return _change("ParamChanged", key=each.shown, **{"from": _recorded(each.before), "to": _recorded(each.after)})


def _recorded(value: Any) -> Any:
    return value.recorded if value is not None else None


def _change(name: str, **fields: Any) -> Change:
    return Change.model_validate({"change": name, **fields})


def _delta(each: MetricDifference) -> dict[str, float | None]:
    delta = each.delta
    return {"before": each.before, "after": each.after, **({"delta": delta} if delta is not None else {})}


def _most_telling(
    metrics: Iterable[MetricDifference], record: ExperimentRecord, directions: Directions | None
) -> MetricDifference | None:
    """That which the record is judged by, else the first of known direction."""
    found = {each.name: each for each in metrics}
    judged = objective_of(record, directions)
    if judged is not None and judged[0] in found:
        return found[judged[0]]
    return next((each for each in found.values() if each.direction is not None), None)


def _summary(parameters: Iterable[ParameterDifference], difference: Difference, metric: MetricDifference | None) -> str:
    """Such as "lr 0.01 → 0.05, warmup 100 (new), and 2 more; val_loss 1.2 → 1.31 (worse)"."""
    words = [_in_words(each) for each in parameters]
    words += [_node_in_words(change) for change in difference.architecture if change.node]
    if difference.code is not None:
        words.append(f"code {difference.code[0][:7]} → {difference.code[1][:7]}")
    shown = words[:SUMMARY_CHANGES]
    if len(words) > SUMMARY_CHANGES:
        shown.append(f"and {len(words) - SUMMARY_CHANGES} more")
    parts = [", ".join(shown)] if shown else []
    if metric is not None and metric.before is not None and metric.after is not None:
        judged = {True: " (better)", False: " (worse)", None: ""}[metric.better]
        parts.append(f"{metric.name} {shown_number(metric.before)} → {shown_number(metric.after)}{judged}")
    return "; ".join(parts)


def _in_words(each: ParameterDifference) -> str:
    after = _cut(shown_value(each.after.recorded)) if each.after is not None else ""
    before = _cut(shown_value(each.before.recorded)) if each.before is not None else ""
    if each.before is None:
        return f"{each.shown} {after} (new)"
    return f"{each.shown} {before} (removed)" if each.after is None else f"{each.shown} {before} → {after}"


def _node_in_words(change: Change) -> str:
    extra: Mapping[str, Any] = change.model_extra or {}
    if change.change == "NodeReplaced":
        return f"{change.from_} → {change.to}"
    if change.change == "NodeReconfigured":
        return f"{change.node} reconfigured"
    return f"{'+' if change.change == 'NodeAdded' else '−'} {extra.get('filter', change.node)}"


def _standing(derivation: Derivation, record: ExperimentRecord, directions: Directions | None) -> str:
    judged = objective_of(record, directions)
    delta = derivation.metric_delta.get(judged[0]) if judged is not None else None
    change = delta.change if delta is not None else None
    if change is None or not math.isfinite(change):
        return ""
    if change == 0:
        return "as its parent"
    return f"{shown_number(abs(change))} {'above' if change > 0 else 'below'} its parent"


def _cut(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SUMMARY_VALUE else f"{text[: SUMMARY_VALUE - 1]}…"
