"""Every results table that others made and that is at hand, row by row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tried.pool.outcome import is_dead_end
from tried.pool.record import ExperimentRecord
from tried.pool.sources.kit import scan_all
from tried.pool.sources.tables.results_table import ResultsTableSource

STORES = Path(__file__).parents[2].parent / "shared" / "data" / "stores"
TABLES = sorted(path.relative_to(STORES).as_posix() for path in STORES.rglob("*.tsv"))

pytestmark = pytest.mark.skipif(not TABLES, reason=f"no real data at {STORES}")

# What is read of each table, counted by hand: rows, and how many of them stand for a dead end by the table's own word.
COUNTS = {
    "autoresearch-tsv/exp-H100-mar8/results.tsv": (126, 102),
    "autoresearch-tsv/pr109/dojo_results.tsv": (31, 3),
    "autoresearch-tsv/pr109/loop_results.tsv": (116, 91),
    "autoresearch-tsv/pr238/phase2/results.tsv": (24, 12),
    "autoresearch-tsv/pr245/results.tsv": (18, 16),
    "hdr-tsv/applications/building_permits/results.tsv": (149, 44),
    "hdr-tsv/applications/housing_crashes/results.tsv": (34, 0),
    "hdr-tsv/applications/paint_formulation/results.tsv": (228, 191),
    "hdr-tsv/applications/xylella_olives/results.tsv": (31, 0),
    "rtx5070-tsv/results.tsv": (69, 42),
}


def records_in(table: str) -> tuple[dict[str, ExperimentRecord], list[tuple[str, str]]]:
    said = scan_all(ResultsTableSource(STORES / table, STORES))
    found = {record.id.rsplit(":", 1)[1]: record for record in said.records.values()}
    return found, [(skipped.where, skipped.why) for skipped in said.skipped]


@pytest.mark.parametrize("table", TABLES)
def test_every_row_is_a_record_or_told(table: str) -> None:
    found, skipped = records_in(table)
    lines = (STORES / table).read_text(encoding="utf-8").splitlines()
    header = lines[0]
    rows = [
        number
        for number, line in enumerate(lines, 1)
        if number > 1 and line.strip() and line != header and not (line.startswith("#") and "\t" not in line)
    ]
    lost = {int(where.removeprefix("line ")) for where, why in skipped if "fewer than two cells" in why}
    assert lost <= set(rows)
    assert len(found) == len(rows) - len(lost)
    # Only rows of a single cell are left out.
    assert all(len([cell for cell in lines[number - 1].split("\t") if cell.strip()]) < 2 for number in lost)


@pytest.mark.parametrize("table", [table for table in TABLES if table in COUNTS])
def test_counts(table: str) -> None:
    found, _ = records_in(table)
    assert (len(found), sum(record.verdict == "dead_end" for record in found.values())) == COUNTS[table]


def test_there_are_as_many_tables_as_there_should_be() -> None:
    assert len(TABLES) == 33
    assert set(COUNTS) <= set(TABLES)


def test_spot_values() -> None:
    h100, _ = records_in("autoresearch-tsv/exp-H100-mar8/results.tsv")
    assert h100["bea057b"].metrics == {"val_bpb": 0.986041, "memory_gb": 43.9}
    assert h100["bea057b"].name == "halve batch 524K to 262K (more steps in 5 min)"
    assert h100["bea057b"].parent == h100["baseline"].id
    assert (h100["e05a87d"].outcome, h100["e05a87d"].metrics) == ("crashed", {})
    houses, _ = records_in("autoresearch-tsv/pr438/results.tsv")
    assert houses["38d3f12"].metrics == {"val_rmse": 30562.604406, "cv_rmse_log": 0.128785}
    assert is_dead_end(houses["38d3f12"])
    phase2, _ = records_in("autoresearch-tsv/pr238/phase2/results.tsv")
    raised = next(record for record in phase2.values() if record.name == "increase MATRIX_LR to 0.05")
    assert raised.metrics["val_bpb"] == 1.441536
    assert raised.derivation is not None
    assert (raised.derivation.changes[0].key, raised.derivation.changes[0].to) == ("MATRIX_LR", "0.05")
    paint, _ = records_in("hdr-tsv/applications/paint_formulation/results.tsv")
    matting = next(r for name, r in paint.items() if name.startswith("E009") and r.metrics.get("mae") == 1.8431)
    assert matting.metrics == {"mae": 1.8431, "rmse": 2.4372, "r2": 0.1513, "prior": 0.40}
    assert matting.params == {"target": "scratch_hardness_N"}
    assert matting.verdict == "dead_end"
    assert matting.notes == "family=ridge feats=1"
    heat, _ = records_in("hdr-tsv/applications/heat_mortality/results.tsv")
    night = next(record for record in heat.values() if record.name == "add tw_night_c_min")
    assert night.metrics["cv_mae_deaths"] == 45.603
    assert night.params["model"] == "extratrees"
    assert night.verdict == "dead_end"
    permits, _ = records_in("hdr-tsv/applications/building_permits/results.tsv")
    assert permits["H093"].metrics["cv_mae_days"] == 89.333
    assert permits["H093"].params == {"model": "xgb", "extra_features": "+era_bin"}
    olives, _ = records_in("hdr-tsv/applications/xylella_olives/results.tsv")
    assert olives["E06"].metrics["cv_auc_mean"] == 0.7841392089284531
    assert olives["E06"].verdict is None
    crashes, _ = records_in("hdr-tsv/applications/housing_crashes/results.tsv")
    assert crashes["E00"].tags == ["baseline"]
    assert crashes["E00"].metrics["roc_auc"] == 0.7304
    assert {record.parent for record in crashes.values()} == {None}
    steps, _ = records_in("rtx5070-tsv/results.tsv")
    assert steps["6d75a72"].metrics["val_bpb"] == 1.265325
    assert steps["6d75a72"].metrics["num_steps"] == 686
    assert steps["6d75a72"].verdict == "dead_end"


def test_a_word_in_the_notes_is_a_verdict_only_where_it_stands_alone() -> None:
    for name in ("building_permits", "heat_mortality"):
        table = f"hdr-tsv/applications/{name}/results.tsv"
        found, _ = records_in(table)
        said = [line for line in (STORES / table).read_text().splitlines() if re.search(r"\bREVERT\b", line)]
        assert sum(record.verdict == "dead_end" for record in found.values()) == len(said)
