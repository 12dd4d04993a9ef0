"""What a person does with a record in an editor counts, what is shown of it does not; a server process counts."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import edit
from raw_client import NEOVIM_LIKE, Message, RawClient, RequestFailed
from tried_workspace import CONFIG, FAST, RECORDS, capabilities, finished, started

from tried.storage.hits import clear_hits, hits_file, hits_of, record_hit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hits").resolve()


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[RawClient]:
    client = started(folder)
    client.open(uri_of(folder), CONFIG)
    client.request("tried/related", {"textDocument": {"uri": uri_of(folder)}})
    yield client
    finished(client)


@pytest.fixture(autouse=True)
def no_hits(folder: Path) -> None:
    clear_hits(folder)


def uri_of(folder: Path) -> str:
    return (folder / "a.yaml").as_uri()


def kept(folder: Path) -> dict[str, dict[str, int]]:
    return {record_id: dict(hit.ways) for record_id, hit in hits_of(folder).hits.items()}


def run(client: RawClient, command: str, **arguments: Any) -> Any:
    return client.request("workspace/executeCommand", {"command": command, "arguments": [arguments]})


def place_of(text: str, value: str) -> Message:
    line = next(number for number, each in enumerate(text.split("\n")) if f": {value}" in each)
    column = text.split("\n")[line].index(value)
    return {"start": {"line": line, "character": column}, "end": {"line": line, "character": column}}


def actions(client: RawClient, uri: str, text: str, value: str) -> list[Message]:
    params = {"textDocument": {"uri": uri}, "range": place_of(text, value), "context": {"diagnostics": []}}
    return client.request("textDocument/codeAction", params) or []


def completed(client: RawClient, uri: str, text: str, value: str) -> list[Message]:
    position = place_of(text, value)["start"]
    answer = client.request("textDocument/completion", {"textDocument": {"uri": uri}, "position": position})
    items: list[Message] = answer["items"]
    return items


def related(client: RawClient, uri: str) -> list[Message]:
    results: list[Message] = client.request("tried/related", {"textDocument": {"uri": uri}})["results"]
    return results


# the command


def test_the_command_is_offered_counts_and_says_how_often(client: RawClient, folder: Path) -> None:
    uri = uri_of(folder)
    assert run(client, "tried.countHit", uri=uri, record="EXP-2", how="opened") == {"record": "EXP-2", "hits": 1}
    assert run(client, "tried.countHit", record="EXP-2", how="used") == {"record": "EXP-2", "hits": 2}
    gone = (folder / "closed.yaml").as_uri()
    assert run(client, "tried.countHit", uri=gone, record="EXP-2", how="used") == {"record": "EXP-2", "hits": 3}
    assert kept(folder) == {"EXP-2": {"opened": 1, "used": 2}}
    assert hits_of(folder).hits["EXP-2"].last >= datetime.now(UTC) - timedelta(minutes=1)
    assert "hits" not in {path.name for path in folder.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"record": "EXP-2", "how": "shown"}, "how must be one of opened, compared, used, concluded, not 'shown'"),
        ({"record": "EXP-2"}, "how must be one of"),
        ({"record": "EXP-2", "how": 3}, "how must be text"),
        ({"record": 7, "how": "opened"}, "record must be text"),
        ({"record": "nobody", "how": "opened"}, "no record nobody"),
        ({"how": "opened"}, "record must be the id"),
        ({"record": "x" * 10_000, "how": "opened"}, "record must be the id"),
    ],
)
def test_mistakes_are_told_and_not_counted(client: RawClient, folder: Path, arguments: Any, said: str) -> None:
    for uri in ({}, {"uri": uri_of(folder)}):
        with pytest.raises(RequestFailed) as failure:
            run(client, "tried.countHit", **uri, **arguments)
        assert failure.value.code == -32602
        assert said in str(failure.value)
    assert kept(folder) == {}


# what counts by itself


def test_opening_and_comparing_count(client: RawClient, folder: Path) -> None:
    uri = uri_of(folder)
    assert run(client, "tried.openRecord", uri=uri, record="EXP-4")["shown"] is True
    run(client, "tried.openRecord", record="EXP-4")
    run(client, "tried.compareRecord", uri=uri, record="EXP-2")
    assert kept(folder) == {"EXP-4": {"opened": 2}, "EXP-2": {"compared": 1}}
    client.requests.clear()


def test_what_fails_does_not_count(client: RawClient, folder: Path) -> None:
    uri = uri_of(folder)
    for command, arguments in (
        ("tried.openRecord", {"uri": uri, "record": "nobody"}),
        ("tried.compareRecord", {"uri": uri, "record": "nobody"}),
        ("tried.markRecord", {"uri": uri, "record": "EXP-4"}),
        ("tried.concludeRecords", {"uri": uri, "records": ["EXP-4", "nobody"], "verdict": "works"}),
    ):
        with pytest.raises(RequestFailed):
            run(client, command, **arguments)
    assert kept(folder) == {}


def test_conclusions_count(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    client = started(folder)
    uri = uri_of(folder)
    client.open(uri, CONFIG)
    related(client, uri)
    run(client, "tried.markRecord", uri=uri, record="EXP-7", verdict="inconclusive", reason="too short")
    run(client, "tried.concludeRecords", uri=uri, records=["EXP-1", "EXP-7"], verdict="works", reason="fits")
    assert kept(folder) == {"EXP-7": {"concluded": 2}, "EXP-1": {"concluded": 1}}
    finished(client)


# what an editor does by itself


def test_a_value_that_is_used_counts_its_record_once_it_is_used(client: RawClient, folder: Path) -> None:
    uri = uri_of(folder)
    (action,) = actions(client, uri, CONFIG, "0.1")
    assert action["title"] == "Use 0.01: best of 2 runs (val_acc 0.9)"
    assert action["edit"]["documentChanges"][0]["edits"][0]["newText"] == "0.01"  # there without being resolved
    assert action["command"] == {
        "title": action["title"],
        "command": "tried.countHit",
        "arguments": [{"uri": uri, "record": "EXP-2", "how": "used"}],
    }
    assert kept(folder) == {}
    client.request("workspace/executeCommand", action["command"])
    assert kept(folder) == {"EXP-2": {"used": 1}}


def test_values_of_one_run_count_when_they_are_completed(client: RawClient, folder: Path) -> None:
    items = completed(client, uri_of(folder), CONFIG, "0.1")
    commands = {item["label"]: item.get("command") for item in items}
    assert list(commands) == ["0.01", "0.03", "0.1", "0.5"]
    assert commands["0.01"] is None  # of two runs
    assert commands["0.1"] is None
    assert commands["0.03"] == {
        "title": "Use 0.03",
        "command": "tried.countHit",
        "arguments": [{"uri": uri_of(folder), "record": "EXP-4", "how": "used"}],
    }
    assert kept(folder) == {}
    client.request("workspace/executeCommand", commands["0.03"])
    assert kept(folder) == {"EXP-4": {"used": 1}}


def test_a_client_that_knows_commands_alone_is_offered_no_count(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    client = started(folder, {})
    client.open(uri_of(folder), CONFIG)
    related(client, uri_of(folder))
    assert actions(client, uri_of(folder), CONFIG, "0.1") == []
    finished(client)


def test_what_is_shown_does_not_count(client: RawClient, folder: Path) -> None:
    name = folder / "shown.yaml"
    uri, text = name.as_uri(), CONFIG.replace("adamw", "sgd").replace("64", "32") + "# as in EXP-2\n"
    client.open(uri, text)
    document = {"textDocument": {"uri": uri}}
    finding = client.request("textDocument/diagnostic", document)["items"][0]
    assert finding["data"]["record"] == "EXP-6"
    assert client.hover(uri, 2, 9)
    context = {"diagnostics": [finding]}
    assert client.request("textDocument/codeAction", {**document, "range": finding["range"], "context": context})
    assert completed(client, uri, text, "0.1")
    assert client.request("textDocument/codeLens", document)
    assert client.request("textDocument/documentLink", document)
    position = {"line": 7, "character": 9}
    assert client.request("textDocument/definition", {**document, "position": position})
    assert client.request("workspace/symbol", {"query": "EXP-2"})
    assert client.request("tried/related", document)["results"]
    assert client.request("tried/experiments", document)["experiments"]
    assert client.request("tried/record", {**document, "record": "EXP-2"})["id"] == "EXP-2"
    assert client.request("tried/absence", {**document, "record": "EXP-2"})
    assert client.request("tried/explain", {**document, "record": "EXP-2"})
    assert client.request("tried/findings", document)["findings"]
    client.close(uri)
    assert kept(folder) == {}
    path = hits_file(folder)
    assert path is not None
    assert not path.exists()


# what comes of it

STEADY = '[ranking]\npolicy = "steady"\n'
TWINS = [
    {**RECORDS[0], "id": name, "name": "twin", "params": {**RECORDS[0]["params"], "depth": 3 + place}}
    for place, name in enumerate(("TWIN-1", "TWIN-2", "TWIN-3"))
]
WARM = [{**twin, "name": "warm start"} for twin in TWINS]
"""The same with words of their own, which no id holds."""


def twins(
    tmp_path: Path, settings: str, can: Message | None = None, records: Sequence[Message] = TWINS, text: str = CONFIG
) -> tuple[RawClient, Path, str]:
    """A folder with three records that rank alike, by their ids, and a config that is open."""
    folder = tmp_path.resolve()
    (folder / ".tried").mkdir()
    (folder / ".tried" / "pool.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "tried.toml").write_text(settings)
    client = RawClient()
    client.answers["workspace/codeLens/refresh"] = lambda params: None
    client.answers["workspace/inlayHint/refresh"] = lambda params: None
    offered = client.initialize(can or capabilities(), [folder], options=FAST)["capabilities"]
    assert "tried.countHit" in offered["executeCommandProvider"]["commands"]
    uri = uri_of(folder)
    client.open(uri, text)
    return client, folder, uri


def order(client: RawClient, uri: str) -> list[str]:
    return [one["id"] for one in related(client, uri)]


def test_with_a_policy_that_counts_hits_the_next_analysis_orders_by_them(tmp_path: Path) -> None:
    client, _, uri = twins(tmp_path, STEADY)
    assert order(client, uri) == ["TWIN-1", "TWIN-2", "TWIN-3"]
    run(client, "tried.openRecord", uri=uri, record="TWIN-3")
    assert order(client, uri) == ["TWIN-1", "TWIN-2", "TWIN-3"]  # nothing moves under the pointer
    client.change(uri, 2, edit(6, 6, 7, "4"))
    results = related(client, uri)
    assert [one["id"] for one in results] == ["TWIN-3", "TWIN-1", "TWIN-2"]
    boosts = [term["value"] for one in results for term in one["terms"] if term["name"] == "hit_boost"]
    assert boosts[1:] == [0, 0]
    assert boosts[0] == pytest.approx(0.05 / 9, rel=1e-3)  # 0.05 · 1 / (1 + 8), a moment ago
    rows = client.request("tried/experiments", {"textDocument": {"uri": uri}})["experiments"]
    assert {one["record"]: one["rank"] for one in rows} == {"TWIN-3": 1, "TWIN-1": 2, "TWIN-2": 3}
    explained = client.request("tried/explain", {"textDocument": {"uri": uri}, "record": "TWIN-3"})
    assert explained["rank"] == 1
    assert [term["value"] for term in explained["breakdown"] if term["name"] == "hit_boost"] == boosts[:1]
    shown = client.request("tried/record", {"textDocument": {"uri": uri}, "record": "TWIN-3"})["breakdown"]
    assert (shown["rank"], shown["score"]) == (1, results[0]["score"])
    finished(client)


def boosts_of(rows: list[Message], name: str) -> dict[str, float]:
    return {row[name]: term["value"] for row in rows for term in row["terms"] if term["name"] == "hit_boost"}


def test_whatever_shows_a_rank_or_a_score_counts_hits(tmp_path: Path) -> None:
    """8 hits just now are half the weight of 0.05. The config repeats the dead end EXP-6; the twins rank alike."""
    now = datetime.now(UTC)
    for _ in range(8):
        record_hit(tmp_path.resolve(), ["TWIN-3", "EXP-6"], "opened", now)
    text = CONFIG.replace("adamw", "sgd").replace("64", "32")
    client, _, uri = twins(tmp_path, STEADY, records=[*WARM, *RECORDS], text=text)
    document = {"textDocument": {"uri": uri}}
    half, chosen = pytest.approx(0.025, rel=1e-3), {"text": "start"}

    asked = client.request("tried/related", {**document, "set": {"half_life_days": 90}})["results"]
    assert boosts_of(asked, "id")["TWIN-3"] == half
    assert [one["id"] for one in asked if one["id"].startswith("TWIN")] == ["TWIN-3", "TWIN-1", "TWIN-2"]

    rows = client.request("tried/experiments", document)["experiments"]
    assert {name for name, value in boosts_of(rows, "record").items() if value == half} == {"TWIN-3", "EXP-6"}
    rows = client.request("tried/experiments", {**document, "filter": chosen})["experiments"]
    assert boosts_of(rows, "record") == {"TWIN-3": half, "TWIN-1": 0, "TWIN-2": 0}
    assert {row["record"]: row["rank"] for row in rows} == {"TWIN-3": 1, "TWIN-1": 2, "TWIN-2": 3}

    missed = client.request("tried/absence", {**document, "record": "TWIN-3", "filter": chosen})
    assert missed["rank"] == 1
    assert boosts_of([missed], "record") == {"TWIN-3": half}
    missed = client.request("tried/absence", {**document, "record": "TWIN-1", "filter": chosen, "limit": 1})
    assert (missed["rank"], boosts_of([missed], "record")) == (2, {"TWIN-1": 0})

    shown = client.request("textDocument/hover", {**document, "position": {"line": 2, "character": 9}})
    row = next(row for row in shown["contents"]["value"].splitlines() if "hit_boost" in row)
    assert [cell.strip() for cell in row.split("|")][2] == "0.025"

    found = client.request("workspace/symbol", {"query": "warm start"})
    assert [symbol["data"]["record"] for symbol in found] == ["TWIN-3", "TWIN-1", "TWIN-2"]
    finished(client)


def test_a_policy_that_drops_old_records_hides_none_from_who_searches_for_it(tmp_path: Path) -> None:
    client, _, uri = twins(tmp_path, '[ranking]\npolicy = "fresh"\n[policies.fresh]\nttl_days = 1\n', records=WARM)
    assert related(client, uri) == []
    for typed in ("TWIN-2", "warm start"):
        found = client.request("workspace/symbol", {"query": typed})
        assert "TWIN-2" in [symbol["data"]["record"] for symbol in found]
    finished(client)


def test_what_is_concluded_of_many_at_once_is_no_hit_on_any(tmp_path: Path) -> None:
    records = [{**RECORDS[0], "id": f"RUN-{number}"} for number in range(21)]
    client, folder, uri = twins(tmp_path, "", records=records)
    related(client, uri)
    ids = [record["id"] for record in records]
    run(client, "tried.concludeRecords", uri=uri, records=ids, verdict="inconclusive")
    assert kept(folder) == {}
    run(client, "tried.concludeRecords", uri=uri, records=ids[1:], verdict="inconclusive")
    assert kept(folder) == {record_id: {"concluded": 1} for record_id in ids[1:]}
    finished(client)


def test_hits_that_another_process_counts_are_seen_by_the_next_analysis(tmp_path: Path) -> None:
    client, folder, uri = twins(tmp_path, STEADY)
    assert order(client, uri) == ["TWIN-1", "TWIN-2", "TWIN-3"]
    for _ in range(3):
        record_hit(folder, ["TWIN-2"], "opened", datetime.now(UTC) - timedelta(days=14))
    record_hit(folder, ["TWIN-3"], "opened", datetime.now(UTC) - timedelta(days=28))
    client.change(uri, 2, edit(6, 6, 7, "4"))
    results = related(client, uri)
    assert [one["id"] for one in results] == ["TWIN-2", "TWIN-3", "TWIN-1"]
    boosts = [term["value"] for one in results for term in one["terms"] if term["name"] == "hit_boost"]
    assert boosts == pytest.approx([0.05 * 3 / 11 * math.exp(-1), 0.05 / 9 * math.exp(-2), 0], rel=1e-3)
    assert clear_hits(folder) == 2
    client.change(uri, 3, edit(6, 6, 7, "5"))
    assert order(client, uri) == ["TWIN-1", "TWIN-2", "TWIN-3"]
    finished(client)


def test_the_default_policy_does_not_look_at_them(tmp_path: Path) -> None:
    client, folder, uri = twins(tmp_path, "")
    before = related(client, uri)
    run(client, "tried.openRecord", uri=uri, record="TWIN-3")
    client.change(uri, 2, edit(6, 6, 7, "4"))
    assert related(client, uri) == before
    assert kept(folder) == {"TWIN-3": {"opened": 1}}
    finished(client)


# where they cannot be kept


def logged(client: RawClient) -> list[str]:
    return [
        message["params"]["message"] for message in client.notifications if message["method"] == "window/logMessage"
    ]


@pytest.mark.parametrize("can", [NEOVIM_LIKE, capabilities()], ids=["neovim", "vscode"])
def test_where_none_can_be_kept_the_work_is_done_and_the_log_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, can: Message
) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "tried").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    client, _, uri = twins(tmp_path / "work", "", can)
    related(client, uri)
    for _ in range(3):
        assert run(client, "tried.openRecord", uri=uri, record="TWIN-3")["shown"] is True
    assert run(client, "tried.markRecord", uri=uri, record="TWIN-1", verdict="works")["record"] == "TWIN-1"
    answer = run(client, "tried.countHit", uri=uri, record="TWIN-2", how="opened")
    assert (answer["record"], answer["hits"]) == ("TWIN-2", None)
    assert "the folder cannot be made: " in answer["problem"]
    told = [message for message in logged(client) if "counted" in message]
    assert told == [f"this is not counted as a hit: {answer['problem']}"]
    assert [message["method"] for message in client.notifications if message["method"] == "window/showMessage"] == []
    assert client.finish() == 0
    assert client.stderr == ""


def test_what_of_the_file_cannot_be_read_is_told_once_and_the_rest_counts(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    record_hit(folder, ["TWIN-2"], "opened", datetime.now(UTC))
    path = hits_file(folder)
    assert path is not None
    path.write_bytes(b"\xff\x00\n" + path.read_bytes() + b'{"record": "TWIN-1", "hits": 1e400}\n{"record"')
    client, _, uri = twins(tmp_path, STEADY)
    assert order(client, uri) == ["TWIN-2", "TWIN-1", "TWIN-3"]
    client.change(uri, 2, edit(6, 6, 7, "4"))
    assert order(client, uri) == ["TWIN-2", "TWIN-1", "TWIN-3"]
    told = [message for message in logged(client) if str(path) in message]
    assert told == [f"{path}: 3 lines are no hit that can be read, and not counted"]
    shutil.rmtree(path.parent)
    assert client.finish() == 0
