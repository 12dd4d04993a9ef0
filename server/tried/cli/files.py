"""Config files as the command line reads them: whatever is wrong with one, it is said and the next one follows."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tried.cli.failure import Failure
from tried.draft.syntax import language_of
from tried.pool.sources.discovery import SKIPPED_FOLDERS, TRACKER_FOLDERS
from tried.settings import Settings
from tried.storage.paths import NotPlain, is_folder, may_exist, open_plain

CONFIG_FILE: Final = "a config file"
_NOT_CONFIGS = SKIPPED_FOLDERS | TRACKER_FOLDERS


def must_exist(path: Path, wanted: str = CONFIG_FILE) -> None:
    if not may_exist(path):
        raise Failure(f"{path}: there is no such file; check the path")
    if _is_special(path):
        raise Failure(_not_plain(path, wanted))


def _not_plain(path: Path, wanted: str = CONFIG_FILE) -> str:
    return f"{path}: is a pipe, socket or device; name {wanted}, or save the text to one"


def read_config(path: Path, settings: Settings) -> str:
    """The text of a file, invalid UTF-8 replaced; cut behind the size that is looked at. Raises Failure."""
    try:
        with open_plain(path) as file:
            data = file.read(settings.editor.max_file_bytes + 1)
    except NotPlain as error:
        raise Failure(_not_plain(path)) from error
    except OSError as error:
        raise Failure(f"{path}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    return data.decode("utf-8-sig", "replace")


def config_files_in(paths: list[Path]) -> Iterator[tuple[Path, bool]]:
    """(file, whether it was named itself); of a folder, all regular files of languages that are read, sorted."""
    for path in paths:
        if not is_folder(path):
            yield path, True
            continue
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(n for n in folders if n[0] != "." and n.lower() not in _NOT_CONFIGS)
            for name in sorted(names):
                file = Path(folder) / name
                if language_of(name) is not None and not _is_special(file):
                    yield file, False


def _is_special(path: Path) -> bool:
    """Neither file nor folder: to read a pipe, socket or device may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # reading it says what is wrong
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
