"""What is found in a workspace folder without being told."""

import json
import os
import sqlite3
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from tried.pool.sources import discovery, registry
from tried.pool.sources.discovery import discover, project_of
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.registry import Hints, Plugins, SourceKind
from tried.pool.sources.sniffing import source_of
from tried.pool.sources.tables.results_table import ResultsTableSource

TABLE = "commit\tval_loss\tstatus\tdescription\na1a1a1a\t1\tkeep\tx\n"


def put(folder: Path, *places: str) -> None:
    for place in places:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TABLE if path.suffix in (".tsv", ".csv") else "")


def journal(path: Path, project: Path | None) -> JournalSource:
    return JournalSource(path)


NO_COMMITS = (registry.COMMITS.name,)


def exits(*_: object) -> Any:
    raise SystemExit(3)


def found(folder: Path, *exclude: str) -> list[str]:
    sources = discover(folder, exclude, disabled=NO_COMMITS).sources
    return [source.path.relative_to(folder).as_posix() for source in sources]


def test_journals_come_first_and_ours_before_all(tmp_path: Path) -> None:
    put(
        tmp_path,
        "results.tsv",
        "a/.soma/experiments.jsonl",
        ".tried/pool.jsonl",
        ".soma/experiments.jsonl",
        "a/b/my_results_2.tsv",
    )
    assert found(tmp_path) == [
        ".tried/pool.jsonl",
        ".soma/experiments.jsonl",
        "a/.soma/experiments.jsonl",
        "a/b/my_results_2.tsv",
        "results.tsv",
    ]
    assert [source.kind for source in discover(tmp_path).sources] == ["journal"] * 3 + ["results-table"] * 2


@pytest.mark.parametrize(
    "place",
    [
        *(
            "node_modules/x/results.tsv",
            ".git/results.tsv",
            "venv/results.tsv",
            ".hidden/results.tsv",
        ),
        *("lib/site-packages/results.tsv", "wandb/results.tsv", "__pycache__/results.tsv", "1/2/3/4/5/6/7/results.tsv"),
        *("data.tsv", "pool.jsonl", "tried/pool.jsonl"),
    ],
)
def test_what_is_passed_over(tmp_path: Path, place: str) -> None:
    put(tmp_path, place)
    assert found(tmp_path) == []


@pytest.mark.parametrize("store", ["mlruns", "multirun", "wandb", "lightning_logs"])
def test_the_inside_of_a_trackers_store_is_its_kinds_alone(tmp_path: Path, store: str) -> None:
    put(tmp_path, f"{store}/0/results.tsv")
    assert set(found(tmp_path)) <= {store}


def test_environments_of_any_name_are_passed_over(tmp_path: Path) -> None:
    put(tmp_path, "py312/pyvenv.cfg", "py312/share/results.tsv", "conda/conda-meta/history", "conda/results.tsv")
    assert found(tmp_path) == []


def test_a_file_of_that_name_that_is_no_results_table_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "results.tsv").write_text("gene\tp\nA\t0.1\n")
    (tmp_path / "other_results.tsv").write_bytes(b"\x00\xff" * 100)
    assert found(tmp_path) == []


def test_what_is_excluded(tmp_path: Path) -> None:
    put(tmp_path, "old/results.tsv", "new/results.tsv", "old/.tried/pool.jsonl")
    assert found(tmp_path, "old") == ["new/results.tsv"]
    assert found(tmp_path, "*.tsv") == ["old/.tried/pool.jsonl"]


def test_links_to_folders_are_not_followed(tmp_path: Path) -> None:
    put(tmp_path, "a/results.tsv")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert found(tmp_path) == ["a/results.tsv"]


def test_the_search_ends_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, *(f"{number}/results.tsv" for number in range(8)))
    assert discover(tmp_path).limits == ()
    monkeypatch.setattr(discovery, "SOURCE_LIMIT", 3)
    some = discover(tmp_path)
    assert len(some.sources) == 3
    assert "name further ones in tried.toml" in some.limits[0].why
    monkeypatch.setattr(discovery, "FOLDER_LIMIT", 2)
    assert "2 folders were searched" in discover(tmp_path).limits[0].why
    assert "it took too long" in discover(tmp_path, seconds=-1.0).limits[0].why


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert discover(tmp_path / "none").sources == ()


def test_a_table_is_named_by_its_place_in_the_repository(tmp_path: Path) -> None:
    put(tmp_path, "clone/.git/HEAD", "clone/work/phase1/results.tsv")
    assert project_of(tmp_path / "clone" / "work") == tmp_path / "clone"
    for opened in ("clone", "clone/work"):
        (source,) = discover(tmp_path / opened, disabled=NO_COMMITS).sources
        assert isinstance(source, ResultsTableSource)
        assert source.name == "work/phase1/results.tsv"
        assert source.research_line == "work/phase1"


def test_a_named_file_is_a_table_by_its_suffix_and_else_a_journal(tmp_path: Path) -> None:
    assert source_of(tmp_path / "x.tsv", tmp_path) == ResultsTableSource(tmp_path / "x.tsv", tmp_path)
    assert isinstance(source_of(tmp_path / "x.CSV"), ResultsTableSource)
    assert source_of(tmp_path / "x.jsonl") == JournalSource(tmp_path / "x.jsonl")
    assert isinstance(source_of(tmp_path / "x"), JournalSource)


def test_a_folder_of_very_many_does_not_use_up_the_search(tmp_path: Path) -> None:
    for number in range(1_200):
        (tmp_path / "data" / f"{number:05}").mkdir(parents=True)
    put(tmp_path, "data/00007/results.tsv", "data/00900/results.tsv", "late/1/2/results.tsv")
    some = discover(tmp_path)
    assert [source.path.relative_to(tmp_path).as_posix() for source in some.sources] == [
        "data/00007/results.tsv",
        "late/1/2/results.tsv",
    ]
    assert [(note.where, note.why) for note in some.notes] == [
        (
            str(tmp_path / "data"),
            "of its 1,200 folders the first 500 were searched for pools; name those in others in tried.toml",
        )
    ]


def test_what_version_control_ignores_is_searched(tmp_path: Path) -> None:
    put(tmp_path, ".git/HEAD", "runs/results.tsv")
    (tmp_path / ".gitignore").write_text("runs/\n")
    assert found(tmp_path) == ["runs/results.tsv"]


def test_kinds_that_are_switched_off_are_not_looked_for(tmp_path: Path) -> None:
    put(tmp_path, "results.tsv", ".tried/pool.jsonl")
    assert [s.kind for s in discover(tmp_path, disabled=["results-table"]).sources] == ["journal"]


class TestKinds:
    """What kinds of sources, of plug-ins too, may do to the search."""

    def use(self, monkeypatch: pytest.MonkeyPatch, *kinds: SourceKind) -> None:
        monkeypatch.setattr(registry, "plugins", lambda: Plugins(kinds))

    def test_a_store_is_found_and_not_searched(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def store_at(place: Path, folders: Collection[str], files: Collection[str]) -> list[Path]:
            return [place / "logbook"] if "logbook" in folders else []

        self.use(monkeypatch, SourceKind("logbook", store_at, journal))
        put(tmp_path, "results.tsv", "a/logbook/results.tsv")
        assert found(tmp_path) == ["results.tsv", "a/logbook"]

    def test_one_that_is_not_whole_is_searched_as_well(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def store_at(place: Path, folders: Collection[str], files: Collection[str]) -> list[Path]:
            return [place] if ".logbook" in folders else []

        put(tmp_path, "a/results.tsv", "a/.logbook/x")
        self.use(monkeypatch, SourceKind("logbook", store_at, journal, whole=False))
        assert found(tmp_path) == ["a/results.tsv", "a"]

    def test_one_that_fails_costs_itself_alone(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def raises(*_: object) -> list[Path]:
            raise RuntimeError("boom")

        def makes_nothing(path: Path, project: Path | None) -> JournalSource:
            raise ValueError("no")

        put(tmp_path, "results.tsv", "a/results.tsv")
        self.use(
            monkeypatch,
            SourceKind("bad", raises, journal),
            SourceKind("worse", lambda place, folders, files: [place / "w"], makes_nothing),
        )
        some = discover(tmp_path)
        assert [source.kind for source in some.sources] == ["results-table", "results-table"]
        assert [(note.where, note.why) for note in some.notes] == [
            (f"bad: {tmp_path}", "could not look for stores, RuntimeError: boom"),
            (str(tmp_path / "a" / "w"), "no source of kind worse could be made, ValueError: no"),
        ]

    @pytest.mark.parametrize(
        ("given", "why"),
        [
            ({"store_at": lambda *_: None}, "could not look for stores, TypeError: 'NoneType' object is not iterable"),
            ({"store_at": lambda *_: ["x"]}, "could not look for stores, TypeError: store_at gave a str for a path"),
            ({"hints": 5}, "could not look for stores, AttributeError: 'int' object has no attribute 'fit'"),
            ({"store_at": exits}, "could not look for stores, SystemExit: 3"),
            (
                {"make": lambda *_: None},
                "no source of kind odd could be made, TypeError: it made a NoneType, which is no source",
            ),
            ({"make": exits}, "no source of kind odd could be made, SystemExit: 3"),
        ],
    )
    def test_one_that_gives_nonsense_costs_itself_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], why: str
    ) -> None:
        put(tmp_path, "results.tsv")
        (tmp_path / "loop").symlink_to(tmp_path)  # a folder with links asks the hints for names, too
        kind = SourceKind("odd", **{"store_at": lambda place, *_: [place / "odd"], "make": journal, **given})
        self.use(monkeypatch, kind)
        some = discover(tmp_path)
        assert [source.kind for source in some.sources] == ["results-table"]
        assert [note.why for note in some.notes] == [why]

    @pytest.mark.parametrize("inside", [False, True])
    def test_what_one_finds_elsewhere_is_read_with_consent_only(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: bool
    ) -> None:
        work, other = tmp_path / "work", tmp_path / "other"
        work.mkdir()
        put(other, "log.jsonl")
        place = Path("..") / "other" / "log.jsonl" if inside else other / "log.jsonl"
        self.use(monkeypatch, SourceKind("odd", lambda *_: [place], journal))
        some = discover(work)
        assert some.sources == ()
        assert some.links == (work / place,)
        assert [note.why for note in some.notes] == [
            "lies outside of the workspace and is not read without your consent"
        ]
        (allowed,) = discover(work, allowed=[str(other)]).sources
        assert allowed.path == work / place


JOB = ".hydra/config.yaml"
WANDB_FILE = "wandb/run-20260301_100000-abcd1234/files/config.yaml"


@pytest.mark.parametrize(
    ("opened", "store"),
    [
        ("outputs/2026-01-01", "outputs/2026-01-01"),
        ("outputs/2026-01-01/10-00-00", "outputs/2026-01-01/10-00-00"),
        ("outputs", "outputs"),
        ("runs/a", "runs/a"),
        ("runs", "runs"),
        ("", "outputs"),
    ],
)
def test_of_a_store_that_begins_above_the_workspace_only_what_is_in_it_is_read(
    tmp_path: Path, opened: str, store: str
) -> None:
    for job in ("outputs/2026-01-01/10-00-00", "outputs/2026-01-02/11-00-00", "runs/a", "runs/b"):
        put(tmp_path, f"{job}/{JOB}")
    sources = discover(tmp_path / opened, disabled=NO_COMMITS).sources
    assert (sources[0].kind, sources[0].path) == ("hydra", tmp_path / store)
    assert len(sources) == (1 if opened else 2)


def test_the_same_holds_for_a_folder_elsewhere_that_somebody_named(tmp_path: Path) -> None:
    put(tmp_path, f"elsewhere/runs/a/{JOB}", f"elsewhere/runs/b/{JOB}", f"work/runs/a/{JOB}", f"work/runs/b/{JOB}")
    work = tmp_path / "work"
    (named,) = discover(tmp_path / "elsewhere" / "runs" / "a", within=work, disabled=NO_COMMITS).sources
    assert named.path == tmp_path / "elsewhere" / "runs" / "a"
    (inner,) = discover(work / "runs" / "a", within=work, disabled=NO_COMMITS).sources
    assert inner.path == work / "runs", "the workspace is the bound for what lies in it"


def test_wandb_in_the_folder_of_a_job_is_no_store_of_its_own(tmp_path: Path) -> None:
    put(tmp_path, f"one/{JOB}", f"one/{WANDB_FILE}", f"two/{JOB}", WANDB_FILE)
    assert found(tmp_path) == [".", "wandb"], "the workspace's own is one"
    assert [source.kind for source in discover(tmp_path / "one", disabled=NO_COMMITS).sources] == ["hydra"]
    alone = discover(tmp_path / "one", disabled=(*NO_COMMITS, "hydra")).sources
    assert [(source.kind, source.path) for source in alone] == [("wandb", tmp_path / "one" / "wandb")]


def test_mlruns_in_the_folder_of_a_job_are_read_if_they_are_named(tmp_path: Path) -> None:
    mlruns = tmp_path / "outputs" / "2026-01-01" / "10-00-00" / "mlruns"
    put(mlruns.parent, JOB)
    put(mlruns, "0/meta.yaml")
    assert found(tmp_path) == ["outputs"]
    assert source_of(mlruns, tmp_path, ()).kind == "mlflow"


class TestLinks:
    """Nobody's files elsewhere are read because a folder says so."""

    def place(self, tmp_path: Path) -> tuple[Path, Path]:
        folder, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
        put(folder, "runs/results.tsv")
        put(elsewhere, "pool.jsonl", "results.tsv", "tried/pool.jsonl")
        return folder, elsewhere

    def test_a_link_out_of_the_folder_is_told_and_not_read(self, tmp_path: Path) -> None:
        folder, elsewhere = self.place(tmp_path)
        (folder / ".tried").mkdir()
        (folder / ".tried" / "pool.jsonl").symlink_to(elsewhere / "pool.jsonl")
        (folder / "results.tsv").symlink_to("../elsewhere/results.tsv")
        discovery = discover(folder)
        assert [source.path for source in discovery.sources] == [folder / "runs" / "results.tsv"]
        links = (folder / ".tried" / "pool.jsonl", folder / "results.tsv")
        assert discovery.links == links
        assert [(skipped.where, skipped.why) for skipped in discovery.notes] == [
            (str(link), "is a link out of the workspace and is not read without your consent") for link in links
        ]

    def test_a_linked_folder_in_which_stores_lie_further_down_is_not_looked_into(self, tmp_path: Path) -> None:
        folder, elsewhere = self.place(tmp_path)
        (folder / "data").symlink_to(elsewhere, target_is_directory=True)
        assert found(folder) == ["runs/results.tsv"]
        assert discover(folder).notes == ()

    def test_what_was_allowed_is_followed(self, tmp_path: Path) -> None:
        folder, elsewhere = self.place(tmp_path)
        (folder / "results.tsv").symlink_to("../elsewhere/results.tsv")
        for allowed in (elsewhere, elsewhere / "results.tsv"):
            discovery = discover(folder, allowed=[str(allowed)])
            assert folder / "results.tsv" in [source.path for source in discovery.sources]
            assert discovery.links == ()
        assert discover(folder, allowed=[str(elsewhere / "pool.jsonl")]).links == (folder / "results.tsv",)

    def test_a_trackers_folder_that_leads_out_is_told_and_no_kind_sees_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, elsewhere = self.place(tmp_path)
        (folder / "logbook").symlink_to(elsewhere, target_is_directory=True)
        (folder / "other").symlink_to(elsewhere, target_is_directory=True)
        seen: list[str] = []

        def store_at(place: Path, folders: Collection[str], files: Collection[str]) -> list[Path]:
            seen.extend(folders)
            return [place / "logbook"] if "logbook" in folders else []

        kind = SourceKind("logbook", store_at, journal, Hints(folders=frozenset({"logbook", "runs"})))
        monkeypatch.setattr(registry, "plugins", lambda: Plugins((kind,)))
        discovery = discover(folder)
        assert discovery.links == (folder / "logbook",)
        assert seen == ["runs"]
        allowed = discover(folder, allowed=[str(elsewhere)])
        assert [source.path for source in allowed.sources if source.kind == "journal"] == [folder / "logbook"]

    def test_a_journals_folder_is_no_way_around_it(self, tmp_path: Path) -> None:
        folder, elsewhere = self.place(tmp_path)
        (folder / ".tried").symlink_to(elsewhere / "tried")
        assert found(folder) == ["runs/results.tsv"]
        assert discover(folder).links == (folder / ".tried" / "pool.jsonl",)

    def test_a_link_within_the_folder_or_the_workspace_around_it_is_followed(self, tmp_path: Path) -> None:
        folder, _ = self.place(tmp_path)
        (folder / "results.tsv").symlink_to("runs/results.tsv")
        assert found(folder) == ["results.tsv", "runs/results.tsv"]
        (folder / "runs" / "experiments.tsv").symlink_to("../results.tsv")
        assert [s.path.name for s in discover(folder / "runs", within=folder).sources] == [
            "experiments.tsv",
            "results.tsv",
        ]

    def test_a_folder_behind_a_link_is_a_folder_like_others(self, tmp_path: Path) -> None:
        folder, _ = self.place(tmp_path)
        (folder / "results.tsv").symlink_to(folder / "runs" / "results.tsv")
        put(folder, ".tried/pool.jsonl")
        (tmp_path / "alias").symlink_to(folder)
        assert found(tmp_path / "alias") == [".tried/pool.jsonl", "results.tsv", "runs/results.tsv"]
        assert discover(tmp_path / "alias").notes == ()

    def test_of_many_links_the_first_are_told_and_the_rest_counted(self, tmp_path: Path) -> None:
        folder, elsewhere = self.place(tmp_path)
        for number in range(30):
            (folder / f"results{number:02}.tsv").symlink_to(elsewhere / "results.tsv")
        notes = discover(folder).notes
        assert len(notes) == 20
        assert (notes[-1].where, notes[-1].why) == ("further on", "11 more like these")


@pytest.mark.parametrize(
    ("tables", "kind"),
    [(("experiments", "runs", "latest_metrics"), "mlflow"), (("studies", "trials", "trial_params"), "optuna")],
)
def test_a_database_of_any_name_that_is_being_written_to_is_found_without_waiting(
    tmp_path: Path, tables: tuple[str, ...], kind: str
) -> None:
    writers = [sqlite3.connect(tmp_path / f"{number}.db", isolation_level=None) for number in range(15)]
    for writer in writers:
        for table in tables:
            writer.execute(f"CREATE TABLE {table} (id)")
        writer.execute("BEGIN EXCLUSIVE")
        writer.execute(f"INSERT INTO {tables[0]} VALUES (1)")
    started = time.monotonic()
    assert [source.kind for source in discover(tmp_path).sources] == [kind] * 15
    assert time.monotonic() - started < 2.0, "one lock alone would have been waited for 0.4 s, by each kind"
    for writer in writers:
        writer.close()


def test_a_journal_that_nobody_may_look_at_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, ".tried/pool.jsonl", "results.tsv")
    look = os.stat

    def guarded(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
        if ".tried/" in str(path):
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, *arguments, **options)

    monkeypatch.setattr(os, "stat", guarded)
    journal, table = discover(tmp_path).sources
    assert table.path == tmp_path / "results.tsv"
    assert [(s.where, s.why) for s in journal.scan(None).skipped] == [("the file", "cannot be read: permission denied")]


def test_a_log_of_experiments_in_another_tools_words_is_found_by_its_first_line(tmp_path: Path) -> None:
    (tmp_path / "log").mkdir()
    version = {"version": "v1", "parent": "v0", "hypothesis": "more trees help", "holdout_score": 0.9}
    (tmp_path / "log" / "experiments.jsonl").write_text(json.dumps(version) + "\n")
    (tmp_path / "experiments-old.jsonl").write_text(json.dumps({"id": "a", "metrics": {"f1": 1}}) + "\n")
    for name, line in {
        "experiments_list.jsonl": {"id": "a", "text": "no experiment"},
        "experiments.2.jsonl": {"lr": 3},
        "predictions.jsonl": {"id": "a", "metrics": {"f1": 1}},
    }.items():
        (tmp_path / name).write_text(json.dumps(line) + "\n")
    (tmp_path / "experiments.broken.jsonl").write_bytes(b"\x00\xff{")
    (tmp_path / "experiments.empty.jsonl").touch()

    found = [(source.kind, source.path.relative_to(tmp_path).as_posix()) for source in discover(tmp_path).sources]

    assert found == [("journal", "experiments-old.jsonl"), ("journal", "log/experiments.jsonl")]
