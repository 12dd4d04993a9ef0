"""The pool: sources in, immutable snapshots out, by deltas."""

import gc
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pool_records import record

from tried.pool.journal import append, conclude
from tried.pool.pool import Coverage, Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.sources.filtered import FilteredSource, Rules
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.paced import Budget, Pace, PacedSource
from tried.pool.sources.source import Delta, Skipped
from tried.pool.sources.tables.results_table import ResultsTableSource

NOW = datetime(2026, 5, 1, tzinfo=UTC)


@dataclass
class Scripted:
    """A source that says one prepared delta a scan, then nothing more."""

    name: str
    deltas: list[Delta] = field(default_factory=list)
    kind: str = "scripted"

    @property
    def path(self) -> Path:
        return Path("/") / self.name

    def says(self, *records: ExperimentRecord, removed: Sequence[str] = (), reset: bool = False) -> "Scripted":
        self.deltas.append(Delta(records, tuple(removed), (), None, reset))
        return self

    def scan(self, cursor: object | None) -> Delta:
        return self.deltas.pop(0) if self.deltas else Delta(cursor=cursor)

    def line_of(self, record_id: str) -> int | None:
        return None


def amendment(amends: str, record_id: str = "am", **fields: object) -> ExperimentRecord:
    return record(record_id, kind="amendment", amends=amends, **fields)


def notes(snapshot: PoolSnapshot) -> dict[str, str | None]:
    return {record_id: run.notes for record_id, run in snapshot.records.items()}


def test_an_empty_pool_is_an_empty_snapshot() -> None:
    snapshot = Pool().refresh()
    assert (snapshot.generation, len(snapshot), snapshot.sources) == (0, 0, ())
    assert snapshot.totals.coverage == Coverage(0, 0, 0, 0)


def test_the_same_snapshot_as_long_as_nothing_changes() -> None:
    source = Scripted("a").says(record("r1"))
    pool = Pool([source])
    first = pool.refresh()
    assert first.generation == 1
    assert pool.refresh() is first
    assert pool.snapshot is first
    source.says(record("r1"), reset=True)
    assert pool.refresh() is first, "it said the same again"
    source.says(record("r2"))
    second = pool.refresh()
    assert (second.generation, list(second.records)) == (2, ["r1", "r2"])
    assert list(first.records) == ["r1"], "what somebody holds stays as it was"


def test_a_snapshot_cannot_be_changed() -> None:
    snapshot = Pool([Scripted("a").says(record("r1"))]).refresh()
    with pytest.raises(TypeError):
        snapshot.records["x"] = record("x")  # type: ignore[index]


def test_a_metric_that_is_nan_is_no_change_by_itself() -> None:
    source = Scripted("a").says(record("r1", metrics={"loss": float("nan")}))
    pool = Pool([source])
    first = pool.refresh()
    source.says(record("r1", metrics={"loss": float("nan")}), reset=True)
    assert pool.refresh() is first


def test_history_and_index_are_given_the_delta_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Scripted("a").says(*(record(f"r{number}", params={"lr": number}) for number in range(5)))
    pool = Pool([source])
    first = pool.refresh()
    given_deltas: list[tuple[list[str], list[str]]] = []
    for kind in (type(first.history), type(first.index)):

        def noting(self: object, removed: Sequence[str], upserts: Sequence[ExperimentRecord], *_: object) -> object:
            given_deltas.append((list(removed), [run.id for run in upserts]))
            return self

        monkeypatch.setattr(kind, "updated", noting)
    source.says(record("r2", params={"lr": 9}), record("r9"), removed=["r4"])
    pool.refresh()
    assert given_deltas == [(["r4"], ["r2", "r9"])] * 2


def test_history_and_index_know_what_the_pool_knows() -> None:
    source = Scripted("a").says(record("r1", name="wide net", params={"lr": 0.5}), record("r2"))
    pool = Pool([source])
    pool.refresh()
    snapshot = pool.refresh()
    assert {run.id for run in snapshot.index} == {"r1", "r2"}
    assert snapshot.history.run("r1") is not None
    source.says(removed=["r1"])
    after = pool.refresh()
    assert {run.id for run in after.index} == {"r2"}
    assert after.history.run("r1") is None
    assert snapshot.history.run("r1") is not None


def test_amendments_reach_a_record_of_any_source_wherever_they_stand() -> None:
    ours = Scripted("ours").says(amendment("r1", notes="explained", tags=["x"]))
    theirs = Scripted("theirs").says(record("r1", tags=["y"], timestamp="2026-01-01"))
    snapshot = Pool([ours, theirs]).refresh()
    run = snapshot.records["r1"]
    assert (run.notes, run.tags, run.timestamp) == ("explained", ["y", "x"], "2026-01-01")
    assert [report.records for report in snapshot.sources] == [0, 1]


def test_an_amendment_that_waits_is_named_once() -> None:
    waits = amendment("r1").model_copy(update={"id": "amendment:0f3a"})
    (skipped,) = Pool([Scripted("ours").says(waits)]).refresh().sources[0].skipped
    assert skipped.where == "amendment 0f3a"


def test_an_amendment_waits_for_its_record_and_is_counted() -> None:
    ours, theirs = Scripted("ours").says(amendment("r1", notes="explained")), Scripted("theirs")
    pool = Pool([ours, theirs])
    waiting = pool.refresh()
    assert waiting.sources[0].skipped == (Skipped("amendment am", "waits for 'r1', which no source of the pool has"),)
    assert (waiting.sources[0].amendments, waiting.sources[0].waiting_amendments) == (1, 1)
    theirs.says(record("r1"))
    after = pool.refresh()
    assert notes(after) == {"r1": "explained"}
    assert (after.sources[0].skipped, after.sources[0].waiting_amendments) == ((), 0)
    assert [report.amendments for report in after.sources] == [1, 0]


def test_an_amendment_may_name_an_alias_or_another_amendment() -> None:
    source = Scripted("a").says(
        record("r1", aliases=["mlflow:7"]),
        amendment("mlflow:7", "am1", notes="by alias"),
        amendment("am1", "am2", hypothesis="by amendment"),
        amendment("am4", "am3"),
        amendment("am3", "am4"),
    )
    snapshot = Pool([source]).refresh()
    assert snapshot.records["r1"].notes == "by alias"
    assert snapshot.records["r1"].hypothesis == "by amendment"
    assert snapshot.sources[0].waiting_amendments == 2, "a circle leads nowhere"
    assert snapshot.get("mlflow:7") is snapshot.records["r1"]
    assert snapshot.aliases == {"mlflow:7": "r1"}
    assert snapshot.get("none") is None


def test_a_record_is_found_by_its_id_or_by_the_last_part_of_it() -> None:
    table = (record("results-table:results.tsv:a1"), record("results-table:old/results.tsv:a1"), record("run/7"))
    named = record("r1", aliases=["mlflow:12/f0"])
    snapshot = Pool([Scripted("a").says(*table, named, record("a1x"))]).refresh()
    assert snapshot.find("run/7") == snapshot.find("7") == ("run/7",)
    assert snapshot.find("mlflow:12/f0") == snapshot.find("f0") == snapshot.find("12/f0") == ("r1",)
    assert snapshot.find("a1") == ("results-table:results.tsv:a1", "results-table:old/results.tsv:a1")
    assert snapshot.find("old/results.tsv:a1") == ("results-table:old/results.tsv:a1",)
    assert snapshot.find("A1") == snapshot.find("1") == snapshot.find("none") == snapshot.find("") == ()


def test_a_whole_id_is_found_before_the_ends_of_others() -> None:
    snapshot = Pool([Scripted("a").says(record("x:7"), record("7"))]).refresh()
    assert snapshot.find("7") == ("7",)


def test_of_many_that_end_alike_ten_are_found() -> None:
    snapshot = Pool([Scripted("a").says(*(record(f"s{number}:7") for number in range(12)))]).refresh()
    assert snapshot.find("7") == tuple(f"s{number}:7" for number in range(10))


def test_amendments_that_share_the_records_own_id_amend_it() -> None:
    source = Scripted("a").says(
        record("r1"), record("r1", kind="amendment", notes="x"), record("r1", kind="amendment", url="u")
    )
    run = Pool([source]).refresh().records["r1"]
    assert (run.notes, run.url) == ("x", "u")


def test_later_amendments_win_by_line_in_a_journal_and_by_time_between_them() -> None:
    early, late = "2026-01-01", "2026-02-02"
    one = Scripted("one").says(record("r1"), amendment("r1", timestamp=late, notes="late"))
    two = Scripted("two").says(amendment("r1", timestamp=early, notes="early", hypothesis="early"))
    run = Pool([one, two]).refresh().records["r1"]
    assert (run.notes, run.hypothesis) == ("late", "early")
    lines = Scripted("lines").says(
        record("r1"), amendment("r1", timestamp=late, notes="first line"), amendment("r1", notes="second line")
    )
    assert Pool([lines]).refresh().records["r1"].notes == "second line"


def test_of_two_sources_with_the_same_id_the_first_has_the_record_and_both_count() -> None:
    one, two = (
        Scripted("one").says(record("r1", notes="one", name="first")),
        Scripted("two").says(record("r1", notes="two", name="second"), record("r2")),
    )
    pool = Pool([one, two])
    snapshot = pool.refresh()
    assert notes(snapshot) == {"r1": "one\n\ntwo", "r2": None}
    assert snapshot.records["r1"].name == "first"
    assert [report.records for report in snapshot.sources] == [1, 2]
    assert snapshot.totals.records == 2
    one.says(removed=["r1"])
    assert notes(pool.refresh()) == {"r1": "two", "r2": None}


def test_the_order_is_that_of_the_sources() -> None:
    one, two = Scripted("one").says(record("b")), Scripted("two").says(record("a"))
    pool = Pool([one, two])
    assert list(pool.refresh().records) == ["b", "a"]
    one.says(record("c"))
    assert list(pool.refresh().records) == ["b", "c", "a"]


def test_sources_may_come_go_and_change_places() -> None:
    one, two = (
        Scripted("one").says(record("r1", notes="one")),
        Scripted("two").says(record("r1", notes="two"), record("r2")),
    )
    pool = Pool([one])
    first = pool.refresh()
    pool.use([one])
    assert pool.refresh() is first
    pool.use([two, one])
    both = pool.refresh()
    assert notes(both) == {"r1": "two\n\none", "r2": None}
    pool.use([one, two])
    swapped = pool.refresh()
    assert notes(swapped) == {"r1": "one\n\ntwo", "r2": None}
    assert [report.path for report in swapped.sources] == ["/one", "/two"]
    pool.use([])
    assert len(pool.refresh()) == 0
    assert pool.sources == ()


def test_a_source_that_is_named_twice_is_read_once() -> None:
    source = Scripted("a").says(record("r1"))
    assert len(Pool([source, source]).sources) == 1


def test_a_report_tells_what_a_source_gave() -> None:
    source = Scripted("a")
    source.deltas.append(
        Delta(
            (
                record(
                    "r1", conclusion={"outcome": "crashed", "derived": True}, timestamp="2026-01-01", research_line="x"
                ),
                record("r2", conclusion={"headline": "x"}, parent="r1", timestamp="?", research_line="x"),
                record("r3", architecture={"nodes": {"a": "filter:A"}}, derivation={"from": "r1"}, research_line="x"),
                record("r4", architecture={"nodes": {}}, timestamp="2026-01-01T00:00:00Z", research_line="x"),
            ),
            skipped=(Skipped("line 3", "broken"),),
        )
    )
    snapshot = Pool([source]).refresh()
    (report,) = snapshot.sources
    assert (report.path, report.kind, report.records, report.dead_ends) == ("/a", "scripted", 4, 1)
    assert report.skipped == (Skipped("line 3", "broken"),)
    assert report.coverage == Coverage(conclusion=0.25, lineage=0.5, architecture=0.25, timestamp=0.5)
    assert snapshot.totals.coverage == report.coverage
    assert report.research_line == "x"
    assert snapshot.research_lines == {"x": 4}


def test_a_long_list_of_what_was_skipped_is_cut_and_counted() -> None:
    source = Scripted("a")
    source.deltas.append(Delta(skipped=tuple(Skipped(f"line {number}", "broken") for number in range(1000))))
    source.deltas.append(Delta(remarks=tuple(Skipped(f"line {number}", "no time") for number in range(150))))
    pool = Pool([source])
    pool.refresh()
    (report,) = pool.refresh().sources
    assert len(report.skipped) == 200
    assert report.skipped[-1] == Skipped("further on", "801 more like these")
    assert len(report.remarks) == 100
    assert report.remarks[-1] == Skipped("further on", "51 more like these")


def test_what_is_said_is_void_when_a_source_begins_anew() -> None:
    source = Scripted("a")
    source.deltas.append(Delta(skipped=(Skipped("line 1", "broken"),), remarks=(Skipped("line 2", "no time"),)))
    pool = Pool([source])
    (before,) = pool.refresh().sources
    assert (before.skipped, before.remarks) == ((Skipped("line 1", "broken"),), (Skipped("line 2", "no time"),))
    source.says(reset=True)
    (after,) = pool.refresh().sources
    assert (after.skipped, after.remarks) == ((), ())


def test_declared_directions_decide() -> None:
    run = record("r1", derivation={"metric_delta": {"gap": {"before": 1, "after": 2}}})
    assert Pool([Scripted("a").says(run)]).refresh().totals.dead_ends == 0
    assert Pool([Scripted("a").says(run)], {"gap": "min"}).refresh().totals.dead_ends == 1


def test_a_source_that_fails_takes_nothing_with_it() -> None:
    class Failing(Scripted):
        def scan(self, cursor: object | None) -> Delta:
            raise RuntimeError("no luck")

    pool = Pool([Failing("bad"), Scripted("good").says(record("r1"))])
    snapshot = pool.refresh()
    assert list(snapshot.records) == ["r1"]
    assert snapshot.sources[0].skipped == (Skipped("the source", "could not be read: RuntimeError: no luck"),)
    assert pool.refresh() is snapshot, "said once"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "its scan gave a NoneType for a Delta"),
        ({}, "its scan gave a dict for a Delta"),
        (Delta(upserts=cast(Any, ({"id": "x"},))), "its Delta has a dict among upserts"),
        (Delta(upserts=cast(Any, None)), "its Delta has a NoneType for upserts"),
        (Delta(removed=cast(Any, (1,))), "its Delta has a int among removed"),
        (Delta(skipped=cast(Any, ("oops",))), "its Delta has a str among skipped"),
        (Delta(total=cast(Any, "a")), "its Delta has a str for total"),
    ],
)
def test_a_source_that_says_nonsense_takes_nothing_with_it(tmp_path: Path, said: Any, why: str) -> None:
    class Odd:
        kind = "odd"
        path = tmp_path

        def scan(self, cursor: object | None) -> Delta:
            return cast(Delta, said)

        def line_of(self, record_id: str) -> int | None:
            raise RuntimeError("no")

    for odd in (Odd(), PacedSource(Odd(), Pace(Budget(), "x")), FilteredSource(Odd(), Rules(tags=("a",)))):
        pool = Pool([odd, Scripted("good").says(record("a"))])
        snapshot = pool.refresh()
        assert list(snapshot.records) == ["a"]
        assert snapshot.sources[0].skipped == (Skipped("the source", f"could not be read: TypeError: {why}"),)
        assert len(pool.refresh().sources[0].skipped) == 1, "it is said once"


def test_a_source_that_fails_to_name_a_line_has_none() -> None:
    class Odd(Scripted):
        def line_of(self, record_id: str) -> int | None:
            raise RuntimeError("no")

    pool = Pool([Odd("odd").says(record("a"))])
    pool.refresh()
    assert pool.place_of("a") is None


def test_the_garbage_collector_is_left_as_it_was() -> None:
    def fail(*_: object) -> None:
        assert not gc.isenabled()
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        Pool([Scripted("a")]).refresh(fail)
    assert gc.isenabled()


def test_what_a_source_said_survives_a_progress_that_gives_up() -> None:
    def give_up(done: int, total: int, message: str) -> None:
        if done == 1:
            raise KeyboardInterrupt

    ours, theirs = Scripted("ours").says(record("r1")), Scripted("theirs")
    pool = Pool([ours, theirs])
    with pytest.raises(KeyboardInterrupt):
        pool.refresh(give_up)
    assert notes(pool.refresh()) == {"r1": None}
    ours.says(amendment("r1", notes="explained"))
    with pytest.raises(KeyboardInterrupt):
        pool.refresh(give_up)
    assert notes(pool.refresh()) == {"r1": "explained"}


def test_a_report_names_the_amendments_that_wait_now() -> None:
    ours, theirs = Scripted("ours").says(amendment("r1", "am1"), amendment("r2", "am2")), Scripted("theirs")
    pool = Pool([ours, theirs.says(record("r1"))])
    assert [skipped.where for skipped in pool.refresh().sources[0].skipped] == ["amendment am2"]
    theirs.says(record("r2"), reset=True)
    assert [skipped.where for skipped in pool.refresh().sources[0].skipped] == ["amendment am1"]


def test_progress_goes_from_nothing_to_the_end() -> None:
    heard: list[tuple[int, int, str]] = []
    Pool([Scripted("a").says(record("r1")), Scripted("b")]).refresh(lambda *said: heard.append(said))
    assert heard == [(0, 3, "reading a"), (1, 3, "reading b"), (2, 3, "indexing what is new"), (3, 3, "ready")]


def test_real_files_from_end_to_end(tmp_path: Path) -> None:
    table = tmp_path / "results.tsv"
    table.write_text("commit\tval_loss\tstatus\tdescription\na1a1a1a\t1\tkeep\tx\nb2b2b2b\t2\tcrash\tLR 1->2\n")
    ours = tmp_path / ".tried" / "pool.jsonl"
    pool = Pool([JournalSource(ours), ResultsTableSource(table, tmp_path)])
    first = pool.refresh()
    assert [skipped.why for skipped in first.sources[0].skipped] == ["there is no such file"]
    conclude(tmp_path, "results-table:results.tsv:b2b2b2b", "the node was broken", "inconclusive", NOW)
    second = pool.refresh()
    run = second.records["results-table:results.tsv:b2b2b2b"]
    assert (run.headline, run.outcome, run.verdict) == ("the node was broken", "crashed", "inconclusive")
    assert second.sources[0].skipped == ()
    assert pool.place_of(run.id) == (table, 3)
    assert pool.place_of("none") is None
    append(ours, record("own", notes="x"))
    assert list(pool.refresh().records) == ["own", "results-table:results.tsv:a1a1a1a", run.id]
    assert pool.place_of("own") == (ours, 2)


def test_many_threads_may_refresh_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps({"id": f"r{number}"}) + "\n" for number in range(300)))
    pool = Pool([JournalSource(path)])
    snapshots: list[PoolSnapshot] = []
    threads = [threading.Thread(target=lambda: snapshots.append(pool.refresh())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(snapshot) for snapshot in snapshots}) == 1
    assert (len(snapshots[0]), snapshots[0].generation) == (300, 1)


IDS = st.sampled_from(["r1", "r2", "r3"])
EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["upsert", "remove", "amend", "reset"]), st.integers(0, 1), IDS, st.sampled_from(["x", "y", ""])
    ),
    max_size=12,
)


@settings(max_examples=60)
@example([("upsert", 1, "r3", ""), ("amend", 0, "r2", ""), ("amend", 0, "r3", ""), ("reset", 1, "r2", "")])
@given(EVENTS)
def test_however_it_came_about_the_pool_is_what_the_sources_say_now(events: list[tuple[str, int, str, str]]) -> None:
    """A pool advanced delta by delta equals one that is told everything at once."""
    sources = [Scripted("one"), Scripted("two")]
    said: list[dict[str, ExperimentRecord]] = [{}, {}]
    amended: list[list[ExperimentRecord]] = [[], []]
    pool = Pool(sources)
    pool.refresh()
    for number, (event, place, record_id, text) in enumerate(events):
        run = record(record_id, notes=f"{text}{number}", aliases=["r3"] if text == "y" else [])
        if event == "upsert":
            said[place][record_id] = run
            sources[place].says(run)
        elif event == "remove":
            said[place].pop(record_id, None)
            sources[place].says(removed=[record_id])
        elif event == "amend":
            amended[place].append(amendment(record_id, f"am{number}", hypothesis=f"{text}{number}"))
            sources[place].says(amended[place][-1])
        else:
            said[place], amended[place] = {record_id: run}, []
            sources[place].says(run, reset=True)
        pool.refresh()
    fresh = Pool(
        [Scripted(name).says(*said[n].values(), *amended[n]) for n, name in enumerate(("one", "two"))]
    ).refresh()
    now = pool.snapshot
    assert [run.to_json() for run in now.records.values()] == [run.to_json() for run in fresh.records.values()]
    assert now.aliases == fresh.aliases
    assert now.sources == fresh.sources
    assert {run.id: run.to_json() for run in now.index} == {
        run_id: run.to_json() for run_id, run in now.records.items()
    }
    assert set(now.history.line_of) == set(now.records)
