"""Runs of an MLflow server, over its REST interface (`/api/2.0/mlflow/…`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tried.pool.record import as_number
from tried.pool.sources.mlflow.batch import StoredRun, batch_of
from tried.pool.sources.mlflow.family import Families
from tried.pool.sources.mlflow.run import RunInfo
from tried.pool.sources.remote.fetch import Made, Page, Runs
from tried.pool.sources.remote.http import RemoteClient, RemoteFailure
from tried.pool.sources.remote.tracker import RemoteTracker, shown_address

SEARCH_EXPERIMENTS: Final = "/api/2.0/mlflow/experiments/search"
SEARCH_RUNS: Final = "/api/2.0/mlflow/runs/search"

PAGE: Final = 500
EXPERIMENT_PAGES: Final = 100
EXPERIMENTS_AT_ONCE: Final = 100
"""Experiments that one request asks for."""

RUNNING_PAGES: Final = 5
"""Pages of runs that are said to be running: of those that nobody ended there may be many."""

OVERLAP_MS: Final = 10 * 60 * 1000
"""Clocks differ, and a run is known to the server some time after it began."""

TAG_LIMIT: Final = 20_000
_DROPPED_TAGS: Final = frozenset({"mlflow.log-model.history", "mlflow.loggedArtifacts", "mlflow.user"})


@dataclass(slots=True)
class _Memory:
    families: Families = field(default_factory=Families)
    digests: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MlflowServer:
    tracker: RemoteTracker

    def page(self, client: RemoteClient, token: Any) -> Page:
        experiments = self._experiments(client)
        chunks = _chunks(sorted(experiments))
        number, inner = token if isinstance(token, list) and len(token) == 2 else (0, None)
        if not isinstance(number, int) or not 0 <= number < len(chunks):
            return Page({})
        try:
            runs, following = self._search(client, experiments, chunks[number], "", inner)
        except RemoteFailure:
            if not inner:
                raise
            runs, following = self._search(client, experiments, chunks[number], "", None)  # the place is no more
        after: Any = [number, following] if following else [number + 1, None]
        return Page(runs, None if after[0] >= len(chunks) else after, _newest(runs))

    def recent(self, client: RemoteClient, since: float) -> Iterator[Page]:
        experiments = self._experiments(client)
        after = max(0, int(since) - OVERLAP_MS)
        for chunk in _chunks(sorted(experiments)):
            for condition, limit in (
                (f"attributes.start_time > {after}", None),
                (f"attributes.end_time > {after}", None),
                ("attributes.status = 'RUNNING'", RUNNING_PAGES),
            ):
                token, number = None, 0
                while limit is None or number < limit:
                    runs, token = self._search(client, experiments, chunk, condition, token)
                    number += 1
                    yield Page(runs, None, _newest(runs))
                    if not token:
                        break

    def records(
        self,
        fresh: Mapping[str, Mapping[str, Any] | None],
        memory: object,
        known: Mapping[str, int],
        again: Callable[[str], Mapping[str, Any] | None],
    ) -> Made:
        before = memory if isinstance(memory, _Memory) else _Memory()
        now = _Memory(before.families.copy(), dict(before.digests))
        gone = [run_id for run_id, run in fresh.items() if run is None]
        affected = now.families.take(dict.fromkeys(gone))
        for run_id in gone:
            now.digests.pop(run_id, None)

        def read(run_ids: Sequence[str]) -> dict[str, StoredRun]:
            found: dict[str, StoredRun] = {}
            for run_id in run_ids:
                run = fresh.get(run_id) if run_id in fresh else again(run_id) if run_id in known else None
                if run is not None:
                    found[run_id] = self._stored(run_id, run)
            return found

        wanted = [run_id for run_id, run in fresh.items() if run is not None]
        wanted += sorted(affected - fresh.keys())
        batch = batch_of(wanted, read, now.families, now.digests, ())
        return Made(batch.records, batch.skipped, now)

    def _stored(self, run_id: str, run: Mapping[str, Any]) -> StoredRun:
        tags = _texts(run.get("tags"))
        address = shown_address(self.tracker.address).rstrip("/")
        info = RunInfo(
            run_id=run_id,
            name=_text(run.get("name")),
            status=_text(run.get("status")),
            started=_time(run.get("started")),
            ended=_time(run.get("ended")),
            experiment=_text(run.get("experiment")),
        )
        metrics = run.get("metrics")
        numbers = {
            str(key): number
            for key, value in (metrics.items() if isinstance(metrics, Mapping) else ())
            if (number := as_number(value)) is not None
        }
        place = f"{address}/#/experiments/{run.get('experiment_id', '')}/runs/{run_id}"
        return StoredRun(info, dict(_texts(run.get("params"))), numbers, tags, places=(place,))

    def _experiments(self, client: RemoteClient) -> dict[str, str]:
        """The names of experiments by id. Raises RemoteFailure, also where one that is wanted is not there."""
        found: dict[str, str] = {}
        token: str | None = None
        for _ in range(EXPERIMENT_PAGES):
            body: dict[str, Any] = {"max_results": 1000, "view_type": "ACTIVE_ONLY"}
            answer = _mapping(client.post(SEARCH_EXPERIMENTS, body | ({"page_token": token} if token else {})))
            for each in _list(answer.get("experiments")):
                if isinstance(each, dict) and isinstance(each.get("experiment_id"), str):
                    found[each["experiment_id"]] = str(each.get("name") or "")
            token = _text(answer.get("next_page_token"))
            if not token:
                break
        wanted = set(self.tracker.projects)
        if missing := sorted(wanted - set(found.values())):
            raise RemoteFailure(f"has no experiment named {client.shown(missing[0])!r} that may be read")
        return {key: name for key, name in found.items() if not wanted or name in wanted}

    def _search(
        self,
        client: RemoteClient,
        experiments: Mapping[str, str],
        ids: Sequence[str],
        condition: str,
        token: str | None,
    ) -> tuple[Runs, str | None]:
        body: dict[str, Any] = {
            "experiment_ids": list(ids),
            "max_results": PAGE,
            "run_view_type": "ACTIVE_ONLY",
            "order_by": ["attributes.start_time ASC"],
        }
        if condition:
            body["filter"] = condition
        if token:
            body["page_token"] = token
        answer = _mapping(client.post(SEARCH_RUNS, body))
        runs: Runs = {}
        for each in _list(answer.get("runs")):
            kept = _kept(each, experiments)
            if kept is not None:
                runs[kept[0]] = kept[1]
        following = _text(answer.get("next_page_token"))
        return runs, following if following and following != token else None


def _kept(run: Any, experiments: Mapping[str, str]) -> tuple[str, dict[str, Any]] | None:
    """(id, what is kept of a run as the server tells it)"""
    info = run.get("info") if isinstance(run, dict) else None
    if not isinstance(info, dict):
        return None
    run_id = info.get("run_id") or info.get("run_uuid")
    if not isinstance(run_id, str) or not run_id:
        return None
    data = run.get("data") if isinstance(run.get("data"), dict) else {}
    experiment = str(info.get("experiment_id") or "")
    tags = {k: v[:TAG_LIMIT] for k, v in _pairs(data.get("tags")) if isinstance(v, str) and k not in _DROPPED_TAGS}
    return run_id, {
        "name": info.get("run_name"),
        "status": info.get("status"),
        "started": _time(info.get("start_time")),
        "ended": _time(info.get("end_time")),
        "experiment": experiments.get(experiment),
        "experiment_id": experiment,
        "params": dict(_pairs(data.get("params"))),
        "metrics": dict(_pairs(data.get("metrics"))),
        "tags": tags,
    }


def _pairs(items: Any) -> Iterator[tuple[str, Any]]:
    for item in _list(items):
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            yield item["key"], item.get("value")


def _newest(runs: Runs) -> float:
    """The latest time of these runs, in ms; the future counts as now."""
    times = [t for run in runs.values() for t in (run["started"], run["ended"]) if t is not None]
    return min(max(times, default=0.0), time.time() * 1000)


def _time(value: Any) -> float | None:
    """Milliseconds, which REST gives as a number or as text."""
    number = as_number(value)
    return number if number is not None and 0 < number < 1e15 else None


def _chunks(ids: Sequence[str]) -> list[Sequence[str]]:
    return [ids[at : at + EXPERIMENTS_AT_ONCE] for at in range(0, len(ids), EXPERIMENTS_AT_ONCE)]


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RemoteFailure("answered with something that MLflow does not answer: is this its address?")
    return value


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _texts(value: Any) -> dict[str, str]:
    return {str(k): v for k, v in value.items() if isinstance(v, str)} if isinstance(value, Mapping) else {}
