"""Records on the disk: the same when read back, whatever becomes of the disk."""

import contextlib
import datetime
import gc
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pool_records import record

import tried.pool.spool as spool_module
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource
from tried.pool.spool import CACHED_RECORDS, Spool
from tried.storage.cache import anonymous_file, cache_folder

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path)


def read_anew(spool: Spool, place: int) -> ExperimentRecord:
    spool._decoded.clear()
    return spool.record(place)


def test_a_record_is_read_back_with_all_that_it_came_with(spool: Spool) -> None:
    run = record(
        "r1",
        params={"lr": 1e-3, "deep": {"a": [1, None, "é"]}, "big": 10**40},
        metrics={"loss": 0.1},
        derivation={"from": "r0", "metric_delta": {"loss": -0.5}},
        unknown={"kept": True},
    )
    place, said = spool.put(run)
    assert said is run
    assert read_anew(spool, place).to_json() == run.to_json()
    assert read_anew(spool, place).model_fields_set == run.model_fields_set


def test_numbers_that_are_none_are_kept_as_a_journal_keeps_them(spool: Spool) -> None:
    run = record("r1", metrics={"loss": float("nan"), "gap": float("-inf")}, params={"cap": float("inf")})
    place, said = spool.put(run)
    back = read_anew(spool, place)
    assert back.metrics == said.metrics == {"loss": "nan", "gap": "-inf"}
    assert back.params == {"cap": "inf"}
    assert back.numbers["gap"] == float("-inf")


def test_a_date_or_a_lone_surrogate_in_a_value_costs_no_record(spool: Spool) -> None:
    run = record("r1", params={"day": datetime.date(2026, 1, 2), "path": "a\udc80", "raw": b"\xff"})
    place, said = spool.put(run)
    assert read_anew(spool, place).to_json() == said.to_json()
    assert said.params["day"] == "2026-01-02"


@settings(max_examples=80, deadline=None)
@given(st.dictionaries(st.text(max_size=6), JSON, max_size=4), st.text(max_size=2000))
def test_whatever_the_values_what_is_said_is_what_is_read(params: dict[str, Any], notes: str) -> None:
    spool = Spool(Path(os.devnull) / "no folder")
    run = record("r1", params=params, notes=notes)
    place, said = spool.put(run)
    assert read_anew(spool, place).to_json() == said.to_json() == run.to_json()


def test_the_very_same_is_not_written_twice(spool: Spool) -> None:
    place, _ = spool.put(record("r1", notes="x" * 3000))
    size = spool.size
    assert spool.put(record("r1", notes="x" * 3000), place)[0] == place
    assert spool.size == size < 1000, "long records are compressed"
    assert spool.put(record("r1", notes="y"), place)[0] != place


def test_few_decoded_records_are_kept(spool: Spool) -> None:
    places = [spool.put(record(f"r{number}"))[0] for number in range(CACHED_RECORDS + 50)]
    assert [spool.record(place).id for place in places] == [f"r{number}" for number in range(CACHED_RECORDS + 50)]
    assert len(spool._decoded) == CACHED_RECORDS
    assert spool.record(places[-1]) is spool.record(places[-1])


def test_large_decoded_records_are_kept_one_at_a_time(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool_module, "CACHED_BYTES", 100)
    places = [spool.put(record(f"r{number}", notes="x" * 200))[0] for number in range(3)]
    assert [spool.record(place).id for place in places] == ["r0", "r1", "r2"]
    assert len(spool._decoded) == 1


def test_a_folder_that_cannot_be_written_costs_memory_and_no_record(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    journal = tmp_path / "pool.jsonl"
    journal.write_text('{"id": "r1"}\n{"id": "r2"}\n')
    pool = Pool([JournalSource(journal)], spool_folder=tmp_path / "file" / "cache")
    snapshot = pool.refresh()
    assert [run.id for run in snapshot.records.values()] == ["r1", "r2"]
    (note,) = snapshot.notes
    assert note.where == "the cache folder"
    assert "kept in memory" in note.why
    assert pool.refresh() is snapshot


def test_a_disk_that_fills_up_costs_no_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path)
    first, _ = spool.put(record("r1"))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    second, _ = spool.put(record("r2"))
    monkeypatch.undo()
    third, _ = spool.put(record("r3"))
    assert [read_anew(spool, place).id for place in (first, second, third)] == ["r1", "r2", "r3"]
    assert spool.problem == "no space left on device"


def test_a_write_that_is_cut_short_leaves_no_half_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path)
    real = os.pwrite
    monkeypatch.setattr(os, "pwrite", lambda file, data, offset: real(file, data[:5], offset))
    place, _ = spool.put(record("r1", notes="whole"))
    assert read_anew(spool, place).notes == "whole"
    assert spool.problem is not None


def test_what_is_no_longer_used_is_left_out_when_a_spool_is_made_smaller(spool: Spool) -> None:
    old, _ = spool.put(record("r1", notes="old"))
    new, _ = spool.put(record("r1", notes="new"))
    other, moved = spool.compacted([new, new])
    assert list(moved) == [new]
    assert other.record(moved[new]).notes == "new"
    assert other.size < spool.size
    assert read_anew(spool, old).notes == "old"


def test_many_threads_read_while_one_writes(spool: Spool) -> None:
    places = [spool.put(record(f"r{number}", notes="x" * number))[0] for number in range(100)]
    wrong: list[str] = []

    def read() -> None:
        for _ in range(5):
            spool._decoded.clear()
            wrong.extend(f"r{n}" for n, place in enumerate(places) if spool.record(place).notes != "x" * n)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(300):
        spool.put(record(f"w{number}"))
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="no /proc here")
def test_the_file_has_no_name_and_goes_with_the_spool(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(record("r1"))
    assert list(tmp_path.iterdir()) == []
    assert len(open_files(tmp_path)) == 1
    del spool
    gc.collect()
    assert open_files(tmp_path) == []


def open_files(folder: Path) -> list[str]:
    found: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found.append(str(descriptor.readlink()))
    return [name for name in found if str(folder) in name]


def test_a_snapshot_keeps_its_records_when_the_pool_makes_its_spool_smaller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tried.pool.pool.COMPACT_FROM", 0)
    journal = tmp_path / "pool.jsonl"
    journal.write_text("".join(f'{{"id": "r{number}", "notes": "0"}}\n' for number in range(20)))
    pool = Pool([JournalSource(journal)], spool_folder=tmp_path / "cache")
    pool._compact_at = 0
    first = pool.refresh()
    spools = {id(pool._assembly.spool)}
    for revision in range(1, 12):
        with journal.open("a") as file:
            file.write("".join(f'{{"id": "r{number}", "notes": "{revision}"}}\n' for number in range(20)))
            file.write(f'{{"id": "am{revision}", "kind": "amendment", "amends": "r3", "url": "u{revision}"}}\n')
        snapshot = pool.refresh()
        spools.add(id(pool._assembly.spool))
        assert {run.notes for run in snapshot.records.values()} == {str(revision)}
        assert snapshot.records["r3"].url == f"u{revision}"
    assert len(spools) > 1
    assert pool._assembly.spool.size < 12 * 20 * 25
    assert {run.notes for run in first.records.values()} == {"0"}


def test_the_cache_folder_is_that_of_the_platform() -> None:
    assert cache_folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "linux") == Path("/x/tried")
    assert cache_folder({"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "linux") == Path("/h/.cache/tried")
    assert cache_folder({"HOME": "/h"}, "darwin") == Path("/h/Library/Caches/tried")
    assert cache_folder({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/tried/Cache")
    assert cache_folder({}, "linux").name == "tried-cache"


def test_an_anonymous_file_is_for_its_process_alone(tmp_path: Path) -> None:
    with anonymous_file(tmp_path / "new" / "folder") as file:
        file.write(b"x")
        assert list((tmp_path / "new" / "folder").iterdir()) == []
    assert (tmp_path / "new" / "folder").stat().st_mode & 0o077 == 0
