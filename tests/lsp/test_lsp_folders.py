"""Several folders: each document is judged by the pool and settings of the nearest one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, HARMLESS, make_workspace
from raw_client import NEOVIM_LIKE, RawClient, no_findings

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
NEVER_TRIED = CONFIG.replace("0.5", "0.7")


@pytest.fixture
def client() -> Iterator[RawClient]:
    client = RawClient()
    yield client
    assert client.finish() == 0
    assert client.leftovers() == []
    assert client.stderr == ""


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """One folder where a learning rate of 0.5 is a dead end, and one where it is 0.7."""
    first, second = tmp_path.resolve() / "first", tmp_path.resolve() / "second"
    make_workspace(first)
    change = {"change": "ParamChanged", "key": "optimizer.lr", "from": 0.1, "to": 0.7}
    params = {**DIVERGED["params"], "optimizer.lr": 0.7}
    make_workspace(
        second, BASELINE, {**DIVERGED, "params": params, "derivation": {"from": "exp-1", "changes": [change]}}
    )
    return first, second


def test_each_folder_has_its_own_pool(client: RawClient, two: tuple[Path, Path]) -> None:
    client.initialize(NEOVIM_LIKE, two, options=FAST)
    for folder in two:
        for value, text in (("0.5", CONFIG), ("0.7", NEVER_TRIED)):
            uri = (folder / f"lr-{value}.yaml").as_uri()
            client.open(uri, text)
            found = client.pushed(uri, until=lambda found: True)
            assert bool(found) == ((folder.name, value) in {("first", "0.5"), ("second", "0.7")})


def test_the_nearest_folder_wins(client: RawClient, tmp_path: Path) -> None:
    """A folder with a tried.toml inside an open one is a project of its own."""
    outer = tmp_path.resolve()
    make_workspace(outer)
    inner = outer / "projects" / "other"
    make_workspace(inner, BASELINE)
    (inner / "tried.toml").write_text("")
    client.initialize(NEOVIM_LIKE, [outer], options=FAST)
    inside, outside = (inner / "next.yaml").as_uri(), (outer / "projects" / "next.yaml").as_uri()
    client.open(inside, CONFIG)
    client.open(outside, CONFIG)
    client.pushed(outside)
    assert client.pushed(inside, until=lambda found: True) == []


def test_folders_come_and_go(client: RawClient, two: tuple[Path, Path]) -> None:
    first, _ = two
    client.initialize(NEOVIM_LIKE, [first], options=FAST)
    uri = (first / "sub" / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(uri)
    (first / "sub" / ".tried").mkdir(parents=True)
    added = [{"uri": (first / "sub").as_uri(), "name": "sub"}]
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": added, "removed": []}})
    client.pushed(uri, until=no_findings)
    assert "no past experiments" in client.take("window/showMessage")["message"]
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": added}})
    client.pushed(uri)


def test_a_folder_that_goes_takes_its_mistakes_along(client: RawClient, two: tuple[Path, Path]) -> None:
    first, second = two
    settings = first / "tried.toml"
    settings.write_text("[ranking\n")
    client.initialize(NEOVIM_LIKE, two, options=FAST)
    uri = (first / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    client.pushed(settings.as_uri())
    client.close(uri)
    client.open((second / "next.yaml").as_uri(), CONFIG)
    removed = [{"uri": first.as_uri(), "name": "first"}]
    client.notify("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": removed}})
    client.pushed(settings.as_uri(), until=no_findings)


def test_a_file_outside_all_folders_belongs_to_its_project(client: RawClient, two: tuple[Path, Path]) -> None:
    first, second = two
    (second / "configs").mkdir()
    client.initialize(NEOVIM_LIKE, [first], options=FAST)
    uri = (second / "configs" / "next.yaml").as_uri()
    client.open(uri, NEVER_TRIED)
    assert len(client.pushed(uri)) == 1


def test_without_any_folder(client: RawClient, two: tuple[Path, Path]) -> None:
    client.initialize(NEOVIM_LIKE, [], options=FAST)
    uri = (two[0] / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    assert len(client.pushed(uri)) == 1
    client.open("untitled:Untitled-1", CONFIG)
    assert client.hover("untitled:Untitled-1", 2, 7) is None


def test_a_missing_pool_is_said_once_and_only_for_configs(client: RawClient, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    other = (folder / "other.yaml").as_uri()
    client.open(other, "services:\n  web:\n    image: nginx\n")
    client.pushed(other, until=no_findings)
    assert client.leftovers() == []
    for name in ("one", "two"):
        uri = (folder / f"{name}.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri, until=no_findings)
    message = client.take("window/showMessage")
    assert message["type"] == 3
    assert ".tried/pool.jsonl" in message["message"]
    assert "tried.toml" in message["message"]
    assert client.leftovers() == []
    make_workspace(folder)  # and a pool that appears is found
    client.pushed((folder / "one.yaml").as_uri(), seconds=3)


def test_a_results_table_that_grows(client: RawClient, tmp_path: Path) -> None:
    """A train.py beside a results.tsv, without any configuration."""
    folder = tmp_path.resolve()
    table = folder / "results.tsv"
    table.write_text("commit\tval_bpb\tmemory_gb\tstatus\tdescription\na1b2c3d\t0.99\t40\tkeep\tbaseline\n")
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "train.py").as_uri()
    client.open(uri, "LEARNING_RATE = 0.5\nDEPTH = 8\nBATCH_SIZE = 64\n", language="python")
    client.pushed(uri, until=lambda found: True)
    related = {"textDocument": {"uri": uri}}
    assert len(client.request("tried/related", related)["results"]) == 1
    while client.notifications:
        client.notifications.pop()
    started = time.monotonic()
    with table.open("a") as file:
        file.write("d4e5f6a\t1.20\t41\tdiscard\traise LEARNING_RATE to 0.5\n")
    assert client.take("tried/didAnalyse", seconds=3)["uri"] == uri
    assert time.monotonic() - started < 2.0
    report = client.request("tried/related", related)
    assert len(report["results"]) == 2
    assert report["results"][0]["dead_end"] is True


def test_a_results_table_that_appears_beside_an_open_file(client: RawClient, tmp_path: Path) -> None:
    """In a subfolder, to a client that tells of no file events; first with its header only, as a script writes it."""
    folder = tmp_path.resolve()
    inner = folder / "projects" / "small"
    inner.mkdir(parents=True)
    make_workspace(folder)
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (inner / "train.py").as_uri()
    client.open(uri, "LEARNING_RATE = 0.5\nDEPTH = 8\nBATCH_SIZE = 64\n", language="python")
    client.pushed(uri, until=lambda found: True)
    related = {"textDocument": {"uri": uri}}
    before = {result["id"] for result in client.request("tried/related", related)["results"]}
    time.sleep(1.5)  # it is watched by now
    while client.notifications:
        client.notifications.pop()
    table = inner / "results.tsv"
    table.write_text("commit\tval_bpb\tmemory_gb\tstatus\tdescription\n")
    time.sleep(1.0)
    started = time.monotonic()
    with table.open("a") as file:
        file.write("a1b2c3d\t0.99\t40\tkeep\tLEARNING_RATE 0.5\n")
    after = before
    while after == before:
        assert client.take("tried/didAnalyse", seconds=5)["uri"] == uri  # of the header, too
        assert time.monotonic() - started < 4.0
        after = {result["id"] for result in client.request("tried/related", related)["results"]}
    assert len(after - before) == 1


def test_related_experiments(client: RawClient, two: tuple[Path, Path]) -> None:
    first = two[0]
    client.initialize(NEOVIM_LIKE, [first], options=FAST)
    uri = (first / "next.yaml").as_uri()
    client.open(uri, HARMLESS, version=4)
    assert client.take("tried/didAnalyse") == {"uri": uri, "version": 4, "isConfig": True}
    report = client.request("tried/related", {"textDocument": {"uri": uri}})
    assert (report["schema"], report["uri"], report["version"]) == ("tried.ranking/v1", uri, 4)
    assert [(result["rank"], result["id"]) for result in report["results"]] in (
        [(1, "exp-1"), (2, "exp-2")],
        [(1, "exp-2"), (2, "exp-1")],
    )
    for result in report["results"]:
        score = 0.0
        for term in result["terms"]:
            score += term["value"]
        assert score == result["score"]
    one = client.request("tried/related", {"textDocument": {"uri": uri}, "limit": 1})
    assert one["results"] == report["results"][:1]
    assert client.request("tried/related", {"textDocument": {"uri": "file:///not/open.yaml"}}) is None
    other = (first / "docker-compose.yml").as_uri()
    client.open(other, "services:\n  web:\n    image: nginx\n")
    assert client.request("tried/related", {"textDocument": {"uri": other}}) is None


def test_progress_while_a_pool_loads(client: RawClient, two: tuple[Path, Path]) -> None:
    client.initialize(NEOVIM_LIKE, [two[0]], options=FAST)
    client.open((two[0] / "next.yaml").as_uri(), CONFIG)
    token = client.take_request("window/workDoneProgress/create")["token"]
    client.pushed((two[0] / "next.yaml").as_uri())
    reports = [message["params"] for message in client.notifications if message["method"] == "$/progress"]
    assert {report["token"] for report in reports} == {token}
    assert reports[0]["value"]["kind"] == "begin"
    assert reports[0]["value"]["title"]
    assert reports[-1]["value"]["kind"] == "end"
