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
from cli_runner import Runner

from stopwatch import least_seconds
from tried import __version__

REPOSITORY = Path(__file__).parents[2]
PARAMS = {"lr": 0.1, "depth": 4, "width": 64, "dropout": 0.0}
CONFIG = "lr: 0.9\ndepth: 4\nwidth: 64\ndropout: 0.0\n"


def record(record_id: str, lr: float, **fields: Any) -> dict[str, Any]:
    return {"id": record_id, "name": record_id, "params": {**PARAMS, "lr": lr}, **fields}


HOT = record(
    "hot", 0.9, conclusion={"headline": "the loss [bold]exploded[/bold]"}, verdict="dead_end", cause="diverged"
)
RAN_BEFORE = "ran before: diverged, “the loss [bold]exploded[/bold]” (hot)"
WORSE = record("hot", 0.9, verdict="inconclusive")


class TestCheck:
    def test_a_finding_is_a_line_that_editors_can_jump_to(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("config.yaml", CONFIG)

        result = tried("check", "config.yaml")

        assert result.status == 1
        assert result.lines[0] == f"config.yaml:1:5: warning repeat: {RAN_BEFORE}"
        assert result.lines[1] == "1 config, 1 past run: 1 warning, 0 informations, 0 for the hover"
        assert result.err == ""

    def test_information_alone_is_no_failure(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("tried.toml", '[findings.severity]\nrepeat = "information"\n')
        tried.write("config.yaml", CONFIG)

        result = tried("check", "config.yaml")

        assert result.status == 0
        assert result.lines[0].startswith("config.yaml:1:5: information repeat: ")

    def test_what_is_for_the_hover_is_counted_and_shown_on_demand(self, tried: Runner) -> None:
        tried.journal(WORSE)
        tried.write("config.yaml", CONFIG)

        assert tried("check", "config.yaml").lines == [
            "1 config, 1 past run: 0 warnings, 0 informations, 1 for the hover"
        ]
        assert tried("check", "config.yaml", "--hover").lines[0].startswith("config.yaml:1:5: hover repeat: ran once")

    def test_a_folder_stands_for_the_configs_in_it(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("a/one.yaml", CONFIG)
        tried.write("a/b/two.json", json.dumps({**PARAMS, "lr": 0.9}))
        tried.write("a/notes.txt", "lr: 0.9")
        tried.write("a/.hidden/three.yaml", CONFIG)
        tried.write("a/node_modules/four.yaml", CONFIG)

        files = tried("check", "a", "--json").json["files"]

        assert [file["path"] for file in files] == ["a/one.yaml", "a/b/two.json"]

    def test_a_file_that_is_no_config_is_said_if_it_was_named(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("a/docker-compose.yml", "services: {}\n")
        tried.write("a/config.yaml", CONFIG)

        named, unnamed = tried("check", "a/docker-compose.yml"), tried("check", "a")

        assert named.status == 0
        assert "does not look like an experiment config" in named.lines[0]
        assert "docker-compose" not in unnamed.out

    def test_one_bad_file_does_not_hide_the_others(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("config.yaml", CONFIG)

        result = tried("check", "missing.yaml", "config.yaml")

        assert result.status == 2
        assert result.err == "tried: missing.yaml: there is no such file; check the path\n"
        assert result.lines[0].startswith("config.yaml:1:5: warning")

    def test_strange_files_are_survived_and_said(self, tried: Runner) -> None:
        tried.journal(HOT)
        (tried.folder / "binary.yaml").write_bytes(bytes(range(256)) * 100)
        (tried.folder / "utf16.yaml").write_bytes(CONFIG.encode("utf-16"))
        (tried.folder / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + CONFIG.encode())
        (tried.folder / "latin.yaml").write_bytes(b"# caf\xe9\n" + CONFIG.encode())
        tried.write("empty.yaml", "")
        tried.write("deep.yaml", "- " * 10_000 + "x")
        tried.write("large.yaml", CONFIG + "#" * 2_000_000)
        names = ("binary.yaml", "utf16.yaml", "bom.yaml", "latin.yaml", "empty.yaml", "deep.yaml", "large.yaml")

        result = tried("check", *names)

        assert result.status == 1
        assert "binary.yaml: not looked at: binary data" in result.lines
        assert "utf16.yaml: not looked at: binary data" in result.lines
        assert "large.yaml: not looked at: larger than editor.max_file_bytes (1048576 bytes)" in result.lines
        assert f"bom.yaml:1:5: warning repeat: {RAN_BEFORE}" in result.lines
        assert f"latin.yaml:2:5: warning repeat: {RAN_BEFORE}" in result.lines

    def test_a_comment_that_silences_nothing_is_told_in_the_order_of_the_text(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("config.yaml", "# tried: retry hat because\n" + CONFIG.rstrip() + "  # tried: ignor\n")

        result = tried("check", "config.yaml")

        assert result.status == 1
        assert result.lines[0] == (
            "config.yaml:1:1: note directive: silences nothing: no record hat in the pool; did you mean hot?"
        )
        assert result.lines[1].startswith("config.yaml:2:5: warning repeat: ")
        assert result.lines[2].startswith("config.yaml:5:15: note directive: `tried: ignor` is no directive: ")
        assert result.lines[3].startswith("1 config, 1 past run: 1 warning,")

    def test_a_folder_without_files_is_told_to_have_none(self, tried: Runner) -> None:
        tried.journal(HOT)
        (tried.folder / "empty").mkdir()

        result = tried("check", "empty")

        assert (result.status, result.out) == (0, "")
        assert result.err.startswith("tried: empty: holds no file of a config language (YAML, JSON, ")

    def test_a_research_line_that_no_record_has_is_told(self, tried: Runner) -> None:
        tried.journal({**HOT, "research_line": "Tiny-Vision"})
        tried.write("config.yaml", CONFIG)
        said = "tried: research_line tiny-vison: no record has it; did you mean Tiny-Vision?\n"

        assert tried("check", "config.yaml", "--research-line", "tiny-vison").err == said
        assert tried("check", "config.yaml", "--research-line", "tiny-vision").err == ""
        tried.write("tried.toml", 'research_line = "tiny-vison"\n')
        assert tried("pool").err == said
        assert tried("check", "config.yaml").err == said

    def test_no_pool_is_said_once_with_what_to_do(self, tried: Runner) -> None:
        for name in ("a.yaml", "b.yaml"):
            tried.write(name, CONFIG)

        result = tried("check", "a.yaml", "b.yaml")

        assert result.status == 0
        assert result.err.count("no past experiments found") == 1
        assert ".tried/pool.jsonl" in result.err

    def test_a_mistake_in_tried_toml_is_said_and_the_rest_goes_on(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("tried.toml", "[ranking]\nlimit = 0\n")
        tried.write("config.yaml", CONFIG)

        result = tried("check", "config.yaml")

        assert result.status == 1
        assert result.err == (
            f"tried: {tried.folder}/tried.toml:2: ranking.limit:"
            " expected a whole number from 1 to 1000, got 0; using 20\n"
        )

    def test_an_explicit_pool_is_all_that_is_read(self, tried: Runner) -> None:
        tried.journal(HOT)
        other = tried.journal(record("other", 0.5), name="elsewhere/pool.jsonl")
        tried.write("config.yaml", CONFIG)

        assert tried("check", "config.yaml", "--pool", other).status == 0
        assert tried("check", "config.yaml", "--pool", other, "--pool", ".tried/pool.jsonl").status == 1

    def test_the_research_line_of_a_config_can_be_given(self, tried: Runner) -> None:
        tried.journal(*({**HOT, "research_line": line, "id": line} for line in ("one", "two")))
        tried.write("config.yaml", CONFIG)

        finding = tried("check", "config.yaml", "--research-line", "two", "--json").json["files"][0]["findings"][0]

        assert finding["record"] == "two"


class TestWhatWasNotRead:
    """A check is not green in silence where a part of what was tried was not read."""

    def test_a_missing_source_of_tried_toml_is_told_and_the_rest_goes_on(self, tried: Runner) -> None:
        tried.journal(HOT)
        tried.write("tried.toml", '[pool]\nsources = ["runs/jornal.jsonl"]\n')
        tried.write("config.yaml", CONFIG)

        for command in (("check", "config.yaml"), ("rank", "config.yaml"), ("rank", "--text", "hot")):
            result = tried(*command)
            assert result.status == (1 if "check" in command else 0)
            assert result.err == (
                f'tried: {tried.folder}/tried.toml:2: pool.sources[0]: "runs/jornal.jsonl": there is no such file;'
                f" nor is there a folder {tried.folder}/runs; correct the path\n"
            )

    def test_where_every_named_source_is_missing_the_advice_is_not_to_name_one(self, tried: Runner) -> None:
        tried.write("tried.toml", 'pool.sources = ["a.jsonl", "b.jsonl"]\n')
        tried.write("config.yaml", CONFIG)

        result = tried("check", "config.yaml")

        assert result.status == 0
        assert [line.split(": ")[-1] for line in result.err.splitlines()[:2]] == [
            "there is no such file; correct the path, or create the file"
        ] * 2
        assert result.err.splitlines()[2] == (
            f"tried: no past experiments found in {tried.folder}, and none in what the settings name (see above):"
            " correct [pool] sources there, or pass --pool FILE"
        )

    def test_lines_that_were_not_read_are_told_in_one_line(self, tried: Runner) -> None:
        tried.journal(HOT).open("a").write("{\n" * 3)
        tried.journal({"id": "x"}, name="sub/.tried/pool.jsonl").open("a").write("[]\n")
        tried.write("config.yaml", CONFIG)

        result = tried("check", "config.yaml", "--json")

        assert result.status == 1
        assert result.err.startswith("tried: .tried/pool.jsonl: 3 lines not read as they stand (line 2: not valid JSON")
        assert result.err.endswith("), and more in 1 other source; see `tried pool`\n")
        assert result.err.count("\n") == 1

    @pytest.mark.parametrize("command", [("check", "config.yaml", "more.yaml"), ("rank", "config.yaml")])
    @pytest.mark.parametrize(
        ("pool", "why"),
        [
            ("none.jsonl", "there is no such file or folder"),
            ("empty", "is a folder, not a journal"),
            ("notes.csv", "not a results table: it needs a header and a status column"),
        ],
    )
    def test_a_given_pool_that_cannot_be_read_is_an_error(
        self, tried: Runner, command: tuple[str, ...], pool: str, why: str
    ) -> None:
        tried.journal(HOT)
        tried.write("config.yaml", CONFIG)
        tried.write("more.yaml", CONFIG)
        tried.write("notes.csv", "a,b\n1,2\n")
        (tried.folder / "empty").mkdir()

        result = tried(*command, "--pool", ".tried/pool.jsonl", "--pool", pool)

        assert (result.status, result.out) == (2, "")
        assert result.err.startswith(f"tried: --pool {pool}: {why}")
        assert result.err.endswith("; give a journal or a results table\n")
        assert result.err.count("\n") == 1

    def test_a_given_file_that_is_no_journal_is_told_to_be_none(self, tried: Runner) -> None:
        tried.write("notes.txt", "hello\nworld\n")

        result = tried("pool", "--pool", "notes.txt")

        assert result.err == (
            "tried: no past experiments in notes.txt: a pool is a tracker's store (mlflow.db, mlruns, wandb, outputs,"
            " …),"
            " a results table (.tsv, .csv), a journal (JSONL, a record a line), or a folder of them\n"
        )
        assert "not read: line 1: not valid JSON" in result.out


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
