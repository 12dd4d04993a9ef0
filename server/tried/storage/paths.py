"""Looks at paths that others wrote, too long, without permission, behind links, and opens what is a file there.

Invariant: nothing here raises, whatever the path (methods of `Path` do, each Python version for other reasons), but
`open_plain`, which raises `OSError` alone.
Invariant: nothing is waited for: a pipe in place of a file is refused, not read.
"""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO, Final

_PLAIN: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
UNFOLLOWED: Final = _PLAIN | getattr(os, "O_NOFOLLOW", 0)
"""To open what was a file when its folder was listed: should it be a link or a pipe by now, it is neither followed nor
waited for."""


class NotPlain(OSError):
    """There is something else than a file: a pipe, a socket, a device, or a link that was not to be followed."""


def exists(path: Path) -> bool:
    return _mode_of(path) is not None


def is_folder(path: Path) -> bool:
    mode = _mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_file(path: Path) -> bool:
    mode = _mode_of(path)
    return mode is not None and stat.S_ISREG(mode)


def is_link(path: Path) -> bool:
    mode = _mode_of(path, follow=False)
    return mode is not None and stat.S_ISLNK(mode)


def may_exist(path: Path) -> bool:
    """True also for what cannot be looked at: whoever reads it then says why it cannot."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError:
        return True
    return True


def is_barred(path: Path) -> bool:
    """True for what may not be read, by its own permissions or those of a folder above it, where it may not even be
    there."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            with os.scandir(path):
                (path / ".").stat()  # what lies in it may be looked at
        elif stat.S_ISREG(mode):
            os.close(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return False


def real_path(path: Path) -> str:
    """A path with all links followed; as it is where they cannot be."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return str(path)


def leads_out(path: Path, *homes: Path) -> bool:
    """True if a path, all links followed, lies in none of the folders. These may lie behind links themselves.

    A path that cannot be followed counts as one that leads out.
    """
    try:
        real = Path(os.path.realpath(path))
        return not any(real.is_relative_to(os.path.realpath(home)) for home in homes)
    except (OSError, RuntimeError, ValueError):
        return True


def shown(path: str) -> str:
    """A path, or a part of one, as text that a record can hold: what is no UTF-8 in it is a replacement character."""
    return path if path.isascii() else path.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def open_plain(path: str | os.PathLike[str], *, follow: bool = True) -> BinaryIO:
    """A file, opened for reading. `follow`: also the one that a link leads to.

    Raises OSError, whatever the path: `NotPlain` for what is neither a file nor a folder.
    """
    return io.BufferedReader(_Unwaited(plain_descriptor(path, follow=follow), "rb"))


class _Unwaited(io.FileIO):
    """Files of the system itself (`/proc/kmsg`) can look plain and have nothing to give yet: that is an error then."""

    def readinto(self, buffer: Any) -> int:
        count: int | None = super().readinto(buffer)
        if count is None:
            raise BlockingIOError(errno.EAGAIN, "it has nothing to give yet")
        return count

    def readall(self) -> bytes:
        data: bytes | None = super().readall()
        if data is None:
            raise BlockingIOError(errno.EAGAIN, "it has nothing to give yet")
        return data


def plain_descriptor(path: str | os.PathLike[str], *, follow: bool = True) -> int:
    """The same as a descriptor, which is faster for small files."""
    try:
        descriptor = os.open(path, _PLAIN if follow else UNFOLLOWED)
    except ValueError:
        raise OSError(errno.EINVAL, "it has a name that no file can have", os.fspath(path)) from None
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise NotPlain(errno.EINVAL, "it is a pipe, a socket or a device", os.fspath(path)) from None
        if not follow and error.errno in (errno.ELOOP, errno.EMLINK) and is_link(Path(path)):
            raise NotPlain(errno.ELOOP, "it is a link, which is not followed", os.fspath(path)) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    raise NotPlain(errno.EINVAL, "it is a pipe, a socket or a device", os.fspath(path))


def _mode_of(path: Path, *, follow: bool = True) -> int | None:
    try:
        return path.stat(follow_symlinks=follow).st_mode
    except (OSError, ValueError):
        return None
