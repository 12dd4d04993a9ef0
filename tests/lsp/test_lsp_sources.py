"""Trackers' stores while the server runs: what lands on the disk is told soon, loading blocks nothing, and nothing
outside of the workspace is read without consent."""

from __future__ import annotations

import json
import os
import sqlite3
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, make_workspace, put_whole
from raw_client import NEOVIM_LIKE, VSCODE_LIKE, Message, RawClient, no_findings

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
SCHEMA = """
CREATE TABLE experiments (experiment_id INTEGER PRIMARY KEY, name VARCHAR(256), artifact_location VARCHAR(256),
  lifecycle_stage VARCHAR(32), creation_time BIGINT, last_update_time BIGINT);
CREATE TABLE runs (run_uuid VARCHAR(32) PRIMARY KEY, name VARCHAR(250), source_type VARCHAR(20),
  source_name VARCHAR(500), entry_point_name VARCHAR(50), user_id VARCHAR(256), status VARCHAR(9), start_time BIGINT,
  end_time BIGINT, source_version VARCHAR(50), lifecycle_stage VARCHAR(20), artifact_uri VARCHAR(200),
  experiment_id INTEGER, deleted_time BIGINT);
CREATE TABLE params (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE tags (key VARCHAR(250), value VARCHAR(8000), run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE latest_metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, step BIGINT, is_nan BOOLEAN,
  run_uuid VARCHAR(32), PRIMARY KEY (key, run_uuid));
CREATE TABLE metrics (key VARCHAR(250), value FLOAT, timestamp BIGINT, run_uuid VARCHAR(32), step BIGINT,
  is_nan BOOLEAN);
INSERT INTO experiments VALUES (1, 'tiny', '', 'active', 0, 0);
"""


def add_run(store: Path, name: str, lr: float, *, diverged: bool) -> None:
    """As MLflow writes it: in one transaction when the run ends."""
    now = int(time.time() * 1000)
    params = {"optimizer.lr": lr, "batch_size": 64, "model.depth": 12, "warmup_steps": 100}
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(
            "INSERT INTO runs (run_uuid, name, status, start_time, end_time, lifecycle_stage, experiment_id)"
            " VALUES (?, ?, 'FINISHED', ?, ?, 'active', 1)",
            (name, name, now - 60_000, now),
        )
        connection.executemany(
            "INSERT INTO params VALUES (?, ?, ?)", [(key, str(value), name) for key, value in params.items()]
        )
        connection.execute(
            "INSERT INTO latest_metrics VALUES ('val_loss', ?, ?, 10, ?, ?)",
            (0.0 if diverged else 2.0, now, diverged, name),
        )
    connection.close()


def make_store(folder: Path) -> Path:
    store = folder / "mlflow.db"
    beside = folder / "mlflow.new"
    connection = sqlite3.connect(beside)
    connection.executescript(SCHEMA)
    connection.close()
    add_run(beside, "first", 0.1, diverged=False)
    beside.replace(store)
    return store


@pytest.fixture
def state(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path / "state"), "XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def client(state: dict[str, str]) -> Iterator[RawClient]:
    client = RawClient(environment=state)
    yield client
    if client.process.poll() is None:
        assert client.finish() == 0
    assert client.stderr == ""


def ids(client: RawClient, uri: str) -> set[str]:
    return {result["id"] for result in client.request("tried/related", {"textDocument": {"uri": uri}})["results"]}


def status(client: RawClient, uri: str | None = None) -> Any:
    params = {"textDocument": {"uri": uri}} if uri else {}
    return client.request("tried/status", params)


class TestLive:
    def test_a_run_in_a_database_is_told_within_two_seconds(self, client: RawClient, tmp_path: Path) -> None:
        """To a client that tells of no file events."""
        folder = tmp_path.resolve() / "work"
        folder.mkdir()
        store = make_store(folder)
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri, until=lambda found: True)
        assert ids(client, uri) == {"mlflow:first"}
        for number in range(3):  # as long as it is young
            started = time.monotonic()
            add_run(store, f"run{number}", 0.5 if number == 2 else 0.2, diverged=number == 2)
            client.wait(lambda n=number: f"mlflow:run{n}" in ids(client, uri), 2.0, "the run")  # type: ignore[misc]
            assert time.monotonic() - started < 2.0
        (finding,) = client.pushed(uri)
        assert finding["data"]["record"] == "mlflow:run2"
        (source,) = status(client, uri)["folders"][0]["sources"]
        assert (source["kind"], source["records"], source["dead_ends"]) == ("mlflow", 4, 1)
        assert source["newest"] is not None

    def test_a_database_that_appears_is_read_and_one_that_is_switched_off_is_not(
        self, client: RawClient, tmp_path: Path
    ) -> None:
        folder = tmp_path.resolve() / "work"
        make_workspace(folder)
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)
        assert ids(client, uri) == {"exp-1", "exp-2"}
        make_store(folder)
        client.wait(lambda: "mlflow:first" in ids(client, uri), 3.0, "the new store")
        put_whole(folder / "tried.toml", b'pool.disable = ["mlflow"]\n')
        client.wait(lambda: ids(client, uri) == {"exp-1", "exp-2"}, 3.0, "the store to go")
        put_whole(folder / "tried.toml", b'[[pool.sources]]\npath = "mlflow.db"\nexperiments = ["!tiny"]\n')
        time.sleep(1.5)
        assert ids(client, uri) == {"exp-1", "exp-2"}
        put_whole(folder / "tried.toml", b'[[pool.sources]]\npath = "mlflow.db"\nresearch_line = "other"\n')
        client.wait(lambda: "mlflow:first" in ids(client, uri), 3.0, "the store to come back")
        assert [s["research_line"] for s in status(client)["folders"][0]["sources"]] == ["tiny", "other"]

    def test_file_events_are_asked_for_with_few_patterns(self, client: RawClient, tmp_path: Path) -> None:
        folder = tmp_path.resolve()
        store = make_store(folder)
        client.initialize(VSCODE_LIKE, [folder], options=FAST)

        def watchers() -> Message | None:
            asked = [r["params"] for r in client.requests if r["method"] == "client/registerCapability"]
            registered = [one for params in asked for one in params["registrations"]]
            return next((r for r in registered if r["method"] == "workspace/didChangeWatchedFiles"), None)

        client.wait(lambda: watchers() is not None, 10, "the watchers")
        registration = watchers()
        assert registration is not None
        patterns = [watcher["globPattern"] for watcher in registration["registerOptions"]["watchers"]]
        assert len(patterns) <= 12
        assert not {"**", "**/*", "**/mlruns/**"} & set(patterns)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.wait(lambda: ids(client, uri) == {"mlflow:first"}, 10, "the pool")
        add_run(store, "second", 0.5, diverged=True)
        client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": store.as_uri(), "type": 2}]})
        client.wait(lambda: "mlflow:second" in ids(client, uri), 2.0, "the run")


class TestConsent:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A workspace whose tried.toml names a journal outside of it."""
        folder = tmp_path.resolve() / "work"
        folder.mkdir()
        make_workspace(tmp_path.resolve() / "data")
        (folder / "tried.toml").write_text(f'[pool]\nsources = ["{tmp_path.resolve()}/data/.tried/pool.jsonl"]\n')
        return folder

    def start(self, client: RawClient, folder: Path, answer: str | None) -> str:
        client.answers["window/showMessageRequest"] = lambda params: {"title": answer} if answer else None
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        return uri

    def test_what_the_user_allows_is_read_and_remembered(
        self, client: RawClient, folder: Path, tmp_path: Path, state: dict[str, str]
    ) -> None:
        uri = self.start(client, folder, "Allow")
        question = client.take_request("window/showMessageRequest")
        assert question["message"] == (
            f"tried.toml names {tmp_path.resolve()}/data/.tried/pool.jsonl: outside of the workspace work. Read it?"
        )
        assert [action["title"] for action in question["actions"]] == ["Allow", "Not now"]
        client.pushed(uri)
        client.pushed((folder / "tried.toml").as_uri(), until=no_findings)
        assert ids(client, uri) == {"exp-1", "exp-2"}
        kept = json.loads((tmp_path / "state" / "tried" / "consents.json").read_text())
        assert kept["workspaces"] == {str(folder): [f"{tmp_path.resolve()}/data/.tried/pool.jsonl"]}
        assert client.finish() == 0
        again = RawClient(environment=state)
        try:
            uri = self.start(again, folder, None)
            again.pushed(uri)
            assert "window/showMessageRequest" not in [request["method"] for request in again.requests]
            assert again.finish() == 0
        finally:
            again.kill()

    @pytest.mark.parametrize("answer", ["Not now", None])
    def test_without_a_yes_nothing_is_read_and_what_to_do_is_told(
        self, client: RawClient, folder: Path, tmp_path: Path, answer: str | None
    ) -> None:
        uri = self.start(client, folder, answer)
        client.take_request("window/showMessageRequest")
        (problem,) = client.pushed((folder / "tried.toml").as_uri())
        assert "is not read without your consent; `tried allow" in problem["message"]
        assert problem["range"]["start"]["line"] == 1
        assert ids(client, uri) == set()
        (told,) = status(client)["folders"]
        assert told["consents"] == [
            {"path": f"{tmp_path.resolve()}/data/.tried/pool.jsonl", "named_by": str(folder / "tried.toml")}
        ]
        time.sleep(1.2)
        assert "window/showMessageRequest" not in [request["method"] for request in client.requests]
        assert not (tmp_path / "state").exists()


SLOW_SOURCE = """
    import time
    from dataclasses import dataclass
    from pathlib import Path

    from tried.pool.record import ExperimentRecord
    from tried.pool.sources.registry import Hints, SourceKind
    from tried.pool.sources.source import Delta


    @dataclass(frozen=True)
    class SlowSource:
        path: Path
        kind: str = "slow"

        def scan(self, cursor):
            done = cursor or 0
            if done >= 4_000:
                return Delta(cursor=done)
            time.sleep(0.1)
            params = {"optimizer.lr": 0.5, "batch_size": 64, "model.depth": 12, "warmup_steps": 100}
            batch = tuple(
                ExperimentRecord(
                    id=f"slow:{number}",
                    params={**params, "seed": number},
                    metrics={"val_loss": "nan"},
                    verdict="dead_end",
                )
                for number in range(done, done + 100)
            )
            return Delta(batch, cursor=done + 100, more=done + 100 < 4_000, total=4_000)

        def line_of(self, record_id):
            return None


    def store_at(folder, folders, files):
        return [folder / "slow"] if "slow" in folders else []


    kind = SourceKind("slow", store_at, lambda path, project: SlowSource(path), Hints(folders=frozenset({"slow"})))
"""


class TestPlugin:
    """A source of a plug-in, which takes four seconds to be read."""

    @pytest.fixture
    def environment(self, tmp_path: Path, state: dict[str, str]) -> dict[str, str]:
        plugin = tmp_path / "plugin"
        (plugin / "slow_source-1.0.dist-info").mkdir(parents=True)
        (plugin / "slow_source.py").write_text(textwrap.dedent(SLOW_SOURCE))
        metadata = "Metadata-Version: 2.1\nName: slow-source\nVersion: 1.0\n"
        (plugin / "slow_source-1.0.dist-info" / "METADATA").write_text(metadata)
        (plugin / "slow_source-1.0.dist-info" / "entry_points.txt").write_text(
            "[tried.sources]\nslow = slow_source:kind\nbroken = slow_source:no_such_thing\nodd = slow_source:store_at\n"
        )
        python_path = os.pathsep.join(filter(None, [str(plugin), os.environ.get("PYTHONPATH", "")]))
        return {**state, "PYTHONPATH": python_path}

    def test_loading_blocks_nothing_and_answers_grow(self, environment: dict[str, str], tmp_path: Path) -> None:
        folder = tmp_path.resolve() / "work"
        make_workspace(folder, BASELINE, DIVERGED)
        (folder / "slow").mkdir()
        client = RawClient(environment=environment)
        try:
            client.initialize(NEOVIM_LIKE, [folder], options=FAST)
            uri = (folder / "next.yaml").as_uri()
            client.open(uri, CONFIG)
            client.take_request("window/workDoneProgress/create")
            seen: list[tuple[float, str]] = []
            states: list[str] = []
            while not states or states[-1] != "ready":
                started = time.monotonic()
                answer = client.hover(uri, 2, 7)
                seen.append((time.monotonic() - started, answer["contents"]["value"] if answer else ""))
                (told,) = status(client, uri)["folders"]
                states.append(told["state"])
                time.sleep(0.05)
                assert len(states) < 400
            assert set(states) == {"reading", "ready"}
            # The first one also waits for the server's first use of its parts.
            assert max(seconds for seconds, _ in seen[1:]) < 1.0
            assert sorted(seconds for seconds, _ in seen)[int(len(seen) * 0.9)] < 0.5
            assert any("exp-2" in text for _, text in seen[: len(seen) // 2])
            assert client.pushed(uri)
            assert [(s["kind"], s["records"]) for s in told["sources"]] == [("journal", 2), ("slow", 4_000)]
            shown = [
                n["params"]["value"].get("message", "") for n in client.notifications if n["method"] == "$/progress"
            ]
            assert any("of 4,000" in text for text in shown), shown
            broken = {note["where"]: note["why"] for note in told["notes"]}
            assert list(broken) == [
                "plug-in broken (slow_source:no_such_thing)",
                "plug-in odd (slow_source:store_at)",
            ]
            assert client.finish() == 0
            assert client.stderr == ""
        finally:
            client.kill()
