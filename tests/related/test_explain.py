"""Why a record ranks where it does or is not listed, and that the list of the sidebar says the same of it."""

from __future__ import annotations

import dataclasses
from datetime import timedelta

import pytest
from related_pool import BASE, NOW, analysed, record, scored, snapshot_of

from tried.findings.settings import FindingSettings
from tried.pool.record import ExperimentRecord
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.hits import NO_HITS, Hit, Hits
from tried.ranking.policy import DEFAULT_POLICY, STEADY, Policy, with_overrides
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank
from tried.related.absence import absence_of
from tried.related.dropping import NO_LIST, Question
from tried.related.experiments import NO_FILTER, Filter, RelatedExperiments
from tried.related.explain import Explanation, explanation_of


def run(record_id: str, days: float | None, lr: float, **fields: object) -> ExperimentRecord:
    """So many days old, completed; of the same words as all others."""
    time = (NOW - timedelta(days=days)).isoformat() if days is not None else None
    return scored(record_id, 0.5, {**BASE, "lr": lr}, timestamp=time, **fields)


POOL = (
    run("EXP-1", 0, 0.1),
    run("EXP-2", 30, 0.2, tags=["night"]),
    run("EXP-3", 90.3, 0.3),
    run("EXP-4", None, 0.4),
    record("EXP-5", {**BASE, "depth": 32}, verdict="dead_end", timestamp=NOW.isoformat(), source="mlflow"),
)
"""No two are replicates, so that experiments and records are counted alike."""

WITHIN_90 = with_overrides(DEFAULT_POLICY, {"ttl_days": 90})


def related(
    *records: ExperimentRecord,
    policy: Policy = DEFAULT_POLICY,
    chosen: Filter = NO_FILTER,
    hits: Hits = NO_HITS,
    config: str = "",
) -> RelatedExperiments:
    snapshot = snapshot_of(*(records or POOL))
    analysis = analysed(snapshot, config) if config else analysed(snapshot)
    analysis = dataclasses.replace(analysis, hits=hits, ranking=())  # the list is ranked anew, by this policy
    return RelatedExperiments(analysis, snapshot, FindingSettings(), policy, NOW, chosen)


def explained(named: str, beside: RelatedExperiments, limit: int = 20) -> Explanation:
    return explanation_of(named, beside.snapshot, Question.of(beside), limit)


def without_inputs(scored: ScoredRecord | None) -> ScoredRecord | None:
    """As a list has it."""
    if scored is None:
        return None
    return dataclasses.replace(scored, terms=tuple(dataclasses.replace(each, inputs=None) for each in scored.terms))


def test_the_words_that_it_holds_the_rarest_first() -> None:
    """Only the record itself holds "mixup", one more holds "loss", and all hold the keys."""
    others = [record("EXP-7", BASE, name="loss"), record("EXP-8", BASE)]
    words = record("EXP-6", BASE, name="mixup loss")
    beside = related(words, *others, config="# loss of focal mixup\nlr: 0.1\ndepth: 4\nwidth: 64\ndropout: 0.1\n")
    found = explained("EXP-6", beside)
    assert found.held == ("mixup", "loss", "lr", "depth", "width", "dropout")
    assert found.words > len(found.held)
    assert "focal" in (beside.query.text if beside.query is not None else "")
    assert "focal" not in found.held


def test_a_record_that_is_listed() -> None:
    beside = related(policy=STEADY, hits={"EXP-3": Hit(8, NOW)})
    assert beside.query is not None
    hits = {"EXP-3": Hit(8, NOW)}
    ranked = rank(beside.query, beside.snapshot.index, now=NOW, policy=STEADY, hits=hits, detailed=True)
    for place, each in enumerate(ranked, start=1):
        found = explained(each.record.id, beside)
        answer = f"It is in the list, as number {place}."
        assert found == Explanation(each.record.id, answer, 5, place, each, None, found.held, found.words)
    used = explained("EXP-3", beside).scored
    assert used is not None
    assert {term.name: term.value for term in used.terms}["hit_boost"] == pytest.approx(0.05 * 8 / 16)


@pytest.mark.parametrize("policy", [DEFAULT_POLICY, STEADY, WITHIN_90])
@pytest.mark.parametrize(
    "chosen",
    [
        NO_FILTER,
        Filter(outcome="dead_end"),
        Filter(tag="night"),
        Filter(source="mlflow"),
        Filter(text="EXP-2"),
        Filter(research_line="elsewhere"),
    ],
)
def test_it_agrees_with_the_list_of_the_sidebar(policy: Policy, chosen: Filter) -> None:
    beside = related(policy=policy, chosen=chosen)
    for named in (*(each.id for each in POOL), "EXP-9", ""):
        ours, theirs = explained(named, beside), absence_of(named, beside, limit=20)
        assert (ours.record, ours.answer, ours.rank) == (theirs.record, theirs.answer, theirs.rank)
        assert (without_inputs(ours.scored), ours.dropped_by) == (theirs.scored, theirs.dropped_by)
        if ours.rank is not None:
            assert ours.of == beside.total


def test_too_old_for_the_time_to_live() -> None:
    found = explained("EXP-3", related(policy=WITHIN_90))
    assert (found.dropped_by, found.rank, found.scored, found.of) == ("ttl", None, None, 4)
    assert found.answer == "It is 90.3 days old, and what is older than 90 days is left out (ttl_days)."
    assert explained("EXP-4", related(policy=WITHIN_90)).dropped_by is None  # it has no age


@pytest.mark.parametrize(
    ("days", "ttl", "told"),
    [
        (90.001, 90, "It is 90.001 days old, and what is older than 90 days"),
        (90 + 1e-6 / 86_400, 90, "days old, and what is older than 90 days"),  # a microsecond more
        (1.5, 1, "It is 1.5 days old, and what is older than 1 day "),
        (2000, 0, "It is 2,000 days old, and what is older than 0 days"),
        (40, 0.5, "It is 40 days old, and what is older than 0.5 days"),
    ],
)
def test_the_age_is_told_so_that_one_sees_that_it_is_more(days: float, ttl: float, told: str) -> None:
    policy = with_overrides(DEFAULT_POLICY, {"ttl_days": ttl})
    beside = related(run("EXP-1", days, 0.1), policy=policy)
    for found in (explained("EXP-1", beside), absence_of("EXP-1", beside, limit=20)):
        assert found.dropped_by == "ttl"
        assert told in found.answer
        assert "is 90 days old" not in found.answer


def test_what_is_just_as_old_as_it_may_be_stays() -> None:
    policy = with_overrides(DEFAULT_POLICY, {"ttl_days": 30})
    assert explained("EXP-2", related(policy=policy)).dropped_by is None


def test_the_stricter_time_to_live_holds() -> None:
    beside = related(policy=WITHIN_90)
    question = Question.of(beside)
    assert question is not None
    query = dataclasses.replace(question.query, ttl_days=7.0)
    found = explanation_of("EXP-2", beside.snapshot, dataclasses.replace(question, query=query), 20)
    assert found.answer == "It is 30 days old, and what is older than 7 days is left out (ttl_days)."


def test_the_filter_and_the_age_are_both_told() -> None:
    found = explained("EXP-3", related(policy=WITHIN_90, chosen=Filter(tag="night")))
    assert found.dropped_by == "filter"
    assert found.answer == (
        "The list is narrowed to the tag night, and this one has no tag;"
        " it is 90.3 days old, and what is older than 90 days is left out (ttl_days)."
    )


def test_below_the_cut_for_want_of_a_term_that_the_policy_turns_on() -> None:
    """Recency counts nothing; a boost of up to 0.5 puts EXP-4 with 8 hits (0.25) before the others."""
    knobs = {"weights.recency": 0, "hit_boost.enabled": True, "hit_boost.weight": 0.5}
    beside = related(policy=with_overrides(DEFAULT_POLICY, knobs), hits={"EXP-4": Hit(8, NOW)})
    found = explained("EXP-1", beside, limit=1)
    assert (found.dropped_by, found.of) == ("cut", 5)
    assert found.answer.endswith(
        "most is wanting in how often and how lately it was of use (hit_boost 0.000, there 0.250)."
    )


def test_below_the_cut_for_what_age_takes() -> None:
    """A penalty of up to 1 alone: of 30 days at a tau of 30 it takes 1 − 1/e, of none nothing."""
    knobs = {"weights.recency": 0, "decay_penalty.enabled": True, "decay_penalty.weight": 1}
    beside = related(run("EXP-1", 0, 0.1), run("EXP-2", 30, 0.2), policy=with_overrides(DEFAULT_POLICY, knobs))
    found = explained("EXP-2", beside, limit=1)
    assert found.answer.endswith("most is wanting in what its age takes from it (decay_penalty -0.632, there 0.000).")


def test_below_a_cut_at_nothing() -> None:
    found = explained("EXP-1", related(), limit=0)
    assert (found.dropped_by, found.answer) == (
        "cut",
        f"It is number {found.rank} of 5, and none is listed for its score.",
    )


def test_a_name_that_no_record_has() -> None:
    beside = related()
    found = explained("EXP-9", beside)
    assert (found.record, found.dropped_by, found.of) == (None, "unknown", 5)
    assert "did you mean" in found.answer
    partial = explanation_of("EXP-9", beside.snapshot, Question.of(beside), 20, is_partial=True)
    assert partial.answer == f"{found.answer} The pool is still being read: it may yet come."


def test_a_text_that_states_nothing() -> None:
    beside = related(config="# tried: ignore-file\n")
    assert beside.query is None
    found = explained("EXP-1", beside)
    assert found == Explanation("EXP-1", NO_LIST, 0)
    assert absence_of("EXP-1", beside, limit=20).answer == NO_LIST
    assert explained("EXP-9", beside).dropped_by == "unknown"


def test_several_tags_and_words_of_a_query() -> None:
    snapshot = snapshot_of(*POOL)
    query = RetrievalQuery(tags=("night", "sweep"), source="mlflow", containing="nothing such")
    found = explanation_of("EXP-2", snapshot, Question(snapshot, query, DEFAULT_POLICY, NOW), 20)
    assert found.answer == (
        "The list is narrowed to the tag sweep, and this one has the tag night;"
        " the list is narrowed to mlflow, and this one comes from journal;"
        " the list is narrowed to what contains “nothing such”, and this one does not."
    )
