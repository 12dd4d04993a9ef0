"""Records and queries from a small world, so that they have much in common and tie often."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint
from tried.pool.record import Embedding, ExperimentRecord
from tried.ranking import RetrievalQuery

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
