"""How what the sources say becomes the records of the pool: run by run, for those that changed and what hangs on them.

A record is made of the statements of its sources (`uniting`), of its amendments (`journal.fold`), of the time that
has passed (`running`) and of its recorded parent (`lineage`), in this order.

Invariant: the cost of a step grows with what has changed, but for copies of whole maps that Python makes at once.
Invariant: what comes out depends on what the sources say and on `now`, never on the order in which it was said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from types import MappingProxyType
from typing import Final

from pydantic import ValidationError

from tried.pool.amendments import Amendments, assign
from tried.pool.cross_references import Children, Names
from tried.pool.journal import fold
from tried.pool.lineage import with_derivation
from tried.pool.merging import Runs, Statement
from tried.pool.outcome import Directions
from tried.pool.record import ExperimentRecord
from tried.pool.record_facts import RecordFacts, Tally, facts_of
from tried.pool.running import Deadlines, deadline_of, stopped
from tried.pool.snapshot import Entry
from tried.pool.source_state import SourceState
from tried.pool.spool import Place, Spool
from tried.pool.uniting import united

CHUNK: Final = 2_000
"""Records that are held as objects at once."""


@dataclass(frozen=True, slots=True)
class Step:
    """`entries`: all records, in the order of the sources. `removed` and `upserts`: what is otherwise than before.
    `moved`: what says the same, and may say it elsewhere in that order."""

    entries: Mapping[str, Entry]
    removed: tuple[str, ...]
    upserts: tuple[ExperimentRecord, ...]
    moved: Collection[str]


class Assembly:
    """The records as they stand. `runs`, `spool` and `fresh` are where sources put what they say."""

    def __init__(self, directions: Directions | None, spool: Spool) -> None:
        self.runs: Final = Runs()
        self.spool = spool
        self.fresh: dict[Place, ExperimentRecord] = {}
        """Records that were put into the spool since the last step, or some of them."""
        self.tally: Final = Tally()
        self.entries: dict[str, Entry] = {}
        self.published: Mapping[str, Entry] = MappingProxyType({})
        """The same in the order of the sources, as of the last step."""
        self.aliases: Mapping[str, str] = MappingProxyType({})
        self.children: Mapping[str, Mapping[str, None]] = MappingProxyType({})
        self.amendments = Amendments()
        self._directions = directions
        self._names = Names()
        self._children = Children()
        self._deadlines = Deadlines()
        self._now: datetime | None = None
        self._known_facts: dict[RecordFacts, RecordFacts] = {}
        self._is_reordered = False
        self._ordered_before: dict[str, Entry] = {}

    def steps(
        self, states: Sequence[SourceState], now: datetime | None, *, amended: bool, reordered: bool
    ) -> Iterator[Step]:
        """Take over what the sources have said; at least one step.

        `amended`: amendments may have come or gone. `reordered`: so may records, other than at the end of a source.
        """
        self._is_reordered |= reordered
        if now is not None and (self._now is None or now > self._now):
            self._now = now
        regrouped = self.runs.regrouped()
        due = dict.fromkeys(regrouped.made)
        if amended or not regrouped.names.isdisjoint(self.amendments.names):
            before, self.amendments = self.amendments, assign([s.amendments for s in states], self.runs.resolve)
            for record_id in {**self.amendments.by_record, **before.by_record}:
                if self.amendments.of(record_id) != before.of(record_id):
                    due[record_id] = None
        if self._now is not None:
            due.update(dict.fromkeys(self._deadlines.take(self._now)))
        removed = [record_id for record_id in regrouped.gone if record_id in self.entries]
        orphans = self._without(removed)
        # True: by itself. What only has another parent now is itself the same parent as before.
        reasons = {**dict.fromkeys(orphans, False), **dict.fromkeys(due, True)}
        pending = {record_id: reason for record_id, reason in reasons.items() if self._is_run(record_id)}
        is_first = True
        while pending or is_first:
            chunk = {record_id: pending[record_id] for record_id in islice(pending, CHUNK)}
            for record_id in chunk:
                del pending[record_id]
            upserts, children = self._made(chunk)
            moved = dict.fromkeys(self.entries if reordered and is_first else chunk)
            for record in upserts:
                moved.pop(record.id, None)
            for child in children:
                if self._is_run(child):
                    pending.setdefault(child, False)
            self.aliases = self._names.published(self.aliases)
            self.children = self._children.published(self.children)
            if upserts or self._is_reordered:
                self._ordered_before = self._ordered(states, upserts)
                self.published = MappingProxyType(self._ordered_before)
            yield Step(self.published, tuple(removed) if is_first else (), tuple(upserts), moved)
            is_first = False
        self.fresh.clear()

    def move(self, spool: Spool, moved: Mapping[Place, Place]) -> None:
        """Take over the places of a spool that was made smaller."""
        self.spool = spool
        self.entries = {key: Entry(moved[each.place], each.facts) for key, each in self.entries.items()}
        self._is_reordered = True
        by_record = {
            key: tuple(replace(each, place=moved[each.place]) for each in found)
            for key, found in self.amendments.by_record.items()
        }
        waiting = {
            key: tuple(replace(each, place=moved[each.place]) for each in found)
            for key, found in self.amendments.waiting.items()
        }
        self.amendments = Amendments(by_record, waiting, self.amendments.names)

    def _is_run(self, record_id: str) -> bool:
        return record_id in self.runs and self.runs.owner_of(record_id) == record_id

    def _without(self, removed: Iterable[str]) -> list[str]:
        """Takes records out; the records that name them as their parent."""
        orphans: list[str] = []
        for record_id in removed:
            entry = self.entries.pop(record_id)
            self._is_reordered = True
            record = self.spool.record(entry.place)
            self.tally.add(entry.facts, -1)
            orphans += self._children.of((record_id, *record.aliases))
            self._names.remove(record_id, record.aliases)
            self._children.remove(record_id, record.parent)
            self._deadlines.set(record_id, None)
        return orphans

    def _made(self, chunk: Mapping[str, bool]) -> tuple[list[ExperimentRecord], list[str]]:
        """(what is otherwise than before, the records of which the parent is another one now). `chunk`: whether each
        record itself may say something else, or only its parent does."""
        plain: dict[str, ExperimentRecord] = {}
        before: dict[str, ExperimentRecord | None] = {}
        statements: dict[str, tuple[Statement, ...]] = {}
        said: dict[str, list[ExperimentRecord]] = {}
        for record_id in chunk:
            statements[record_id] = own = self.runs.statements_of(record_id)
            said[record_id] = [self.fresh.get(each.place) or self.spool.record(each.place) for each in own]
            plain[record_id] = self._plain(record_id, said[record_id])
            entry = self.entries.get(record_id)
            before[record_id] = old = self.spool.record(entry.place) if entry is not None else None
            self._names.replace(record_id, old.aliases if old else (), plain[record_id].aliases)
        upserts: list[ExperimentRecord] = []
        children: list[str] = []
        for record_id, record in plain.items():
            own = statements[record_id]
            parent = self._parent_of(record, plain)
            made = _derived(parent, record, self._directions) if parent is not None else record
            entry = self.entries.get(record_id)
            if made is said[record_id][0]:
                place = own[0].place
            else:
                place, made = self.spool.put(made, entry.place if entry is not None else own[0].place)
            facts = facts_of(made, self._directions)
            facts = self._known_facts.setdefault(facts, facts)
            # A statement without facts is a new one, which may stand elsewhere than the one before.
            self._is_reordered |= entry is None or len(own) > 1 or own[0].is_merged or own[0].facts is None
            for statement in own:
                assert isinstance(statement.source, SourceState)
                statement.source.count(statement, facts, is_merged=len(own) > 1)
            if entry is not None and entry.place == place:
                continue
            if entry is not None:
                self.tally.add(entry.facts, -1)
            self.tally.add(facts)
            self.entries[record_id] = Entry(place, facts)
            self._deadlines.set(record_id, deadline_of(made))
            old = before[record_id]
            self._children.replace(record_id, old.parent if old else None, made.parent)
            upserts.append(made)
            if chunk[record_id]:
                names = dict.fromkeys((record_id, *made.aliases, *(old.aliases if old else ())))
                children += [child for child in self._children.of(names) if child not in plain]
        return upserts, children

    def _plain(self, record_id: str, said: Sequence[ExperimentRecord]) -> ExperimentRecord:
        """All but what it derives from."""
        record = _united(said)
        amendments = [self.spool.record(each.place) for each in self.amendments.of(record_id)]
        if amendments:
            with suppress(ValidationError):  # what fits in each does not fit together; the record itself is not lost
                record = fold(record, amendments)
        deadline = deadline_of(record)
        return stopped(record) if deadline is not None and self._now is not None and deadline <= self._now else record

    def _parent_of(self, record: ExperimentRecord, plain: Mapping[str, ExperimentRecord]) -> ExperimentRecord | None:
        if not record.parent:
            return None
        name = record.parent
        parent_id = name if name in plain or name in self.entries else self._names.owner(name)
        if parent_id is None or parent_id == record.id:
            return None
        if parent_id in plain:
            return plain[parent_id]
        entry = self.entries.get(parent_id)
        return self.spool.record(entry.place) if entry is not None else None

    def _ordered(self, states: Sequence[SourceState], upserts: Iterable[ExperimentRecord]) -> dict[str, Entry]:
        """All entries in the order of the sources."""
        entries = self.entries
        if not self._is_reordered:
            return {**self._ordered_before, **{record.id: entries[record.id] for record in upserts}}
        self._is_reordered = False
        found: dict[str, Entry] = {}
        for state in states:
            mine = {key: entries[key] for key in state.standing if key in entries and key not in found}
            found = {**found, **mine} if found else mine
        return found


def _united(said: Sequence[ExperimentRecord]) -> ExperimentRecord:
    """Whatever two sources say of a run, it costs none of the others; the first has the last word."""
    try:
        return united(said)
    except Exception:
        return said[0]


def _derived(parent: ExperimentRecord, record: ExperimentRecord, directions: Directions | None) -> ExperimentRecord:
    try:
        return with_derivation(parent, record, directions)
    except Exception:  # likewise
        return record
