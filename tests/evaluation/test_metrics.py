import math

import pytest

from tried.evaluation.metrics import ndcg_at, recall_at


def test_recall_by_hand() -> None:
    ranked = ["a", "x", "b", "y", "c"]
    assert recall_at(ranked, {"a", "b", "c", "d"}, 3) == 2 / 4
    assert recall_at(ranked, ["a", "b", "c", "d"], 5) == 3 / 4
    assert recall_at(ranked, {"a"}, 1) == 1.0
    assert recall_at([], {"a"}, 10) == 0.0
    assert recall_at(["a", "a", "b"], {"a", "b"}, 2) == 1 / 2


def test_ndcg_by_hand() -> None:
    grades = {"a": 3, "b": 2, "c": 1}
    # Gains 7, 3, 1. Ranked b, x, a: 3/log2(2) + 7/log2(4) = 6.5; ideal 7 + 3/log2(3) + 1/2.
    ideal = 7 + 3 / math.log2(3) + 0.5
    assert ndcg_at(["b", "x", "a"], grades, 3) == pytest.approx(6.5 / ideal, abs=1e-15)
    assert ndcg_at(["a", "b", "c", "x"], grades, 10) == 1.0
    # Of the first two only: ideal 7 + 3/log2(3).
    assert ndcg_at(["c", "a", "b"], grades, 2) == pytest.approx(
        (1 + 7 / math.log2(3)) / (7 + 3 / math.log2(3)), abs=1e-15
    )
    assert ndcg_at(["x"], grades, 10) == 0.0


def test_an_item_gains_once() -> None:
    assert ndcg_at(["a", "a"], {"a": 1, "b": 1}, 2) == pytest.approx(1 / (1 + 1 / math.log2(3)), abs=1e-15)


def test_what_is_undefined_is_refused() -> None:
    with pytest.raises(ValueError, match="recall is undefined"):
        recall_at(["a"], (), 10)
    with pytest.raises(ValueError, match="nDCG is undefined"):
        ndcg_at(["a"], {"a": 0}, 10)
    with pytest.raises(ValueError, match="k is 0"):
        recall_at(["a"], {"a"}, 0)
    with pytest.raises(ValueError, match="k is -1"):
        ndcg_at(["a"], {"a": 1}, -1)
