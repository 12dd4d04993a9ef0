"""Which amendments belong to which record, over all sources of a pool, and in which order they apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tried.pool.record import ExperimentRecord
from tried.pool.spool import Place

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Amendment:
    """What is to be known of an amendment to find its record; itself it lies in the spool."""

    id: str
    amends: str | None
    time: datetime | None
    place: Place

    @classmethod
    def of(cls, record: ExperimentRecord, place: Place) -> Amendment:
        return cls(record.id, record.amends, record.time, place)

    @property
    def named(self) -> str:
        """What it amends: a record, an alias, or another amendment; without a word of it, what has its own id."""
        return self.amends or self.id


@dataclass(frozen=True)
class Amendments:
    """`by_record`: the amendments of each record, in the order in which they apply. `waiting`: for each source, by
    its place, those whose record no source has (yet). `names`: all names on which this rests."""

    by_record: Mapping[str, tuple[Amendment, ...]] = field(default_factory=dict)
    waiting: Mapping[int, tuple[Amendment, ...]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()

    def of(self, record_id: str) -> tuple[Amendment, ...]:
        return self.by_record.get(record_id, ())


def assign(sources: Sequence[Iterable[Amendment]], resolve: Callable[[str], str | None]) -> Amendments:
    """Find what each amendment amends: a record, one of its aliases, or another amendment of it. `resolve` gives the
    record of an id or alias.

    In one journal the order is that of its lines; between journals the time of each counts (one without a time is as
    old as the one before it), then the order of the sources.
    """
    timed: list[tuple[datetime, int, int, Amendment]] = []
    for place, amendments in enumerate(sources):
        latest = _LONG_AGO
        for number, amendment in enumerate(amendments):
            latest = max(latest, amendment.time or _LONG_AGO)
            timed.append((latest, place, number, amendment))
    timed.sort(key=lambda item: item[:3])
    named = {amendment.id: amendment for _, _, _, amendment in timed}
    by_record: dict[str, list[Amendment]] = {}
    waiting: dict[int, list[Amendment]] = {}
    for _, place, _, amendment in timed:
        target = _target(amendment, resolve, named)
        if target is None:
            waiting.setdefault(place, []).append(amendment)
        else:
            by_record.setdefault(target, []).append(amendment)
    return Amendments(
        {key: tuple(found) for key, found in by_record.items()},
        {place: tuple(found) for place, found in waiting.items()},
        frozenset(amendment.named for _, _, _, amendment in timed),
    )


def _target(amendment: Amendment, resolve: Callable[[str], str | None], named: Mapping[str, Amendment]) -> str | None:
    name = amendment.named
    seen: set[str] = set()
    while name not in seen:
        if (target := resolve(name)) is not None:
            return target
        seen.add(name)
        if name not in named:
            return None
        name = named[name].named
    return None
