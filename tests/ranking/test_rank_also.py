"""Records that are asked for by id come with the ranking, with the very score that they have in the whole of it."""

from __future__ import annotations

from datetime import UTC, datetime

from tried.pool.record import ExperimentRecord
from tried.ranking.index import RankingIndex
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank

NOW = datetime(2026, 11, 1, tzinfo=UTC)
RECORDS = [
    ExperimentRecord(id=f"r{number}", name=name, timestamp="2026-10-01", research_line=line)
    for number, (name, line) in enumerate(
        [("warmup", "a"), ("warmup decay", "a"), ("decay", "b"), ("dropout", "b"), ("depth", "a")]
    )
]
QUERY = RetrievalQuery(text="warmup decay")


def in_two_segments() -> RankingIndex:
    return RankingIndex.of(RECORDS[:2]).updated([], RECORDS[2:])


def test_others_follow_the_best_in_order() -> None:
    everything = {scored.record.id: scored for scored in rank(QUERY, in_two_segments(), now=NOW)}
    found = rank(QUERY, in_two_segments(), now=NOW, limit=1, also=["r4", "r1", "r2", "no such id"])
    assert [scored.record.id for scored in found] == ["r1", "r2", "r4"]
    assert found == [everything[scored.record.id] for scored in found]


def test_filters_hold_for_them_too() -> None:
    query = RetrievalQuery(text="warmup", research_line="a")
    found = rank(query, in_two_segments(), now=NOW, limit=1, also=["r2", "r4"])
    assert [scored.record.id for scored in found] == ["r0", "r4"]


def test_a_removed_record_does_not_come() -> None:
    index = in_two_segments().updated(["r4"], [])
    assert [scored.record.id for scored in rank(QUERY, index, now=NOW, limit=1, also=["r4"])] == ["r1"]
