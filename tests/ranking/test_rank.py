"""Scores worked out by hand, and what a query may ask for."""

import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint
from tried.pool.record import ExperimentRecord
from tried.ranking import Policy, RankingIndex, RetrievalQuery, ScoredRecord, Term, Weights, rank, recency

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def record(id: str, **fields: Any) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": id, **fields})


def days_ago(days: float) -> str:
    return (NOW - timedelta(days=days)).isoformat()


def ids(results: list[ScoredRecord]) -> list[str]:
    return [result.record.id for result in results]


def close(value: float) -> Any:
    return pytest.approx(value, rel=0, abs=1e-12)


def test_weights_in_force_and_score() -> None:
    pool = [record("a", name="alpha", timestamp=days_ago(30)), record("b", name="beta gamma")]
    first, second = rank(RetrievalQuery("alpha"), pool, now=NOW)
    # No query architecture: 0.40, 0.15 and 0.20 stand over their sum, 0.75. a: the best word match, one half-life old,
    # bare importance 0.3. b: importance alone.
    assert ids([first, second]) == ["a", "b"]
    assert first.score == close(0.40 / 0.75 * 1 + 0.15 / 0.75 * 0.5 + 0.20 / 0.75 * 0.3)  # 0.7133…
    assert second.score == close(0.08)
    assert first.components.lexical == 1.0
    assert first.components.recency == 0.5
    assert second.terms == (
        Term("lexical", 0.0, 0.0, 0.40 / 0.75),
        Term("structural", 0.0, None, 0.0, note="the query has no architecture"),
        Term("recency", 0.0, 0.0, 0.15 / 0.75, note="the record has no timestamp"),
        Term("importance", second.terms[3].value, 0.3, 0.20 / 0.75),
    )


def test_bm25_by_hand() -> None:
    pool = [record("a", name="alpha"), record("b", name="beta", notes="alpha")]
    first, second = rank(RetrievalQuery("alpha"), pool, now=NOW)
    # Both hold the word, so idf cancels. Lengths 3 and 3 + 1, 3.5 on average; tf 3 and 1.
    # a: 2.2·3/(3 + 1.2·(0.25 + 0.75·3/3.5)) = 6.6/(57/14); b: 2.2·1/(1 + 1.2·(0.25 + 0.75·4/3.5)) = 2.2/(163/70).
    # b over a: (154/163)/(92.4/57) = 95/163.
    assert (first.components.lexical, second.components.lexical) == (1.0, close(95 / 163))


def test_rare_words_weigh_more_and_repeated_query_terms_count_again() -> None:
    pool = [record("common", name="alpha"), record("rare", name="beta"), record("other", name="alpha")]
    # All lengths are equal, so one match gives 2.2·3/(3 + 1.2) times idf: ln(1 + 1.5/2.5) for alpha, ln(1 + 2.5/1.5).
    alpha, beta = math.log(1.6), math.log(8 / 3)
    once = {r.record.id: r.components.lexical for r in rank(RetrievalQuery("alpha beta"), pool, now=NOW)}
    assert once == {"rare": 1.0, "common": close(alpha / beta), "other": close(alpha / beta)}
    thrice = {r.record.id: r.components.lexical for r in rank(RetrievalQuery("alpha Alpha beta ALPHA"), pool, now=NOW)}
    assert thrice == {"common": 1.0, "other": 1.0, "rare": close(beta / (3 * alpha))}


def test_structure() -> None:
    mine = ArchitectureFingerprint.of(
        {"a": "filter:Conv", "b": "filter:ReLU"}, [ArchitectureEdge(source="a", target="b")]
    )
    pool = [
        record("same", architecture=mine.model_dump()),
        record("half", architecture={"nodes": {"x": "filter:Conv", "y": "filter:MLP"}}),
        record("none"),
    ]
    results = rank(RetrievalQuery(architecture=mine), pool, now=NOW)
    # half: one of three node tokens is shared, no edge is: 0.6·1/3. Structure and importance apply: 0.25 + 0.20 = 0.45.
    assert ids(results) == ["same", "half", "none"]
    assert [result.components.structural for result in results] == [1.0, close(0.2), 0.0]
    assert results[0].score == close((0.25 * 1.0 + 0.20 * 0.3) / 0.45)
    assert [result.terms[1].note for result in results] == [None, None, "the record has no architecture"]


def test_a_query_architecture_without_nodes_does_not_apply() -> None:
    pool = [record("a", architecture={"nodes": {"x": "filter:Conv"}})]
    (result,) = rank(RetrievalQuery(architecture=ArchitectureFingerprint()), pool, now=NOW)
    assert (result.terms[1].signal, result.terms[1].weight, result.components.structural) == (None, 0.0, 0.0)


def test_when_only_importance_applies_the_score_is_importance() -> None:
    (result,) = rank(RetrievalQuery(), [record("a", hypothesis="why")], now=NOW)
    assert result.score == result.components.importance == 0.5
    assert [(term.signal, term.weight, term.value, term.note) for term in result.terms] == [
        (None, 0.0, 0.0, "the query has no terms"),
        (None, 0.0, 0.0, "the query has no architecture"),
        (None, 0.0, 0.0, "no candidate has a timestamp"),
        (0.5, 1.0, 0.5, None),
    ]


def test_words_that_nothing_holds_do_not_apply() -> None:
    (result,) = rank(RetrievalQuery("zeta"), [record("a", name="alpha")], now=NOW)
    assert result.terms[0] == Term("lexical", 0.0, None, 0.0, note="no candidate holds a term of the query")


def test_an_unreadable_timestamp_is_none() -> None:
    results = rank(RetrievalQuery(), [record("a", timestamp="soon"), record("b", timestamp=days_ago(0))], now=NOW)
    assert {r.record.id: r.terms[2].note for r in results} == {"a": "the record has no timestamp", "b": None}


def test_terms_add_up_from_left_to_right() -> None:
    pool = [record(str(n), name="alpha " * n + "beta", timestamp=days_ago(n)) for n in range(12)]
    for result in rank(RetrievalQuery("alpha"), pool, now=NOW):
        assert [term.name for term in result.terms] == ["lexical", "structural", "recency", "importance"]
        values = [term.value for term in result.terms]
        assert result.score == ((values[0] + values[1]) + values[2]) + values[3]
        for term in result.terms:
            assert term.signal is None or (term.weight is not None and term.value == term.weight * term.signal)


def test_an_old_dead_end_that_matches_beats_todays_noise() -> None:
    old = record("old", name="dropout collapse", timestamp=days_ago(365), notes="why", conclusion={"outcome": "failed"})
    fresh = record("fresh", name="batch norm", timestamp=days_ago(0))
    assert ids(rank(RetrievalQuery("dropout collapse"), [fresh, old], now=NOW)) == ["old", "fresh"]


class TestVectors:
    POOL = (
        record("near", name="alpha", embedding={"embedder_id": "m", "vector": [3, 4]}),
        record("against", name="alpha", embedding={"embedder_id": "m", "vector": [-1, 0]}),
        record("other model", name="alpha", embedding={"embedder_id": "n", "vector": [1, 0]}),
        record("longer", name="alpha", embedding={"embedder_id": "m", "vector": [1, 0, 0]}),
        record("zero", name="alpha", embedding={"embedder_id": "m", "vector": [0, 0]}),
        record("broken", name="alpha", embedding={"embedder_id": "m", "vector": [math.nan, 1]}),
        record("none", name="alpha"),
    )

    def lexical(self, query: RetrievalQuery) -> dict[str, float]:
        return {result.record.id: result.components.lexical for result in rank(query, self.POOL, now=NOW)}

    def test_cosine_is_blended_in_only_where_vectors_can_be_compared(self) -> None:
        # cos((1, 0), (3, 4)) = 3/5; a negative cosine is no similarity at all.
        assert self.lexical(RetrievalQuery("alpha", vector=[2.0, 0.0], embedder_id="m")) == {
            "near": close(0.5 * 1 + 0.5 * 0.6),
            "against": 0.5,
            **dict.fromkeys(("other model", "longer", "zero", "broken", "none"), 1.0),
        }

    def test_the_breakdown_shows_both_parts(self) -> None:
        query = RetrievalQuery("alpha", vector=[1, 0], embedder_id="m")
        inputs = {each.record.id: each.terms[0].inputs or {} for each in rank(query, self.POOL, now=NOW, detailed=True)}
        assert (inputs["near"]["normalised"], inputs["near"]["cosine"]) == (1.0, close(0.6))
        assert inputs["none"]["normalised"] == 1.0
        assert "cosine" not in inputs["none"]
        assert all(term.inputs is None for each in rank(query, self.POOL, now=NOW) for term in each.terms)

    def test_without_words_the_vectors_alone_apply(self) -> None:
        lexical = self.lexical(RetrievalQuery(vector=[1, 0], embedder_id="m"))
        assert lexical.pop("near") == close(0.5 * 0.6)
        assert set(lexical.values()) == {0.0}

    @pytest.mark.parametrize("vector", [[0.0, 0.0], [math.inf, 1.0], [math.nan, 0.0], [1.0], [], [1e200, 1e200]])
    def test_a_query_vector_without_direction_or_of_another_length_is_left_out(self, vector: list[float]) -> None:
        result = rank(RetrievalQuery(vector=vector, embedder_id="m"), self.POOL[:2], now=NOW)[0]
        assert result.terms[0].signal is None

    def test_a_vector_needs_its_model(self) -> None:
        with pytest.raises(ValueError, match="embedder_id"):
            RetrievalQuery("alpha", vector=[1.0, 0.0])


class TestRecency:
    @pytest.mark.parametrize(
        ("age", "half_life", "value"),
        [(0, 30, 1.0), (30, 30, 0.5), (60, 30, 0.25), (-3, 30, 1.0), (400, 0, 1.0), (400, -1, 1.0), (7, 7, 0.5)],
    )
    def test_it_halves_with_every_half_life(self, age: float, half_life: float, value: float) -> None:
        assert recency(NOW - timedelta(days=age), NOW, half_life) == close(value)

    def test_fractions_of_a_day_count(self) -> None:
        assert recency(NOW - timedelta(hours=12), NOW, 1.0) == close(math.sqrt(0.5))

    def test_none_is_zero_and_naive_is_utc(self) -> None:
        assert recency(None, NOW) == 0.0
        assert recency(datetime(2026, 4, 1, 12), NOW) == close(0.5)
        assert recency(datetime(2026, 4, 1, 12), NOW.replace(tzinfo=None)) == close(0.5)
        tokyo = timezone(timedelta(hours=9))
        assert recency(datetime(2026, 4, 1, 21, tzinfo=tokyo), NOW) == close(0.5)

    def test_now_may_be_naive(self) -> None:
        pool = [record("a", timestamp=days_ago(30))]
        naive, aware = (rank(RetrievalQuery(), pool, now=now) for now in (NOW.replace(tzinfo=None), NOW))
        assert naive == aware

    def test_the_policy_sets_the_half_life(self) -> None:
        (result,) = rank(
            RetrievalQuery(), [record("a", timestamp=days_ago(7))], now=NOW, policy=Policy(half_life_days=7)
        )
        assert result.components.recency == close(0.5)


class TestPolicy:
    def test_other_weights(self) -> None:
        pool = [record("a", name="alpha", timestamp=days_ago(0))]
        policy = Policy(weights=Weights(lexical=1, structural=9, recency=2, importance=1))
        (result,) = rank(RetrievalQuery("alpha"), pool, now=NOW, policy=policy)
        assert result.score == close((1 * 1 + 2 * 1 + 1 * 0.3) / 4)

    def test_all_weights_zero_give_scores_of_zero_in_order_of_id(self) -> None:
        policy = Policy(weights=Weights(lexical=0, structural=0, recency=0, importance=0))
        results = rank(RetrievalQuery("alpha"), [record("b", name="alpha"), record("a")], now=NOW, policy=policy)
        assert [(result.record.id, result.score) for result in results] == [("a", 0.0), ("b", 0.0)]


class TestFilters:
    POOL = (
        record("a", name="alpha", research_line="vision", tags=["sweep", "v2"], source="mlflow", timestamp=days_ago(1)),
        record("b", name="alpha beta", research_line="vision", tags=["sweep"], timestamp=days_ago(10)),
        record("c", name="alpha", research_line="text", tags=["v2"], source="mlflow"),
    )

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            (RetrievalQuery(), "abc"),
            (RetrievalQuery(research_line="vision"), "ab"),
            (RetrievalQuery(research_line="vis"), ""),
            (RetrievalQuery(tags=("sweep",)), "ab"),
            (RetrievalQuery(tags=["sweep", "v2"]), "a"),
            (RetrievalQuery(tags="v2"), "ac"),
            (RetrievalQuery(source="mlflow"), "ac"),
            (RetrievalQuery(source="mlflow", research_line="text"), "c"),
            # Ten days are within ten days; what has no timestamp has no age.
            (RetrievalQuery(ttl_days=10), "abc"),
            (RetrievalQuery(ttl_days=9.99), "ac"),
            (RetrievalQuery(ttl_days=0), "c"),
            (RetrievalQuery(ttl_days=math.inf), "abc"),
        ],
    )
    def test_what_passes(self, query: RetrievalQuery, expected: str) -> None:
        assert "".join(sorted(ids(rank(query, self.POOL, now=NOW)))) == expected

    def test_statistics_are_those_of_the_candidates(self) -> None:
        filtered = rank(RetrievalQuery("alpha beta", research_line="vision"), self.POOL, now=NOW)
        alone = rank(RetrievalQuery("alpha beta"), self.POOL[:2], now=NOW)
        assert filtered == alone
        assert filtered != rank(RetrievalQuery("alpha beta"), self.POOL, now=NOW)[:2]

    def test_recency_does_not_apply_if_no_candidate_has_a_timestamp(self) -> None:
        (result,) = rank(RetrievalQuery(research_line="text"), self.POOL, now=NOW)
        assert result.terms[2].signal is None

    @pytest.mark.parametrize("days", [-1, math.nan])
    def test_an_impossible_age_is_refused(self, days: float) -> None:
        with pytest.raises(ValueError, match="ttl_days"):
            RetrievalQuery(ttl_days=days)


class TestOrderAndLimit:
    def test_ties_break_on_id_by_code_point(self) -> None:
        pool = [record(id, name="same") for id in ("b", "a", "B", "é", "10", "9", "\U0001f600", "\uffee")]
        expected = ["10", "9", "B", "a", "b", "é", "\uffee", "\U0001f600"]
        assert ids(rank(RetrievalQuery("same"), pool, now=NOW)) == expected
        assert ids(rank(RetrievalQuery("same"), pool, now=NOW, limit=3)) == expected[:3]

    def test_limits(self) -> None:
        pool = [record(str(n)) for n in range(5)]
        assert [len(rank(RetrievalQuery(), pool, now=NOW, limit=limit)) for limit in (0, 1, 5, 9, None)] == [
            0,
            1,
            5,
            5,
            5,
        ]
        with pytest.raises(ValueError, match="limit is -1"):
            rank(RetrievalQuery(), pool, now=NOW, limit=-1)

    def test_no_candidates_no_results(self) -> None:
        assert rank(RetrievalQuery("alpha"), [], now=NOW) == []
        assert rank(RetrievalQuery("alpha"), RankingIndex.empty(), now=NOW) == []

    def test_of_two_records_with_one_id_the_last_counts(self) -> None:
        (result,) = rank(RetrievalQuery(), [record("a", name="first"), record("a", name="last")], now=NOW)
        assert result.record.name == "last"

    def test_the_limit_is_exact_among_scores_that_differ_in_their_last_bits(self) -> None:
        """Ages a microsecond apart: what numpy's exponential cannot tell apart, the formula must."""
        start = NOW - timedelta(days=11)
        pool = [record(f"{n:04}", timestamp=(start + timedelta(microseconds=n % 97)).isoformat()) for n in range(2000)]
        everything = rank(RetrievalQuery(), pool, now=NOW)
        assert len({result.score for result in everything}) > 50
        for limit in (1, 7, 100, 1999):
            assert rank(RetrievalQuery(), pool, now=NOW, limit=limit) == everything[:limit]


def test_declared_directions_reach_importance() -> None:
    pool = [record("a", derivation={"metric_delta": {"thing": {"before": 1.0, "after": 0.5}}})]
    down = rank(RetrievalQuery(), pool, now=NOW, directions={"thing": "min"})[0].components.importance
    up = rank(RetrievalQuery(), pool, now=NOW, directions={"thing": "max"})[0].components.importance
    assert (down, up) == (close(0.6), close(0.4))  # 0.3, 0.1 for the derivation, 0.2 if improved
    index = RankingIndex.of(pool, {"thing": "min"})
    assert rank(RetrievalQuery(), index, now=NOW)[0].components.importance == down
    assert rank(RetrievalQuery(), index, now=NOW, directions={"thing": "min"})[0].components.importance == down
    with pytest.raises(ValueError, match="not those of the index"):
        rank(RetrievalQuery(), index, now=NOW, directions={"thing": "max"})


def test_a_query_of_a_whole_log_still_answers() -> None:
    pool = [record(str(n), name="loss alpha") for n in range(50)]
    (first, *_) = rank(RetrievalQuery("loss " * 1_000_000), pool, now=NOW)
    assert first.components.lexical == 1.0
