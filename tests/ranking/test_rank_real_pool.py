"""Real records, made by many hands: the same bits as the plain formula, and as an index that grew."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from naive_ranking import naive_rank

from tried.pool.record import ExperimentRecord
from tried.ranking import RankingIndex, RetrievalQuery, rank

POOL = Path(__file__).parents[3] / "shared" / "data" / "pool.jsonl"
NOW = datetime(2026, 11, 1, tzinfo=UTC)

pytestmark = pytest.mark.skipif(not POOL.exists(), reason=f"real records are not here: {POOL}")


def test_every_twentieth_record() -> None:
    with POOL.open(encoding="utf-8") as lines:
        pool = [ExperimentRecord.model_validate_json(line) for n, line in enumerate(lines) if n % 20 == 0]
    whole = RankingIndex.of(pool)
    grown = RankingIndex.empty()
    for start in range(0, len(pool), 7):
        grown = grown.updated((), pool[start : start + 7])
    assert len(pool) > 300
    shaped = [record.architecture for record in pool if record.architecture]
    for text, architecture in (
        ("Muon optimizer learning rate → 0.04, weight decay 0.1", None),
        ("OOM at batch size 64", shaped[0]),
        (" ".join(record.headline for record in pool[:15]), shaped[-1]),
    ):
        query = RetrievalQuery(text, architecture=architecture)
        results = rank(query, whole, now=NOW)
        assert [(result.record.id, result.score) for result in results] == [
            (id, score) for id, score, *_ in naive_rank(query, pool, NOW)
        ]
        assert rank(query, grown, now=NOW, limit=25) == results[:25]
