"""Every kind of source that there is, in the order in which the pool takes them: ours, then those of plug-ins.

A kind's module is imported when a folder holds something that it may read, not before: most projects have one tracker.
Plug-ins are entry points of the group `tried.sources`; docs/sources.md says what one must give.

Invariant: a plug-in that is broken is a note, and costs nothing but its own records.
"""

from __future__ import annotations

import fnmatch
import importlib
import importlib.metadata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from tried.pool.journal import OUR_JOURNAL
from tried.pool.sources.source import Skipped, Source
from tried.storage.paths import may_exist, open_plain

ENTRY_POINTS: Final = "tried.sources"

JOURNALS: Final = (OUR_JOURNAL.as_posix(), ".soma/experiments.jsonl")
"""Paths below any folder that is searched."""

LOG_NAME: Final = "experiments*.jsonl"
"""Name of files that are looked into; a journal, or a log in another tool's words (`foreign_lines`)."""

TABLE_NAMES: Final = ("*results*.tsv", "*results*.csv", "experiments*.tsv", "experiments*.csv")
"""Names of files that are looked into; see `results_table` for what makes one a results table."""

DATABASE_SUFFIXES: Final = frozenset({".db", ".sqlite", ".sqlite3", ".db3"})

StoreAt = Callable[[Path, Collection[str], Collection[str]], Sequence[Path]]
"""(a folder, names of its subfolders, names of its files) → paths of the stores of this kind directly in it."""

Make = Callable[[Path, Path | None], Source]
"""(a store, the folder that relative ids are told from) → the source."""

_PEEK: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Hints:
    """Names without which a folder holds no store of a kind, so that its module need not be asked, nor imported."""

    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    suffixes: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    """Of names of folders."""

    def fit(self, folders: Collection[str], files: Collection[str], suffixes: Collection[str]) -> bool:
        """`suffixes` are those of the files, in lower case."""
        if not (self.folders.isdisjoint(folders) and self.files.isdisjoint(files)):
            return True
        return not self.suffixes.isdisjoint(suffixes) or (
            bool(self.beginnings) and any(name.startswith(self.beginnings) for name in folders)
        )


@dataclass(frozen=True, slots=True)
class SourceKind:
    """A kind of source; what a plug-in's entry point gives, too.

    `store_at` may read one small file to be sure; `looks_only` if it reads none, and `is_store` does that. `whole`: a
    store that is a folder is searched for nothing else. Neither function should raise; what one raises is told.
    """

    name: str
    store_at: StoreAt
    make: Make
    hints: Hints | None = None
    whole: bool = True
    looks_only: bool = False
    is_store: Callable[[Path], bool] | None = None


def _ours(
    name: str,
    module: str,
    source: str,
    *,
    folders: Iterable[str] = (),
    files: Iterable[str] = (),
    suffixes: Iterable[str] = (),
    beginnings: tuple[str, ...] = (),
    whole: bool = True,
) -> SourceKind:
    """A kind whose module in this package has `store_at` and the class `source`; imported when it is first asked."""

    def loaded() -> Any:
        return importlib.import_module(f"tried.pool.sources.{module}")

    def store_at(folder: Path, inside: Collection[str], beside: Collection[str]) -> Sequence[Path]:
        found: Sequence[Path] = loaded().store_at(folder, inside, beside)
        return found

    def make(path: Path, project: Path | None) -> Source:
        made: Source = getattr(loaded(), source)(path, project)
        return made

    hints = Hints(frozenset(folders), frozenset(files), frozenset(suffixes), beginnings)
    return SourceKind(name, store_at, make, hints, whole=whole)


def _journals_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    return [folder / path for path in JOURNALS if Path(path).parts[0] in folders and may_exist(folder / path)]


def _journal(path: Path, project: Path | None) -> Source:
    from tried.pool.sources.journal_source import JournalSource
    from tried.pool.sources.nested_journal import prefix_of

    return JournalSource(path, prefix=prefix_of(path, project))


def _tables_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    return [folder / name for name in sorted(files) if _may_be_table(name)]


def _may_be_table(name: str) -> bool:
    return any(fnmatch.fnmatchcase(name.lower(), pattern) for pattern in TABLE_NAMES)


def _is_table(path: Path) -> bool:
    from tried.pool.sources.tables.results_table import is_results_table

    try:
        with open_plain(path) as file:
            return is_results_table(file.read(_PEEK))
    except PermissionError:  # whoever reads it then says why it cannot
        return True
    except OSError:
        return False


def _table(path: Path, project: Path | None) -> Source:
    from tried.pool.sources.tables.results_table import ResultsTableSource

    return ResultsTableSource(path, project)


def _logs_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    return [folder / name for name in sorted(files) if fnmatch.fnmatchcase(name.lower(), LOG_NAME)]


def _is_log(path: Path) -> bool:
    """Its first line is an experiment's: it has a result, a setting or a conclusion beside its id."""
    from tried.pool.reading import read_line

    try:
        with open_plain(path) as file:
            found = read_line(file.readline(_PEEK)).records
    except PermissionError:
        return True
    except OSError:
        return False
    return any(record.params or record.metrics or record.conclusion or record.hypothesis for record in found)


JOURNAL: Final = SourceKind(
    "journal",
    _journals_at,
    _journal,
    Hints(folders=frozenset(Path(path).parts[0] for path in JOURNALS)),
    looks_only=True,
)
LOG: Final = SourceKind(
    "journal", _logs_at, _journal, Hints(suffixes=frozenset({".jsonl"})), looks_only=True, is_store=_is_log
)
TABLE: Final = SourceKind(
    "results-table",
    _tables_at,
    _table,
    Hints(suffixes=frozenset({".tsv", ".csv"})),
    looks_only=True,
    is_store=_is_table,
)
MLFLOW_DATABASE: Final = _ours("mlflow", "mlflow.database", "MlflowDatabaseSource", suffixes=DATABASE_SUFFIXES)
MLFLOW_FILES: Final = _ours("mlflow", "mlflow.files", "MlflowFilesSource", folders=("mlruns", ".trash"))
HYDRA: Final = _ours("hydra", "hydra.folders", "HydraFoldersSource", folders=("outputs", "multirun", ".hydra"))
WANDB: Final = _ours("wandb", "wandb.folders", "WandbSource", folders=("wandb", ".wandb"))
OPTUNA_DATABASE: Final = _ours("optuna", "optuna.database", "OptunaDatabaseSource", suffixes=DATABASE_SUFFIXES)
OPTUNA_JOURNAL: Final = _ours(
    "optuna", "optuna.journal", "OptunaJournalSource", suffixes=(".log", ".jsonl", ".journal")
)
DVC: Final = _ours("dvc", "dvc.experiments", "DvcExperimentsSource", folders=(".dvc",))
SACRED: Final = _ours("sacred", "sacred_runs", "SacredRunsSource", folders=("1", "_sources", "_resources"))
LIGHTNING: Final = _ours(
    "lightning", "lightning_logs", "LightningLogsSource", folders=("lightning_logs",), beginnings=("version_",)
)
SOMA: Final = _ours("soma", "soma_runs", "SomaRunsSource", folders=(".soma",))
COMMITS: Final = _ours(
    "commits", "commit_trailers", "CommitTrailersSource", folders=(".git",), files=(".git",), whole=False
)

OURS: Final = (
    JOURNAL,
    LOG,
    MLFLOW_DATABASE,
    MLFLOW_FILES,
    HYDRA,
    WANDB,
    TABLE,
    OPTUNA_DATABASE,
    OPTUNA_JOURNAL,
    DVC,
    SACRED,
    LIGHTNING,
    SOMA,
    COMMITS,
)
"""In the order in which the pool takes them: of records that are one run the first has the id."""

NAMES: Final = tuple(dict.fromkeys(kind.name for kind in OURS))


@dataclass(frozen=True, slots=True)
class Plugins:
    """`kinds` of plug-ins, sorted by name; `problems`: those that cannot be used, and why."""

    kinds: tuple[SourceKind, ...] = ()
    problems: tuple[Skipped, ...] = ()


@lru_cache(maxsize=1)
def plugins() -> Plugins:
    """The kinds that installed packages add; looked up once."""
    kinds: dict[str, SourceKind] = {}
    problems: list[Skipped] = []
    for entry in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda one: (one.name, one.value)):
        where = f"plug-in {entry.name} ({entry.value})"
        try:
            kind = entry.load()
        except (Exception, SystemExit) as error:
            why = f"cannot be loaded, {type(error).__name__}: {error}"[:400]
            problems.append(Skipped(where, f"{why}; install it again, or remove it"))
            continue
        if not (isinstance(kind, SourceKind) and isinstance(kind.name, str) and isinstance(kind.hints, Hints | None)):
            problems.append(Skipped(where, "gives no SourceKind; docs/sources.md says what a plug-in must give"))
        elif kind.name in NAMES or kind.name in kinds:
            problems.append(Skipped(where, f"its kind is called {kind.name}, as another one is; not used"))
        else:
            kinds[kind.name] = kind
    return Plugins(tuple(kinds.values()), tuple(problems))


def made_by(kind: SourceKind, path: Path, project: Path | None) -> Source:
    """The source for a store. Raises TypeError where a plug-in makes something else, and whatever it raises itself."""
    made = kind.make(path, project)
    is_source = isinstance(getattr(made, "path", None), Path) and isinstance(getattr(made, "kind", None), str)
    if not is_source or not callable(getattr(made, "scan", None)) or not callable(getattr(made, "line_of", None)):
        raise TypeError(f"it made a {type(made).__name__}, which is no source")
    return made


def kinds(disabled: Collection[str] = ()) -> tuple[SourceKind, ...]:
    """All kinds but those that are switched off, by name."""
    return tuple(kind for kind in (*OURS, *plugins().kinds) if kind.name not in disabled)
