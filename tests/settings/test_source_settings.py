"""Which sources settings may name, and where: in a workspace only its own, unless the user said yes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from settings_files import told, write

from tried.settings import LoadedSettings, SourceSettings, load_settings

BOTH_FORMS = "`sources = […]` and `[[pool.sources]]` exclude each other: write all sources in one of the two forms"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('[pool]\nsources = ["a.db"]\n\n[[pool.sources]]\npath = "b.db"\n', BOTH_FORMS),
        ('pool.sources = ["a.db"]\n[[pool.sources]]\npath = "b.db"\n', BOTH_FORMS),
        ('[[pool.sources]]\npath = "b.db"\n\n[pool]\nsources = ["a.db"]\n', BOTH_FORMS),
        ('[pool]\nlimit = 1\nlimit = 2\n[[pool.sources]]\npath = "b.db"\n', "Cannot overwrite a value"),
    ],
)
def test_sources_in_two_forms_are_told_in_words_that_help(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "tried.toml").write_text(text, "utf-8")

    (problem,) = load_settings(tmp_path).problems

    assert problem.message == f"not TOML: {why}; defaults are used"


def paths(loaded: LoadedSettings) -> tuple[str, ...]:
    return tuple(source.path for source in loaded.settings.pool.sources)


class TestSourcesOutside:
    """A file of the workspace comes with the project; it must not make tried read other places by itself."""

    @pytest.mark.parametrize(
        "source", ["/etc/passwd", "../other/pool.jsonl", "a/../../x.jsonl", "//server/share/p.jsonl"]
    )
    def test_a_workspace_file_cannot_name_them(self, tmp_path: Path, source: str) -> None:
        write(tmp_path, f'[pool]\nsources = ["{source}", "logs/*.jsonl"]\n')

        loaded = load_settings(tmp_path)

        assert paths(loaded) == (str(tmp_path / "logs/*.jsonl"),)
        assert [(p.line, p.key) for p in loaded.problems] == [(2, "pool.sources[0]")]
        assert "lies outside the workspace and is not read without your consent" in loaded.problems[0].message
        assert [named.written for named in loaded.outside.values()] == [source]

    def test_what_the_user_consented_to_is_read(self, tmp_path: Path) -> None:
        elsewhere, workspace = tmp_path / "elsewhere", tmp_path / "workspace"
        elsewhere.mkdir()
        workspace.mkdir()
        (workspace / "runs").symlink_to(elsewhere, target_is_directory=True)
        write(
            workspace, f'pool.sources = ["{elsewhere}/pool.jsonl", "{elsewhere}/*/a.jsonl", "runs/b.tsv", "/x.jsonl"]\n'
        )

        loaded = load_settings(workspace, allowed=[str(elsewhere.resolve())])

        assert [Path(path).name for path in paths(loaded)] == ["pool.jsonl", "a.jsonl", "b.tsv"]
        assert loaded.trusted_sources == set(paths(loaded))
        assert list(loaded.outside) == ["/x.jsonl"]
        narrow = load_settings(workspace, allowed=[str(elsewhere.resolve() / "pool.jsonl")])
        assert [Path(path).name for path in paths(narrow)] == ["pool.jsonl"]

    def test_a_home_folder_in_a_workspace_file_is_a_name_like_any_other(self, tmp_path: Path) -> None:
        write(tmp_path, 'pool.sources = ["~/pool.jsonl"]\n')

        assert paths(load_settings(tmp_path)) == (str(tmp_path / "~/pool.jsonl"),)

    def test_a_link_that_leads_outside_is_outside(self, tmp_path: Path) -> None:
        outside, workspace = tmp_path / "outside", tmp_path / "workspace"
        outside.mkdir()
        workspace.mkdir()
        (workspace / "logs").symlink_to(outside, target_is_directory=True)
        write(workspace, 'pool.sources = ["logs/pool.jsonl"]\n')

        assert paths(load_settings(workspace)) == ()

    def test_the_user_can_name_them_anywhere(self, tmp_path: Path) -> None:
        loaded = load_settings(tmp_path, {"pool": {"sources": ["/data/pool.jsonl", "~/pool.jsonl", "near.jsonl"]}})

        expected = ("/data/pool.jsonl", str(Path("~/pool.jsonl").expanduser()), str(tmp_path / "near.jsonl"))
        assert paths(loaded) == expected
        assert loaded.trusted_sources == set(expected)
        assert loaded.problems == ()

    def test_what_both_name_is_read_and_is_no_problem(self, tmp_path: Path) -> None:
        write(tmp_path, 'pool.sources = ["/data/pool.jsonl"]\n')

        loaded = load_settings(tmp_path, {"pool": {"sources": ["/data/pool.jsonl"]}})

        assert paths(loaded) == ("/data/pool.jsonl",)
        assert loaded.problems == ()
        assert loaded.outside == {}


class TestSourceTables:
    def test_a_table_says_more_and_a_name_alone_takes_nothing_back(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            """
            [[pool.sources]]
            path = "mlflow.db"
            research_line = "vision"
            experiments = ["v*", "!*debug"]
            tags = ["kept"]
            statuses = ["completed", "failed"]
            max-age-days = 90
            """,
        )

        loaded = load_settings(tmp_path, {"pool": {"sources": ["mlflow.db", {"path": "x.tsv", "enable": False}]}})

        assert loaded.problems == ()
        assert loaded.settings.pool.sources == (
            SourceSettings(
                path=str(tmp_path / "mlflow.db"),
                research_line="vision",
                experiments=("v*", "!*debug"),
                tags=("kept",),
                statuses=("completed", "failed"),
                max_age_days=90.0,
            ),
            SourceSettings(path=str(tmp_path / "x.tsv"), enable=False),
        )

    @pytest.mark.parametrize(
        ("item", "complaint"),
        [
            ("3", "pool.sources[0]: expected some text or a table, got 3; ignored"),
            ('""', 'pool.sources[0]: expected some text or a table, got ""; ignored'),
            ("{ enable = true }", "pool.sources[0]: needs a path; this source is not read"),
            (
                '{ path = "a", statuses = ["won"] }',
                'pool.sources[0].statuses: expected a list of one of "completed", "failed", "crashed", "stopped",'
                ' "pruned", "running", got ["won"]; this source is not read',
            ),
            (
                '{ path = "a", max_age_days = 0 }',
                "pool.sources[0].max_age_days: expected a number above 0, at most 36500, got 0;"
                " this source is not read",
            ),
            (
                '{ path = "a", tag = ["x"] }',
                "pool.sources[0].tag: unknown setting, this source is not read; did you mean tags?",
            ),
        ],
    )
    def test_mistakes_are_told(self, tmp_path: Path, item: str, complaint: str) -> None:
        write(tmp_path, f"pool.sources = [{item}]\n")

        loaded = load_settings(tmp_path)

        assert paths(loaded) == ()
        assert told(loaded) == [(1, complaint)]

    def test_kinds_that_do_not_exist_are_told(self, tmp_path: Path) -> None:
        write(tmp_path, 'pool.disable = ["wandb", "wnadb", "x"]\n')

        loaded = load_settings(tmp_path)

        assert loaded.settings.pool.disable == ("wandb",)
        first, second = told(loaded)
        assert first == (1, 'pool.disable[1]: "wnadb" is no kind of source, ignored; did you mean wandb?')
        assert second[1].startswith('pool.disable[2]: "x" is no kind of source, ignored; known here: journal, mlflow, ')


class TestRemoteTrackers:
    TABLE = """
        [[remote]]
        kind = "mlflow"
        address = "https://mlflow.example.org"
        token_variable = "TEAM_TOKEN"
        """

    def test_a_file_of_the_workspace_cannot_name_one(self, tmp_path: Path) -> None:
        write(tmp_path, self.TABLE)

        loaded = load_settings(tmp_path)

        assert loaded.settings.remote == ()
        (problem,) = loaded.problems
        assert (problem.path, problem.key) == (tmp_path / "tried.toml", "remote[0]")
        assert "refused: no project may make tried talk to a server; put [[remote]] into" in problem.message

    def test_the_users_own_file_and_editor_can(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        own, workspace = tmp_path / "config", tmp_path / "workspace"
        (own / "tried").mkdir(parents=True)
        workspace.mkdir()
        monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
        write(own / "tried", self.TABLE + '[pool]\nsources = ["/data/x.jsonl", "near.jsonl"]\n')
        write(workspace, "[ranking]\nlimit = 7\n")

        loaded = load_settings(workspace, {"remote": [{"kind": "wandb", "projects": ["me/p"]}]})

        assert loaded.problems == ()
        assert [(one.kind, one.address, one.projects, one.token_variable) for one in loaded.settings.remote] == [
            ("mlflow", "https://mlflow.example.org", (), "TEAM_TOKEN"),
            ("wandb", "", ("me/p",), None),
        ]
        assert paths(loaded) == ("/data/x.jsonl", str(workspace / "near.jsonl"))
        assert loaded.trusted_sources == set(paths(loaded))
        assert loaded.settings.ranking.limit == 7

    @pytest.mark.parametrize(
        ("table", "complaint"),
        [
            ({"kind": "mlflow"}, "needs an address"),
            ({"kind": "wandb"}, 'needs projects, such as ["entity/project"]'),
            ({"kind": "neptune"}, 'expected one of "mlflow", "wandb", got "neptune"; nothing is fetched'),
            ({"kind": "mlflow", "token": "s3cret"}, "unknown setting, nothing is fetched"),
        ],
    )
    def test_mistakes_are_told_and_nothing_is_fetched(self, table: dict[str, Any], complaint: str) -> None:
        loaded = load_settings(None, {"remote": [table]})

        assert loaded.settings.remote == ()
        assert complaint in loaded.problems[0].message
        assert "s3cret" not in loaded.problems[0].message
