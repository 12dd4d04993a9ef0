"""Why a record that somebody named is not in the list of related experiments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tried.pool.record import ExperimentRecord, sources_of
from tried.ranking.breakdown import ScoredRecord, Term
from tried.ranking.rank import Standing, standing_of
from tried.record_names import find_record, short_id
from tried.related.experiments import RelatedExperiments, row_limit
from tried.related.outcome import Outcome, outcome_of

DroppedBy = Literal["filter", "cut", "replicate", "unknown"]

_CAME_TO: Final[dict[Outcome, tuple[str, str]]] = {
    "dead_end": ("dead ends", "is a dead end"),
    "works": ("what worked", "worked"),
    "inconclusive": ("what is inconclusive", "is inconclusive"),
    "running": ("what still runs", "still runs"),
    "unknown": ("what has no known outcome", "has no known outcome"),
}
"""What a list is narrowed to, and what is said of a record."""

_SHOWN_TAGS: Final = 5
_WORDS: Final[dict[str, str]] = {
    "lexical": "the words in common",
    "structural": "the likeness of its architecture",
    "recency": "its age",
    "importance": "what it has to tell",
}


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
    found = find_record(related.snapshot, named)
    if found.record is None:
        more = " The pool is still being read: it may yet come." if is_partial else ""
        answer = _sentence(found.why_not(named.strip() or "without a name"))
        return Absence(None, f"{answer}{more}", dropped_by="unknown")
    record = found.record
    query = related.query
    if query is None:
        return Absence(record.id, "There is no list yet: the file states nothing that could be ranked by.")
    replicates = [run.id for run in related.grouping.replicates_of(record.id)] or [record.id]
    index, now, policy, among = related.snapshot.index, related.now, related.policy, related.among
    own = standing_of([record.id], query, index, now=now, policy=policy, among=among)
    if own is None:
        return Absence(record.id, _sentence("; ".join(_reasons(record, related))), dropped_by="filter")
    standing = standing_of(replicates, query, index, now=now, policy=policy, among=among) or own
    rank = related.grouping.count_among(standing.above) + 1
    limit = row_limit(limit)
    if rank > 1 and limit and _is_closest(replicates, related):
        return Absence(record.id, _at_the_top(rank, related), rank, own.best)
    if rank > limit:
        return Absence(record.id, _cut(own, rank, limit, related), rank, own.best, "cut")
    best = standing.best.record.id
    if best == record.id:
        return Absence(record.id, f"It is in the list, as number {rank}.", rank, own.best)
    answer = (
        f"It is one of {len(replicates)} runs of one experiment, which stand in one row: number {rank},"
        f" {short_id(best)}, which ranks higher."
    )
    return Absence(record.id, answer, rank, own.best, "replicate")


def _is_closest(replicates: Sequence[str], related: RelatedExperiments) -> bool:
    return related.closest is not None and not set(related.closest.records).isdisjoint(replicates)


def _at_the_top(rank: int, related: RelatedExperiments) -> str:
    is_repeat = related.closest is not None and related.closest.closeness == "repeat"
    why = "it is what the file describes" if is_repeat else "nothing is nearer to the file"
    return f"It stands at the top of the list, since {why}; by its score it is number {rank}."


def _reasons(record: ExperimentRecord, related: RelatedExperiments) -> Iterator[str]:
    """What of the filter the record does not have."""
    chosen = related.chosen
    if chosen.outcome is not None and (came_to := outcome_of(record, related.snapshot)) != chosen.outcome:
        yield f"the list is narrowed to {_CAME_TO[chosen.outcome][0]}, and this one {_CAME_TO[came_to][1]}"
    if chosen.research_line is not None and record.research_line != chosen.research_line:
        own = record.research_line or "no research line"
        yield f"the list is narrowed to {chosen.research_line}, and this one belongs to {own}"
    if chosen.tag is not None and chosen.tag not in record.tags:
        yield f"the list is narrowed to the tag {chosen.tag}, and this one has {_tags(record.tags)}"
    if chosen.source is not None and chosen.source not in sources_of(record):
        own = ", ".join(sources_of(record))
        yield f"the list is narrowed to {chosen.source}, and this one comes from {own}"
    if chosen.text and not related.holds_text(record.id):
        yield f"the list is narrowed to what contains “{chosen.text.strip()}”, and this one does not"


def _tags(tags: Sequence[str]) -> str:
    if not tags:
        return "no tag"
    shown = ", ".join(tags[:_SHOWN_TAGS])
    return f"{'the tag' if len(tags) == 1 else 'the tags'} {shown}{', …' if len(tags) > _SHOWN_TAGS else ''}"


def _cut(own: Standing, rank: int, limit: int, related: RelatedExperiments) -> str:
    """Its place, and what it would take to be listed."""
    listed = related.ranked(limit)
    how_many = "none is listed" if not limit else "only the first is listed"
    if limit > 1:
        how_many = f"the first {limit:,} are listed"
    place = f"It is number {rank:,} of {related.total:,}, and {how_many}."
    if not listed:
        return place
    last = listed[-1]
    if last.score <= own.best.score:
        return f"{place} Its score is that of the last of these ({last.score:.3f}), and then the id decides."
    wanted = max(zip(last.terms, own.best.terms, strict=True), key=lambda pair: pair[0].value - pair[1].value)
    scores = f"It has {own.best.score:.3f}, the last of these {last.score:.3f}"
    return f"{place} {scores}; most is wanting in {_asked(*wanted)}."


def _asked(last: Term, own: Term) -> str:
    words = _WORDS.get(own.name, own.name)
    return f"{words} ({own.name} {own.value:.3f}, there {last.value:.3f}{f': {own.note}' if own.note else ''})"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"
