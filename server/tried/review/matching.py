"""Which runs somebody means who points at a place: a run's folder, a file in it, a config that repeats them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tried.draft.draft import ExperimentDraft
from tried.findings.find import own_line, scopes
from tried.findings.repeat import repeats
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import Run


def runs_at(runs: Iterable[Run], place: PurePath, home: PurePath | None) -> list[Run]:
    """The runs whose folder (or store) a place is; where there are none, those in whose output folder it lies, the
    innermost; else those whose folder lies in it.

    `place` is absolute; folders that are told relatively start from `home`.
    """
    here: list[Run] = []
    inside: list[Run] = []
    around: dict[PurePath, list[Run]] = {}
    for run in runs:
        record = run.record
        output = _absolute(record.run_dir, home) if record.run_dir else None
        folders = [_absolute(one, home) for one in record.places if "://" not in one]
        folders += [output] if output is not None else []
        if place in folders:
            here.append(run)
        elif output is not None and output != home and output in place.parents:
            around.setdefault(output, []).append(run)
        elif any(place in folder.parents for folder in folders):
            inside.append(run)
    if here or not around:
        return here or inside
    return around[max(around, key=lambda folder: len(folder.parts))]


def _absolute(folder: str, home: PurePath | None) -> PurePath:
    return home / folder if home is not None else PurePath(folder)


def repeats_of(drafts: Sequence[ExperimentDraft], history: ParameterHistory, settings: FindingSettings) -> list[Run]:
    """The runs that drafts repeat to the letter, in their own research line where one is known."""
    found: dict[str, Run] = {}
    for draft in drafts:
        own = own_line(draft, history, settings)
        for scope in scopes(draft, history, settings):
            if own is None or scope.line is own:
                found.update((run.id, run) for run in repeats(scope)[0])
    return sorted(found.values(), key=lambda run: run.order)


def members_of(runs: Iterable[Run], sweep: str) -> list[Run]:
    """The members of a search, named by its id or by what that ends in after a colon or slash."""
    ends = (f":{sweep}", f"/{sweep}")
    return [run for run in runs if (name := run.record.sweep) and (name == sweep or name.endswith(ends))]
