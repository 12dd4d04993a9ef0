"""Why a record is not in the list, in words and numbers worked out by hand."""

from __future__ import annotations

import pytest
from related_pool import BASE, NOW, record, related, scored

from tried.ranking.breakdown import ScoredRecord
from tried.ranking.rank import rank
from tried.related.absence import absence_of
from tried.related.experiments import Filter

NEW = scored("EXP-new", 0.5, {**BASE, "lr": 0.5}, timestamp="2026-11-30T12:00:00Z")
OLD = scored("EXP-old", 0.5, {**BASE, "lr": 0.3}, timestamp="2026-10-31T12:00:00Z", tags=["night"], source="mlflow")
"""Thirty days older, which is the half-life of recency."""
SEED = scored("EXP-new-2", 0.6, {**BASE, "lr": 0.5, "seed": 2}, timestamp="2026-11-01T12:00:00Z")
DEAD = record("EXP-dead", {**BASE, "depth": 32}, verdict="dead_end", timestamp="2026-11-30T12:00:00Z", notes="too deep")
POOL = (NEW, OLD, SEED, DEAD)


def test_what_is_in_the_list() -> None:
    found = absence_of("EXP-new", related(*POOL), limit=20)
    assert (found.record, found.dropped_by) == ("EXP-new", None)
    assert found.answer == f"It is in the list, as number {found.rank}."
    assert found.scored == next(each for each in rank_of_pool() if each.record.id == "EXP-new")


def rank_of_pool() -> list[ScoredRecord]:
    found = related(*POOL)
    assert found.query is not None
    return rank(found.query, found.snapshot.index, now=NOW)


def test_what_ranks_below_the_cut_and_what_it_would_take() -> None:
    """With the same words in both lexical is 1 for both, there is no architecture, and a completed run earns
    0.3 + 0.2 of importance: (0.40 + 0.15·r + 0.20·0.5) / 0.75 is 0.8667 for r = 1 and 0.7667 for r = 0.5."""
    old = OLD.model_copy(update={"tags": []})  # so that both are of one length
    found = absence_of("EXP-old", related(NEW, old), limit=1)
    assert (found.record, found.rank, found.dropped_by) == ("EXP-old", 2, "cut")
    assert found.answer == (
        "It is number 2 of 2, and only the first is listed. It has 0.767, the last of these 0.867;"
        " most is wanting in its age (recency 0.100, there 0.200)."
    )
    assert found.scored is not None
    assert found.scored.score == pytest.approx((0.40 + 0.15 * 0.5 + 0.20 * 0.5) / 0.75)
    assert [term.name for term in found.scored.terms] == ["lexical", "structural", "recency", "importance"]


def test_of_equal_scores_the_id_decides() -> None:
    twins = [scored(name, 0.5, {**BASE, "lr": lr}) for name, lr in (("a", 1), ("b", 2))]
    found = absence_of("b", related(*twins), limit=1)
    assert (found.rank, found.dropped_by) == (2, "cut")
    assert found.answer.endswith("and then the id decides.")


def test_a_record_without_a_time_is_told_so() -> None:
    undated = scored("undated", 0.5, {**BASE, "lr": 0.7})
    found = absence_of("undated", related(NEW, undated), limit=1)
    assert found.answer.endswith("its age (recency 0.000, there 0.200: the record has no timestamp).")


def test_a_replicate_stands_in_the_row_of_another() -> None:
    found = absence_of("EXP-new-2", related(*POOL), limit=20)
    assert (found.record, found.dropped_by) == ("EXP-new-2", "replicate")
    assert found.answer == (
        "It is one of 2 runs of one experiment, which stand in one row:"
        f" number {found.rank}, EXP-new, which ranks higher."
    )
    assert found.scored is not None
    assert found.scored.record.id == "EXP-new-2"


def test_a_replicate_of_a_row_below_the_cut_is_below_it() -> None:
    found = absence_of("EXP-new-2", related(NEW, SEED, DEAD), limit=1)
    assert (found.dropped_by, found.rank) in (("cut", 2), ("replicate", 1))
    other = absence_of("EXP-dead", related(NEW, SEED, DEAD), limit=1)
    assert {found.dropped_by, other.dropped_by} & {"cut"}
    assert sorted([found.rank or 0, other.rank or 0]) == [1, 2]  # replicates count as one


@pytest.mark.parametrize(
    ("chosen", "answer"),
    [
        (Filter(outcome="dead_end"), "The list is narrowed to dead ends, and this one worked."),
        (Filter(outcome="running"), "The list is narrowed to what still runs, and this one worked."),
        (Filter(research_line="text"), "The list is narrowed to text, and this one belongs to vision."),
        (Filter(tag="day"), "The list is narrowed to the tag day, and this one has the tag night."),
        (Filter(source="wandb"), "The list is narrowed to wandb, and this one comes from mlflow."),
        (Filter(text="warmup"), "The list is narrowed to what contains “warmup”, and this one does not."),
        (
            Filter(tag="day", source="wandb"),
            "The list is narrowed to the tag day, and this one has the tag night; the list is narrowed to wandb, and"
            " this one comes from mlflow.",
        ),
    ],
)
def test_what_a_filter_drops(chosen: Filter, answer: str) -> None:
    found = absence_of("EXP-old", related(*POOL, chosen=chosen), limit=20)
    assert (found.record, found.rank, found.scored, found.dropped_by) == ("EXP-old", None, None, "filter")
    assert found.answer == answer


def test_what_a_filter_drops_of_a_record_with_little_to_show() -> None:
    plain = record("plain", research_line=None)
    for chosen, answer in (
        (Filter(tag="day"), "The list is narrowed to the tag day, and this one has no tag."),
        (Filter(source="wandb"), "The list is narrowed to wandb, and this one comes from journal."),
        (Filter(research_line="text"), "The list is narrowed to text, and this one belongs to no research line."),
        (Filter(outcome="works"), "The list is narrowed to what worked, and this one has no known outcome."),
    ):
        assert absence_of("plain", related(plain, NEW, chosen=chosen), limit=20).answer == answer


def test_what_passes_the_filter_is_ranked_among_what_does() -> None:
    found = absence_of("EXP-dead", related(*POOL, chosen=Filter(outcome="dead_end")), limit=20)
    assert (found.rank, found.dropped_by) == (1, None)


def test_a_name_that_is_none() -> None:
    found = absence_of(" EXP-odl ", related(*POOL), limit=20)
    assert (found.record, found.rank, found.scored, found.dropped_by) == (None, None, None, "unknown")
    assert found.answer.startswith("No record EXP-odl in the pool; did you mean EXP-old")
    assert found.answer.endswith("?")
    waiting = absence_of("zzz", related(*POOL), is_partial=True, limit=20)
    assert waiting.answer == "No record zzz in the pool. The pool is still being read: it may yet come."
    assert absence_of("", related(*POOL), limit=20).dropped_by == "unknown"


def test_a_name_that_may_be_several() -> None:
    twice = [record("mlflow:7", {**BASE, "lr": 1}), record("wandb:7", {**BASE, "lr": 2})]
    found = absence_of("7", related(*twice), limit=20)
    assert (found.answer, found.dropped_by) == ("7 is 2 records: mlflow:7, wandb:7.", "unknown")


def test_where_there_is_no_list() -> None:
    empty = related(*POOL, config="tags: []\n")
    found = absence_of("EXP-old", empty, limit=20)
    assert (found.record, found.dropped_by) == ("EXP-old", None)
    assert found.answer == "There is no list yet: the file states nothing that could be ranked by."


def test_a_long_list_and_no_list() -> None:
    many = [scored(f"r{place}", 0.5, {**BASE, "lr": place}, timestamp="2026-11-30") for place in range(4)]
    found = related(OLD, *many)
    assert "It is number 5 of 5, and the first 3 are listed." in absence_of("EXP-old", found, limit=3).answer
    assert absence_of("EXP-old", found, limit=0).answer == "It is number 5 of 5, and none is listed for its score."
