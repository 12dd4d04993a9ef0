"""Which runs somebody means who points at a place: a run's folder, a file in it, a config that repeats them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from tried.draft.draft import ExperimentDraft
from tried.findings.find import own_line, scopes
from tried.findings.repeat import repeats
from tried.findings.settings import FindingSettings
from tried.pool.history import ParameterHistory
from tried.pool.run import Run


def runs_at(runs: Iterable[Run], place: PurePath, home: PurePath | None) -> list[Run]:
    """The runs whose folder a place is; where there are none, those whose folder lies in it, or in whose it lies.

    `place` is absolute; folders that are told relatively start from `home`.
    """
    here: list[Run] = []
    inside: list[Run] = []
    around: list[Run] = []
    for run in runs:
        folders = _folders(run, home)
        if place in folders:
            here.append(run)
        elif any(place in folder.parents for folder in folders):
            inside.append(run)
        elif any(folder in place.parents and folder != home for folder in folders):
            around.append(run)
    return here or inside or around


def _folders(run: Run, home: PurePath | None) -> list[PurePath]:
    record = run.record
    told = [record.run_dir, *(place for place in record.places if "://" not in place)]
    return [home / folder if home is not None else PurePath(folder) for folder in told if folder]


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
