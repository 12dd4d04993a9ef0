"""soma's run folders as a source: `.soma/runs/<run>/{manifest,status,study,graph}.json`.

soma's journal beside them tells of the same runs, by their ids or those of their studies; these are aliases here, so
that the pool makes one record of both. The trials of a study are experiments of their own, the study is their sweep.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint
from tried.pool.record import Direction
from tried.pool.sources.common.folder_watch import Signature, signature_of
from tried.pool.sources.common.json_parts import list_in, mapping_in, text_in, time_in
from tried.pool.sources.common.logged_metrics import Logged, last_of
from tried.pool.sources.common.run_files import FolderReader, modified, moment_of
from tried.pool.sources.common.run_folders import Found, Reading, scan_folders
from tried.pool.sources.common.run_parents import subfolders
from tried.pool.sources.source import Delta
from tried.pool.sources.tracked_run import Status, TrackedRun
from tried.storage.paths import is_folder

FILES: Final = ("manifest.json", "status.json", "study.json", "graph.json")

STATES: Final[Mapping[str, Status]] = {
    **dict.fromkeys(("completed", "complete", "finished", "succeeded", "success", "done"), "finished"),
    **dict.fromkeys(("failed", "failure", "error", "crashed", "errored"), "failed"),
    **dict.fromkeys(("interrupted", "cancelled", "canceled", "killed", "stopped", "aborted"), "killed"),
    **dict.fromkeys(("running", "started", "active", "resumed"), "running"),
    **dict.fromkeys(("pending", "queued", "created", "waiting", "planned"), "waiting"),
    "pruned": "pruned",
}

TRIAL_LIMIT: Final = 10_000
NODE_LIMIT: Final = 10_000
_ERRORS: Final = ("traceback", "error", "exception", "message", "reason")


@dataclass(frozen=True)
class SomaRunsSource:
    """`path` is `.soma/runs`."""

    path: Path
    project: Path | None = None
    kind: str = "soma"

    def scan(self, cursor: object | None) -> Delta:
        return scan_folders(self, cursor)

    def line_of(self, record_id: str) -> int | None:
        return None

    def found(self, before: Any, now: float) -> Found:
        found = subfolders(self.path, before, now, _may_be_run)
        if found.state is before:
            return found
        keys = tuple(sorted(found.keys, key=_in_time))
        return Found(keys, found.state and (found.state[0], keys), found.skipped, found.failure)

    def signature(self, key: str) -> Signature | None:
        return signature_of(self.path / key / name for name in FILES)

    def read(self, key: str) -> Reading:
        run = FolderReader(self.path / key, key)
        manifest = mapping_in(run.json("manifest.json"))
        study = mapping_in(run.json("study.json"))
        tracked = _tracked(run, manifest, study, self.record_id(key))
        return Reading.of(tracked, run, list(_trials(tracked, study, self.record_id(key))))

    def record_id(self, key: str) -> str:
        return f"{self.kind}:{key}"


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    runs = folder / ".soma" / "runs"
    return (runs,) if ".soma" in folders and is_folder(runs) else ()


def _may_be_run(name: str) -> bool:
    return name[0] != "."


def _in_time(name: str) -> tuple[str, str]:
    """`run_20260728T083737_86d9` and `study_…` by their time."""
    kind, _, moment = name.partition("_")
    return (moment or kind, kind)


def _tracked(run: FolderReader, manifest: Mapping[str, Any], study: Mapping[str, Any], record_id: str) -> TrackedRun:
    status = mapping_in(run.json("status.json"))
    git = mapping_in(manifest.get("git"))
    parent = text_in(manifest.get("parent_run_id"))
    seeds = manifest.get("seeds")
    kind = text_in(manifest.get("kind"))
    ids = (text_in(manifest.get("run_id")), text_in(study.get("id")))
    frozen = mapping_in(study.get("frozen"))
    started = time_in(manifest.get("created_at"))
    return TrackedRun(
        kind="soma",
        native_id=run.key,
        name=text_in(manifest.get("name")) or run.key,
        status=STATES.get((text_in(status.get("state")) or "").lower()),
        params={**frozen, **({"seeds": seeds} if isinstance(seeds, dict) and seeds else {})},
        started=started if started is not None else moment_of(modified(run.folder / "manifest.json")),
        ended=time_in(status.get("finished_at")),
        last_written=time_in(status.get("heartbeat_at")) or time_in(status.get("updated_at")),
        note=text_in(manifest.get("notes")),
        tags=[tag for tag in list_in(manifest.get("tags")) if isinstance(tag, str)],
        error=next((text for name in _ERRORS if (text := text_in(status.get(name)))), None),
        parent=f"soma:{parent}" if parent else None,
        role="sweep" if study or kind == "study" else "experiment",
        directions=_directions(study),
        objective=next(iter(_directions(study)), None),
        folder=str(run.folder),
        commit=text_in(git.get("sha")),
        dirty=git["dirty"] if isinstance(git.get("dirty"), bool) else None,
        aliases=list(dict.fromkeys([run.key, *(each for each in ids if each)])),
        places=[str(run.folder)],
        more=_graph(run.json("graph.json")),
    )


def _trials(study_run: TrackedRun, study: Mapping[str, Any], sweep: str) -> Iterator[TrackedRun]:
    """What a study tried, each an experiment."""
    frozen = mapping_in(study.get("frozen"))
    for number, trial in enumerate(islice(list_in(study.get("trials")), TRIAL_LIMIT)):
        if not isinstance(trial, dict):
            continue
        state = trial.get("state")
        word = text_in(mapping_in(state).get("trial_state")) or text_in(state) or ""
        logged = _last_metrics(list_in(trial.get("metrics")))
        name = text_in(trial.get("id")) or str(number)
        yield TrackedRun(
            kind="soma",
            native_id=f"{study_run.native_id}/{name}",
            name=f"{study_run.name} {name}",
            status=STATES.get(word.lower()),
            params={**frozen, **mapping_in(trial.get("params"))},
            metrics=logged.values,
            nonfinite=logged.nonfinite,
            directions=study_run.directions,
            objective=study_run.objective,
            started=time_in(trial.get("started_at")),
            ended=time_in(trial.get("finished_at")),
            error=next((text for key in _ERRORS if (text := text_in(mapping_in(state).get(key)))), None),
            sweep=sweep,
            research_line=study_run.name,
            commit=study_run.commit,
            dirty=study_run.dirty,
            places=study_run.places,
        )


def _last_metrics(points: Sequence[Any]) -> Logged:
    rows = [point for point in points if isinstance(point, dict) and text_in(point.get("name"))]
    return last_of({"step": row.get("step"), row["name"]: row.get("value")} for row in rows)


def _directions(study: Mapping[str, Any]) -> dict[str, Direction]:
    found: dict[str, Direction] = {}
    for objective in list_in(study.get("objectives")):
        metric, way = text_in(mapping_in(objective).get("metric")), text_in(mapping_in(objective).get("direction"))
        if metric and way and way.lower()[:3] in ("max", "min"):
            found[metric] = "max" if way.lower().startswith("max") else "min"
    return found


def _graph(graph: Any) -> dict[str, Any]:
    """The architecture of a graph whose nodes say what they are, else nothing."""
    nodes: dict[str, str] = {}
    for node in islice(list_in(mapping_in(graph).get("nodes")), NODE_LIMIT):
        token = _token(mapping_in(mapping_in(node).get("kind")))
        name = text_in(mapping_in(node).get("id"))
        if name is None or token is None:
            return {}
        nodes[name] = token
    if not nodes:
        return {}
    edges = []
    for edge in islice(list_in(mapping_in(graph).get("edges")), NODE_LIMIT):
        said = mapping_in(edge)
        source, target = _end(said, "source", "from"), _end(said, "target", "to")
        if source is not None and target is not None:
            control = "control" in str(said.get("kind") or said.get("edge_type") or "").lower()
            edges.append(ArchitectureEdge(source=source, target=target, kind="control" if control else "data"))
    return {"architecture": ArchitectureFingerprint.of(nodes, edges).model_dump(mode="json")}


def _token(kind: Mapping[str, Any]) -> str | None:
    """`filter:Name`, `step:Name` and the like, as soma's journal has it."""
    sort = (text_in(kind.get("type")) or "").lower()
    name = text_in(kind.get(f"{sort}_name")) or text_in(kind.get("name")) if sort else None
    if sort in ("filter", "step", "subgraph", "loop") and name:
        return f"{sort}:{name}"
    return sort if sort == "branch" else None


def _end(edge: Mapping[str, Any], *names: str) -> str | None:
    """An end of an edge: an id, or an object with one."""
    for name in names:
        end = edge.get(name)
        text = text_in(end) or text_in(mapping_in(end).get("node")) or text_in(mapping_in(end).get("id"))
        if text is not None:
            return text
    return None
