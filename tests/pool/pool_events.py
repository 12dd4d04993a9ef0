"""Sources that are told what to say, event by event, beside the same said at once; for the tests of the pool."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeAlias

from hypothesis import strategies as st
from pool_records import record
from test_history import facts as facts_of_history

from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import Delta
from tried.review.runs import runs_in

START = datetime(2026, 5, 1, tzinfo=UTC)
NAMES = ("one", "two", "three")
SHA = "a" * 40


@dataclass
class Told:
    """A source that says at each scan the next of its deltas; to who asks for the first time, all that they came to."""

    name: str
    records: dict[str, ExperimentRecord] = field(default_factory=dict)
    amendments: list[ExperimentRecord] = field(default_factory=list)
    deltas: list[Delta] = field(default_factory=list)
    kind: str = "told"

    @property
    def path(self) -> Path:
        return Path("/") / self.name

    def scan(self, cursor: object | None) -> Delta:
        if cursor is None:
            self.deltas.clear()
            return Delta((*self.records.values(), *self.amendments), cursor=True)
        return self.deltas.pop(0) if self.deltas else Delta(cursor=cursor)

    def line_of(self, record_id: str) -> int | None:
        return None

    def say(self, *, records: Sequence[ExperimentRecord], removed: Sequence[str], reset: bool, more: bool) -> None:
        self.deltas.append(Delta(tuple(records), tuple(removed), cursor=True, reset=reset, more=more))
        if reset:
            self.records, self.amendments = {}, []
        for record_id in removed:
            self.records.pop(record_id, None)
        for each in records:
            if each.kind == "amendment":
                self.amendments.append(each)
            else:
                self.records[each.id] = each


@dataclass(frozen=True)
class Say:
    source: int
    records: tuple[ExperimentRecord, ...] = ()
    removed: tuple[str, ...] = ()
    reset: bool = False
    more: bool = False


@dataclass(frozen=True)
class Use:
    """Sources from now on, by number, in this order."""

    sources: tuple[int, ...]


@dataclass(frozen=True)
class Refresh:
    """After so many hours."""

    hours: int = 0


Event: TypeAlias = Say | Use | Refresh


def told(events: Sequence[Event]) -> tuple[PoolSnapshot, PoolSnapshot]:
    """(the pool as it came about, the pool that was told at once what the sources say at the end).

    Who holds a snapshot of the pool on its way sees in the end what stood in it at first.
    """
    sources = [Told(name) for name in NAMES]
    used: tuple[int, ...] = (0, 1, 2)
    pool = Pool([sources[number] for number in used])
    now: datetime | None = None
    held: tuple[PoolSnapshot, dict[str, Any]] | None = None
    for event in events:
        if isinstance(event, Say):
            sources[event.source].say(records=event.records, removed=event.removed, reset=event.reset, more=event.more)
        elif isinstance(event, Use):
            used = event.sources
            pool.use([sources[number] for number in used])
        else:
            now = (now or START) + timedelta(hours=event.hours)
            snapshot = pool.refresh(now=now, published=check_that_it_agrees)
            check_that_it_agrees(snapshot)
            held = held or (len(snapshot) > 1 and (snapshot, all_of(snapshot))) or None
    while any(sources[number].deltas for number in used):
        pool.refresh(now=now)
    after = pool.refresh(now=now)
    assert pool.refresh(now=now) is after, "as long as nothing changes, it is the very same"
    assert held is None or all_of(held[0]) == held[1], "who holds a snapshot sees the old pool"
    alone = [Told(source.name, source.records, source.amendments) for source in sources]
    return after, Pool([alone[number] for number in used]).refresh(now=now)


def check_that_it_agrees(snapshot: PoolSnapshot) -> None:
    """That all parts of a snapshot speak of the same records, in the same order."""
    records = [json.loads(each.to_json()) for each in snapshot.records.values()]
    assert (
        sorted(each.id for each in snapshot.index) == sorted(snapshot.records) == sorted(each["id"] for each in records)
    )
    experiments = [each.id for each in snapshot.records.values() if each.role == "experiment"]
    assert [run.id for run in runs_in(snapshot.history)] == experiments
    assert snapshot.totals.records == len(records)
    assert set(snapshot.aliases.values()) <= set(snapshot.records)
    assert {child for found in snapshot.children.values() for child in found} <= set(snapshot.records)
    for each in snapshot.records.values():
        assert not each.parent or each.id in snapshot.children[each.parent]


def all_of(snapshot: PoolSnapshot) -> dict[str, Any]:
    """What can be asked of a snapshot, but for the order in which children came."""
    return {
        "records": [json.loads(each.to_json()) for each in snapshot.records.values()],
        "aliases": dict(snapshot.aliases),
        "sources": snapshot.sources,
        "totals": snapshot.totals,
        "lines": dict(snapshot.research_lines),
        "children": {key: set(found) for key, found in snapshot.children.items()},
        "facts": dict(snapshot.facts()),
        "index": {each.id: each.to_json() for each in snapshot.index},
        "labels": snapshot.index.labels(),
        "history": facts_of_history(snapshot.history),
        "in the order of the pool": [run.id for run in runs_in(snapshot.history)],
        "notes": snapshot.notes,
    }


IDS: tuple[str, ...] = ("a", "b", "c", "d")
NAMED = st.sampled_from([*IDS, "x", "y"])


def _one(
    record_id: str,
    aliases: list[str],
    folder: str | None,
    parent: str | None,
    number: int,
    ending: tuple[str | None, int | None],
    rest: dict[str, Any],
    git: Literal["", "clean", "dirty"],
) -> ExperimentRecord:
    outcome, written = ending
    fields: dict[str, Any] = {
        "aliases": aliases,
        "run_dir": folder,
        "parent": parent,
        "params": {"lr": number, "depth": 2},
        "metrics": {"loss": float(number), "score": float(number)},
        **rest,
    }
    if outcome:
        fields["conclusion"] = {"outcome": outcome, "derived": outcome == "running"}
    if written is not None:
        fields["last_written"] = (START + timedelta(hours=written)).isoformat()
    if git:
        fields["git"] = {"sha": SHA, "dirty": git == "dirty"}
    return record(record_id, **{key: value for key, value in fields.items() if value not in (None, [])})


RECORDS = st.builds(
    _one,
    st.sampled_from(IDS),
    st.lists(NAMED, max_size=1) | st.lists(NAMED, max_size=2),
    st.sampled_from([None, None, "/f", "/g"]),
    st.sampled_from([None, *IDS, *IDS, "x", "y"]),
    st.integers(1, 3),
    st.sampled_from([(None, None), ("completed", None), ("failed", 9), ("running", 0), ("running", 30)]),
    st.sampled_from(
        [
            {},
            {},
            {"research_line": "l"},
            {"research_line": "l", "sweep": "b"},
            {"directions": {"score": "min"}},
            {"role": "sweep"},
            {"generated_headline": "finished, loss 1"},
        ]
    ),
    st.sampled_from(["", "", "clean", "dirty"]),
)
AMENDING = st.builds(
    lambda amends, number, hours, rest: record(
        f"am{number}",
        kind="amendment",
        amends=amends,
        **({} if hours is None else {"timestamp": (START + timedelta(hours=hours)).isoformat()}),
        **rest,
    ),
    NAMED | st.sampled_from(["am0", "am1", "am2", f"commit:{SHA}", None]),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
    st.sampled_from(
        [
            {"hypothesis": "deeper"},
            {"hypothesis": "wider"},
            {"aliases": ["x"]},
            {"aliases": ["y", "a"]},
            {"parent": "c"},
            {"run_dir": "/f"},
            {"research_line": "m"},
            {"conclusion": {"headline": "too hot", "outcome": "failed"}},
            {"verdict": "dead_end"},
            {"params": {"lr": 9}},
            {"directions": {"score": "max"}},
            {"role": "sweep"},
            {"last_written": (START + timedelta(hours=60)).isoformat()},
            {"conclusion": {"outcome": "running"}},
        ]
    ),
)
SEVERAL = st.lists(RECORDS, min_size=2, max_size=5) | st.lists(RECORDS | AMENDING, min_size=1, max_size=4)
SAYING = st.builds(
    Say,
    st.integers(0, 2),
    SEVERAL.map(tuple),
    st.just(()) | st.just(()) | st.lists(st.sampled_from(IDS), min_size=1, max_size=2).map(tuple),
    st.sampled_from([False] * 9 + [True]),
    st.sampled_from([False, False, True]),
)
REMOVING = st.builds(Say, st.integers(0, 2), st.just(()), st.lists(st.sampled_from(IDS), min_size=1).map(tuple))
REFRESHING = st.builds(Refresh, st.sampled_from([0, 0, 0, 1, 20, 49]))
USING = st.builds(
    Use, st.permutations(range(3)).map(tuple) | st.lists(st.integers(0, 2), unique=True, min_size=1).map(tuple)
)
EVENTS = st.lists(st.one_of(*[SAYING] * 5, *[REFRESHING] * 4, REMOVING, USING), min_size=8, max_size=24)
