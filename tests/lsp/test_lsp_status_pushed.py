"""`tried/statusDidChange`, what `tried/status` says of a folder and its sources, and `tried.rescan`."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, journal_line, make_workspace
from raw_client import NEOVIM_LIKE, Message, RawClient, RequestFailed

from tried.lsp.session import Session
from tried.lsp.status import DID_CHANGE, TELL_SECONDS, subscribe

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[RawClient]:
    client = RawClient(environment={"XDG_CONFIG_HOME": str(tmp_path / "config")})
    yield client
    if client.process.poll() is None:
        assert client.leftovers() == []
        assert client.finish() == 0
    assert client.stderr == ""


def folders(client: RawClient) -> Any:
    return client.request("tried/status", {})["folders"]


def rescan(client: RawClient, **table: Any) -> Any:
    return client.request("workspace/executeCommand", {"command": "tried.rescan", "arguments": [table]})


def words(client: RawClient) -> list[Message]:
    return [message["params"] for message in client.notifications if message["method"] == DID_CHANGE]


class TestStatus:
    def test_a_source_has_a_name_and_the_folder_a_journal(self, client: RawClient, tmp_path: Path) -> None:
        folder = tmp_path.resolve() / "work"
        make_workspace(folder)
        (folder / "scores").mkdir()
        (folder / "scores" / "results.tsv").write_text(
            "commit\tval_loss\tstatus\tdescription\nabc1234\t2.0\tkeep\tlr 0.1\n", encoding="utf-8"
        )
        outside = tmp_path / "elsewhere.jsonl"
        outside.write_text(journal_line({**BASELINE, "id": "exp-9"}), encoding="utf-8")
        client.initialize(NEOVIM_LIKE, [folder], options={**FAST, "pool": {"sources": [str(outside)]}})
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)

        (told,) = folders(client)

        named = {source["name"]: source for source in told["sources"]}
        assert set(named) == {".tried/pool.jsonl", "scores/results.tsv", str(outside.resolve())}
        assert told["journal"] == str(folder / ".tried" / "pool.jsonl")
        journal = named[".tried/pool.jsonl"]
        assert (journal["records"], journal["dead_ends"], journal["newest"]) == (2, 1, "2026-10-02T00:00:00Z")
        assert journal["coverage"]["conclusion"] == 0.5  # one of two says what came of it
        assert told["state"] == "ready"

    def test_what_could_not_be_read_is_told_in_short_lines(self, client: RawClient, tmp_path: Path) -> None:
        folder = tmp_path.resolve()
        journal = make_workspace(folder)
        with journal.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"id": "x\u202e" * 50_000, "params": 3}) + "\n")
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        client.open((folder / "next.yaml").as_uri(), CONFIG)
        client.pushed((folder / "next.yaml").as_uri())

        (source,) = folders(client)[0]["sources"]

        assert len(source["skipped"]) == 1
        for text in source["skipped"][0].values():
            assert 0 < len(text) <= 500
            assert "\u202e" not in text
        client.notifications = [m for m in client.notifications if m["method"] != "window/logMessage"]


class TestPushed:
    def test_a_folder_that_is_read_is_told_of(self, client: RawClient, tmp_path: Path) -> None:
        folder = tmp_path.resolve()
        make_workspace(folder)
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        assert [told["state"] for told in folders(client)] == ["unread"]
        assert words(client) == []
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)

        client.wait(lambda: folders(client)[0]["state"] == "ready", 10, "the pool")
        client.wait(lambda: len(words(client)) >= 2, 10, "word of the beginning and of the end")

        assert words(client) == [{"path": str(folder)}] * len(words(client))
        assert len(words(client)) <= 3

    def test_a_record_that_lands_is_told_of_once(self, client: RawClient, tmp_path: Path) -> None:
        folder = tmp_path.resolve()
        journal = make_workspace(folder)
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)
        client.wait(lambda: folders(client)[0]["state"] == "ready", 10, "the pool")
        time.sleep(2 * TELL_SECONDS)
        client.notifications = [m for m in client.notifications if m["method"] != DID_CHANGE]
        with journal.open("a", encoding="utf-8") as file:
            file.write(journal_line({**BASELINE, "id": "exp-4", "timestamp": "2026-10-09T00:00:00Z"}))

        client.wait(lambda: bool(words(client)), 5, "word of the record")

        (source,) = folders(client)[0]["sources"]
        assert (source["records"], source["newest"]) == (3, "2026-10-09T00:00:00Z")
        time.sleep(3 * TELL_SECONDS)
        assert words(client) == [{"path": str(folder)}]

    def test_progress_is_told_twice_a_second_and_a_change_of_state_at_once(self, tmp_path: Path) -> None:
        """Of a hundred steps within half a second two words come: the first at once, one for all the others."""

        async def scene() -> None:
            sent: list[tuple[float, str]] = []
            loop = asyncio.get_running_loop()

            def notify(method: str, params: Message) -> None:
                assert (method, params) == (DID_CHANGE, {"path": str(tmp_path)})
                sent.append((loop.time(), session.folders[0].state))

            session = Session(cast(Any, SimpleNamespace(notify=notify)))
            subscribe(session)
            folder = session.add_folder(tmp_path.as_uri())
            assert folder is not None
            folder.loading = True
            for _ in range(100):
                for listener in session.progress_listeners:
                    listener(folder)
            assert [state for _, state in sent] == ["reading"]
            await asyncio.sleep(TELL_SECONDS + 0.2)
            assert [state for _, state in sent] == ["reading", "reading"]
            assert sent[1][0] - sent[0][0] >= TELL_SECONDS - 0.01
            for listener in session.progress_listeners:
                listener(folder)
            folder.loaded.set()
            for listener in session.folder_listeners:
                listener(folder)
            assert [state for _, state in sent] == ["reading", "reading", "ready"]
            await asyncio.sleep(TELL_SECONDS + 0.2)
            assert len(sent) == 3, "what waited was said with the last word"
            session.close()

        asyncio.run(scene())


class TestRescan:
    def test_a_folder_without_an_open_document_is_read(self, client: RawClient, tmp_path: Path) -> None:
        one, other = tmp_path.resolve() / "one", tmp_path.resolve() / "other"
        make_workspace(one)
        make_workspace(other, BASELINE)
        client.initialize(NEOVIM_LIKE, [one, other], options=FAST)
        uri = (one / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)
        assert [(told["state"], told["totals"]) for told in folders(client)][1] == ("unread", None)

        answer = rescan(client)

        assert answer["schema"] == "tried.status/v1"
        told = [(one["path"], one["state"], one["totals"]["records"]) for one in answer["folders"]]
        assert told == [(str(one), "ready", 2), (str(other), "ready", 1)]

    def test_a_store_in_a_new_place_is_found_at_once(self, client: RawClient, tmp_path: Path) -> None:
        """Else those in other places than the folder itself are looked for every 30 seconds."""
        folder = tmp_path.resolve()
        make_workspace(folder)
        client.initialize(NEOVIM_LIKE, [folder], options=FAST)
        uri = (folder / "next.yaml").as_uri()
        client.open(uri, CONFIG)
        client.pushed(uri)
        client.wait(lambda: folders(client)[0]["state"] == "ready", 10, "the pool")
        (folder / "deep" / "er" / ".tried").mkdir(parents=True)
        deep = folder / "deep" / "er" / ".tried" / "pool.jsonl"
        deep.write_text(journal_line({**DIVERGED, "id": "exp-7"}), encoding="utf-8")

        answer = rescan(client, uri=uri)

        (told,) = answer["folders"]
        assert {source["name"]: source["records"] for source in told["sources"]} == {
            ".tried/pool.jsonl": 2,
            "deep/er/.tried/pool.jsonl": 1,
        }

    def test_a_document_that_nobody_opened_is_a_mistake(self, client: RawClient, tmp_path: Path) -> None:
        client.initialize(NEOVIM_LIKE, [tmp_path], options=FAST)

        with pytest.raises(RequestFailed, match="uri must name an open document"):
            rescan(client, uri="file:///nowhere/x.yaml")

    def test_without_folders_there_is_nothing_to_rescan(self, client: RawClient) -> None:
        client.initialize(NEOVIM_LIKE, [], options=FAST)

        assert rescan(client) == {"schema": "tried.status/v1", "folders": []}


def test_a_source_that_is_asked_seldom_is_asked_when_it_is_to_hurry(tmp_path: Path) -> None:
    from tried.pool.sources.paced import Budget, Pace
    from tried.pool.sources.source import Delta

    clock = [100.0]
    pace = Pace(Budget(), "store", tick=lambda: clock[0])
    assert pace.is_due(tmp_path)
    pace.took(5.0, 5.0, Delta(cursor=None))
    clock[0] += 1.0
    assert not pace.is_due(tmp_path)

    pace.hurry()

    assert pace.is_due(tmp_path)
