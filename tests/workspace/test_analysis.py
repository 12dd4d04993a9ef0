"""One text against one pool: what is a config, what is said about it, and what is kept quiet."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from workspace_files import NOW, config, diverged, record, worked, write_journal

from tried.analysis import Analysis, analyse
from tried.draft.entries import ParsedConfig
from tried.draft.syntax import parse
from tried.findings.finding import Finding
from tried.settings import Settings
from tried.workspace import Workspace

Analyse = Callable[..., Analysis]


@pytest.fixture
def analysis_of(tmp_path: Path) -> Analyse:
    """Analyses a text in a workspace with a baseline and a run that diverged."""
    write_journal(tmp_path, worked("base"), diverged("hot"))

    def run(text: str, name: str = "configs/c.yaml", language_id: str | None = None, **overrides: Any) -> Analysis:
        workspace = Workspace(tmp_path, overrides=overrides)
        workspace.refresh()
        return workspace.analyse(text, tmp_path / name, language_id, NOW)

    return run


def told(analysis: Analysis) -> list[tuple[str, str, str]]:
    return [(finding.code, finding.severity, finding.record) for finding in analysis.findings]


def test_a_config_that_repeats_a_dead_end(analysis_of: Analyse) -> None:
    text = config(0.9)
    analysis = analysis_of(text)

    assert analysis.is_config
    assert analysis.language == "yaml"
    assert told(analysis) == [("repeat", "warning", "hot")]
    assert analysis.findings[0].span.of(text) == "0.9"
    assert {scored.record.id for scored in analysis.ranking} == {"base", "hot"}
    assert analysis.query is not None


def test_the_same_arguments_give_the_same_analysis(analysis_of: Analyse) -> None:
    assert analysis_of(config(0.9)) == analysis_of(config(0.9))


@pytest.mark.parametrize(
    ("text", "name", "why"),
    [
        ("lr: 1\0", "c.yaml", "binary data"),
        ("lr: 0.1 # " + "x" * 2000, "c.yaml", "larger than editor.max_file_bytes (1024 bytes)"),
        ("lr: 0.1 # " + "漢" * 400, "c.yaml", "larger than editor.max_file_bytes (1024 bytes)"),
        ("lr: 0.1", "c.txt", "no config language"),
    ],
)
def test_what_is_not_looked_at_is_said(analysis_of: Analyse, text: str, name: str, why: str) -> None:
    analysis = analysis_of(text, name, editor={"max_file_bytes": 1024})

    assert not analysis.is_config
    assert analysis.passed_over == why
    assert (analysis.drafts, analysis.findings, analysis.ranking) == ((), (), ())


def test_a_text_just_as_large_as_allowed_is_looked_at(analysis_of: Analyse) -> None:
    text = config(0.9)
    padded = text + "#" + "x" * (1024 - len(text) - 1)

    assert told(analysis_of(padded, editor={"max_file_bytes": 1024})) == [("repeat", "warning", "hot")]


def test_what_its_name_says_to_be_something_else_is_not_even_parsed(
    analysis_of: Analyse, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, parsed = config(0.9), []

    def parse_and_tell(text: str, language: str) -> ParsedConfig:
        parsed.append(language)
        return parse(text, language)

    monkeypatch.setattr("tried.draft.syntax.parse", parse_and_tell)

    silent = analysis_of(text, "pnpm-lock.yaml")
    assert (silent.is_config, silent.language, parsed) == (False, "yaml", [])
    assert not analysis_of(text, config={"exclude": ["configs/**"]}).is_config
    assert parsed == []
    assert told(analysis_of(text, "pnpm-lock.yaml", config={"include": ["*-lock.yaml"]})) == [
        ("repeat", "warning", "hot")
    ]
    assert parsed == ["yaml"]


STRANGE = ["", "\ufeff", "- " * 9_000 + "x", "{" * 10_000, "a: &a [*a, *a]", "\u2028", "lr: [\n"]


@pytest.mark.parametrize("text", STRANGE)
@pytest.mark.parametrize("name", ["c.yaml", "c.json", "c.toml", "c.py", "c.env"])
def test_no_text_is_too_strange(analysis_of: Analyse, text: str, name: str) -> None:
    analysis = analysis_of(text, name)

    assert analysis.findings == ()


def test_other_files_are_no_configs_unless_settings_say_so(analysis_of: Analyse) -> None:
    assert not analysis_of(config(0.9), "docker-compose.yml").is_config
    assert not analysis_of(config(0.9), config={"exclude": ["configs/**"]}).is_config
    included = analysis_of(config(0.9), "docker-compose.yml", config={"include": ["docker-*.yml"]})
    assert told(included) == [("repeat", "warning", "hot")]


def test_findings_can_be_turned_off_and_softened(analysis_of: Analyse) -> None:
    assert told(analysis_of(config(0.9), findings={"enable": False})) == []
    assert told(analysis_of(config(0.9), findings={"severity": {"repeat": "information"}})) == [
        ("repeat", "information", "hot")
    ]
    assert told(analysis_of(config(0.9), findings={"minimum_compared": 9, "severity": {"move": "off"}})) == []


def test_every_document_of_a_file_is_a_draft_and_the_first_with_content_is_the_query(analysis_of: Analyse) -> None:
    analysis = analysis_of(f"---\n# nothing\n---\n{config(0.9)}---\n{config(0.1)}")

    assert told(analysis)[0] == ("repeat", "warning", "hot")
    assert len(analysis.drafts) >= 2
    assert analysis.query is not None
    assert "sgd" in analysis.query.text


def mistakes(text: str, analysis: Analysis) -> list[tuple[str, str]]:
    return [(mistake.message, mistake.span.of(text)) for mistake in analysis.mistakes]


class TestMistakesInSilencing:
    """Whoever silences and mistypes must not believe that it is silent."""

    def test_a_retry_of_no_record_is_told_with_the_one_that_was_meant(self, analysis_of: Analyse) -> None:
        text = config("0.9  # tried: retry hott because of the new warmup")
        analysis = analysis_of(text)

        assert mistakes(text, analysis) == [
            (
                "silences nothing: no record hott in the pool; did you mean hot?",
                "# tried: retry hott because of the new warmup",
            )
        ]
        assert told(analysis) == [("repeat", "warning", "hot")]

    def test_one_that_is_like_none(self, analysis_of: Analyse) -> None:
        text = config('0.9  # tried: retry "a\\nb" because')

        assert [message for message, _ in mistakes(text, analysis_of(text))] == [
            "silences nothing: no record a b in the pool"
        ]

    def test_a_directive_that_cannot_be_read_is_among_them(self, analysis_of: Analyse) -> None:
        text = config("0.9  # tried: ignor")

        assert [span for _, span in mistakes(text, analysis_of(text))] == ["# tried: ignor"]

    def test_a_retry_by_id_alias_or_last_part_silences_and_is_none(self, tmp_path: Path) -> None:
        write_journal(tmp_path, worked("base"), diverged("mlflow:7:abc", aliases=["wandb:x1"]))
        workspace = Workspace(tmp_path)
        workspace.refresh()

        for named in ("mlflow:7:abc", "wandb:x1", "abc"):
            analysis = workspace.analyse(config(f"0.9  # tried: retry {named}"), tmp_path / "c.yaml", None, NOW)
            assert (told(analysis), analysis.mistakes) == ([], ()), named
        analysis = workspace.analyse(config("0.9  # tried: retry ab"), tmp_path / "c.yaml", None, NOW)
        assert (told(analysis), len(analysis.mistakes)) == ([("repeat", "warning", "mlflow:7:abc")], 1)

    def test_an_empty_pool_knows_no_better(self, tmp_path: Path) -> None:
        analysis = Workspace(tmp_path).analyse(config("0.9  # tried: retry hot"), tmp_path / "c.yaml", None, NOW)

        assert analysis.is_config
        assert analysis.mistakes == ()


class TestSilence:
    @pytest.mark.parametrize(
        "silence",
        [
            {"path": "configs/c.yaml"},
            {"path": "*.yaml"},
            {"path": "configs/**"},
            {"key": "lr"},
            {"code": "repeat"},
            {"code": "repeat/repeat"},
            {"code": "repeat/diverged"},
            {"id": "hot"},
            {"path": "*.yaml", "key": "lr", "code": "repeat", "id": "hot", "reason": "to show it"},
        ],
    )
    def test_what_matches_in_all_that_is_given_is_not_told(self, analysis_of: Analyse, silence: dict[str, str]) -> None:
        assert told(analysis_of(config(0.9), silence=[silence])) == []

    @pytest.mark.parametrize(
        "silence",
        [
            {"path": "other/c.yaml"},
            {"key": "depth"},
            {"code": "dead-end"},
            {"id": "base"},
            {"path": "*.yaml", "id": "base"},
        ],
    )
    def test_what_does_not_is_told(self, analysis_of: Analyse, silence: dict[str, str]) -> None:
        assert told(analysis_of(config(0.9), silence=[silence])) == [("repeat", "warning", "hot")]


class TestOwnRun:
    """A file unchanged since the run that it started is not told about itself."""

    def test_a_config_saved_before_its_run_is_not_told_while_it_stays_as_it_was(self, tmp_path: Path) -> None:
        path = tmp_path / "c.yaml"
        path.write_text(config(0.9) + "seed: 7\n")
        os.utime(path, (1_700_000_000, 1_700_000_000))  # long before the run of 2026-11-01
        hot = diverged("hot")
        write_journal(tmp_path, worked("base"), {**hot, "params": {**hot["params"], "seed": 7}})
        workspace = Workspace(tmp_path)
        workspace.refresh()

        unchanged = workspace.analyse(path.read_text(), path, None, NOW)
        edited = workspace.analyse(path.read_text() + "# again\n", path, None, NOW)

        assert [finding for finding in unchanged.findings if finding.severity != "hover"] == []
        assert told(edited) == [("repeat", "warning", "hot")]

    def test_the_config_in_a_runs_own_folder_is_not_told_of_that_run(self, tmp_path: Path) -> None:
        write_journal(tmp_path, worked("base"), diverged("hot", run_dir="runs/7"))
        workspace = Workspace(tmp_path)
        workspace.refresh()

        assert told(workspace.analyse(config(0.9), tmp_path / "runs/7/.hydra/config.yaml", None, NOW)) == []
        elsewhere = workspace.analyse(config(0.9), tmp_path / "runs/8/config.yaml", None, NOW)
        assert told(elsewhere) == [("repeat", "warning", "hot")]

    def test_a_run_folder_that_is_the_whole_workspace_means_nothing(self, tmp_path: Path) -> None:
        write_journal(tmp_path, worked("base"), diverged("hot", run_dir="."))
        workspace = Workspace(tmp_path)
        workspace.refresh()

        assert told(workspace.analyse(config(0.9), tmp_path / "c.yaml", None, NOW)) == [("repeat", "warning", "hot")]


class TestBesideAResultsTable:
    TABLE = (
        "commit\tval_loss\tmemory_gb\tstatus\tdescription\n"
        "a1b2c3d\t1.20\t9.0\tkeep\tbaseline\n"
        "b1b2c3d\tnan\t9.0\tcrash\tLR 0.01 -> 0.3: diverged\n"
    )
    SCRIPT = "LR = 0.3\nDEPTH = 4\n\ndef main():\n    pass\n"

    def test_a_script_belongs_to_the_tables_research_line(self, tmp_path: Path) -> None:
        folder = tmp_path / "speed"
        folder.mkdir()
        (folder / "results.tsv").write_text(self.TABLE)
        write_journal(tmp_path, record("other"))
        workspace = Workspace(tmp_path)
        workspace.refresh()

        analysis = workspace.analyse(self.SCRIPT, folder / "train.py", None, NOW)

        assert analysis.is_config
        assert analysis.drafts[0].research_line == "speed"
        assert [(finding.evidence, finding.blamed) for finding in analysis.findings] == [("move", ("LR",))]

    def test_one_that_names_its_own_keeps_it(self, tmp_path: Path) -> None:
        (tmp_path / "results.tsv").write_text(self.TABLE)
        workspace = Workspace(tmp_path)
        workspace.refresh()

        analysis = workspace.analyse('PROJECT = "mine"\n' + self.SCRIPT, tmp_path / "train.py", None, NOW)

        assert analysis.drafts[0].research_line == "mine"


def test_a_finding_rests_on_the_snapshot_that_was_given(tmp_path: Path) -> None:
    write_journal(tmp_path, worked("base"), diverged("hot"))
    workspace = Workspace(tmp_path)
    empty = workspace.snapshot
    full = workspace.refresh()

    def findings(snapshot: Any) -> tuple[Finding, ...]:
        path = tmp_path / "c.yaml"
        return analyse(config(0.9), path, "yaml", NOW, snapshot=snapshot, settings=Settings()).findings

    assert findings(empty) == ()
    assert len(findings(full)) == 1
