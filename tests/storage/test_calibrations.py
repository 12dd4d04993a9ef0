"""The calibration that is kept for the next start: what was written comes back, all else is as good as none."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried import __version__
from tried.storage import calibrations
from tried.storage.calibrations import KeptCalibration, calibration_file, keep_calibration, kept_calibration

KEPT = KeptCalibration(rules="0f" * 12, records=7301, dead_ends=2926, quiet={"knob": (19, 15), "near": (10, 0)})
NOTHING_QUIET = KeptCalibration(rules="0f" * 12, records=3, dead_ends=0, quiet={})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.parametrize("kept", [KEPT, NOTHING_QUIET])
def test_what_is_kept_comes_back(folder: Path, kept: KeptCalibration) -> None:
    assert kept_calibration(folder) is None
    assert keep_calibration(folder, KeptCalibration(rules="before", records=1, dead_ends=1, quiet={"move": (10, 1)}))
    assert keep_calibration(folder, kept)
    assert kept_calibration(folder) == kept
    assert kept_calibration(folder.parent) is None
    assert list(folder.iterdir()) == []
    assert calibration_file(folder).is_relative_to(folder.parent / "cache" / "tried")


def test_two_names_of_a_folder_have_one(folder: Path) -> None:
    (folder.parent / "link").symlink_to(folder)
    assert keep_calibration(folder.parent / "link", KEPT)
    assert kept_calibration(folder) == KEPT


def changed(**fields: Any) -> dict[str, Any]:
    data = {"schema": calibrations.SCHEMA, "tried": __version__, **KEPT.model_dump()}
    return {**data, **fields}


def put(folder: Path, data: bytes) -> None:
    path = calibration_file(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_the_form_that_the_next_test_changes_is_read(folder: Path) -> None:
    put(folder, json.dumps(changed()).encode())
    assert kept_calibration(folder) == KEPT


@pytest.mark.parametrize(
    "fields",
    [
        {"schema": "tried.calibration/v2"},
        {"tried": "0.0.9"},
        {"rules": 3},
        {"records": -1},
        {"records": True},
        {"records": 10**400},
        {"dead_ends": 1.5},
        {"dead_ends": None},
        {"quiet": [["knob", 19, 15]]},
        {"quiet": {"knob": [19]}},
        {"quiet": {"knob": [19, "15"]}},
        {"quiet": {"knob": 19}},
        {"quiet": {"knob": [10**400, 1]}},
    ],
)
def test_what_is_none_of_ours_is_as_good_as_none(folder: Path, fields: dict[str, Any]) -> None:
    put(folder, json.dumps(changed(**fields)).encode())
    assert kept_calibration(folder) is None


@given(at=st.integers(0, 200), byte=st.sampled_from([b"", b"\0", b"\xff", b"[" * 100_000]))
def test_a_file_that_is_torn_anywhere_is_as_good_as_none(
    tmp_path_factory: pytest.TempPathFactory, at: int, byte: bytes
) -> None:
    folder = tmp_path_factory.mktemp("work")
    whole = json.dumps(changed()).encode()
    put(folder, whole[: min(at, len(whole) - 1)] + byte)
    assert kept_calibration(folder) is None


def test_a_place_that_cannot_be_written_costs_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = calibration_file(folder)
    path.mkdir(parents=True)
    assert not keep_calibration(folder, KEPT)
    assert kept_calibration(folder) is None
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert not keep_calibration(folder, KEPT)
    assert kept_calibration(folder) is None
