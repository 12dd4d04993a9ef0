"""`tried/policies`, and `tried/related` by another policy for one request, of a real server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lsp_workspace import BASELINE, CONFIG, DIVERGED, HARMLESS, TOO_DEEP, make_workspace
from raw_client import NEOVIM_LIKE, Message, RawClient, RequestFailed, until

from tried.ranking.policy import DEFAULT_POLICY, STEADY, policy_json, with_overrides

FAST = {"editor": {"debounce_ms": 0, "typing_pause_ms": 0}}
INVALID_PARAMS = -32602
OLD: Message = {**BASELINE, "timestamp": "2020-01-01T00:00:00Z"}
UNDATED: Message = {key: value for key, value in TOO_DEEP.items() if key != "timestamp"}
SETTINGS = "[policies.recent]\nhalf_life_days = 7.0\n"


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
    make_workspace(folder, OLD, DIVERGED, UNDATED)
    (folder / "tried.toml").write_text(SETTINGS)
    return folder


Ask = Callable[..., Any]


@pytest.fixture
def ask(client: RawClient, folder: Path) -> Ask:
    """Asks the server about the open config."""
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, HARMLESS)
    return lambda method, **params: client.request(method, {"textDocument": {"uri": uri}, **params})


def summed(terms: list[Message]) -> float:
    total = 0.0
    for term in terms:
        total += term["value"]
    return total


def test_the_policies_that_there_are(ask: Ask) -> None:
    answer = ask("tried/policies")
    assert list(answer) == ["schema", "active", "policies"]
    assert (answer["schema"], answer["active"]) == ("tried.policies/v1", "default")
    assert [(each["name"], each["is_active"], each["is_preset"]) for each in answer["policies"]] == [
        ("default", True, True),
        ("steady", False, True),
        ("recent", False, False),
    ]
    assert answer["policies"][1]["policy_id"] == STEADY.policy_id
    assert answer["policies"][1]["policy"] == policy_json(STEADY)
    assert answer["policies"][2]["policy"] == {**policy_json(DEFAULT_POLICY), "half_life_days": 7.0}


def test_without_a_word_of_a_policy_the_active_one_holds(ask: Ask) -> None:
    answer = ask("tried/related")
    assert answer["policy_id"] == DEFAULT_POLICY.policy_id
    assert "policy" not in answer
    assert {len(result["terms"]) for result in answer["results"]} == {4}


def test_one_request_by_another_policy_leaves_no_trace(ask: Ask) -> None:
    before = ask("tried/related")
    steady = ask("tried/related", policy="steady")
    assert steady["policy_id"] == STEADY.policy_id
    assert steady["policy"] == {"name": "steady", "policy_id": STEADY.policy_id, **policy_json(STEADY)}
    for result in steady["results"]:
        assert [term["name"] for term in result["terms"][4:]] == ["lexical_bonus", "hit_boost", "decay_penalty"]
        assert {(term["signal"], term["weight"]) for term in result["terms"][4:]} == {(None, None)}
        assert "inputs" not in {key for term in result["terms"] for key in term}
        assert result["score"] == summed(result["terms"])
    penalty = {result["id"]: result["terms"][6]["value"] for result in steady["results"]}
    assert penalty["exp-1"] == pytest.approx(-0.05)  # years old: all of it
    assert penalty["exp-3"] == 0.0  # nobody knows how old
    assert ask("tried/related")["results"] == before["results"]
    assert [row["terms"][4:] for row in ask("tried/experiments")["experiments"]] == [[], [], []]
    assert ask("tried/policies")["active"] == "default"


def test_single_knobs(ask: Ask) -> None:
    knobs = {"half_life_days": 90, "weights.lexical": 0.5, "lexical_bonus.enabled": True, "hit_boost.tau_days": "7"}
    answer = ask("tried/related", set=knobs)
    wanted = with_overrides(DEFAULT_POLICY, knobs)
    assert wanted.hit_boost.tau_days == 7.0
    assert answer["policy"] == {"name": "default", "policy_id": wanted.policy_id, **policy_json(wanted)}
    assert answer["policy_id"] == wanted.policy_id
    assert [term["name"] for term in answer["results"][0]["terms"]][4:] == ["lexical_bonus"]


def test_a_policy_and_knobs_of_it(ask: Ask) -> None:
    answer = ask("tried/related", policy="recent", set={"decay_penalty.enabled": True}, limit=1)
    assert (answer["policy"]["name"], answer["policy"]["half_life_days"]) == ("recent", 7.0)
    assert answer["policy"]["decay_penalty"]["enabled"] is True
    assert len(answer["results"]) == 1


def test_a_time_to_live_for_one_request(ask: Ask) -> None:
    """The one of 2020 is older than a year whenever this runs; what has no age stays."""
    assert {result["id"] for result in ask("tried/related")["results"]} == {"exp-1", "exp-2", "exp-3"}
    ids = {result["id"] for result in ask("tried/related", set={"ttl_days": 366})["results"]}
    assert "exp-1" not in ids
    assert "exp-3" in ids


def test_limits_that_mean_nothing(ask: Ask) -> None:
    for limit in (-1, -(10**6), 2.5, "2", True, [2], float("nan")):
        for method, params in (
            ("tried/related", {}),
            ("tried/experiments", {}),
            ("tried/absence", {"record": "exp-1"}),
        ):
            with pytest.raises(RequestFailed) as failure:
                ask(method, **params, limit=limit)
            assert failure.value.code == INVALID_PARAMS
            assert "limit: expected a whole number of at least 0, got " in failure.value.error["message"]
    assert ask("tried/related", policy="steady", limit=0)["results"] == []
    assert len(ask("tried/related", limit=2.0)["results"]) == 2  # a client may know one kind of numbers
    assert len(ask("tried/related", policy="steady", limit=10**9)["results"]) == 3


@pytest.mark.parametrize("method", ["tried/related", "tried/explain"])
def test_a_mistake_is_an_error_of_one_line(ask: Ask, method: str) -> None:
    params: dict[str, Any] = {"record": "exp-1"} if method == "tried/explain" else {}
    for wrong, told in (
        ({"policy": "stedy"}, ["stedy", "did you mean steady?"]),
        ({"policy": "zzz"}, ["zzz", "default, steady, recent"]),
        ({"policy": ""}, ["default, steady, recent"]),
        ({"set": {"half_life": 5}}, ["half_life", "did you mean half_life_days?"]),
        ({"set": {"weights.lexical": -1}}, ["weights.lexical", "-1", "a finite number from 0"]),
        ({"set": {"weights.lexical": "nan"}}, ["weights.lexical", "NaN"]),
        ({"set": {"weights.lexical": "inf"}}, ["weights.lexical", "Infinity"]),
        ({"set": {"weights.lexical": None}}, ["weights.lexical", "none"]),
        ({"set": {"weights.lexical": True}}, ["weights.lexical", "true"]),
        ({"set": {"weights.lexical": [1]}}, ["weights.lexical", "[1]"]),
        ({"set": {"weights.lexical": 10**400}}, ["weights.lexical"]),
        ({"set": {"weights": {"lexical": 1}}}, ["weights"]),
        ({"set": {"lexical_bonus.enabled": 1}}, ["lexical_bonus.enabled", "true or false"]),
        ({"set": {"lexical_bonus.term_cap": 1.5}}, ["lexical_bonus.term_cap", "whole number"]),
        ({"set": {"x" * 5000: 1}}, ["xxx…: no knob of a policy"]),
        ({"set": {f"knob{number}": 1 for number in range(5000)}}, ["5,000 knobs"]),
        ({"set": "half_life_days=5"}, ['set: expected an object such as {"half_life_days": 90}, got text']),
        ({"set": ["half_life_days=90"]}, ['set: expected an object such as {"half_life_days": 90}, got a list']),
        ({"overrides": {"half_life_days": 90}}, ["overrides: nothing that is known here", "policy, set"]),
        ({"half_life_days": 90}, ["half_life_days: nothing that is known here"]),
        ({"researchLine": "ships"}, ["researchLine: nothing that is known here"]),
    ):
        with pytest.raises(RequestFailed) as failure:
            ask(method, **params, **wrong)
        assert failure.value.code == INVALID_PARAMS, wrong
        message = failure.value.error["message"]
        assert "\n" not in message
        assert all(part in message for part in told), message
    assert ask("tried/related")["policy_id"] == DEFAULT_POLICY.policy_id


def test_a_filter_is_read_in_either_spelling_and_misspelled_by_nobody(ask: Ask) -> None:
    for method, params in (
        ("tried/experiments", {}),
        ("tried/explain", {"record": "exp-1"}),
        ("tried/absence", {"record": "exp-1"}),
    ):
        in_camel, in_snake = (
            ask(method, **params, filter={name: "elsewhere"}) for name in ("researchLine", "research_line")
        )
        assert {**in_camel, "now": None} == {**in_snake, "now": None}
        assert in_camel != ask(method, **params)
        for wrong, told in (
            ({"researchline": "ships"}, "researchline: nothing that is known here; did you mean researchLine?"),
            ({"zzz": 1, "qqq": 2}, "zzz, qqq: nothing that is known here; there are outcome, researchLine, tag, "),
            (["ships"], "filter: expected an object, got a list"),
        ):
            with pytest.raises(RequestFailed) as failure:
                ask(method, **params, filter=wrong)
            assert failure.value.code == INVALID_PARAMS
            assert told in failure.value.error["message"]
            assert "\n" not in failure.value.error["message"]
    with pytest.raises(RequestFailed) as failure:
        ask("tried/related", filter={"tag": "night"})
    assert "filter: nothing that is known here; " in failure.value.error["message"]
    assert ask("tried/related", workDoneToken=1, partialResultToken="a")["policy_id"] == DEFAULT_POLICY.policy_id


@pytest.mark.parametrize("method", ["tried/related", "tried/explain"])
def test_what_nobody_can_want_is_remarked_upon(ask: Ask, method: str) -> None:
    params: dict[str, Any] = {"record": "exp-1"} if method == "tried/explain" else {}
    zero = {f"weights.{name}": 0 for name in ("lexical", "structural", "recency", "importance")}
    assert ask(method, **params, set=zero)["remarks"] == [
        "all weights are 0: every score is 0, and records are ordered by their ids"
    ]
    assert ask(method, **params, set={"decay_penalty.weight": 0.2, "decay_penalty.tau_days": 3})["remarks"] == [
        "decay_penalty.tau_days and decay_penalty.weight are set, but decay_penalty is off:"
        " decay_penalty.enabled=true turns it on"
    ]
    for fine in ({}, {"policy": "steady", "set": {"decay_penalty.weight": 0.2}}, {"set": {"half_life_days": 90}}):
        assert "remarks" not in ask(method, **params, **fine)


def test_nulls_ask_for_nothing(ask: Ask) -> None:
    assert "policy" not in ask("tried/related", policy=None, set=None)
    assert "policy" not in ask("tried/related", set={})


def test_what_is_no_config_has_no_ranking_and_what_is_not_open_no_policies(client: RawClient, folder: Path) -> None:
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "docker-compose.yml").as_uri()
    client.open(uri, "services:\n  web:\n    image: nginx\n")
    assert client.request("tried/related", {"textDocument": {"uri": uri}, "policy": "steady"}) is None
    assert client.request("tried/policies", {"textDocument": {"uri": uri}})["active"] == "default"
    assert client.request("tried/policies", {"textDocument": {"uri": "file:///not/open.yaml"}}) is None


def test_the_active_policy_is_that_of_the_settings_without_a_restart(client: RawClient, folder: Path) -> None:
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, CONFIG)
    document = {"textDocument": {"uri": uri}}
    assert client.request("tried/related", document)["policy_id"] == DEFAULT_POLICY.policy_id
    (folder / "tried.toml").write_text(f'[ranking]\npolicy = "steady"\n{SETTINGS}')
    answer = until(
        lambda: client.request("tried/related", document), lambda found: found["policy_id"] == STEADY.policy_id
    )
    assert len(answer["results"][0]["terms"]) == 7
    assert client.request("tried/policies", document)["active"] == "steady"
    rows = client.request("tried/experiments", document)["experiments"]
    assert {len(row["terms"]) for row in rows} == {7}
    breakdown = client.request("tried/record", {**document, "record": "exp-2"})["breakdown"]
    assert breakdown["score"] == summed(breakdown["terms"])
    assert [term["name"] for term in breakdown["terms"][4:]] == ["lexical_bonus", "hit_boost", "decay_penalty"]
    hover = client.hover(uri, 2, 7)["contents"]["value"]
    assert "decay\\_penalty" in hover or "decay_penalty" in hover


def test_a_time_to_live_of_the_active_policy_holds_for_every_list(client: RawClient, folder: Path) -> None:
    (folder / "tried.toml").write_text('[ranking]\npolicy = "fresh"\n[policies.fresh]\nttl_days = 366\n')
    client.initialize(NEOVIM_LIKE, [folder], options=FAST)
    uri = (folder / "next.yaml").as_uri()
    client.open(uri, HARMLESS)
    document = {"textDocument": {"uri": uri}}
    listed = client.request("tried/experiments", document)
    records = {row["record"] for row in listed["experiments"]}
    assert "exp-1" not in records
    assert "exp-3" in records
    assert listed["total"] == len(records)
    absent = client.request("tried/absence", {**document, "record": "exp-1"})
    explained = client.request("tried/explain", {**document, "record": "exp-1"})
    assert absent["dropped_by"] == explained["dropped_by"] == "ttl"
    assert absent["answer"] == explained["answer"]
    assert absent["answer"].endswith(" days old, and what is older than 366 days is left out (ttl_days).")
    assert explained["of"] == len(records)
    assert "policy" not in explained
