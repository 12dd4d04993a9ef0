"""From runs as a store of MLflow's holds them to the records that are new or changed, each with its place in a family.

Shared by the database and the file store: what is read again and found to be as it was makes no record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.mlflow.family import Families, Member, Place, member_of
from tried.pool.sources.mlflow.run import RunInfo, tracked_run
from tried.pool.sources.source import Skipped
from tried.pool.sources.tracked_run import record_of

NAN: Final = float("nan")
"""The one object that stands for NaN here: a hash of it is the same each time."""

_ROUNDS: Final = 3
_TAGS: Final = 0xFFFF


@dataclass(slots=True)
class StoredRun:
    """A run as it lies in a store."""

    info: RunInfo
    params: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    nonfinite: dict[str, int | None] = field(default_factory=dict)
    places: tuple[str, ...] = ()

    def digest(self, place: Place) -> int:
        """Equal for equal runs, within one process. Ends in how many tags there are: see `tags_in`."""
        items = (frozenset(self.params.items()), frozenset(self.metrics.items()), frozenset(self.tags.items()))
        return (hash((self.info, place, items)) & ~_TAGS) | min(len(self.tags), _TAGS)


def tags_in(digest: int) -> int:
    """How many tags a run has (65,535: at least)."""
    return digest & _TAGS


Read = Callable[[Sequence[str]], Mapping[str, StoredRun]]
"""Reads runs by id; those that are gone are missing from what it gives."""


@dataclass(slots=True)
class Batch:
    records: list[ExperimentRecord] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def batch_of(
    run_ids: Iterable[str], read: Read, families: Families, digests: dict[str, int], homes: Sequence[Path]
) -> Batch:
    """The records of these runs, as far as they are not as `digests` knows them, and of those whose place in a family
    they change. Changes `families` and `digests`."""
    runs: dict[str, StoredRun] = {}
    wanted = list(run_ids)
    affected: set[str] = set()
    for _ in range(_ROUNDS):
        if not wanted:
            break
        found = read(wanted)
        runs.update(found)
        affected |= families.take({run_id: _member(run_id, run, families) for run_id, run in found.items()})
        parents = [run_id for run_id in families.without_facts() if run_id in runs]
        affected |= families.take({run_id: _member(run_id, runs[run_id], families) for run_id in parents})
        wanted = sorted((affected | set(families.without_facts())) - runs.keys())
        wanted = [run_id for run_id in wanted if run_id in digests or run_id in families.members]
    batch = Batch()
    for run_id, run in runs.items():
        place = families.place_of(run_id)
        digest = run.digest(place)
        if digests.get(run_id) == digest:
            continue
        try:
            batch.records.append(_record(run, place, homes))
        except (ValueError, TypeError, RecursionError) as error:
            batch.skipped.append(Skipped(f"run {run_id}", f"makes no record: {str(error)[:300]}"))
        digests[run_id] = digest
    return batch


def _member(run_id: str, run: StoredRun, families: Families) -> Member | None:
    if not families.has_relations(run_id, run.tags):
        return None
    return member_of(run.params, run.metrics, run.tags)


def _record(run: StoredRun, place: Place, homes: Sequence[Path]) -> ExperimentRecord:
    tracked = tracked_run(
        run.info,
        run.params,
        run.metrics,
        run.tags,
        nonfinite=run.nonfinite,
        role=place.role,
        sweep=place.sweep,
        homes=homes,
        places=run.places,
    )
    return record_of(tracked)
