"""A store of Sacred that somebody else's experiments left, read completely."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tried.pool.sources.kit import scan_all
from tried.pool.sources.sacred_runs import SacredRunsSource

STORE = Path(__file__).parents[2].parent / "shared" / "data" / "stores" / "sacred-uncertainty"

pytestmark = pytest.mark.skipif(not STORE.exists(), reason="the real stores are not here (../shared/data/stores)")


def test_every_run_is_read() -> None:
    said = scan_all(SacredRunsSource(STORE / "runs", STORE))
    records = said.records
    assert (len(records), said.skipped) == (44, ())
    assert [record_id.rpartition("/")[2] for record_id in records] == [str(n) for n in range(1, 46) if n != 39]
    assert Counter((record.outcome, record.cause) for record in records.values()) == {
        ("completed", None): 32,
        ("failed", "code_error"): 7,
        ("failed", "out_of_memory"): 4,
        ("stopped", "stopped"): 1,
    }
    out_of_memory = [record_id for record_id, record in records.items() if record.cause == "out_of_memory"]
    assert out_of_memory == [f"sacred:runs/{number}" for number in (30, 31, 32, 36)]
    first = records["sacred:runs/3"]
    assert first.name == "uncertainty-quality dataset_settings.name=protein_structure"
    assert first.params["model_settings"]["layers"] == [50, 50]
    assert (first.params["num_experiments"], first.params["seed"]) == (10, 1337)
    assert first.timestamp == "2017-09-18T19:46:54.188297Z"
    assert first.duration is not None
    assert first.duration.secs == 2461
    assert first.git == {"sha": "0a287fc26fdb19c3f613e4b52e23bab7aa15f9e7", "dirty": False}
    assert first.research_line == "uncertainty-quality"
    assert records["sacred:runs/31"].generated_headline == "out of memory after 19 s"
    assert records["sacred:runs/33"].generated_headline == (
        "failed after 5 h: AttributeError: 'Melanoma' object has no attribute 'classes'"
    )
    assert records["sacred:runs/43"].generated_headline == (
        "failed after 0 s: NameError: name 'classes' is not defined"
    )
    assert records["sacred:runs/45"].generated_headline == "stopped after 81 s"
    assert records["sacred:runs/6"].error is not None
    assert records["sacred:runs/6"].error.endswith("can't decode byte 0x96 in position 0: invalid start byte")
