"""The tables in docs/ say what the code has. TRIED_UPDATE_DOCS=1 writes those that are made from it."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from tried.pool import metric_names, outcome
from tried.pool.causes import CAUSES
from tried.pool.journal import LINE_LIMIT
from tried.pool.reading import DEPTH_LIMIT, read_line
from tried.pool.record import CHANGES, ExperimentRecord
from tried.pool.sources.discovery import TABLE_NAMES
from tried.pool.sources.source import REMARKS_LIMIT, SKIPPED_LIMIT
from tried.pool.sources.tables import layout as table_layout
from tried.pool.sources.tables.described_changes import changes_in

DOCS = Path(__file__).parents[2] / "docs"


def words(names: list[str] | frozenset[str]) -> str:
    return ", ".join(sorted(names))


def directions() -> str:
    def named(direction: str) -> list[str]:
        tables = (metric_names.WORDS, metric_names.PHRASES, metric_names.WEAK_WORDS)
        return [name for table in tables for name, way in table.items() if way == direction]

    rows = [
        ("better low", words(named("min"))),
        ("better high", words(named("max"))),
        ("a gain, whatever of", words(metric_names.GAINS)),
        ("bookkeeping, where no other word tells", words(metric_names.BOOKKEEPING_WORDS)),
        ("bookkeeping in any case", words([*metric_names.BOOKKEEPING_PHRASES])),
        ("a spread, as the first or last word", words(metric_names.SPREAD)),
        ("another's result, as the first word", words(metric_names.REFERENCES)),
    ]
    return "\n".join(["| meaning | words |", "|---|---|", *(f"| {meaning} | {names} |" for meaning, names in rows)])


def causes() -> str:
    rows = [f"| `{row.cause}` | {row.example} | {_where(row.cause, row.broken_only)} |" for row in CAUSES]
    return "\n".join(["| cause | for example | counts |", "|---|---|---|", *rows])


def _where(cause: str, broken_only: bool) -> str:
    if broken_only:
        return "if the run failed or crashed"
    return "always" if cause == "worse" else "always in a headline; in notes if the run failed or crashed"


def outcomes() -> str:
    rows = [("failed or crashed", outcome.BROKEN_OUTCOMES), ("completed", outcome.WELL_OUTCOMES)]
    return "\n".join(["| outcome | words |", "|---|---|", *(f"| {name} | {words(found)} |" for name, found in rows)])


def statuses() -> str:
    rows: dict[tuple[str, str, str, str], list[str]] = {}
    for word, status in table_layout.STATUSES.items():
        key = (status.verdict or "", status.outcome or "", status.cause or "", "yes" if status.kept else "")
        rows.setdefault(key, []).append(word)
    lines = [f"| {', '.join(found)} | {' | '.join(key)} |" for key, found in rows.items()]
    head = ["| status | verdict | outcome | cause | the next rows start from it |", "|---|---|---|---|---|"]
    return "\n".join([*head, *lines, "| any other word | | | | |"])


MADE = [
    ("outcomes.md", "directions", directions()),
    ("outcomes.md", "causes", causes()),
    ("outcomes.md", "outcomes", outcomes()),
    ("results-tables.md", "statuses", statuses()),
]


def section(page: str, name: str) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name}: [^\n]*-->\n(.*?)<!-- end of {name} -->", text, re.DOTALL)
    assert found is not None, f"{page} has no section {name}"
    return found[1].strip()


@pytest.mark.parametrize(("page", "name", "table"), MADE, ids=[name for _, name, _ in MADE])
def test_tables_that_are_made_from_the_code(page: str, name: str, table: str) -> None:
    if os.environ.get("TRIED_UPDATE_DOCS"):
        path = DOCS / page
        pattern = re.compile(rf"(<!-- {name}: [^\n]*-->\n)(.*?)(<!-- end of {name} -->)", re.DOTALL)
        path.write_text(
            pattern.sub(lambda m: f"{m[1]}\n{table}\n\n{m[3]}", path.read_text(encoding="utf-8")), encoding="utf-8"
        )
    assert section(page, name) == table


def test_the_journals_fields_are_those_of_the_record() -> None:
    named = re.findall(r"^\| `(\w+)` \|", section("journal.md", "fields"), re.MULTILINE)
    assert sorted(named) == sorted(ExperimentRecord.model_fields)


def test_the_journals_kinds_of_change_are_those_of_the_record() -> None:
    text = " ".join((DOCS / "journal.md").read_text(encoding="utf-8").split())
    listed = re.search(r"`changes` are objects with a `change`: (.*?)\. `metric_delta`", text)
    assert listed is not None
    assert set(re.findall(r"`(\w+)`", listed[1])) == CHANGES


def test_the_journals_limits_are_those_of_the_code() -> None:
    text = " ".join((DOCS / "journal.md").read_text(encoding="utf-8").split())
    assert f"at most {SKIPPED_LIMIT} lines that were not read are listed, and {REMARKS_LIMIT} values" in text
    assert f"more than {LINE_LIMIT // 1024**2} MiB, or one nested more than {DEPTH_LIMIT} levels deep" in text


def test_the_journals_example_is_one() -> None:
    text = (DOCS / "journal.md").read_text(encoding="utf-8")
    example = re.search(r"```json\n(.*?)```", text, re.DOTALL)
    assert example is not None
    lines = example[1].splitlines()
    readings = [read_line(line.encode()) for line in lines]
    assert [reading.complaints for reading in readings] == [()] * 3
    for line, reading in zip(lines, readings, strict=True):
        assert json.loads(reading.records[0].to_json()) == json.loads(line)
        assert set(json.loads(line)) <= set(ExperimentRecord.model_fields)


def test_the_tables_columns_are_those_of_the_code() -> None:
    rows = [
        re.findall(r"`(\w+)`", row.split("|")[1]) for row in section("results-tables.md", "columns").splitlines()[2:]
    ]
    assert rows[:6] == [
        list(table_layout.DESCRIPTION_COLUMNS),
        list(table_layout.ID_COLUMNS),
        list(table_layout.TIME_COLUMNS),
        list(table_layout.NOTES_COLUMNS),
        list(table_layout.PARAMETER_COLUMNS),
        ["metric", "value"],
    ]
    text = " ".join((DOCS / "results-tables.md").read_text(encoding="utf-8").split())
    *names, last = (f"`{name}`" for name in table_layout.STATUS_COLUMNS)
    assert f"a column named {', '.join(names)} or {last}" in text
    *contexts, last_context = (f"`{name}`" for name in table_layout.CONTEXT_COLUMNS)
    assert f"rows with the same {', '.join(contexts)} or {last_context}" in text
    assert all(f"`{name}`" in text for name in TABLE_NAMES if name.endswith(".tsv"))


def test_the_tables_ways_to_state_a_change_are_understood() -> None:
    text = (DOCS / "results-tables.md").read_text(encoding="utf-8")
    lines = text.split("```")[3].strip().splitlines()
    ways = [way.strip() for way in re.split(r"\s{4,}", lines[0])]
    assert len(ways) == 7
    for way in ways:
        stated = re.sub(r"\ba\b", "3", re.sub(r"\bb\b", "4", way)).replace("increase|reduce|set|…", "increase")
        (change,) = changes_in(stated)
        assert (change.key, change.to) == ("KEY", "4"), way
    (bare,) = changes_in("KEY 0.5")
    assert (bare.key, bare.to) == ("KEY", "0.5")
