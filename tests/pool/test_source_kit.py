"""All our sources do what every source must; and the kit that says so finds what is wrong with those that do not."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources import kit
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.results_table import ResultsTableSource
from tried.pool.sources.source import Delta, Skipped


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
