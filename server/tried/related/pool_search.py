"""Past experiments by what somebody types of them: an id, a name, words.

Invariant: the same text, snapshot and `now` give the same list.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Final, Literal

import numpy as np

from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.hits import NO_HITS, Hits
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank
from tried.related.record_ids import record_ids

MOST_FOUND: Final = 50
LONGEST_QUERY: Final = 200
MOST_HELD: Final = 5_000
"""Ids that hold what was typed, the last of the pool, among which the closest are looked for: all hold an `1`."""

By = Literal["id", "id_part", "name", "text", "time"]
ORDER: Final[tuple[By, ...]] = ("id", "id_part", "name", "text", "time")
"""What is found by more of what was typed comes first."""


@dataclass(frozen=True, slots=True)
class Hit:
    """`weight`: of two that were found alike the one with more comes first; a score, or for "time" seconds."""

    record: ExperimentRecord
    by: By
    weight: float = 0.0

    @property
    def place(self) -> tuple[int, float, str]:
        """To sort by."""
        return ORDER.index(self.by), -self.weight, self.record.id


def search(
    text: str,
    snapshot: PoolSnapshot,
    now: datetime,
    policy: Policy,
    limit: int = MOST_FOUND,
    hits: Hits = NO_HITS,
) -> list[Hit]:
    """At most `limit` records, each once: those whose id is meant or holds the text, then those whose name does, then
    those in which all its words occur (the last may be a beginning), by their score. Without text the latest.

    However old it is, a record that somebody asks for by what it says is found: a policy's TTL holds back what nobody
    asked for.
    """
    typed = " ".join(text[:LONGEST_QUERY].split())
    if not typed:
        return _latest(snapshot, limit)
    found: dict[str, Hit] = {}
    meant = record_ids(snapshot)(typed) or (typed if typed in snapshot.records else snapshot.aliases.get(typed))
    if meant is not None:
        found[meant] = Hit(snapshot.records[meant], "id")
    folded = typed.casefold()
    for record_id in islice(_holding(folded, snapshot), limit):
        if record_id not in found:
            found[record_id] = Hit(snapshot.records[record_id], "id_part", _closeness(folded, record_id))
    query = RetrievalQuery(text=typed, containing=typed)
    policy = policy.model_copy(update={"ttl_days": None})
    for scored in rank(query, snapshot.index, now=now, limit=limit, policy=policy, hits=hits):
        if scored.record.id not in found:
            by: By = "name" if folded in scored.record.name.casefold() else "text"
            found[scored.record.id] = Hit(scored.record, by, scored.score)
    return sorted(found.values(), key=lambda hit: hit.place)[:limit]


def _holding(folded: str, snapshot: PoolSnapshot) -> Iterator[str]:
    """Ids that hold the text, those with it at the beginning of their last part first; then those by an alias."""
    held = [record_id for record_id in snapshot.records if folded in record_id.casefold()][-MOST_HELD:]
    yield from sorted(held, key=lambda record_id: (-_closeness(folded, record_id), record_id))
    yield from (record_id for alias, record_id in snapshot.aliases.items() if folded in alias.casefold())


def _closeness(folded: str, record_id: str) -> float:
    """1 where the last part is the text, between that and ½ where it begins with it, else less."""
    last = record_id.casefold()
    last = last[last.rfind(":") + 1 :]
    share = len(folded) / max(1, len(last))
    return 0.5 + 0.5 * share if last.startswith(folded) else min(0.49, 0.49 * share)


def _latest(snapshot: PoolSnapshot, limit: int) -> list[Hit]:
    """By their timestamps; of what has none the last in the pool come behind."""
    timed: list[tuple[int, str]] = []
    for segment in snapshot.index.segments:
        rows = np.flatnonzero(segment.alive & segment.timed)
        if len(rows) > limit:
            times = segment.times[rows]
            rows = rows[times >= np.partition(times, len(rows) - limit)[len(rows) - limit]]
        timed += [(int(segment.times[row]), segment.ids[row]) for row in rows.tolist()]
    timed.sort(key=lambda each: (-each[0], each[1]))
    hits = [Hit(snapshot.records[record_id], "time", time / 1e6) for time, record_id in timed[:limit]]
    if len(hits) < limit:
        known = {hit.record.id for hit in hits}
        others = [record_id for record_id in snapshot.records if record_id not in known][-(limit - len(hits)) :]
        hits += [Hit(snapshot.records[record_id], "time", -float("inf")) for record_id in reversed(others)]
    return hits
