"""Rows that are too short or too long, cells that are no numbers, bytes that are no text: no row is lost."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_tables import BASIC, HEADER, rows, scan

from tried.pool.outcome import worked
from tried.pool.sources.tables import rows as table_rows
from tried.pool.sources.tables.layout import Layout, Status, status_of_row
from tried.pool.sources.tables.results_table import ResultsTableSource


def test_ragged_rows(tmp_path: Path) -> None:
    text = "\n".join(
        [
            HEADER,
            "c24aaaa\t1.45\t2.1\tkeep",  # no description
            "1.44\t2.1\tkeep\tthe commit cell was left out",
            "d1d1d1d\t1.46\t2.1\tdiscard\ta tab\tin the description",
            "d2d2d2d\t1.46\t2.1\tdiscard\tempty cells\t\t",
            "just a remark",
            "# another one",
            HEADER,
            '"d3d3d3d"\t"1.47"\t2.1\tdiscard\t"he said ""no"""',
            'd4d4d4d\t1.48\t2.1\tdiscard\tan open " quote',
        ]
    )
    delta = scan(tmp_path, text)
    assert [(run.name, run.metrics.get("val_bpb")) for run in delta.upserts] == [
        ("c24aaaa", 1.45),
        ("the commit cell was left out", 1.44),
        ("a tab in the description", 1.46),
        ("empty cells", 1.46),
        ('he said "no"', 1.47),
        ('an open " quote', 1.48),
    ]
    assert [(skipped.where, skipped.why) for skipped in delta.skipped] == [
        ("line 6", "fewer than two cells; a remark needs a `#` in front")
    ]


def test_rows_with_columns_that_the_header_lacks_keep_what_is_certain(tmp_path: Path) -> None:
    text = "commit\tdescription\tawt\tstatus\ne1e1e1e\tfirst\t3.5\tkeep\ne2e2e2e\tsecond\t9\t8\tREVERTED:worse\n"
    delta = scan(tmp_path, text)
    second = delta.upserts[1]
    assert (second.name, second.verdict, second.metrics) == ("second", "dead_end", {})
    assert [skipped.why for skipped in delta.skipped] == ["5 cells under 4 columns: the metrics were left out"]


def test_words_and_empty_cells_in_metric_columns(tmp_path: Path) -> None:
    cells = ["1.5\t", "nan\t2", "see log\t2", "+1.25\t-"]
    table = rows(tmp_path, "\n".join([HEADER, *(f"a{n}a{n}a{n}a\t{two}\tkeep\tx" for n, two in enumerate(cells))]))
    assert table[0].metrics == {"val_bpb": 1.5}
    assert str(table[1].metrics["val_bpb"]) == "nan"
    assert table[2].metrics == {"val_bpb": "see log", "memory_gb": 2.0}
    assert table[3].metrics == {"val_bpb": 1.25}


@pytest.mark.parametrize(
    ("status", "verdict", "outcome", "cause", "well"),
    [
        ("discard", "dead_end", "failed", "diverged", False),
        ("baseline", None, "failed", "diverged", False),
        ("ok", None, "failed", "diverged", False),
        ("keep", "works", "completed", None, True),
        ("oom", None, "crashed", "out_of_memory", False),
        ("running", None, None, None, False),
    ],
)
def test_a_metric_that_ended_as_nan_has_diverged_unless_the_table_says_otherwise(
    tmp_path: Path, status: str, verdict: str | None, outcome: str | None, cause: str | None, well: bool
) -> None:
    run = rows(tmp_path, f"{HEADER}\na1b2c3d\t1.4\t2\tkeep\tfirst\na2b2c3d\tnan\t2\t{status}\tlr 0.5")[1]
    assert (run.verdict, run.outcome, run.cause, worked(run)) == (verdict, outcome, cause, well)
    bookkeeping = rows(tmp_path, f"{HEADER}\na2b2c3d\t1.5\tnan\tok\tlr 0.5")[0]
    assert (bookkeeping.outcome, bookkeeping.cause) == ("completed", None), "what it is judged by is a number"


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_bytes(BASIC.encode().replace(b"DEPTH 4->5", b"caf\xe9"))
    delta = ResultsTableSource(path, tmp_path).scan(None)
    assert delta.upserts[2].name == "caf\ufffd"
    assert [(skipped.where, skipped.why) for skipped in delta.skipped] == [
        ("line 4", "invalid UTF-8, read with replacement characters")
    ]
    path.write_bytes(b"\x00\x01\x02" * 100)
    assert ResultsTableSource(path, tmp_path).scan(None).upserts == ()
    path.unlink()
    path.mkdir()
    assert [s.why for s in ResultsTableSource(path).scan(None).skipped] == ["is a folder, not a table"]


STATUS_FIRST = """status\tcommit\tval_bpb\tdescription
keep\tc24aaaa\t1.450\tbaseline
discard\t66fbbbb
keep\tcaf1111\t1.440\tDEPTH 4->5
"""


def test_a_short_row_is_filled_up_where_the_status_stands_first(tmp_path: Path) -> None:
    delta = scan(tmp_path, STATUS_FIRST)
    assert [run.id.rsplit(":", 1)[-1] for run in delta.upserts] == ["c24aaaa", "66fbbbb", "caf1111"]
    assert [run.verdict for run in delta.upserts] == ["works", "dead_end", "works"]
    assert delta.upserts[1].metrics == {}
    assert delta.skipped == ()


def test_a_row_that_defeats_the_reader_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(cells: Sequence[str], layout: Layout) -> Status:
        if "revert" in cells:
            raise IndexError("list index out of range")
        return status_of_row(cells, layout)

    monkeypatch.setattr(table_rows, "status_of_row", fragile)
    delta = scan(tmp_path, BASIC)
    assert [run.id.rsplit(":", 1)[-1] for run in delta.upserts] == ["c24aaaa", "66fbbbb", "caf1111", "de00000"]
    assert [(s.where, s.why) for s in delta.skipped] == [
        ("line 5", "could not be read: IndexError: list index out of range")
    ]
    assert ResultsTableSource(tmp_path / "results.tsv", tmp_path).line_of(delta.upserts[3].id) == 6


CELLS = st.sampled_from(
    ["keep", "discard", "crash", "1.5", "nan", "", "-", "x y", "LR 0.1->0.2", "c24aaaa", '"', "#", "é", "baseline"]
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(CELLS, max_size=8), max_size=8))
def test_whatever_the_rows_ids_are_unique_and_rows_are_read_or_told(
    tmp_path_factory: pytest.TempPathFactory, cells: list[list[str]]
) -> None:
    lines = ["\t".join(row) for row in cells]
    delta = scan(tmp_path_factory.mktemp("table"), "\n".join([HEADER, "c0c0c0c\t1\t2\tkeep\tfirst", *lines]))
    ids = [run.id for run in delta.upserts]
    assert len(ids) == len(set(ids))
    meant = [line for line in lines if line.strip() and not (line.lstrip().startswith("#") and "\t" not in line)]
    told = {skipped.where for skipped in delta.skipped}
    assert len(ids) - 1 <= len(meant) <= len(ids) - 1 + len(told)


def test_zeros_in_a_row_that_crashed_are_placeholders(tmp_path: Path) -> None:
    table = tmp_path / "results.tsv"
    rows = ["abc1234\t0.9\t4\t0\tkeep\ta", "abc1235\t0.0\t0\t0.0\tcrash\tb"]
    table.write_text("\n".join(["commit\tval_bpb\tbatch_size\tdropout\tstatus\tdescription", *rows]) + "\n")
    kept, crashed = ResultsTableSource(table).scan(None).upserts
    assert kept.params == {"batch_size": "4", "dropout": "0"}
    assert crashed.params == {}
