"""Traces of the rankings that a real server gives: when settings or a request say so, and no matter of its answers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from filelock import FileLock
from lsp_workspace import make_workspace
from raw_client import Message, RawClient, RequestFailed, until
from tried_workspace import CONFIG, FAST, RECORDS, capabilities

from tried.evaluation.replay import replay
from tried.lsp import traces
from tried.render.trace_reports import is_identical, object_of, trace_of_object
from tried.storage.files import StorageError
from tried.storage.traces import lines_of, trace_files

ON = {**FAST, "trace": {"enabled": True}}


class Editor:
    """A server with a state folder of its own, and a config that is open in it."""

    def __init__(self, folder: Path, state: Path) -> None:
        make_workspace(folder, *RECORDS)
        self.folder = folder
        self.traces = state / "tried" / "traces"
        self.client = RawClient(environment={**os.environ, "XDG_STATE_HOME": str(state)})
        for asked in ("workspace/codeLens/refresh", "workspace/inlayHint/refresh"):
            self.client.answers[asked] = lambda params: None
        self.uri = (folder / "next.yaml").as_uri()

    def start(self, options: Message, text: str = CONFIG) -> None:
        self.client.initialize(capabilities(), [self.folder], options=options)
        self.client.open(self.uri, text)

    def related(self, **params: Any) -> Message:
        answer: Message = self.client.request("tried/related", {"textDocument": {"uri": self.uri}, **params})
        return answer

    def kept(self, count: int) -> list[Message]:
        """The traces, as soon as there are so many."""
        return [json.loads(line) for line in until(self._lines, lambda lines: len(lines) >= count)]

    def _lines(self) -> list[bytes]:
        if not self.traces.is_dir():
            return []
        lines = [line for file in trace_files(self.traces) for line in lines_of(file)]
        return [line.data for line in lines if line.data and line.data.endswith(b"}")]


@pytest.fixture
def editor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    editor = Editor(tmp_path_factory.mktemp("project").resolve(), tmp_path_factory.mktemp("state"))
    yield editor
    if editor.client.process.poll() is None:
        assert editor.client.finish() == 0


def without_inputs(results: list[Message]) -> list[Message]:
    return [
        {**result, "terms": [{k: v for k, v in term.items() if k != "inputs"} for term in result["terms"]]}
        for result in results
    ]


def test_nothing_is_traced_unless_it_is_asked_for(editor: Editor) -> None:
    editor.start(FAST)
    assert len(editor.related()["results"]) == len(RECORDS)
    assert editor.client.finish() == 0
    assert not editor.traces.exists()
    assert editor.client.stderr == ""


def test_one_request_may_ask_for_it(editor: Editor) -> None:
    editor.start(FAST)
    answer = editor.related(limit=2, policy="steady", set={"half_life_days": 7}, trace=True)
    (trace,) = editor.kept(1)
    assert trace["policy_id"] == answer["policy_id"]
    assert trace["policy"]["half_life_days"] == 7.0
    assert trace["policy_name"] is None  # it began with steady, and is another
    assert (trace["now"], trace["limit"], trace["total"]) == (answer["now"], 2, len(RECORDS))
    assert without_inputs(trace["result"]) == answer["results"]
    editor.related()
    assert editor.client.finish() == 0
    assert len(editor._lines()) == 1


def test_each_analysis_is_traced_where_settings_turn_it_on(editor: Editor) -> None:
    editor.start(ON)
    first = editor.related()
    (trace,) = editor.kept(1)
    assert without_inputs(trace["result"]) == first["results"]
    assert (trace["policy_name"], trace["policy_id"]) == ("default", first["policy_id"])
    editor.client.change(editor.uri, 2, {"text": CONFIG + "# Zugspitze: lion instead\n"})
    second = editor.related()
    traces = editor.kept(2)
    assert without_inputs(traces[1]["result"]) == second["results"]
    assert {"zugspitze", "lion"} <= set(traces[1]["query"]["terms"])
    assert traces[1]["query"]["text"] is None
    other = editor.related(policy="steady")
    assert editor.kept(3)[2]["policy_id"] == other["policy_id"]
    assert editor.client.finish() == 0
    lines = editor._lines()
    assert len(lines) == 3
    for line in lines:
        assert is_identical(replay(trace_of_object(object_of(line))[1]))
    assert editor.client.stderr == ""
    assert {path.name for path in editor.folder.iterdir()} == {".tried"}


def test_the_text_is_kept_where_settings_say_so(editor: Editor) -> None:
    editor.start({**FAST, "trace": {"enabled": True, "include_text": True, "candidates": 3}, "ranking": {"limit": 2}})
    editor.related()
    (trace,) = editor.kept(1)
    assert "adamw" in trace["query"]["text"]
    assert (len(trace["candidates"]), trace["total"], trace["complete"]) == (3, len(RECORDS), False)
    assert len(trace["result"]) == 2


def test_what_cannot_be_written_changes_no_answer_and_is_logged_once(editor: Editor) -> None:
    editor.traces.parent.mkdir(parents=True)
    editor.traces.write_text("in the way", encoding="ascii")
    editor.start(ON)
    answers = [editor.related(trace=True) for _ in range(3)]
    assert [len(answer["results"]) for answer in answers] == [len(RECORDS)] * 3
    assert editor.client.hover(editor.uri, 1, 6) is not None
    until(lambda: editor.client.stderr, lambda text: "not traced" in text)
    assert editor.client.finish() == 0
    told = [line for line in editor.client.stderr.splitlines() if "not traced" in line]
    assert len(told) == 1
    assert "the folder cannot be made" in told[0]
    assert "Traceback" not in editor.client.stderr


def test_a_folder_that_somebody_holds_delays_no_answer_and_no_end(editor: Editor) -> None:
    editor.traces.mkdir(parents=True)
    with FileLock(editor.traces / ".traces.lock"):
        editor.start(ON)
        began = time.monotonic()
        for _ in range(20):  # more than may wait
            assert len(editor.related(trace=True)["results"]) == len(RECORDS)
        assert editor.client.finish() == 0
        assert time.monotonic() - began < 5.0  # the lock would be waited for twice as long
    assert editor.client.stderr.count("faster than they can be written down") == 1
    assert editor._lines() == []


def test_a_server_that_ranks_too_fast_says_so_once_however_often_it_gets_behind(editor: Editor) -> None:
    editor.start(FAST)
    for _ in range(4):  # each time some are written in between
        before = len(editor._lines())
        for _ in range(30):
            editor.related(limit=2, trace=True)
        editor.kept(before + 1)
    assert editor.client.finish() == 0
    assert editor.client.stderr.count("faster than they can be written down") == 1


def test_a_kind_of_failure_is_told_once_whatever_its_figures(caplog: pytest.LogCaptureFixture) -> None:
    queue = traces._Queue()
    done = Event()

    def too_large(size: int) -> None:
        raise StorageError(f"a trace of {size / 7} MB is more than all traces may take (1 MB)")

    def read_only() -> None:
        raise StorageError("/traces: the folder cannot be made: permission denied")

    def fine() -> None:
        pass

    for work in (partial(too_large, 8), fine, partial(too_large, 9), read_only, fine, read_only, done.set):
        queue.put(work)
    assert done.wait(10)
    assert [record.message[:40] for record in caplog.records] == [
        "the ranking was not traced: a trace of 1",
        "the ranking was not traced: /traces: the",
    ]


def test_a_trace_rests_most_of_the_time() -> None:
    rest = traces._Rest()
    began = time.perf_counter()
    while time.perf_counter() - began < 0.004:
        pass
    rest()
    assert time.perf_counter() - began >= 0.004 * (1 + traces.REST)


def test_a_policy_that_is_not_known_is_not_traced(editor: Editor) -> None:
    editor.start(FAST)
    with pytest.raises(RequestFailed, match="did you mean steady"):
        editor.related(policy="steddy", trace=True)
    assert editor.client.finish() == 0
    assert not editor.traces.exists()
