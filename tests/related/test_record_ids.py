"""Which words name a record: whole ids and what can be nothing else, and no word that merely looks like one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from record_pool import pool, run

from stopwatch import least_seconds
from tried.draft.syntax import parse
from tried.pool.snapshot import PoolSnapshot
from tried.related.record_ids import (
    MOST_PLACES,
    RecordIds,
    names_any,
    record_at,
    record_ids,
    records_named,
)

MLFLOW = "c94d1f60aa5b4b6d9f3e2b1c0d8e7f6a"
RECORDS: list[dict[str, Any]] = [
    run("EXP-7", {"model": "resnet50", "lr": 0.1}, aliases=["sweep-a/7"]),
    run("exp-12", {"model": "vit-b16", "lr": 0.1}),
    run(f"mlflow:{MLFLOW}", {"lr": 0.1}),
    run("sacred:1", {"lr": 0.1}),
    run("sacred:31", {"lr": 0.1}),
    run("hydra:adam", {"lr": 0.1}),
    run("hydra:resnet50", {"lr": 0.1}),
    run("hydra:2026-10-01/12-30-05", {"lr": 0.1}),
    run("wandb:team/project:3x9k2abc", {"lr": 0.1}, aliases=["hydra:outputs:job17x9"]),
    run("results-table:runs/results.tsv:fa14910", {"lr": 0.1}),
    run("wandb:one:same99name", {"lr": 0.1}),
    run("wandb:two:same99name", {"lr": 0.1}),
    run("8", {"lr": 0.1}),
    run("baseline", {"lr": 0.1}),
    run("exp5", {"lr": 0.1}),
    run("gpt2", {"model": "gpt2", "lr": 0.1}),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> PoolSnapshot:
    return pool(tmp_path_factory.mktemp("ids"), *RECORDS)


@pytest.fixture(scope="module")
def ids(snapshot: PoolSnapshot) -> RecordIds:
    return record_ids(snapshot)


@pytest.mark.parametrize(
    ("word", "record"),
    [
        ("EXP-7", "EXP-7"),
        ("sweep-a/7", "EXP-7"),  # an alias
        ("exp5", "exp5"),
        (f"mlflow:{MLFLOW}", f"mlflow:{MLFLOW}"),
        (MLFLOW, f"mlflow:{MLFLOW}"),
        ("c94d1f60", f"mlflow:{MLFLOW}"),  # the beginning of a hash
        ("mlflow:c94d1f60", f"mlflow:{MLFLOW}"),  # as we show it
        ("sacred:1", "sacred:1"),
        ("hydra:resnet50", "hydra:resnet50"),
        ("2026-10-01/12-30-05", "hydra:2026-10-01/12-30-05"),
        ("3x9k2abc", "wandb:team/project:3x9k2abc"),
        ("job17x9", "wandb:team/project:3x9k2abc"),
        ("fa14910", "results-table:runs/results.tsv:fa14910"),
        ("…:fa14910", "results-table:runs/results.tsv:fa14910"),
        ("wandb:one:same99name", "wandb:one:same99name"),
    ],
)
def test_what_names_a_record(ids: RecordIds, word: str, record: str) -> None:
    assert ids(word) == record


@pytest.mark.parametrize(
    "word",
    [
        *("1", "31", "8", "adam", "resnet50", "baseline", "gpt2"),
        "c94d1f6",  # seven digits of a hash
        "c94d1f61",
        "sacred:2",
        "wandb:c94d1f60",  # of another tracker
        "same99name",  # two records
        "2026-10-01",
        "exp-7",  # ids are what they are, in upper and lower case
        "1e-3",
        "",
        "x" * 10_000 + "1",
    ],
)
def test_what_names_none(ids: RecordIds, word: str) -> None:
    assert ids(word) is None


def named(text: str, snapshot: PoolSnapshot, language: str = "yaml") -> list[tuple[str, str]]:
    """(what stands there, the record)."""
    parsed = parse(text, language)
    found = records_named(text, parsed.entries, parsed.comments, record_ids(snapshot))
    return [(text[one.span.start : one.span.end], one.record) for one in found]


def test_comments_and_values_are_looked_through_and_keys_are_not(snapshot: PoolSnapshot) -> None:
    text = (
        "# like EXP-7, but longer (see exp-12).\n"
        "EXP-7: 1\n"
        "parent: exp-12\n"
        "resume: 'mlflow:c94d1f60'\n"
        "compare: [exp5, adam, fa14910]\n"
        "count: 31\n"
        "model: resnet50\n"
        "path: runs/exp-12/checkpoint.pt\n"
        "page: https://wandb.ai/team/project/runs/3x9k2abc\n"
        "note: base=exp-12 → exp5\n"
    )
    assert named(text, snapshot) == [
        ("EXP-7", "EXP-7"),
        ("exp-12", "exp-12"),
        ("exp-12", "exp-12"),
        ("mlflow:c94d1f60", f"mlflow:{MLFLOW}"),
        ("exp5", "exp5"),
        ("fa14910", "results-table:runs/results.tsv:fa14910"),
        ("exp-12", "exp-12"),  # in the path
        ("exp-12", "exp-12"),
        ("exp5", "exp5"),
    ]


@pytest.mark.parametrize(
    ("comment", "written", "record"),
    [
        ("tried: retry EXP-7 because it was cut short", "EXP-7", "EXP-7"),
        ("tried: retry 31 because the data is another", "31", "sacred:31"),  # who retries means a record
        ("Tried: retry adam, because", "adam", "hydra:adam"),
        ('tried: retry "baseline" because', '"baseline"', "baseline"),
    ],
)
def test_a_directive_names_its_record_by_whatever_people_call_it(
    snapshot: PoolSnapshot, comment: str, written: str, record: str
) -> None:
    assert named(f"lr: 0.1  # {comment}\n", snapshot) == [(written, record)]
    assert names_any(f"lr: 0.1  # {comment}\n", record_ids(snapshot))


def test_other_languages_too(snapshot: PoolSnapshot) -> None:
    assert named('{"parent": "exp-12", "exp-12": 1}', snapshot, "json") == [("exp-12", "exp-12")]
    assert named('exp5 = 1  # as EXP-7\nPARENT = "exp-12"\n', snapshot, "python") == [
        ("EXP-7", "EXP-7"),
        ("exp-12", "exp-12"),
    ]


def test_the_record_at_a_cursor(snapshot: PoolSnapshot) -> None:
    text = "parent: exp-12\n"
    parsed = parse(text, "yaml")
    found = records_named(text, parsed.entries, parsed.comments, record_ids(snapshot))
    at = {offset for offset in range(len(text)) if record_at(found, offset) is not None}
    assert at == set(range(8, 15))


def test_a_config_full_of_ids_is_cut(snapshot: PoolSnapshot) -> None:
    text = "".join(f"k{number}: exp-12\n" for number in range(2 * MOST_PLACES))
    assert len(named(text, snapshot)) == MOST_PLACES


@pytest.mark.parametrize("text", ["a" * 1_000_000, "1-" * 500_000, "EXP-7:" * 100_000, "=1=" * 300_000, '"' * 500_000])
def test_no_text_takes_long(snapshot: PoolSnapshot, text: str) -> None:
    assert least_seconds(lambda: names_any(text, record_ids(snapshot)), 1.0) < 1.0


WORDS = ["EXP-7", "exp-12", "exp5", "c94d1f60", "sacred:1", "adam", "31", *":/=→ #,.…('\"\n"]


@given(st.lists(st.sampled_from(WORDS)).map("".join))
def test_places_hold_the_name_of_their_record(snapshot: PoolSnapshot, said: str) -> None:
    ids = record_ids(snapshot)
    text = f"# {said}\n{said}: {said}\n"
    parsed = parse(text, "yaml")
    found = records_named(text, parsed.entries, parsed.comments, ids)
    for one in found:
        assert ids(text[one.span.start : one.span.end]) == one.record
    ends = [place for one in found for place in (one.span.start, one.span.end)]
    assert ends == sorted(ends)  # none overlaps another
    assert names_any(text, ids) >= bool(found)


def test_the_ids_of_a_snapshot_are_gathered_once(snapshot: PoolSnapshot) -> None:
    assert record_ids(snapshot) is record_ids(snapshot)
    assert record_ids(PoolSnapshot()) is not record_ids(snapshot)
