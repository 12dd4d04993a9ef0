"""Small pools in memory and what is analysed beside them, for tests of the list of related experiments."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tried.analysis import Analysis, analyse
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY
from tried.related.experiments import NO_FILTER, Filter, RelatedExperiments
from tried.settings import Settings

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BASE: Mapping[str, Any] = {"lr": 0.01, "depth": 4, "width": 128, "dropout": 0.1}
CONFIG = "research_line: vision\nlr: 0.01\ndepth: 4\nwidth: 128\ndropout: 0.1\n"
WELL = {"outcome": "completed"}


def record(record_id: str, params: Mapping[str, Any] | None = None, **fields: Any) -> ExperimentRecord:
    """Of the line "vision", with BASE where nothing else is said."""
    data = {"id": record_id, "params": dict(BASE if params is None else params), "research_line": "vision", **fields}
    return ExperimentRecord.model_validate(data)


def scored(
    record_id: str, accuracy: float | str, params: Mapping[str, Any] | None = None, **fields: Any
) -> ExperimentRecord:
    """A completed run that is judged by `val_acc`, which is better high."""
    return record(record_id, params, **{"metrics": {"val_acc": accuracy}, "conclusion": WELL, **fields})


def snapshot_of(*records: ExperimentRecord) -> PoolSnapshot:
    return PoolSnapshot(
        records={each.id: each for each in records},
        history=ParameterHistory.empty().updated((), records),
        index=RankingIndex.of(records),
    )


def analysed(snapshot: PoolSnapshot, config: str = CONFIG) -> Analysis:
    return analyse(config, Path("config.yaml"), "yaml", NOW, snapshot=snapshot, settings=Settings())


def related_in(snapshot: PoolSnapshot, config: str = CONFIG, chosen: Filter = NO_FILTER) -> RelatedExperiments:
    return RelatedExperiments(analysed(snapshot, config), snapshot, FindingSettings(), DEFAULT_POLICY, NOW, chosen)


def related(*records: ExperimentRecord, config: str = CONFIG, chosen: Filter = NO_FILTER) -> RelatedExperiments:
    return related_in(snapshot_of(*records), config, chosen)
