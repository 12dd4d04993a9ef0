"""Filters by words and ids, lists without what is alike, and the place of the best of some records."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import naive_tokens, naive_words
from ranking_strategies import NOW as SMALL_WORLD_NOW
from ranking_strategies import queries, records

from tried.pool.record import ExperimentRecord
from tried.ranking.candidates import WORD_LIMIT
from tried.ranking.index import RankingIndex
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import passing, placing_of, rank

NOW = datetime(2026, 11, 30, tzinfo=UTC)
POOL = [
    ExperimentRecord(id="a", name="longer warmup", params={"optimizer.lr": 1}),
    ExperimentRecord(id="b", name="rotary embeddings", notes="with a longer warmup"),
    ExperimentRecord(id="c", name="rotation of the data", tags=["longer"]),
    ExperimentRecord(id="d", name="学习率"),
]
INDEX = RankingIndex.of(POOL[:2]).updated([], POOL[2:])

pools = st.lists(records(st.integers(0, 20).map(str)), max_size=10, unique_by=lambda record: record.id)
searches = st.lists(
    st.sampled_from(("lr", "war", "MoS", "Adam", "lo", "学", "学习", "α", "3e", "sweep", "v", "?")), max_size=3
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("warmup", "ab"),
        ("longer warmup", "ab"),
        ("warmup longer", "ab"),
        ("rot", "bc"),  # the last word may still be typed
        ("rot longer", ""),  # the others may not
        ("rotary long", "b"),
        ("rotary l", "b"),
        ("LONGER Rota", "bc"),
        ("optimizer.l", "a"),
        ("学", "d"),
        ("学习率", "d"),
        ("率", ""),
        ("longer longer", "abc"),
        ("muon", ""),
        ("", "abcd"),
        ("… ?", "abcd"),
    ],
)
def test_every_word_must_occur_and_the_last_may_be_a_beginning(text: str, found: str) -> None:
    query = RetrievalQuery(containing=text)
    assert sorted(passing(query, INDEX, now=NOW)) == list(found)
    assert sorted(scored.record.id for scored in rank(query, INDEX, now=NOW)) == list(found)


def test_a_beginning_that_very_many_words_have() -> None:
    many = [ExperimentRecord(id=f"r{number}", name=f"x{number} y") for number in range(700)]
    index = RankingIndex.of([*many, *POOL])
    assert len(passing(RetrievalQuery(containing="x"), index, now=NOW)) == 700
    assert len(passing(RetrievalQuery(containing="x69"), index, now=NOW)) == 11  # x69 and x690 to x699


def test_of_a_log_that_is_pasted_the_first_words_count() -> None:
    log = " ".join(["longer"] * WORD_LIMIT + ["nowhere"])
    assert sorted(passing(RetrievalQuery(containing=log), INDEX, now=NOW)) == ["a", "b", "c"]


@settings(max_examples=80, deadline=None)
@given(pools, queries(), searches)
def test_a_ranking_with_words_is_that_of_the_records_that_hold_them(
    pool: list[ExperimentRecord], query: RetrievalQuery, search: list[str]
) -> None:
    text = " ".join(search)
    words = naive_tokens(text)

    def holds(record: ExperimentRecord) -> bool:
        bag = naive_words(record)
        whole = all(word in bag for word in words[:-1])
        return not words or (whole and any(term.startswith(words[-1]) for term in bag))

    chosen = [record for record in pool if holds(record)]
    index = RankingIndex.of(pool[:3]).updated([], pool[3:])
    found = rank(replace(query, containing=text), index, now=SMALL_WORLD_NOW)
    assert found == rank(query, chosen, now=SMALL_WORLD_NOW)


@settings(max_examples=60, deadline=None)
@given(pools, queries(), st.sets(st.integers(0, 25).map(str)))
def test_a_ranking_among_some_is_that_of_these_alone(
    pool: list[ExperimentRecord], query: RetrievalQuery, among: set[str]
) -> None:
    index = RankingIndex.of(pool[:4]).updated([], pool[4:])
    expected = rank(query, [record for record in pool if record.id in among], now=SMALL_WORLD_NOW)
    for ids in (among, sorted(among)):
        assert rank(query, index, now=SMALL_WORLD_NOW, among=ids) == expected
    assert sorted(passing(query, index, now=SMALL_WORLD_NOW, among=among)) == sorted(
        each.record.id for each in expected
    )


@settings(max_examples=80, deadline=None)
@given(pools, queries(), st.integers(1, 4), st.none() | st.integers(0, 6))
def test_of_what_is_alike_only_the_best_is_listed(
    pool: list[ExperimentRecord], query: RetrievalQuery, kinds: int, limit: int | None
) -> None:
    def kind_of(record_id: str) -> int:
        return int(record_id) % kinds

    first: dict[int, object] = {}
    for scored in rank(query, pool, now=SMALL_WORLD_NOW):
        first.setdefault(kind_of(scored.record.id), scored)
    expected = list(first.values())[:limit]
    assert rank(query, pool, now=SMALL_WORLD_NOW, limit=limit, alike=kind_of) == expected


@settings(max_examples=60, deadline=None)
@given(pools, queries(), st.sets(st.integers(0, 20).map(str)))
def test_the_best_of_some_records_and_what_ranks_above_it(
    pool: list[ExperimentRecord], query: RetrievalQuery, ids: set[str]
) -> None:
    index = RankingIndex.of(pool[:4]).updated([], pool[4:])
    listed = rank(query, index, now=SMALL_WORLD_NOW)
    places = [place for place, scored in enumerate(listed) if scored.record.id in ids]
    placing = placing_of(ids, query, index, now=SMALL_WORLD_NOW)
    if not places:
        assert placing is None
    else:
        assert placing is not None
        assert placing.best == listed[places[0]]
        assert set(placing.above) == {scored.record.id for scored in listed[: places[0]]}


def test_how_many_records_have_a_label() -> None:
    records = [
        ExperimentRecord(id="1", tags=["x", "y", "x"], research_line="a", source="mlflow"),
        ExperimentRecord(id="2", tags=["x"], research_line="a", aliases=["wandb:7"]),
        ExperimentRecord(id="3", tags=["z"]),
    ]
    index = RankingIndex.of(records).updated(["3"], [ExperimentRecord(id="4", tags=["y"])])
    assert index.labels() == {
        ("tag", "x"): 2,
        ("tag", "y"): 2,
        ("research_line", "a"): 2,
        ("source", "mlflow"): 1,
        ("source", "wandb"): 1,
        ("source", "journal"): 1,
    }
    assert RankingIndex.empty().labels() == {}
