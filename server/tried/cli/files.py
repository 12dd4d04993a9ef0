"""Config files as the command line reads them: whatever is wrong with one, it is said and the next one follows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tried.cli.failure import Failure
from tried.draft.syntax import language_of
from tried.pool.sources.discovery import SKIPPED_FOLDERS
from tried.settings import Settings
from tried.storage.paths import is_folder, may_exist


def must_exist(path: Path) -> None:
    if not may_exist(path):
        raise Failure(f"{path}: there is no such file; check the path")


def read_config(path: Path, settings: Settings) -> str:
    """The text of a file, invalid UTF-8 replaced; cut behind the size that is looked at. Raises Failure."""
    try:
        with path.open("rb") as file:
            data = file.read(settings.editor.max_file_bytes + 1)
    except OSError as error:
        raise Failure(f"{path}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    return data.decode("utf-8-sig", "replace")


def config_files_in(paths: list[Path]) -> Iterator[tuple[Path, bool]]:
    """(file, whether it was named itself); of a folder, all files of languages that are read, sorted."""
    for path in paths:
        if not is_folder(path):
            yield path, True
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(n for n in folders if n[0] != "." and n.lower() not in SKIPPED_FOLDERS)
            for name in sorted(names):
                if language_of(name) is not None:
                    yield Path(folder) / name, False
