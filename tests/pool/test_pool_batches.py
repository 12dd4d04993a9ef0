"""Large sources come in batches: the pool grows while they are read, and says how far it is."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pool_records import record

from tried.pool.assembly import CHUNK
from tried.pool.pool import Coverage, Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import SpooledRecords
from tried.pool.sources.source import Delta, Skipped
from tried.pool.spool import Spool


@dataclass
class Batches:
    """A source that gives `count` records, `size` at a time; `revision` is what they say."""

    count: int
    size: int = CHUNK
    revision: int = 0
    again: bool = False
    kind: str = "batches"
    path: Path = Path("/batches")
    scans: int = 0
    meanwhile: Callable[[int], None] = field(default=lambda number: None)

    def record(self, number: int) -> ExperimentRecord:
        return record(f"b:{number}", notes=str(self.revision), parent=f"b:{number + 1}", metrics={"loss": number})

    def scan(self, cursor: object | None) -> Delta:
        self.scans += 1
        self.meanwhile(self.scans)
        start = cursor if isinstance(cursor, int) else 0
        reset, self.again = self.again, False
        start = 0 if reset else start
        end = min(start + self.size, self.count)
        records = tuple(map(self.record, range(start, end)))
        return Delta(records, cursor=end, reset=reset, more=end < self.count, total=self.count if records else None)

    def line_of(self, record_id: str) -> int | None:
        return None


def test_what_is_read_so_far_is_of_use_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tried.pool.pool.PUBLISH_SECONDS", 3600)
    source = Batches(3 * CHUNK)
    pool = Pool([source])
    seen: list[int] = []
    source.meanwhile = lambda scan: seen.append(len(pool.snapshot))
    heard: list[PoolSnapshot] = []
    pool.refresh(published=heard.append)
    assert seen == [0, CHUNK, 2 * CHUNK]
    assert len(pool.snapshot) == 3 * CHUNK
    assert [len(snapshot) for snapshot in heard] == [CHUNK], "now and then is enough"
    assert [report.total for report in heard[0].sources] == [3 * CHUNK]
    assert [report.total for report in pool.snapshot.sources] == [None]
    assert len(heard[0]) == CHUNK, "what was given out stays as it was"


def test_progress_tells_how_many_runs_were_read() -> None:
    heard: list[tuple[int, int, str]] = []
    Pool([Batches(2 * CHUNK + 1)]).refresh(lambda *said: heard.append(said))
    assert [words for _, _, words in heard] == [
        "reading batches",
        "reading batches: 2,000 of 4,001 runs",
        "reading batches: 4,000 of 4,001 runs",
        "indexing what is new",
        "ready",
    ]
    assert {total for _, total, _ in heard} == {2}


def test_parents_that_come_in_a_later_batch_are_found() -> None:
    """Each record's parent is the next one, the first of the next batch among them."""
    snapshot = Pool([Batches(2 * CHUNK)]).refresh()
    derived = [run_id for run_id, run in snapshot.records.items() if run.derivation is not None]
    assert len(derived) == 2 * CHUNK - 1
    at_the_seam = snapshot.records[f"b:{CHUNK - 1}"]
    assert at_the_seam.derivation is not None
    assert at_the_seam.derivation.metric_delta["loss"].delta == -1.0


def test_a_source_that_is_read_anew_is_never_half_there() -> None:
    source = Batches(2 * CHUNK)
    pool = Pool([source])
    first = pool.refresh()
    source.again, source.revision = True, 1
    seen: list[tuple[int, str | None]] = []
    source.meanwhile = lambda scan: seen.append((len(pool.snapshot), pool.snapshot.records["b:0"].notes))
    second = pool.refresh()
    assert seen == [(2 * CHUNK, "0")] * 2
    assert {run.notes for run in second.records.values()} == {"1"}
    assert first.records["b:0"].notes == "0"


def test_a_source_that_says_the_same_anew_makes_no_new_snapshot() -> None:
    source = Batches(2 * CHUNK)
    pool = Pool([source])
    first = pool.refresh()
    source.again = True
    assert pool.refresh() is first
    assert source.scans == 4


def test_a_source_that_never_comes_to_an_end_does_not_hold_up_the_others() -> None:
    class Endless(Batches):
        def scan(self, cursor: object | None) -> Delta:
            self.scans += 1
            return Delta(more=True)

    endless = Endless(0)
    other = Batches(1, path=Path("/other"))
    assert len(Pool([endless, other]).refresh()) == 1
    assert endless.scans < 200


def test_a_read_that_is_broken_off_goes_on_where_it_was() -> None:
    source = Batches(3 * CHUNK)
    pool = Pool([source])

    def stop(done: int, total: int, words: str) -> None:
        if "4,000" in words:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.refresh(stop)
    assert len(pool.refresh()) == 3 * CHUNK
    assert source.scans == 3


def test_records_are_looked_at_without_being_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = Pool([Batches(3)]).refresh()

    def decoded(*_: object) -> None:
        raise AssertionError("a record was decoded")

    monkeypatch.setattr("tried.pool.spool.Spool.record", decoded)
    assert isinstance(snapshot.records, SpooledRecords)
    assert (len(snapshot), list(snapshot.records), "b:1" in snapshot.records) == (3, ["b:0", "b:1", "b:2"], True)
    assert [facts.descends for _, facts in snapshot.facts()] == [True, True, True]
    assert snapshot.totals.coverage == Coverage(lineage=1.0)
    assert snapshot.records.get("none") is None


def test_one_change_decodes_no_more_than_what_hangs_on_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record as it was, its parent, and the child that is judged by it, in a pool of thousands."""
    source = Batches(2 * CHUNK)
    pool = Pool([source])
    pool.refresh()
    decoded: list[str] = []
    real = Spool.record

    def counting(self: Spool, place: int) -> ExperimentRecord:
        found = real(self, place)
        decoded.append(found.id)
        return found

    monkeypatch.setattr(Spool, "record", counting)
    changed = record("b:77", notes="changed", parent="b:78", metrics={"loss": 0})
    monkeypatch.setattr(source, "scan", lambda cursor: Delta((changed,), cursor=cursor))
    snapshot = pool.refresh()
    assert set(decoded) <= {"b:76", "b:77", "b:78"}
    assert len(decoded) < 20
    monkeypatch.undo()
    assert snapshot.records["b:77"].notes == "changed"


def test_a_report_tells_of_roles_and_of_the_newest_record() -> None:
    @dataclass
    class Once:
        delta: Delta
        kind: str = "once"
        path: Path = Path("/once")

        def scan(self, cursor: object | None) -> Delta:
            delta, self.delta = self.delta, Delta()
            return delta

        def line_of(self, record_id: str) -> int | None:
            return None

    runs = (
        record("a", timestamp="2026-01-01T00:00:00Z", last_written="2026-03-01T00:00:00Z"),
        record("b", timestamp="2026-02-01", role="sweep"),
        record("c", role="launcher"),
        record("d", role="sweep"),
    )
    source = Once(Delta(runs, skipped=(Skipped("x", "y"),)))
    pool = Pool([source])
    (report,) = pool.refresh().sources
    assert report.roles == {"launcher": 1, "sweep": 2}
    assert report.newest == datetime(2026, 3, 1, tzinfo=UTC)
    assert report.seconds > 0
    source.delta = Delta(removed=("a",))
    (report,) = pool.refresh().sources
    assert (report.records, report.newest) == (3, datetime(2026, 2, 1, tzinfo=UTC))
    source.delta = Delta(removed=("b",))
    assert pool.refresh().sources[0].newest is None
