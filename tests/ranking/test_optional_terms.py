"""The three terms that a policy may add: by hand, against a plain calculation, and what holds whatever the knobs are.

The plain calculation takes the first four terms from `naive_ranking` and knows the design's formulas alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import naive_rank, naive_tokens, naive_words
from ranking_strategies import NOW, hits, policies, pools, queries

from tried.pool.record import ExperimentRecord
from tried.ranking import (
    DEFAULT_POLICY,
    STEADY,
    DecayPenalty,
    Hit,
    HitBoost,
    Hits,
    LexicalBonus,
    Policy,
    RankingIndex,
    RetrievalQuery,
    rank,
)
from tried.ranking.rank import passing, placing_of, rank_of
from tried.ranking.scoring import SIGNALS, decay_penalty, hit_boost, lexical_bonus


def naive_scores(
    query: RetrievalQuery, pool: list[ExperimentRecord], used: Mapping[str, Hit], policy: Policy
) -> dict[str, float]:
    """The design's formulas, one record after the other."""
    if policy.ttl_days is not None:
        pool = [
            record
            for record in pool
            if record.time is None or (NOW - record.time) / timedelta(days=1) <= policy.ttl_days
        ]
    lexical, structural, recency, importance = (getattr(policy.weights, name) for name in SIGNALS)
    weights = (lexical, structural, recency, importance)
    base = {id: score for id, score, *_ in naive_rank(query, pool, NOW, weights, policy.half_life_days)}
    terms = list(dict.fromkeys(naive_tokens(query.text)))[: policy.lexical_bonus.term_cap]
    scores = {}
    for record in pool:
        if record.id not in base:
            continue
        score = base[record.id]
        if policy.lexical_bonus.enabled:
            knobs = policy.lexical_bonus
            words = set(naive_words(record))
            ratio = sum(term in words for term in terms) / len(terms) if terms else 0.0
            if ratio >= knobs.min_ratio:
                if knobs.min_ratio == 1.0:
                    score += knobs.weight
                else:
                    score += knobs.weight * min(1.0, max(0.0, (ratio - knobs.min_ratio) / (1.0 - knobs.min_ratio)))
        if policy.hit_boost.enabled and record.id in used:
            boost, hit = policy.hit_boost, used[record.id]
            age = max(0.0, (NOW - hit.last) / timedelta(days=1))
            fresh = 1.0 if boost.tau_days == 0 else math.exp(-age / boost.tau_days)
            score += boost.weight * (hit.count / (hit.count + boost.half_saturation)) * fresh
        if policy.decay_penalty.enabled and record.time is not None:
            age = max(0.0, (NOW - record.time) / timedelta(days=1))
            score -= policy.decay_penalty.weight * (1.0 - math.exp(-age / policy.decay_penalty.tau_days))
        scores[record.id] = score
    return scores


@settings(max_examples=150)
@given(pools, queries(), hits, policies)
def test_scores_and_order_are_those_of_the_plain_formulas(
    pool: list[ExperimentRecord], query: RetrievalQuery, used: Hits, policy: Policy
) -> None:
    index = RankingIndex.of(pool)
    ranked = rank(query, index, now=NOW, policy=policy, hits=used)
    expected = naive_scores(query, pool, used, policy)
    assert [each.record.id for each in ranked] == sorted(expected, key=lambda id: (-expected[id], id))
    assert {each.record.id: each.score for each in ranked} == expected
    assert set(passing(query, index, now=NOW, policy=policy)) == set(expected)


@settings(max_examples=80)
@given(pools, queries(), hits, policies, st.integers(0, 10))
def test_the_first_so_many_and_single_places_are_those_of_the_whole_list(
    pool: list[ExperimentRecord], query: RetrievalQuery, used: Hits, policy: Policy, limit: int
) -> None:
    index = RankingIndex.of(pool[: len(pool) // 2]).updated((), pool[len(pool) // 2 :])
    whole = rank(query, index, now=NOW, policy=policy, hits=used, detailed=True)
    assert rank(query, index, now=NOW, policy=policy, hits=used, limit=limit, detailed=True) == whole[:limit]
    assert (
        rank(query, index, now=NOW, policy=policy, hits=used, alike=lambda id: id, detailed=True, limit=limit)
        == whole[:limit]
    )
    for place, each in enumerate(whole, start=1):
        found = rank_of(query, index, each.record.id, now=NOW, policy=policy, hits=used)
        assert found is not None
        assert (found[0], found[1].score) == (place, each.score)
    if whole:
        ids_ = [each.record.id for each in whole]
        placing = placing_of(ids_, query, index, now=NOW, policy=policy, hits=used, detailed=True)
        assert placing is not None
        assert (placing.best, placing.above) == (whole[0], ())


@settings(max_examples=100)
@given(pools, queries(), hits, policies)
def test_a_score_is_the_sum_of_its_terms_and_the_first_four_are_those_of_the_default(
    pool: list[ExperimentRecord], query: RetrievalQuery, used: Hits, policy: Policy
) -> None:
    asked = [name for name in ("lexical_bonus", "hit_boost", "decay_penalty") if getattr(policy, name).enabled]
    plain = Policy(weights=policy.weights, half_life_days=policy.half_life_days, ttl_days=policy.ttl_days)
    base = {each.record.id: each.terms for each in rank(query, pool, now=NOW, policy=plain)}
    for each in rank(query, pool, now=NOW, policy=policy, hits=used):
        score = 0.0
        for term in each.terms:
            score += term.value
        assert each.score == score
        assert each.terms[:4] == base[each.record.id]
        assert [term.name for term in each.terms[4:]] == asked
        for term in each.terms[4:]:
            knobs = getattr(policy, term.name)
            assert (term.signal, term.weight) == (None, None)
            low, high = (-knobs.weight, 0.0) if term.name == "decay_penalty" else (0.0, knobs.weight)
            assert low <= term.value <= high
            assert math.copysign(1.0, term.value) == 1.0 or term.value < 0, "no -0.0"


@settings(max_examples=100)
@given(pools, queries(), hits, policies, st.sampled_from(("lexical_bonus", "hit_boost", "decay_penalty")))
def test_no_term_overturns_a_difference_larger_than_its_weight(
    pool: list[ExperimentRecord], query: RetrievalQuery, used: Hits, policy: Policy, name: str
) -> None:
    term = getattr(policy, name).model_copy(update={"enabled": True})
    only = DEFAULT_POLICY.model_copy(update={name: term})
    before = rank(query, pool, now=NOW)
    after = {each.record.id: place for place, each in enumerate(rank(query, pool, now=NOW, policy=only, hits=used))}
    for place, above in enumerate(before):
        for below in before[place + 1 :]:
            if above.score - below.score > term.weight + 1e-12:
                assert after[above.record.id] < after[below.record.id]


@given(st.builds(LexicalBonus, weight=st.floats(0, 1e6), min_ratio=st.floats(0, 1)), st.floats(0, 1), st.floats(0, 1))
def test_the_bonus_grows_with_the_ratio(knobs: LexicalBonus, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= lexical_bonus(low, knobs) <= lexical_bonus(high, knobs) <= knobs.weight
    assert lexical_bonus(1.0, knobs) == knobs.weight


@given(
    st.builds(HitBoost, weight=st.floats(0, 1e6), half_saturation=st.floats(0, 1e6, exclude_min=True)),
    st.integers(0, 10**12),
    st.integers(0, 10**12),
    st.floats(0, 1),
    st.floats(0, 1),
)
def test_the_boost_grows_with_hits_and_with_freshness(
    knobs: HitBoost, one: int, other: int, stale: float, fresh: float
) -> None:
    few, many = sorted((one, other))
    stale, fresh = sorted((stale, fresh))
    assert 0.0 <= hit_boost(few, stale, knobs) <= hit_boost(many, fresh, knobs) <= knobs.weight
    assert hit_boost(0, fresh, knobs) == 0.0


@given(st.builds(DecayPenalty, weight=st.floats(0, 1e6)), st.floats(0, 1), st.floats(0, 1))
def test_the_penalty_grows_as_less_is_left(knobs: DecayPenalty, one: float, other: float) -> None:
    less, more = sorted((one, other))
    assert -knobs.weight <= decay_penalty(less, knobs) <= decay_penalty(more, knobs) <= 0.0
    assert decay_penalty(1.0, knobs) == 0.0


def record(id: str, **fields: object) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": id, **fields})


def values(policy: Policy, *pool: ExperimentRecord, text: str = "", hits: Hits | None = None) -> dict[str, list[float]]:
    ranked = rank(RetrievalQuery(text), pool, now=NOW, policy=policy, hits=hits or {})
    return {each.record.id: [term.value for term in each.terms[4:]] for each in ranked}


class TestByHand:
    def test_the_bonus_counts_different_terms(self) -> None:
        """Of alpha, beta, gamma, delta: all, three, two, one, none. (r − 0.3)/0.7 of 0.05 from 0.3 on."""
        policy = Policy(lexical_bonus=LexicalBonus(enabled=True))
        text = "alpha beta gamma delta alpha alpha"
        pool = [record(str(n), name=" ".join(text.split()[:n]) or "other") for n in range(5)]
        assert values(policy, *pool, text=text) == {
            "4": [0.05],
            "3": [pytest.approx(0.05 * 0.45 / 0.7, rel=1e-12)],
            "2": [pytest.approx(0.05 * 0.2 / 0.7, rel=1e-12)],
            "1": [0.0],
            "0": [0.0],
        }

    def test_only_the_first_terms_count_up_to_the_cap(self) -> None:
        policy = Policy(lexical_bonus=LexicalBonus(enabled=True, min_ratio=0.0, term_cap=2))
        found = values(policy, record("a", name="alpha"), record("b", name="gamma"), text="alpha beta gamma")
        assert found == {"a": [0.025], "b": [0.0]}

    def test_a_query_without_terms_has_no_bonus(self) -> None:
        policy = Policy(lexical_bonus=LexicalBonus(enabled=True, min_ratio=0.0))
        assert values(policy, record("a", name="alpha")) == {"a": [0.0]}

    def test_the_boost_saturates_and_fades(self) -> None:
        """8 hits are half of 0.05; two weeks later 1/e of it; a hit in the future is a fresh one."""
        policy = Policy(hit_boost=HitBoost(enabled=True))
        used = {
            "now": Hit(8, NOW),
            "later": Hit(8, NOW - timedelta(days=14)),
            "future": Hit(8, NOW + timedelta(days=3)),
            "naive": Hit(24, NOW.replace(tzinfo=None)),
            "gone": Hit(5, NOW),
        }
        found = values(policy, *map(record, ("now", "later", "future", "naive", "never")), hits=used)
        assert found == {
            "now": [0.025],
            "later": [pytest.approx(0.025 / math.e, rel=1e-12)],
            "future": [0.025],
            "naive": [pytest.approx(0.05 * 24 / 32, rel=1e-12)],
            "never": [0.0],
        }

    def test_with_a_tau_of_0_hits_never_fade(self) -> None:
        policy = Policy(hit_boost=HitBoost(enabled=True, tau_days=0))
        assert values(policy, record("a"), hits={"a": Hit(8, datetime(1990, 1, 1, tzinfo=UTC))}) == {"a": [0.025]}

    def test_age_takes_away(self) -> None:
        """At 30 days 1 − 1/e of 0.05; nothing without an age or for the future."""
        policy = Policy(decay_penalty=DecayPenalty(enabled=True))
        old = record("old", timestamp=(NOW - timedelta(days=30)).isoformat())
        soon = record("soon", timestamp=(NOW + timedelta(days=30)).isoformat())
        found = values(policy, old, soon, record("undated"))
        assert found == {"old": [pytest.approx(-0.05 * (1 - 1 / math.e), rel=1e-12)], "soon": [0.0], "undated": [0.0]}

    def test_the_time_to_live_of_a_policy_drops_what_is_older(self) -> None:
        pool = [record(str(days), timestamp=(NOW - timedelta(days=days)).isoformat()) for days in (1, 9, 11)]
        pool.append(record("undated"))
        kept = {each.record.id for each in rank(RetrievalQuery(), pool, now=NOW, policy=Policy(ttl_days=10))}
        assert kept == {"1", "9", "undated"}
        stricter = rank(RetrievalQuery(ttl_days=5), pool, now=NOW, policy=Policy(ttl_days=10))
        assert {each.record.id for each in stricter} == {"1", "undated"}

    def test_hits_change_nothing_under_the_default(self) -> None:
        pool = [record("a"), record("b")]
        used = {"b": Hit(100, NOW)}
        assert rank(RetrievalQuery(), pool, now=NOW, hits=used) == rank(RetrievalQuery(), pool, now=NOW)
        assert rank(RetrievalQuery(), pool, now=NOW, hits=used, policy=STEADY)[0].record.id == "b"


def test_the_terms_tell_what_they_rest_on() -> None:
    pool = [record("a", name="alpha", notes="x", timestamp=(NOW - timedelta(days=3)).isoformat())]
    (found,) = rank(RetrievalQuery("alpha beta"), pool, now=NOW, policy=STEADY, hits={"a": Hit(2, NOW)}, detailed=True)
    inputs = {term.name: term.inputs for term in found.terms}
    assert inputs["recency"] == {"age_days": 3.0, "half_life_days": 30.0}
    assert inputs["importance"] == {
        "conclusion": False,
        "prose": True,
        "derivation": False,
        "improved": False,
        "dead_end": False,
    }
    assert inputs["lexical_bonus"] == {"ratio": 0.5, "terms": 2, "min_ratio": 0.3}
    assert inputs["hit_boost"] == {"hits": 2, "last_hit_age_days": 0.0}
    assert inputs["decay_penalty"] == {"age_days": 3.0, "tau_days": 30.0}
    assert (inputs["lexical"] or {})["normalised"] == 1.0
