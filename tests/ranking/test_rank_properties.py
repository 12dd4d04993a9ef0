"""The ranking against an independent, naive one, and indexes built in any way against each other."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_ranking import naive_rank
from ranking_strategies import NOW, hits, policies, queries, records

from tried.pool.record import ExperimentRecord
from tried.ranking import Hits, Policy, RankingIndex, RetrievalQuery, ScoredRecord, Weights, rank
from tried.ranking.scoring import SIGNALS

ids = st.integers(0, 30).map(str)
pools = st.lists(records(ids), max_size=12)


def facts(results: Sequence[ScoredRecord]) -> list[tuple[object, ...]]:
    return [(result.record.id, result.score, result.components, result.terms) for result in results]


@settings(max_examples=120, deadline=None)
@given(pools, queries())
def test_order_scores_signals_and_weights_have_the_bits_of_the_plain_formula(
    pool: list[ExperimentRecord], query: RetrievalQuery
) -> None:
    pool = list({record.id: record for record in pool}.values())
    results = rank(query, pool, now=NOW)
    expected = naive_rank(query, pool, NOW)
    assert [result.record.id for result in results] == [id for id, *_ in expected]
    for result, (_, score, signals, weights) in zip(results, expected, strict=True):
        found = result.components
        assert (found.lexical, found.structural, found.recency, found.importance) == signals
        assert result.score == score
        assert tuple(term.weight for term in result.terms) == weights


@settings(max_examples=40, deadline=None)
@given(
    pools,
    queries(),
    st.tuples(*[st.sampled_from((0.0, 0.1, 3.0))] * 4),
    st.sampled_from((0.0, 1.0, 365.0)),
)
def test_so_it_does_under_other_policies(
    pool: list[ExperimentRecord],
    query: RetrievalQuery,
    weights: tuple[float, float, float, float],
    half_life: float,
) -> None:
    pool = list({record.id: record for record in pool}.values())
    policy = Policy(weights=Weights(**dict(zip(SIGNALS, weights, strict=True))), half_life_days=half_life)
    results = {result.record.id: result.score for result in rank(query, pool, now=NOW, policy=policy)}
    expected = {id: score for id, score, *_ in naive_rank(query, pool, NOW, weights, half_life)}
    assert results.keys() == expected.keys()
    for id, score in results.items():
        assert score == expected[id]


@settings(max_examples=40, deadline=None)
@given(pools, queries(), st.integers(0, 12))
def test_a_limit_cuts_and_changes_nothing(pool: list[ExperimentRecord], query: RetrievalQuery, limit: int) -> None:
    index = RankingIndex.of(pool)
    assert facts(rank(query, index, now=NOW, limit=limit)) == facts(rank(query, index, now=NOW)[:limit])


deltas = st.lists(st.tuples(st.lists(ids, max_size=8), st.lists(records(ids), max_size=6)), min_size=1, max_size=8)


@settings(max_examples=50, deadline=None)
@given(deltas, queries())
def test_any_series_of_deltas_ranks_as_a_rebuild_does(
    series: list[tuple[list[str], list[ExperimentRecord]]], query: RetrievalQuery
) -> None:
    index = RankingIndex.empty()
    truth: dict[str, ExperimentRecord] = {}
    for removed, upserts in series:
        before, ranked_before = index, facts(rank(query, index, now=NOW))
        index = index.updated(removed, upserts)
        truth = {id: record for id, record in truth.items() if id not in removed}
        truth.update({record.id: record for record in upserts})

        assert facts(rank(query, before, now=NOW)) == ranked_before  # the older snapshot stays as it was
        assert len(index) == len(truth)
        assert {record.id: record for record in index} == truth
        assert {id: index.get(id) for id in truth} == truth
        for id in set(removed) - truth.keys():
            assert index.get(id) is None
    rebuilt = RankingIndex.of(truth.values())
    assert facts(rank(query, index, now=NOW)) == facts(rank(query, rebuilt, now=NOW))
    backwards = RankingIndex.of(reversed(truth.values()))
    assert facts(rank(query, index, now=NOW)) == facts(rank(query, backwards, now=NOW))


@settings(max_examples=40, deadline=None)
@given(deltas, queries(), policies, hits, st.integers(1, 9), st.sampled_from((1, 4, 1_000)))
def test_so_it_does_in_many_segments_under_any_policy_with_hits(
    series: list[tuple[list[str], list[ExperimentRecord]]],
    query: RetrievalQuery,
    policy: Policy,
    used: Hits,
    most_rows: int,
    merge_ratio: int,
) -> None:
    """A segment holds a few records, so that some are merged and others cannot be; `labels` are counted likewise."""

    def ranked(index: RankingIndex, limit: int | None) -> tuple[object, ...]:
        found = rank(query, index, now=NOW, policy=policy, hits=used, limit=limit, also=["1"], detailed=True)
        return facts(found), [each.record.to_json() for each in found]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tried.ranking.index.MOST_ROWS", most_rows)
        patch.setattr("tried.ranking.index.MERGE_RATIO", merge_ratio)
        index = RankingIndex.empty()
        truth: dict[str, ExperimentRecord] = {}
        for removed, upserts in series:
            index = index.updated(removed, upserts)
            truth = {id: record for id, record in truth.items() if id not in removed}
            truth.update({record.id: record for record in upserts})
    rebuilt = RankingIndex.of(truth.values())
    assert index.labels() == rebuilt.labels()
    for limit in (None, 3):
        assert ranked(index, limit) == ranked(rebuilt, limit)
