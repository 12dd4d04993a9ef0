"""Real journals and tables made by other people, where they are at hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tried.pool.outcome import cause_of, is_dead_end, worked
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.sources.discovery import discover
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.tables.results_table import ResultsTableSource

DATA = Path(__file__).parents[2].parent / "shared" / "data"
JOURNAL = DATA / "pool.jsonl"
STORES = DATA / "stores"
NO_DATES = {"PLACEHOLDER", "pending", "FILL_AFTER_RUN"}

pytestmark = pytest.mark.skipif(not JOURNAL.exists(), reason=f"no real data at {DATA}")


@pytest.fixture(scope="module")
def written() -> list[dict[str, Any]]:
    return [json.loads(line) for line in JOURNAL.read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="module")
def snapshot() -> PoolSnapshot:
    return Pool([JournalSource(JOURNAL)]).refresh()


def test_every_line_is_a_record_and_nothing_is_skipped(snapshot: PoolSnapshot, written: list[dict[str, Any]]) -> None:
    assert list(snapshot.records) == [item["id"] for item in written]
    assert snapshot.sources[0].skipped == ()


def test_times_that_are_none_are_remarked_on_and_nothing_else_is(
    snapshot: PoolSnapshot, written: list[dict[str, Any]]
) -> None:
    assert [remark.where for remark in snapshot.sources[0].remarks] == [
        f"line {number}" for number, item in enumerate(written, 1) if item.get("timestamp") in NO_DATES
    ]


def test_a_round_trip_loses_nothing(snapshot: PoolSnapshot, written: list[dict[str, Any]]) -> None:
    for item, record in zip(written, snapshot.records.values(), strict=True):
        expected = _as_we_write_it(item)
        found = json.loads(record.to_json())
        if record.derivation is not None and record.derivation.computed:
            stated, filled = expected.pop("derivation", {}), found.pop("derivation")
            assert {key: filled.get(key) for key, value in stated.items() if value} == {
                key: value for key, value in stated.items() if value
            }
        assert found == expected


def _as_we_write_it(item: dict[str, Any]) -> dict[str, Any]:
    """A bare delta as an object, an infinite metric (a commit such as 1e464 that was taken for a number) as text."""
    derivation = dict(item.get("derivation") or {})
    if derivation.get("metric_delta"):
        deltas = derivation["metric_delta"].items()
        derivation["metric_delta"] = {k: v if isinstance(v, dict) else {"delta": v} for k, v in deltas}
        item = {**item, "derivation": derivation}
    return {**item, "metrics": {k: "inf" if v == math.inf else v for k, v in item["metrics"].items()}}


def test_judgements_follow_the_verdict_else_the_outcome_and_the_deltas(
    snapshot: PoolSnapshot, written: list[dict[str, Any]]
) -> None:
    """All metrics with a delta in this pool have directions that can be listed by hand."""
    low = {"val_bpb", "score_bpb", "val_loss", "val_rmse", "best_val_bpb", "macro_loss"}
    high = {"val_bpb_gain_as_written", "rmse_improvement", "val_psnr", "score", "mfu"}
    for item, record in zip(written, snapshot.records.values(), strict=True):
        if record.derivation is not None and record.derivation.computed and "verdict" not in item:
            continue  # judged by what its parent had
        if "verdict" in item:
            expected = item["verdict"] == "dead_end"
        elif (item.get("conclusion") or {}).get("outcome") == "crashed":
            expected = True
        else:
            deltas = ((item.get("derivation") or {}).get("metric_delta") or {}).items()
            signs = [
                math.copysign(1, change) * (1 if metric in low else -1) if change else 0
                for metric, delta in deltas
                if metric in low | high and (change := delta["delta"] if isinstance(delta, dict) else delta) is not None
            ]
            expected = bool(signs) and all(sign > 0 for sign in signs)
        assert is_dead_end(record) is expected, item["id"]
        assert not (expected and worked(record))
        assert (cause_of(record) is not None) is expected


def test_coverage_is_what_can_be_counted(snapshot: PoolSnapshot, written: list[dict[str, Any]]) -> None:
    coverage = snapshot.totals.coverage
    assert coverage.timestamp == sum("timestamp" in d and d["timestamp"] not in NO_DATES for d in written) / len(
        written
    )
    assert coverage.architecture == sum("architecture" in item for item in written) / len(written)
    assert coverage.conclusion == sum("conclusion" in item for item in written) / len(written)


def rows_of(path: Path) -> Iterator[list[str]]:
    for line in path.read_text(encoding="utf-8").splitlines()[1:]:
        if line.strip() and not line.startswith("#") and "\t" in line:
            yield line.split("\t")


@pytest.mark.parametrize("store", ["autoresearch-tsv", "rtx5070-tsv"])
def test_every_row_of_every_real_table_is_read_with_its_verdict(store: str) -> None:
    tables = sorted((STORES / store).rglob("*.tsv"))
    assert tables
    for path in tables:
        header = path.read_text(encoding="utf-8").splitlines()[0].split("\t")
        rows = list(rows_of(path))
        delta = ResultsTableSource(path, STORES).scan(None)
        assert delta.skipped == ()
        assert [record.name for record in delta.upserts] == [row[header.index("description")].strip() for row in rows]
        statuses = Counter(row[header.index("status")] for row in rows)
        judged = Counter(record.verdict or record.outcome for record in delta.upserts)
        assert judged == Counter(
            {"works": statuses["keep"], "dead_end": statuses["discard"], "crashed": statuses["crash"]}
        )
        assert len({record.id for record in delta.upserts}) == len(rows)


def test_tables_are_recognised_by_what_they_say_of_their_rows() -> None:
    kinds = ("results-table", "journal")
    found = {s.path.relative_to(STORES).as_posix() for s in discover(STORES).sources if s.kind in kinds}
    every = {path.relative_to(STORES).as_posix() for path in STORES.rglob("*.tsv")}
    assert found == every | {"soma/notebooks/.soma/experiments.jsonl", "rogii-jsonl/experiments.jsonl"}


def test_no_row_of_a_pool_of_all_stores_is_lost() -> None:
    pool = Pool(discover(STORES).sources)
    snapshot = pool.refresh()
    said = sum(report.records for report in snapshot.sources)
    twice = sum(report.merged for report in snapshot.sources if report.kind == "soma")
    assert twice == 8, "soma's journal has these runs, too"
    assert len(snapshot) == said - twice > 1400
    assert pool.refresh() is snapshot
    in_lines = [r for r in snapshot.records if not r.startswith(("mlflow:", "wandb:", "sacred:", "soma:", "run_"))]
    assert len(in_lines) > 1400
    for record_id in in_lines[::97]:
        place = pool.place_of(record_id)
        assert place is not None, record_id
        path, line = place
        text = path.read_text(encoding="utf-8").splitlines()[line - 1]
        assert snapshot.records[record_id].name[:30] in text
