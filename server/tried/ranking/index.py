"""The pool as ranking reads it: an inverted index in memory, updated by deltas.

Records are held in segments of falling size. A delta marks what it removes as dead where it stands and adds what it
brings as a small segment of its own, which is merged with its neighbour once that is less than four times as large: so
adding a record costs about as much as the few records added before it, whatever the size of the pool.

Invariant: an index holds no records; it asks for those that come out of a ranking.
Invariant: an index never changes; `updated` returns another one, which shares what stayed the same.
Invariant: rankings depend on the records that an index holds, never on the deltas by which it came to hold them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

from tried.pool.record import Direction, ExperimentRecord
from tried.pool.record_reader import HeldRecords, RecordReader, reader_after
from tried.ranking.segment import Label, Segment

MERGE_RATIO: Final = 4

MOST_ROWS: Final = 32_768
"""Records of one segment: merging more of them would take too long at one stroke."""


@dataclass(frozen=True, eq=False, slots=True)
class RankingIndex:
    """Make one with `empty` or `of`. `directions` are those declared by settings, for importance."""

    segments: tuple[Segment, ...] = ()
    directions: Mapping[str, Direction] | None = None
    reader: RecordReader = field(default_factory=HeldRecords)

    @classmethod
    def empty(cls, directions: Mapping[str, Direction] | None = None) -> RankingIndex:
        return cls((), directions)

    @classmethod
    def of(cls, records: Iterable[ExperimentRecord], directions: Mapping[str, Direction] | None = None) -> RankingIndex:
        """Of records with the same id the last one counts."""
        return cls.empty(directions).updated((), records)

    def updated(
        self, removed: Iterable[str], upserts: Iterable[ExperimentRecord], records: RecordReader | None = None
    ) -> RankingIndex:
        """Without the records of these ids (unknown ones are ignored), then with these records, new or replaced.

        `records` reads records of the snapshot to which the index belongs; without one, those handed in are held.
        """
        removed = set(removed)
        latest = {record.id: record for record in upserts}
        gone = latest.keys() | removed
        segments = [_without(segment, gone) for segment in self.segments]
        if not latest and all(after is before for after, before in zip(segments, self.segments, strict=True)):
            return self if records is None else replace(self, reader=records)
        fresh = iter(latest.values())
        while batch := list(islice(fresh, MOST_ROWS)):
            segments.append(Segment.of(batch, self.directions))
        reader = reader_after(self.reader, records, removed - latest.keys(), latest.values())
        return RankingIndex(tuple(_compacted(segments)), self.directions, reader)

    def get(self, record_id: str) -> ExperimentRecord | None:
        for segment in self.segments:
            row = segment.rows.get(record_id)
            if row is not None and segment.alive[row]:
                return self.reader(record_id)
        return None

    def labels(self) -> Counter[Label]:
        """How many records have each tag, research line and source."""
        found: Counter[Label] = Counter()
        for segment in self.segments:
            found.update(segment.label_counts)
        return found

    def __len__(self) -> int:
        return sum(segment.living for segment in self.segments)

    def __iter__(self) -> Iterator[ExperimentRecord]:
        """All records, each read when its turn comes."""
        for segment in self.segments:
            for record_id, alive in zip(segment.ids, segment.alive.tolist(), strict=True):
                if alive:
                    yield self.reader(record_id)


def _without(segment: Segment, gone: Iterable[str]) -> Segment:
    rows = [row for record_id in gone if (row := segment.rows.get(record_id)) is not None and segment.alive[row]]
    if not rows:
        return segment
    alive = segment.alive.copy()
    alive[rows] = False
    return replace(segment, alive=alive)


def _compacted(segments: Sequence[Segment]) -> list[Segment]:
    """Drops dead rows where they prevail, and merges from the end while the last but one is not much larger."""
    kept = [
        segment if 2 * segment.living > len(segment.ids) else Segment.merged([segment])
        for segment in segments
        if segment.living
    ]
    while len(kept) > 1 and _belong_together(*kept[-2:]):
        kept[-2:] = [Segment.merged(kept[-2:])]
    return kept


def _belong_together(before: Segment, last: Segment) -> bool:
    return before.living < MERGE_RATIO * last.living and before.living + last.living <= MOST_ROWS
