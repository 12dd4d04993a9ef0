"""How much a ranking moves when what it is asked for has hardly changed: measures, and sessions to measure them on.

A session is one config while somebody works on it: a first run of the ranking, then steps, each a small change of the
first situation and of nothing else. What is shown can be opened on the way (`Use`), and then counts as hits do.

Invariant: pure; nothing is random, and hits come from what was shown, never from what somebody judged relevant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from statistics import fmean
from typing import Final, TypeAlias

from tried.ranking.hits import Hit, Hits
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank

TOP: Final = 3
"""So many of the first run's best are to be retained: what people read before they decide."""


def positional_churn(first: Sequence[str], later: Sequence[str], k: int) -> float:
    """The share of the first k places that hold another record than before, in [0, 1].

    Places are those that either list has among its first k; a place that only one of them has counts as another. 0 for
    two empty lists. Symmetric, 0 exactly if the first k are equal, and never below `set_churn`. Ids are distinct.
    """
    ahead, behind = first[: _checked(k)], later[:k]
    places = max(len(ahead), len(behind))
    same = sum(one == other for one, other in zip(ahead, behind, strict=False))
    return (places - same) / places if places else 0.0


def set_churn(first: Sequence[str], later: Sequence[str], k: int) -> float:
    """1 − |A ∩ B| / k for the sets A and B of the first k of both lists, in [0, 1].

    Where both lists are shorter than k, the longer one's length stands for k, so that equal lists have 0. 0 for two
    empty lists. Symmetric, and 0 exactly if the sets are equal. Ids are distinct.
    """
    ahead, behind = first[: _checked(k)], later[:k]
    places = max(len(ahead), len(behind))
    return (places - len(set(ahead).intersection(behind))) / places if places else 0.0


def retention(first: Sequence[str], later: Sequence[str], top: int = TOP) -> float:
    """The share of the first run's `top` best that are among the `top` best of the later one, in any order, in [0, 1].

    1 where the first run has none. Not symmetric: a longer list retains all of a shorter one.
    """
    best = first[: _checked(top)]
    return len(set(best).intersection(later[:top])) / len(best) if best else 1.0


@dataclass(frozen=True, slots=True)
class Situation:
    """What a ranking is asked: a query, at a time, of the records with these ids (None: of all)."""

    query: RetrievalQuery
    now: datetime
    among: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """`change` names what is different from the first situation; steps of one name are measured together."""

    change: str
    situation: Situation


@dataclass(frozen=True, slots=True)
class Session:
    """Steps in the order in which somebody takes them; hits accumulate in that order."""

    name: str
    first: Situation
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Use:
    """What a person opens of what is shown to them: of the first `opened` places the p-th at every p-th run.

    So the first result is opened each time, the second every other time, and so on: the bias towards the top that
    people have. `earlier_days`: the first situation was ranked and used once a day on so many days before the session.
    """

    opened: int = 0
    earlier_days: int = 0


NO_USE: Final = Use()

Ranking: TypeAlias = Callable[[Situation, Hits], Sequence[str]]
"""The ids of what is shown for a situation, best first: one policy on one pool."""


def ranking_by(policy: Policy, index: RankingIndex, limit: int) -> Ranking:
    """The first `limit` of an index under a policy."""

    def ranked(asked: Situation, hits: Hits) -> Sequence[str]:
        found = rank(asked.query, index, now=asked.now, limit=limit, policy=policy, among=asked.among, hits=hits)
        return [each.record.id for each in found]

    return ranked


@dataclass(frozen=True, slots=True)
class Observed:
    """One step against the first run of its session. `shown` are the ids of the step, best first."""

    session: str
    change: str
    shown: tuple[str, ...]
    positional_churn: float
    set_churn: float
    retention: float

    @property
    def moved(self) -> bool:
        """Whether anything among the first k stands elsewhere."""
        return self.positional_churn > 0


def days_from(moment: datetime, days: int) -> datetime | None:
    """None beyond the first and the last day that there are."""
    try:
        return moment + timedelta(days=days)
    except OverflowError:
        return None


def observe(session: Session, ranking: Ranking, k: int, use: Use = NO_USE) -> list[Observed]:
    """Each step of a session against its first run, in order.

    With `use`, what was opened before a step counts as hits in it; the first run knows those of the earlier days alone.
    """
    hits: dict[str, Hit] = {}
    runs = 0

    def shown(situation: Situation) -> Sequence[str]:
        nonlocal runs
        ids = ranking(situation, hits)
        runs += 1
        for place, record_id in enumerate(ids[: use.opened], start=1):
            if runs % place == 0:
                hits[record_id] = Hit(hits[record_id].count + 1 if record_id in hits else 1, situation.now)
        return ids

    for days in range(use.earlier_days, 0, -1):
        if (earlier := days_from(session.first.now, -days)) is not None:
            shown(replace(session.first, now=earlier))
    first = shown(session.first)
    return [_observed(session, step.change, first, shown(step.situation), k) for step in session.steps]


def _observed(session: Session, change: str, first: Sequence[str], later: Sequence[str], k: int) -> Observed:
    return Observed(
        session=session.name,
        change=change,
        shown=tuple(later),
        positional_churn=positional_churn(first, later, k),
        set_churn=set_churn(first, later, k),
        retention=retention(first, later),
    )


@dataclass(frozen=True, slots=True)
class StabilityRun:
    """All steps of some sessions under one policy, whose name is `policy`."""

    policy: str
    policy_id: str
    use: Use
    observed: tuple[Observed, ...]


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over sessions of the means over their steps, so that none counts more for having more steps.

    `steps` is how many there are, `moved` how many of them changed anything among the first k. NaN without steps.
    """

    sessions: int
    steps: int
    moved: int
    positional_churn: float
    set_churn: float
    retention: float


def churn_of(observed: Iterable[Observed]) -> dict[str, float]:
    """The mean churn by place of each session."""
    return by_session(observed, lambda each: each.positional_churn)


def summary(observed: Iterable[Observed]) -> Summary:
    found = list(observed)
    sessions = churn_of(found)
    return Summary(
        sessions=len(sessions),
        steps=len(found),
        moved=sum(each.moved for each in found),
        positional_churn=_mean(sessions),
        set_churn=_mean(by_session(found, lambda each: each.set_churn)),
        retention=_mean(by_session(found, lambda each: each.retention)),
    )


def by_change(observed: Iterable[Observed]) -> dict[str, list[Observed]]:
    """Steps that changed the same thing, in the order in which they come first."""
    found: dict[str, list[Observed]] = {}
    for each in observed:
        found.setdefault(each.change, []).append(each)
    return found


def by_session(observed: Iterable[Observed], measure: Callable[[Observed], float]) -> dict[str, float]:
    """The mean of a measure over the steps of each session."""
    values: dict[str, list[float]] = {}
    for each in observed:
        values.setdefault(each.session, []).append(measure(each))
    return {session: fmean(found) for session, found in values.items()}


@dataclass(frozen=True, slots=True)
class Difference:
    """A measure of the same sessions under another policy: in how many it is lower, equal and higher, and by how much
    on average."""

    lower: int
    equal: int
    higher: int
    mean: float

    @property
    def chance(self) -> float:
        """How probable a split at least as uneven is if lower and higher were alike (sign test, two-sided, equal ones
        left out), in (0, 1]."""
        count, fewer = self.lower + self.higher, min(self.lower, self.higher)
        tail = sum(math.comb(count, each) for each in range(fewer + 1))
        return min(1.0, 2.0 * tail / 2.0**count)


def difference(before: Mapping[str, float], after: Mapping[str, float], least: float = 1e-9) -> Difference:
    """`after` against `before`, session by session; what differs by at most `least` is equal.

    Raises ValueError if they are not of the same sessions.
    """
    if before.keys() != after.keys():
        raise ValueError(f"not the same sessions: {sorted(before.keys() ^ after.keys())}")
    changes = [after[name] - before[name] for name in before]
    lower, higher = sum(each < -least for each in changes), sum(each > least for each in changes)
    return Difference(lower, len(changes) - lower - higher, higher, fmean(changes) if changes else math.nan)


def _mean(values: Mapping[str, float]) -> float:
    return fmean(values.values()) if values else math.nan


def _checked(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}: give a number of places of at least 1")
    return k
