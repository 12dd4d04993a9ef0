"""`tried/explain` of a real server: the same object as a ranking gives, and the answer to why a record is not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, DIVERGED, HARMLESS, TOO_DEEP, make_workspace
from raw_client import NEOVIM_LIKE, Message, RawClient, RequestFailed

from tried.ranking.policy import DEFAULT_POLICY, STEADY

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
OLD: Message = {**BASELINE, "timestamp": "2020-01-01T00:00:00Z"}
UNDATED: Message = {key: value for key, value in TOO_DEEP.items() if key != "timestamp"}

Ask = Callable[..., Any]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    folder = tmp_path.resolve()
    make_workspace(folder, OLD, DIVERGED, UNDATED)
    client = RawClient()
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, HARMLESS)
    yield lambda method, **params: client.request(method, {"textDocument": {"uri": uri}, **params})
    assert client.leftovers() == []
    assert client.finish() == 0
    assert client.stderr == ""


@pytest.mark.parametrize("policy", [None, "steady"])
def test_it_is_the_object_of_the_ranking(ask: Ask, policy: str | None) -> None:
    ranking = ask("tried/related", policy=policy)
    assert len(ranking["results"]) == 3
    for result in ranking["results"]:
        answer = ask("tried/explain", record=result["id"], policy=policy)
        assert answer["schema"] == "tried.explain/v2"
        assert (answer["record"], answer["rank"], answer["of"]) == (result["id"], result["rank"], 3)
        assert answer["policy_id"] == ranking["policy_id"]
        assert answer.get("policy") == ranking.get("policy")
        assert (answer["final_score"], answer["breakdown"]) == (result["score"], result["terms"])
        total = 0.0
        for term in answer["breakdown"]:
            total += term["value"]
        assert answer["final_score"] == total
        assert answer["dropped_by"] is None
        assert answer["answer"] == f"It is in the list, as number {result['rank']}."
        assert (answer["uri"], answer["version"]) == (ranking["uri"], 1)


def test_what_dropped_it(ask: Ask) -> None:
    last = ask("tried/related")["results"][-1]["id"]
    cut = ask("tried/explain", record=last, limit=1)
    assert (cut["dropped_by"], cut["rank"], cut["of"]) == ("cut", 3, 3)
    assert cut["answer"].startswith("It is number 3 of 3, and only the first is listed.")
    old = ask("tried/explain", record="exp-1", set={"ttl_days": 366})
    assert (old["dropped_by"], old["rank"], old["final_score"], old["breakdown"]) == ("ttl", None, None, [])
    assert old["answer"].startswith("It is ")
    assert old["answer"].endswith(" days old, and what is older than 366 days is left out (ttl_days).")
    filtered = ask("tried/explain", record="exp-1", filter={"outcome": "dead_end"})
    assert (filtered["dropped_by"], filtered["of"]) == ("filter", 2)
    assert filtered["answer"].startswith("The list is narrowed to dead ends, and this one ")
    unknown = ask("tried/explain", record="exp-9")
    assert (unknown["dropped_by"], unknown["record"], unknown["of"]) == ("unknown", None, 3)
    assert "did you mean" in unknown["answer"]


def test_it_agrees_with_the_sidebar(ask: Ask) -> None:
    for chosen in ({}, {"filter": {"outcome": "dead_end"}}, {"limit": 1}):
        for record in ("exp-1", "exp-2", "exp-3", "exp-9"):
            ours, sidebar = (ask(method, record=record, **chosen) for method in ("tried/explain", "tried/absence"))
            assert (ours["record"], ours["rank"]) == (sidebar["record"], sidebar["rank"])
            assert ours["final_score"] == sidebar["score"]
            assert ours["breakdown"] == (sidebar["terms"] or [])
            if "limit" not in chosen:  # there the list of the sidebar has room for what is nearest alone
                assert (ours["dropped_by"], ours["answer"]) == (sidebar["dropped_by"], sidebar["answer"])


def test_the_cut_is_that_of_the_settings_without_a_limit(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    make_workspace(folder, OLD, DIVERGED, UNDATED)
    (folder / "tried.toml").write_text("[ranking]\nlimit = 2\n")
    client = RawClient()
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, HARMLESS)
    listed = {result["id"] for result in client.request("tried/related", {"textDocument": {"uri": uri}})["results"]}
    (dropped,) = {"exp-1", "exp-2", "exp-3"} - listed
    answer = client.request("tried/explain", {"textDocument": {"uri": uri}, "record": dropped})
    assert (answer["dropped_by"], answer["rank"]) == ("cut", 3)
    assert answer["policy_id"] == DEFAULT_POLICY.policy_id != STEADY.policy_id
    assert client.finish() == 0


def test_what_is_asked_wrongly(ask: Ask) -> None:
    for params in ({}, {"record": 5, "set": 5}, {"record": "exp-1", "limit": "many"}):
        with pytest.raises(RequestFailed) as failure:
            ask("tried/explain", **params)
        assert failure.value.code == -32602
    for record in ("", "   ", "x" * 100_000, "\0", "*", "exp-1\n"):
        answer = ask("tried/explain", record=record)
        assert answer["dropped_by"] in ("unknown", None)
        assert len(answer["answer"]) <= 1000
        assert "\n" not in answer["answer"]


def test_what_is_no_config_has_none(tmp_path: Path) -> None:
    folder = tmp_path.resolve()
    make_workspace(folder, OLD)
    client = RawClient()
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "docker-compose.yml").as_uri()
    client.open(uri, "services:\n  web:\n    image: nginx\n")
    for each in (uri, "file:///not/open.yaml"):
        assert client.request("tried/explain", {"textDocument": {"uri": each}, "record": "exp-1"}) is None
    assert client.finish() == 0
