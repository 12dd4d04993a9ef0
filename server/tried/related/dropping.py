"""What keeps a record out of a ranking, in words: what of the filter it does not have, its age, or its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, Literal

from tried.pool.record import ExperimentRecord, sources_of
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord, Term
from tried.ranking.hits import Hits
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import passing, within_ttl
from tried.ranking.signals import in_utc
from tried.related.experiments import RelatedExperiments
from tried.related.outcome import Outcome, outcome_of
from tried.related.searching import ids_beginning

Unranked = Literal["filter", "ttl"]

NO_LIST: Final = "There is no list yet: the file states nothing that could be ranked by."

_CAME_TO: Final[dict[Outcome, tuple[str, str]]] = {
    "dead_end": ("dead ends", "is a dead end"),
    "works": ("what worked", "worked"),
    "inconclusive": ("what is inconclusive", "is inconclusive"),
    "running": ("what still runs", "still runs"),
    "unknown": ("what has no known outcome", "has no known outcome"),
}
"""What a list is narrowed to, and what is said of a record."""

_WORDS: Final[dict[str, str]] = {
    "lexical": "the words in common",
    "structural": "the likeness of its architecture",
    "recency": "its age",
    "importance": "what it has to tell",
    "lexical_bonus": "the share of the file's words that it has",
    "hit_boost": "how often and how lately it was of use",
    "decay_penalty": "what its age takes from it",
}
_SHOWN_TAGS: Final = 5
_DAY_MICROSECONDS: Final = 86_400_000_000
_MOST_DIGITS: Final = 12


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a pool, and how its records are ranked. `outcome` and `text` are that part of the filter of
    which `query` need not know; `among` are the ids that pass it, None for all."""

    snapshot: PoolSnapshot
    query: RetrievalQuery
    policy: Policy
    now: datetime
    hits: Hits = field(default_factory=dict)
    among: Collection[str] | None = None
    outcome: Outcome | None = None
    text: str = ""

    @classmethod
    def of(cls, related: RelatedExperiments) -> Question | None:
        """That of a list of related experiments; None where the text states nothing that could be ranked by."""
        if related.query is None:
            return None
        hits, chosen = related.analysis.hits, related.chosen
        snapshot, query, policy, now = related.snapshot, related.query, related.policy, related.now
        return cls(snapshot, query, policy, now, hits, related.among, chosen.outcome, chosen.text)


def why_unranked(record: ExperimentRecord, question: Question) -> tuple[Unranked, str]:
    """Of a record that is no candidate: whether the filter or its age is the reason, and a sentence."""
    reasons = list(_filtered(record, question))
    old = _too_old(record, question)
    if old is not None:
        return "filter" if reasons else "ttl", sentence("; ".join([*reasons, old]))
    return "filter", sentence("; ".join(reasons) or "it does not pass the filter")


def _filtered(record: ExperimentRecord, question: Question) -> Iterator[str]:
    """What of the filter the record does not have."""
    query = question.query
    if question.outcome is not None and (came_to := outcome_of(record, question.snapshot)) != question.outcome:
        yield f"the list is narrowed to {_CAME_TO[question.outcome][0]}, and this one {_CAME_TO[came_to][1]}"
    if query.research_line is not None and record.research_line != query.research_line:
        own = record.research_line or "no research line"
        yield f"the list is narrowed to {query.research_line}, and this one belongs to {own}"
    for tag in query.tags:
        if tag not in record.tags:
            yield f"the list is narrowed to the tag {tag}, and this one has {_tags(record.tags)}"
    if query.source is not None and query.source not in sources_of(record):
        own = ", ".join(sources_of(record))
        yield f"the list is narrowed to {query.source}, and this one comes from {own}"
    text = question.text or query.containing
    if text and not _holds(record.id, text, question):
        yield f"the list is narrowed to what contains “{text.strip()}”, and this one does not"


def _holds(record_id: str, text: str, question: Question) -> bool:
    """Whether a record is one of those that are searched for, by its words or by the beginning of its id."""
    words = RetrievalQuery(containing=text)
    found = passing(words, question.snapshot.index, now=question.now, among=(record_id,))
    return bool(found) or record_id in ids_beginning(text, question.snapshot)


def _tags(tags: Sequence[str]) -> str:
    if not tags:
        return "no tag"
    shown = ", ".join(tags[:_SHOWN_TAGS])
    return f"{'the tag' if len(tags) == 1 else 'the tags'} {shown}{', …' if len(tags) > _SHOWN_TAGS else ''}"


def _too_old(record: ExperimentRecord, question: Question) -> str | None:
    limit, time = within_ttl(question.query, question.policy).ttl_days, record.time
    if limit is None or time is None:
        return None
    age = (in_utc(question.now) - time) // timedelta(microseconds=1)
    if age <= limit * _DAY_MICROSECONDS:
        return None
    own = _days_above(age / _DAY_MICROSECONDS, limit)
    return f"it is {own} old, and what is older than {_days(limit)} is left out (ttl_days)"


def _days_above(age: float, limit: float) -> str:
    """With as many digits as it takes to see that it is more."""
    digits = next((count for count in range(1, _MOST_DIGITS) if round(age, count) > limit), _MOST_DIGITS)
    return _days(round(age, digits))


def _days(days: float) -> str:
    shown = f"{days:,.{_MOST_DIGITS}f}".rstrip("0").rstrip(".")
    return f"{shown} day{'' if days == 1 else 's'}"


def how_many_listed(count: int) -> str:
    if count > 1:
        return f"the first {count:,} are listed"
    return "only the first is listed" if count else "none is listed for its score"


def below_the_cut(own: ScoredRecord, rank: int, of: int, listed: int, last: ScoredRecord | None) -> str:
    """Its place, and what it would take to be listed by its score. `last` is the last of those that are `listed`."""
    place = f"It is number {rank:,} of {of:,}, and {how_many_listed(listed)}."
    if last is None:
        return place
    if last.score <= own.score:
        return f"{place} Its score is that of the last of these ({last.score:.3f}), and then the id decides."
    scores = f"It has {own.score:.3f}, the last of these {last.score:.3f}"
    return f"{place} {scores}; most is wanting in {_wanting(own, last)}."


def _wanting(own: ScoredRecord, last: ScoredRecord) -> str:
    theirs = {term.name: term.value for term in last.terms}
    lacked: Term = max(own.terms, key=lambda term: theirs.get(term.name, 0.0) - term.value)
    words, note = _WORDS.get(lacked.name, lacked.name), f": {lacked.note}" if lacked.note else ""
    return f"{words} ({lacked.name} {lacked.value:z.3f}, there {theirs.get(lacked.name, 0.0):z.3f}{note})"


def sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '?', '!')) else '.'}"
