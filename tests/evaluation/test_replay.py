"""Traces as they are written, read, refused and replayed; the numbers of moves are worked out by hand."""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tried.evaluation.replay import ReplayError, replay
from tried.evaluation.trace import Trace, trace_of
from tried.pool.record import ExperimentRecord
from tried.ranking import DEFAULT_POLICY, STEADY, Hit, Policy, RankingIndex, RetrievalQuery, Weights, rank
from tried.ranking.policy import with_overrides
from tried.render.trace_reports import (
    LINE_BEGINNING,
    TornTrace,
    TraceError,
    encoded,
    is_identical,
    object_of,
    replay_report,
    trace_line,
    trace_of_object,
)
from tried.render.trace_seal import sealed_id

NOW = datetime(2026, 11, 30, 12, 30, 15, 250, tzinfo=UTC)
SECRET = "lr schedule of Projekt-Zugspitze"


def record(name: str, days: float, **fields: Any) -> ExperimentRecord:
    data = {"id": name, "name": name, "timestamp": (NOW - timedelta(days=days)).isoformat(), **fields}
    return ExperimentRecord.model_validate(data)


POOL = [
    record("new", 0.0),
    record("old lr schedule", 300.0, conclusion={"headline": "too high", "outcome": "failed"}),
    record("lr", 30.0),
    record("undated", 0.0).model_copy(update={"timestamp": None}),
]
QUERY = RetrievalQuery(text=SECRET)
HITS = {"lr": Hit(24, NOW)}


def traced(policy: Policy = DEFAULT_POLICY, **options: Any) -> Trace:
    arguments: dict[str, Any] = {
        "now": NOW,
        "policy": policy,
        "hits": HITS,
        "version": "1.2",
        "generation": 7,
        **options,
    }
    return trace_of(arguments.pop("query", QUERY), RankingIndex.of(POOL), **arguments)


def trace_of_line(line: bytes) -> tuple[str, Trace]:
    return trace_of_object(object_of(line))


def trace_json(trace: Trace) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(trace_line(trace))
    return data


def edited(change: Callable[[dict[str, Any]], object], policy: Policy = STEADY) -> bytes:
    data = trace_json(traced(policy))
    change(data)
    return json.dumps(data).encode()


def resealed(change: Callable[[dict[str, Any]], object], policy: Policy = STEADY) -> bytes:
    """As another version of tried would have made it."""
    data = json.loads(edited(change, policy))
    return json.dumps({**data, "id": sealed_id(data)}).encode()


def test_the_fields_of_a_trace() -> None:
    data = json.loads(trace_line(traced(STEADY, limit=2, policy_name="steady")))
    assert list(data) == [
        "schema", "id", "now", "version", "query", "filters", "policy_name", "policy_id", "policy", "generation",
        "limit", "total", "complete", "candidates", "result",
    ]  # fmt: skip
    assert data["schema"] == "tried.trace/v1"
    assert (data["now"], data["version"], data["generation"]) == ("2026-11-30T12:30:15.000250Z", "1.2", 7)
    assert (data["limit"], data["total"], data["complete"]) == (2, 4, True)
    assert (data["policy_name"], data["policy_id"]) == ("steady", STEADY.policy_id)
    assert data["query"]["terms"] == ["lr", "schedule", "of", "projekt", "zugspitze"]
    by_id = {each["id"]: each for each in data["candidates"]}
    assert by_id["old lr schedule"]["features"] == {
        "bm25": by_id["old lr schedule"]["features"]["bm25"],
        "words": 1.0,
        "cosine": None,
        "structural": None,
        "age_days": 300.0,
        "facts": ["conclusion", "dead_end"],
        "matched": [0, 1],
        "hits": 0,
        "last_hit_age_days": None,
        "ttl": "unlimited",
    }
    assert by_id["lr"]["decay"] == {"recency": 0.5, "last_hit": 1.0, "age": pytest.approx(0.36787944117144233)}
    assert by_id["undated"]["decay"] == {"recency": 0.0, "last_hit": 0.0, "age": 1.0}
    assert [each["rank"] for each in data["result"]] == [1, 2]
    assert "inputs" in data["result"][0]["terms"][0]


def test_the_results_are_those_of_the_ranking() -> None:
    results = trace_json(traced(STEADY))["result"]
    ranked = rank(QUERY, POOL, now=NOW, policy=STEADY, hits=HITS)
    assert [(each["id"], each["score"]) for each in results] == [(each.record.id, each.score) for each in ranked]
    for result, scored in zip(results, ranked, strict=True):
        assert [term["value"] for term in result["terms"]] == [term.value for term in scored.terms]


def test_the_text_is_kept_only_if_it_was_asked_for() -> None:
    line = trace_line(traced())
    assert SECRET.encode() not in line
    assert b"Zugspitze" not in line
    assert json.loads(line)["query"]["text"] is None
    assert json.loads(trace_line(traced(with_text=True)))["query"]["text"] == SECRET


def test_the_filters_are_told_and_words_that_were_searched_for_are_terms() -> None:
    query = RetrievalQuery(text="lr", tags=("a", "b"), source="mlflow", ttl_days=9.5, containing="Old LR-Schedule")
    data = json.loads(trace_line(traced(query=query)))
    assert data["filters"] == {
        "research_line": None,
        "tags": ["a", "b"],
        "source": "mlflow",
        "ttl_days": 9.5,
        "containing": ["old", "lr", "schedule"],
    }


def test_the_same_request_has_the_same_bytes_and_another_another_id() -> None:
    assert trace_line(traced()) == trace_line(traced())
    assert trace_line(traced()).startswith(LINE_BEGINNING)
    others = (traced(), traced(STEADY), traced(limit=1), traced(limit=1, cap=1))
    assert len({json.loads(trace_line(trace))["id"] for trace in others}) == 4


def test_fields_that_are_not_known_are_passed_over() -> None:
    def add(data: dict[str, Any]) -> None:
        for table in (data, data["query"], data["filters"], data["candidates"][0], data["candidates"][0]["features"]):
            table["later"] = {"deep": [1, "x", None]}

    _, trace = trace_of_line(resealed(add))
    assert trace == traced(STEADY)
    assert is_identical(replay(trace))
    with pytest.raises(TraceError, match="edited after it was made"):  # they count in the hash
        trace_of_line(edited(add))


def test_whole_numbers_stand_for_the_same_numbers() -> None:
    """Other programs write 1.0 as 1."""
    line = trace_line(traced(STEADY)).replace(b":1.0,", b":1,").replace(b":1.0}", b":1}").replace(b":0.0,", b":0,")
    _, trace = trace_of_line(line)
    assert trace == traced(STEADY)
    assert is_identical(replay(trace))


def put(*path: str | int, value: Any) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        place: Any = data
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value

    return change


def drop(*path: str | int) -> Callable[[dict[str, Any]], object]:
    def change(data: dict[str, Any]) -> None:
        place: Any = data
        for part in path[:-1]:
            place = place[part]
        del place[path[-1]]

    return change


CANDIDATE = ("candidates", 1)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (put(*CANDIDATE, "features", "bm25", value=float("nan")), r"^candidates\[1\]\.features\.bm25: .*finite.*NaN"),
        (put(*CANDIDATE, "features", "bm25", value=-1.0), r"^candidates\[1\]\.features\.bm25: .*greater.*-1\.0"),
        (put(*CANDIDATE, "features", "words", value="0.5"), r'^candidates\[1\]\.features\.words: .*number, got "0\.5"'),
        (put(*CANDIDATE, "features", "words", value=1.5), r"^candidates\[1\]\.features\.words: .*less than"),
        (put(*CANDIDATE, "features", "words", value=True), r"^candidates\[1\]\.features\.words: .*got true"),
        (put(*CANDIDATE, "features", "age_days", value=float("inf")), r"^candidates\[1\]\.features\.age_days: .*fini"),
        (put(*CANDIDATE, "features", "age_days", value=10**350), r"^candidates\[1\]\.features\.age_days: "),
        (put(*CANDIDATE, "features", "age_days", value=10**1000), r"^candidates\[1\]\.features\.age_days: "),
        (put(*CANDIDATE, "features", "hits", value=10**30), r"^candidates\[1\]\.features\.hits: .*less than"),
        (put(*CANDIDATE, "features", "hits", value=10**1000), r"^candidates\[1\]\.features\.hits: "),
        (put(*CANDIDATE, "features", "hits", value=2.5), r"^candidates\[1\]\.features\.hits: .*integer"),
        (put(*CANDIDATE, "features", "matched", value=[99]), r"^candidates\[1\]\.features\.matched: got 99, .*5 terms"),
        (put(*CANDIDATE, "features", "matched", value=[-1]), r"^candidates\[1\]\.features\.matched\[0\]: "),
        (put(*CANDIDATE, "features", "facts", value=["rich"]), r"^candidates\[1\]\.features\.facts\[0\]: "),
        (put(*CANDIDATE, "features", "ttl", value="soon"), r"^candidates\[1\]\.features\.ttl: "),
        (put(*CANDIDATE, "features", "words", value=0.125), r"^candidates\[1\]\.signals\.lexical: .* give 0\.125"),
        (put(*CANDIDATE, "signals", "importance", value=0.9), r"^candidates\[1\]\.signals\.importance: got 0\.9"),
        (put(*CANDIDATE, "decay", "last_hit", value=None), r"^candidates\[1\]\.decay\.last_hit: .*got null"),
        (put(*CANDIDATE, "decay", "age", value=-0.1), r"^candidates\[1\]\.decay\.age: "),
        (put(*CANDIDATE, "id", value=7), r"^candidates\[1\]\.id: .*string, got 7"),
        (drop(*CANDIDATE, "decay"), r"^candidates\[1\]\.decay: field required$"),
        (drop("candidates", 0, "features", "hits"), r"^candidates\[0\]\.features\.hits: field required$"),
        (put("candidates", value="all"), r"^candidates: .*list"),
        (lambda data: data["candidates"].append(copy.deepcopy(data["candidates"][0])), r"^candidates: .*twice"),
        (put("total", value=3), r"^total: 3 is less than the 4 candidates"),
        (put("complete", value=False), r"^complete: false, but 4 of 4"),
        (put("query", "terms", value=["a", "a", "b", "c", "d"]), r"^query\.terms: .*twice"),
        (put("query", "missing", value={"luck": "none"}), r"^query\.missing\.luck"),
        (put("query", "best_bm25", value=-1), r"^query\.best_bm25: "),
        (put("policy", "weights", "lexical", value=float("nan")), r"^policy\.weights\.lexical: .*finite"),
        (put("policy", "weights", "lexical", value=-1), r"^policy\.weights\.lexical: .*a finite number .*got -1"),
        (put("policy", "half_live_days", value=3), r"^policy\.half_live_days: .*did you mean half_life_days"),
        (put("policy", "schema", value="tried.policy/v9"), r"^policy\.schema: .*tried\.policy/v1"),
        (put("policy", value=None), r"^policy: "),
        (put("filters", "ttl_days", value=-3), r"^filters\.ttl_days: "),
        (put("now", value="yesterday"), r'^now: .*got "yesterday"'),
        (put("limit", value=-1), r"^limit: "),
        (put("result", 0, "rank", value=0), r"^result\[0\]\.rank: "),
        (put("result", 0, "score", value="best"), r"^result\[0\]\.score: "),
        (put("result", 0, "terms", 0, "value", value=float("-inf")), r"^result\[0\]\.terms\[0\]\.value: .*finite"),
        (put("result", 0, "terms", 0, "inputs", "bm25", value=float("nan")), r"^result\[0\]\.terms\[0\]\.inputs\.bm"),
        (put("result", 0, "terms", 0, "inputs", "bm25", value=[1]), r"^result\[0\]\.terms\[0\]\.inputs\.bm25: .*or nu"),
        (put("schema", value="tried.trace/v2"), r"^schema: tried\.trace/v2 is of a newer tried; .*update"),
        (put("schema", value="tried.ranking/v1"), r"^schema: expected tried\.trace/v1, got .*no trace"),
        (drop("schema"), r"^schema: expected tried\.trace/v1, got null"),
    ],
)  # fmt: skip
def test_what_somebody_changed_is_refused_with_its_field(change: Callable[[dict[str, Any]], object], told: str) -> None:
    with pytest.raises(TraceError, match=told):
        trace_of_line(edited(change))


HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**60,
    1e308,
    -1e308,
    5e-324,
    "",
    "x",
    [],
    {},
    [[]],
    {"a": 1},
    float("inf"),
    10**999,
)


@settings(max_examples=150)
@given(st.data())
def test_whatever_somebody_changes_is_refused_or_replayed(data: st.DataObject) -> None:
    changed = json.loads(trace_line(traced(STEADY, limit=2)))
    for _ in range(data.draw(st.integers(1, 2))):
        place: Any = changed
        while isinstance(place, dict | list) and place:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            key = data.draw(st.sampled_from(keys))
            inner = place[key]
            if not (isinstance(inner, dict | list) and inner) or data.draw(st.integers(0, 5)) == 0:
                place[key] = copy.deepcopy(data.draw(st.sampled_from(HOSTILE)))
                break
            place = inner
    try:
        trace_id, trace = trace_of_line(json.dumps(changed).encode())
        found = [replay(trace), replay(trace, Policy(ttl_days=trace.scored.policy.ttl_days, half_life_days=3.0))]
    except (TraceError, ReplayError):
        return
    for each in found:
        assert json.loads(encoded(replay_report(each, trace_id)))["schema"] == "tried.replay/v1"


@pytest.mark.parametrize("line", [b"[]", b"7", b'"tried.trace/v1"', b"null"])
def test_json_that_is_no_table_is_no_trace(line: bytes) -> None:
    with pytest.raises(TraceError, match="it is no trace"):
        trace_of_line(line)


def test_what_nests_without_end_is_refused() -> None:
    line = trace_line(traced())[:-1] + b',"later":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    with pytest.raises(TraceError, match="nested too deeply"):
        trace_of_line(line)


def test_a_line_cut_off_at_any_byte_is_torn() -> None:
    line = trace_line(traced(cap=1, limit=1))
    for end in range(len(line)):
        with pytest.raises(TornTrace):
            trace_of_line(line[:end])
    assert trace_of_line(line)[1] == traced(cap=1, limit=1)
    with pytest.raises(TornTrace):
        trace_of_line(line[:40] + b"\xff" + line[41:])


def test_results_that_were_changed_are_not_identical() -> None:
    _, trace = trace_of_line(resealed(put("result", 1, "score", value=0.25)))
    assert not is_identical(replay(trace))
    _, trace = trace_of_line(resealed(lambda data: data["result"].pop()))
    assert not is_identical(replay(trace))
    _, trace = trace_of_line(resealed(put("result", 0, "terms", 0, "note", value="said")))
    assert not is_identical(replay(trace))


def more(data: dict[str, Any]) -> None:
    data.update(total=9, complete=False)


@pytest.mark.parametrize(
    "change",
    [
        more,
        put("filters", "ttl_days", value=30.0),
        put("filters", "tags", value=["good"]),
        put("policy", "half_life_days", value=31.0),
        put("policy_id", value="ba290901830e"),
        put("policy_name", value="default"),
        put("version", value="9.9"),
        put("generation", value=8),
        put("limit", value=2),
        put("now", value="2026-11-30T12:30:16Z"),
        put("query", "text", value="lr"),
        put("query", "architecture", value="x"),
        put("query", "missing", "structural", value="none"),
        put("candidates", 0, "name", value="another"),
        put("candidates", 0, "features", "ttl", value="within"),
        put("result", 0, "score", value=0.25),
        put("result", 0, "name", value="another"),
        put("id", value="0123456789ab"),
        put("later", value=1),
        lambda data: data["candidates"].reverse(),
        drop("policy_name"),
    ],
)
def test_what_was_edited_after_it_was_made_is_refused(change: Callable[[dict[str, Any]], object]) -> None:
    with pytest.raises(TraceError, match=r"^(policy_)?id: .*: the trace was edited after it was made$"):
        trace_of_line(edited(change))


def test_a_policy_and_its_id_belong_together_whatever_the_seal() -> None:
    for change in (put("policy_id", value="ba290901830e"), put("policy", "half_life_days", value=31.0)):
        with pytest.raises(TraceError, match=r"^policy_id: "):
            trace_of_line(resealed(change))


def test_another_program_may_order_and_indent_it() -> None:
    def turned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(each) for each in value] if isinstance(value, list) else value

    data = trace_json(traced(STEADY))
    told = trace_of_line(json.dumps(turned(data), indent=1, ensure_ascii=False).encode())
    assert told == (data["id"], traced(STEADY))


@given(st.integers(0, 70), st.integers(0, 3))
def test_the_id_is_the_hash_of_the_rest_however_many_candidates_there_are(count: int, limit: int) -> None:
    """Made piece by piece; told here from the description of it."""
    pool = RankingIndex.of(record(f"r{number}", float(number)) for number in range(count))
    data = json.loads(
        trace_line(trace_of(QUERY, pool, now=NOW, policy=STEADY, version="1", limit=limit)), parse_int=float
    )
    told, candidates = data.pop("id"), data.pop("candidates")
    whole = "\n".join(json.dumps(each, sort_keys=True, separators=(",", ":")) for each in (data, candidates))
    assert len(candidates) == count
    assert told == hashlib.sha256(whole.encode()).hexdigest()[:12]


def test_work_beside_others_pauses_and_changes_nothing() -> None:
    pauses: list[int] = []
    pool = RankingIndex.of(record(f"r{number}", float(number)) for number in range(300))
    options: dict[str, Any] = {"now": NOW, "policy": STEADY, "version": "1", "limit": 3}
    trace = trace_of(QUERY, pool, **options, pause=lambda: pauses.append(1))
    assert len(pauses) >= 3
    made = len(pauses)
    assert trace_line(trace, lambda: pauses.append(2)) == trace_line(trace_of(QUERY, pool, **options))
    assert len(pauses) >= made + 9


@pytest.mark.parametrize("knob", ["weights.structural", "decay_penalty.weight", "hit_boost.tau_days"])
def test_a_zero_is_a_zero_whatever_its_sign(knob: str) -> None:
    """Policies are equal then, and so are their ids and results."""
    ours, theirs = (with_overrides(STEADY, {knob: zero}) for zero in (0.0, -0.0))
    assert (theirs, theirs.policy_id) == (ours, ours.policy_id)
    for one, other in ((ours, theirs), (theirs, ours)):
        _, trace = trace_of_line(trace_line(traced(one)))
        found = replay(trace, other)
        assert found.is_same_policy
        assert is_identical(found)


def test_another_policy_moves_records_and_says_which_terms_did_it() -> None:
    """Under weights of recency alone the places are those of the ages; before, those of importance (0.6, 0.3, 0.3, 0.3)
    with ties by id."""
    importance = Policy(weights=Weights(lexical=0.0, structural=0.0, recency=0.0, importance=1.0))
    recency = Policy(weights=Weights(lexical=0.0, structural=0.0, recency=2.0, importance=0.0))
    found = replay(traced(importance, limit=2), recency)
    assert [(each.row.id, each.row.rank, each.before.rank, each.moved) for each in found.rows] == [
        ("new", 1, 3, 2),
        ("lr", 2, 2, 0),
    ]
    assert [(each.row.id, each.row.rank, each.before.rank) for each in found.left] == [("old lr schedule", 3, 1)]
    assert [(each.row.score, each.before.score) for each in found.rows] == [(1.0, 0.3), (0.5, 0.3)]
    assert found.rows[0].changed == ("recency", "importance")
    assert (found.is_same_policy, found.is_complete) == (False, True)
    assert [each.row.id for each in replay(traced(importance, limit=1), recency).left] == ["old lr schedule"]
    report = replay_report(found, "abc")
    assert [(each["id"], each["rank"], each["was"], each["listed"]) for each in report["moves"]] == [
        ("new", 1, 3, True),
        ("lr", 2, 2, True),
        ("old lr schedule", 3, 1, False),
    ]
    assert (report["identical"], report["complete"], report["trace"]) == (None, True, "abc")
    assert json.loads(encoded(report)) == report


def test_terms_that_are_turned_on_stand_in_what_changed() -> None:
    found = replay(traced(), STEADY)
    by_id = {each.row.id: each for each in found.rows}
    # all of lr's 1 of 5 terms are too few for a bonus; 24 hits just now are worth 0.05 · 24/32
    assert by_id["lr"].changed == ("hit_boost", "decay_penalty")
    assert {term.name: term.value for term in by_id["lr"].row.terms}["hit_boost"] == 0.05 * (24 / 32)
    # 2 of 5 terms
    assert by_id["old lr schedule"].changed == ("lexical_bonus", "decay_penalty")
    assert by_id["undated"].changed == ()


def test_weights_in_force_follow_from_what_applies() -> None:
    policy = Policy(weights=Weights(lexical=1.0, structural=9.0, recency=1.0, importance=2.0))
    row = replay(traced(), policy).rows[0].row
    assert [term.weight for term in row.terms] == [0.25, 0.0, 0.25, 0.5]
    assert row.terms[1].note == "the query has no architecture"
    nothing = replay(traced(), Policy(weights=Weights(lexical=0.0, structural=1.0, recency=0.0, importance=0.0)))
    assert [(each.row.id, each.row.score) for each in nothing.rows] == [
        ("lr", 0.0),
        ("new", 0.0),
        ("old lr schedule", 0.0),
        ("undated", 0.0),
    ]


def test_a_cut_trace_is_complete_for_its_own_policy_alone() -> None:
    trace = traced(limit=2, cap=3)
    assert not trace.scored.is_complete
    assert replay(trace).is_complete
    assert replay(trace, Policy()).is_complete  # the same policy, by its knobs
    assert not replay(trace, STEADY).is_complete
    assert replay_report(replay(trace, STEADY), "x")["complete"] is False
    assert len(traced(limit=3, cap=1).scored.candidates) == 3  # enough to repeat the results


@pytest.mark.parametrize(
    ("query_ttl", "own", "other", "told"),
    [
        (None, None, 90.0, "of any age, the policy asks for at most 90 days.*ttl_days=none"),
        (None, 90.0, None, r"at most 90 days, the policy asks for any age.*ttl_days=90\.0"),
        (None, 90.0, 365.0, "at most 90 days, the policy asks for at most 365 days"),
        (60.0, 90.0, 30.0, "at most 60 days, the policy asks for at most 30 days"),
    ],
)
def test_another_ttl_is_refused(query_ttl: float | None, own: float | None, other: float | None, told: str) -> None:
    trace = traced(Policy(ttl_days=own), query=RetrievalQuery(text="lr", ttl_days=query_ttl))
    with pytest.raises(ReplayError, match=told):
        replay(trace, Policy(ttl_days=other))


def test_a_ttl_that_leaves_the_same_in_force_is_none() -> None:
    trace = traced(Policy(ttl_days=90.0), query=RetrievalQuery(text="lr", ttl_days=60.0))
    assert {each.row.id for each in replay(trace, Policy(ttl_days=365.0)).rows} == {"new", "lr", "undated"}
    assert {each.row.id for each in replay(trace, Policy()).rows} == {"new", "lr", "undated"}


def test_the_page_shows_every_field() -> None:
    page = (Path(__file__).parents[2] / "docs" / "traces.md").read_text(encoding="utf-8")
    shown = page.split("## What is in one")[1].split("```")[1]
    data = trace_json(traced(STEADY))
    candidate = data["candidates"][0]
    tables = (data, data["query"], data["filters"], candidate, candidate["features"], candidate["decay"])
    for table in (*tables, candidate["signals"], data["result"][0], data["result"][0]["terms"][0]):
        assert [name for name in table if f'"{name}": ' not in shown] == []
