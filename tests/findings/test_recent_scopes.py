"""What compares a draft with a pool is made once for all who ask about it, and never out of date."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import cast

import pytest

from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import parse
from tried.findings.find import find, scopes
from tried.findings.recent_scopes import Remembered
from tried.findings.scope import Scope
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord

TEXT = "lr: 0.5\nbatch_size: 64\ndepth: 12\n"
SETTINGS = FindingSettings()


def draft_of(text: str) -> ExperimentDraft:
    return drafts_of(parse(text, "yaml"), text)[0]


def history_of(*lines: str) -> ParameterHistory:
    records = [
        ExperimentRecord(id=f"run-{line}", research_line=line, params={"lr": 0.5, "batch_size": 64, "depth": 12})
        for line in lines
    ]
    return ParameterHistory.empty().updated((), records)


@pytest.fixture
def history() -> ParameterHistory:
    return history_of("a", "b")


def test_those_who_ask_one_after_the_other_get_the_same_scopes(history: ParameterHistory) -> None:
    draft = draft_of(TEXT)
    find(draft, history, SETTINGS)
    first = list(scopes(draft, history, SETTINGS))
    assert [scope.line.research_line for scope in first] == ["a", "b"]
    again = list(scopes(draft, history, FindingSettings()))
    assert all(one is other for one, other in zip(first, again, strict=True))


def test_another_draft_pool_or_setting_has_its_own(history: ParameterHistory) -> None:
    draft = draft_of(TEXT)
    first = next(iter(scopes(draft, history, SETTINGS)))
    assert next(iter(scopes(draft_of(TEXT), history, SETTINGS))) is not first
    assert next(iter(scopes(draft, history_of("a", "b"), SETTINGS))) is not first
    stricter = next(iter(scopes(draft, history, FindingSettings(minimum_compared=2))))
    assert stricter is not first
    assert stricter.settings.minimum_compared == 2


def numbers_in(remembered: Iterable[Scope]) -> list[int]:
    """Numbers stand for scopes here."""
    return cast("list[int]", list(remembered))


def test_they_are_made_as_somebody_looks_at_them() -> None:
    made: list[int] = []

    def numbers() -> Iterator[Scope]:
        for number in range(5):
            made.append(number)
            yield cast("Scope", number)

    remembered = Remembered(numbers())
    assert numbers_in(islice(remembered, 2)) == [0, 1]
    assert made == [0, 1]
    assert numbers_in(remembered) == [0, 1, 2, 3, 4]
    assert numbers_in(remembered) == [0, 1, 2, 3, 4]
    assert made == [0, 1, 2, 3, 4]


def test_many_threads_see_each_of_them_once() -> None:
    remembered = Remembered(iter([cast("Scope", number) for number in range(2_000)]))
    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(numbers_in, [remembered] * 8))
    assert all(one == list(range(2_000)) for one in seen)


def test_an_error_on_the_way_is_told_to_everybody() -> None:
    def broken() -> Iterator[Scope]:
        yield cast("Scope", 0)
        raise ValueError("no more")

    remembered = Remembered(broken())
    with pytest.raises(ValueError, match="no more"):
        list(remembered)
    with pytest.raises(RuntimeError, match="ValueError: no more"):
        list(remembered)


def test_a_pool_that_nobody_has_any_more_is_not_kept() -> None:
    draft, history = draft_of(TEXT), history_of("a", "b")
    whole = list(scopes(draft, history, SETTINGS))
    next(iter(scopes(draft, history, FindingSettings(minimum_compared=2))))  # of which the rest was never made
    assert len(whole) == 2
    gone = weakref.ref(history)
    del history, whole
    gc.collect()
    assert gone() is None
