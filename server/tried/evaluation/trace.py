"""A trace: all of one ranking, so that it can be repeated, and judged under other policies, without the pool.

Invariant: a trace depends on the request, the pool and the hits alone: it reads no clock.
Invariant: of a config's text a trace has the terms alone, unless the text was asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from tried.ranking.bag import FIELD_LIMIT
from tried.ranking.breakdown import Term
from tried.ranking.candidate_snapshot import (
    Pause,
    RankedCandidate,
    ScoredCandidates,
    best_of,
    no_pause,
    scored_candidates,
)
from tried.ranking.hits import NO_HITS, Hits
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.signals import in_utc
from tried.ranking.tokenizer import tokenize


@dataclass(frozen=True, slots=True)
class Filters:
    """What the query demanded of its candidates; `containing` are the terms of what was searched for."""

    research_line: str | None = None
    tags: tuple[str, ...] = ()
    source: str | None = None
    ttl_days: float | None = None
    containing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A record of the answer; `rank` counts from 1, `terms` have their inputs."""

    rank: int
    id: str
    name: str
    score: float
    dead_end: bool
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Trace:
    """`now` is aware: the time that ages count from. `version` is that of tried, `text` None where it was not to be
    kept, `architecture` a digest, `limit` how many results were asked for (None: all)."""

    now: datetime
    version: str
    policy_name: str | None
    text: str | None
    architecture: str | None
    filters: Filters
    generation: int
    limit: int | None
    scored: ScoredCandidates
    result: tuple[ResultRow, ...]


def trace_of(
    query: RetrievalQuery,
    index: RankingIndex,
    *,
    now: datetime,
    policy: Policy,
    version: str,
    hits: Hits = NO_HITS,
    limit: int | None = None,
    cap: int | None = None,
    generation: int = 0,
    policy_name: str | None = None,
    with_text: bool = False,
    pause: Pause = no_pause,
) -> Trace:
    """Of the ranking that `rank` gives for the same arguments. At most `cap` candidates are kept, but never fewer than
    there are results."""
    if cap is not None:
        cap = max(cap, limit) if limit is not None else None
    scored = scored_candidates(query, index, now=now, policy=policy, hits=hits, cap=cap, pause=pause)
    return Trace(
        now=in_utc(now),
        version=version,
        policy_name=policy_name,
        text=query.text[:FIELD_LIMIT] if with_text else None,
        architecture=query.architecture.digest if query.architecture is not None else None,
        filters=Filters(
            research_line=query.research_line,
            tags=tuple(query.tags),
            source=query.source,
            ttl_days=query.ttl_days,
            containing=tuple(tokenize(query.containing[:FIELD_LIMIT])),
        ),
        generation=generation,
        limit=limit,
        scored=scored,
        result=tuple(rows_of(best_of(scored, limit))),
    )


def rows_of(ranked: Iterable[RankedCandidate]) -> Sequence[ResultRow]:
    """What an answer says of candidates that are in its order."""
    return [
        ResultRow(
            place, each.candidate.id, each.candidate.name, each.score, each.candidate.features.dead_end, each.terms
        )
        for place, each in enumerate(ranked, start=1)
    ]
