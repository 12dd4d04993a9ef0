"""Servers that the user's own settings name: asked in the workspaces that they are meant for, and in no other way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from remote_servers import LocalServer, MlflowApi, mlflow_run, serving

from tried.render.status import status_report
from tried.workspace import Workspace

SECRET = "t0ken-of-the-team"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LocalServer]:
    for name, folder in (("XDG_CACHE_HOME", "cache"), ("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("TEAM_TOKEN", SECRET)
    api = MlflowApi()
    api.runs.append(mlflow_run("a", 1))
    with serving(api.answer) as here:
        yield here


def remote(server: LocalServer, **more: Any) -> dict[str, Any]:
    return {"kind": "mlflow", "address": server.address, "token_variable": "TEAM_TOKEN", **more}


def opened(folder: Path, **settings: Any) -> Workspace:
    folder.mkdir(exist_ok=True)
    workspace = Workspace(folder, editor_settings=settings)
    workspace.refresh()
    workspace.fetch(20)
    return workspace


def test_a_server_of_the_users_own_settings_is_read(server: LocalServer, tmp_path: Path) -> None:
    workspace = opened(tmp_path / "work", remote=[remote(server)])
    assert list(workspace.snapshot.records) == ["mlflow:a"]
    assert {asked.authorization for asked in server.asked} == {f"Bearer {SECRET}"}
    report = status_report(workspace)
    (source,) = report["sources"]
    assert (source["address"].rstrip("/"), source["records"]) == (server.address.rstrip("/"), 1)
    assert source["fetched"] is not None
    assert SECRET not in json.dumps(report)


def test_what_a_workspace_asks_for_is_refused(server: LocalServer, tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tried.toml").write_text(f'[[remote]]\nkind = "mlflow"\naddress = "{server.address}"\n')
    workspace = opened(folder)
    assert workspace.remotes == {}
    assert "refused" in workspace.settings_problems[0].message
    assert server.asked == []


@pytest.mark.parametrize(
    ("more", "is_asked"),
    [({"workspaces": ["*/work"]}, True), ({"workspaces": ["*/other"]}, False), ({"enable": False}, False)],
)
def test_it_is_asked_only_where_it_is_meant(
    server: LocalServer, tmp_path: Path, more: dict[str, Any], is_asked: bool
) -> None:
    opened(tmp_path / "work", remote=[remote(server, **more)])
    assert bool(server.asked) is is_asked


def test_pools_that_are_given_leave_servers_out(server: LocalServer, tmp_path: Path) -> None:
    journal = tmp_path / "pool.jsonl"
    journal.write_text('{"id": "mine"}\n')
    workspace = Workspace(
        tmp_path, editor_settings={"remote": [remote(server)]}, extra_pools=[journal], only_extra=True
    )
    workspace.refresh()
    assert list(workspace.fetch(1).records) == ["mine"]
    assert server.asked == []


def test_who_asks_for_a_rescan_need_not_wait_for_the_next_look(server: LocalServer, tmp_path: Path) -> None:
    """A server is asked once a minute, or when somebody wants to know now."""
    workspace = opened(tmp_path / "work", remote=[remote(server)])
    before = len(server.asked)
    workspace.refresh()
    workspace.fetch(20)
    assert len(server.asked) == before

    workspace.hurry()
    workspace.refresh()
    workspace.fetch(20)

    assert len(server.asked) > before
