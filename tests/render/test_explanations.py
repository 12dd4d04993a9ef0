"""Explanations as JSON: to the letter, and a score that is the sum of its terms to the last bit under every policy."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from tried.architecture import ArchitectureFingerprint
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.breakdown import ScoreComponents, ScoredRecord, Term
from tried.ranking.hits import Hit
from tried.ranking.index import RankingIndex
from tried.ranking.policy import (
    DEFAULT_POLICY,
    STEADY,
    DecayPenalty,
    HitBoost,
    LexicalBonus,
    Policy,
    Weights,
    knobs,
    policy_from_json,
    policy_json,
    with_overrides,
)
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank
from tried.related.dropping import Question
from tried.related.explain import Explanation, explanation_of
from tried.render.explanations import (
    breakdown_json,
    changed_knobs,
    explanation_report,
    knob_of,
    knob_text,
    policies_report,
    term_json,
)
from tried.render.reports import ranking_report
from tried.settings.requested_policy import RequestedPolicy

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ARCHITECTURE = ArchitectureFingerprint.of({"a": "filter:Conv", "b": "filter:ReLU"}, ())
WORDS = ("warmup", "cosine", "focal", "mixup", "depth")


def pool() -> PoolSnapshot:
    """Eight records: of some words each, half of them with an architecture, one of them without a time."""
    records = [
        ExperimentRecord.model_validate(
            {
                "id": f"EXP-{number}",
                "name": " ".join(WORDS[number % 5 :]),
                "notes": "lower is better" if number % 3 else None,
                "timestamp": (NOW - timedelta(days=7.3 * number)).isoformat() if number != 5 else None,
                "architecture": ARCHITECTURE if number % 2 else None,
            }
        )
        for number in range(8)
    ]
    return PoolSnapshot(
        records={each.id: each for each in records},
        history=ParameterHistory.empty().updated((), records),
        index=RankingIndex.of(records),
    )


POOL = pool()
HITS = {"EXP-1": Hit(3, NOW - timedelta(days=2.5)), "EXP-6": Hit(40, NOW - timedelta(days=90))}

weights = st.floats(0, 3, allow_nan=False)
above_zero = st.floats(0.01, 500, allow_nan=False)
policies = st.builds(
    Policy,
    weights=st.builds(Weights, lexical=weights, structural=weights, recency=weights, importance=weights),
    half_life_days=st.floats(0, 400, allow_nan=False),
    lexical_bonus=st.builds(
        LexicalBonus,
        enabled=st.booleans(),
        weight=weights,
        min_ratio=st.floats(0, 1, allow_nan=False),
        term_cap=st.integers(1, 9),
    ),
    hit_boost=st.builds(
        HitBoost,
        enabled=st.booleans(),
        weight=weights,
        half_saturation=above_zero,
        tau_days=st.floats(0, 90, allow_nan=False),
    ),
    decay_penalty=st.builds(DecayPenalty, enabled=st.booleans(), weight=weights, tau_days=above_zero),
    ttl_days=st.none() | st.floats(0, 60, allow_nan=False),
)
texts = st.lists(st.sampled_from((*WORDS, "never")), max_size=6).map(" ".join)
architectures = st.sampled_from((None, ARCHITECTURE))


@given(policies, texts, architectures, st.sampled_from(sorted(POOL.records)), st.integers(0, 9))
def test_the_score_is_the_sum_from_left_to_right_to_the_last_bit(
    policy: Policy, text: str, architecture: ArchitectureFingerprint | None, record_id: str, limit: int
) -> None:
    query = RetrievalQuery(text=text, architecture=architecture)
    explanation = explanation_of(record_id, POOL, Question(POOL, query, policy, NOW, HITS), limit)
    report = json.loads(json.dumps(explanation_report(explanation, RequestedPolicy("mine", policy, True))))
    assert policy_from_json({key: report["policy"][key] for key in policy_json(policy)}) == policy
    assert report["policy_id"] == policy.policy_id
    ranked = rank(query, POOL.index, now=NOW, policy=policy, hits=HITS)
    assert report["of"] == len(ranked)
    place = next((place for place, scored in enumerate(ranked, 1) if scored.record.id == record_id), None)
    assert report["rank"] == place
    if place is None:
        assert (report["dropped_by"], report["final_score"], report["breakdown"]) == ("ttl", None, [])
        return
    total = 0.0
    for term in report["breakdown"]:
        total += term["value"]
    assert report["final_score"] == total
    assert report["final_score"] == ranked[place - 1].score
    assert report["dropped_by"] == (None if place <= limit else "cut")
    enabled = [name for name in ("lexical_bonus", "hit_boost", "decay_penalty") if getattr(policy, name).enabled]
    assert [term["name"] for term in report["breakdown"]] == [
        "lexical",
        "structural",
        "recency",
        "importance",
        *enabled,
    ]
    for term in report["breakdown"][:4]:
        assert term["value"] == (0.0 if term["signal"] is None else term["weight"] * term["signal"])


@given(policies, texts)
def test_a_ranking_and_an_explanation_have_the_same_terms(policy: Policy, text: str) -> None:
    query, requested = RetrievalQuery(text=text), RequestedPolicy("default", policy)
    ranking = ranking_report(
        query, rank(query, POOL.index, now=NOW, policy=policy, hits=HITS), NOW, requested=requested
    )
    assert "policy" not in ranking
    question = Question(POOL, query, policy, NOW, HITS)
    for result in ranking["results"]:
        report = explanation_report(explanation_of(result["id"], POOL, question, 20), requested)
        assert (report["final_score"], report["breakdown"]) == (result["score"], result["terms"])


def test_a_term_to_the_letter() -> None:
    full = Term("lexical", 0.25, 0.5, 0.5, "a note", {"bm25": 3.5})
    assert term_json(full) == {"name": "lexical", "value": 0.25, "signal": 0.5, "weight": 0.5, "note": "a note"}
    assert term_json(full, with_inputs=True) == {**term_json(full), "inputs": {"bm25": 3.5}}
    bare = Term("decay_penalty", -0.05, None, None)
    assert breakdown_json((full, bare)) == [
        term_json(full),
        {"name": "decay_penalty", "value": -0.05, "signal": None, "weight": None},
    ]


def test_an_explanation_to_the_letter() -> None:
    terms = (Term("lexical", 0.25, 0.5, 0.5, None, {"bm25": 3.5}), Term("decay_penalty", -0.05, None, None))
    scored = ScoredRecord(ExperimentRecord(id="EXP-7"), 0.2, ScoreComponents(), terms)
    found = Explanation("EXP-7", "It is in the list, as number 1.", of=4, rank=1, scored=scored)
    report = explanation_report(found, RequestedPolicy("steady", STEADY))
    assert report == {
        "schema": "tried.explain/v2",
        "record": "EXP-7",
        "policy_id": STEADY.policy_id,
        "rank": 1,
        "of": 4,
        "final_score": 0.2,
        "breakdown": [
            {"name": "lexical", "value": 0.25, "signal": 0.5, "weight": 0.5},
            {"name": "decay_penalty", "value": -0.05, "signal": None, "weight": None},
        ],
        "dropped_by": None,
        "answer": "It is in the list, as number 1.",
    }
    asked = explanation_report(found, RequestedPolicy("steady", STEADY, is_requested=True))
    assert asked["policy"] == {"name": "steady", "policy_id": STEADY.policy_id, **policy_json(STEADY)}
    assert {key: value for key, value in asked.items() if key != "policy"} == report


def test_hostile_words_are_cut_and_stay_on_one_line() -> None:
    found = Explanation("EXP-7" + "x" * 10_000, "no\n\x1b[31m " * 5_000, of=0, dropped_by="filter")
    report = explanation_report(found, RequestedPolicy("p\n" * 9_000, DEFAULT_POLICY, is_requested=True))
    assert len(report["record"]) == 500
    assert len(report["answer"]) <= 1_000
    assert len(report["policy"]["name"]) <= 200
    assert not {"\n", "\x1b"} & set(report["answer"] + report["policy"]["name"])


def test_policies_to_the_letter() -> None:
    report = policies_report("mine", [("steady", STEADY), ("mine", DEFAULT_POLICY)])
    assert report == {
        "schema": "tried.policies/v1",
        "active": "mine",
        "policies": [
            {
                "name": "steady",
                "policy_id": STEADY.policy_id,
                "is_active": False,
                "is_preset": True,
                "policy": policy_json(STEADY),
            },
            {
                "name": "mine",
                "policy_id": DEFAULT_POLICY.policy_id,
                "is_active": True,
                "is_preset": False,
                "policy": policy_json(DEFAULT_POLICY),
            },
        ],
    }


@given(policies)
def test_what_a_policy_changes_makes_it_of_the_default_one(policy: Policy) -> None:
    changed = dict(changed_knobs(policy))
    assert set(changed) == {name for name in knobs() if knob_of(policy, name) != knob_of(DEFAULT_POLICY, name)}
    assert with_overrides(DEFAULT_POLICY, changed) == policy
    written = {name: knob_text(value) for name, value in changed.items()}
    assert with_overrides(DEFAULT_POLICY, written) == policy


def test_knobs_as_they_are_written() -> None:
    values = (0.4, 30.0, 64, True, False, None, 1e-7, 0.1 + 0.2, 123456789.0)
    assert [knob_text(value) for value in values] == [
        "0.4",
        "30",
        "64",
        "true",
        "false",
        "none",
        "1e-07",
        "0.30000000000000004",
        "123456789.0",
    ]
