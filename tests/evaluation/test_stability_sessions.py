from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.evaluation.noisy_vectors import EMBEDDER_ID, NOISE, NOISES, query_vector, with_vectors
from tried.evaluation.record_configs import config_of_record
from tried.evaluation.stability import NO_USE, observe, ranking_by
from tried.evaluation.stability_drafts import drafts_of_records
from tried.evaluation.stability_sessions import (
    AGAIN,
    DAY_LATER,
    NOISY,
    POOL_GROWN,
    editing_session,
    moments_in,
    noisy_session,
    one_percent,
)
from tried.pool.record import Embedding, ExperimentRecord
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY
from tried.ranking.query import RetrievalQuery

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def ask(text: str) -> RetrievalQuery:
    return RetrievalQuery(text=text)


def test_an_editing_session_changes_one_thing_at_a_time() -> None:
    text = "lr: 0.1\nsteps: 300\n"
    session = editing_session("q", text, "yaml", ask, NOW, frozenset("ab"), ["c"])
    assert (session.first.query.text, session.first.now, session.first.among) == (text, NOW, frozenset("ab"))
    assert [step.change for step in session.steps] == [
        *["value nudged"] * 2,
        "key moved",
        *["half a line typed"] * 2,
        POOL_GROWN,
        DAY_LATER,
        AGAIN,
    ]
    *edits, grown, later, again = (step.situation for step in session.steps)
    assert [each.query.text for each in edits] == [
        "lr: 0.11\nsteps: 300\n",
        "lr: 0.1\nsteps: 330\n",
        "steps: 300\nlr: 0.1\n",
        "lr:\nsteps: 300\n",
        "lr: 0.1\nsteps\n",
    ]
    assert {(each.now, each.among) for each in edits} == {(NOW, frozenset("ab"))}
    assert (grown.query, grown.now, grown.among) == (session.first.query, NOW, frozenset("abc"))
    assert (later.query, later.now, later.among) == (session.first.query, NOW + timedelta(days=1), frozenset("ab"))
    assert again == session.first


def test_without_newcomers_the_pool_does_not_grow() -> None:
    session = editing_session("q", "", "yaml", ask, NOW, frozenset("ab"), ())
    assert [step.change for step in session.steps] == [DAY_LATER, AGAIN]


def test_one_percent_is_rounded_up() -> None:
    assert [one_percent(count) for count in (0, 1, 100, 101, 7301)] == [0, 1, 1, 2, 74]


def cosine(one: list[float], other: list[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(math.fsum(a * a for a in one) * math.fsum(b * b for b in other))


def vector_of(record: ExperimentRecord) -> list[float]:
    (made,) = with_vectors([record])
    assert made.embedding is not None
    assert made.embedding.embedder_id == EMBEDDER_ID
    return made.embedding.vector


def test_vectors_of_the_same_words_are_close_and_of_others_are_not() -> None:
    record = ExperimentRecord(id="r", name="cosine schedule warmup", embedding=Embedding(embedder_id="x", vector=[1.0]))
    calm = cosine(query_vector("cosine warmup schedule"), vector_of(record))
    assert calm > 0.8
    assert abs(cosine(query_vector("vocoder dropout"), vector_of(record))) < 0.5
    assert record.embedding is not None
    assert record.embedding.vector == [1.0]


@given(st.text(min_size=1, max_size=8), st.text(max_size=30), st.text(max_size=30), st.integers(0, NOISES - 1))
def test_the_noise_of_a_cosine_is_bounded_and_its_own(record_id: str, name: str, text: str, noise: int) -> None:
    """Words or none: neither vector may be of another length than usual."""
    record = ExperimentRecord(id=record_id, name=name)
    calm, noisy = query_vector(text), query_vector(text, noise)
    assert query_vector(text, noise) == noisy
    vector = vector_of(record)
    assert abs(cosine(noisy, vector) - cosine(calm, vector)) <= NOISE + 1e-12


def test_noise_is_as_large_as_it_says_and_as_often_up_as_down() -> None:
    """A noise that is even in ±0.05 has a deviation of 0.05/√3; of 4,000 its mean is within 0.002 (over 4 errors)."""
    calm, noisy = query_vector("schedule warmup"), query_vector("schedule warmup", 3)
    off = []
    for number in range(4_000):
        vector = vector_of(ExperimentRecord(id=f"r{number}", name="cosine schedule warmup"))
        off.append(cosine(noisy, vector) - cosine(calm, vector))
    assert abs(math.fsum(off) / len(off)) < 0.002
    assert 0.0495 < max(off) <= NOISE + 1e-12
    assert -NOISE - 1e-12 <= min(off) < -0.0495
    assert math.sqrt(math.fsum(each * each for each in off) / len(off)) == pytest.approx(0.05 / math.sqrt(3), rel=0.05)


def test_noise_moves_a_list_of_records_that_are_nearly_alike() -> None:
    records = with_vectors(
        ExperimentRecord(id=f"r{number:02}", name=f"warmup schedule {word}")
        for number, word in enumerate(["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"])
    )
    pool = frozenset(record.id for record in records)
    session = noisy_session("q", RetrievalQuery(text="warmup schedule"), NOW, pool)
    assert [step.change for step in session.steps] == [NOISY] * NOISES
    observed = observe(session, ranking_by(DEFAULT_POLICY, RankingIndex.of(records), 10), 10, NO_USE)
    assert all(set(each.shown) == pool for each in observed)
    assert len({each.shown for each in observed}) > NOISES // 2


def test_the_latest_record_of_a_pool_comes_first() -> None:
    index = RankingIndex.of(
        ExperimentRecord(id=name, timestamp=time)
        for name, time in (("b", "2026-01-02"), ("x", None), ("a", "2026-01-02"), ("c", "2026-03-01T12:00:00Z"))
    )
    index = index.updated(["c"], [ExperimentRecord(id="d", timestamp="2025-01-01")])
    assert list(moments_in(index).items()) == [
        ("a", datetime(2026, 1, 2, tzinfo=UTC)),
        ("b", datetime(2026, 1, 2, tzinfo=UTC)),
        ("d", datetime(2025, 1, 1, tzinfo=UTC)),
        ("x", None),
    ]


def test_a_record_gives_the_config_that_it_could_have_been_started_from() -> None:
    record = ExperimentRecord(
        id="r",
        name="long warmup",
        hypothesis="it stays calm",
        notes="it did not",
        params={"optimizer": {"lr": 0.1}, "dataset": "cifar"},
        metrics={"loss": 1.0},
    )
    text = config_of_record(record)
    assert text is not None
    (draft,) = drafts_of(parse(text, "json"), text)
    assert (draft.name, draft.prose) == ("long warmup", ("it stays calm",))
    assert {parameter.key: parameter.entry.value for parameter in draft.parameters} == {
        "name": "long warmup",
        "hypothesis": "it stays calm",
        "optimizer.lr": 0.1,
        "dataset": "cifar",
    }
    assert "did not" not in text
    assert "loss" not in text
    assert config_of_record(ExperimentRecord(id="r", name="bare")) is None


def test_a_record_as_a_draft_knows_nothing_of_what_came_later() -> None:
    records = [
        ExperimentRecord(id=name, timestamp=time, params={"lr": 0.1})
        for name, time in (
            ("a", "2026-01-01"),
            ("b", "2026-01-02"),
            ("c", "2026-01-03"),
            ("d", "2026-01-04"),
            ("u", None),
        )
    ]
    bare = ExperimentRecord(id="bare", name="without parameters", timestamp="2026-01-02")
    moments = moments_in(RankingIndex.of([*records, bare]))
    drafts = {draft.name: draft for draft in drafts_of_records([*records, bare], moments, ask, NOW)}
    assert list(drafts) == ["a", "b", "c", "d", "u"]
    # Of the same day and without a time: nobody knows that they came later.
    assert (drafts["b"].pool, drafts["b"].newcomers) == (frozenset({"a", "bare", "u"}), ("c",))
    assert drafts["b"].now == datetime(2026, 1, 2, tzinfo=UTC)
    assert (drafts["d"].pool, drafts["d"].newcomers) == (frozenset({"a", "b", "bare", "c", "u"}), ())
    assert (drafts["u"].pool, drafts["u"].now) == (frozenset({"a", "b", "bare", "c", "d"}), NOW)
    assert POOL_GROWN in [step.change for step in drafts["b"].editing.steps]
    assert drafts["b"].noisy.first.query.vector == query_vector(drafts["b"].text)


def test_a_record_too_deep_to_write_gives_none() -> None:
    deep: dict[str, object] = {"lr": 0.1}
    for _ in range(100_000):
        deep = {"a": deep}
    assert config_of_record(ExperimentRecord.model_construct(id="r", name="", hypothesis=None, params=deep)) is None


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_values_that_json_does_not_know_are_no_error(value: float) -> None:
    text = config_of_record(ExperimentRecord(id="r", params={"lr": value, "steps": 3}))
    assert text is not None
    assert drafts_of(parse(text, "json"), text)[0].parameters
