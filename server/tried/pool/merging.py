"""Which records of several sources are one run. What one record is made of them is `uniting`.

A record is known by names (its id and its aliases) and by its output folder (`run_dir`, absolute). In each source a key
belongs to the record that has it as its id, else to the only one that states it; a key that several records of one
source state without one of them having it as its id says nothing there (steps of one job share a folder).

Records of different sources to which the same key belongs are linked, and what is linked, directly or through others,
is one run: unless that would make one run of two records of the same source, which knows better. Such a cluster is
gone through in the order of the sources, then of the ids; each record joins the first run that has a record linked
directly with it and none of its sources, else it is a run by itself. Records with the same id always are one run.
Aliases that an amendment adds name a run, but merge none. So does a commit: it names the only run that came from it.

Invariant: what is a run depends on what the sources say now and on their order, never on how they came to say it.
"""

from __future__ import annotations

import os.path
import sys
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeAlias

from tried.pool.record import ExperimentRecord
from tried.pool.record_facts import RecordFacts
from tried.pool.sources.trailers import commit_key
from tried.pool.spool import Place

_NUMBER_BITS: Final = 40

Key: TypeAlias = str | int
"""A name, or the hash of a folder: folders are long, many, and never shown from here."""


class Ranked(Hashable, Protocol):
    """A source, as far as this module needs to know it. `rank`: its place among the sources."""

    rank: int


class Statement:
    """What one source says of one record; `number` grows with its place in the source. `facts` and `is_merged` are
    those of the run, as its source counts it."""

    __slots__ = ("aliases", "commit", "facts", "folder", "id", "is_merged", "number", "place", "source", "time")

    def __init__(self, source: Ranked, record: ExperimentRecord, place: Place, time: float, number: int) -> None:
        self.source = source
        self.number = number
        self.id = record.id
        self.place = place
        self.time = time
        self.aliases = tuple(dict.fromkeys(alias for alias in record.aliases if alias != record.id))
        self.folder = folder_key(record.run_dir)
        commit = commit_key(record)
        self.commit = sys.intern(commit) if commit is not None else None
        self.facts: RecordFacts | None = None
        self.is_merged = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.id, *self.aliases)

    @property
    def keys(self) -> Hashable:
        """All but the id by which it is found."""
        return self.aliases, self.folder, self.commit

    @property
    def order(self) -> tuple[int, str]:
        return self.source.rank, self.id


def folder_key(run_dir: str | None) -> int | None:
    """None for a relative folder: it may be anywhere."""
    if not run_dir or not (run_dir.startswith("/") or Path(run_dir).is_absolute()):
        return None
    return hash(os.path.normpath(run_dir))


@dataclass(frozen=True, slots=True)
class Regrouped:
    """`gone`: ids that are no run of their own any more (or never were). `made`: the runs that are to be made anew.
    `names`: all ids and aliases that may stand for another run now."""

    gone: tuple[str, ...]
    made: tuple[str, ...]
    names: set[str]


_ById: TypeAlias = dict[Ranked, Statement]
_Bucket: TypeAlias = dict[Ranked, dict[str, Statement]]


class Runs:
    """The runs of all statements. Tell it what comes and goes with `add` and `remove`, then ask `regrouped`."""

    def __init__(self) -> None:
        self._by_id: dict[str, Statement | _ById] = {}
        self._claims: dict[Key, Statement | _Bucket] = {}
        """By alias or folder, the statements that state it."""
        self._commits: dict[str, Statement | dict[Statement, None]] = {}
        """By the name of a commit, the statements of experiments that ran from it."""
        self._owner: dict[str, str] = {}
        """By id the run that it is part of, where that has another id."""
        self._parts: dict[str, tuple[str, ...]] = {}
        """By run its ids, where there are several."""
        self._touched: dict[str, None] = {}
        self._renamed: set[str] = set()

    def __contains__(self, record_id: object) -> bool:
        return record_id in self._by_id

    def owner_of(self, record_id: str) -> str:
        """The id of the run that the record of an id is part of."""
        return self._owner.get(record_id, record_id)

    def resolve(self, name: str) -> str | None:
        """The run of an id, else of an alias: of several that have it the one with the smallest id; else the only one
        that came from a commit."""
        if name in self._by_id:
            return self.owner_of(name)
        claim = self._claims.get(name)
        if claim is None:
            return self._only_run_of(name)
        if isinstance(claim, Statement):
            return self.owner_of(claim.id)
        return min(self.owner_of(record_id) for stating in claim.values() for record_id in stating)

    def _only_run_of(self, commit: str) -> str | None:
        found = self._commits.get(commit, {})
        statements = (found,) if isinstance(found, Statement) else found
        owners = {self.owner_of(statement.id) for statement in statements}
        return owners.pop() if len(owners) == 1 else None

    def order_of(self, run_id: str) -> int:
        """Grows with the place of a run in the pool: that of the first source that has its id, and there of its record.
        KeyError for an id that no source has."""
        known = self._by_id[run_id]
        first = known if isinstance(known, Statement) else min(known.values(), key=lambda each: each.source.rank)
        return (first.source.rank << _NUMBER_BITS) | first.number

    def statements_of(self, run_id: str) -> tuple[Statement, ...]:
        """What a run is made of, the owner of its id first."""
        parts = self._parts.get(run_id, (run_id,))
        found = [statement for part in parts for statement in self._statements(part)]
        return tuple(sorted(found, key=lambda statement: statement.order)) if len(found) > 1 else tuple(found)

    def add(self, statement: Statement) -> None:
        """A record that its source has not said before, or not since it was removed."""
        self._touch(statement)
        known = self._by_id.get(statement.id)
        if known is None:
            self._by_id[statement.id] = statement
        else:
            both = {known.source: known} if isinstance(known, Statement) else known
            both[statement.source] = statement
            self._by_id[statement.id] = both
        if statement.commit is not None:
            others = self._commits.setdefault(statement.commit, statement)
            if isinstance(others, dict):
                others[statement] = None
            elif others is not statement:
                self._commits[statement.commit] = {others: None, statement: None}
        for key in _claimed(statement):
            claim = self._claims.get(key)
            if claim is None:
                self._claims[key] = statement
                continue
            if isinstance(claim, Statement):
                claim = {claim.source: {claim.id: claim}}
                self._claims[key] = claim
            claim.setdefault(statement.source, {})[statement.id] = statement
        self._touch(statement)

    def remove(self, statement: Statement) -> None:
        self._touch(statement)
        known = self._by_id[statement.id]
        if isinstance(known, Statement) or len(known) == 1:
            del self._by_id[statement.id]
        else:
            del known[statement.source]
        if statement.commit is not None:
            others = self._commits[statement.commit]
            if isinstance(others, dict) and len(others) > 1:
                del others[statement]
            else:
                del self._commits[statement.commit]
        for key in _claimed(statement):
            claim = self._claims[key]
            if isinstance(claim, Statement):
                del self._claims[key]
                continue
            del claim[statement.source][statement.id]
            if not claim[statement.source]:
                del claim[statement.source]
            if not claim:
                del self._claims[key]
        self._touch(statement)

    def touch(self, record_id: str) -> None:
        """Have a record's run made anew, since it says something else or the order of the sources has changed."""
        self._touched.pop(record_id, None)
        self._touched[record_id] = None

    def touch_merged(self) -> None:
        """Have every run made anew of which several sources have a part."""
        for record_id, statement in self._by_id.items():
            if not isinstance(statement, Statement):
                self.touch(record_id)
        for parts in self._parts.values():
            for part in parts:
                self.touch(part)

    @property
    def has_news(self) -> bool:
        return bool(self._touched)

    def regrouped(self) -> Regrouped:
        """What has come of all that was added, removed and touched since it was asked last."""
        seeds: dict[str, None] = {}
        for record_id in self._touched:
            owner = self.owner_of(record_id)
            seeds[record_id] = None
            if owner in self._parts:
                seeds.update(dict.fromkeys(self._parts[owner]))
        renamed, self._touched, self._renamed = self._renamed, {}, set()
        clusters: list[list[str]] = []
        seen: set[str] = set()
        for seed in seeds:
            if seed not in seen:
                clusters.append(self._cluster(seed))
                seen.update(clusters[-1])
        renamed |= seen
        for statement in (each for name in seen for each in self._statements(name)):
            renamed.update(statement.aliases)
            if statement.commit is not None:
                renamed.add(statement.commit)
        before: dict[str, None] = {}
        for record_id in (each for cluster in clusters for each in cluster):
            owner = self._owner.pop(record_id, record_id)
            before[owner] = None
            self._parts.pop(owner, None)
        made: dict[str, None] = {}
        for cluster in clusters:
            for parts in self._split([record_id for record_id in cluster if record_id in self._by_id]):
                owner = parts[0]
                made[owner] = None
                if len(parts) > 1:
                    self._parts[owner] = tuple(parts)
                    self._owner.update(dict.fromkeys(parts[1:], owner))
        return Regrouped(tuple(owner for owner in before if owner not in made), tuple(made), renamed)

    def _statements(self, record_id: str) -> Iterable[Statement]:
        found = self._by_id.get(record_id, ())
        return (found,) if isinstance(found, Statement) else found.values() if isinstance(found, dict) else ()

    def _touch(self, statement: Statement) -> None:
        self.touch(statement.id)
        self._renamed.update(statement.aliases if statement.commit is None else (*statement.aliases, statement.commit))
        for key in _claimed(statement):
            for other in self._belonging(key):
                self._touched.setdefault(other.id)
        for other in self._belonging(statement.id):
            self._touched.setdefault(other.id)

    def _belonging(self, key: Key) -> Iterator[Statement]:
        """The statements to which a key belongs, at most one of each source."""
        owners: set[Ranked] = set()
        if isinstance(key, str):
            for statement in self._statements(key):
                owners.add(statement.source)
                yield statement
        claim = self._claims.get(key)
        if isinstance(claim, Statement):
            if claim.source not in owners:
                yield claim
        elif claim is not None:
            for source, stating in claim.items():
                if len(stating) == 1 and source not in owners:
                    yield next(iter(stating.values()))

    def _linked(self, record_id: str) -> Iterator[str]:
        """The ids of the records that are linked directly with those of this id."""
        for statement in self._statements(record_id):
            for key in (statement.id, *_claimed(statement)):
                belonging = list(self._belonging(key))
                if len(belonging) > 1 and statement in belonging:
                    yield from (other.id for other in belonging if other.id != record_id)

    def _cluster(self, seed: str) -> list[str]:
        """All ids that are linked with this one, however far."""
        found = {seed: None}
        pending = [seed]
        while pending:
            for other in self._linked(pending.pop()):
                if other not in found:
                    found[other] = None
                    pending.append(other)
        return list(found)

    def _split(self, cluster: list[str]) -> Iterator[list[str]]:
        """The runs of a cluster; in each the id of its owner first."""
        if len(cluster) < 2:
            yield from ([record_id] for record_id in cluster)
            return
        sources = {record_id: {each.source for each in self._statements(record_id)} for record_id in cluster}
        order = sorted(cluster, key=lambda record_id: min(each.order for each in self._statements(record_id)))
        if sum(map(len, sources.values())) == len(set[Ranked]().union(*sources.values())):
            yield order
            return
        runs: list[list[str]] = []
        run_of: dict[str, int] = {}
        in_run: list[set[Ranked]] = []
        for record_id in order:
            near = sorted({run_of[other] for other in self._linked(record_id) if other in run_of})
            place = next((each for each in near if in_run[each].isdisjoint(sources[record_id])), len(runs))
            if place == len(runs):
                runs.append([])
                in_run.append(set())
            runs[place].append(record_id)
            in_run[place] |= sources[record_id]
            run_of[record_id] = place
        yield from runs


def _claimed(statement: Statement) -> tuple[Key, ...]:
    """What it states beside its id."""
    return statement.aliases if statement.folder is None else (*statement.aliases, statement.folder)
