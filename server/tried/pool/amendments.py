"""Which amendments belong to which record, over all sources of a pool, and in which order they apply."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from tried.pool.record import ExperimentRecord

_LONG_AGO = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Amendments:
    """`by_record`: the amendments of each record, in the order in which they apply. `waiting`: for each source, by
    its place, those whose record no source has (yet)."""

    by_record: Mapping[str, tuple[ExperimentRecord, ...]] = field(default_factory=dict)
    waiting: Mapping[int, tuple[ExperimentRecord, ...]] = field(default_factory=dict)

    def of(self, record_id: str) -> tuple[ExperimentRecord, ...]:
        return self.by_record.get(record_id, ())


def assign(
    sources: Sequence[Iterable[ExperimentRecord]], records: Container[str], aliases: Mapping[str, str]
) -> Amendments:
    """Resolve what each amendment amends: a record, one of its aliases, or another amendment of it.

    In one journal the order is that of its lines; between journals the time of each counts (one without a time is as
    old as the one before it), then the order of the sources.
    """
    timed: list[tuple[datetime, int, int, ExperimentRecord]] = []
    for place, amendments in enumerate(sources):
        latest = _LONG_AGO
        for number, amendment in enumerate(amendments):
            latest = max(latest, amendment.time or _LONG_AGO)
            timed.append((latest, place, number, amendment))
    timed.sort(key=lambda item: item[:3])
    named = {amendment.id: amendment for _, _, _, amendment in timed}
    by_record: dict[str, list[ExperimentRecord]] = {}
    waiting: dict[int, list[ExperimentRecord]] = {}
    for _, place, _, amendment in timed:
        target = _target(amendment, records, aliases, named)
        if target is None:
            waiting.setdefault(place, []).append(amendment)
        else:
            by_record.setdefault(target, []).append(amendment)
    return Amendments(
        {key: tuple(found) for key, found in by_record.items()},
        {place: tuple(found) for place, found in waiting.items()},
    )


def _target(
    amendment: ExperimentRecord,
    records: Container[str],
    aliases: Mapping[str, str],
    named: Mapping[str, ExperimentRecord],
) -> str | None:
    name = amendment.amends or amendment.id
    seen: set[str] = set()
    while name not in seen:
        if name in records:
            return name
        if name in aliases:
            return aliases[name]
        seen.add(name)
        if name not in named:
            return None
        name = named[name].amends or name
    return None
