"""Results tables as agents and people leave them."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from results_tables import BASIC, HEADER, rows, scan

from tried.pool.outcome import is_dead_end, worked
from tried.pool.pool import Pool
from tried.pool.sources.tables.results_table import ResultsTableSource, is_results_table, research_line_of


def test_a_row_is_an_experiment(tmp_path: Path) -> None:
    run = rows(tmp_path, BASIC)[1]
    assert json.loads(run.to_json()) == {
        "id": "results-table:results.tsv:66fbbbb",
        "name": "increase EMBED_LR to 0.8",
        "source": "results-table",
        "research_line": tmp_path.name,
        "metrics": {"val_bpb": 1.453, "memory_gb": 2.1},
        "conclusion": {"headline": "increase EMBED_LR to 0.8", "outcome": "completed"},
        "verdict": "dead_end",
        "objective": "val_bpb",
        "tags": ["discard"],
        "git": {"commit": "66fbbbb"},
        "parent": "results-table:results.tsv:c24aaaa",
        "derivation": {
            "from": "results-table:results.tsv:c24aaaa",
            "to": "results-table:results.tsv:66fbbbb",
            "changes": [{"change": "ParamChanged", "key": "EMBED_LR", "from": None, "to": "0.8"}],
            "metric_delta": {"val_bpb": {"before": 1.45, "after": 1.453, "delta": pytest.approx(0.003)}},
        },
        "schema_version": 2,
        "kind": "experiment",
    }


def test_what_became_of_each_row(tmp_path: Path) -> None:
    table = rows(tmp_path, BASIC)
    assert [run.verdict for run in table] == ["works", "dead_end", "works", "dead_end", None]
    assert [run.outcome for run in table] == ["completed"] * 4 + ["crashed"]
    assert [is_dead_end(run) for run in table] == [False, True, False, True, True]
    assert [worked(run) for run in table] == [True, False, True, False, False]


def test_each_row_comes_from_the_last_kept_one(tmp_path: Path) -> None:
    table = rows(tmp_path, BASIC)
    assert [run.parent and run.parent.rsplit(":")[-1] for run in table] == [
        None,
        "c24aaaa",
        "c24aaaa",
        "caf1111",
        "caf1111",
    ]
    assert table[0].derivation is None


def test_a_commit_is_text_even_if_it_looks_like_a_number(tmp_path: Path) -> None:
    run = rows(tmp_path, BASIC)[3]
    assert run.id == "results-table:results.tsv:89e464"
    assert run.git == {"commit": "89e464"}
    assert set(run.metrics) == {"val_bpb", "memory_gb"}


def test_the_zeros_of_a_crash_are_placeholders(tmp_path: Path) -> None:
    crash = rows(tmp_path, BASIC)[4]
    assert crash.metrics == {}
    assert crash.derivation is not None
    assert crash.derivation.metric_delta == {}
    assert [change.key for change in crash.derivation.changes] == ["DEPTH"]


@pytest.mark.parametrize(
    ("cell", "verdict", "outcome"),
    [
        ("KEEP", "works", "completed"),
        ("kept", "works", "completed"),
        ("KEEP:major_win", "works", "completed"),
        ("BASELINE", None, "completed"),
        ("Discarded", "dead_end", "completed"),
        ("REVERTED:too_eager", "dead_end", "completed"),
        ("revert (feature mismatch)", "dead_end", "completed"),
        ("ERROR", None, "failed"),
        ("timeout", None, "failed"),
        ("OK", None, "completed"),
        ("KEEP_CANDIDATE", None, None),
        ("TOURNAMENT", None, None),
        ("running", None, None),
        ("", None, None),
    ],
)
def test_words_of_the_status_column(tmp_path: Path, cell: str, verdict: str | None, outcome: str | None) -> None:
    run = rows(tmp_path, f"{HEADER}\nc24aaaa\t1.45\t2\tkeep\tbaseline\nd1d1d1d\t1.5\t2\t{cell}\tx\n")[1]
    assert (run.verdict, run.outcome) == (verdict, outcome)


def test_where_the_table_leaves_it_open_a_worse_number_is_no_judgement(tmp_path: Path) -> None:
    run = rows(tmp_path, f"{HEADER}\nc24aaaa\t1.45\t2\tkeep\tbaseline\nd1d1d1d\t1.5\t2\tCONTROL\tx\n")[1]
    assert run.derivation is not None
    assert not run.derivation.metric_delta
    assert not is_dead_end(run)
    assert not worked(run)


@pytest.mark.parametrize(
    "text",
    [
        BASIC,
        "exp_id\tdescription\tmae\tdecision\nE0\tbase\t4.4\tBASELINE\nE1\tx\t4.2\tREVERT\n",
        'commit,val_loss,status,description\nabc1234,1.5,keep,"lr 0.1, wd 0"\n',
        f"# a remark\n\n{HEADER}\na1a1a1a\t1\t2\tkeep\tx\n",
        f"{HEADER}\n",
        f"\ufeff{HEADER}\r\na1a1a1a\t1\t2\tkeep\tx\r\n",
        "exp_id\tdescription\tmae\nE0\tbase\t4.4\n",
    ],
)
def test_what_is_a_results_table(text: str) -> None:
    assert is_results_table(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "just words\n",
        "a\tb\n1\t2\n",
        "exp_id\tdescription\tmae\n",
        "exp_id\tdescription\tday\nE0\tbase\t4.4\n",
        "id\tdescription\tmae\nE0\tbase\t4.4\n",
        "exp_id\tmodel\tmae\nE0\tbase\t4.4\n",
        "commit\tstatus\tdescription\nabc\tOK\tx\n",
        "order\tstatus\nA1\tshipped\n",
        "name\tstatus\n",
        "a\0b\tstatus\tdescription\nx\tkeep\ty\n",
    ],
)
def test_what_is_none(text: str, tmp_path: Path) -> None:
    assert not is_results_table(text.encode())
    delta = scan(tmp_path, text)
    assert delta.upserts == ()
    assert [skipped.where for skipped in delta.skipped] == ["the file"]
    assert "not a results table" in delta.skipped[0].why


def test_a_log_that_leaves_open_how_its_rows_ended_judges_none(tmp_path: Path) -> None:
    header = "exp_id\tdescription\tmodel\tcv_mae"
    table = rows(tmp_path, f"{header}\nE0\tbaseline\tridge\t4.4\nE1\tmore trees\tgbm\t9\n")
    assert [run.id.rsplit(":", 1)[1] for run in table] == ["E0", "E1"]
    assert [run.metrics for run in table] == [{"cv_mae": 4.4}, {"cv_mae": 9.0}]
    assert [run.params for run in table] == [{"model": "ridge"}, {"model": "gbm"}]
    assert [(run.verdict, run.outcome, run.parent) for run in table] == [(None, None, None)] * 2
    assert not any(is_dead_end(run) or worked(run) for run in table)


def test_notes_say_what_became_of_rows_where_no_column_does(tmp_path: Path) -> None:
    cells = [
        *("5-fold CV n=9 KEEP wall=2s", "5-fold CV REVERT (delta=-0.1)", "decision=REVERT,REVERT", "DEFER (no data)"),
        *("KEEP or REVERT?", "reverted later", "CRASH", "to keep-REVERT-ed", ""),
    ]
    lines = (f"E{number}\tx\t0.{number + 1}\t{cell}" for number, cell in enumerate(cells))
    table = rows(tmp_path, "\n".join(["exp_id\tdescription\tauc\tnotes", *lines]))
    assert [run.verdict or run.outcome for run in table] == [
        *("works", "dead_end", "dead_end", None, None, None, "crashed", None, None),
    ]
    assert [run.parent and run.parent.rsplit(":", 1)[1] for run in table] == [None] + ["E0"] * 8
    header = "exp_id\tdescription\tauc\tstatus\tnotes"
    with_status = rows(tmp_path, f"{header}\nE0\tx\t1\tkeep\tREVERT\nE1\tx\t1\t\tREVERT\n")
    assert [run.verdict for run in with_status] == ["works", None]


def test_a_status_that_decides_nothing_is_a_tag(tmp_path: Path) -> None:
    table = rows(tmp_path, "exp_id\tdescription\tauc\tstatus\nE0\ta\t0.7\tBASELINE\nE1\tb\t0.6\tTOURNAMENT\n")
    assert [(run.tags, run.outcome, run.parent) for run in table] == [
        (["baseline"], "completed", None),
        (["tournament"], None, None),
    ]
    assert not any(is_dead_end(run) for run in table)


def test_the_last_cut_line_of_a_peek_is_not_looked_at() -> None:
    assert is_results_table(BASIC.encode()[:-3])


def test_ids_stay_when_rows_are_appended_inserted_or_measured_again(tmp_path: Path) -> None:
    before = [run.id for run in rows(tmp_path, BASIC)]
    lines = BASIC.splitlines()
    inserted = [*lines[:2], "aaaaaaa\t1.4\t2\tdiscard\tsomething", *lines[2:], "bbbbbbb\t1.4\t2\tkeep\tother"]
    after = [run.id for run in rows(tmp_path, "\n".join(inserted).replace("1.453", "1.459"))]
    assert [run_id for run_id in after if run_id in before] == before
    assert len(after) == len(before) + 2


def test_ids_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    for clone in ("here", "there"):
        folder = tmp_path / clone / "phase2"
        folder.mkdir(parents=True)
        (folder / "results.tsv").write_text(BASIC)
    here, there = (
        ResultsTableSource(tmp_path / clone / "phase2" / "results.tsv", tmp_path / clone).scan(None).upserts
        for clone in ("here", "there")
    )
    assert [run.id for run in here] == [run.id for run in there]
    assert here[0].id == "results-table:phase2/results.tsv:c24aaaa"
    assert here[0].research_line == "phase2"


def test_rows_without_or_with_the_same_commit_have_ids_of_their_own(tmp_path: Path) -> None:
    text = (
        f"{HEADER}\n\t1\t2\tkeep\tfirst\n-\t1\t2\tkeep\tsecond\nabc1234\t1\t2\tkeep\tx\nabc1234\t1\t2\tkeep\ty\n"
        + 2 * "abc1234\t1\t2\tkeep\tx\n"
    )
    ids = [run.id.rsplit(":", 1)[1] for run in rows(tmp_path, text)]
    assert len(set(ids)) == 6
    assert ids[2] == "abc1234"
    assert [one.split("~")[0].split("-")[0] for one in ids] == [
        "row",
        "row",
        "abc1234",
        "abc1234",
        "abc1234",
        "abc1234",
    ]
    shuffled = f"{HEADER}\n-\t1\t2\tkeep\tsecond\n\t1\t2\tkeep\tfirst\n"
    assert [run.id.rsplit(":", 1)[1] for run in rows(tmp_path, shuffled)] == [ids[1], ids[0]]


def test_the_research_line_is_the_folder(tmp_path: Path) -> None:
    assert research_line_of(tmp_path / "a" / "b", tmp_path) == "a/b"
    assert research_line_of(tmp_path, tmp_path) == tmp_path.name
    assert research_line_of(tmp_path / "a", tmp_path / "b") == "a"
    assert research_line_of(tmp_path / "a", None) == "a"


@pytest.mark.parametrize("name", [b"\xffresults.tsv", b"b\xff/results.tsv"])
def test_a_name_that_is_no_text_costs_no_row(tmp_path: Path, name: bytes) -> None:
    path = tmp_path / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text(BASIC)
    source = ResultsTableSource(path, tmp_path)
    delta = source.scan(None)
    assert delta.skipped == ()
    where = f"results-table:{name.decode('utf-8', 'replace')}:"
    assert delta.upserts
    assert all(record.id.startswith(where) for record in delta.upserts)
    assert source.line_of(delta.upserts[0].id) == 2
    assert all("\udcff" not in record.to_json() for record in delta.upserts)


def test_other_columns_find_their_place(tmp_path: Path) -> None:
    text = (
        "timestamp\texp_id\tdescription\tmodel\tseed\tworst_case\trmse\tstatus\tnotes\n"
        "2026-03-01T10:00:00\tE0\tplain\tridge\t7\tedges\t0.5\tkeep\tfirst try\n"
    )
    (run,) = rows(tmp_path, text)
    assert run.timestamp == "2026-03-01T10:00:00"
    assert run.params == {"model": "ridge", "seed": "7"}
    assert run.metrics == {"rmse": 0.5}
    assert run.notes == "first try\nworst_case: edges"
    assert run.git is None


def test_a_metric_and_its_value_in_two_columns(tmp_path: Path) -> None:
    header = "exp_id\tdescription\tmetric\tvalue\tstatus"
    table = rows(tmp_path, f"{header}\nE0\ta\tauc\t0.7\tKEEP\nE1\tb\tauc\t0.6\tREVERT\nE2\tc\trmse\t3\tREVERT\n")
    assert [run.metrics for run in table] == [{"auc": 0.7}, {"auc": 0.6}, {"rmse": 3.0}]
    assert [run.parent is not None for run in table] == [False, True, False], "another metric is another line of runs"


def test_a_table_in_which_targets_alternate_compares_like_with_like(tmp_path: Path) -> None:
    header = "exp_id\tdescription\ttarget\tmae\tstatus"
    table = rows(tmp_path, f"{header}\nE0\ta\tgloss\t9\tKEEP\nE0\ta\thard\t2\tKEEP\nE1\tb\tgloss\t8\tREVERT\n")
    assert table[2].parent == table[0].id
    assert table[1].parent is None


def test_a_grown_table_gives_only_what_is_new_or_other(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_text(BASIC)
    source = ResultsTableSource(path, tmp_path)
    first = source.scan(None)
    assert source.scan(first.cursor).is_empty
    path.write_text(BASIC.replace("1.453", "1.454") + "fff0000\t1.4\t2.1\tkeep\tnew\n")
    second = source.scan(first.cursor)
    assert [run.id.rsplit(":")[-1] for run in second.upserts] == ["66fbbbb", "fff0000"]
    assert not second.reset
    path.write_text("\n".join(BASIC.splitlines()[:2]))
    third = source.scan(second.cursor)
    assert [run_id.rsplit(":")[-1] for run_id in third.removed] == [
        "66fbbbb",
        "caf1111",
        "89e464",
        "de00000",
        "fff0000",
    ]
    path.unlink()
    gone = source.scan(third.cursor)
    assert (gone.reset, gone.upserts) == (True, ())
    assert [skipped.why for skipped in gone.skipped] == ["there is no such file"]
    assert source.scan(gone.cursor).is_empty


def test_rows_that_rest_on_another_are_said_again_with_it(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_text(BASIC)
    source = ResultsTableSource(path, tmp_path)
    first = source.scan(None)
    path.write_text(BASIC.replace("c24aaaa\t1.450", "c24aaaa\t1.4601"))
    second = source.scan(first.cursor)
    assert [run.id.rsplit(":")[-1] for run in second.upserts] == ["c24aaaa", "66fbbbb", "caf1111"]
    assert [
        run.derivation and {name: delta.before for name, delta in run.derivation.metric_delta.items()}
        for run in second.upserts
    ] == [None, {"val_bpb": 1.4601}, {"val_bpb": 1.4601}]


def test_a_touched_table_says_nothing_new(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_text(BASIC.replace("1.453", "nan"))
    source = ResultsTableSource(path, tmp_path)
    first = source.scan(None)
    path.write_text(BASIC.replace("1.453", "nan"))
    assert source.scan(first.cursor).is_empty


@settings(max_examples=60)
@given(st.lists(st.lists(st.sampled_from("abcd"), unique=True, max_size=4), min_size=2, max_size=5))
def test_however_rows_move_the_pool_is_what_the_table_says_now(
    tmp_path_factory: pytest.TempPathFactory, tables: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("moved") / "results.tsv"
    pool = Pool([ResultsTableSource(path, path.parent)])
    for number, names in enumerate(tables):
        lines = (f"{name * 7}\t{number}\t2\tkeep\tsize {number}->{name}" for name in names)
        path.write_text("\n".join([HEADER, *lines, ""]))
        os.utime(path, ns=(number, number))
        pool.refresh()
    fresh = Pool([ResultsTableSource(path, path.parent)]).refresh()
    now = pool.snapshot
    assert [run.to_json() for run in now.records.values()] == [run.to_json() for run in fresh.records.values()]
    assert now.sources == fresh.sources


def test_the_line_of_a_row(tmp_path: Path) -> None:
    path = tmp_path / "results.tsv"
    path.write_text(BASIC.replace("caf1111", "# a remark\nonly one\ncaf1111"))
    source = ResultsTableSource(path, tmp_path)
    assert source.line_of("results-table:results.tsv:66fbbbb") == 3
    assert source.line_of("results-table:results.tsv:caf1111") == 6
    assert source.line_of("results-table:results.tsv:none") is None
