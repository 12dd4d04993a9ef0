"""`tried check` as a person meets it: what is said of files, and what was not read."""

from __future__ import annotations

import json

import pytest
from cli_records import CONFIG, HOT, PARAMS, record
from cli_runner import Runner

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
