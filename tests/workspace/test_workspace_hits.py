"""A workspace knows hits by the ids that its records have now, and reads their file when it has changed."""

from __future__ import annotations

import json
import os
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tried.ranking.hits import NO_HITS, Hit
from tried.storage.hits import KeptHits, Place, clear_hits, hits_file, hits_of, record_hit
from tried.workspace import Workspace
from tried.workspace import hits as workspace_hits

NOW = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.fixture(autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("XDG_STATE_HOME", str(state))
    return state


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[Place]:
    """The places whose hits were read from the disk."""
    read: list[Place] = []

    def counting(place: Place) -> KeptHits:
        read.append(place)
        return hits_of(place)

    monkeypatch.setattr(workspace_hits, "hits_of", counting)
    return read


def workspace(folder: Path, *records: dict[str, Any]) -> Workspace:
    journal = folder / ".tried" / "pool.jsonl"
    journal.parent.mkdir(exist_ok=True)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records))
    made = Workspace(folder)
    made.refresh()
    return made


def test_hits_on_a_record_and_on_what_it_was_called_are_one(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"id": "a", "aliases": ["wandb:1", "b"]}, {"id": "b"}, {"id": "c"})
    made.count_hits(["a", "wandb:1", "gone"], "opened", NOW)
    made.count_hits(["wandb:1", "b"], "used", NOW + timedelta(days=1))
    assert made.hits == {"a": Hit(3, NOW + timedelta(days=1)), "b": Hit(1, NOW + timedelta(days=1))}
    assert made.hits_problem is None


def test_the_latest_hit_is_that_by_either_name(tmp_path: Path) -> None:
    made = workspace(tmp_path, {"id": "a", "aliases": ["wandb:1"]}, {"id": "b", "aliases": ["wandb:2"]})
    made.count_hits(["a", "wandb:2"], "opened", NOW + timedelta(days=1))
    made.count_hits(["wandb:1", "b"], "opened", NOW)
    assert made.hits == {name: Hit(2, NOW + timedelta(days=1)) for name in ("a", "b")}


def test_what_is_done_with_more_than_twenty_at_once_is_no_hit(tmp_path: Path, state: Path) -> None:
    made = workspace(tmp_path, *({"id": f"r{number}"} for number in range(30)))
    made.count_hits((f"r{number}" for number in range(21)), "concluded", NOW)
    assert made.hits is NO_HITS
    assert list(state.iterdir()) == []
    made.count_hits([f"r{number}" for number in range(20)] * 2, "concluded", NOW)
    assert made.hits == {f"r{number}": Hit(1, NOW) for number in range(20)}


def test_pools_that_are_read_instead_of_a_folders_own_have_hits_of_their_own(tmp_path: Path) -> None:
    folder, journal = tmp_path / "a", tmp_path / "pool.jsonl"
    folder.mkdir()
    journal.write_text('{"id": "a"}\n')
    own = workspace(folder, {"id": "a"})
    beside = Workspace(folder, extra_pools=[journal])
    instead = Workspace(folder, extra_pools=[journal], only_extra=True)
    elsewhere = Workspace(tmp_path, extra_pools=[journal, journal], only_extra=True)
    for each in (beside, instead, elsewhere):
        each.refresh()
    own.count_hits(["a"], "opened", NOW)
    beside.count_hits(["a"], "opened", NOW)
    elsewhere.count_hits(["a"], "opened", NOW)
    assert own.hits == beside.hits == {"a": Hit(2, NOW)}
    assert instead.hits == elsewhere.hits == {"a": Hit(1, NOW)}
    assert hits_file((folder,)) == hits_file(folder)


def test_the_file_is_read_when_it_has_changed_and_not_before(tmp_path: Path, reads: list[Place]) -> None:
    made = workspace(tmp_path, {"id": "a"})
    assert made.hits is NO_HITS
    assert reads == []
    record_hit(tmp_path, ["a"], "opened", NOW)
    assert [made.hits for _ in range(5)] == [{"a": Hit(1, NOW)}] * 5
    assert len(reads) == 1
    record_hit(tmp_path, ["a"], "opened", NOW)
    assert made.hits == {"a": Hit(2, NOW)}
    assert len(reads) == 2
    clear_hits(tmp_path)
    assert made.hits is NO_HITS
    assert len(reads) == 2


def test_a_pool_that_grows_gives_known_hits_their_record(tmp_path: Path, reads: list[Place]) -> None:
    made = workspace(tmp_path, {"id": "a"})
    record_hit(tmp_path, ["later"], "opened", NOW)
    assert made.hits is NO_HITS
    with (tmp_path / ".tried" / "pool.jsonl").open("a") as journal:
        journal.write('{"id": "new", "aliases": ["later"]}\n')
    made.refresh()
    assert made.hits == {"new": Hit(1, NOW)}
    assert len(reads) == 1


def test_documents_that_lie_in_no_folder_have_none(state: Path) -> None:
    made = Workspace(None)
    made.count_hits(["a"], "opened", NOW)
    assert made.hits is NO_HITS
    assert list(state.iterdir()) == []


@pytest.mark.parametrize("kind", ["folder", "pipe", "not ours", "barred"])
def test_what_cannot_be_read_is_told_and_raises_nothing(tmp_path: Path, state: Path, kind: str) -> None:
    made = workspace(tmp_path, {"id": "a"})
    path = hits_file(tmp_path)
    assert path is not None
    if kind == "barred":
        (state / "tried").touch()
    else:
        path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "not ours":
        path.write_bytes(b"\xff\x00\n\n[]\n")
    assert made.hits is NO_HITS
    told = made.hits_problem
    assert told is not None
    assert str(path) in told
    if kind == "not ours":
        assert told.endswith("2 lines are no hit that can be read, and not counted")


def test_threads_that_ask_at_once_see_whole_answers(tmp_path: Path) -> None:
    made = workspace(tmp_path, *({"id": f"r{number}"} for number in range(20)))
    wrong: list[object] = []
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            found = made.hits
            if len({hit.count for hit in found.values()}) > 1 or len(found) not in (0, 20):
                wrong.append(found)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(15):
        record_hit(tmp_path, [f"r{number}" for number in range(20)], "opened", NOW)
    ended.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert made.hits["r7"] == Hit(15, NOW)


def test_a_ranking_and_an_analysis_know_them(tmp_path: Path) -> None:
    (tmp_path / "tried.toml").write_text('[ranking]\npolicy = "steady"\n')
    same = {"name": "warm start", "params": {"lr": 0.1, "depth": 4, "width": 8}}
    made = workspace(tmp_path, {"id": "a", **same}, {"id": "b", **same})
    text = "# warm start\nlr: 0.1\ndepth: 4\nwidth: 8\n"

    def order() -> list[str]:
        analysis = made.analyse(text, tmp_path / "next.yaml", "yaml", NOW)
        assert analysis.query is not None
        ranked = [scored.record.id for scored in made.rank(analysis.query, NOW)]
        assert [scored.record.id for scored in analysis.ranking] == ranked
        return ranked

    assert order() == ["a", "b"]
    record_hit(tmp_path, ["b"], "opened", NOW)
    assert order() == ["b", "a"]
    clear_hits(tmp_path)
    assert order() == ["a", "b"]
