"""The place of one record in a ranking is the place at which the whole ranking lists it."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime

import pytest

from tried.pool.record import ExperimentRecord
from tried.ranking.index import RankingIndex
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


def test_of_ever_so_many_copies_the_place_goes_by_the_id(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.import_module("tried.ranking.rank"), "_MANY_ALIKE", 2)
    index = RankingIndex.of([ExperimentRecord(id=name, name="copy") for name in ("c", "a", "d", "b")])
    assert [rank_of(RetrievalQuery("copy"), index, name, now=NOW) for name in "abcd"] == [
        (place, scored) for place, scored in enumerate(rank(RetrievalQuery("copy"), index, now=NOW), start=1)
    ]
