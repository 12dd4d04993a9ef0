import math

import pytest

from tried.ranking import DEFAULT_HALF_LIFE_DAYS, DEFAULT_POLICY, Policy


def test_the_defaults() -> None:
    policy = DEFAULT_POLICY
    assert (policy.lexical, policy.structural, policy.recency, policy.importance) == (0.40, 0.25, 0.15, 0.20)
    assert policy.half_life_days == DEFAULT_HALF_LIFE_DAYS == 30.0


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf])
def test_a_weight_out_of_range_is_named(weight: float) -> None:
    with pytest.raises(ValueError, match="weight 'recency' is"):
        Policy(recency=weight)


def test_a_half_life_must_be_a_number() -> None:
    with pytest.raises(ValueError, match="half_life_days"):
        Policy(half_life_days=math.nan)
