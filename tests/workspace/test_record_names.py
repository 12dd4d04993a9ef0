"""Ids as people write them: which record is meant, and how one is shown where there is little room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from workspace_files import record, write_journal

from tried.pool.pool import PoolSnapshot
from tried.record_names import find_record, native_ids, short_id
from tried.workspace import Workspace


def pool_of(folder: Path, *records: dict[str, Any]) -> PoolSnapshot:
    write_journal(folder, *records)
    return Workspace(folder).refresh()


@pytest.fixture
def snapshot(tmp_path: Path) -> PoolSnapshot:
    return pool_of(
        tmp_path,
        record("results-table:a/results.tsv:7e25364"),
        record("results-table:a/results.tsv:1b2c3d4"),
        record("results-table:b/results.tsv:1b2c3d4", git={"commit": "1b2c3d4"}),
        record("exp-1", aliases=["mlflow:3:r9"], run_id="run-77"),
        record("exp-2", git={"sha": "feedbeef0123"}),
        record("exp-3", git="feedcafe0123"),
    )


@pytest.mark.parametrize(
    ("named", "meant"),
    [
        ("exp-1", "exp-1"),
        ("mlflow:3:r9", "exp-1"),
        ("r9", "exp-1"),
        ("run-77", "exp-1"),
        ("7e25364", "results-table:a/results.tsv:7e25364"),
        ("…:7e25364", "results-table:a/results.tsv:7e25364"),
        (" 7e25364 ", "results-table:a/results.tsv:7e25364"),
        ("b/results.tsv:1b2c3d4", "results-table:b/results.tsv:1b2c3d4"),
        ("feedbeef", "exp-2"),
        ("feedcafe0123", "exp-3"),
    ],
)
def test_a_record_is_found_by_every_name_of_it(snapshot: PoolSnapshot, named: str, meant: str) -> None:
    found = find_record(snapshot, named)

    assert found.record is not None
    assert found.record.id == meant


@pytest.mark.parametrize(
    ("named", "why"),
    [
        (
            "1b2c3d4",
            "1b2c3d4 is 2 records: results-table:a/results.tsv:1b2c3d4, results-table:b/results.tsv:1b2c3d4",
        ),
        ("feed", "feed is 2 records: exp-2, exp-3"),
        ("7e25365", "no record 7e25365 in the pool; did you mean results-table:a/results.tsv:7e25364?"),
        ("25364", "no record 25364 in the pool; did you mean results-table:a/results.tsv:7e25364?"),
        ("fee", "no record fee in the pool"),
        ("…:", "no record …: in the pool"),
        ("", "no record  in the pool"),
    ],
)
def test_where_none_or_several_are_meant_it_is_said(snapshot: PoolSnapshot, named: str, why: str) -> None:
    found = find_record(snapshot, named)

    assert found.record is None
    assert found.why_not(named) == why


def test_the_last_part_stands_for_an_id_only_where_it_is_the_only_one(snapshot: PoolSnapshot) -> None:
    assert native_ids(snapshot) == {"results-table:a/results.tsv:7e25364": "7e25364"}


def test_a_last_part_that_is_an_id_of_its_own_stands_for_no_other(tmp_path: Path) -> None:
    assert native_ids(pool_of(tmp_path, record("x:1"), record("1"))) == {}


@pytest.mark.parametrize(
    ("record_id", "shown"),
    [
        ("exp-1", "exp-1"),
        ("results-table:results.tsv:fa14910", "…:fa14910"),
        ("a" * 24, "a" * 24),
        ("012345678z" * 3, "012345678z0…8z012345678z"),
        ("x:" + "012345678z" * 3, "x:012345678…8z012345678z"),
        ("012345678z" * 3 + ":", "012345678z0…z012345678z:"),
    ],
)
def test_an_id_in_a_table_is_short(record_id: str, shown: str) -> None:
    assert short_id(record_id) == shown


def test_of_a_long_hexadecimal_id_the_beginning_is_shown() -> None:
    assert short_id("mlflow:c94d1f60be3e4f7aa6d8b9057e21a3f5") == "mlflow:c94d1f60"
    assert short_id("c94d1f60be3e4f7aa6d8b9057e21a3f5") == "c94d1f60"


@given(st.text(max_size=80), st.integers(3, 60))
def test_it_is_never_longer_than_asked(record_id: str, limit: int) -> None:
    assert len(short_id(record_id, limit)) <= max(limit, 1)
    assert len(record_id) > limit or short_id(record_id, limit) == record_id


def test_a_run_in_a_folder_is_found_by_the_end_of_its_path(tmp_path: Path) -> None:
    snapshot = pool_of(tmp_path, record("sacred:a/31"), record("sacred:a/b/7"), record("sacred:c/7"), record("x:7/7"))

    found = [find_record(snapshot, name).record for name in ("31", "b/7")]
    assert [one.id if one else None for one in found] == ["sacred:a/31", "sacred:a/b/7"]
    assert find_record(snapshot, "7").several == ("sacred:a/b/7", "sacred:c/7", "x:7/7")


def test_a_long_hexadecimal_id_is_found_by_its_beginning(tmp_path: Path) -> None:
    ids = ("mlflow:c94d1f60be3e4f7aa6d8b9057e21a3f5", "mlflow:c94d1f61be3e4f7aa6d8b9057e21a3f5", "wandb:c94d1f60")
    write_journal(tmp_path, *(record(record_id) for record_id in ids))
    snapshot = Workspace(tmp_path).refresh()

    assert (found := find_record(snapshot, "mlflow:c94d1f60").record) is not None
    assert found.id == ids[0]
    assert find_record(snapshot, "c94d1f6").several == ids[:2]
    assert (other := find_record(snapshot, "c94d1f60").record) is not None
    assert other.id == ids[2], "a whole id goes before a beginning"
