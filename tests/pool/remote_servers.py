"""HTTP servers for tests: one whose answers a test decides, and a W&B server of a few runs."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    path: str
    body: Any
    authorization: str | None
    host: str | None


@dataclass
class LocalServer:
    """`answer` is called with the handler for each request; what was asked is kept."""

    answer: Callable[[BaseHTTPRequestHandler, Asked], None]
    asked: list[Asked] = field(default_factory=list)
    address: str = ""


@contextmanager
def serving(answer: Callable[[BaseHTTPRequestHandler, Asked], None]) -> Iterator[LocalServer]:
    here = LocalServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            data = self.rfile.read(length)
            one = Asked(
                self.path,
                json.loads(data) if data else None,
                self.headers.get("Authorization"),
                self.headers.get("Host"),
            )
            here.asked.append(one)
            self.close_connection = True
            with suppress(BrokenPipeError, ConnectionResetError):
                here.answer(self, one)

        do_GET = handle_any  # noqa: N815
        do_POST = handle_any  # noqa: N815

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    here.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield here
    finally:
        server.shutdown()
        server.server_close()


def respond(
    handler: BaseHTTPRequestHandler, body: bytes | Any, status: int = 200, headers: dict[str, str] | None = None
) -> None:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {
        "Content-Type": "application/json",
        "Content-Length": str(len(data)),
        **(headers or {}),
    }.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(data)


@dataclass
class WandbApi:
    """The part of W&B's GraphQL interface that lists runs: `project.runs(after, first, order)` with edges and pageInfo.

    A cursor is a position. `key`: the API key that is accepted.
    """

    key: str = ""
    runs: list[dict[str, Any]] = field(default_factory=list)
    entity: str = "team"
    project: str = "denoise"
    page: int = 2

    def answer(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        wanted = "Basic " + base64.b64encode(f"api:{self.key}".encode()).decode()
        if self.key and asked.authorization != wanted:
            respond(handler, {"errors": [{"message": "user not logged in"}]}, 401)
            return
        if asked.path != "/graphql":
            respond(handler, {"message": "no such path"}, 404)
            return
        variables = asked.body["variables"]
        assert "$entity: String!" in asked.body["query"]
        if (variables["entity"], variables["project"]) != (self.entity, self.project):
            respond(handler, {"data": {"project": None}})
            return
        order = variables["order"]
        by = {"created_at": "createdAt", "heartbeat_at": "heartbeatAt"}[order[1:]]
        runs = sorted(self.runs, key=lambda run: str(run[by]), reverse=order[0] == "-")
        start = int(variables["cursor"] or 0)
        end = start + min(self.page, variables["perPage"])
        edges = [{"node": run, "cursor": str(number)} for number, run in enumerate(runs[start:end], start)]
        info = {"endCursor": str(end), "hasNextPage": end < len(runs)}
        respond(handler, {"data": {"project": {"runs": {"edges": edges, "pageInfo": info}}}})


def wandb_node(run_id: str, minute: int, **fields: Any) -> dict[str, Any]:
    """A run as the server has it: configuration and summary are JSON in text."""
    config = fields.pop("config", {"lr": 0.1})
    summary = fields.pop("summary", {"val_loss": 0.5})
    node: dict[str, Any] = {
        "name": run_id,
        "displayName": f"run {run_id}",
        "state": "finished",
        "config": json.dumps({key: {"desc": None, "value": value} for key, value in config.items()}),
        "summaryMetrics": json.dumps(summary),
        "group": None,
        "jobType": None,
        "commit": None,
        "createdAt": f"2026-03-01T10:{minute:02d}:00",
        "heartbeatAt": f"2026-03-01T11:{minute:02d}:00",
        "notes": None,
        "tags": [],
        "sweepName": None,
    }
    return {**node, **fields}


@dataclass
class MlflowApi:
    """The two searches of MLflow's REST interface; a page token is a position."""

    runs: list[dict[str, Any]] = field(default_factory=list)
    page: int = 2

    def answer(self, handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        if asked.path == "/api/2.0/mlflow/experiments/search":
            respond(handler, {"experiments": [{"experiment_id": "7", "name": "denoise"}]})
            return
        condition = asked.body.get("filter", "")
        runs = [run for run in self.runs if _holds(run["info"], condition)]
        start = int(asked.body.get("page_token") or 0)
        end = start + min(self.page, asked.body["max_results"])
        more = {"next_page_token": str(end)} if end < len(runs) else {}
        respond(handler, {"runs": runs[start:end], **more})


def _holds(info: dict[str, Any], condition: str) -> bool:
    if not condition:
        return True
    name, operator, value = condition.removeprefix("attributes.").split()
    if operator == "=":
        return bool(info.get(name) == value.strip("'"))
    return int(info.get(name) or 0) > int(value)


def mlflow_run(run_id: str, minute: int, status: str = "FINISHED", **tags: str) -> dict[str, Any]:
    start = 1_772_359_200_000 + 60_000 * minute
    return {
        "info": {
            "run_id": run_id,
            "run_name": f"run {run_id}",
            "experiment_id": "7",
            "status": status,
            "start_time": start,
            "end_time": start + 30_000 if status != "RUNNING" else None,
        },
        "data": {
            "params": [{"key": "lr", "value": "0.1"}],
            "metrics": [{"key": "val_loss", "value": 0.5, "step": 3, "timestamp": start}],
            "tags": [{"key": key.replace("__", "."), "value": value} for key, value in tags.items()],
        },
    }
