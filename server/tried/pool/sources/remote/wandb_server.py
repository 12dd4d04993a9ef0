"""Runs of projects on a W&B server, over its GraphQL interface."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlsplit

from tried.pool.sources.remote.fetch import Made, Page, Runs
from tried.pool.sources.remote.http import RemoteClient, RemoteFailure
from tried.pool.sources.remote.tracker import WANDB_ADDRESS, RemoteTracker, shown_address
from tried.pool.sources.source import Skipped
from tried.pool.sources.tracked_run import record_of
from tried.pool.sources.wandb.run import STATES, WandbRun, from_json, moment, tracked_run, values_of

GRAPHQL: Final = "/graphql"
PAGE: Final = 100
OVERLAP_SECONDS: Final = 10 * 60
RECENT_PAGES: Final = 1_000

FIELDS: Final = (
    *("name", "displayName", "state", "config", "summaryMetrics", "group", "jobType", "commit", "createdAt"),
    *("heartbeatAt", "notes", "tags", "sweepName"),
)
QUERY: Final = f"""query Runs($entity: String!, $project: String!, $cursor: String, $perPage: Int!, $order: String) {{
  project(name: $project, entityName: $entity) {{
    runs(after: $cursor, first: $perPage, order: $order) {{
      edges {{ node {{ {" ".join(FIELDS)} }} }}
      pageInfo {{ endCursor hasNextPage }}
    }}
  }}
}}"""


@dataclass(frozen=True, slots=True)
class WandbServer:
    tracker: RemoteTracker

    def page(self, client: RemoteClient, token: Any) -> Page:
        projects = self._projects()
        number, inner = token if isinstance(token, list) and len(token) == 2 else (0, None)
        if not isinstance(number, int) or not 0 <= number < len(projects):
            return Page({})
        runs, following = self._ask(client, projects[number], "+created_at", inner)
        after: Any = [number, following] if following else [number + 1, None]
        return Page(runs, None if after[0] >= len(projects) else after, _newest(runs))

    def recent(self, client: RemoteClient, since: float) -> Iterator[Page]:
        """The server sorts by the last heartbeat; it stands still for runs that have ended."""
        for project in self._projects():
            cursor: str | None = None
            for _ in range(RECENT_PAGES):
                runs, cursor = self._ask(client, project, "-heartbeat_at", cursor)
                yield Page(runs, None, _newest(runs))
                if cursor is None or _oldest(runs) < since - OVERLAP_SECONDS:
                    break

    def records(
        self,
        fresh: Mapping[str, Mapping[str, Any] | None],
        memory: object,
        known: Mapping[str, int],
        again: Callable[[str], Mapping[str, Any] | None],
    ) -> Made:
        made = Made([], [])
        for run_id, run in fresh.items():
            if run is None:
                continue
            try:
                made.records.append(record_of(tracked_run(self._run(run_id, run))))
            except (ValueError, TypeError, RecursionError) as error:
                made.skipped.append(Skipped(f"run {run_id}", f"makes no record: {type(error).__name__}"))
        return made

    def _run(self, run_id: str, run: Mapping[str, Any]) -> WandbRun:
        summary = from_json(run.get("summaryMetrics"))
        config = values_of(from_json(run.get("config")))
        tags = run.get("tags")
        url = self._url(run)
        return WandbRun(
            run_id=run_id,
            name=_text(run.get("displayName")),
            project=_text(run.get("project")),
            entity=_text(run.get("entity")),
            group=_text(run.get("group")),
            job_type=_text(run.get("jobType")),
            notes=_text(run.get("notes")),
            tags=[tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else [],
            sweep=_text(run.get("sweepName")),
            commit=_text(run.get("commit")),
            status=STATES.get(_text(run.get("state")).lower()),
            started=moment(run.get("createdAt")),
            last_written=moment(run.get("heartbeatAt")),
            config=config,
            summary=summary if isinstance(summary, dict) else {},
            home=_home(config),
            url=url,
            places=[url],
        )

    def _url(self, run: Mapping[str, Any]) -> str:
        shown = shown_address(self.tracker.address).rstrip("/").removesuffix(GRAPHQL)
        site = "https://wandb.ai" if urlsplit(shown).hostname == urlsplit(WANDB_ADDRESS).hostname else shown
        path = (_text(run.get("entity")), _text(run.get("project")), "runs", _text(run.get("name")))
        return "/".join((site, *(quote(part, safe="") for part in path)))

    def _projects(self) -> list[tuple[str, str]]:
        found = [tuple(name.strip().strip("/").split("/")) for name in self.tracker.projects]
        for name, parts in zip(self.tracker.projects, found, strict=True):
            if len(parts) != 2 or not all(parts):
                raise RemoteFailure(f"project {name[:100]!r}: write it as ENTITY/PROJECT")
        if not found:
            raise RemoteFailure("no project is configured: name one as ENTITY/PROJECT")
        return [(parts[0], parts[1]) for parts in found]

    def _ask(
        self, client: RemoteClient, project: tuple[str, str], order: str, cursor: str | None
    ) -> tuple[Runs, str | None]:
        entity, name = project
        variables = {"entity": entity, "project": name, "cursor": cursor, "perPage": PAGE, "order": order}
        answer = client.post(GRAPHQL, {"query": QUERY, "variables": variables})
        if not isinstance(answer, dict):
            raise RemoteFailure("answered with something that W&B does not answer: is this its address?")
        data = answer.get("data")
        errors = answer.get("errors")
        found = data.get("project") if isinstance(data, dict) else None
        if not isinstance(found, dict):
            if isinstance(errors, list) and errors:
                first = errors[0]
                said = first.get("message") if isinstance(first, dict) else None
                raise RemoteFailure(f"refused to list {entity}/{name}: {client.shown(str(said or 'no reason given'))}")
            raise RemoteFailure(f"has no project {entity}/{name}, or does not show it with these credentials")
        listed = found.get("runs")
        if not isinstance(listed, dict) or not isinstance(listed.get("edges"), list):
            raise RemoteFailure("answered with something that W&B does not answer: is this its address?")
        runs: Runs = {}
        for edge in listed["edges"]:
            node = edge.get("node") if isinstance(edge, dict) else None
            if isinstance(node, dict) and isinstance(node.get("name"), str) and node["name"]:
                kept = {key: node[key] for key in FIELDS if node.get(key) is not None}
                runs[node["name"]] = {**kept, "entity": entity, "project": name}
        info = listed.get("pageInfo")
        following = info.get("endCursor") if isinstance(info, dict) and info.get("hasNextPage") is True else None
        return runs, following if isinstance(following, str) and following and following != cursor and runs else None


def _newest(runs: Runs) -> float:
    """The last heartbeat of these runs, in seconds; the future counts as now."""
    return min(max(map(_heard, runs.values()), default=0.0), time.time())


def _oldest(runs: Runs) -> float:
    return min(map(_heard, runs.values()), default=0.0)


def _heard(run: Mapping[str, Any]) -> float:
    found = moment(run.get("heartbeatAt")) or moment(run.get("createdAt"))
    return found.timestamp() if found is not None else 0.0


def _home(config: Mapping[str, Any]) -> str:
    """The folder in which the run was started, if its configuration says so."""
    own = config.get("_wandb")
    processes = own.get("e") if isinstance(own, dict) else None
    for process in processes.values() if isinstance(processes, dict) else ():
        if isinstance(process, dict) and isinstance(process.get("root"), str):
            return str(process["root"])
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
