"""A server as a source: what comes, what is edited and deleted, and what is there when the server is not."""

from __future__ import annotations

import functools
import json
import stat
import threading
import time
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from remote_servers import Asked, LocalServer, MlflowApi, WandbApi, mlflow_run, respond, serving, wandb_node

from tried.pool.sources.kit import Said, scan_all
from tried.pool.sources.remote import cache as remote_cache
from tried.pool.sources.remote import source as remote_source
from tried.pool.sources.remote import wandb_server
from tried.pool.sources.remote.cache import RemoteCache
from tried.pool.sources.remote.http import RemoteClient
from tried.pool.sources.remote.mlflow_server import MlflowServer
from tried.pool.sources.remote.source import RemoteSource
from tried.pool.sources.remote.source import remote_source as make
from tried.pool.sources.remote.tracker import RemoteTracker, Secret

KEY = "s3cr3t-k3y"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetch at each scan, and do not wait between tries."""
    monkeypatch.setattr(remote_source, "SHORTEST_INTERVAL", 0.0)
    monkeypatch.setattr(remote_source, "RemoteClient", functools.partial(RemoteClient, tries=1))


class Follower:
    """A source that is scanned again and again, as the pool does."""

    def __init__(self, tracker: RemoteTracker, cache: Path) -> None:
        source = make(tracker, cache)
        assert isinstance(source, RemoteSource)
        self.source = source
        self.said: Said | None = None

    def look(self) -> list[str]:
        """Fetch, then scan: the ids of what was said."""
        self.source._background.start_if_due()
        assert self.source.wait(20)
        self.source._background._due = time.monotonic() + 60
        self.said = scan_all(self.source, self.said.cursor if self.said else None, self.said)
        self.source._background._due = 0.0
        return [record.id for delta in self.said.deltas for record in delta.upserts]

    @property
    def records(self) -> Mapping[str, Any]:
        assert self.said is not None
        return self.said.records

    @property
    def complaints(self) -> list[str]:
        assert self.said is not None
        return [f"{one.where}: {one.why}" for one in self.said.skipped]


@pytest.fixture
def wandb_api() -> WandbApi:
    return WandbApi(KEY, [wandb_node(f"r{number}", number) for number in range(5)])


@pytest.fixture
def wandb(wandb_api: WandbApi) -> Iterator[LocalServer]:
    with serving(wandb_api.answer) as server:
        yield server


@pytest.fixture
def follower(wandb: LocalServer, tmp_path: Path) -> Follower:
    tracker = RemoteTracker("wandb", wandb.address, ("team/denoise",), token=Secret(KEY), interval_seconds=0)
    return Follower(tracker, tmp_path / "cache")


def test_what_wandb_says_of_a_run(wandb_api: WandbApi, follower: Follower) -> None:
    wandb_api.runs = [
        wandb_node(
            "ab12",
            0,
            displayName="wider ✓",
            state="failed",
            config={"lr": 0.001, "model": {"width": 64}, "_wandb": {"t": 1}},
            summary={"val_loss": 0.25, "_runtime": 12.5, "eval": {"f1": "NaN"}},
            notes="more channels",
            tags=["dead-end", "baseline"],
            group="ablation",
            sweepName="sw9",
            commit="5f1c0de",
        )
    ]
    assert follower.look() == ["wandb:ab12"]
    record = follower.records["wandb:ab12"]
    assert record.name == "wider ✓"
    assert record.params == {"lr": 0.001, "model": {"width": 64}}
    assert record.metrics == {"val_loss": 0.25, "eval.f1": "nan"}
    assert (record.notes, record.verdict) == ("more channels", "dead_end")
    assert record.tags == ["dead-end", "baseline", "group=ablation"]
    assert (record.outcome, record.sweep, record.research_line) == ("failed", "wandb:sweep/sw9", "denoise")
    assert record.timestamp == "2026-03-01T10:00:00Z"
    assert record.url == f"{follower.source.tracker.address}/team/denoise/runs/ab12"
    assert record.git == {"sha": "5f1c0de"}


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        ("running", "running"),
        ("pending", "running"),
        ("finished", "completed"),
        ("failed", "failed"),
        ("killed", "stopped"),
        ("crashed", "stopped"),
        ("preempted", "stopped"),
        ("unheard-of", None),
    ],
)
def test_states(wandb_api: WandbApi, follower: Follower, state: str, outcome: str | None) -> None:
    wandb_api.runs = [wandb_node("ab12", 0, state=state)]
    follower.look()
    assert follower.records["wandb:ab12"].outcome == outcome


def test_the_first_look_reads_all_pages_and_the_next_what_is_new(
    wandb_api: WandbApi, wandb: LocalServer, follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wandb_server, "OVERLAP_SECONDS", 0)
    assert follower.look() == [f"wandb:r{number}" for number in range(5)]
    assert len(wandb.asked) == 3
    assert follower.look() == []
    wandb_api.runs.append(wandb_node("new", 40))
    wandb.asked.clear()
    assert follower.look() == ["wandb:new"]
    orders = [one.body["variables"]["order"] for one in wandb.asked]
    # What is recent, up to a page with nothing that is, and one page in turn.
    assert orders == ["-heartbeat_at", "-heartbeat_at", "+created_at"]


def test_edits_without_a_heartbeat_are_found_in_turn(wandb_api: WandbApi, follower: Follower) -> None:
    follower.look()
    wandb_api.runs[4]["notes"] = "worse than its parent"
    seen = [follower.look() for _ in range(3)]
    assert sorted(map(len, seen)) == [0, 0, 1]
    assert follower.records["wandb:r4"].notes == "worse than its parent"


def test_deleted_runs_go_when_two_rounds_did_not_see_them(wandb_api: WandbApi, follower: Follower) -> None:
    follower.look()
    del wandb_api.runs[1]
    for _ in range(12):
        follower.look()
    assert sorted(follower.records) == ["wandb:r0", "wandb:r2", "wandb:r3", "wandb:r4"]


def test_a_run_that_one_round_did_not_see_stays(wandb_api: WandbApi, follower: Follower) -> None:
    follower.look()
    hidden = wandb_api.runs.pop(1)
    rounds = [follower.look() for _ in range(2)]  # 4 runs in pages of 2: one round
    wandb_api.runs.append(hidden)
    rounds += [follower.look() for _ in range(6)]
    assert not any(rounds)
    assert len(follower.records) == 5


def test_a_restart_shows_what_was_there_without_the_server(
    wandb: LocalServer, follower: Follower, tmp_path: Path
) -> None:
    follower.look()
    gone = RemoteTracker("wandb", "http://127.0.0.1:9", ("team/denoise",), token=Secret(KEY), interval_seconds=0)
    again = RemoteSource(gone, follower.source.path)
    said = scan_all(again)
    assert sorted(said.records) == [f"wandb:r{number}" for number in range(5)]
    again.wait(10)
    said = scan_all(again, said.cursor, said)
    assert len(said.records) == 5
    again.wait(10)


def test_a_restart_goes_on_where_it_was(wandb: LocalServer, follower: Follower, tmp_path: Path) -> None:
    follower.look()
    wandb.asked.clear()
    again = Follower(follower.source.tracker, tmp_path / "cache")
    assert len(again.look()) == 5
    assert wandb.asked[0].body["variables"]["order"] == "-heartbeat_at", "not everything anew"


def test_a_first_look_that_is_cut_short_goes_on(wandb_api: WandbApi, follower: Follower, tmp_path: Path) -> None:
    whole = wandb_api.answer
    answers = iter([True, False])

    def breaking(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        whole(handler, asked) if next(answers, True) else respond(handler, b"", 500)

    with serving(breaking) as server:
        tracker = RemoteTracker("wandb", server.address, ("team/denoise",), token=Secret(KEY), interval_seconds=0)
        cut = Follower(tracker, tmp_path / "other")
        assert cut.look() == ["wandb:r0", "wandb:r1"]
        assert cut.look() == ["wandb:r2", "wandb:r3", "wandb:r4"]
        assert [one.body["variables"]["cursor"] for one in server.asked] == [None, "2", "2", "4"]


def test_a_failure_is_told_once_and_taken_back_when_it_is_over(
    wandb_api: WandbApi, wandb: LocalServer, follower: Follower
) -> None:
    follower.look()
    whole = wandb.answer
    wandb.answer = lambda handler, _: respond(handler, b"<html>maintenance</html>")
    follower.look()
    follower.look()
    assert len(follower.complaints) == 1
    assert follower.complaints[0].startswith(f"{wandb.address}: answered with a web page")
    assert len(follower.records) == 5
    wandb.answer = whole
    follower.look()
    assert follower.complaints == []
    assert len(follower.records) == 5


@pytest.mark.parametrize(
    ("projects", "says"),
    [
        (("team/other",), "has no project team/other, or does not show it"),
        (("denoise",), "write it as ENTITY/PROJECT"),
        ((), "no project is configured"),
    ],
)
def test_projects_that_are_wrong(wandb: LocalServer, tmp_path: Path, projects: tuple[str, ...], says: str) -> None:
    wrong = Follower(RemoteTracker("wandb", wandb.address, projects, token=Secret(KEY)), tmp_path)
    wrong.look()
    assert [says in complaint for complaint in wrong.complaints] == [True]


def test_refused_credentials_are_told(wandb: LocalServer, tmp_path: Path) -> None:
    wrong = Follower(RemoteTracker("wandb", wandb.address, ("team/denoise",), token=Secret("wrong-key")), tmp_path)
    wrong.look()
    assert "does not accept the credentials" in wrong.complaints[0]
    missing = Follower(
        RemoteTracker("wandb", wandb.address, ("team/denoise",), token_variable="TRIED_NO_SUCH"), tmp_path
    )
    missing.look()
    assert "TRIED_NO_SUCH" in missing.complaints[0]


def test_a_scan_waits_for_nobody(tmp_path: Path) -> None:
    free = threading.Event()

    def silent(*_: object) -> None:
        free.wait(10)

    with serving(silent) as server:
        source = make(RemoteTracker("mlflow", server.address), tmp_path)
        began = time.monotonic()
        cursor = source.scan(None).cursor
        for _ in range(20):
            cursor = source.scan(cursor).cursor
        assert time.monotonic() - began < 5  # half of what one answer would be waited for
        free.set()


def test_the_cache_is_private_and_without_credentials(follower: Follower, tmp_path: Path) -> None:
    follower.look()
    files = [path for path in (tmp_path / "cache").iterdir() if path.suffix != ".lock"]
    assert len(files) == 2
    for path in files:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert KEY.encode() not in path.read_bytes()
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700


def test_a_cache_that_was_damaged_costs_lines_and_no_more(follower: Follower) -> None:
    follower.look()
    data = follower.source.path.read_bytes().splitlines(keepends=True)
    follower.source.path.write_bytes(b"".join([data[0], b"\xff{]\n", *data[2:], b'{"id": "torn']))
    again = Follower(follower.source.tracker, follower.source.path.parent)
    again.look()
    assert sorted(again.records) == [f"wandb:r{number}" for number in range(5)]
    assert again.complaints == [f"the cache {follower.source.path.name}: 1 lines cannot be read"]


@pytest.mark.parametrize("left", [b"", b"{", b"\x00" * 5000, b"no cache\n"])
def test_a_cache_of_which_nothing_is_left_is_made_again(follower: Follower, left: bytes) -> None:
    follower.look()
    follower.source.path.write_bytes(left)
    follower.look()
    assert sorted(follower.records) == [f"wandb:r{number}" for number in range(5)]


def test_a_cache_that_is_taken_away_is_made_again(follower: Follower) -> None:
    follower.look()
    for path in follower.source.path.parent.iterdir():
        path.unlink()
    follower.look()
    assert sorted(follower.records) == [f"wandb:r{number}" for number in range(5)]
    assert follower.look() == []


def test_a_cache_with_much_that_is_out_of_date_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_cache, "COMPACT_FROM", 10)
    cache = RemoteCache(tmp_path / "c.jsonl")
    with cache.held() as held:
        assert held
        cache.catch_up()
        for number in range(30):
            assert cache.add({"a": {"n": number}, "b": {"n": 1}}) == (2 if number == 0 else 1)
        cache.keep_progress({"newest": 7})
        size = cache.path.stat().st_size
        cache.catch_up()
        assert cache.path.stat().st_size < size
        assert cache.progress()["newest"] == 7
        assert cache.add({"a": {"n": 29}, "b": {"n": 1}}) == 0
    fresh = RemoteCache(tmp_path / "c.jsonl")
    fresh.catch_up()
    assert fresh.known == {"a", "b"}


def test_two_processes_do_not_fetch_at_once(tmp_path: Path) -> None:
    one, other = RemoteCache(tmp_path / "c.jsonl"), RemoteCache(tmp_path / "c.jsonl")
    with one.held() as first, other.held() as second:
        assert (first, second) == (True, False)


# MLflow


@pytest.fixture
def mlflow_api() -> MlflowApi:
    return MlflowApi([mlflow_run(f"m{number}", number) for number in range(5)])


def test_mlflow_page_by_page_then_what_is_new(mlflow_api: MlflowApi, tmp_path: Path) -> None:
    with serving(mlflow_api.answer) as server:
        follower = Follower(RemoteTracker("mlflow", server.address, interval_seconds=0), tmp_path)
        assert follower.look() == [f"mlflow:m{number}" for number in range(5)]
        record = follower.records["mlflow:m3"]
        assert (record.name, record.params, record.metrics) == ("run m3", {"lr": "0.1"}, {"val_loss": 0.5})
        assert (record.outcome, record.experiment) == ("completed", "denoise")
        assert record.places == [f"{server.address}/#/experiments/7/runs/m3"]
        assert follower.look() == []
        mlflow_api.runs.append(mlflow_run("new", 50, "RUNNING"))
        assert follower.look() == ["mlflow:new"]
        mlflow_api.runs[-1] = mlflow_run("new", 50, "FAILED")
        assert follower.look() == ["mlflow:new"]
        assert follower.records["mlflow:new"].outcome == "failed"
        mlflow_api.runs[1]["data"]["tags"] = [{"key": "mlflow.note.content", "value": "did not help"}]
        said = [each for _ in range(3) for each in follower.look()]
        assert said == ["mlflow:m1"]
        assert follower.records["mlflow:m1"].notes == "did not help"


def test_mlflow_runs_that_go_on_are_read_each_time(mlflow_api: MlflowApi, tmp_path: Path) -> None:
    mlflow_api.runs.append(mlflow_run("long", -600, "RUNNING"))
    with serving(mlflow_api.answer) as server:
        follower = Follower(RemoteTracker("mlflow", server.address, interval_seconds=0), tmp_path)
        follower.look()
        mlflow_api.runs[-1]["data"]["metrics"][0]["value"] = 0.125
        assert follower.look() == ["mlflow:long"]
        assert follower.records["mlflow:long"].metrics == {"val_loss": 0.125}


def test_mlflow_children_know_their_sweep_when_it_comes_later(mlflow_api: MlflowApi, tmp_path: Path) -> None:
    child = mlflow_run("c1", 1, mlflow__parentRunId="p")
    other = mlflow_run("c2", 2, mlflow__parentRunId="p")
    other["data"]["params"] = [{"key": "lr", "value": "0.2"}]
    mlflow_api.runs = [child]
    with serving(mlflow_api.answer) as server:
        follower = Follower(RemoteTracker("mlflow", server.address, interval_seconds=0), tmp_path)
        follower.look()
        assert follower.records["mlflow:c1"].sweep is None
        mlflow_api.runs += [other, mlflow_run("p", 0)]
        follower.look()
        assert follower.records["mlflow:c1"].sweep == "mlflow:p"
        assert follower.records["mlflow:c2"].sweep == "mlflow:p"
        assert follower.records["mlflow:p"].role == "sweep"


def test_mlflow_experiments_that_are_not_there(mlflow_api: MlflowApi, tmp_path: Path) -> None:
    with serving(mlflow_api.answer) as server:
        follower = Follower(RemoteTracker("mlflow", server.address, ("denoise", "other")), tmp_path)
        follower.look()
    assert "has no experiment named 'other'" in follower.complaints[0]


@pytest.mark.parametrize(
    "answer",
    [
        {"runs": [None, 3, {"info": 3}, {"info": {"run_id": ""}}, {"info": {"run_id": 7}}]},
        {"runs": {"a": 1}, "next_page_token": 7},
        {
            "runs": [
                {"info": {"run_id": "x", "start_time": "soon", "status": {"a": 1}}, "data": {"tags": 3, "params": [1]}}
            ]
        },
    ],
)
def test_mlflow_answers_of_odd_shapes(answer: Any, tmp_path: Path) -> None:
    def odd(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        experiments = {"experiments": [{"experiment_id": "7", "name": "denoise"}, 3, {"name": 1}]}
        respond(handler, experiments if "experiments" in asked.path else answer)

    with serving(odd) as server:
        follower = Follower(RemoteTracker("mlflow", server.address), tmp_path)
        said = follower.look()
        assert said in ([], ["mlflow:x"])


def test_a_server_whose_pages_have_no_end_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tried.pool.sources.remote.fetch.PAGES_LIMIT", 20)
    count = iter(range(10_000))

    def more(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        experiments = {"experiments": [{"experiment_id": "7", "name": "denoise"}]}
        number = next(count)
        answer = {"runs": [mlflow_run(f"m{number % 3}", 1)], "next_page_token": str(number)}
        respond(handler, experiments if "experiments" in asked.path else answer)

    with serving(more) as server:
        follower = Follower(RemoteTracker("mlflow", server.address), tmp_path)
        follower.look()
        assert len(server.asked) < 100
        assert 0 < len(follower.records) <= 3


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["NaN", "7"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
FIELDS = ("name", "status", "started", "ended", "experiment", "experiment_id", "params", "metrics", "tags", "run_id")
NODE_FIELDS = (*wandb_server.FIELDS, "entity", "project")


@settings(max_examples=200, deadline=None)
@given(run=st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_whatever_mlflow_said_of_a_run_is_a_record(run: dict[str, Any]) -> None:
    made = MlflowServer(RemoteTracker("mlflow", "http://localhost")).records({"a": run}, None, {"a": 0}, lambda _: None)
    assert [record.id for record in made.records] == ["mlflow:a"]
    assert made.records[0].to_json()


@settings(max_examples=200, deadline=None)
@given(run=st.dictionaries(st.sampled_from(NODE_FIELDS), JSON), inner=JSON)
def test_whatever_wandb_said_of_a_run_is_a_record(run: dict[str, Any], inner: Any) -> None:
    server = wandb_server.WandbServer(RemoteTracker("wandb", "http://localhost", ("a/b",)))
    texts = {name: json.dumps(inner) for name in ("config", "summaryMetrics")}
    for node in (run, {**run, **texts}):
        made = server.records({"a": node}, None, {"a": 0}, lambda _: None)
        assert [record.id for record in made.records] == ["wandb:a"]
        assert made.records[0].to_json()


def test_what_is_nested_very_deep_is_left_out(wandb_api: WandbApi, follower: Follower) -> None:
    config = '{"lr": {"value": 1}, "deep": {"value": ' + "[" * 500 + "]" * 500 + "}}"
    wandb_api.runs = [{**wandb_node("ab12", 0), "config": config}]
    follower.look()
    record = follower.records["wandb:ab12"]
    assert record.params["lr"] == 1
    assert 0 < json.dumps(record.params["deep"]).count("[") < 100
