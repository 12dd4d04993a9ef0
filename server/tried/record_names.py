"""Ids of records as people use them: short where they are shown, found again by the part that was shown.

Ids of what is imported are long (`results-table:runs/results.tsv:fa14910`); the part behind the last colon is what
the people of that project call the run.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tried.pool.pool import PoolSnapshot
from tried.pool.record import ExperimentRecord

CUT: Final = "…"
SHORT_LENGTH: Final = 24
LEAST_OF_A_COMMIT: Final = 4
_BEGINNING: Final = re.compile(r"(?:.*:)?[0-9a-f]{6,}\Z")
_LONG: Final = 20
_LONG_HEX: Final = re.compile(rf"[0-9a-f]{{{_LONG},}}\Z")
SHORT_BEGINNING: Final = 8
NEAR_LIMIT: Final = 2_000
"""Ids of a similar length that a mistyped one is compared with."""


@dataclass(frozen=True, slots=True)
class Found:
    """`record` if exactly one is meant; else the ids of the `several` that could be, or those that are `near`."""

    record: ExperimentRecord | None = None
    several: tuple[str, ...] = ()
    near: tuple[str, ...] = ()

    def why_not(self, named: str) -> str:
        """Why there is no one record, in a few words."""
        if self.several:
            shown = ", ".join(self.several[:5]) + (", …" if len(self.several) > 5 else "")
            return f"{named} is {len(self.several)} records: {shown}"
        hint = f"; did you mean {' or '.join(self.near)}?" if self.near else ""
        return f"no record {named} in the pool{hint}"


def short_id(record_id: str, limit: int = SHORT_LENGTH) -> str:
    """An id for a table or a menu, at most `limit` characters: `mlflow:c94d1f60`, `…:fa14910`, or cut in the middle."""
    if len(record_id) <= limit:
        return record_id
    kind, colon, last = record_id.rpartition(":")
    beginning = f"{kind}{colon}{last[:SHORT_BEGINNING]}"
    if _LONG_HEX.match(last) and len(beginning) <= limit:
        return beginning
    if last and len(last) + 2 <= limit:
        return f"{CUT}:{last}"
    head = (limit - 1) // 2
    return f"{record_id[:head]}{CUT}{record_id[len(record_id) - (limit - 1 - head) :]}"


def is_made_up(record_id: str) -> bool:
    """True where the last part of an id is a number that a tracker made up, and that tells nobody anything."""
    return _LONG_HEX.match(record_id.rpartition(":")[2]) is not None


def native_ids(snapshot: PoolSnapshot) -> dict[str, str]:
    """By id the part behind its last colon, where no other record has the same."""
    owners: dict[str, str | None] = {}
    for record_id in snapshot.records:
        native = record_id.rpartition(":")[2]
        if native != record_id:
            owners[native] = None if native in owners or native in snapshot.records else record_id
    return {record_id: native for native, record_id in owners.items() if native and record_id is not None}


def find_record(snapshot: PoolSnapshot, named: str) -> Found:
    """The record of an id, an alias, what an id ends with after a colon, a run's own id, what an id ends with after a
    slash, the beginning of a long hexadecimal id, or (the start of) a commit."""
    named = named.strip()
    if record := snapshot.get(named):
        return Found(record)
    part = named.removeprefix(CUT).removeprefix(":")
    for meant in (_by_last_part, _by_run, _by_path_end, _by_beginning, _by_commit) if part else ():
        ids = tuple(dict.fromkeys(meant(snapshot, part)))
        if len(ids) == 1:
            return Found(snapshot.get(ids[0]))
        if ids:
            return Found(several=ids)
    return Found(near=tuple(_near(snapshot, part)))


def _by_last_part(snapshot: PoolSnapshot, part: str) -> Iterator[str]:
    yield from _by_end(snapshot, f":{part}")


def _by_path_end(snapshot: PoolSnapshot, part: str) -> Iterator[str]:
    yield from _by_end(snapshot, f"/{part}")


def _by_end(snapshot: PoolSnapshot, ending: str) -> Iterator[str]:
    yield from (record_id for record_id in snapshot.records if record_id.endswith(ending))
    yield from (record_id for alias, record_id in snapshot.aliases.items() if alias.endswith(ending))


def _by_run(snapshot: PoolSnapshot, part: str) -> Iterator[str]:
    yield from (record_id for record_id, facts in snapshot.facts() if facts.run_id == part)


def _by_beginning(snapshot: PoolSnapshot, part: str) -> Iterator[str]:
    """Of ids such as MLflow's, which messages show so."""
    if not _BEGINNING.match(part):
        return
    kind, colon, digits = part.rpartition(":")
    for record_id in snapshot.records:
        own_kind, _, native = record_id.rpartition(":")
        if native.startswith(digits) and len(native) >= _LONG and (not colon or own_kind == kind):
            yield record_id


def _by_commit(snapshot: PoolSnapshot, part: str) -> Iterator[str]:
    if len(part) < LEAST_OF_A_COMMIT:
        return
    yield from (id_ for id_, facts in snapshot.facts() if facts.commit is not None and facts.commit.startswith(part))


def _near(snapshot: PoolSnapshot, named: str) -> Iterator[str]:
    """Ids spelled much like it, by their last parts unless a whole id was named."""
    shown: dict[str, str] = {}
    for record_id in snapshot.records:
        spelled = record_id if ":" in named else record_id.rpartition(":")[2]
        if abs(len(spelled) - len(named)) <= max(2, len(named) // 3):
            shown.setdefault(spelled, record_id)
            if len(shown) >= NEAR_LIMIT:
                break
    for spelled in difflib.get_close_matches(named, shown, n=3, cutoff=0.6):
        yield shown[spelled]
