"""A folder with its settings and its pool: what is read, and what is not."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from workspace_files import NOW, config, diverged, record, worked, write_journal

from tried.ranking.query import RetrievalQuery
from tried.workspace import Workspace, workspace_folder


def ids(workspace: Workspace) -> list[str]:
    return list(workspace.snapshot.records)


def refreshed(folder: Path | None, **arguments: object) -> Workspace:
    workspace = Workspace(folder, **arguments)  # type: ignore[arg-type]
    workspace.refresh()
    return workspace


def told_of_sources(workspace: Workspace) -> list[str]:
    return [problem.message for problem in workspace.source_problems.values()]


class TestNamedSources:
    """A source that settings name and that cannot be read is a problem of those settings, at its place in them."""

    def settings(self, folder: Path, *sources: str) -> Workspace:
        listed = "".join(f'  "{source}",\n' for source in sources)
        (folder / "tried.toml").write_text(f"[pool]\nsources = [\n{listed}]\n")
        return refreshed(folder)

    def test_one_that_is_missing_is_told_with_the_file_that_was_meant(self, tmp_path: Path) -> None:
        write_journal(tmp_path, worked("base"), name="runs/journal.jsonl")
        workspace = self.settings(tmp_path, "runs/journal.jsonl", "runs/jornal.jsonl")

        (problem,) = workspace.settings_problems
        assert (problem.path, problem.line, problem.key) == (tmp_path / "tried.toml", 2, "pool.sources[1]")
        assert problem.message == (
            'pool.sources[1]: "runs/jornal.jsonl": there is no such file; did you mean journal.jsonl?'
        )
        assert ids(workspace) == ["base"]

    def test_a_missing_folder_a_glob_without_files_and_a_folder_without_a_pool(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        assert told_of_sources(self.settings(tmp_path, "runs/a.jsonl", "logs/*.jsonl", "empty", "b.tsv")) == [
            f'pool.sources[0]: "runs/a.jsonl": there is no such file; nor is there a folder {tmp_path}/runs;'
            " correct the path",
            'pool.sources[1]: "logs/*.jsonl": matches no file',
            'pool.sources[2]: "empty": is a folder, not a journal, and neither a tracker\'s store nor a folder with'
            " a pool in it",
            'pool.sources[3]: "b.tsv": there is no such file; correct the path, or create the file',
        ]

    def test_it_is_told_no_more_once_it_is_there(self, tmp_path: Path) -> None:
        workspace = self.settings(tmp_path, "pool.jsonl")
        assert "no such file" in str(workspace.settings_problems[0])

        write_journal(tmp_path, worked("base"), name="pool.jsonl")
        workspace.refresh()

        assert not workspace.settings_problems

    def test_those_of_the_editor_say_so(self, tmp_path: Path) -> None:
        workspace = refreshed(tmp_path, editor_settings={"pool": {"sources": ["/nowhere/x.jsonl"]}})

        (problem,) = workspace.settings_problems
        assert problem.path is None
        assert problem.message.startswith(
            'editor settings: pool.sources[0]: "/nowhere/x.jsonl": there is no such file; nor is there a folder'
        )


class TestPool:
    def test_it_is_empty_before_the_first_refresh_and_follows_the_journal_after_it(self, tmp_path: Path) -> None:
        path = write_journal(tmp_path, worked("base"))
        workspace = Workspace(tmp_path)
        assert ids(workspace) == []

        first = workspace.refresh()
        assert ids(workspace) == ["base"]
        assert workspace.refresh() is first

        with path.open("a") as file:
            file.write('{"id": "next"}\n')
        assert workspace.refresh() is workspace.snapshot
        assert ids(workspace) == ["base", "next"]

    def test_a_journal_that_appears_is_found_at_the_next_refresh(self, tmp_path: Path) -> None:
        workspace = refreshed(tmp_path)
        write_journal(tmp_path, worked("base"))
        workspace.refresh()

        assert ids(workspace) == ["base"]

    def test_settings_name_further_sources_as_files_globs_and_folders(self, tmp_path: Path) -> None:
        for name in ("a/one.jsonl", "a/two.jsonl", "b/.tried/pool.jsonl", "three.jsonl"):
            write_journal(tmp_path, record(name), name=name)
        (tmp_path / "tried.toml").write_text(
            '[pool]\ndiscover = false\nsources = ["a/*.jsonl", "b", "three.jsonl", "none*.jsonl", "missing.jsonl"]\n'
        )
        workspace = refreshed(tmp_path)

        assert ids(workspace) == ["a/one.jsonl", "a/two.jsonl", "b/.tried/pool.jsonl", "three.jsonl"]
        assert list(workspace.source_problems) == [f"{tmp_path}/none*.jsonl", f"{tmp_path}/missing.jsonl"]
        assert [s.skipped[0].why for s in workspace.snapshot.sources if s.skipped] == ["there is no such file"]

    def test_a_glob_of_a_workspace_file_does_not_follow_a_link_outside(self, tmp_path: Path) -> None:
        secret = write_journal(tmp_path, record("secret"), name="secret.jsonl")
        folder = tmp_path / "workspace"
        (folder / "logs").mkdir(parents=True)
        (folder / "logs" / "link.jsonl").symlink_to(secret)
        (folder / "tried.toml").write_text('pool.sources = ["logs/*.jsonl"]\n')

        assert ids(refreshed(folder)) == []
        assert "link.jsonl: is a link out of the workspace and is not read" in told_of_sources(refreshed(folder))[0]
        assert ids(refreshed(folder, editor_settings={"pool": {"sources": ["logs/*.jsonl"]}})) == ["secret"]

    def test_extra_pools_come_beside_what_is_found_or_instead_of_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "workspace"
        write_journal(folder, worked("base"))
        extra = write_journal(tmp_path, record("extra"), name="extra.jsonl")

        assert ids(refreshed(folder, extra_pools=[extra])) == ["base", "extra"]
        assert ids(refreshed(folder, extra_pools=[extra], only_extra=True)) == ["extra"]
        assert ids(refreshed(None, extra_pools=[extra])) == ["extra"]

    def test_directions_that_are_declared_later_judge_everything_anew(self, tmp_path: Path) -> None:
        deltas = {"metric_delta": {"zeal": {"before": 1.0, "after": 2.0}}}
        write_journal(tmp_path, record("base"), record("next", parent="base", derivation=deltas))
        workspace = refreshed(tmp_path)
        assert workspace.snapshot.totals.dead_ends == 0

        (tmp_path / "tried.toml").write_text('metrics.directions = { zeal = "min" }\n')
        workspace.configure()
        workspace.refresh()

        assert workspace.snapshot.totals.dead_ends == 1

    def test_settings_follow_the_file_and_the_editor(self, tmp_path: Path) -> None:
        workspace = Workspace(
            tmp_path, editor_settings={"ranking": {"limit": 3}}, overrides={"editor": {"debounce_ms": 1}}
        )
        assert workspace.settings.ranking.limit == 3

        (tmp_path / "tried.toml").write_text("[ranking]\nlimit = 4\n[editor]\ndebounce_ms = 9\n[oops]\n")
        workspace.configure({})

        assert workspace.settings.ranking.limit == 4
        assert workspace.settings.editor.debounce_ms == 1
        assert [(p.path, p.line) for p in workspace.settings_problems] == [(tmp_path / "tried.toml", 5)]

    @pytest.mark.parametrize(
        ("source", "why"),
        [
            ("~nouser-of-that-name/x", "nobody has that home folder"),
            ("x" * 5000, "cannot be read: file name too long"),
            ("x\0y", "could not be read"),
            ("x**y/*.jsonl", "cannot be searched"),
        ],
    )
    def test_a_source_that_is_no_path_costs_itself_alone(self, tmp_path: Path, source: str, why: str) -> None:
        write_journal(tmp_path, worked("base"))
        workspace = refreshed(tmp_path, editor_settings={"pool": {"sources": [source]}})

        assert ids(workspace) == ["base"]
        (problem,) = workspace.settings_problems
        assert why in problem.message

    def test_a_folder_that_nobody_may_enter_costs_itself_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_journal(tmp_path, worked("base"), name=".soma/experiments.jsonl")
        write_journal(tmp_path, worked("hidden"))
        (tmp_path / "locked").mkdir()
        look = os.stat

        def guarded(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
            if {".tried", "locked"} & set(Path(str(path)).parts[:-1]):
                raise PermissionError(13, "Permission denied", str(path))
            return look(path, *arguments, **options)

        monkeypatch.setattr(os, "stat", guarded)
        workspace = refreshed(
            tmp_path, editor_settings={"pool": {"sources": [str(tmp_path / "locked" / "root"), "locked/*.jsonl"]}}
        )

        assert ids(workspace) == ["base"]
        told = {source.path: [skipped.why for skipped in source.skipped] for source in workspace.snapshot.sources}
        denied = ["cannot be read: permission denied"]
        assert told[str(tmp_path / ".tried" / "pool.jsonl")] == denied
        assert told[str(tmp_path / "locked" / "root")] == denied
        assert len(workspace.settings_problems) == 2

    def test_a_link_out_of_it_is_read_once_the_user_names_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "work"
        elsewhere = write_journal(tmp_path, worked("theirs"), name="elsewhere.jsonl")
        (folder / ".tried").mkdir(parents=True)
        (link := folder / ".tried" / "pool.jsonl").symlink_to(elsewhere)

        unread = refreshed(folder)
        assert ids(unread) == []
        assert [(note.where, note.why) for note in unread.notes] == [
            (str(link), "is a link out of the workspace and is not read without your consent")
        ]
        assert [(needed.path, needed.named_by) for needed in unread.consents_needed] == [(str(link), str(link))]
        named = refreshed(folder, editor_settings={"pool": {"sources": [str(link)]}})
        assert ids(named) == ["theirs"]
        assert named.notes == ()
        assert named.consents_needed == ()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
    def test_an_unreadable_journal_is_told(self, tmp_path: Path) -> None:
        write_journal(tmp_path, worked("base")).chmod(0)

        assert "permission" in refreshed(tmp_path).snapshot.sources[0].skipped[0].why

    def test_threads_see_one_state(self, tmp_path: Path) -> None:
        path = write_journal(tmp_path, worked("base"))
        workspace = refreshed(tmp_path)
        stop = threading.Event()
        seen: list[bool] = []

        def read() -> None:
            while not stop.is_set():
                snapshot = workspace.snapshot
                seen.append(len(snapshot) == len(snapshot.index))

        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for number in range(20):
            with path.open("a") as file:
                file.write(f'{{"id": "n{number}"}}\n')
            workspace.refresh()
        stop.set()
        for thread in threads:
            thread.join()

        assert len(workspace.snapshot) == 21
        assert seen
        assert all(seen)


class TestRanking:
    def test_limit_is_that_of_the_settings_unless_one_is_given(self, tmp_path: Path) -> None:
        write_journal(tmp_path, *(record(f"r{number:02}") for number in range(30)))
        workspace = refreshed(tmp_path, overrides={"ranking": {"limit": 4}})

        assert len(workspace.rank(RetrievalQuery(), NOW)) == 4
        assert len(workspace.rank(RetrievalQuery(), NOW, 7)) == 7

    def test_half_life_is_that_of_the_settings(self, tmp_path: Path) -> None:
        write_journal(tmp_path, record("r", timestamp="2026-11-20T12:00:00Z"))
        workspace = refreshed(tmp_path, overrides={"ranking": {"half_life_days": 10}})

        assert workspace.rank(RetrievalQuery(), NOW)[0].components.recency == pytest.approx(0.5)


class TestWorkspaceFolder:
    def test_the_nearest_folder_with_settings_wins(self, tmp_path: Path) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        (tmp_path / "a" / "tried.toml").touch()
        (tmp_path / "tried.toml").touch()
        (inner / "results.tsv").touch()

        assert workspace_folder(inner / "x.yaml") == tmp_path / "a"
        assert workspace_folder(inner / "x.yaml", within=tmp_path) == tmp_path / "a"
        assert workspace_folder(tmp_path / "x.yaml", within=tmp_path) == tmp_path

    def test_a_pyproject_counts_only_if_it_speaks_of_tried(self, tmp_path: Path) -> None:
        inner = tmp_path / "a"
        inner.mkdir()
        (tmp_path / "pyproject.toml").write_text("[tool.tried]\n")
        (inner / "pyproject.toml").write_text("[tool.ruff]\n")

        assert workspace_folder(inner / "x.yaml") == tmp_path

    def test_within_an_editors_folder_nothing_above_it_counts(self, tmp_path: Path) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        (tmp_path / "tried.toml").touch()

        assert workspace_folder(inner / "x.yaml", within=tmp_path / "a") == tmp_path / "a"

    @pytest.mark.parametrize("marker", [".tried", ".soma", ".git"])
    def test_without_settings_a_pool_or_repository_decides(self, tmp_path: Path, marker: str) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        (tmp_path / "a" / marker).mkdir()
        (inner / "results.tsv").touch()

        assert workspace_folder(inner / "x.yaml") == tmp_path / "a"

    def test_then_a_results_table_then_the_files_own_folder(self, tmp_path: Path) -> None:
        inner = tmp_path / "a" / "b"
        inner.mkdir(parents=True)
        assert workspace_folder(inner / "x.yaml") == inner

        (tmp_path / "a" / "results.tsv").touch()
        assert workspace_folder(inner / "x.yaml") == tmp_path / "a"


def test_a_change_of_the_pool_changes_what_is_said(tmp_path: Path) -> None:
    path = write_journal(tmp_path, worked("base"))
    workspace = refreshed(tmp_path)
    before = workspace.analyse(config(), tmp_path / "c.yaml", None, NOW)
    write_journal(tmp_path, worked("base"), diverged("hot"), name=str(path))
    workspace.refresh()
    after = workspace.analyse(config(), tmp_path / "c.yaml", None, NOW)

    assert [finding.severity for finding in before.findings] == []
    assert [(finding.code, finding.severity, finding.record) for finding in after.findings] == [
        ("repeat", "warning", "hot")
    ]
    assert after.generation > before.generation
