"""Records and queries from a small world, so that they have much in common and tie often."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint
from tried.pool.record import Embedding, ExperimentRecord
from tried.ranking import DecayPenalty, Hit, HitBoost, LexicalBonus, Policy, RetrievalQuery, Weights

NOW = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)

WORDS = ("lr", "warmup", "MoSHead", "AdamW", "loss", "学习率", "α", "3e-4", "B16")
TOKENS = ("filter:Conv", "filter:ReLU", "step:Train", "branch")

texts = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
keys = st.sampled_from(("lr", "batch_size", "optimizer.name", "ValLoss"))
numbers = st.floats(-2, 2, allow_nan=False)


@st.composite
def architectures(draw: st.DrawFn) -> ArchitectureFingerprint:
    nodes = draw(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(TOKENS), max_size=4))
    ends = st.sampled_from(("a", "b", "c", "d"))
    edges = st.builds(ArchitectureEdge, source=ends, target=ends, kind=st.sampled_from(("data", "control")))
    return ArchitectureFingerprint.of(nodes, draw(st.lists(edges, max_size=4)))


embeddings = st.builds(
    Embedding,
    embedder_id=st.sampled_from(("one", "two")),
    vector=st.lists(st.sampled_from((-1.0, 0.0, 0.1, 0.3, 2.0)), min_size=2, max_size=3),
)
timestamps = st.one_of(
    st.none(),
    st.just("soon"),
    st.sampled_from(("0001-01-01T00:00:01Z", "1650-06-07T08:09:10.123457Z", "9999-12-31T23:59:59.999999Z")),
    st.floats(-5, 4000).map(lambda days: (NOW - timedelta(days=days)).isoformat()),
)


@st.composite
def records(draw: st.DrawFn, ids: st.SearchStrategy[str]) -> ExperimentRecord:
    data: dict[str, Any] = {
        "id": draw(ids),
        "name": draw(texts),
        "hypothesis": draw(st.none() | texts),
        "pipeline_summary": draw(texts),
        "notes": draw(st.none() | texts),
        "timestamp": draw(timestamps),
        "params": draw(st.dictionaries(keys, st.just(1), max_size=3)),
        "metrics": draw(st.dictionaries(keys, st.just(0.5), max_size=2)),
        "tags": draw(st.lists(st.sampled_from(("sweep", "FinalRun")), max_size=2)),
        "research_line": draw(st.sampled_from((None, "vision", "text lm"))),
        "source": draw(st.sampled_from((None, "mlflow"))),
        "conclusion": draw(st.none() | st.fixed_dictionaries({"headline": texts, "outcome": st.just("failed")})),
        "derivation": draw(st.none() | st.fixed_dictionaries({"summary": texts})),
        "architecture": draw(st.none() | architectures()),
        "embedding": draw(st.none() | embeddings),
    }
    return ExperimentRecord.model_validate(data)


@st.composite
def queries(draw: st.DrawFn) -> RetrievalQuery:
    embedding = draw(st.none() | embeddings)
    return RetrievalQuery(
        text=draw(texts),
        architecture=draw(st.none() | architectures()),
        vector=embedding.vector if embedding else None,
        embedder_id=embedding.embedder_id if embedding else None,
        research_line=draw(st.sampled_from((None, None, None, "vision", "elsewhere"))),
        tags=draw(st.sampled_from(((), (), ("sweep",), ("sweep", "FinalRun")))),
        source=draw(st.sampled_from((None, None, "mlflow"))),
        ttl_days=draw(st.sampled_from((None, None, 0.0, 90.0))),
    )


ids = st.integers(0, 30).map(str)
pools = st.lists(records(ids), max_size=10, unique_by=lambda record: record.id)
hits = st.dictionaries(
    ids,
    st.builds(Hit, count=st.integers(1, 40), last=st.floats(-3, 400).map(lambda days: NOW - timedelta(days=days))),
    max_size=8,
)
weights = st.sampled_from((0.0, 0.05, 0.2, 3.0))
policies = st.builds(
    Policy,
    weights=st.builds(Weights, lexical=weights, structural=weights, recency=weights, importance=weights),
    half_life_days=st.sampled_from((0.0, 7.0, 30.0, 400.0)),
    lexical_bonus=st.builds(
        LexicalBonus,
        enabled=st.booleans(),
        weight=weights,
        min_ratio=st.sampled_from((0.0, 0.3, 0.5, 1.0)),
        term_cap=st.integers(1, 4),
    ),
    hit_boost=st.builds(
        HitBoost,
        enabled=st.booleans(),
        weight=weights,
        half_saturation=st.sampled_from((0.5, 8.0)),
        tau_days=st.sampled_from((0.0, 14.0)),
    ),
    decay_penalty=st.builds(DecayPenalty, enabled=st.booleans(), weight=weights, tau_days=st.sampled_from((1.0, 30.0))),
    ttl_days=st.sampled_from((None, None, 60.0)),
)
