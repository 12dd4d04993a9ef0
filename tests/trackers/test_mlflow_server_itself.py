"""A real MLflow server, written to by MLflow itself and followed over REST."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tried.pool.sources.kit import Said, scan_all
from tried.pool.sources.remote.source import RemoteSource, remote_source
from tried.pool.sources.remote.tracker import RemoteTracker

START_SECONDS = 120


@pytest.fixture(scope="module")
def address(trackers_python: Path, tmp_path_factory: pytest.TempPathFactory, write_with_tracker: Any) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("mlflow_server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **{name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ},
        "HOME": str(folder),
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "DO_NOT_TRACK": "true",
        "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    }
    command = [str(trackers_python), "-m", "mlflow", "server", "--backend-store-uri", f"sqlite:///{folder}/mlflow.db"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            found = f"http://127.0.0.1:{port}"
            _wait_for(found, server, folder / "server.log")
            write_with_tracker("write_mlflow_to_server.py", folder, found)
            yield found
        finally:
            os.killpg(server.pid, 15)
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, 9)
                server.wait(10)


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()[-4000:]
        try:
            with urllib.request.urlopen(f"{address}/health", timeout=2):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"the server did not start: {log.read_text()[-4000:]}")


def ask(address: str, path: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(
        f"{address}/api/2.0/mlflow/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


class Follower:
    def __init__(self, tracker: RemoteTracker, cache: Path) -> None:
        source = remote_source(tracker, cache)
        assert isinstance(source, RemoteSource)
        self.source = source
        self.said: Said | None = None

    def look(self) -> list[str]:
        """Wait for a fetch, then scan: the names of what was said."""
        self.source._background._due = 0.0
        self.source.scan(self.said.cursor if self.said else None)
        assert self.source.wait(60)
        self.said = scan_all(self.source, self.said.cursor if self.said else None, self.said)
        return [record.name for delta in self.said.deltas for record in delta.upserts]


def test_a_server_is_followed(address: str, tmp_path: Path) -> None:
    follower = Follower(RemoteTracker("mlflow", address), tmp_path / "cache")
    members = ["member 0", "member 1", "member 2"]
    assert sorted(follower.look()) == ["diverged", "failed", "first ✓", *members, "search"]
    assert follower.said is not None
    assert not follower.said.skipped
    records = {record.name: record for record in follower.said.records.values()}

    first = records["first ✓"]
    assert first.params == {"lr": "0.001", "model": {"width": 64}, "prompt": "x" * 5999}
    assert first.metrics == {"val_loss": 0.25, "scale": "inf"}
    assert (first.notes, first.tags, first.experiment) == ("more channels", ["dead-end"], "denoise é")
    assert first.outcome == "completed"
    assert first.places[0].startswith(f"{address}/#/experiments/")
    assert (records["diverged"].metrics, records["diverged"].cause) == ({"val_loss": "nan"}, "diverged")
    assert records["failed"].outcome == "failed"
    assert records["search"].role == "sweep"
    assert {records[name].sweep for name in members} == {records["search"].id}

    assert follower.look() == [], "nothing is new"
    run_id = records["diverged"].run_id
    ask(address, "runs/set-tag", {"run_id": run_id, "key": "mlflow.note.content", "value": "lr 0.5 is too high"})
    experiment = first.places[0].split("/experiments/")[1].split("/")[0]
    body = {"experiment_id": experiment, "start_time": int(time.time() * 1000), "run_name": "new"}
    new = ask(address, "runs/create", body)["run"]["info"]["run_id"]
    assert sorted(follower.look()) == ["diverged", "new"]
    assert follower.said.records[f"mlflow:{run_id}"].notes == "lr 0.5 is too high"
    assert follower.said.records[f"mlflow:{new}"].outcome == "running"

    ask(address, "runs/update", {"run_id": new, "status": "KILLED", "end_time": int(time.time() * 1000)})
    assert follower.look() == ["new"]
    assert follower.said.records[f"mlflow:{new}"].outcome == "stopped"

    ask(address, "runs/delete", {"run_id": new})
    follower.look()
    follower.look()
    assert f"mlflow:{new}" not in follower.said.records

    offline = scan_all(RemoteSource(RemoteTracker("mlflow", "http://127.0.0.1:9"), follower.source.path))
    assert sorted(offline.records) == sorted(follower.said.records)
