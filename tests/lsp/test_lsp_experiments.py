"""`tried/experiments`, `tried/absence` and `tried/didAnalyse` of a real server: what a list beside a config needs."""

from __future__ import annotations

import json
import os
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, HARMLESS, TOO_DEEP, edit, journal_line, make_workspace
from raw_client import NEOVIM_LIKE, Message, RawClient, RequestFailed
from test_lsp_sources import SLOW_SOURCE

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
AGAIN: Message = {
    **BASELINE,
    "id": "exp-4",
    "name": "baseline, other seed",
    "params": {**BASELINE["params"], "seed": 7},
    "metrics": {"val_loss": 2.3},
}


@pytest.fixture
def client() -> Iterator[RawClient]:
    client = RawClient()
    yield client
    if client.process.poll() is None:
        assert client.leftovers() == []
        assert client.finish() == 0
    assert client.stderr == ""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve()
    make_workspace(folder, BASELINE, DIVERGED, TOO_DEEP, AGAIN)
    return folder


def opened(client: RawClient, folder: Path, text: str = CONFIG, name: str = "next.yaml", options: Any = FAST) -> str:
    client.initialize(NEOVIM_LIKE, [folder], options=options)
    uri = (folder / name).as_uri()
    client.open(uri, text)
    return uri


def listed(client: RawClient, uri: str, **params: Any) -> Message:
    answer: Message = client.request("tried/experiments", {"textDocument": {"uri": uri}, **params})
    return answer


def rows(client: RawClient, uri: str, **params: Any) -> list[str]:
    return [row["record"] for row in listed(client, uri, **params)["experiments"]]


def analyses(client: RawClient, uri: str) -> list[tuple[int, bool]]:
    said = [message["params"] for message in client.notifications if message["method"] == "tried/didAnalyse"]
    return [(params["version"], params["isConfig"]) for params in said if params["uri"] == uri]


def test_the_experiments_beside_a_config(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder)
    answer = listed(client, uri)
    assert {key: answer[key] for key in ("schema", "uri", "version", "total", "pool")} == {
        "schema": "tried.experiments/v1",
        "uri": uri,
        "version": 1,
        "total": 3,
        "pool": {"records": 4, "is_partial": False},
    }
    assert answer["query"]["research_line"] == "tiny"
    assert answer["facets"]["research_lines"] == [{"name": "tiny", "count": 4}]
    by_record = {row["record"]: row for row in answer["experiments"]}
    assert sorted(row["rank"] for row in answer["experiments"]) == [1, 2, 3]
    diverged = by_record["exp-2"]
    assert (diverged["outcome"], diverged["cause"], diverged["runs"]) == ("dead_end", "diverged", 1)
    assert (diverged["why"], diverged["why_kind"]) == ("diverged after 200 steps", "written")
    assert diverged["differences"] == [{"key": "batch_size", "draft": "64", "record": "32"}]
    assert diverged["url"] == "https://example.org/runs/2"
    (twice,) = (row for row in answer["experiments"] if row["runs"] == 2)
    assert sorted(twice["records"]) == ["exp-1", "exp-4"]
    assert (twice["result"]["metric"], twice["result"]["text"]) == ("val_loss", "2.20 ± 0.14")  # 0.2 / √2
    assert {(each["key"], each["draft"], each["record"]) for each in twice["differences"]} == {
        ("optimizer.lr", "0.5", "0.1"),
        ("batch_size", "64", "32"),
    }
    related = client.request("tried/related", {"textDocument": {"uri": uri}})["results"]
    order = [result["id"] for result in related if result["id"] in by_record]
    by_rank = sorted(answer["experiments"], key=lambda row: int(row["rank"]))
    assert [row["record"] for row in by_rank] == order
    assert [row["closeness"] for row in answer["experiments"]] == ["nearest", None, None]
    assert answer["experiments"][0]["record"] == "exp-2"  # it differs in one parameter, and ranks wherever it does


def test_filters_sorts_and_limits(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder)
    assert sorted(rows(client, uri, filter={"outcome": "dead_end"})) == ["exp-2", "exp-3"]
    assert rows(client, uri, filter={"outcome": "dead_end", "text": "higher l"}) == ["exp-2"]
    assert rows(client, uri, filter={"researchLine": "elsewhere"}) == []
    assert sorted(rows(client, uri, filter={"researchLine": "tiny", "text": ""})) == sorted(rows(client, uri))
    assert rows(client, uri, sort="newest")[:2] == ["exp-3", "exp-2"]
    assert rows(client, uri, sort="best")[0] in ("exp-1", "exp-4")
    assert rows(client, uri, limit=1) == rows(client, uri)[:1]
    assert listed(client, uri, limit=1)["total"] == 3
    assert rows(client, uri, limit=0) == []
    assert rows(client, uri, filter=None, sort=None, limit=None) == rows(client, uri)


@pytest.mark.parametrize("params", [{"filter": {"outcome": "splendid"}}, {"sort": "worst"}, {"limit": "many"}])
def test_what_is_no_filter_is_refused(client: RawClient, folder: Path, params: Message) -> None:
    uri = opened(client, folder)
    with pytest.raises(RequestFailed) as refused:
        listed(client, uri, **params)
    assert refused.value.code == -32602
    assert "tried/experiments" in refused.value.error["message"]


def test_what_is_no_config_has_none(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, "services:\n  web:\n    image: nginx\n", "docker-compose.yml")
    for method, params in (("tried/experiments", {}), ("tried/absence", {"record": "exp-1"})):
        assert client.request(method, {"textDocument": {"uri": uri}, **params}) is None
        assert client.request(method, {"textDocument": {"uri": "file:///not/open.yaml"}, **params}) is None
    assert analyses(client, uri) == [(1, False)]


def test_why_a_record_is_not_there(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder)

    def why(record: str, **params: Any) -> Message:
        answer: Message = client.request("tried/absence", {"textDocument": {"uri": uri}, "record": record, **params})
        return answer

    (twice,) = (row for row in listed(client, uri)["experiments"] if row["runs"] == 2)
    other = next(record for record in twice["records"] if record != twice["record"])
    replicate = why(other)
    assert (replicate["schema"], replicate["record"]) == ("tried.absence/v1", other)
    assert (replicate["dropped_by"], replicate["rank"]) == ("replicate", twice["rank"])
    filtered = why("exp-3", filter={"outcome": "works"})
    assert filtered["dropped_by"] == "filter"
    assert filtered["answer"].startswith("The list is narrowed to what worked, and this one is a dead end")
    others = [row for row in listed(client, uri)["experiments"] if row["closeness"] is None]
    last = max(others, key=lambda row: int(row["rank"]))["record"]
    assert (why(last, limit=1)["dropped_by"], why(last)["dropped_by"]) == ("cut", None)
    # The one row is taken by what is nearest to the config.
    assert why(last, limit=1)["answer"].startswith("It is number 2 of 3, and none is listed for its score.")
    assert why("exp-9")["dropped_by"] == "unknown"
    assert "did you mean" in why("exp-9")["answer"]


def test_each_analysis_is_told_once_and_soon(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder)
    assert client.take("tried/didAnalyse") == {"uri": uri, "version": 1, "isConfig": True}
    for version in range(2, 6):
        started = time.monotonic()
        client.change(uri, version, edit(2, 6, 9, f"0.{version}"))
        assert client.take("tried/didAnalyse") == {"uri": uri, "version": version, "isConfig": True}
        assert time.monotonic() - started < 1.0
        assert listed(client, uri)["version"] == version
    client.hover(uri, 2, 7)
    time.sleep(0.3)
    assert analyses(client, uri) == []  # nothing was analysed since


def test_an_edit_that_changes_no_score_is_told_too(client: RawClient, folder: Path) -> None:
    """What differs from each record is another thing then."""
    uri = opened(client, folder, HARMLESS)
    client.take("tried/didAnalyse")
    before = {row["record"]: row["differences"] for row in listed(client, uri)["experiments"]}
    client.change(uri, 2, edit(2, 6, 9, "0.5"))
    assert client.take("tried/didAnalyse")["version"] == 2
    after = {row["record"]: row["differences"] for row in listed(client, uri)["experiments"]}
    assert before.keys() == after.keys()
    assert {"key": "optimizer.lr", "draft": "0.1", "record": "0.5"} in before["exp-2"]
    assert "optimizer.lr" not in {each["key"] for each in after["exp-2"]}


def test_a_run_that_lands_is_told_with_the_same_version(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder)
    client.take("tried/didAnalyse")
    assert listed(client, uri)["total"] == 3
    time.sleep(0.6)  # so that the pool is watched by now
    client.notifications.clear()
    with (folder / ".tried" / "pool.jsonl").open("a") as file:
        file.write(journal_line({**TOO_DEEP, "id": "exp-9", "params": {**TOO_DEEP["params"], "model.depth": 96}}))
    assert client.take("tried/didAnalyse", seconds=5) == {"uri": uri, "version": 1, "isConfig": True}
    assert "exp-9" in rows(client, uri)
    assert listed(client, uri)["total"] == 4


def test_an_answer_is_of_the_text_that_stands_in_the_editor(client: RawClient, folder: Path) -> None:
    uri = opened(client, folder, options={"editor": {"debounce_ms": 300, "typing_pause_ms": 300}})
    listed(client, uri)
    client.change(uri, 2, edit(2, 6, 9, "0.1"))
    answer = listed(client, uri)
    assert answer["version"] == 2
    (twice,) = (row for row in answer["experiments"] if row["runs"] == 2)
    assert [each["key"] for each in twice["differences"]] == ["batch_size"]


def test_an_empty_pool(client: RawClient, tmp_path: Path) -> None:
    uri = opened(client, tmp_path.resolve())
    answer = listed(client, uri)
    assert (answer["experiments"], answer["total"]) == ([], 0)
    assert answer["pool"] == {"records": 0, "is_partial": False}
    assert answer["facets"] == {"research_lines": [], "tags": [], "sources": []}
    client.take("window/showMessage")


def test_hostile_records_come_cut_and_as_plain_text(client: RawClient, tmp_path: Path) -> None:
    nasty = "\u202e<img src=x onerror=alert(1)>\x1b[31m [run](command:quit)\n" * 2_500
    record = {
        **BASELINE,
        **dict.fromkeys(("name", "hypothesis", "notes", "error", "url", "source", "experiment"), nasty),
        "tags": [nasty + str(number) for number in range(25)],
        "metrics": {"val_loss": "nan", nasty: "inf"},
        "conclusion": {"headline": nasty, "outcome": nasty},
        "params": {**BASELINE["params"], **{f"{nasty}{number}": nasty for number in range(3)}},
    }
    folder = tmp_path.resolve()
    make_workspace(folder, record)
    uri = opened(client, folder)
    client.wait(lambda: listed(client, uri)["total"] == 1, 30, "the record")
    answer = listed(client, uri)
    (row,) = answer["experiments"]
    assert len(row["why"]) == len(row["name"]) == 500
    assert row["why"].startswith("<img src=x onerror=alert(1)>[31m [run](command:quit) <img")
    assert (row["url"], row["result"], len(row["tags"])) == (None, None, 20)
    assert len(json.dumps(answer)) < 100_000
    tag = answer["facets"]["tags"][0]["name"]
    assert rows(client, uri, filter={"tag": tag}) == ["exp-1"]  # chosen by how it is shown


def test_thousands_of_rows_hold_up_nobody(client: RawClient, tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    keys = {f"group{place % 4}.flag_{place}": place for place in range(40)}
    many = [
        {**BASELINE, "id": f"run-{number}", "params": {**BASELINE["params"], **keys, "optimizer.lr": number}}
        for number in range(5_200)
    ]
    make_workspace(folder, *many)
    uri = opened(client, folder)
    client.wait(lambda: not listed(client, uri, limit=1)["pool"]["is_partial"], 30, "the whole pool")
    started = time.monotonic()
    asked = client.start_request("tried/experiments", {"textDocument": {"uri": uri}, "limit": 9_999})
    waits: list[float] = []
    while asked not in client.responses:
        before = time.monotonic()
        client.request("tried/status")
        waits.append(time.monotonic() - before)
        time.sleep(0.01)
    answer = client.result(asked)
    assert time.monotonic() - started < 10
    assert (len(answer["experiments"]), answer["total"]) == (5_000, 5_200)
    assert len(waits) > 3
    assert sorted(waits)[len(waits) // 2] < 0.15
    assert max(waits) < 1.0
    asking = {"textDocument": {"uri": uri}, "limit": 9_999}
    several = [client.start_request("tried/experiments", asking) for _ in range(3)]
    client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})  # quick, and made in a worker thread
    assert not any(each in client.responses for each in several)
    assert [client.result(each)["total"] for each in several] == [5_200] * 3


def test_while_a_pool_is_read_the_list_grows(tmp_path: Path) -> None:
    """A source that takes seconds: each answer comes soon and says that more is to come."""
    plugin = tmp_path / "plugin"
    (plugin / "slow_source-1.0.dist-info").mkdir(parents=True)
    (plugin / "slow_source.py").write_text(textwrap.dedent(SLOW_SOURCE).replace("4_000", "1_500"))
    (plugin / "slow_source-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: slow-source\nVersion: 1\n"
    )
    (plugin / "slow_source-1.0.dist-info" / "entry_points.txt").write_text("[tried.sources]\nslow = slow_source:kind\n")
    folder = tmp_path.resolve() / "work"
    make_workspace(folder, BASELINE, DIVERGED)
    (folder / "slow").mkdir()
    python_path = os.pathsep.join(filter(None, [str(plugin), os.environ.get("PYTHONPATH", "")]))
    client = RawClient(environment={"PYTHONPATH": python_path})
    try:
        uri = opened(client, folder)
        sizes: list[int] = []
        partial: list[bool] = []
        while not partial or partial[-1]:
            answer = listed(client, uri)
            sizes.append(answer["pool"]["records"])
            partial.append(answer["pool"]["is_partial"])
            time.sleep(0.05)
            assert len(partial) < 400
        assert partial == [True] * (len(partial) - 1) + [False]
        assert sizes == sorted(sizes)
        assert (sizes[0] < 1_502, sizes[-1]) == (True, 1_502)
        assert answer["total"] == 3  # 1,500 runs that differ in their seeds are one
        assert max(row["runs"] for row in answer["experiments"]) == 1_500
        assert max(len(row["records"]) for row in answer["experiments"]) == 50
        assert client.finish() == 0
        assert client.stderr == ""
    finally:
        client.kill()
