"""Commands as a person meets them: what they print, how they end, what they say when something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from cli_records import CONFIG, HOT, record
from cli_runner import Runner

from stopwatch import least_seconds
from tried import __version__

REPOSITORY = Path(__file__).parents[2]


class TestRank:
    def test_a_record_is_two_lines_with_data_shown_as_it_is(self, tried: Runner) -> None:
        tried.journal({**HOT, "name": "[red]hot[/red] \x1b[31mstart", "timestamp": "2026-11-23T00:00:00Z"})

        lines = tried("rank", "--text", "hot", "--now", "2026-11-30T00:00:00Z").lines

        # lexical 0.4/0.75 · 1 + recency 0.15/0.75 · 2^(-7/30) + importance 0.2/0.75 · 0.6
        assert lines[0].startswith("  1  0.863  ")
        assert lines[0].endswith("✗ hot  [red]hot[/red] [31mstart  7 days ago (2026-11-23)")
        assert lines[1].strip() == "the loss [bold]exploded[/bold]"
        assert "dead end" in lines[-1]

    def test_the_bar_is_as_long_as_the_score_says(self, tried: Runner) -> None:
        tried.journal({"id": "a", "name": "x"})

        line = tried("rank", "--text", "x", "--now", "2026-11-30").lines[0]

        # Neither structure nor recency applies: lexical 2/3, importance 1/3 of 0.3; 20 cells a point.
        assert line == "  1  0.767  " + "█" * 13 + "░" * 2 + " " * 5 + "  · a  x"

    def test_a_file_that_does_not_look_like_a_config_is_ranked_all_the_same(self, tried: Runner) -> None:
        tried.journal({"id": "a", "name": "compose services"})
        path = tried.write("docker-compose.yml", "# compose services\nservices: {}\n")

        assert tried("rank", path, "--json").json["query"]["terms"] == ["compose", "services"]

    def test_a_list_without_any_of_the_words_is_told_to_be_no_answer(self, tried: Runner) -> None:
        tried.journal({"id": "a", "name": "mixup"}, {"id": "b", "timestamp": "2026-11-01"})

        absent, present = tried("rank", "--text", "quantum"), tried("rank", "--text", "quantum mixup")

        assert absent.lines[0] == "no record has these words; ordered by importance and age"
        assert absent.lines[1].startswith("  1  ")
        assert present.lines[0].startswith("  1  ")
        assert tried("rank", "--text", "").lines[0].startswith("  1  ")

    def test_rows_of_a_results_table_are_short_and_say_what_they_say_once(self, tried: Runner) -> None:
        long = "halve the " + "very " * 15 + "last layer"
        tried.write(
            "results.tsv",
            f"commit\tval_bpb\tstatus\tdescription\na1b2c3d\t1.2\tkeep\tbaseline\nb1b2c3d\t1.3\tdiscard\t{long}\n",
        )

        lines = tried("rank", "--text", "baseline").lines

        assert lines[0].endswith(" a1b2c3d  baseline")
        assert lines[1].endswith(" b1b2c3d")
        assert lines[2].strip() == long
        assert len(lines) == 4

    def test_nothing_passes_the_filters(self, tried: Runner) -> None:
        tried.journal({"id": "a"})

        result = tried("rank", "--text", "x", "--research-line", "none")

        assert (result.status, result.out) == (0, "no record passes these filters; `tried pool` shows what there is\n")


class TestConclude:
    def test_a_verdict_changes_what_is_known_of_the_record(self, tried: Runner) -> None:
        tried.journal(record("hot", 0.9, conclusion={"outcome": "completed"}))
        tried.write("config.yaml", CONFIG)
        assert tried("check", "config.yaml").status == 0

        result = tried("conclude", "hot", "too hot", "--dead-end")

        assert (result.status, result.err) == (0, "")
        assert "hot is a dead end" in result.out
        checked = tried("check", "config.yaml")
        assert checked.status == 1
        assert "too hot" in checked.lines[0]

    def test_the_journal_is_made_where_there_was_none(self, tried: Runner) -> None:
        tried.write("results.tsv", "commit\tval_loss\tstatus\tdescription\na1b2c3d\t1.2\tkeep\tbaseline\n")
        record_id = tried("rank", "--text", "baseline", "--json").json["results"][0]["id"]

        assert tried("conclude", record_id, "a solid start", "--works").status == 0

        line = json.loads((tried.folder / ".tried" / "pool.jsonl").read_text())
        assert (line["kind"], line["amends"], line["verdict"]) == ("amendment", record_id, "works")
        assert line["conclusion"]["headline"] == "a solid start"

    def test_an_alias_is_written_as_the_record_that_it_means(self, tried: Runner) -> None:
        path = tried.journal({"id": "a", "aliases": ["mlflow:7"]})

        assert tried("conclude", "mlflow:7", "why").status == 0

        assert json.loads(path.read_text().splitlines()[-1])["amends"] == "a"

    def test_a_run_of_a_table_is_named_as_the_table_names_it(self, tried: Runner) -> None:
        tried.write("results.tsv", "commit\tval_loss\tstatus\tdescription\na1b2c3d\t1.2\tkeep\tbaseline\n")

        for named in ("a1b2c3d", "…:a1b2c3d"):
            assert tried("conclude", named, "why").status == 0
        written = (tried.folder / ".tried" / "pool.jsonl").read_text().splitlines()
        assert [json.loads(line)["amends"] for line in written] == ["results-table:results.tsv:a1b2c3d"] * 2

    def test_a_verdict_is_changed_by_another_one(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("config.yaml", CONFIG)
        assert tried("check", "config.yaml").status == 1

        assert tried("conclude", "hot", "a bug, since mended", "--inconclusive").status == 0
        assert tried("check", "config.yaml").status == 0
        assert tried("conclude", "hot", "no, it is hot", "--dead-end").status == 0
        assert tried("check", "config.yaml").status == 1

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("hot",), 'say why, as in: tried conclude hot "the learning rate is too high" --dead-end'),
            (("hot", "x", "--works", "--dead-end"), "give one of --dead-end, --works and --inconclusive"),
            (("hat", "x"), "no record hat in the pool; did you mean hot?"),
            (("r1", "x"), "r1 is 2 records: a:r1, b:r1; give a whole id"),
            (("zzz", "x"), "no record zzz in the pool; `tried rank --text WORDS` finds records by what they say"),
        ],
    )
    def test_mistakes_write_nothing(self, tried: Runner, arguments: tuple[str, ...], message: str) -> None:
        path = tried.journal(HOT, {"id": "a:r1"}, {"id": "b:r1"})
        before = path.read_bytes()

        result = tried("conclude", *arguments)

        assert (result.status, result.err) == (2, f"tried: {message}\n")
        assert path.read_bytes() == before


class TestPool:
    def test_each_source_with_its_counts_and_what_was_not_read(self, tried: Runner) -> None:
        path = tried.journal(HOT, record("base", 0.1, research_line="line"))
        with path.open("a") as file:
            file.write("{\n" * 7)

        result = tried("pool")

        assert result.lines[0].startswith(
            ".tried/pool.jsonl  journal: 2 records, 1 dead end; conclusion 50%, lineage 0%"
        )
        assert result.lines[1].startswith("    not read: line 3: not valid JSON")
        assert result.lines[6] == "    … and 2 more; --json lists them"
        assert result.lines[7].startswith("2 records in all, 1 dead end")
        assert result.lines[8] == "research lines: line (1)"

    def test_an_empty_one_says_what_to_do(self, tried: Runner) -> None:
        result = tried("pool")

        assert (result.status, result.out) == (0, "")
        assert result.err.startswith(f"tried: no past experiments found in {tried.folder}: no runs of MLflow")

    def test_another_folder_can_be_named(self, tried: Runner) -> None:
        tried.journal(HOT, name="there/.tried/pool.jsonl")

        assert tried("pool", "there", "--json").json["totals"]["records"] == 1

    def test_a_pool_that_is_a_folder_is_searched(self, tried: Runner) -> None:
        tried.journal(HOT, name="there/.tried/pool.jsonl")
        (tried.folder / "nothing").mkdir()

        assert tried("pool", "--pool", "there", "--json").json["totals"]["records"] == 1
        assert "is a folder, not a journal" in tried("pool", "--pool", "nothing").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("chek",), "No such command 'chek'. Did you mean 'check'? Try `tried --help`.\n"),
        (("check",), "Missing argument 'FILE…'. Try `tried check --help`."),
        (("rank",), "nothing to rank by; give a config FILE, or --text, or --architecture"),
        (("rank", "x.yaml", "--text", "y"), "a FILE is ranked by what it holds: give it alone, or --text and"),
        (("rank", "missing.yaml"), "missing.yaml: there is no such file; check the path"),
        (("rank", "notes.txt"), "notes.txt: no language of configs"),
        (("rank", "--text", "x", "--now", "soon"), "--now soon: expected a time such as 2026-11-30T12:00:00Z"),
        (("rank", "--text", "x", "--limit", "0"), "Invalid value for '--limit'"),
        (("rank", "--text", "x", "--pool", "none.jsonl"), "--pool none.jsonl: there is no such file or folder"),
        (("rank", "--architecture", "notes.txt"), "--architecture notes.txt: the file: "),
        (("rank", "--architecture", "none.json"), "--architecture none.json: cannot be read"),
        (("rank", "--architecture", "bad.json"), "--architecture bad.json: nodes: "),
        (("pool", "none"), "none: there is no such folder; to read a file, use --pool none"),
        (("serve", "--tcp", "localhost:http"), "--tcp localhost:http: expected a port"),
        (("serve", "--tcp", "1", "--stdio"), "give --stdio or --tcp, not both"),
        (("serve", "--log-level", "loud"), "--log-level loud: expected one of debug, info, warning, error, off"),
        (("demo", "."), ".: is there already"),
    ],
)
def test_an_error_is_one_line_that_says_what_to_do(tried: Runner, arguments: tuple[str, ...], message: str) -> None:
    tried.write("notes.txt", "hello")
    tried.write("bad.json", '{"nodes": 3}')

    result = tried(*arguments)

    assert result.status == 2
    assert result.err.startswith(f"tried: {message}")
    assert result.err.count("\n") == 1
    assert result.out == ""


def test_help_names_every_command(tried: Runner) -> None:
    bare, asked = tried(), tried("--help")

    assert bare.status == asked.status == 0
    for command in ("check", "rank", "pool", "conclude", "serve", "demo"):
        assert f"\n  {command} " in bare.out
        assert f"\n  {command} " in asked.out


def run_process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tried", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, **options)


def test_version_is_answered_before_the_command_line_is_loaded() -> None:
    script = (
        "import sys; sys.argv = ['tried', '--version']; from tried.__main__ import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    version, modules = done.stdout.splitlines()

    assert version == f"tried {__version__}"
    assert not {"typer", "rich", "pydantic", "numpy", "lsprotocol", "tried.cli"} & set(modules.split())


def test_version_takes_less_than_150_milliseconds() -> None:
    assert least_seconds(lambda: run_process("--version"), 0.150, clock=time.perf_counter) < 0.150


def test_a_reader_that_has_seen_enough_is_no_error(tmp_path: Path) -> None:
    pool = tmp_path / ".tried" / "pool.jsonl"
    pool.parent.mkdir()
    pool.write_text("".join(f'{{"id": "r{number}", "name": "{"x " * 100}"}}\n' for number in range(900)))
    command = f"{sys.executable} -m tried rank --text x --limit 900 | head -1"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True)

    assert done.stdout.startswith("  1  ")
    assert done.stderr == ""


def test_colours_are_for_terminals_only(tmp_path: Path) -> None:
    done = run_process("pool", cwd=REPOSITORY / "fixtures" / "demo", env={**os.environ, "TERM": "xterm-256color"})

    assert "\x1b" not in done.stdout
    assert "records in all" in done.stdout


@pytest.mark.parametrize(("no_colour", "escapes"), [("", True), ("1", False)])
def test_no_color_means_no_escapes_on_a_terminal_either(no_colour: str, escapes: bool) -> None:
    """Bold and dim are escapes too."""
    ours, theirs = os.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "NO_COLOR": no_colour}
    command = [sys.executable, "-m", "tried", "pool"]
    folder = REPOSITORY / "fixtures" / "demo"
    subprocess.run(command, cwd=folder, env=environment, stdout=theirs, timeout=60, check=True)
    os.close(theirs)
    shown = os.read(ours, 65536)
    os.close(ours)

    assert b"records in all" in shown
    assert (b"\x1b" in shown) is escapes


def test_a_terminal_that_knows_no_block_characters_shows_something(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = run_process("rank", "--text", "mixup", cwd=REPOSITORY / "fixtures" / "demo", env=environment)

    assert done.returncode == 0
    assert "HYD-011" in done.stdout
