"""What differs between two experiments: two records, or a record and the draft of a config.

Invariant: everything here is a pure function of the two sides; a value that cannot be known is no difference.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tried.architecture import ArchitectureFingerprint
from tried.draft.parameters import COMPARED_KINDS, Parameter, ParameterKind, RecordedValue, flatten, is_known
from tried.pool.outcome import Directions, direction_of, is_bookkeeping_metric
from tried.pool.record import Change, Direction, ExperimentRecord

COMMIT_KEYS: Final = ("commit", "sha", "hash", "revision")
"""Where `git` may name the commit; the first that is there counts."""

_TELLING_LENGTH: Final = 6


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two that are compared. `parameters` by normalised key, `numbers` the metrics that are numbers,
    `directions` those that the record itself declares."""

    parameters: Mapping[str, RecordedValue] = field(default_factory=dict)
    architecture: ArchitectureFingerprint | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)
    commit: str | None = None
    directions: Mapping[str, Direction] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ParameterDifference:
    """`before` and `after` as they were recorded, None where there is none. `shown` is the key as it was written.

    `kind` tells a knob from a seed: differences outside of COMPARED_KINDS make no other experiment.
    """

    key: str
    shown: str
    before: RecordedValue | None
    after: RecordedValue | None
    kind: ParameterKind

    @property
    def is_compared(self) -> bool:
        return self.kind in COMPARED_KINDS


@dataclass(frozen=True, slots=True)
class MetricDifference:
    """A metric that at least one side has as a number, None where it has not. `better`: moved the right way; None where
    the direction is not known, a side is missing, or nothing moved."""

    name: str
    before: float | None
    after: float | None
    direction: Direction | None
    better: bool | None

    @property
    def delta(self) -> float | None:
        """after − before; None unless both are finite."""
        if self.before is None or self.after is None:
            return None
        delta = self.after - self.before
        return delta if math.isfinite(delta) else None


@dataclass(frozen=True, slots=True)
class Difference:
    """From the left side to the right one.

    `parameters`: in the order of the right side, then those that only the left has. `equal`: how many compared
    parameters both have with equal values. `unknown`: keys of which a side has a truncated value. `architecture`:
    changes of nodes and edges in the words of the record's format. `code`: (from, to) where both name a commit and
    these differ. `metrics`: bookkeeping left out.
    """

    parameters: tuple[ParameterDifference, ...] = ()
    equal: int = 0
    unknown: tuple[str, ...] = ()
    architecture: tuple[Change, ...] = ()
    code: tuple[str, str] | None = None
    metrics: tuple[MetricDifference, ...] = ()

    @property
    def compared(self) -> tuple[ParameterDifference, ...]:
        """The differences of parameters that make another experiment."""
        return tuple(each for each in self.parameters if each.is_compared)

    @property
    def is_empty(self) -> bool:
        """Nothing that makes another experiment differs, whatever came of it."""
        return not (self.compared or self.architecture or self.code)


def side_of(record: ExperimentRecord) -> Side:
    """A parameter by which a run names its parent is no setting, so no change either."""
    parameters: Mapping[str, RecordedValue] = flatten(record.params)
    if record.parent:
        names = {name for name in (record.parent, record.parent.partition(":")[2]) if _is_telling(name)}
        if names:
            parameters = {key: value for key, value in parameters.items() if not _is_one_of(value.recorded, names)}
    return Side(parameters, record.architecture, record.numbers, commit_of(record), dict(record.directions))


def _is_one_of(value: Any, names: Collection[str]) -> bool:
    return isinstance(value, str | int) and str(value).strip() in names


def _is_telling(name: str) -> bool:
    """No short number or word, which may be the value of anything."""
    return len(name) >= _TELLING_LENGTH and not name.isalpha()


def side_of_draft(parameters: Iterable[Parameter], architecture: ArchitectureFingerprint | None = None) -> Side:
    """Of a draft; parameters whose keys are wrapped otherwise than the record's are to be aligned before."""
    found = {p.key: RecordedValue(p.shown, p.entry.value, p.value, p.kind) for p in parameters}
    return Side(found, architecture)


def difference_of(left: Side, right: Side, directions: Directions | None = None) -> Difference:
    """What differs; `directions` are those that settings declare."""
    parameters, equal, unknown = _parameters(left.parameters, right.parameters)
    code = (left.commit, right.commit) if left.commit and right.commit else None
    if code and (code[0].startswith(code[1]) or code[1].startswith(code[0])):
        code = None  # the same one, cut shorter
    return Difference(
        parameters=parameters,
        equal=equal,
        unknown=unknown,
        architecture=changes_of_architecture(left.architecture, right.architecture),
        code=code,
        metrics=tuple(_metrics(left, right, directions)),
    )


def commit_of(record: ExperimentRecord) -> str | None:
    """The commit that a record names, however its tracker writes it."""
    told: Any = record.git
    if isinstance(told, dict):
        told = next((told[key] for key in COMMIT_KEYS if told.get(key)), None)
    return told if isinstance(told, str) and told else None


def _parameters(
    left: Mapping[str, RecordedValue], right: Mapping[str, RecordedValue]
) -> tuple[tuple[ParameterDifference, ...], int, tuple[str, ...]]:
    found: list[ParameterDifference] = []
    unknown: list[str] = []
    equal = 0
    for key in dict.fromkeys([*right, *left]):
        before, after = _stated(left.get(key)), _stated(right.get(key))
        one = after or before
        if one is None:
            continue
        old, new = before.value if before else None, after.value if after else None
        if not is_known(old) or not is_known(new):
            unknown.append(key)
        elif old != new:
            found.append(ParameterDifference(key, one.shown, before, after, one.kind))
        elif one.kind in COMPARED_KINDS:
            equal += 1
    return tuple(found), equal, tuple(unknown)


def _stated(value: RecordedValue | None) -> RecordedValue | None:
    """Null says no more than that there is no value."""
    return value if value is not None and value.value is not None else None


def changes_of_architecture(
    left: ArchitectureFingerprint | None, right: ArchitectureFingerprint | None
) -> tuple[Change, ...]:
    """Nodes by their ids, then edges; nothing where a side has no architecture: that is no removal of all nodes."""
    if left is None or right is None or not left.nodes or not right.nodes:
        return ()
    found: list[Change] = []
    for node, token in right.nodes.items():
        if node not in left.nodes:
            found.append(_change("NodeAdded", node=node, filter=token))
        elif left.nodes[node] != token:
            found.append(_change("NodeReplaced", node=node, **{"from": left.nodes[node], "to": token}))
        elif _differs(left.node_config.get(node), right.node_config.get(node)):
            hashes = {"from_hash": left.node_config[node], "to_hash": right.node_config[node]}
            found.append(_change("NodeReconfigured", node=node, **hashes))
    found += [
        _change("NodeRemoved", node=node, filter=token) for node, token in left.nodes.items() if node not in right.nodes
    ]
    old, new = (dict.fromkeys((e.source, e.target) for e in side.edges) for side in (left, right))
    for name, edges, others in (("EdgeAdded", new, old), ("EdgeRemoved", old, new)):
        found += [_change(name, source=edge[0], target=edge[1]) for edge in edges if edge not in others]
    return tuple(found)


def _differs(one: object, other: object) -> bool:
    return one is not None and other is not None and one != other


def _change(name: str, **fields: Any) -> Change:
    return Change.model_validate({"change": name, **fields})


def _metrics(left: Side, right: Side, directions: Directions | None) -> Iterable[MetricDifference]:
    for name in dict.fromkeys([*right.numbers, *left.numbers]):
        declared = _declared(name, right.directions) or _declared(name, left.directions) or _declared(name, directions)
        if declared is None and is_bookkeeping_metric(name):
            continue
        direction = declared or direction_of(name)
        before, after = left.numbers.get(name), right.numbers.get(name)
        yield MetricDifference(name, before, after, direction, _is_better(before, after, direction))


def _declared(name: str, directions: Mapping[str, Direction] | None) -> Direction | None:
    return directions.get(name) if directions else None


def _is_better(before: float | None, after: float | None, direction: Direction | None) -> bool | None:
    if before is None or after is None or direction is None or before == after:
        return None
    if math.isnan(after) or math.isnan(before):
        return None if math.isnan(after) and math.isnan(before) else math.isnan(before)
    return (after < before) == (direction == "min")
