"""Writing a journal down, and folding amendments into records."""

import json
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from pool_records import record

from tried.pool.journal import OUR_JOURNAL, append, conclude, conclusion_of, fold
from tried.pool.outcome import has_conclusion, is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource
from tried.storage.files import StorageError

NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)

WRITER = """
import sys
from pathlib import Path
from tried.pool.journal import append
from tried.pool.record import ExperimentRecord
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    append(path, ExperimentRecord(id=f"{name}-{number}", notes=name * 3000))
"""


def amendment(amends: str = "run-1", **fields: Any) -> ExperimentRecord:
    return record(f"amendment-of-{amends}", kind="amendment", amends=amends, **fields)


def test_processes_that_append_at_once_lose_and_mix_nothing(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    names = "abcd"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, "25"]) for name in names]
    assert [writer.wait(timeout=60) for writer in writers] == [0] * len(names)
    found = [json.loads(line) for line in path.read_text().splitlines()]
    assert sorted(item["id"] for item in found) == sorted(f"{name}-{number}" for name in names for number in range(25))
    assert all(item["notes"] == item["id"][0] * 3000 for item in found)
    for name in names:
        mine = [item["id"] for item in found if item["id"].startswith(name)]
        assert mine == [f"{name}-{number}" for number in range(25)], "each in its own order"


def test_an_append_after_a_torn_line_keeps_both_apart(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    path.write_bytes(b'{"id":"a"}\n{"id":"torn","na')
    append(path, record("b"))
    delta = JournalSource(path).scan(None)
    assert [item.id for item in delta.upserts] == ["a", "b"]
    assert [item.where for item in delta.skipped] == ["line 2"]


def test_a_record_is_written_with_only_what_was_set(tmp_path: Path) -> None:
    append(tmp_path / "pool.jsonl", record("a", notes="é\u2028x", metrics={"loss": float("nan")}))
    line = (tmp_path / "pool.jsonl").read_bytes()
    assert json.loads(line) == {
        "id": "a",
        "notes": "é\u2028x",
        "metrics": {"loss": "nan"},
        "schema_version": 2,
        "kind": "experiment",
    }


def test_non_empty_fields_of_an_amendment_replace() -> None:
    before = record(name="old", notes="old", hypothesis="old", url="https://old.example")
    after = fold(before, [amendment(name="new", notes=" ", hypothesis=None, url="", verdict="dead_end")])
    assert (after.name, after.notes, after.hypothesis, after.url) == ("new", "old", "old", "https://old.example")
    assert after.verdict == "dead_end"
    assert before.verdict is None, "the record itself is as it was"


def test_what_says_which_run_it_was_stays() -> None:
    before = record(timestamp="2026-01-01", parent="run-0", source="mlflow")
    after = fold(before, [amendment(timestamp="2026-02-02", parent="run-9", source="tried", schema_version=3)])
    assert (after.id, after.kind, after.timestamp, after.parent, after.source) == (
        "run-1",
        "experiment",
        "2026-01-01",
        "run-0",
        "mlflow",
    )
    assert after.amends is None
    assert fold(record(), [amendment(timestamp="2026-02-02", parent="run-9")]).timestamp is None, "nothing is made up"


def test_tags_and_aliases_unite_in_their_order() -> None:
    after = fold(record(tags=["b", "a"], aliases=["x"]), [amendment(tags=["c", "a"], aliases=["y"])])
    assert after.tags == ["b", "a", "c"]
    assert after.aliases == ["x", "y"]


def test_a_reason_given_later_keeps_the_outcome() -> None:
    after = fold(
        record(conclusion={"outcome": "crashed", "headline": "?"}), [amendment(conclusion={"headline": "bad node"})]
    )
    assert after.outcome == "crashed"
    assert after.headline == "bad node"
    assert is_dead_end(after)


def test_a_reason_makes_a_derived_conclusion_a_real_one() -> None:
    before = record(conclusion={"outcome": "crashed", "derived": True})
    assert not has_conclusion(before.conclusion)
    assert has_conclusion(fold(before, [amendment(conclusion={"headline": "bad node"})]).conclusion)
    assert not has_conclusion(fold(before, [amendment(notes="x")]).conclusion)


def test_members_of_params_and_metrics_are_replaced_one_by_one_and_graphs_whole() -> None:
    before = record(
        params={"lr": 1, "wd": 2},
        metrics={"loss": 1.0},
        architecture={"digest": "1", "nodes": {"a": "filter:A", "b": "filter:B"}},
    )
    after = fold(
        before,
        [amendment(params={"lr": 3}, metrics={"acc": 0}, architecture={"digest": "2", "nodes": {"c": "filter:C"}})],
    )
    assert after.params == {"lr": 3, "wd": 2}
    assert after.metrics == {"loss": 1.0, "acc": 0}
    assert after.architecture is not None
    assert after.architecture.nodes == {"c": "filter:C"}


def test_amendments_apply_in_their_order_and_unknown_fields_too() -> None:
    after = fold(record(mood="?"), [amendment(notes="first", mood="good"), amendment(notes="second")])
    assert after.notes == "second"
    assert after.model_extra == {"mood": "good"}


def test_without_amendments_it_is_the_very_record() -> None:
    run = record()
    assert fold(run, []) is run


def test_concluding_writes_an_amendment_into_the_folders_own_journal(tmp_path: Path) -> None:
    written = conclude(tmp_path, "run-1", "  lr too\n high ", "dead_end", NOON)
    again = conclude(tmp_path, "run-2", "", "works", NOON)
    lines = [json.loads(line) for line in (tmp_path / OUR_JOURNAL).read_text().splitlines()]
    assert lines[0] == {
        "id": written.id,
        "kind": "amendment",
        "amends": "run-1",
        "timestamp": "2026-05-01T12:00:00Z",
        "conclusion": {"headline": "lr too high"},
        "verdict": "dead_end",
        "schema_version": 2,
    }
    assert (lines[1]["verdict"], "conclusion" in lines[1]) == ("works", False)
    assert written.id != again.id
    assert "*.lock" in (tmp_path / ".tried" / ".gitignore").read_text()


def test_a_conclusion_depends_on_its_arguments_alone() -> None:
    assert conclusion_of("run-1", "x", None, NOON) == conclusion_of("run-1", "x", None, NOON)
    east = NOON.astimezone(timezone(timedelta(hours=5)))
    assert conclusion_of("run-1", "x", None, east).id == conclusion_of("run-1", "x", None, NOON).id
    assert conclusion_of("run-1", "x", None, NOON).id != conclusion_of("run-1", "y", None, NOON).id


def test_a_conclusion_says_something() -> None:
    with pytest.raises(ValueError, match="say why, or give a verdict"):
        conclusion_of("run-1", " \n", None, NOON)


class TestLinks:
    """What is concluded is written in the folder, wherever its links lead."""

    @pytest.mark.parametrize("exists", [True, False])
    def test_a_journal_that_is_a_link_out_of_the_folder_is_not_written(self, tmp_path: Path, exists: bool) -> None:
        folder, target = tmp_path / "work", tmp_path / "elsewhere.jsonl"
        (folder / ".tried").mkdir(parents=True)
        (folder / OUR_JOURNAL).symlink_to(target)
        if exists:
            target.write_bytes(b"theirs\n")
        with pytest.raises(StorageError, match="is a link out of the workspace and is not written to"):
            conclude(folder, "run-1", "too hot", "dead_end", NOON)
        assert (target.read_bytes() if exists else target.exists()) == (b"theirs\n" if exists else False)

    def test_nor_in_a_folder_that_is_one(self, tmp_path: Path) -> None:
        folder, target = tmp_path / "work", tmp_path / "elsewhere"
        folder.mkdir()
        target.mkdir()
        (folder / ".tried").symlink_to(target)
        with pytest.raises(StorageError, match="is a link out of the workspace"):
            conclude(folder, "run-1", "too hot", "dead_end", NOON)
        assert list(target.iterdir()) == []

    def test_a_folder_behind_a_link_has_its_own_journal(self, tmp_path: Path) -> None:
        (tmp_path / "work").mkdir()
        (tmp_path / "alias").symlink_to(tmp_path / "work")
        conclude(tmp_path / "alias", "run-1", "too hot", "dead_end", NOON)
        assert len((tmp_path / "work" / OUR_JOURNAL).read_bytes().splitlines()) == 1


def test_what_concluding_makes_has_the_usual_mode(tmp_path: Path) -> None:
    (usual := tmp_path / "usual").touch()
    conclude(tmp_path, "run-1", "too hot", "dead_end", NOON)
    modes = {name: (tmp_path / name).stat().st_mode for name in (".tried/.gitignore", ".tried/pool.jsonl")}
    assert modes == dict.fromkeys(modes, usual.stat().st_mode)


HOLDER = """
import sys
from filelock import FileLock
with FileLock(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
"""


def test_an_append_waits_for_another_process_that_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "pool.jsonl"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / ".pool.jsonl.lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        writer = threading.Thread(target=append, args=(path, ExperimentRecord(id="a")), daemon=True)
        writer.start()
        writer.join(0.5)
        assert writer.is_alive(), "it waits"
        assert not path.exists()
        holder.communicate("go on\n", timeout=10)
        writer.join(10)
        assert not writer.is_alive()
        assert json.loads(path.read_bytes())["id"] == "a"
    finally:
        holder.kill()
        holder.wait()
