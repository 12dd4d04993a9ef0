"""The parameters and metrics that DVC's files hold in commits.

Invariant: nothing here raises; what cannot be read is said in words, for each commit that has it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tried.pool.sources.common.run_files import Unreadable
from tried.pool.sources.dvc.files import locked_params, merged, metrics_in, named_files
from tried.pool.sources.tables.config_versions import config_of, problem_in
from tried.storage.git_objects import Objects
from tried.storage.repository import Repository, text_of

FILE_LIMIT: Final = 1024 * 1024


class CommitReader:
    """Reads the files of many commits in few goes; the same version of a file is read once."""

    def __init__(self, root: Path, repository: Repository, objects: Objects) -> None:
        self._objects = objects
        try:
            place = root.absolute().relative_to(repository.root).as_posix()
        except ValueError:
            place = "."
        self._prefix = "" if place == "." else f"{place}/"
        self._files: dict[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], str | None]] = {}
        self._params: dict[tuple[str, str], tuple[Mapping[str, Any], str | None]] = {}
        self._metrics: dict[tuple[str, str], tuple[Mapping[str, Any], str | None]] = {}

    def read(self, commits: Sequence[str]) -> list[tuple[dict[str, Any], dict[str, Any], list[str]]]:
        """(parameters, metrics, what could not be read) of each commit."""
        pipelines = self._texts(commits, "dvc.yaml")
        locks = self._texts(commits, "dvc.lock")
        wanted: list[tuple[tuple[str, ...], tuple[str, ...], list[str], dict[str, Any]]] = []
        for (blob, pipeline), (_, lock) in zip(pipelines, locks, strict=True):
            problems: list[str] = []
            ran: dict[str, Any] = {}
            try:
                ran = locked_params(lock)
            except Unreadable as error:
                problems.append(f"dvc.lock {error}")
            if blob not in self._files:
                try:
                    self._files[blob] = (named_files(pipeline), None)
                except Unreadable as error:
                    self._files[blob] = (named_files(None), f"dvc.yaml {error}")
            files, problem = self._files[blob]
            problems += [problem] if problem else []
            wanted.append((*files, problems, ran))
        names = [
            (commit, path)
            for commit, (params, metrics, _, _) in zip(commits, wanted, strict=True)
            for path in (*params, *metrics)
        ]
        texts = dict(zip(names, self._read(names), strict=True))
        results: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = []
        for commit, (params, metrics, problems, ran) in zip(commits, wanted, strict=True):
            stated = merged((path, self._of_params(path, *texts[commit, path], problems)) for path in params)
            measured = merged((path, self._of_metrics(path, *texts[commit, path], problems)) for path in metrics)
            results.append(({**stated, **{k: v for k, v in ran.items() if k not in stated}}, measured, problems))
        return results

    def _of_params(self, path: str, blob: str, text: str | None, problems: list[str]) -> Mapping[str, Any]:
        if text is None:
            return {}
        if (blob, path) not in self._params:
            problem = problem_in(path, text)
            self._params[blob, path] = (config_of(path, text).params, problem and f"{path}: {problem}")
        values, problem = self._params[blob, path]
        problems += [problem] if problem else []
        return values

    def _of_metrics(self, path: str, blob: str, text: str | None, problems: list[str]) -> Mapping[str, Any]:
        if text is None:
            return {}
        if (blob, path) not in self._metrics:
            try:
                self._metrics[blob, path] = (metrics_in(path, text), None)
            except Unreadable as error:
                self._metrics[blob, path] = ({}, f"{path} {error}")
        values, problem = self._metrics[blob, path]
        problems += [problem] if problem else []
        return values

    def _texts(self, commits: Sequence[str], path: str) -> list[tuple[str, str | None]]:
        return self._read([(commit, path) for commit in commits])

    def _read(self, names: Sequence[tuple[str, str]]) -> list[tuple[str, str | None]]:
        found = self._objects.read([f"{commit}:{self._prefix}{path}" for commit, path in names], FILE_LIMIT)
        return [
            (item.id, text_of(item.data)) if item is not None and item.kind == "blob" else ("", None) for item in found
        ]
