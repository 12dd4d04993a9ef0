"""The log of a W&B run: what it tells, and what it costs when it is torn, damaged or hostile."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from wandb_files import (
    BLOCK,
    HEADER,
    config_record,
    exit_record,
    field,
    framed,
    history_record,
    item,
    metric_record,
    run_record,
    started_record,
    summary_record,
)

from tried.pool.sources.wandb.frames import NotAWandbLog
from tried.pool.sources.wandb.log import WandbLog, read_log

RUN = run_record("ab12", {"lr": 0.1}, project="denoise", name="näme ✓", notes="a note", tags=["one", "two"], sweep="s1")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run-ab12.wandb"


def read(path: Path, *records: bytes) -> WandbLog:
    path.write_bytes(framed(records))
    return read_log(path)


def test_what_a_run_says(path: Path) -> None:
    log = read(
        path,
        RUN,
        started_record("ab12", 1_772_360_100),
        config_record({"model": {"width": 64}}),
        summary_record({"val_loss": 0.5}),
        summary_record({"val_loss": 0.25, "text": "é"}),
        exit_record(0),
    )
    assert (log.run_id, log.project, log.name, log.notes, log.sweep) == ("ab12", "denoise", "näme ✓", "a note", "s1")
    assert log.tags == ("one", "two")
    assert log.started == datetime(2026, 3, 1, 10, 15, 0, 500_000, UTC)
    assert log.config == {"lr": 0.1, "model": {"width": 64}}
    assert log.summary == {"val_loss": 0.25, "text": "é"}
    assert log.exit_code == 0
    assert (log.records, log.damaged, log.torn, log.left_out) == (6, 0, False, 0)


@pytest.mark.parametrize("code", [1, 255, -9, -15])
def test_exit_codes(path: Path, code: int) -> None:
    assert read(path, RUN, exit_record(code)).exit_code == code


def test_a_run_that_has_not_ended_has_no_exit_code(path: Path) -> None:
    assert read(path, RUN).exit_code is None


def test_later_values_replace_earlier_ones_also_below_a_key(path: Path) -> None:
    nested = field(5, item(["model", "width"], 128) + item(["model", "act", "kind"], "gelu"))
    log = read(path, RUN, config_record({"model": {"width": 64, "depth": 2}}), nested, config_record({"lr": 0.2}))
    assert log.config == {"lr": 0.2, "model": {"width": 128, "depth": 2, "act": {"kind": "gelu"}}}


def test_what_is_removed_is_not_there(path: Path) -> None:
    remove = field(3, field(2, field(1, "gone")) + field(2, field(2, "a") + field(2, "b")))
    log = read(
        path, RUN, summary_record({"gone": 1, "kept": 2}), field(3, item(["a", "b"], 1) + item(["a", "c"], 2)), remove
    )
    assert log.summary == {"kept": 2, "a": {"c": 2}}


def test_the_last_run_record_tells_name_notes_and_tags(path: Path) -> None:
    log = read(path, RUN, run_record("ab12", {"lr": 0.1}, notes="edited", tags=["two", "three"]))
    assert (log.name, log.notes, log.tags) == ("näme ✓", "edited", ("two", "three"))


def test_non_finite_values_and_the_step_at_which_they_began(path: Path) -> None:
    log = read(
        path,
        RUN,
        history_record(0, {"loss": 1.0, "scale": math.inf}),
        history_record(7, {"loss": math.nan}),
        history_record(8, {"loss": math.nan, "acc": -math.inf}),
        summary_record({"loss": math.nan}),
    )
    assert log.first_bad == {"scale": 0, "loss": 7, "acc": 8}
    assert math.isnan(log.summary["loss"])


def test_directions_are_a_goal_or_the_extreme_that_is_kept(path: Path) -> None:
    log = read(
        path,
        metric_record("loss", 1),
        metric_record("reward", 2),
        metric_record("cer", 0, 1),
        metric_record("f1", 0, 2, 5),
        metric_record("both", 0, 1, 2),
        metric_record("mean", 0, 3),
        metric_record("against", 2, 1),
    )
    assert log.directions == {"loss": "min", "reward": "max", "cer": "min", "f1": "max", "against": "max"}


def test_a_record_may_span_blocks_and_a_block_may_end_without_room_for_another(path: Path) -> None:
    long = "x" * (3 * BLOCK)
    first = config_record({"pad": ""})
    # It ends 6 bytes before the block does, too few for the head of another; three lengths grow to three bytes each.
    pad = BLOCK - len(HEADER) - 7 - len(first) - 6 - 6
    log = read(path, config_record({"pad": "p" * pad}), config_record({"long": long}), exit_record(3))
    assert len(framed([config_record({"pad": "p" * pad})])) == BLOCK - 6
    assert log.config == {"pad": "p" * pad, "long": long}
    assert (log.exit_code, log.damaged) == (3, 0)


def test_a_torn_log_gives_what_came_before(path: Path) -> None:
    data = framed([RUN, config_record({"a": 1}), config_record({"b": 2})])
    path.write_bytes(data[:-3])
    log = read_log(path)
    assert log.config == {"lr": 0.1, "a": 1}
    assert log.torn


def test_a_damaged_block_costs_that_block_alone(path: Path) -> None:
    records = [config_record({f"k{number}": "v" * 1000}) for number in range(100)]
    data = bytearray(framed(records))
    data[BLOCK + 10 : BLOCK + 3000] = b"\xff" * 2990
    path.write_bytes(data)
    log = read_log(path)
    assert log.damaged
    assert {f"k{number}" for number in range(25)} <= log.config.keys()
    assert {f"k{number}" for number in range(70, 100)} <= log.config.keys()


def test_of_a_large_log_the_ends_are_read(path: Path) -> None:
    middle = [history_record(step, {"loss": 1.0, "pad": "p" * 500}) for step in range(1000)]
    path.write_bytes(framed([RUN, *middle, summary_record({"loss": 0.5}), exit_record(0)]))
    log = read_log(path, limit=4 * BLOCK)
    assert (log.config, log.summary, log.exit_code) == ({"lr": 0.1}, {"loss": 0.5}, 0)
    assert log.left_out == (path.stat().st_size - 2 * BLOCK) // BLOCK * BLOCK - 2 * BLOCK
    assert not log.damaged


@pytest.mark.parametrize("data", [b"", HEADER[:4], HEADER, HEADER + bytes(100)])
def test_a_log_in_which_nothing_stands_yet(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    log = read_log(path)
    assert (log.records, log.run_id, log.exit_code) == (0, "", None)


def test_another_file_is_no_log(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\x00" * 10)
    with pytest.raises(NotAWandbLog, match="no log of W&B"):
        read_log(path)


def test_values_that_are_no_json_stay_text_and_huge_ones_are_left_out(path: Path) -> None:
    broken = field(5, field(1, field(1, "odd") + field(16, "{not json")))
    deep = field(5, field(1, field(1, "deep") + field(16, "[" * 200_000)))
    log = read(path, broken, deep, config_record({"huge": "x" * (1024 * 1024 + 1)}))
    assert log.config["odd"] == "{not json"
    assert log.config["deep"] == "[" * 200_000
    assert log.config["huge"] is None


def test_lengths_that_lie_reach_for_nothing(path: Path) -> None:
    lie = b"\x8a\x01" + b"\xff\xff\xff\xff\x0f" + field(8, "liar")  # field 17 with 4 GiB of content
    log = read(path, RUN, lie, config_record({"after": 1}))
    assert (log.damaged, log.name) == (1, "näme ✓")
    assert log.config == {"lr": 0.1, "after": 1}


SAMPLE = framed(
    [
        RUN,
        config_record({"model": {"width": 64}}),
        history_record(3, {"loss": math.nan}),
        summary_record({"a": 1}),
        exit_record(1),
    ]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(SAMPLE)))
def test_every_beginning_of_a_log_tells_a_part_of_it(path: Path, cut: int) -> None:
    path.write_bytes(SAMPLE)
    whole = read_log(path)
    path.write_bytes(SAMPLE[:cut])
    log = read_log(path)
    assert log.config.items() <= whole.config.items()
    assert log.summary.items() <= whole.summary.items()
    assert log.exit_code in (None, 1)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(len(HEADER), len(SAMPLE) - 1), noise=st.binary(min_size=1, max_size=40))
def test_no_damage_raises(path: Path, at: int, noise: bytes) -> None:
    data = bytearray(SAMPLE)
    data[at : at + len(noise)] = noise
    path.write_bytes(data)
    assert read_log(path).records <= 5 + len(noise)
