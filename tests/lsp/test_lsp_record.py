"""`tried/record` and `tried.compareRecord`, asked of a real server process."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, TOO_DEEP, edit, make_workspace
from raw_client import VSCODE_LIKE, Message, RawClient, RequestFailed, until

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("record").resolve()


@pytest.fixture(scope="module")
def folder(home: Path) -> Path:
    (home / "project").mkdir()
    make_workspace(home / "project", BASELINE, DIVERGED, TOO_DEEP)
    return home / "project"


@pytest.fixture(scope="module")
def client(home: Path, folder: Path) -> Iterator[RawClient]:
    client = RawClient(environment={"XDG_CACHE_HOME": str(home / "cache")})
    client.initialize(VSCODE_LIKE, [folder], options=FAST)
    yield client
    assert client.finish() == 0
    assert client.leftovers("tried/didAnalyse", "tried/statusDidChange") == []
    assert client.stderr == ""


def opened(client: RawClient, folder: Path, name: str, text: str = CONFIG) -> str:
    uri = (folder / name).as_uri()
    client.open(uri, text)
    return uri


def record(client: RawClient, name: str, uri: str | None = None) -> Message:
    params: Message = {"record": name}
    if uri is not None:
        params["textDocument"] = {"uri": uri}
    report: Message = client.request("tried/record", params)
    return report


def test_a_record_is_found_before_any_document_is_open(client: RawClient, folder: Path) -> None:
    report = record(client, "exp-2")
    assert report["schema"] == "tried.record-view/v1"
    assert (report["id"], report["outcome"], report["cause"]) == ("exp-2", "dead_end", "diverged")
    assert (report["document"], report["version"], report["breakdown"]) == (None, None, None)
    assert {row["status"] for row in report["parameters"]} == {"not_compared"}
    assert report["url"] == "https://example.org/runs/2"


def test_beside_a_config_it_is_compared_and_follows_the_edits(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "a.yaml")
    report = record(client, "exp-3", uri)
    assert (report["document"], report["version"]) == (uri, 1)
    assert [(row["key"], row["record"], row["draft"], row["status"]) for row in report["parameters"][:3]] == [
        ("optimizer.lr", "0.1", "0.5", "differs"),
        ("batch_size", "32", "64", "differs"),
        ("model.depth", "48", "12", "differs"),
    ]
    assert report["breakdown"]["rank"] in (1, 2, 3)
    client.change(uri, 2, edit(2, 6, 9, "0.1"))
    report = record(client, "exp-3", uri)
    assert report["version"] == 2
    assert [row["key"] for row in report["parameters"] if row["status"] == "equal"] == ["optimizer.lr", "warmup_steps"]


def test_the_rank_is_the_place_in_the_list_of_related_experiments(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "ranked.yaml")
    listed = client.request("tried/related", {"textDocument": {"uri": uri}})["results"]
    assert len(listed) == 3
    for one in listed:
        breakdown = record(client, one["id"], uri)["breakdown"]
        assert (breakdown["rank"], breakdown["score"], breakdown["terms"]) == (one["rank"], one["score"], one["terms"])


def test_a_document_that_is_no_config_is_nothing_to_compare_with(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "package-lock.json", "{}")
    report = record(client, "exp-1", uri)
    assert (report["document"], report["breakdown"]) == (None, None)
    assert record(client, "exp-1", "file:///nowhere/at/all.yaml")["id"] == "exp-1"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("exp-22", "no record exp-22 in the pool; did you mean exp-2"),
        ("nothing like it", "no record nothing like it in the pool"),
        ("", "record must be the id of a record"),
        ("x" * 100_000, "record must be the id of a record"),
    ],
)
def test_an_unknown_record_is_an_error_that_says_so(client: RawClient, name: str, why: str) -> None:
    with pytest.raises(RequestFailed) as failed:
        record(client, name)
    assert failed.value.code == -32602
    assert why in failed.value.error["message"]


def test_wrong_params_are_refused(client: RawClient) -> None:
    for params in ({}, {"record": 7}, {"record": "exp-1", "textDocument": {}}):
        with pytest.raises(RequestFailed) as failed:
            client.request("tried/record", params)
        assert failed.value.code == -32602


def test_a_conclusion_is_seen_when_it_is_written(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "concluded.yaml")
    record(client, "exp-1", uri)
    arguments = {"uri": uri, "record": "exp-1", "verdict": "works", "reason": "the baseline holds"}
    client.request("workspace/executeCommand", {"command": "tried.markRecord", "arguments": [arguments]})
    report = until(lambda: record(client, "exp-1", uri), lambda report: report["verdict"] == "works")
    assert report["headline"] == {"text": "the baseline holds", "kind": "written"}
    assert report["outcome"] == "works"


def test_a_run_folder_is_told_only_where_it_is_in_the_workspace(client: RawClient, folder: Path, home: Path) -> None:
    (folder / "runs" / "1").mkdir(parents=True)
    (home / "outside").mkdir()
    (folder / "runs" / "out").symlink_to(home / "outside")
    places = ["runs/1", "runs/none", "../outside", str(home / "outside"), "runs/out", "runs/1\nx"]
    made = [{**BASELINE, "id": f"dir-{number}", "run_dir": place} for number, place in enumerate(places)]
    journal = make_workspace(folder, BASELINE, DIVERGED, TOO_DEEP, *made)
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": journal.as_uri(), "type": 2}]})
    uri = opened(client, folder, "dirs.yaml")

    def told() -> list[str | None]:
        try:
            return [record(client, f"dir-{number}", uri)["run_dir"] for number in range(len(places))]
        except RequestFailed:
            return []

    assert until(told, bool) == [(folder / "runs" / "1").as_uri(), None, None, None, None, None]


def test_comparing_opens_a_page_that_begins_with_the_differences(client: RawClient, folder: Path, home: Path) -> None:
    uri = opened(client, folder, "compared.yaml")
    arguments = {"uri": uri, "record": "exp-2"}
    answer = client.request("workspace/executeCommand", {"command": "tried.compareRecord", "arguments": [arguments]})
    page = Path(answer["file"])
    assert answer["shown"] is True
    assert client.take_request("window/showDocument")["uri"] == page.as_uri()
    assert page.parent == home / "cache" / "tried" / "records"
    assert stat.S_IMODE(page.stat().st_mode) == 0o444
    lines = page.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# ✗ exp-2"
    assert lines[6] == "## Beside `compared.yaml`"
    assert [cell.strip() for cell in lines[10].strip("|").split("|")] == ["`batch_size`", "`64`", "`32`"]


def test_comparing_says_what_is_wrong(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "wrong.yaml")
    for arguments, why in (
        ({"uri": uri, "record": "exp-99"}, "no record exp-99"),
        ({"uri": uri}, "record must be"),
        ({"uri": "file:///not/open.yaml", "record": "exp-1"}, "uri must name an open document"),
    ):
        with pytest.raises(RequestFailed, match=why):
            client.request("workspace/executeCommand", {"command": "tried.compareRecord", "arguments": [arguments]})


def test_a_client_that_cannot_open_files_is_told_where_the_page_is(tmp_path: Path) -> None:
    project = tmp_path.resolve() / "project"
    project.mkdir()
    make_workspace(project)
    client = RawClient(environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    client.initialize({}, [project], options=FAST)
    uri = opened(client, project, "a.yaml")
    arguments = {"uri": uri, "record": "exp-2"}
    answer = client.request("workspace/executeCommand", {"command": "tried.compareRecord", "arguments": [arguments]})
    assert answer["shown"] is False
    assert client.take("window/showMessage")["message"] == f"exp-2 is compared in {answer['file']}"
    assert Path(answer["file"]).is_file()
    assert client.finish() == 0


def test_a_page_never_lands_in_a_workspace(tmp_path: Path) -> None:
    project = tmp_path.resolve()
    make_workspace(project)
    client = RawClient(environment={"XDG_CACHE_HOME": str(project / "cache"), "TMPDIR": str(project)})
    client.initialize(VSCODE_LIKE, [project], options=FAST)
    uri = opened(client, project, "a.yaml")
    arguments = {"uri": uri, "record": "exp-2"}
    with pytest.raises(RequestFailed, match="the cache folder lies in a workspace; set XDG_CACHE_HOME otherwise"):
        client.request("workspace/executeCommand", {"command": "tried.compareRecord", "arguments": [arguments]})
    assert not list(project.rglob("*.md"))
    assert client.finish() == 0


def test_without_a_folder_there_is_no_pool() -> None:
    client = RawClient()
    client.initialize(VSCODE_LIKE)
    with pytest.raises(RequestFailed, match="there is no pool to look in: no folder is open"):
        record(client, "exp-1")
    assert client.finish() == 0


def test_two_folders_are_both_looked_in(tmp_path: Path) -> None:
    folders = [tmp_path.resolve() / name for name in ("one", "two")]
    for place, folder in enumerate(folders):
        folder.mkdir()
        make_workspace(folder, {**BASELINE, "id": f"only-{place}"})
    client = RawClient()
    client.initialize(VSCODE_LIKE, folders, options=FAST)
    assert [record(client, f"only-{place}")["id"] for place in range(2)] == ["only-0", "only-1"]
    with pytest.raises(RequestFailed, match="no record elsewhere in the pools of 2 folders"):
        record(client, "elsewhere")
    uri = opened(client, folders[0], "a.yaml")
    assert record(client, "only-0", uri)["document"] == uri
    assert record(client, "only-1", uri)["document"] is None  # its runs are no evidence for this config
    assert client.finish() == 0


def test_a_hostile_record_is_clipped(tmp_path: Path) -> None:
    project = tmp_path.resolve()
    attack = "<script>alert(1)</script>[x](command:evil)\u202e\x1b[31m" * 2000
    fields = ("name", "notes", "hypothesis", "error", "url")
    hostile: dict[str, Any] = {
        **BASELINE,
        "id": "exp-9",
        **dict.fromkeys(fields, attack),
        "tags": [attack] * 9 + [f"t{n}" for n in range(90)],
    }
    hostile["params"] = {"optimizer.lr": attack, attack: 1, **{f"k{number}": number for number in range(2000)}}
    make_workspace(project, BASELINE, hostile)
    client = RawClient()
    client.initialize(VSCODE_LIKE, [project], options=FAST)
    report = record(client, "exp-9", opened(client, project, "a.yaml"))
    assert (len(report["parameters"]), report["parameters_total"]) == (500, 2006)
    assert max(len(report[name]) for name in ("notes", "hypothesis", "error")) <= 20_000
    assert len(report["name"]) <= 500
    assert report["url"] is None
    assert len(report["tags"]) == 50
    text = json.dumps(report, ensure_ascii=False)
    assert "\u202e" not in text
    assert "\\u001b" not in text
    assert len(text) < 250_000
    assert client.finish() == 0
