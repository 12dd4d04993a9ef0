"""Why a record that somebody named is not in the list of related experiments.

Invariant: of one question, absence and `explain.py` agree on score, terms, filter and time to live. What they count
differs: experiments here, single records there.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from tried.ranking.breakdown import ScoredRecord
from tried.ranking.rank import placing_of
from tried.record_names import find_record, short_id
from tried.related.dropping import NO_LIST, Question, below_the_cut, why_unranked
from tried.related.experiments import RelatedExperiments
from tried.related.explain import why_unknown

DroppedBy = Literal["filter", "ttl", "cut", "replicate", "unknown"]


@dataclass(frozen=True, slots=True)
class Absence:
    """`answer` is one or two sentences. `rank` (from 1, of experiments) and `scored` are given where the record is
    ranked; `dropped_by` is None where it is in the list, or where there is none."""

    record: str | None
    answer: str
    rank: int | None = None
    scored: ScoredRecord | None = None
    dropped_by: DroppedBy | None = None


def absence_of(named: str, related: RelatedExperiments, limit: int, *, is_partial: bool = False) -> Absence:
    """`named` as people name records; `limit` as in `RelatedExperiments.listed`. `is_partial`: the pool is still being
    read."""
    record = find_record(related.snapshot, named).record
    if record is None:
        return Absence(None, why_unknown(named, related.snapshot, is_partial=is_partial), dropped_by="unknown")
    question = Question.of(related)
    if question is None:
        return Absence(record.id, NO_LIST)
    own = placing_of(
        [record.id],
        question.query,
        question.snapshot.index,
        now=question.now,
        policy=question.policy,
        hits=question.hits,
        among=question.among,
    )
    place = related.place_of(record.id)
    if own is None or place is None:
        dropped_by, why = why_unranked(record, question)
        return Absence(record.id, why, dropped_by=dropped_by)
    rank, best = place
    replicates = {run.id for run in related.grouping.replicates_of(record.id)} or {record.id}
    last = related.last_rank(limit)
    if rank > last and (why := _closeness(replicates, limit, related)):
        answer = f"It is in the list whatever its score, since {why}; by its score it is number {rank:,}."
        return Absence(record.id, answer, rank, own.best)
    if rank > last:
        listed = related.ranked(last)
        answer = below_the_cut(own.best, rank, related.total, last, listed[-1] if listed else None)
        return Absence(record.id, answer, rank, own.best, "cut")
    if best.record.id == record.id:
        return Absence(record.id, f"It is in the list, as number {rank:,}.", rank, own.best)
    answer = (
        f"It is one of {len(replicates)} runs of one experiment, which stand in one row: number {rank:,},"
        f" {short_id(best.record.id)}, which ranks higher."
    )
    return Absence(record.id, answer, rank, own.best, "replicate")


def _closeness(replicates: Collection[str], limit: int, related: RelatedExperiments) -> str:
    """Why one of these is in the list wherever it ranks; empty if none is for that."""
    closest = related.closest
    if closest is None or not any(each in replicates for each in closest.records[: max(0, limit)]):
        return ""
    return "it is what the file describes" if closest.closeness == "repeat" else "nothing is nearer to the file"
