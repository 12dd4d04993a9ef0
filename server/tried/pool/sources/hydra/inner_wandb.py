"""A run of W&B inside a Hydra job's folder, where W&B writes if it is started there or told to: it is the job's own.

The job keeps its id, name and parameters; the run adds what Hydra does not know. Its id is an alias, so that the same
run from another source (a server, a copy of the folder) is the same record.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from tried.pool.sources.common.run_files import FolderReader, modified, names_in
from tried.pool.sources.tracked_run import TrackedRun
from tried.pool.sources.wandb.folder import FolderName, files_of, parse_name, read_folder
from tried.pool.sources.wandb.run import tracked_run
from tried.storage.paths import is_link

FOLDER: Final = "wandb"


def with_wandb(run: TrackedRun, job: FolderReader) -> TrackedRun:
    """The job's run with what W&B says of it: metrics, notes, tags, labels, commit, and how it ended if the job's own
    files do not tell."""
    name = _newest(job.folder)
    if name is None:
        return run
    folder = job.folder / FOLDER / name.name
    reading = read_folder(folder, name)
    for file, why in reading.complaints:
        job.broken[f"{job.key}/{FOLDER}/{name.name}/{file}"] = why
        job.half_written = max(job.half_written, *(modified(path) or 0.0 for path in files_of(folder, name.run_id)))
    if reading.run is None:
        return run
    theirs = tracked_run(reading.run)
    told = run.status is not None or run.error is not None
    return replace(
        run,
        status=run.status if told else theirs.status,
        exit_code=None if told else theirs.exit_code,
        error=run.error or theirs.error,
        params={**theirs.params, **run.params} if not run.params else run.params,
        metrics={**theirs.metrics, **run.metrics},
        nonfinite={**theirs.nonfinite, **run.nonfinite},
        directions={**theirs.directions, **run.directions},
        seconds=run.seconds if run.seconds is not None else theirs.seconds,
        ended=run.ended or theirs.ended,
        note=theirs.note,
        tags=[*run.tags, *theirs.tags],
        labels={**theirs.labels, **run.labels},
        research_line=run.research_line or theirs.research_line,
        parent=run.parent or theirs.parent,
        commit=theirs.commit,
        dirty=theirs.dirty,
        url=theirs.url,
        aliases=[*run.aliases, theirs.record_id],
        places=[*run.places, str(folder)],
    )


def wandb_files(job: Path) -> Iterator[Path]:
    """The files of that run, by which a change of it is seen."""
    name = _newest(job)
    if name is not None:
        yield from files_of(job / FOLDER / name.name, name.run_id)


def _newest(job: Path) -> FolderName | None:
    """Of several runs in one job the last one, which stands for its result. Links are none: `latest-run` is one, and
    others may lead anywhere."""
    home = job / FOLDER
    named = (name for each in names_in(home) if (name := parse_name(each)) is not None)
    found = [name for name in named if not is_link(home / name.name)]
    return max(found, key=lambda name: (name.started, name.name), default=None)
