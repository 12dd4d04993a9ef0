from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.evaluation.stability import (
    Observed,
    Session,
    Situation,
    Step,
    Use,
    by_change,
    by_session,
    difference,
    observe,
    positional_churn,
    retention,
    set_churn,
    summary,
)
from tried.ranking.hits import Hit, Hits
from tried.ranking.query import RetrievalQuery

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
IDS = st.lists(st.sampled_from("abcdefghijkl"), unique=True, max_size=8)
SOME_K = st.integers(1, 10)


def test_positional_churn_by_hand() -> None:
    assert positional_churn("abcde", "abcde", 5) == 0.0
    assert positional_churn("abcde", "bacde", 5) == 2 / 5
    assert positional_churn("abcde", "xabcd", 5) == 1.0  # one newcomer at the top moves everybody
    assert positional_churn("abcde", "abcdx", 5) == 1 / 5
    assert positional_churn("abcde", "abxyz", 2) == 0.0
    assert positional_churn("abc", "abcd", 10) == 1 / 4
    assert positional_churn("abc", "ab", 10) == 1 / 3
    assert positional_churn("abc", "", 10) == 1.0
    assert positional_churn("", "", 10) == 0.0


def test_set_churn_by_hand() -> None:
    assert set_churn("abcde", "edcba", 5) == 0.0
    assert set_churn("abcde", "xabcd", 5) == pytest.approx(1 - 4 / 5)
    assert set_churn("abcde", "edcba", 2) == 1.0
    assert set_churn("abcde", "bcdea", 4) == pytest.approx(1 - 3 / 4)
    assert set_churn("abc", "cba", 10) == 0.0  # three of three, not three of ten
    assert set_churn("abc", "abcd", 10) == pytest.approx(1 - 3 / 4)
    assert set_churn("", "ab", 10) == 1.0
    assert set_churn("", "", 10) == 0.0


def test_retention_by_hand() -> None:
    assert retention("abcde", "cabde") == 1.0
    assert retention("abcde", "xabcd") == pytest.approx(2 / 3)
    assert retention("abcde", "vwxyzabc") == 0.0
    assert retention("ab", "axb") == 1.0
    assert retention("ab", "axyb") == 1 / 2
    assert retention("abc", "a") == pytest.approx(1 / 3)
    assert retention("", "abc") == 1.0
    assert retention("abcde", "bcdea", top=1) == 0.0


def test_no_places_are_refused() -> None:
    for measure in (positional_churn, set_churn, retention):
        with pytest.raises(ValueError, match="k is 0"):
            measure("ab", "ab", 0)


@given(IDS, IDS, SOME_K)
def test_the_measures_keep_their_bounds_and_their_order(first: list[str], later: list[str], k: int) -> None:
    by_place, by_set = positional_churn(first, later, k), set_churn(first, later, k)
    assert 0.0 <= by_set <= by_place <= 1.0
    assert (by_place == 0.0) == (first[:k] == later[:k])
    assert (by_set == 0.0) == (set(first[:k]) == set(later[:k]))
    assert by_place == positional_churn(later, first, k)
    assert by_set == set_churn(later, first, k)
    assert 0.0 <= retention(first, later, k) <= 1.0
    assert (retention(first, later, k) == 1.0) == (set(first[:k]) <= set(later[:k]))


@given(IDS, SOME_K)
def test_what_has_not_moved_has_no_churn(ids: list[str], k: int) -> None:
    assert (positional_churn(ids, ids, k), set_churn(ids, ids, k), retention(ids, ids, k)) == (0.0, 0.0, 1.0)


def situation(text: str, days: int = 0) -> Situation:
    return Situation(RetrievalQuery(text=text), NOW + timedelta(days=days))


SESSION = Session("q", situation("abcd"), (Step("swap", situation("bacd")), Step("again", situation("abcd", days=1))))


def by_letters(asked: Situation, _: Hits) -> Sequence[str]:
    """A ranking in the order of the letters of the query."""
    return list(asked.query.text)


def test_each_step_is_held_against_the_first_run() -> None:
    swap, again = observe(SESSION, by_letters, 3)
    assert (swap.session, swap.change, swap.shown) == ("q", "swap", ("b", "a", "c", "d"))
    assert (swap.positional_churn, swap.set_churn, swap.retention) == (2 / 3, 0.0, 1.0)
    assert (again.positional_churn, again.set_churn, again.retention) == (0.0, 0.0, 1.0)
    assert [each.moved for each in (swap, again)] == [True, False]


def test_what_is_opened_counts_from_the_next_run_on() -> None:
    seen: list[dict[str, Hit]] = []

    def ranking(asked: Situation, hits: Hits) -> Sequence[str]:
        seen.append(dict(hits))
        return list(asked.query.text)

    observe(SESSION, ranking, 3, Use(opened=2))
    # Run 1 (abcd) opens a; run 2 (bacd) opens the first and the second: b and a.
    assert seen == [{}, {"a": Hit(1, NOW)}, {"a": Hit(2, NOW), "b": Hit(1, NOW)}]


def test_earlier_days_leave_hits_that_the_first_run_knows() -> None:
    seen: list[dict[str, Hit]] = []

    def ranking(asked: Situation, hits: Hits) -> Sequence[str]:
        seen.append(dict(hits))
        return list(asked.query.text)

    observe(SESSION, ranking, 3, Use(opened=3, earlier_days=4))
    # One run a day on four days: the first place is opened four times, the second on days 2 and 4, the third on day 3.
    ago = [NOW - timedelta(days=days) for days in range(5)]
    assert seen[4] == {"a": Hit(4, ago[1]), "b": Hit(2, ago[1]), "c": Hit(1, ago[2])}
    assert seen[5] == {"a": Hit(5, NOW), "b": Hit(2, ago[1]), "c": Hit(1, ago[2])}


def test_days_before_the_first_one_that_there_is_are_left_out() -> None:
    seen: list[dict[str, Hit]] = []
    second = datetime(1, 1, 2, tzinfo=UTC)

    def ranking(asked: Situation, hits: Hits) -> Sequence[str]:
        seen.append(dict(hits))
        return list(asked.query.text)

    session = Session("q", Situation(RetrievalQuery(text="ab"), second), ())
    observe(session, ranking, 2, Use(opened=1, earlier_days=5))
    assert seen == [{}, {"a": Hit(1, second - timedelta(days=1))}]


def test_without_use_nothing_is_ever_hit() -> None:
    def ranking(asked: Situation, hits: Hits) -> Sequence[str]:
        assert not hits
        return list(asked.query.text)

    assert len(observe(SESSION, ranking, 3)) == 2


def observed(session: str, change: str, churn: float) -> Observed:
    return Observed(session, change, (), churn, churn / 2, 1 - churn)


def test_no_session_counts_more_for_having_more_steps() -> None:
    steps = [
        observed("q", "move", 0.0),
        observed("q", "move", 0.5),
        observed("q", "type", 1.0),
        observed("r", "type", 0),
    ]
    told = summary(steps)
    # q: (0 + 0.5 + 1)/3 = 0.5, r: 0; of both 0.25.
    assert (told.sessions, told.steps, told.moved) == (2, 4, 2)
    assert (told.positional_churn, told.set_churn, told.retention) == (0.25, 0.125, 0.75)
    assert {change: len(found) for change, found in by_change(steps).items()} == {"move": 2, "type": 2}
    assert by_session(steps, lambda each: each.set_churn) == {"q": 0.25, "r": 0.0}
    assert math.isnan(summary([]).retention)


def test_sessions_are_compared_one_by_one() -> None:
    before = {"a": 0.5, "b": 0.5, "c": 0.1, "d": 0.0}
    after = {"a": 0.1, "b": 0.2, "c": 0.2, "d": 0.0}
    told = difference(before, after)
    assert (told.lower, told.equal, told.higher) == (2, 1, 1)
    assert told.mean == pytest.approx(-0.15)
    # Two of three: at least as uneven as 1 of 3 is everything, (1 + 3) / 8 at either end.
    assert told.chance == 1.0
    assert difference({str(n): 1.0 for n in range(8)}, {str(n): 0.0 for n in range(8)}).chance == 2 / 256
    assert difference(before, before).chance == 1.0
    with pytest.raises(ValueError, match=r"not the same sessions: \['d'\]"):
        difference(before, dict.fromkeys("abc", 0.0))
