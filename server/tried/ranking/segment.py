"""A batch of records in the form that ranking reads: arrays, one row a record, and no record itself.

Invariant: what a row holds depends on its record alone, so neither batches nor their merging can change a score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tried.architecture import ArchitectureFingerprint
from tried.pool.outcome import Fact, facts_of, importance_of
from tried.pool.record import Direction, ExperimentRecord, sources_of
from tried.ranking.bag import bag_of
from tried.ranking.postings import Mask, Postings, renumbered
from tried.ranking.vectors import VectorBlock, VectorSpace, vectors_of

NO_ARCHITECTURE: Final = -1

Label: TypeAlias = tuple[str, str]
"""What a filter asks for: ("tag", "sweep"), ("research_line", …), ("source", …)."""
Structure: TypeAlias = tuple[frozenset[tuple[str, int]], frozenset[tuple[str, int]]]
"""Node tokens and edge tokens with their counts: all of an architecture that a comparison sees."""

IMPORTANCE: Final = np.array([importance_of(Fact(number)) for number in range(2 * Fact.DEAD_END)], np.float64)
"""The importance for each combination of facts."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


@dataclass(frozen=True, eq=False)
class Structures:
    """The distinct architectures of a segment, one row each."""

    numbers: Mapping[Structure, int]
    nodes: Postings[str]
    edges: Postings[str]

    @classmethod
    def of(cls, numbers: Mapping[Structure, int]) -> Structures:
        return cls(
            numbers,
            Postings.of([dict(nodes) for nodes, _ in numbers]),
            Postings.of([dict(edges) for _, edges in numbers]),
        )

    @cached_property
    def node_totals(self) -> NDArray[np.int64]:
        return self.nodes.totals(len(self.numbers))

    @cached_property
    def edge_totals(self) -> NDArray[np.int64]:
        return self.edges.totals(len(self.numbers))


@dataclass(frozen=True, eq=False)
class Segment:
    """`alive` is False for records that were removed or replaced since; their rows stay until the next merge.

    `lengths` are sums of bag counts, `times` microseconds since 1970 in UTC (0 where `timed` is False), `architecture`
    rows of `structures` or NO_ARCHITECTURE, `facts` those that decide a record's importance (`Fact`).
    """

    ids: tuple[str, ...]
    rows: Mapping[str, int]
    alive: Mask
    terms: Postings[str]
    lengths: NDArray[np.int64]
    labels: Postings[Label]
    times: NDArray[np.int64]
    timed: Mask
    facts: NDArray[np.uint8]
    structures: Structures
    architecture: NDArray[np.int64]
    vectors: Mapping[VectorSpace, VectorBlock]

    @classmethod
    def of(cls, records: Sequence[ExperimentRecord], directions: Mapping[str, Direction] | None) -> Segment:
        """A segment of records with distinct ids."""
        size = len(records)
        numbers: dict[Structure, int] = {}
        architecture = np.full(size, NO_ARCHITECTURE, np.int64)
        times = np.zeros(size, np.int64)
        timed = np.zeros(size, np.bool_)
        for row, record in enumerate(records):
            if record.architecture is not None:
                architecture[row] = numbers.setdefault(structure_of(record.architecture), len(numbers))
            if record.time is not None:
                times[row] = microseconds(record.time)
                timed[row] = True
        terms = Postings.of([bag_of(record) for record in records])
        return cls(
            ids=tuple(record.id for record in records),
            rows={record.id: row for row, record in enumerate(records)},
            alive=np.ones(size, np.bool_),
            terms=terms,
            lengths=terms.totals(size),
            labels=Postings.of([dict.fromkeys(_labels_of(record), 1) for record in records]),
            times=times,
            timed=timed,
            facts=np.array([facts_of(record, directions) for record in records], np.uint8),
            structures=Structures.of(numbers),
            architecture=architecture,
            vectors=vectors_of([record.embedding for record in records]),
        )

    @classmethod
    def merged(cls, segments: Sequence[Segment]) -> Segment:
        """The living records of all segments, in order."""
        ids = tuple(segment.ids[row] for segment in segments for row in np.flatnonzero(segment.alive).tolist())
        numbers: dict[Structure, int] = {}
        architecture = [
            renumbered(segment.architecture[segment.alive], list(segment.structures.numbers), numbers)
            for segment in segments
        ]
        return cls(
            ids=ids,
            rows=dict(zip(ids, range(len(ids)), strict=True)),
            alive=np.ones(len(ids), np.bool_),
            terms=Postings.merged([(segment.terms, segment.alive) for segment in segments]),
            lengths=np.concatenate([segment.lengths[segment.alive] for segment in segments]),
            labels=Postings.merged([(segment.labels, segment.alive) for segment in segments]),
            times=np.concatenate([segment.times[segment.alive] for segment in segments]),
            timed=np.concatenate([segment.timed[segment.alive] for segment in segments]),
            facts=np.concatenate([segment.facts[segment.alive] for segment in segments]),
            structures=Structures.of(numbers),
            architecture=np.concatenate(architecture),
            vectors=VectorBlock.merged([(segment.vectors, segment.alive) for segment in segments]),
        )

    @cached_property
    def label_counts(self) -> Mapping[Label, int]:
        """How many living records have each label; a record has each of its labels once."""
        keys = np.repeat(np.arange(len(self.labels.numbers)), np.diff(self.labels.starts))
        counts = np.bincount(keys[self.alive[self.labels.rows]], minlength=len(self.labels.numbers)).tolist()
        return {label: count for label, count in zip(self.labels.numbers, counts, strict=True) if count}

    @cached_property
    def living(self) -> int:
        return int(np.count_nonzero(self.alive))


def structure_of(architecture: ArchitectureFingerprint) -> Structure:
    return frozenset(architecture.node_tokens.items()), frozenset(architecture.edge_tokens.items())


def microseconds(moment: datetime) -> int:
    """Since 1970 in UTC, exact; `moment` is aware."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(microseconds: int) -> datetime:
    """The other way round."""
    return _EPOCH + microseconds * _MICROSECOND


def _labels_of(record: ExperimentRecord) -> list[Label]:
    labels = [("tag", tag) for tag in record.tags]
    if record.research_line is not None:
        labels.append(("research_line", record.research_line))
    labels += [("source", kind) for kind in sources_of(record)]
    return labels
