"""What of a policy nobody can want, from its knobs and the names of those that were set."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.ranking.policy import DEFAULT_POLICY, STEADY, HitBoost, Policy, Weights, knobs, with_overrides
from tried.ranking.policy_remarks import knobs_set, remarks_on

ZERO = {f"weights.{name}": 0 for name in Weights.model_fields}


@given(st.sets(st.sampled_from(sorted(knobs()))))
def test_where_all_terms_are_on_every_knob_has_an_effect(names: set[str]) -> None:
    assert remarks_on(STEADY, names) == ()


@given(st.sets(st.sampled_from(sorted(knobs()))))
def test_each_term_that_is_off_is_named_once_if_something_else_of_it_is_set(names: set[str]) -> None:
    remarks = remarks_on(DEFAULT_POLICY, names)
    idle = {
        name.split(".")[0]
        for name in names
        if "." in name and not name.startswith("weights.") and f"{name.split('.')[0]}.enabled" not in names
    }
    assert len(remarks) == len(idle)
    for term in idle:
        (told,) = (each for each in remarks if f"{term}.enabled=true turns it on" in each)
        assert all((name in told) == name.startswith(f"{term}.") for name in names)


def test_the_half_life_of_what_does_not_count() -> None:
    policy = with_overrides(DEFAULT_POLICY, {"weights.recency": 0})
    assert remarks_on(policy, ["half_life_days"]) == (
        "half_life_days is set, but weights.recency is 0: how old a record is does not count",
    )
    assert remarks_on(policy) == ()
    assert len(remarks_on(with_overrides(DEFAULT_POLICY, ZERO), ["half_life_days"])) == 1  # the weights say it all


@pytest.mark.parametrize(
    ("policy", "names"),
    [
        (Policy(), []),
        (Policy(half_life_days=30.0), ["half_life_days"]),
        (Policy(hit_boost=HitBoost(tau_days=14.0)), ["hit_boost.tau_days"]),
        (Policy(weights=Weights(recency=0.1), ttl_days=None), ["weights.recency", "ttl_days"]),
    ],
)
def test_the_knobs_that_were_given_a_value(policy: Policy, names: list[str]) -> None:
    assert list(knobs_set(policy)) == names
