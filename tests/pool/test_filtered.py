"""What settings say of one source, applied to what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tried.pool.record import ExperimentRecord
from tried.pool.sources.filtered import FilteredSource, Rules, filtered
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.kit import problems_of, scan_all
from tried.pool.sources.source import Delta

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@dataclass
class Script:
    """Says these deltas, one after another, then nothing."""

    deltas: list[Delta] = field(default_factory=list)
    path: Path = Path("/x")
    kind: str = "mlflow"

    def scan(self, cursor: object | None) -> Delta:
        place = cursor if isinstance(cursor, int) else 0
        if place >= len(self.deltas):
            return Delta(cursor=place)
        delta = self.deltas[place]
        return Delta(delta.upserts, delta.removed, cursor=place + 1, reset=delta.reset)

    def line_of(self, record_id: str) -> int | None:
        return 7


def record(record_id: str, **fields: Any) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": record_id, "source": "mlflow", **fields})


def passing(rules: Rules, *records: ExperimentRecord) -> list[str]:
    delta = filtered(Script([Delta(records)]), rules).scan(None)
    assert {*delta.removed}.isdisjoint(record.id for record in delta.upserts)
    assert len(delta.removed) + len(delta.upserts) == len(records)
    return [record.id for record in delta.upserts]


def test_without_rules_it_is_the_source_itself() -> None:
    source = Script()
    assert filtered(source, Rules()) is source


@pytest.mark.parametrize(
    ("globs", "expected"),
    [
        (("vision",), ["a"]),
        (("v*",), ["a", "b"]),
        (("!*-debug",), ["a", "c", "d"]),
        (("v*", "!*-debug"), ["a"]),
        (("nothing",), []),
    ],
)
def test_experiments(globs: tuple[str, ...], expected: list[str]) -> None:
    records = [
        record("a", experiment="vision"),
        record("b", experiment="vision-debug"),
        record("c", experiment="audio"),
        record("d"),
    ]
    assert passing(Rules(experiments=globs), *records) == expected


@pytest.mark.parametrize(
    ("globs", "expected"), [(("keep",), ["a", "b"]), (("keep", "!bad*"), ["a"]), (("!bad*",), ["a", "c"])]
)
def test_tags(globs: tuple[str, ...], expected: list[str]) -> None:
    records = [record("a", tags=["keep"]), record("b", tags=["keep", "bad=yes"]), record("c")]
    assert passing(Rules(tags=globs), *records) == expected


def test_statuses() -> None:
    records = [record(name, conclusion={"outcome": name}) for name in ("completed", "failed", "stopped")]
    assert passing(Rules(statuses=("failed", "stopped")), *records, record("none")) == ["failed", "stopped"]


def test_what_no_longer_passes_is_taken_back() -> None:
    source = filtered(Script([Delta((record("a", tags=["keep"]),)), Delta((record("a"),))]), Rules(tags=("keep",)))
    first = source.scan(None)
    second = source.scan(first.cursor)
    assert [record.id for record in first.upserts] == ["a"]
    assert (second.upserts, second.removed) == ((), ("a",))
    assert source.scan(second.cursor).is_empty


def test_amendments_pass_always() -> None:
    amendment = record("m", kind="amendment", amends="x")
    assert passing(Rules(tags=("keep",), max_age_days=1), amendment) == ["m"]


def test_the_research_line_is_set() -> None:
    (changed,) = filtered(Script([Delta((record("a", research_line="x"),))]), Rules("vision")).scan(None).upserts
    assert changed.research_line == "vision"


@pytest.mark.parametrize(
    ("fields", "parent"),
    [
        ({"params": {"parent_run": "123"}}, "mlflow:123"),
        ({"params": {"parent_run": "wandb:abc"}}, "wandb:abc"),
        ({"tags": ["x", "parent_run=456"]}, "mlflow:456"),
        ({"params": {"parent_run": "123"}, "parent": "mlflow:9"}, "mlflow:9"),
        ({"params": {"parent_run": " "}}, None),
        ({"params": {"parent_run": None}}, None),
        ({"params": {"parent_run": ["1"]}}, None),
        ({"params": {"parent_run": "self"}}, None),
        ({}, None),
    ],
)
def test_a_key_names_the_parent(fields: dict[str, Any], parent: str | None) -> None:
    (changed,) = (
        filtered(Script([Delta((record("mlflow:self", **fields),))]), Rules(parent_key="parent_run")).scan(None).upserts
    )
    assert changed.parent == parent


def test_ids_without_a_prefix_have_parents_without_one() -> None:
    (changed,) = (
        filtered(Script([Delta((record("exp-2", params={"from": "exp-1"}),))]), Rules(parent_key="from"))
        .scan(None)
        .upserts
    )
    assert changed.parent == "exp-1"


class TestAge:
    def source(self, clock: list[datetime], *deltas: Delta) -> FilteredSource:
        return FilteredSource(Script(list(deltas)), Rules(max_age_days=10), lambda: clock[0])

    def at(self, record_id: str, days: float, **fields: Any) -> ExperimentRecord:
        return record(record_id, timestamp=(NOW - timedelta(days=days)).isoformat(), **fields)

    def test_what_is_too_old_does_not_count_and_what_becomes_so_goes(self) -> None:
        clock = [NOW]
        alive = self.at("alive", 40, last_written=(NOW - timedelta(days=9.5)).isoformat())
        source = self.source(clock, Delta((self.at("old", 11), self.at("young", 9), record("timeless"), alive)))
        first = source.scan(None)
        assert [record.id for record in first.upserts] == ["young", "timeless", "alive"]
        assert source.scan(first.cursor).is_empty
        clock[0] += timedelta(days=0.75)
        second = source.scan(first.cursor)
        assert (second.upserts, second.removed) == ((), ("alive",))
        clock[0] += timedelta(days=1)
        third = source.scan(second.cursor)
        assert third.removed == ("young",)
        clock[0] += timedelta(days=1_000)
        assert source.scan(third.cursor).is_empty

    def test_what_changes_is_judged_anew_and_a_reset_forgets(self) -> None:
        clock = [NOW]
        source = self.source(
            clock, Delta((self.at("a", 9),)), Delta((self.at("a", 1),)), Delta((self.at("b", 1),), reset=True)
        )
        first = source.scan(None)
        second = source.scan(first.cursor)
        clock[0] += timedelta(days=5)
        third = source.scan(second.cursor)
        assert ([r.id for r in third.upserts], third.removed, third.reset) == (["b"], (), True)
        clock[0] += timedelta(days=5)
        assert source.scan(third.cursor).removed == ("b",)


def test_a_filtered_source_is_as_sound_as_what_is_inside(tmp_path: Path) -> None:
    store = tmp_path / "pool.jsonl"
    store.write_text('{"id": "a", "tags": ["keep"]}\n{"id": "b"}\n')

    def make(path: Path) -> FilteredSource:
        return FilteredSource(
            JournalSource(path), Rules(tags=("keep",), max_age_days=5, research_line="x"), lambda: NOW
        )

    def grow(path: Path) -> None:
        with path.open("a") as file:
            file.write(
                '{"id": "a"}\n{"id": "c", "tags": ["keep"]}\n{"id": "d", "tags": ["keep"], "timestamp": "2020"}\n'
            )

    assert problems_of(make, store, grow, prefixed=False) == []
    assert list(scan_all(make(store)).records) == ["a"]
    grow(store)
    assert list(scan_all(make(store)).records) == ["c", "d"]
