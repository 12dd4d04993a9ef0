"""Policies: their defaults, what they refuse and in which words, their ids, and single knobs turned."""

import hashlib
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tried.ranking import DEFAULT_HALF_LIFE_DAYS, DEFAULT_POLICY, PRESETS, STEADY, Policy, PolicyError, Weights
from tried.ranking.policy import (
    DecayPenalty,
    HitBoost,
    LexicalBonus,
    knobs,
    policy_from_json,
    policy_json,
    remark_on,
    with_overrides,
)


def test_the_defaults() -> None:
    policy = DEFAULT_POLICY
    assert policy.weights == Weights(lexical=0.40, structural=0.25, recency=0.15, importance=0.20)
    assert policy.half_life_days == DEFAULT_HALF_LIFE_DAYS == 30.0
    assert policy.ttl_days is None
    assert not any(term.enabled for term in (policy.lexical_bonus, policy.hit_boost, policy.decay_penalty))
    assert PRESETS == {"default": DEFAULT_POLICY, "steady": STEADY}


def test_steady_has_the_three_terms_with_the_reference_values() -> None:
    assert (
        Policy(
            lexical_bonus=LexicalBonus(enabled=True, weight=0.05, min_ratio=0.3),
            hit_boost=HitBoost(enabled=True, weight=0.05, half_saturation=8, tau_days=14),
            decay_penalty=DecayPenalty(enabled=True, weight=0.05, tau_days=30),
        )
        == STEADY
    )


REFUSED = [
    ("weights.lexical", -0.1, "a finite number from 0 to 1000000, got -0.1"),
    ("weights.recency", math.nan, "a finite number from 0 to 1000000, got NaN"),
    ("weights.importance", math.inf, "a finite number from 0 to 1000000, got Infinity"),
    ("weights.structural", "much", 'a finite number from 0 to 1000000, got "much"'),
    ("half_life_days", math.nan, "a finite number, got NaN"),
    ("half_life_days", -math.inf, "a finite number, got -Infinity"),
    ("half_life_days", True, "a finite number, got true"),
    ("lexical_bonus.min_ratio", 1.01, "a finite number from 0 to 1, got 1.01"),
    ("lexical_bonus.min_ratio", -0.0001, "a finite number from 0 to 1, got -0.0001"),
    ("lexical_bonus.term_cap", 0, "a whole number of at least 1, got 0"),
    ("lexical_bonus.term_cap", 1.5, "a whole number of at least 1, got 1.5"),
    ("lexical_bonus.enabled", 1, "true or false, got 1"),
    ("hit_boost.half_saturation", 0, "a finite number above 0, got 0"),
    ("hit_boost.tau_days", -1, "a finite number of at least 0, got -1"),
    ("hit_boost.weight", -1, "a finite number from 0 to 1000000, got -1"),
    ("decay_penalty.tau_days", 0, "a finite number above 0, got 0"),
    ("ttl_days", -0.5, "a finite number of at least 0, got -0.5"),
]


@pytest.mark.parametrize(("knob", "value", "wanted"), REFUSED)
def test_what_is_out_of_range_is_told_with_knob_value_and_range(knob: str, value: Any, wanted: str) -> None:
    with pytest.raises(PolicyError) as raised:
        with_overrides(DEFAULT_POLICY, {knob: value})
    assert raised.value.problems == (f"{knob}: expected {wanted}",)

    table: Any = value
    for part in reversed(knob.split(".")):
        table = {part: table}
    with pytest.raises(PolicyError) as raised:
        policy_from_json(table)
    assert raised.value.problems == (f"{knob}: expected {wanted}",)
    with pytest.raises(ValidationError):
        Policy.model_validate(table)


@pytest.mark.parametrize("huge", ["1" + "0" * 400, "-1" + "0" * 400, "1e999"])
def test_numbers_that_no_float_holds_are_refused(huge: str) -> None:
    for knob in ("half_life_days", "weights.lexical", "hit_boost.tau_days"):
        with pytest.raises(PolicyError, match=f"{knob}: expected a finite number"):
            with_overrides(DEFAULT_POLICY, {knob: huge})


def test_every_mistake_is_told_at_once() -> None:
    with pytest.raises(PolicyError) as raised:
        policy_from_json({"weights": {"lexical": -1}, "half_life_days": "x", "ttl": 3})
    assert len(raised.value.problems) == 3
    assert str(raised.value) == "; ".join(raised.value.problems)
    with pytest.raises(PolicyError) as raised:
        with_overrides(DEFAULT_POLICY, {"ttl_day": 3, "half_life_days": "nan"})
    assert raised.value.problems == (
        "ttl_day: no knob of a policy; did you mean ttl_days?",
        "half_life_days: expected a finite number, got NaN",
    )


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("half_live_days", "did you mean half_life_days?"),
        ("weights.lexcal", "did you mean weights.lexical?"),
        ("min_ratio", "did you mean lexical_bonus.min_ratio?"),
        ("zzz", "there are weights.lexical, weights.structural"),
        (
            "weights",
            "weights: a table of knobs; set one of them: "
            "weights.lexical, weights.structural, weights.recency, weights.importance",
        ),
        ("weights.", "set one of them: weights.lexical"),
        ("hit_boost", "did you mean hit_boost.enabled?"),
        ("weights.lexical.more", "did you mean weights.lexical?"),
        ("", "no knob of a policy"),
    ],
)
def test_an_unknown_knob_is_told_the_nearest(name: str, told: str) -> None:
    with pytest.raises(PolicyError) as raised:
        with_overrides(DEFAULT_POLICY, {name: 1})
    assert told in str(raised.value)


def test_a_policy_that_is_none() -> None:
    for wrong, told in [
        (3, "a policy is a table of knobs, not 3"),
        ({"weights": 3}, "weights: expected a table of knobs, got 3"),
        ({"schema": "tried.policy/v2"}, 'this version of tried knows tried.policy/v1, not "tried.policy/v2"'),
        ({"weights": {"lexcal": 1}}, "weights.lexcal: no knob of a policy; did you mean weights.lexical?"),
    ]:
        with pytest.raises(PolicyError) as raised:
            policy_from_json(wrong)
        assert told in str(raised.value)


def test_knobs_are_turned_by_text_as_by_values() -> None:
    by_text = {
        "half_life_days": "90",
        "weights.lexical": " 5e-1 ",
        "lexical_bonus.enabled": "true",
        "hit_boost.tau_days": "7",
        "ttl_days": "none",
    }
    by_value = {
        "half_life_days": 90,
        "weights.lexical": 0.5,
        "lexical_bonus.enabled": True,
        "hit_boost.tau_days": 7.0,
        "ttl_days": None,
    }
    turned = with_overrides(STEADY, by_text)
    assert turned == with_overrides(STEADY, by_value)
    assert (turned.half_life_days, turned.weights.lexical, turned.hit_boost.tau_days) == (90.0, 0.5, 7.0)
    assert turned.decay_penalty == STEADY.decay_penalty
    assert with_overrides(STEADY, {}) == STEADY


def test_a_policy_cannot_be_changed() -> None:
    with pytest.raises(ValidationError):
        DEFAULT_POLICY.half_life_days = 3.0  # type: ignore[misc]
    with pytest.raises(ValidationError):
        DEFAULT_POLICY.weights.lexical = 3.0  # type: ignore[misc]


def test_the_id_is_the_hash_of_the_canonical_form() -> None:
    form = {
        "schema": "tried.policy/v1",
        "weights": {"lexical": 0.4, "structural": 0.25, "recency": 0.15, "importance": 0.2},
        "half_life_days": 30.0,
        "lexical_bonus": {"enabled": False, "weight": 0.05, "min_ratio": 0.3, "term_cap": 64},
        "hit_boost": {"enabled": False, "weight": 0.05, "half_saturation": 8.0, "tau_days": 14.0},
        "decay_penalty": {"enabled": False, "weight": 0.05, "tau_days": 30.0},
        "ttl_days": None,
    }
    assert policy_json(DEFAULT_POLICY) == form
    text = json.dumps(form, sort_keys=True, separators=(",", ":"))
    assert DEFAULT_POLICY.policy_id == hashlib.sha256(text.encode()).hexdigest()[:12]


def test_equal_policies_have_one_id() -> None:
    assert Policy(half_life_days=30).policy_id == DEFAULT_POLICY.policy_id
    assert Policy(weights=Weights(lexical=-0.0)).policy_id == Policy(weights=Weights(lexical=0.0)).policy_id
    assert repr(with_overrides(DEFAULT_POLICY, {"ttl_days": "-0.0"}).ttl_days) == "0.0"
    assert repr(Weights(lexical=-0.0).lexical) == "0.0"
    assert DEFAULT_POLICY.model_copy(update={"half_life_days": 31.0}).policy_id != DEFAULT_POLICY.policy_id


VALUES = {
    "enabled": st.booleans(),
    "term_cap": st.integers(1, 10**6),
    "min_ratio": st.floats(0, 1),
    "half_saturation": st.floats(0, 1e9, exclude_min=True),
    "tau_days": st.floats(0, 1e9, exclude_min=True),
    "half_life_days": st.floats(-1e9, 1e9),
    "ttl_days": st.none() | st.floats(0, 1e9),
}
TURNED = st.fixed_dictionaries(
    {}, optional={name: VALUES.get(name.split(".")[-1], st.floats(0, 1e6)) for name in knobs()}
)


@given(TURNED, TURNED)
def test_every_policy_goes_through_json_unchanged_and_ids_tell_them_apart(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    left, right = with_overrides(DEFAULT_POLICY, one), with_overrides(STEADY, other)
    again = policy_from_json(json.loads(json.dumps(policy_json(left))))
    assert again == left
    assert again.policy_id == left.policy_id
    assert (left.policy_id == right.policy_id) == (left == right)


def test_all_weights_zero_is_remarked_upon() -> None:
    nothing = Policy(weights=Weights(lexical=0, structural=0, recency=0, importance=0))
    assert "ordered by their ids" in (remark_on(nothing) or "")
    assert remark_on(DEFAULT_POLICY) is None
    assert remark_on(with_overrides(nothing, {"hit_boost.enabled": True})) is None
