"""The place of one record in a ranking is the place at which the whole ranking lists it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tried.pool.record import ExperimentRecord
from tried.ranking.hits import Hit
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DecayPenalty, HitBoost, Policy, Weights
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank, rank_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def records(count: int) -> list[ExperimentRecord]:
    """Many of equal score: names repeat every 7, times every 5, notes every 3."""
    return [
        ExperimentRecord(
            id=f"exp-{number:03}",
            name=f"warmup {'longer ' * (number % 7)}",
            notes="said" if number % 3 else None,
            timestamp=f"2026-11-{1 + number % 5:02}",
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("text", ["longer warmup", "", "nothing like it"])
def test_the_place_is_that_in_the_whole_ranking(text: str) -> None:
    index = RankingIndex.of(records(60)).updated(["exp-004"], records(3))
    query = RetrievalQuery(text)
    listed = rank(query, index, now=NOW)
    assert len(listed) == 59
    for place, scored in enumerate(listed, start=1):
        assert rank_of(query, index, scored.record.id, now=NOW) == (place, scored)
    assert rank_of(query, index, "exp-004", now=NOW) is None
    assert rank_of(query, RankingIndex.empty(), "exp-001", now=NOW) is None


def test_the_place_among_copies_goes_by_the_id() -> None:
    index = RankingIndex.of([ExperimentRecord(id=name, name="copy") for name in ("c", "a", "d", "b")])
    assert [rank_of(RetrievalQuery("copy"), index, name, now=NOW) for name in "abcd"] == [
        (place, scored) for place, scored in enumerate(rank(RetrievalQuery("copy"), index, now=NOW), start=1)
    ]


@pytest.mark.parametrize(
    "policy",
    [
        Policy(half_life_days=12),
        Policy(half_life_days=12, hit_boost=HitBoost(enabled=True, weight=1e6)),
        Policy(half_life_days=12, decay_penalty=DecayPenalty(enabled=True, weight=1e6, tau_days=5)),
        Policy(weights=Weights(recency=1e-9)),
    ],
)
def test_scores_that_differ_in_their_last_digits_alone_are_told_apart(policy: Policy) -> None:
    """Of a year and more ago under a short half-life: recencies of 1e-10 to 1e-13, the ids against their order."""
    old = [
        ExperimentRecord(
            id=f"r{number:03}", name="copy", timestamp=(NOW - timedelta(days=520 - number / 3)).isoformat()
        )
        for number in range(300)
    ]
    index = RankingIndex.of(old)
    query = RetrievalQuery("copy")
    hits = {"r007": Hit(3, NOW)}
    listed = rank(query, index, now=NOW, policy=policy, hits=hits)
    assert {each.record.id: place for place, each in enumerate(listed, start=1)} == {
        each.id: rank_of(query, index, each.id, now=NOW, policy=policy, hits=hits)[0]  # type: ignore[index]
        for each in old
    }
    assert rank(query, index, now=NOW, policy=policy, hits=hits, limit=30) == listed[:30]
    assert [each.score for each in listed] == sorted((each.score for each in listed), reverse=True)
