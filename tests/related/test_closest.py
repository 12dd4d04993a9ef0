"""What a list begins with whatever its score: the config's own runs, else what is nearest to it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from related_pool import BASE, related, scored

from tried.pool.record import ExperimentRecord
from tried.related.absence import absence_of
from tried.related.experiments import Filter

TALKATIVE = [
    scored(f"talk-{place}", 0.9, {**BASE, "lr": 0.1 + place, "depth": 9, "width": 3, "dropout": 0.7}, name="lr depth")
    for place in range(6)
]
"""They share words with nothing and differ in all, but are new and have much to tell."""
for each in TALKATIVE:
    each.notes = "what somebody wrote of it"
    each.hypothesis = "more of it helps"
    each.timestamp = "2026-11-30"

ITSELF = scored("itself", 0.8, BASE, timestamp="2024-01-01")
BESIDE = scored("beside", 0.8, {**BASE, "dropout": 0.2}, timestamp="2024-01-01")
FAR = scored("far", 0.8, {**BASE, "dropout": 0.2, "lr": 1, "depth": 7, "width": 9}, timestamp="2024-01-01")


def test_the_configs_own_run_stands_first_though_it_ranks_below_what_is_shown() -> None:
    found = related(*TALKATIVE, BESIDE, ITSELF).listed(3)
    assert found.rows[0].scored.record.id == "itself"
    assert [each.closeness for each in found.rows] == ["repeat", None, None]
    assert found.rows[0].rank > 3
    assert [each.rank for each in found.rows[1:]] == [1, 2]
    assert found.total == 8


def test_else_the_nearest_if_it_is_near() -> None:
    found = related(*TALKATIVE, BESIDE, FAR).listed(3)
    assert (found.rows[0].scored.record.id, found.rows[0].closeness) == ("beside", "nearest")
    assert [each.closeness for each in related(*TALKATIVE, FAR).listed(3).rows] == [None, None, None]


def test_neither_where_the_list_is_sorted_or_narrowed_otherwise() -> None:
    newest = related(*TALKATIVE, ITSELF).listed(20, "newest").rows
    assert newest[-1].scored.record.id == "itself"
    dead_ends = related(*TALKATIVE, ITSELF, chosen=Filter(outcome="dead_end")).listed(3)
    assert dead_ends.rows == ()


def test_nothing_is_listed_twice() -> None:
    found = related(*TALKATIVE, BESIDE, ITSELF).listed(20)
    ids = [each.scored.record.id for each in found.rows]
    assert len(ids) == len(set(ids)) == 8
    assert sorted(each.rank for each in found.rows) == list(range(1, 9))


def test_why_it_is_not_there_says_that_it_is_there_whatever_its_score() -> None:
    answer = absence_of("itself", related(*TALKATIVE, BESIDE, ITSELF), 3)
    assert answer.dropped_by is None
    assert answer.rank is not None
    assert answer.answer == (
        "It is in the list whatever its score, since it is what the file describes;"
        f" by its score it is number {answer.rank}."
    )


@pytest.mark.parametrize("limit", range(9))
@pytest.mark.parametrize("pool", [(*TALKATIVE, BESIDE, ITSELF), (*TALKATIVE, BESIDE), (ITSELF, BESIDE), TALKATIVE])
def test_what_is_said_to_be_cut_is_what_is_not_listed(pool: Sequence[ExperimentRecord], limit: int) -> None:
    """The closest take the room of others, which are then missing."""
    asked = related(*pool)
    listed = {record for each in asked.listed(limit).rows for record in each.records}
    said = {each.id for each in pool if absence_of(each.id, asked, limit).dropped_by is None}
    assert said == listed
