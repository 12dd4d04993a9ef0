"""Rankings made again of what was kept of them, under their own policy and others, against those of the pool."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ranking_strategies import NOW, hits, pools, queries
from ranking_strategies import policies as any_policies

from tried.evaluation.replay import replay
from tried.evaluation.trace import Filters, Trace, rows_of, trace_of
from tried.pool.outcome import Fact
from tried.pool.record import ExperimentRecord
from tried.ranking import (
    DEFAULT_POLICY,
    STEADY,
    DecayPenalty,
    Hit,
    HitBoost,
    Hits,
    Policy,
    RankingIndex,
    RetrievalQuery,
    Weights,
    rank,
)
from tried.ranking.candidate_snapshot import (
    CandidateSnapshot,
    RankedCandidate,
    ScoredCandidates,
    decay_under,
    rank_snapshot,
    scored_candidates,
)
from tried.ranking.features import Decay, Features, QueryFeatures
from tried.render.trace_reports import is_identical, object_of, trace_line, trace_of_object

policies = any_policies.map(lambda policy: policy.model_copy(update={"ttl_days": None}))
"""A replay takes no other time to live."""


def trace_of_line(line: bytes) -> tuple[str, Trace]:
    return trace_of_object(object_of(line))


def facts(ranked: Sequence[RankedCandidate]) -> list[tuple[object, ...]]:
    return [(each.candidate.id, each.candidate.name, each.score, each.terms) for each in ranked]


def live(
    query: RetrievalQuery, pool: Sequence[ExperimentRecord], policy: Policy, found: Hits, limit: int | None = None
) -> list[tuple[object, ...]]:
    ranked = rank(query, pool, now=NOW, policy=policy, hits=found, limit=limit, detailed=True)
    return [(each.record.id, each.record.name, each.score, each.terms) for each in ranked]


@settings(max_examples=150)
@given(pools, queries(), policies, policies, hits, st.sampled_from((None, 90.0)))
def test_a_whole_trace_gives_the_bits_of_the_pool_under_every_policy(
    pool: list[ExperimentRecord],
    query: RetrievalQuery,
    policy: Policy,
    other: Policy,
    found: Hits,
    ttl: float | None,
) -> None:
    policy, other = (each.model_copy(update={"ttl_days": ttl}) for each in (policy, other))
    trace = trace_of(query, RankingIndex.of(pool), now=NOW, policy=policy, hits=found, version="1")
    _, kept = trace_of_line(trace_line(trace))
    assert kept == trace
    assert trace_line(kept) == trace_line(trace)
    assert is_identical(replay(kept))
    for each in (policy, other):
        assert facts(rank_snapshot(kept.scored, each)) == live(query, pool, each, found)
        assert [row.row.id for row in replay(kept, each).rows] == [
            record for record, *_ in live(query, pool, each, found)
        ]


@settings(max_examples=60)
@given(pools, queries(), policies, hits, st.integers(0, 6), st.integers(1, 6))
def test_a_cut_trace_holds_the_first_candidates_and_repeats_its_own_results(
    pool: list[ExperimentRecord], query: RetrievalQuery, policy: Policy, found: Hits, limit: int, cap: int
) -> None:
    index = RankingIndex.of(pool)
    trace = trace_of(query, index, now=NOW, policy=policy, hits=found, limit=limit, cap=cap, version="1")
    everything = live(query, pool, policy, found)
    kept = max(cap, min(limit, len(everything)))
    assert [each.id for each in trace.scored.candidates] == [record for record, *_ in everything[:kept]]
    assert trace.scored.total == len(everything)
    assert trace.scored.is_complete == (len(everything) <= kept)
    _, read = trace_of_line(trace_line(trace))
    assert read == trace
    assert is_identical(replay(read))
    assert facts(rank_snapshot(read.scored, policy, limit)) == everything[:limit]


POOL = [
    ExperimentRecord.model_validate(
        {
            "id": f"run-{number}",
            "name": name,
            "timestamp": (NOW - timedelta(days=10 * number)).isoformat(),
            "conclusion": {"headline": "fine", "outcome": outcome},
        }
    )
    for number, (name, outcome) in enumerate((("warmup", "completed"), ("warmup lr", "failed"), ("lr", "completed")))
]
QUERY = RetrievalQuery(text="lr warmup lr schedule")
HITS = {"run-2": Hit(8, NOW - timedelta(days=14))}


def scored(policy: Policy, cap: int | None = None) -> ScoredCandidates:
    return scored_candidates(QUERY, RankingIndex.of(POOL), now=NOW, policy=policy, hits=HITS, cap=cap)


def test_no_exponential_and_no_logarithm_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = scored(STEADY)
    _, trace = trace_of_line(
        trace_line(trace_of(QUERY, RankingIndex.of(POOL), now=NOW, policy=STEADY, hits=HITS, version="1"))
    )
    before = facts(rank_snapshot(kept, STEADY))

    def forbidden(*_: float) -> float:
        raise AssertionError("computed again")

    for name in ("exp", "log", "pow", "exp2", "expm1", "log2", "log1p"):
        monkeypatch.setattr(math, name, forbidden)
    assert facts(rank_snapshot(kept, STEADY)) == before
    assert is_identical(replay(trace))
    lexical = Policy(
        weights=Weights(lexical=1.0), lexical_bonus=STEADY.lexical_bonus, decay_penalty=DecayPenalty(weight=0.9)
    )
    assert len(replay(trace, lexical).rows) == 3  # no knob of an exponential is another
    with pytest.raises(AssertionError, match="computed again"):
        replay(trace, Policy(half_life_days=7.0))


def test_what_is_kept_of_each_candidate() -> None:
    kept = scored(STEADY)
    assert kept.query.terms == ("lr", "warmup", "schedule")
    assert kept.query.missing == {"structural": "the query has no architecture"}
    assert (kept.total, kept.is_complete) == (3, True)
    by_id = {each.id: each for each in kept.candidates}
    assert {record: each.features.matched for record, each in by_id.items()} == {
        "run-0": 0b010,
        "run-1": 0b011,
        "run-2": 0b001,
    }
    last = by_id["run-2"]
    assert (last.name, last.features.hits, last.features.last_hit_age_days, last.features.age_days) == (
        "lr",
        8,
        14.0,
        20.0,
    )
    assert last.decay == Decay(math.exp(-math.log(2.0) * 20 / 30), math.exp(-1.0), math.exp(-20 / 30))
    assert by_id["run-1"].features.dead_end
    assert not last.features.dead_end


def test_a_score_by_hand() -> None:
    features = Features(
        bm25=2.0,
        words=0.5,
        cosine=None,
        structural=None,
        age_days=30.0,
        facts=Fact.CONCLUSION,
        matched=0b101,
        hits=8,
        last_hit_age_days=1.0,
        ttl="unlimited",
    )
    query = QueryFeatures(("a", "b", "c", "d"), 4.0, {"structural": "the query has no architecture"})
    kept = CandidateSnapshot("x", "", features, Decay(0.5, 0.25, 0.75))
    default, steady = (
        rank_snapshot(ScoredCandidates(query, policy, 1, (kept,)), policy)[0].score
        for policy in (DEFAULT_POLICY, STEADY)
    )
    # weights 0.4, 0.15, 0.2 of 0.75; signals 0.5, 0.5, 0.5
    assert default == pytest.approx(0.5, abs=1e-15)
    # a bonus of 0.05 · (0.5 − 0.3)/0.7, a boost of 0.05 · ½ · 0.25, a penalty of 0.05 · 0.25
    assert steady == pytest.approx(0.5 + 0.05 * 0.2 / 0.7 + 0.00625 - 0.0125, abs=1e-15)


def test_kept_exponentials_hold_where_their_own_knob_is_the_same() -> None:
    kept = replace(scored(STEADY).candidates[0], decay=Decay(0.5, 0.25, 0.125))
    with_age = kept.features.age_days
    assert with_age is not None
    assert decay_under(kept, STEADY, STEADY) == Decay(0.5, 0.25, 0.125)
    assert decay_under(kept, STEADY, DEFAULT_POLICY) == Decay(0.5, None, None)
    other_tau = Policy(decay_penalty=DecayPenalty(enabled=True, tau_days=10.0))
    assert decay_under(kept, STEADY, other_tau) == Decay(0.5, None, math.exp(-with_age / 10.0))
    shorter = STEADY.model_copy(update={"half_life_days": 15.0})
    assert decay_under(kept, STEADY, shorter) == Decay(math.exp(-math.log(2.0) * with_age / 15.0), 0.25, 0.125)
    with_hit = replace(next(each for each in scored(STEADY).candidates if each.features.hits), decay=kept.decay)
    other_boost = STEADY.model_copy(update={"hit_boost": HitBoost(enabled=True, tau_days=7.0)})
    assert decay_under(with_hit, STEADY, other_boost) == Decay(0.5, math.exp(-14.0 / 7.0), 0.125)
    # the default policy never asked for them: they are made anew, whatever their knobs
    bare = replace(kept, decay=Decay(0.5))
    assert decay_under(bare, DEFAULT_POLICY, STEADY).age == math.exp(-with_age / 30.0)


unit = st.floats(0.0, 1.0)
ages = st.none() | st.floats(allow_nan=False, allow_infinity=False)
any_features = st.builds(
    Features,
    bm25=st.floats(0.0, allow_infinity=False),
    words=unit,
    cosine=st.none() | unit,
    structural=st.none() | unit,
    age_days=ages,
    facts=st.integers(0, 31).map(Fact),
    matched=st.integers(0, 7),
    hits=st.integers(0, 2**53),
    last_hit_age_days=ages,
    ttl=st.sampled_from(("unlimited", "within", "untimed")),
)
any_candidates = st.builds(
    CandidateSnapshot,
    id=st.text(),
    name=st.text(),
    features=any_features,
    decay=st.builds(Decay, recency=unit, last_hit=unit, age=unit),
)


@settings(max_examples=100)
@given(
    st.lists(any_candidates, max_size=4, unique_by=lambda each: each.id),
    st.sets(st.sampled_from(("lexical", "structural", "recency"))),
    policies,
    policies,
)
def test_whatever_was_kept_comes_back_to_the_last_bit_and_has_a_finite_score(
    candidates: list[CandidateSnapshot], missing: set[str], policy: Policy, other: Policy
) -> None:
    query = QueryFeatures(("a", "b", "c"), 1.0, dict.fromkeys(sorted(missing), "why not"))
    kept = ScoredCandidates(query, policy, len(candidates), tuple(candidates))
    trace = Trace(NOW, "1", None, None, None, Filters(), 0, None, kept, tuple(rows_of(rank_snapshot(kept, policy))))
    _, read = trace_of_line(trace_line(trace))
    assert repr(read) == repr(trace)  # == does not tell 0.0 from -0.0
    assert is_identical(replay(read))
    for each in rank_snapshot(read.scored, other):
        assert math.isfinite(each.score)


def test_ties_go_by_id_and_the_best_first() -> None:
    pool = [ExperimentRecord.model_validate({"id": record, "name": "same"}) for record in ("b", "c", "a")]
    kept = scored_candidates(RetrievalQuery(text="same"), RankingIndex.of(pool), now=NOW, policy=DEFAULT_POLICY, cap=2)
    assert [each.id for each in kept.candidates] == ["a", "b"]
    assert (kept.total, kept.is_complete) == (3, False)
    assert [each.candidate.id for each in rank_snapshot(kept, DEFAULT_POLICY, 1)] == ["a"]


def test_nothing_passes() -> None:
    query = RetrievalQuery(text="lr lr warmup", tags=("none",))
    kept = scored_candidates(query, RankingIndex.of(POOL), now=NOW, policy=STEADY)
    assert kept == ScoredCandidates(QueryFeatures(("lr", "warmup"), 0.0, {}), STEADY, 0, ())
    assert kept.is_complete
    assert rank_snapshot(kept, DEFAULT_POLICY) == []
