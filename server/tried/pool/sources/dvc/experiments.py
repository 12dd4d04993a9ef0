"""DVC's experiments: commits that git refs name (`refs/exps/<2>/<38>/<name>`, the numbers being the commit that they
started from), and what DVC's queue says of those that failed. Read from git's objects, without DVC.

A failed experiment leaves a trace only where it was queued: a file in `.dvc/tmp/exps/run`, with its log beside it. What
failed in the workspace is nowhere.

Invariant: an id depends on the experiment's name; where experiments share one, the oldest has it and the others add the
commit that they started from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.dvc.commits import CommitReader
from tried.pool.sources.dvc.queue import QueuedRun, queue_of, queued_run
from tried.pool.sources.source import BATCH, Delta, Skipped, limited
from tried.pool.sources.tables.results_table import research_line_of
from tried.pool.sources.tracked_run import TrackedRun, record_of
from tried.pool.sources.trailers import conclusion_in, tried_values
from tried.storage.git_formats import Commit
from tried.storage.git_objects import Objects, git_executable
from tried.storage.paths import exists
from tried.storage.repository import Repository

KIND: Final = "dvc"
PREFIX: Final = "refs/exps"
_AT_ONCE: Final = 200
"""Experiments whose files are read in one go."""

_REF = re.compile(r"refs/exps/([0-9a-f]{2})/([0-9a-f]{38}|[0-9a-f]{62})/(.+)\Z")
_GENERATED = "dvc: commit experiment "


@dataclass(frozen=True, slots=True)
class DvcCursor:
    """`refs`: name → (hash, time, the id that it was given). `tasks`: by hash of the queued commit, the file's
    signature and id. `baselines`: commits that experiments started from → id, empty where one holds no metrics.
    `signature`: of the refs, None where they have to be listed."""

    refs: Mapping[str, tuple[str, str, str]] = field(default_factory=dict)
    tasks: Mapping[str, tuple[tuple[int, int], str]] = field(default_factory=dict)
    baselines: Mapping[str, str] = field(default_factory=dict)
    signature: Hashable = None
    failure: str | None = None


@dataclass(frozen=True)
class DvcExperimentsSource:
    """The experiments of the folder that a `.dvc` folder stands in; `path` is that of the `.dvc` folder."""

    path: Path
    project: Path | None = None
    kind: str = KIND

    @property
    def root(self) -> Path:
        return self.path.parent if self.path.name == ".dvc" else self.path

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, DvcCursor) else None
        if not exists(self.path):
            return self._failed("there is no such folder", known)
        if git_executable() is None:
            return self._failed("git was not found, and DVC keeps its experiments there: add it to PATH", known)
        repository = Repository.at(self.root)
        if repository is None:
            return self._failed("lies in no git repository that can be read, and DVC keeps experiments in git", known)
        before = known if known is not None and known.failure is None else DvcCursor()
        signature = repository.refs_signature(PREFIX)
        tasks = queue_of(self.root)
        tasks_new = [name for name, state in tasks.items() if before.tasks.get(name, (None,))[0] != state]
        is_known = signature is not None and signature == before.signature
        if is_known and not tasks_new and len(tasks) == len(before.tasks):
            return Delta(cursor=known)
        refs = {name: value for name, value in repository.refs(PREFIX).items() if _REF.match(name)}
        new = [name for name, value in refs.items() if before.refs.get(name, ("",))[0] != value]
        none_gone = len(refs) == len(before.refs) and len(tasks) == len(before.tasks)
        if known is before and none_gone and not (new or tasks_new):
            return Delta(cursor=replace(before, signature=signature))
        delta, now = self._read(repository, refs, new[:BATCH], tasks, tasks_new, before)
        more = len(new) > BATCH
        said = {*(entry[2] for entry in now.refs.values()), *(entry[1] for entry in now.tasks.values())}
        said |= set(now.baselines.values())
        ids = [entry[2] for entry in before.refs.values()] + [entry[1] for entry in before.tasks.values()]
        ids += before.baselines.values()
        return replace(
            delta,
            removed=tuple(dict.fromkeys(record_id for record_id in ids if record_id and record_id not in said)),
            cursor=replace(now, signature=None if more else signature),
            reset=known is not None and known.failure is not None,
            more=more,
            total=len(refs) + len(tasks),
        )

    def line_of(self, record_id: str) -> int | None:
        return None

    def _read(
        self,
        repository: Repository,
        refs: Mapping[str, str],
        new: Sequence[str],
        tasks: Mapping[str, tuple[int, int]],
        tasks_new: Sequence[str],
        before: DvcCursor,
    ) -> tuple[Delta, DvcCursor]:
        """(what is new, what is known then)."""
        skipped: list[Skipped] = []
        kept = {name: entry for name, entry in before.refs.items() if refs.get(name) == entry[0]}
        failed = {name: queued_run(self.root, name) for name in tasks_new}
        with repository.objects() as objects:
            commits = objects.commits([refs[name] for name in new])
            times = {name: entry[1] for name, entry in kept.items()}
            times |= {name: _time_text(commits.get(refs[name])) for name in new}
            ids = _ids(times)
            renamed = [name for name, entry in kept.items() if ids[name] != entry[2]]
            commits |= objects.commits([refs[name] for name in renamed])
            reader = CommitReader(self.root, repository, objects)
            started = [_baseline(name) for name in (*new, *renamed)]
            started += [task.baseline for task in failed.values() if isinstance(task, QueuedRun)]
            own = {refs[name]: record_id for name, record_id in ids.items()}
            baselines, records = self._baselines(reader, objects, started, own, before.baselines)
            there: list[tuple[str, Commit]] = []
            for name in sorted((*new, *renamed), key=lambda name: (times[name], name)):
                if (commit := commits.get(refs[name])) is not None:
                    there.append((name, commit))
                else:
                    why = "its commit is missing; fetch it, or remove it with `dvc exp remove`"
                    skipped.append(Skipped(_shown(name), why))
            for start in range(0, len(there), _AT_ONCE):
                part = there[start : start + _AT_ONCE]
                read = reader.read([commit.id for _, commit in part])
                for (name, commit), (params, metrics, problems) in zip(part, read, strict=True):
                    skipped += [Skipped(_shown(name), problem) for problem in problems]
                    run = self._run(ids[name], _name(name), commit, params, metrics)
                    records.append(record_of(replace(run, parent=baselines.get(_baseline(name)) or None)))
            known_tasks = {name: entry for name, entry in before.tasks.items() if tasks.get(name) == entry[0]}
            for name, task in failed.items():
                known_tasks[name] = (tasks[name], "")
                if isinstance(task, Skipped):
                    skipped.append(task)
                elif task is not None:
                    ((params, _, problems),) = reader.read([task.hash])
                    skipped += [Skipped(f"queued experiment {task.name[:80]}", problem) for problem in problems]
                    record = record_of(self._queued_run(task, params, baselines.get(task.baseline) or None))
                    known_tasks[name] = (tasks[name], record.id)
                    records.append(record)
        used = {*map(_baseline, refs), *(task.baseline for task in failed.values() if isinstance(task, QueuedRun))}
        now = DvcCursor(
            refs={name: (refs[name], times[name], ids[name]) for name in times},
            tasks=known_tasks,
            baselines={commit: record_id for commit, record_id in baselines.items() if commit in used or known_tasks},
        )
        return Delta(upserts=tuple(records), skipped=limited(skipped)), now

    def _baselines(
        self,
        reader: CommitReader,
        objects: Objects,
        started: Iterable[str],
        own: Mapping[str, str],
        known: Mapping[str, str],
    ) -> tuple[dict[str, str], list[ExperimentRecord]]:
        """(by commit the id of what experiments started from, new records of such commits): another experiment, or a
        commit that holds metrics, which DVC shows as one, too."""
        found = dict(known)
        asked: dict[str, None] = {}
        for commit in started:
            if commit in own:
                found[commit] = own[commit]
            elif commit not in found and commit:
                asked[commit] = None
        commits = objects.commits(list(asked))
        found |= dict.fromkeys(asked, "")
        records: list[ExperimentRecord] = []
        for base, (params, metrics, _) in zip(commits.values(), reader.read(list(commits)), strict=True):
            if metrics:
                run = self._run(f"{KIND}:{base.id[:10]}", base.subject, base, params, metrics)
                records.append(record_of(replace(run, note=None)))
                found[base.id] = run.record_id
        return found, records

    def _run(
        self, record_id: str, name: str, commit: Commit, params: Mapping[str, Any], metrics: Mapping[str, Any]
    ) -> TrackedRun:
        said = conclusion_in(tried_values(commit.trailers))
        labels: dict[str, str] = {}
        if said is not None and said.verdict is not None:
            labels["tried.verdict"] = said.verdict
        if said is not None and said.words:
            labels["tried.conclusion"] = said.words
        return TrackedRun(
            kind=KIND,
            native_id=record_id.partition(":")[2],
            name=name,
            status="finished",
            params=params,
            metrics=metrics,
            ended=commit.time,
            note=None if commit.subject.startswith(_GENERATED) else commit.message,
            labels=labels,
            research_line=research_line_of(self.root, self.project),
            commit=commit.id,
            dirty=False,
        )

    def _queued_run(self, task: QueuedRun, params: Mapping[str, Any], parent: str | None) -> TrackedRun:
        return TrackedRun(
            kind=KIND,
            native_id=f"{task.name}@{task.hash[:7]}",
            name=task.name,
            status=task.status,
            exit_code=task.exit_code,
            params=params,
            ended=task.written if task.status != "running" else None,
            started=task.written if task.status == "running" else None,
            last_written=task.written,
            error=task.error if task.status == "failed" else None,
            research_line=research_line_of(self.root, self.project),
            parent=parent,
            commit=task.baseline,
            dirty=True,
        )

    def _failed(self, why: str, known: DvcCursor | None) -> Delta:
        if known is not None and known.failure == why:
            return Delta(cursor=known)
        return Delta(skipped=(Skipped("the folder", why),), cursor=DvcCursor(failure=why), reset=known is not None)


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """The `.dvc` folder in a folder."""
    return [folder / ".dvc"] if ".dvc" in folders else []


def _ids(times: Mapping[str, str]) -> dict[str, str]:
    """By ref: `dvc:NAME` for the oldest experiment of a name, `dvc:NAME@COMMIT` for the others."""
    taken: set[str] = set()
    ids: dict[str, str] = {}
    for name in sorted(times, key=lambda name: (times[name], name)):
        plain = f"{KIND}:{_name(name)}"
        ids[name] = plain if plain not in taken else f"{plain}@{_baseline(name)[:7]}"
        taken.add(plain)
    return ids


def _name(ref: str) -> str:
    match = _REF.match(ref)
    return match[3] if match is not None else ref


def _baseline(ref: str) -> str:
    match = _REF.match(ref)
    return match[1] + match[2] if match is not None else ""


def _shown(ref: str) -> str:
    return f"experiment {_name(ref)[:80]}"


def _time_text(commit: Commit | None) -> str:
    """Sorts by time, what has none last."""
    return commit.time.isoformat() if commit is not None and commit.time is not None else "~"
