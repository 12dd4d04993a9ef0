"""Why a record ranks where it does, or is not listed: of single records, as `tried rank` lists them.

Invariant: rank, score and terms are those of the ranking itself, which is asked for them; nothing is computed anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tried.pool.snapshot import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.rank import passing, placing_of, rank
from tried.record_names import find_record
from tried.related.dropping import NO_LIST, Question, below_the_cut, sentence, why_unranked

DroppedBy = Literal["filter", "ttl", "cut", "unknown"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """`answer` is one or two sentences. `rank` (from 1) and `scored` are given where the record is ranked, among `of`
    records. `dropped_by` is None where it is listed. `held` are the file's different words that the record holds, of
    so many `words`; the terms of `scored` have their inputs."""

    record: str | None
    answer: str
    of: int
    rank: int | None = None
    scored: ScoredRecord | None = None
    dropped_by: DroppedBy | None = None
    held: tuple[str, ...] = ()
    words: int = 0


def explanation_of(
    named: str, snapshot: PoolSnapshot, question: Question | None, limit: int, *, is_partial: bool = False
) -> Explanation:
    """Of a record as people name it, in a list of the first `limit`; `question` is None where nothing can be ranked by.
    `is_partial`: the pool is still being read."""
    record = find_record(snapshot, named).record
    of = len(_candidates(question)) if question is not None else 0
    if record is None:
        return Explanation(None, why_unknown(named, snapshot, is_partial=is_partial), of, dropped_by="unknown")
    if question is None:
        return Explanation(record.id, NO_LIST, of)
    query, index, now, policy = question.query, snapshot.index, question.now, question.policy
    placing = placing_of(
        [record.id], query, index, now=now, policy=policy, hits=question.hits, among=question.among, detailed=True
    )
    if placing is None:
        dropped_by, why = why_unranked(record, question)
        return Explanation(record.id, why, of, dropped_by=dropped_by)
    place, own = len(placing.above) + 1, placing.best
    if place <= limit:
        answer = f"It is in the list, as number {place:,}."
        return Explanation(record.id, answer, of, place, own, None, placing.held, placing.terms)
    listed = rank(query, index, now=now, limit=limit, policy=policy, hits=question.hits, among=question.among)
    answer = below_the_cut(own, place, of, limit, listed[-1] if listed else None)
    return Explanation(record.id, answer, of, place, own, "cut", placing.held, placing.terms)


def _candidates(question: Question) -> list[str]:
    query, policy, among = question.query, question.policy, question.among
    return passing(query, question.snapshot.index, now=question.now, policy=policy, among=among)


def why_unknown(named: str, snapshot: PoolSnapshot, *, is_partial: bool) -> str:
    """No one record has this name."""
    more = " The pool is still being read: it may yet come." if is_partial else ""
    return sentence(find_record(snapshot, named).why_not(named.strip() or "without a name")) + more
