"""What an update costs, and that records of any kind survive it."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from tried.architecture import ArchitectureFingerprint
from tried.pool.record import ExperimentRecord
from tried.ranking import RankingIndex, RetrievalQuery, rank
from tried.ranking.bag import bag_of

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def numbered(start: int, count: int) -> list[ExperimentRecord]:
    return [ExperimentRecord(id=f"r{n}", name=f"run {n} of many", tags=["t"]) for n in range(start, start + count)]


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the records whose terms are counted, as it happens."""
    seen: list[str] = []

    def counting(record: ExperimentRecord) -> Counter[str]:
        seen.append(record.id)
        return bag_of(record)

    monkeypatch.setattr("tried.ranking.segment.bag_of", counting)
    return seen


def test_an_append_reads_what_is_new_and_leaves_the_rest_alone(indexed: list[str]) -> None:
    index = RankingIndex.of(numbered(0, 200))
    indexed.clear()
    grown = index.updated((), numbered(200, 1))
    assert indexed == ["r200"]
    assert grown.segments[0] is index.segments[0]
    assert (len(index), len(grown)) == (200, 201)


def test_each_record_is_read_once_and_merged_seldom(indexed: list[str]) -> None:
    index = RankingIndex.of(numbered(0, 100))
    for n in range(100, 1000):
        index = index.updated((), numbered(n, 1))
        assert len(index.segments) <= 6
    assert len(indexed) == len(set(indexed)) == len(index) == 1000
    results = rank(RetrievalQuery("run 987"), index, now=NOW, limit=1)
    assert results == rank(RetrievalQuery("run 987"), RankingIndex.of(index), now=NOW, limit=1)
    assert results[0].record.id == "r987"


def test_an_amended_record_is_replaced_where_it_stands() -> None:
    index = RankingIndex.of(numbered(0, 50))
    amended = index.updated((), [ExperimentRecord(id="r7", name="diverged")])
    assert len(amended) == 50
    assert rank(RetrievalQuery("diverged"), amended, now=NOW, limit=1)[0].record.id == "r7"
    assert index.get("r7") != amended.get("r7")


def test_what_was_removed_leaves_no_trace() -> None:
    index = RankingIndex.of(numbered(0, 40)).updated([f"r{n}" for n in range(39)], ())
    (only,) = index.segments
    assert len(only.ids) == len(index) == 1  # dead rows are dropped once they prevail
    assert "38" not in only.terms.numbers
    assert index.updated(["r39"], ()).segments == ()


def test_an_update_that_changes_nothing_returns_the_same_index() -> None:
    index = RankingIndex.of(numbered(0, 3))
    assert index.updated(["unknown"], ()) is index
    assert index.updated((), ()) is index


def test_an_id_both_removed_and_brought_is_there() -> None:
    index = RankingIndex.of(numbered(0, 3)).updated(["r1"], [ExperimentRecord(id="r1", name="again")])
    found = index.get("r1")
    assert found is not None
    assert found.name == "again"


def test_equal_architectures_are_held_once_whatever_their_ids_and_digests() -> None:
    def with_nodes(id: str, nodes: dict[str, str], digest: str) -> ExperimentRecord:
        return ExperimentRecord.model_validate({"id": id, "architecture": {"nodes": nodes, "digest": digest}})

    index = RankingIndex.of([with_nodes("a", {"x": "filter:A"}, "1"), with_nodes("b", {"y": "filter:A"}, "2")])
    index = index.updated((), [with_nodes("c", {"z": "filter:A"}, "1"), with_nodes("d", {"z": "filter:B"}, "1")])
    (only,) = index.segments
    assert len(only.structures.numbers) == 2


def test_a_merged_record_passes_the_filter_of_each_of_its_sources() -> None:
    merged = ExperimentRecord(id="mlflow:1", source="mlflow", aliases=["wandb:x1", "baseline"])
    index = RankingIndex.of([merged, ExperimentRecord(id="hydra:1", source="hydra")])
    found = {
        kind: [one.record.id for one in rank(RetrievalQuery(source=kind), index, now=NOW)]
        for kind in ("mlflow", "wandb", "hydra", "baseline")
    }
    assert found == {"mlflow": ["mlflow:1"], "wandb": ["mlflow:1"], "hydra": ["hydra:1"], "baseline": []}


def test_a_record_at_the_ends_of_time() -> None:
    pool = [ExperimentRecord(id=id, timestamp=id) for id in ("0001-01-01", "9999-12-31T23:59:59.999999+00:00")]
    results = rank(RetrievalQuery(ttl_days=1), pool, now=NOW)
    assert [(result.record.id, result.components.recency) for result in results] == [(pool[1].id, 1.0)]
    assert rank(RetrievalQuery(), pool, now=NOW)[1].components.recency == 0.0


def test_only_what_is_shown_is_read() -> None:
    asked: list[str] = []
    records = {record.id: record for record in numbered(0, 60)}

    def reader(record_id: str) -> ExperimentRecord:
        asked.append(record_id)
        return records[record_id]

    index = RankingIndex.empty().updated((), records.values(), reader)
    results = rank(RetrievalQuery("run 7 of many"), index, now=NOW, limit=3, also=["r50"])
    assert asked == [result.record.id for result in results]
    assert len(asked) == 4


def test_an_old_index_gives_records_as_they_were() -> None:
    first = RankingIndex.of([ExperimentRecord(id="a", name="before")])
    second = first.updated((), [ExperimentRecord(id="a", name="after")])
    assert [record.name for index in (first, second) for record in index] == ["before", "after"]


def test_segments_grow_to_a_bound_and_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tried.ranking.index.MOST_ROWS", 50)
    index = RankingIndex.empty()
    for start in range(0, 300, 20):
        index = index.updated((), numbered(start, 20))
    assert len(index) == 300
    assert max(len(segment.ids) for segment in index.segments) == 40
    whole = RankingIndex.of(numbered(0, 300))
    assert [len(segment.ids) for segment in whole.segments] == [50] * 6
    query = RetrievalQuery("run 123 of many")
    assert rank(query, index, now=NOW, limit=9) == rank(query, whole, now=NOW, limit=9)


def test_counts_beyond_a_byte() -> None:
    """BM25 and Jaccard by hand: one record says a word 300 times, the other once."""
    nodes = {str(number): "filter:A" for number in range(300)}
    pool = [
        ExperimentRecord.model_validate({"id": "much", "notes": "loss " * 300, "architecture": {"nodes": nodes}}),
        ExperimentRecord.model_validate(
            {"id": "little", "notes": "loss", "architecture": {"nodes": {"x": "filter:A"}}}
        ),
    ]
    query = RetrievalQuery("loss", architecture=ArchitectureFingerprint.of({str(n): "filter:A" for n in range(299)}))
    much, little = rank(query, pool, now=NOW)
    # bags: much 300 "loss" and 600 terms of its nodes, little 1 and 2
    average = (900 + 3) / 2
    gain = [count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / average)) for count, length in ((300, 900), (1, 3))]
    assert (much.record.id, much.components.lexical) == ("much", 1.0)
    assert little.components.lexical == pytest.approx(gain[1] / gain[0], rel=1e-12)
    assert much.components.structural == pytest.approx(0.6 * 299 / 300 + 0.4, rel=1e-12)
    assert little.components.structural == pytest.approx(0.6 / 299 + 0.4, rel=1e-12)
