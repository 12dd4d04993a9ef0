"""The rows of the list: ranked records, replicates in one, filtered, cut and sorted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from related_pool import BASE, CONFIG, NOW, record, related, scored, snapshot_of

from tried.pool.record import ExperimentRecord
from tried.ranking.rank import rank
from tried.related.experiment import Experiment
from tried.related.experiments import MOST_ROWS, NO_FILTER, Experiments, Filter, row_limit
from tried.related.facets import Facet, facets_of, named
from tried.related.ordering import Sort
from tried.related.result import Result

SEEDS = [
    scored(f"seed-{seed}", accuracy, {**BASE, "lr": 0.05, "seed": seed}, timestamp=f"2026-11-{10 + seed}")
    for seed, accuracy in enumerate([0.908, 0.912, 0.916])
]
DEAD = record(
    "dead",
    {**BASE, "depth": 32},
    verdict="dead_end",
    cause="out_of_memory",
    conclusion={"headline": "out of memory after 19 s", "outcome": "crashed"},
    timestamp="2026-11-29T06:00:00Z",
    tags=["deep", "night"],
    source="mlflow",
)
SEARCH = record("search", {}, role="sweep", name="learning rate search")
OTHER = scored("other", 0.7, {**BASE, "dropout": 0.5}, research_line="text", tags=["night"], name="longer warmup")
POOL = [*SEEDS, DEAD, SEARCH, OTHER]


def ids(found: Experiments) -> list[tuple[str, ...]]:
    return [each.records for each in found.rows]


def rows_of(*records: ExperimentRecord, chosen: Filter = NO_FILTER, sort: Sort = "score") -> list[Experiment]:
    return list(related(*records, chosen=chosen).listed(20, sort).rows)


def test_replicates_are_one_row() -> None:
    found = related(*POOL).listed(20)
    assert found.total == 4 == len(found.rows)
    assert {frozenset(each.records) for each in found.rows} == {
        frozenset({"seed-0", "seed-1", "seed-2"}),
        frozenset({"dead"}),
        frozenset({"search"}),
        frozenset({"other"}),
    }
    assert sorted(each.rank for each in found.rows) == [1, 2, 3, 4]
    seeds = next(each for each in found.rows if len(each.records) == 3)
    assert seeds.records == ("seed-2", "seed-0", "seed-1")  # the latest ranks best, the others as the pool has them
    assert seeds.scored.record.id == "seed-2"
    assert seeds.time == datetime(2026, 11, 12, tzinfo=UTC)
    assert (seeds.outcome, seeds.cause) == ("works", None)
    assert seeds.result is not None
    assert str(seeds.result) == "0.912 ± 0.004"
    assert (seeds.result.metric, seeds.result.count) == ("val_acc", 3)
    assert seeds.differences is not None
    assert [(each.key, each.draft, each.record) for each in seeds.differences.shown] == [("lr", "0.01", "0.05")]


def test_a_dead_end_and_what_is_no_experiment() -> None:
    dead, search = (next(row for row in rows_of(*POOL) if row.records == (name,)) for name in ("dead", "search"))
    assert (dead.outcome, dead.cause, dead.result) == ("dead_end", "out_of_memory", None)
    assert dead.time == datetime(2026, 11, 29, 6, tzinfo=UTC)
    assert (search.outcome, search.cause, search.result, search.time, search.differences) == ("unknown", *[None] * 4)


def test_what_was_written_of_one_replicate_is_told_of_all() -> None:
    silent = scored("silent", 0.5, {**BASE, "seed": 1}, timestamp="2026-11-30", generated_headline="finished")
    written = scored("written", 0.5, {**BASE, "seed": 2}, conclusion={"headline": "noisy", "outcome": "completed"})
    (row,) = rows_of(silent, written)
    assert {row.scored.record.id, *row.records} == {"silent", "written"}
    assert (row.why, row.why_kind) == ("noisy", "written")
    (alone,) = rows_of(silent)
    assert (alone.why, alone.why_kind) == ("finished", "generated")
    noted = scored("noted", 0.5, {**BASE, "seed": 3}, notes="what it is meant to show", source="journal")
    (first,) = rows_of(silent, noted)  # notes of a journal may as well be written before a run
    assert (first.why, first.why_kind) == ("finished", "generated")
    (dead,) = (row for row in rows_of(DEAD, silent) if row.records == ("dead",))
    assert (dead.why, dead.why_kind) == ("out of memory after 19 s", "written")


def test_replicates_that_ended_otherwise_tell_the_cause_of_those_that_the_row_tells_of() -> None:
    failed = [
        record(f"f{seed}", {**BASE, "seed": seed}, conclusion={"outcome": "crashed"}, cause="out_of_memory")
        for seed in range(2)
    ]
    (row,) = rows_of(scored("well", 0.5, {**BASE, "seed": 9}, timestamp="2026-11-30", notes="said"), *failed)
    assert row.scored.record.id == "well"
    assert (row.outcome, row.cause) == ("dead_end", "out_of_memory")
    assert row.result == Result("val_acc", "max", 0.5, None, 1)


@pytest.mark.parametrize(
    ("chosen", "found", "total"),
    [
        (Filter(outcome="dead_end"), [("dead",)], 1),
        (Filter(outcome="unknown"), [("search",)], 1),
        (Filter(outcome="running"), [], 0),
        (Filter(research_line="text"), [("other",)], 1),
        (Filter(research_line="nowhere"), [], 0),
        (Filter(tag="night"), [("dead",), ("other",)], 2),
        (Filter(tag="night", outcome="works"), [("other",)], 1),
        (Filter(source="mlflow"), [("dead",)], 1),
        (Filter(text="warm"), [("other",)], 1),
        (Filter(text="memory dep"), [("dead",)], 1),
        (Filter(text="no such thing"), [], 0),
        (Filter(text="seed-1"), [("seed-1",)], 1),
        (Filter(text="seed-1", outcome="dead_end"), [], 0),
    ],
)
def test_filters(chosen: Filter, found: Sequence[tuple[str, ...]], total: int) -> None:
    listed = related(*POOL, chosen=chosen).listed(20)
    assert sorted(ids(listed)) == sorted(found)
    assert listed.total == total


def test_of_replicates_those_that_pass_stand_in_the_row() -> None:
    mixed = [*SEEDS[:2], record("crashed", {**BASE, "lr": 0.05, "seed": 7}, conclusion={"outcome": "crashed"})]
    (row,) = rows_of(*mixed, chosen=Filter(outcome="works"))
    assert sorted(row.records) == ["seed-0", "seed-1"]
    assert row.result is not None
    assert row.result.mean == pytest.approx(0.91)
    (bad,) = rows_of(*mixed, chosen=Filter(outcome="dead_end"))
    assert (bad.records, bad.outcome) == (("crashed",), "dead_end")


def test_the_limit_counts_rows() -> None:
    several = [scored(f"r{place}", 0.5, {**BASE, "depth": place // 2, "seed": place}) for place in range(12)]
    found = related(*several)
    assert [len(found.listed(limit).rows) for limit in (0, -3, 1, 4, 6, 99)] == [0, 0, 1, 4, 6, 6]
    assert {found.listed(limit).total for limit in (0, 1, 99)} == {6}
    assert row_limit(10**9) == MOST_ROWS
    assert ids(found.listed(2)) == ids(found.listed(6))[:2]


def test_a_file_that_states_nothing_lists_nothing() -> None:
    found = related(*POOL, config="tags: []\n")
    assert found.listed(20) == Experiments((), 0)


def test_the_own_line_is_that_of_the_pool() -> None:
    assert related(*POOL).own_line == "vision"
    assert related(*POOL, config=CONFIG.replace("vision", "Text")).own_line == "text"
    assert related(*POOL, config=CONFIG.replace("vision", "nowhere")).own_line is None


class TestSorting:
    RUNS = (
        scored("old-good", 0.9, {**BASE, "depth": 1}, timestamp="2026-01-01"),
        scored("new-bad", 0.2, {**BASE, "depth": 2}, timestamp="2026-11-29"),
        scored("undated", 0.5, {**BASE, "depth": 3}),
        record("loss", {**BASE, "depth": 4}, metrics={"val_loss": 0.1}, conclusion={"outcome": "completed"}),
        record("odd", {**BASE, "depth": 5}, metrics={"zeal": 7.0}, timestamp="2026-11-28"),
        record("nothing", {**BASE, "depth": 6}, timestamp="2026-11-27"),
    )

    def order(self, sort: Sort) -> list[str]:
        return [row.records[0] for row in rows_of(*self.RUNS, sort=sort)]

    def test_newest(self) -> None:
        assert self.order("newest")[:4] == ["new-bad", "odd", "nothing", "old-good"]
        assert set(self.order("newest")[4:]) == {"undated", "loss"}

    def test_best_of_the_metric_that_most_have(self) -> None:
        assert self.order("best") == ["old-good", "undated", "new-bad", "loss", "odd", "nothing"]

    def test_lower_is_better_of_a_loss(self) -> None:
        runs = [record(f"l{loss}", {**BASE, "depth": loss}, metrics={"val_loss": loss}) for loss in (3, 1, 2)]
        assert [row.records[0] for row in rows_of(*runs, sort="best")] == ["l1", "l2", "l3"]

    def test_the_rank_stays_whatever_the_order(self) -> None:
        ranks = {row.records[0]: row.rank for row in rows_of(*self.RUNS)}
        for sort in get_args(Sort):
            assert {row.records[0]: row.rank for row in rows_of(*self.RUNS, sort=sort)} == ranks


class TestFacets:
    def test_the_most_frequent_first_of_equals_by_name(self) -> None:
        facets = facets_of(snapshot_of(*POOL))
        assert facets.research_lines == (Facet("vision", 5), Facet("text", 1))
        assert facets.tags == (Facet("night", 2), Facet("deep", 1))
        assert facets.sources == (Facet("journal", 5), Facet("mlflow", 1))
        assert facets_of(snapshot_of()).tags == ()

    def test_at_most_fifty(self) -> None:
        runs = [record(f"r{number}", tags=[f"t{number:03}", "all"]) for number in range(70)]
        tags = facets_of(snapshot_of(*runs)).tags
        assert tags[0] == Facet("all", 70)
        assert [tag.name for tag in tags[1:]] == [f"t{number:03}" for number in range(49)]

    def test_a_name_is_found_by_how_it_is_shown(self) -> None:
        snapshot = snapshot_of(record("r", tags=["two  spaces", "plain"]))

        def show(name: str) -> str:
            return " ".join(name.split())

        assert named("tag", "two spaces", snapshot, show) == "two  spaces"
        assert named("tag", "plain", snapshot, show) == "plain"
        assert named("source", "plain", snapshot, show) == "plain"


class TestSearchingForIds:
    RUNS = (
        record("mlflow:c94d1f60aa", {**BASE, "depth": 1}),
        record("mlflow:c94e000000", {**BASE, "depth": 2}, name="like c94d, but shallow"),
        record("hydra:out:2026-11-01/3", {**BASE, "depth": 3}),
        record("EXP-12", {**BASE, "depth": 4}),
        record("sacred:31", {**BASE, "depth": 5}),
    )

    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("mlflow:c94d", ["mlflow:c94d1f60aa"]),
            ("C94D1F", ["mlflow:c94d1f60aa"]),
            ("…:c94d1f60", ["mlflow:c94d1f60aa"]),
            ("2026-11-01/3", ["hydra:out:2026-11-01/3"]),
            (" exp-1 ", ["EXP-12"]),
            ("c94d", ["mlflow:c94d1f60aa", "mlflow:c94e000000"]),  # an id, and a word of another record
            ("94d1", []),
            ("31", ["sacred:31"]),
            ("3", []),
            ("c94", ["mlflow:c94e000000"]),  # too short for an id: that word again
            ("like c94", ["mlflow:c94e000000"]),
            ("", ["EXP-12", "hydra:out:2026-11-01/3", "mlflow:c94d1f60aa", "mlflow:c94e000000", "sacred:31"]),
        ],
    )
    def test_by_their_beginnings(self, text: str, found: list[str]) -> None:
        listed = related(*self.RUNS, chosen=Filter(text=text)).listed(20)
        assert sorted(each for row in listed.rows for each in row.records) == found
        assert listed.total == len(found)


@st.composite
def small_records(draw: st.DrawFn) -> ExperimentRecord:
    data: dict[str, Any] = {
        "params": draw(st.dictionaries(st.sampled_from(["lr", "depth", "seed"]), st.integers(0, 1), max_size=3)),
        "name": draw(st.sampled_from(["", "warmup", "longer warmup", "decay"])),
        "tags": draw(st.lists(st.sampled_from(["x", "y"]), max_size=2)),
        "research_line": draw(st.sampled_from([None, "vision", "text"])),
        "metrics": draw(st.dictionaries(st.sampled_from(["val_acc", "val_loss"]), st.floats(0, 1), max_size=2)),
        "verdict": draw(st.sampled_from([None, "dead_end", "works", "inconclusive"])),
        "role": draw(st.sampled_from(["experiment", "experiment", "sweep"])),
        "timestamp": draw(st.none() | st.integers(0, 90).map(lambda days: (NOW - timedelta(days=days)).isoformat())),
    }
    return record(draw(st.text("abcd", min_size=1, max_size=3)), **data)


filters = st.builds(
    Filter,
    outcome=st.sampled_from([None, None, "dead_end", "works", "inconclusive", "unknown"]),
    research_line=st.sampled_from([None, None, "vision"]),
    tag=st.sampled_from([None, None, "x"]),
    text=st.sampled_from(["", "", "warm", "longer w"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(small_records(), min_size=1, max_size=10, unique_by=lambda each: each.id), filters, st.integers(1, 12))
def test_the_list_is_the_ranking_with_replicates_folded_in(
    records: Sequence[ExperimentRecord], chosen: Filter, limit: int
) -> None:
    found = related(*records, chosen=chosen)
    query = found.query
    assert query is not None
    ranked = rank(query, found.snapshot.index, now=NOW, among=found.among)
    everything = found.listed(MOST_ROWS)
    # no record is lost, none stands twice
    assert sorted(each for row in everything.rows for each in row.records) == sorted(each.record.id for each in ranked)
    assert everything.total == len(everything.rows)
    # each row is as high as its best run, and tells that run's score
    firsts = [row.scored for row in everything.rows]
    assert firsts == sorted(firsts, key=lambda each: (-each.score, each.record.id))
    for row in everything.rows:
        assert row.scored == next(each for each in ranked if each.record.id in row.records)
        assert row.records[0] == row.scored.record.id
    assert found.listed(limit).rows == everything.rows[:limit]
