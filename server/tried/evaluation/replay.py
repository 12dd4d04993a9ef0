"""A ranking from its trace alone: the same again, or what another policy would have done.

Invariant: neither the pool nor a clock is asked; scores come from `ranking/scoring.py`, as those of live rankings.
"""

from __future__ import annotations

from dataclasses import dataclass

from tried.evaluation.trace import ResultRow, Trace, rows_of
from tried.ranking.breakdown import Term
from tried.ranking.candidate_snapshot import rank_snapshot
from tried.ranking.policy import Policy


class ReplayError(ValueError):
    """Why a trace does not tell what was asked of it; the message is meant for the user."""


@dataclass(frozen=True, slots=True)
class ReplayedRow:
    """A record's place under the policy that is tried, and before; both count from 1 among the candidates of the trace.
    `changed` names the terms whose values differ; one that a policy does not have counts as 0."""

    row: ResultRow
    before: ResultRow
    changed: tuple[str, ...]

    @property
    def moved(self) -> int:
        """By how many places it rose; negative where it fell."""
        return self.before.rank - self.row.rank


@dataclass(frozen=True, slots=True)
class Replay:
    """`rows` are the results under `policy`, `left` those that were among the results and are not now, in the order of
    their former places."""

    trace: Trace
    policy: Policy
    rows: tuple[ReplayedRow, ...]
    left: tuple[ReplayedRow, ...]

    @property
    def is_same_policy(self) -> bool:
        return self.policy == self.trace.scored.policy

    @property
    def is_complete(self) -> bool:
        """Whether the results are surely those of a ranking of the pool: under the trace's own policy, or where the
        trace has all candidates."""
        return self.is_same_policy or self.trace.scored.is_complete


def replay(trace: Trace, policy: Policy | None = None) -> Replay:
    """The results of the trace's request under a policy (None: the trace's own).

    Raises ReplayError for a policy of another TTL: records that it lets in or keeps out would change what the scores of
    all others are made of.
    """
    before = trace.scored.policy
    policy = before if policy is None else policy
    own, wanted = (_ttl(trace, each) for each in (before, policy))
    if own != wanted:
        raise ReplayError(
            f"ttl_days: the trace holds the candidates of {_days(own)}, the policy asks for {_days(wanted)}; rank the"
            f" pool itself (`tried rank`), or keep what the trace has: --set ttl_days={_knob(before.ttl_days)}"
        )
    old = {row.id: row for row in rows_of(rank_snapshot(trace.scored, before))}
    new = rows_of(rank_snapshot(trace.scored, policy))
    limit = len(new) if trace.limit is None else trace.limit
    moves = [ReplayedRow(row, old[row.id], _changed(old[row.id].terms, row.terms)) for row in new]
    left = [move for move in moves[limit:] if move.before.rank <= limit]
    return Replay(trace, policy, tuple(moves[:limit]), tuple(sorted(left, key=lambda move: move.before.rank)))


def _ttl(trace: Trace, policy: Policy) -> float | None:
    """The time to live in force: the stricter of the query's and the policy's."""
    return min((days for days in (trace.filters.ttl_days, policy.ttl_days) if days is not None), default=None)


def _changed(before: tuple[Term, ...], after: tuple[Term, ...]) -> tuple[str, ...]:
    old = {term.name: term.value for term in before}
    new = {term.name: term.value for term in after}
    return tuple(name for name in {**new, **old} if new.get(name, 0.0) != old.get(name, 0.0))


def _days(ttl: float | None) -> str:
    return "any age" if ttl is None else f"at most {ttl:g} days"


def _knob(ttl: float | None) -> str:
    return "none" if ttl is None else repr(ttl)
