"""Keys by what a draft may call them."""

from __future__ import annotations

from tried.draft.alignment import MOST_INNER_SEGMENTS
from tried.pool.history.key_names import KeyNames


def test_inner_ends_of_keys() -> None:
    names = KeyNames(frozenset({"model.optimizer.lr", "config.optimizer.lr", "data.name", "seed"}))
    assert names.by_suffix == {"optimizer.lr": None, "lr": None, "name": "data.name"}
    assert KeyNames(frozenset({"a.b.c"})).by_suffix == {"b.c": "a.b.c", "c": "a.b.c"}


def test_a_text_that_was_taken_for_a_key_costs_no_more_than_a_long_key() -> None:
    text = ".".join(f"word{number}" for number in range(50_000))
    found = KeyNames(frozenset({text, "a.b"})).by_suffix
    assert len(found) == MOST_INNER_SEGMENTS + 1
    assert found["word49999"] == text
    assert found["b"] == "a.b"
