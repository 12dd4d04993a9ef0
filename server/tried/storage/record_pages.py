"""Pages about records, as files that an editor can open: in a cache folder of the user's, outside of every workspace.

Invariant: a page is replaced as a whole, is read-only, and never lies in a workspace.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Final

from tried.storage.cache import cache_folder
from tried.storage.files import StorageError, reason_of
from tried.storage.paths import UNFOLLOWED

MOST_PAGES: Final = 200
READ_ONLY: Final = 0o444
_SAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_LENGTH: Final = 60
_PAGE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*-[0-9a-f]{16}\.md\Z")


def write_page(
    record_id: str,
    text: str,
    workspaces: Iterable[Path],
    *,
    about: str = "",
    environment: Mapping[str, str] = os.environ,
) -> Path:
    """The file of a record's page, written if it does not say so already; the oldest beyond MOST_PAGES go.

    `about` tells pages of one record apart: the pool it is in, or what it is compared with. Raises StorageError.
    """
    path = page_path(record_id, workspaces, about=about, environment=environment)
    folder = path.parent
    data = text.encode("utf-8", "replace")
    try:
        _make(folder)
        if _content(path, len(data)) == data:
            os.utime(path)
        else:
            _replace(path, data)
            _forget_oldest(folder, path)
    except OSError as error:
        raise StorageError(f"{path}: the page was not written: {reason_of(error)}") from error
    return path


def page_path(
    record_id: str, workspaces: Iterable[Path], *, about: str = "", environment: Mapping[str, str] = os.environ
) -> Path:
    """Where that page is, or will be. Raises StorageError."""
    return pages_folder(workspaces, environment) / page_name(record_id, about)


def page_name(record_id: str, about: str = "") -> str:
    """A file name that every system takes, and that no other record has: `exp-7-0c5a….md`."""
    shown = _SAFE.sub("-", record_id[: 4 * _NAME_LENGTH]).strip("-._")[:_NAME_LENGTH].strip("-._") or "record"
    digest = blake2b(f"{record_id}\n{about}".encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return f"{shown}-{digest}.md"


def pages_folder(workspaces: Iterable[Path], environment: Mapping[str, str] = os.environ) -> Path:
    """The folder of pages: in the user's cache; where a workspace holds that, among temporary files. Makes nothing.

    Raises StorageError where a workspace holds both.
    """
    inside = [Path(os.path.realpath(workspace)) for workspace in workspaces]
    owner = f"-{os.getuid()}" if hasattr(os, "getuid") else ""
    places = (cache_folder(environment) / "records", Path(tempfile.gettempdir()) / f"tried{owner}" / "records")
    for place in places:
        real = Path(os.path.realpath(place))
        if not any(real.is_relative_to(workspace) for workspace in inside):
            return real
    raise StorageError(
        f"{places[0]}: the page was not written: the cache folder lies in a workspace; set XDG_CACHE_HOME otherwise"
    )


def _make(folder: Path) -> None:
    """Only the user's own folder will do: one among temporary files may have been put there by somebody else."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    for each in (folder.parent, folder):
        status = each.stat(follow_symlinks=False)
        if not stat.S_ISDIR(status.st_mode) or (hasattr(os, "getuid") and status.st_uid != os.getuid()):
            raise PermissionError(f"{each} belongs to somebody else")


def _content(path: Path, size: int) -> bytes | None:
    """What a page says; None if there is none, or a longer one, or something else in its place."""
    try:
        with os.fdopen(os.open(path, UNFOLLOWED), "rb") as file:
            return file.read(size + 1)
    except OSError:
        return None


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with os.fdopen(os.open(temporary, flags, READ_ONLY), "wb") as file:
            file.write(data)
        if os.name == "nt" and path.exists():
            path.chmod(stat.S_IWRITE | stat.S_IREAD)
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _forget_oldest(folder: Path, kept: Path) -> None:
    """Pages that somebody else removes meanwhile are gone as well."""
    pages: list[tuple[int, str]] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if _PAGE.match(entry.name) and entry.name != kept.name:
                with contextlib.suppress(OSError):
                    pages.append((entry.stat(follow_symlinks=False).st_mtime_ns, entry.name))
    for _, name in sorted(pages, reverse=True)[MOST_PAGES - 1 :]:
        with contextlib.suppress(OSError):
            page = folder / name
            if os.name == "nt":
                page.chmod(stat.S_IWRITE | stat.S_IREAD)
            page.unlink()
