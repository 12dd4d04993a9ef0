"""A journal in a project inside of another one names runs from its own folder, and is understood from both."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pool_records import record

from tried.pool.journal import conclude
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.sources.discovery import discover
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.nested_journal import inner_id, outer_id, prefix_of, told_from_outside

NOW = datetime(2026, 5, 1, tzinfo=UTC)
TABLE = "commit\tval_loss\tstatus\tdescription\nad259c0\t1.5\tok\twider\n"
JOB = "outputs/2026-04-01/10-00-00"


@pytest.fixture
def outer(tmp_path: Path) -> Path:
    """A project with another one in `night`; both have a Hydra job of the same name."""
    for project in (tmp_path, tmp_path / "night"):
        (project / ".git").mkdir(parents=True)
        (project / JOB / ".hydra").mkdir(parents=True)
        (project / JOB / ".hydra" / "config.yaml").write_text("lr: 0.3\n")
    (tmp_path / "night" / "results.tsv").write_text(TABLE)
    return tmp_path


def pool_of(folder: Path) -> PoolSnapshot:
    return Pool(discover(folder, disabled=("commits",)).sources, spool_folder=folder / "cache").refresh(now=NOW)


def test_a_conclusion_of_the_inner_project_is_known_in_both(outer: Path) -> None:
    inner = outer / "night"
    conclude(inner, "results-table:results.tsv:ad259c0", "too wide", "dead_end", NOW)
    conclude(inner, f"hydra:{JOB}", "no gain", "dead_end", NOW)
    inside, around = pool_of(inner), pool_of(outer)
    assert inside.records["results-table:results.tsv:ad259c0"].headline == "too wide"
    told = around.records["results-table:night/results.tsv:ad259c0"]
    assert (told.headline, told.verdict) == ("too wide", "dead_end")
    assert around.records[f"hydra:night/{JOB}"].headline == "no gain"
    assert around.records[f"hydra:{JOB}"].verdict is None, "another job, that happens to have the same name"
    assert [report.waiting_amendments for report in around.sources] == [0] * len(around.sources)


def test_records_of_the_inner_journal_are_one_with_what_they_name(outer: Path) -> None:
    journal = outer / "night" / ".tried" / "pool.jsonl"
    journal.parent.mkdir()
    lines = [
        {"id": "results-table:results.tsv:ad259c0", "tags": ["imported"]},
        {"id": "EXP-1", "aliases": [f"hydra:{JOB}"], "parent": "results-table:results.tsv:ad259c0"},
    ]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))
    around = pool_of(outer)
    assert set(around.records) == {"results-table:night/results.tsv:ad259c0", "EXP-1", f"hydra:{JOB}"}
    assert around.records["results-table:night/results.tsv:ad259c0"].metrics == {"val_loss": 1.5}
    assert around.records["EXP-1"].parent == "results-table:night/results.tsv:ad259c0"
    source = next(source for source in discover(outer).sources if source.path == journal)
    assert isinstance(source, JournalSource)
    assert [source.line_of(name) for name in ("results-table:night/results.tsv:ad259c0", "EXP-1")] == [1, 2]


def test_an_amendment_that_waits_is_called_so_once(outer: Path) -> None:
    conclude(outer, "hydra:outputs/gone", "no gain", None, NOW)
    report = pool_of(outer).sources[0]
    (skipped,) = report.skipped
    assert skipped.where.count("amendment") == 1
    assert skipped.why == "waits for 'hydra:outputs/gone', which no source of the pool has"


def test_whose_journal_it_is(outer: Path) -> None:
    (outer / "plain").mkdir()
    journals = {name: outer / name / ".tried" / "pool.jsonl" for name in ("", "night", "plain")}
    assert [prefix_of(journal, outer) for journal in journals.values()] == ["", "night/", ""]
    assert prefix_of(journals["night"], outer / "night") == ""
    assert prefix_of(journals[""], outer / "night") == "", "of the project around it"
    assert prefix_of(outer / "night" / "experiments.jsonl", outer) == "", "of another tool, which has its own ids"
    assert prefix_of(journals["night"], None) == ""


def test_all_that_is_named_by_a_path_is_told_from_outside() -> None:
    told = told_from_outside(
        record(
            "sacred:runs/3",
            parent="lightning:lightning_logs/version_0",
            sweep="hydra:multirun/1",
            aliases=["mlflow:1", "hydra:outputs/1"],
            derivation={"from": "lightning:lightning_logs/version_0", "to": "sacred:runs/3", "summary": "lr"},
        ),
        "a/b/",
    )
    assert json.loads(told.to_json()) == {
        "id": "sacred:a/b/runs/3",
        "parent": "lightning:a/b/lightning_logs/version_0",
        "sweep": "hydra:a/b/multirun/1",
        "aliases": ["mlflow:1", "hydra:a/b/outputs/1"],
        "derivation": {
            "from": "lightning:a/b/lightning_logs/version_0",
            "to": "sacred:a/b/runs/3",
            "summary": "lr",
        },
        "schema_version": 2,
        "kind": "experiment",
    }
    plain = record("mlflow:1", parent="EXP-0")
    assert told_from_outside(plain, "a/").to_json() == plain.to_json()


@given(
    st.one_of(st.text(), st.text().map("hydra:{}".format), st.text().map("results-table:{}".format)),
    st.sampled_from(["", "a/", "a/b/"]),
)
def test_there_and_back(record_id: str, prefix: str) -> None:
    assert inner_id(outer_id(record_id, prefix), prefix) == record_id
