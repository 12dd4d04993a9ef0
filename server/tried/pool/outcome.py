"""What came of a record: dead end, worked, improved; how much it tells; why it ended badly.

The tables of names and words behind this stand in `metric_names` and `causes` and in docs/outcomes.md.

Invariant: everything here is a pure function of the record and the declared directions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import IntFlag
from typing import Any, Final

from tried.pool.causes import cause_in
from tried.pool.metric_names import direction_by_name, is_bookkeeping_metric, segments_of
from tried.pool.record import Cause, Conclusion, Direction, ExperimentRecord, MetricDelta

__all__ = [
    "Fact",
    "cause_of",
    "direction_of",
    "facts_of",
    "has_conclusion",
    "importance",
    "importance_of",
    "improved",
    "is_bookkeeping_metric",
    "is_broken",
    "is_dead_end",
    "is_debug_run",
    "moved_the_right_way",
    "moved_the_wrong_way",
    "objective_of",
    "worked",
]

Directions = Mapping[str, Direction]

BROKEN_OUTCOMES: Final = frozenset(
    {"failed", "crashed", "fail", "failure", "crash", "error", "errored", "diverged", "oom"}
)
WELL_OUTCOMES: Final = frozenset({"completed", "complete", "finished", "succeeded", "success", "done", "ok"})
"""Outcomes are compared in lower case. The first word of each is the one that the format names."""

BASE_IMPORTANCE: Final = 0.3
CONCLUSION_BONUS: Final = 0.2
PROSE_BONUS: Final = 0.2
DERIVATION_BONUS: Final = 0.1
IMPROVED_BONUS: Final = 0.2
DEAD_END_FLOOR: Final = 0.6

_EXIT_METRICS: Final = (("exit", "code"), ("exitcode",), ("return", "code"), ("returncode",))
_KILLED: Final = frozenset({-15, -9, -2, 130, 137, 143})
_DEBUG_WORDS: Final = frozenset({"debug", "smoke", "smoketest", "dryrun"})
_DEBUG_PHRASES: Final = (
    ("dry", "run"),
    ("debug", "run"),
    ("smoke", "test"),
    ("smoke", "run"),
    ("sanity", "run"),
    ("test", "run"),
    ("fast", "dev", "run"),
)
_SANITY_TAGS: Final = ("sanity", "sanity check", "sanity test")
_DEBUG_PARAMETERS: Final = frozenset(
    spelling
    for name in ("debug", "debug_mode", "dry_run", "fast_dev_run", "smoke_test")
    for spelling in (name, name.upper(), name.replace("_", "-"), name.replace("_", ""))
)
_DEBUG_HINT: Final = re.compile("debug|smoke|dry|sanity|run", re.IGNORECASE)
"""Texts without any of these are no debug runs: a quick way out, since every record is asked."""


def direction_of(
    metric: str, record: ExperimentRecord | None = None, directions: Directions | None = None
) -> Direction | None:
    """Which way is better: as the record declares, else as the source or settings do, else by the metric's name.

    None where nobody says; for ranking alone up is then taken as better (see `improved`), for a dead end nothing is.
    """
    return _declared(metric, record, directions) or direction_by_name(metric)


def improved(record: ExperimentRecord, directions: Directions | None = None) -> bool:
    """The objective's delta is the right way if an objective is named, else any delta is. Unknown: up is better."""
    deltas = _deltas(record)
    if record.objective:
        name = _same_metric(record.objective, deltas)
        deltas = {name: deltas[name]} if name is not None else {}
    elif not deltas:
        return False
    for metric, delta in deltas.items():
        declared = _declared(metric, record, directions)
        if not record.objective and declared is None and is_bookkeeping_metric(metric):
            continue
        if _judge(delta, declared or direction_by_name(metric) or "max") is True:
            return True
    return False


def is_dead_end(record: ExperimentRecord, directions: Directions | None = None) -> bool:
    """It failed, crashed, or moved every metric of known direction the wrong way; a verdict overrides all of it."""
    if record.verdict is not None:
        return record.verdict == "dead_end"
    return is_broken(record) or _all_wrong(record, directions)


def moved_the_right_way(record: ExperimentRecord, metric: str, directions: Directions | None = None) -> bool | None:
    """Whether the metric's delta is as its direction asks; None where that is not known, or nothing moved."""
    direction = direction_of(metric, record, directions)
    delta = _deltas(record).get(metric)
    return None if direction is None or delta is None else _judge(delta, direction)


def moved_the_wrong_way(record: ExperimentRecord, metric: str, directions: Directions | None = None) -> bool:
    """The metric's direction is known and its delta is against it."""
    return moved_the_right_way(record, metric, directions) is False


def is_broken(record: ExperimentRecord) -> bool:
    """The outcome says that the run itself failed or crashed."""
    return _outcome(record) in BROKEN_OUTCOMES


def worked(record: ExperimentRecord, directions: Directions | None = None) -> bool:
    """It ended well: a verdict says so, else it completed (or improved, where no outcome is stated), is no dead end and
    its objective is a number. Inconclusive is neither a dead end nor this."""
    if record.verdict is not None:
        return record.verdict == "works"
    outcome = _outcome(record)
    ended_well = outcome in WELL_OUTCOMES or (outcome is None and improved(record, directions))
    return ended_well and not _diverged(record, directions) and not is_dead_end(record, directions)


class Fact(IntFlag):
    """What of a record decides its importance."""

    CONCLUSION = 1
    PROSE = 2
    DERIVATION = 4
    IMPROVED = 8
    DEAD_END = 16


def facts_of(record: ExperimentRecord, directions: Directions | None = None) -> Fact:
    """All of them; IMPROVED only where somebody stated it.

    An improvement that was computed from the parent's metrics is none, as a derived conclusion is none: nearly every
    run of a tracker is a little better or worse than its parent, and that says nothing of what it can teach.
    """
    facts = Fact(0)
    if has_conclusion(record.conclusion):
        facts |= Fact.CONCLUSION
    if _written(record.hypothesis) or _written(record.notes):
        facts |= Fact.PROSE
    if record.derivation is not None and record.derivation.model_fields_set:
        facts |= Fact.DERIVATION
    is_stated = record.derivation is None or not record.derivation.computed
    if is_stated and improved(record, directions):
        facts |= Fact.IMPROVED
    if is_dead_end(record, directions):
        facts |= Fact.DEAD_END
    return facts


def importance_of(facts: Fact) -> float:
    """How much a record tells, in [0, 1]: 0.3, and more for a conclusion, prose, a derivation, a stated improvement;
    at least 0.6 for a dead end that somebody explained."""
    value = BASE_IMPORTANCE
    if Fact.CONCLUSION in facts:
        value += CONCLUSION_BONUS
    if Fact.PROSE in facts:
        value += PROSE_BONUS
    if Fact.DERIVATION in facts:
        value += DERIVATION_BONUS
    if Fact.IMPROVED in facts:
        value += IMPROVED_BONUS
    if Fact.DEAD_END in facts and facts & (Fact.CONCLUSION | Fact.PROSE):
        value = max(value, DEAD_END_FLOOR)
    return min(1.0, max(0.0, value))


def importance(record: ExperimentRecord, directions: Directions | None = None) -> float:
    """`importance_of` a record's facts, in [0, 1]."""
    return importance_of(facts_of(record, directions))


def has_conclusion(conclusion: Conclusion | None) -> bool:
    """An outcome, a written headline or another fact; one that a source derived from a status is none."""
    if conclusion is None or conclusion.derived:
        return False
    others = conclusion.model_extra or {}
    return _written(conclusion.headline) or _written(conclusion.outcome) or any(_is_fact(v) for v in others.values())


def cause_of(record: ExperimentRecord, directions: Directions | None = None) -> Cause | None:
    """Why it ended badly, None if it did not. A stated cause wins; then outcome, metrics and words (docs/outcomes.md).

    A run that reached a finite result moved the wrong way is `worse`, whatever else its notes mention, unless its
    headline says that it diverged.
    """
    if record.verdict in ("works", "inconclusive"):
        return None
    if record.cause is not None:
        return record.cause
    if not is_dead_end(record, directions):
        return None
    outcome = _outcome(record)
    if outcome == "oom":
        return "out_of_memory"
    if outcome == "diverged" or _diverged(record, directions):
        return "diverged"
    broken = is_broken(record)
    said = cause_in(record.headline, broken=broken)
    if not broken and _got_worse(record, directions):
        return "diverged" if said == "diverged" else "worse"
    if said is None:
        said = cause_in(record.notes or "", broken=broken, in_passing=True)
    if said is None and broken:
        said = _cause_of_exit(record)
    return said or "unknown"


def is_debug_run(record: ExperimentRecord) -> bool:
    """Marked as a trial of the machinery: a tag, an identifier-like name or a parameter says debug, smoke, dry run.

    In a name of several words only a phrase does ("smoke test"): "wildfire smoke flag" is an experiment.
    """
    for tag in record.tags:
        if not _DEBUG_HINT.search(tag):
            continue
        parts = segments_of(tag)
        if " ".join(parts) in _SANITY_TAGS or _DEBUG_WORDS.intersection(parts) or _has_debug_phrase(parts):
            return True
    if _DEBUG_HINT.search(record.name):
        parts = segments_of(record.name)
        if _has_debug_phrase(parts) or (" " not in record.name.strip() and _DEBUG_WORDS.intersection(parts)):
            return True
    return any(_is_on(record.params[key]) for key in _DEBUG_PARAMETERS.intersection(record.params))


def objective_of(
    record: ExperimentRecord, directions: Directions | None = None, usage: Mapping[str, int] | None = None
) -> tuple[str, float, Direction | None] | None:
    """(name, value, direction) of the metric that a record is judged by; None if it has no number to show.

    The named objective; else, among metrics of known direction, one with a delta before one without, the one that the
    research line uses most (`usage`: metric → records), validation and test before training; else the first metric
    that is no bookkeeping.
    """
    numbers = record.numbers
    if record.objective:
        name = _same_metric(record.objective, numbers)
        if name is not None:
            return name, numbers[name], direction_of(name, record, directions)
    deltas = _deltas(record)
    best: tuple[tuple[int, int, int, int], str] | None = None
    for place, name in enumerate(numbers):
        declared = _declared(name, record, directions)
        if declared is None and is_bookkeeping_metric(name):
            continue
        known = declared or direction_by_name(name)
        parts = segments_of(name)
        held_out = (
            1 if {"val", "valid", "validation", "eval", "test", "dev", "holdout", "cv"}.intersection(parts) else 0
        )
        trained = -1 if {"train", "training"}.intersection(parts) else 0
        if known is None:
            key = (0, 0, 0, -place)
        else:
            key = (2 if name in deltas else 1, (usage or {}).get(name, 0), held_out + trained, -place)
        if best is None or key > best[0]:
            best = (key, name)
    if best is None:
        return None
    return best[1], numbers[best[1]], direction_of(best[1], record, directions)


def _declared(metric: str, record: ExperimentRecord | None, directions: Directions | None) -> Direction | None:
    for table in (record.directions if record is not None else None, directions):
        if not table:
            continue
        if metric in table:
            return table[metric]
        name = _same_metric(metric, table)
        if name is not None:
            return table[name]
    return None


def _same_metric(metric: str, among: Mapping[str, Any]) -> str | None:
    """The key that is the same metric in another spelling (`val/loss`, `val_loss`), if there is one."""
    if metric in among:
        return metric
    parts = segments_of(metric)
    return next((name for name in among if segments_of(name) == parts), None)


def _deltas(record: ExperimentRecord) -> dict[str, MetricDelta]:
    return record.derivation.metric_delta if record.derivation is not None else {}


def _judge(delta: MetricDelta, direction: Direction) -> bool | None:
    """True: moved the right way; False: the wrong way, which includes becoming NaN; None: not known, or not moved."""
    if delta.after is not None and math.isnan(delta.after):
        return False
    if delta.before is not None and math.isnan(delta.before) and delta.after is not None:
        return math.isfinite(delta.after) or None
    change = delta.change
    if change is None or change == 0:
        return None
    if math.isnan(change):
        return False
    return (change < 0) == (direction == "min")


def _all_wrong(record: ExperimentRecord, directions: Directions | None) -> bool:
    found = False
    for metric, delta in _deltas(record).items():
        direction = direction_of(metric, record, directions)
        if direction is None or (delta.change is None and delta.after is None):
            continue
        if _judge(delta, direction) is not False:
            return False
        found = True
    return found


def _got_worse(record: ExperimentRecord, directions: Directions | None) -> bool:
    """The objective, or else every known metric, reached a finite value that is no better than before."""
    known = [
        delta
        for metric, delta in _deltas(record).items()
        if (direction := direction_of(metric, record, directions)) and _judge(delta, direction) is False
    ]
    return bool(known) and all(delta.change is not None and math.isfinite(delta.change) for delta in known)


def _diverged(record: ExperimentRecord, directions: Directions | None) -> bool:
    """The metric that it is judged by, or a delta of known direction, ended as NaN or as the worst infinity."""
    judged = objective_of(record, directions)
    if judged is not None:
        _, value, direction = judged
        if math.isnan(value) or (direction is not None and value == (math.inf if direction == "min" else -math.inf)):
            return True
    return any(
        delta.after is not None and math.isnan(delta.after) and direction_of(metric, record, directions) is not None
        for metric, delta in _deltas(record).items()
    )


def _cause_of_exit(record: ExperimentRecord) -> Cause | None:
    """What a logged exit status tells: killed by a signal (-9, 137), or ended by an error."""
    for name, number in record.numbers.items():
        if segments_of(name) in _EXIT_METRICS and number != 0 and not math.isnan(number):
            return "stopped" if number in _KILLED else "code_error"
    return None


def _outcome(record: ExperimentRecord) -> str | None:
    outcome = record.outcome
    return outcome.strip().lower() or None if outcome else None


def _has_debug_phrase(parts: tuple[str, ...]) -> bool:
    return any(
        parts[start : start + len(phrase)] == phrase
        for phrase in _DEBUG_PHRASES
        for start in range(len(parts) - len(phrase) + 1)
    )


def _is_on(value: Any) -> bool:
    return (
        value is True or (isinstance(value, str) and value.strip().lower() in ("true", "yes", "on", "1")) or value == 1
    )


def _is_fact(value: Any) -> bool:
    return _written(value) if isinstance(value, str) else value not in (None, [], {})


def _written(text: str | None) -> bool:
    return bool(text and text.strip())
