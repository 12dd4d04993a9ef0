"""Why a record that somebody named is not in the list of related experiments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tried.pool.record import ExperimentRecord, sources_of
from tried.ranking.breakdown import ScoredRecord, Term
from tried.ranking.rank import Placing, placing_of
from tried.record_names import find_record, short_id
from tried.related.experiments import RelatedExperiments
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
    own = placing_of(
        [record.id], query, related.snapshot.index, now=related.now, policy=related.policy, among=related.among
    )
    place = related.place_of(record.id)
    if own is None or place is None:
        return Absence(record.id, _sentence("; ".join(_reasons(record, related))), dropped_by="filter")
    rank, best = place
    replicates = {run.id for run in related.grouping.replicates_of(record.id)} or {record.id}
    last = related.last_rank(limit)
    if rank > last and (why := _closeness(replicates, limit, related)):
        answer = f"It is in the list whatever its score, since {why}; by its score it is number {rank}."
        return Absence(record.id, answer, rank, own.best)
    if rank > last:
        return Absence(record.id, _cut(own, rank, last, related), rank, own.best, "cut")
    if best.record.id == record.id:
        return Absence(record.id, f"It is in the list, as number {rank}.", rank, own.best)
    answer = (
        f"It is one of {len(replicates)} runs of one experiment, which stand in one row: number {rank},"
        f" {short_id(best.record.id)}, which ranks higher."
    )
    return Absence(record.id, answer, rank, own.best, "replicate")


def _closeness(replicates: Collection[str], limit: int, related: RelatedExperiments) -> str:
    """Why one of these is in the list wherever it ranks; empty if none is for that."""
    closest = related.closest
    if closest is None or not any(each in replicates for each in closest.records[: max(0, limit)]):
        return ""
    return "it is what the file describes" if closest.closeness == "repeat" else "nothing is nearer to the file"


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


def _cut(own: Placing, rank: int, last_rank: int, related: RelatedExperiments) -> str:
    """Its place, and what it would take to be listed by its score."""
    listed = related.ranked(last_rank)
    how_many = "none is listed for its score" if not last_rank else "only the first is listed"
    if last_rank > 1:
        how_many = f"the first {last_rank:,} are listed"
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
