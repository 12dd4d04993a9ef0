"""All our sources do what every source must; and the kit that says so finds what is wrong with those that do not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import small_stores
from small_stores import Build, Grow

from tried.pool.record import ExperimentRecord
from tried.pool.sources import kit, registry
from tried.pool.sources.discovery import discover
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.registry import SourceKind
from tried.pool.sources.sniffing import source_of
from tried.pool.sources.source import Delta, Skipped, Source
from tried.pool.sources.tables.results_table import ResultsTableSource


def journal(folder: Path) -> Path:
    path = folder / "pool.jsonl"
    lines = [{"id": "a", "params": {"lr": 0.1}}, {"id": "b", "metrics": {"loss": "nan"}}]
    lines.append({"id": "m", "kind": "amendment", "amends": "a", "notes": "too high"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def append_to_journal(path: Path) -> None:
    with path.open("a") as file:
        file.write('{"id": "c"}\n{"id": "a", "params": {"lr": 0.2}}\n')


def table(folder: Path) -> Path:
    path = folder / "results.tsv"
    path.write_text("commit\tval_bpb\tmemory_gb\tstatus\tdescription\na1b2c3d\t0.99\t40\tkeep\tbaseline\n")
    return path


def append_to_table(path: Path) -> None:
    with path.open("a") as file:
        file.write("d4e5f6a\t1.20\t41\tdiscard\traise LEARNING_RATE to 0.5\n")


@dataclass(frozen=True)
class Case:
    kind: SourceKind
    build: Build
    grow: Grow
    ids: tuple[str, ...]


CASES = [
    Case(registry.MLFLOW_DATABASE, small_stores.mlflow_database, small_stores.grow_mlflow_database, ("mlflow:aaa",)),
    Case(registry.MLFLOW_FILES, small_stores.mlflow_files, small_stores.grow_mlflow_files, ("mlflow:" + "a" * 32,)),
    Case(
        registry.HYDRA,
        small_stores.hydra_folders,
        small_stores.grow_hydra_folders,
        ("hydra:outputs/2026-10-01/10-00-00",),
    ),
    Case(registry.WANDB, small_stores.wandb_folders, small_stores.grow_wandb_folders, ("wandb:abcd1234",)),
    Case(
        registry.OPTUNA_DATABASE,
        small_stores.optuna_database,
        small_stores.grow_optuna_database,
        ("optuna:search", "optuna:search/0", "optuna:search/1"),
    ),
    Case(
        registry.OPTUNA_JOURNAL,
        small_stores.optuna_journal,
        small_stores.grow_optuna_journal,
        ("optuna:search", "optuna:search/0"),
    ),
    Case(registry.DVC, small_stores.dvc_experiments, small_stores.grow_dvc_experiments, ("dvc:early-one",)),
    Case(registry.SACRED, small_stores.sacred_runs, small_stores.grow_sacred_runs, ("sacred:runs/1",)),
    Case(
        registry.LIGHTNING,
        small_stores.lightning_logs,
        small_stores.grow_lightning_logs,
        ("lightning:lightning_logs/version_0",),
    ),
    Case(registry.SOMA, small_stores.soma_runs, small_stores.grow_soma_runs, ("soma:run_20261001T100000_ab12",)),
]
TOLD = pytest.mark.parametrize("case", CASES, ids=lambda case: case.build.__name__)


@TOLD
def test_a_trackers_source_does_what_every_source_must(tmp_path: Path, case: Case) -> None:
    store = case.build(tmp_path)

    def make(path: Path) -> Source:
        deep = len(store.relative_to(tmp_path).parts)
        return case.kind.make(path, path.parents[deep - 1])

    assert problems_of(make, store, case.grow) == []
    assert sorted(scan_all(make(store)).records) == sorted(case.ids)


@TOLD
def test_a_trackers_store_is_found_and_known_under_its_name(tmp_path: Path, case: Case) -> None:
    store = case.build(tmp_path)
    found = discover(tmp_path, disabled=[registry.COMMITS.name])
    assert [(source.kind, source.path) for source in found.sources] == [(case.kind.name, store)]
    assert found.notes == ()
    assert source_of(store, tmp_path) == found.sources[0]


def test_journals(tmp_path: Path) -> None:
    assert problems_of(JournalSource, journal(tmp_path), append_to_journal, prefixed=False) == []


def test_results_tables(tmp_path: Path) -> None:
    def make(path: Path) -> ResultsTableSource:
        return ResultsTableSource(path, path.parent)

    assert problems_of(make, table(tmp_path), append_to_table, prefixed=False) == []


@dataclass(frozen=True)
class Lines:
    """A source of plain text, a record a line; its subclasses do one thing wrong each."""

    path: Path
    kind: str = "lines"

    def lines(self) -> list[str]:
        return self.path.read_text().splitlines()

    def record(self, line: str) -> ExperimentRecord:
        return ExperimentRecord(id=f"lines:{line}")

    def scan(self, cursor: object | None) -> Delta:
        try:
            lines = self.lines()
        except (OSError, UnicodeDecodeError) as error:
            said = (Skipped("the file", str(error)),)
            return Delta(skipped=said if cursor != said else (), cursor=said, reset=isinstance(cursor, int))
        known = cursor if isinstance(cursor, int) else 0
        if len(lines) < known:
            return Delta(tuple(map(self.record, lines)), cursor=len(lines), reset=True)
        return Delta(tuple(map(self.record, lines[known:])), cursor=len(lines))

    def line_of(self, record_id: str) -> int | None:
        return None


class Forgetful(Lines):
    def scan(self, cursor: object | None) -> Delta:
        return super().scan(None)


class Raising(Lines):
    def lines(self) -> list[str]:
        return self.path.read_bytes().decode("utf-8").splitlines() if self.path.exists() else [str(1 / 0)]


class Nameless(Lines):
    def record(self, line: str) -> ExperimentRecord:
        return ExperimentRecord(id=line)


class Homebound(Lines):
    def record(self, line: str) -> ExperimentRecord:
        return ExperimentRecord(id=f"lines:{self.path}/{line}")


class Endless(Lines):
    def scan(self, cursor: object | None) -> Delta:
        return Delta(more=True)


class Scribbling(Lines):
    def scan(self, cursor: object | None) -> Delta:
        if self.path.parent.exists():
            (self.path.parent / f"index{time.time_ns()}").write_text("mine")
        return super().scan(cursor)


class Silent(Lines):
    def scan(self, cursor: object | None) -> Delta:
        try:
            return super().scan(cursor) if self.lines() else Delta()
        except (OSError, UnicodeDecodeError):
            return Delta(cursor=cursor)


class Counting(Lines):
    """Keeps count in the cursor itself, which somebody may still hold."""

    def scan(self, cursor: object | None) -> Delta:
        count = cursor if isinstance(cursor, list) else []
        delta = super().scan(len(count))
        if isinstance(delta.cursor, int):
            count[:] = [None] * delta.cursor
        return Delta(delta.upserts, skipped=delta.skipped, cursor=count, reset=delta.reset)


class Stale(Lines):
    """Sees new lines, and no change of an old one."""

    def scan(self, cursor: object | None) -> Delta:
        delta = super().scan(cursor)
        return Delta(cursor=delta.cursor) if isinstance(cursor, int) else delta


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "own" / "store.txt"
    path.parent.mkdir()
    path.write_text("one\ntwo\n")
    yield path
    assert path.read_text() == "one\ntwo\n"


def add_line(path: Path) -> None:
    path.write_text("one\ntwo\nthree\n")


def test_a_sound_source_is_found_sound(store: Path) -> None:
    assert problems_of(Lines, store, add_line) == []


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        (Forgetful, "says something although nothing is new: 2 records"),
        (Raising, "nothing there: raised ZeroDivisionError"),
        (Nameless, "'one' does not begin with lines:"),
        (Homebound, "gives other ids in another folder"),
        (Endless, "has more to say after"),
        (Scribbling, "writes index"),
        (Silent, "does not say that there is nothing at its path"),
        (Stale, "does not see that the store has grown"),
        (Counting, "says something else when it is asked once more with the same cursor"),
    ],
)
def test_what_is_wrong_is_said(
    store: Path, source: Callable[[Path], Lines], complaint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit, "BATCH_LIMIT", 50)
    found = problems_of(source, store, add_line)
    assert any(complaint in problem for problem in found), found


def test_a_slow_one_is_told(store: Path) -> None:
    assert problems_of(Lines, store, quiet_seconds=1e-9) == [problems_of(Lines, store, quiet_seconds=1e-9)[0]]
    assert "to find nothing new" in problems_of(Lines, store, quiet_seconds=1e-9)[0]


def test_scanning_all_applies_deltas_as_the_pool_does(store: Path) -> None:
    source = Lines(store)
    first = scan_all(source)
    assert list(first.records) == ["lines:one", "lines:two"]
    assert list(scan_all(source, first.cursor, first).records) == ["lines:one", "lines:two"]
    assert scan_all(source, first.cursor).records == {}
