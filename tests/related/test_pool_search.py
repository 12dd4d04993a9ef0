"""Past experiments by what somebody types: ids before names before words."""

from __future__ import annotations

from pathlib import Path

import pytest
from record_pool import NOW, pool, run

from tried.pool.snapshot import PoolSnapshot
from tried.ranking.policy import DEFAULT_POLICY
from tried.related.pool_search import LONGEST_QUERY, search

HASH = "c94d1f60aa5b4b6d9f3e2b1c0d8e7f6a"


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> PoolSnapshot:
    return pool(
        tmp_path_factory.mktemp("search"),
        run("exp-1", {"lr": 1}, name="baseline", timestamp="2026-10-01T00:00:00Z"),
        run("exp-10", {"lr": 2}, name="longer warmup", timestamp="2026-10-03T00:00:00Z"),
        run("sweep-exp-1", {"lr": 3}, notes="a longer warmup helps", timestamp="2026-10-02T00:00:00Z"),
        run(f"mlflow:{HASH}", {"lr": 4}, name="warmup", aliases=["wandb:zz99yy88"]),
        run("plain", {"lr": 5}, hypothesis="no warmup at all, longer"),
    )


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("exp-1", [("exp-1", "id"), ("exp-10", "id_part"), ("sweep-exp-1", "id_part")]),
        ("EXP-10", [("exp-10", "id_part")]),
        ("c94d1f60", [(f"mlflow:{HASH}", "id")]),
        ("mlflow", [(f"mlflow:{HASH}", "id_part")]),
        ("zz99", [(f"mlflow:{HASH}", "id_part")]),
        ("longer warmup", [("exp-10", "name"), ("plain", "text"), ("sweep-exp-1", "text")]),
        ("warmup long", [("exp-10", "text"), ("plain", "text"), ("sweep-exp-1", "text")]),
        ("basel", [("exp-1", "name")]),
        ("nothing of the kind", []),
    ],
)
def test_what_is_found_and_by_what(snapshot: PoolSnapshot, typed: str, found: list[tuple[str, str]]) -> None:
    hits = [(hit.record.id, hit.by) for hit in search(typed, snapshot, NOW, DEFAULT_POLICY)]
    if found and found[-1][1] == "text":
        assert sorted(hits[1:]) == sorted(found[1:])
        assert hits[0][1] == found[0][1]
    else:
        assert hits == found


def test_without_text_the_latest_come_first_and_what_has_no_time_last(snapshot: PoolSnapshot) -> None:
    found = [hit.record.id for hit in search("  ", snapshot, NOW, DEFAULT_POLICY)]
    assert found == ["exp-10", "sweep-exp-1", "exp-1", "plain", f"mlflow:{HASH}"]
    assert [hit.record.id for hit in search("", snapshot, NOW, DEFAULT_POLICY, limit=2)] == found[:2]


@pytest.mark.parametrize("typed", ["plain", "baseline", "exp-1", "warmup long", "c94d1f60"])
def test_a_policy_that_drops_old_records_hides_none_from_who_asks_for_it(snapshot: PoolSnapshot, typed: str) -> None:
    """One record has no time, the others are of October 2026."""
    policy = DEFAULT_POLICY.model_copy(update={"ttl_days": 1.0})
    found = [(hit.record.id, hit.by, hit.weight) for hit in search(typed, snapshot, NOW, policy)]
    assert found == [(hit.record.id, hit.by, hit.weight) for hit in search(typed, snapshot, NOW, DEFAULT_POLICY)]
    assert found


def test_no_more_than_asked_for(snapshot: PoolSnapshot) -> None:
    assert len(search("exp", snapshot, NOW, DEFAULT_POLICY, limit=2)) == 2
    assert search("x" * (2 * LONGEST_QUERY), snapshot, NOW, DEFAULT_POLICY) == []
    assert search("warmup", PoolSnapshot(), NOW, DEFAULT_POLICY) == []


def test_a_name_that_stands_for_any_record_is_listed_once(tmp_path: Path) -> None:
    snapshot = pool(tmp_path, run("exp-5", {"lr": 1}, name="exp-5", aliases=["wandb:exp-5"]))
    assert [(hit.record.id, hit.by) for hit in search("exp-5", snapshot, NOW, DEFAULT_POLICY)] == [("exp-5", "id")]
