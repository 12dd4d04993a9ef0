"""A journal as a source: read once, in batches, then only what was appended.

Between scans a cursor remembers how far the file was read and how it looked. Growth is read from there; a file that is
another one now, or shorter, or rewritten, is read anew. A change of bytes in the middle that leaves the first and the
last bytes read and grows the file is the one thing that goes unnoticed: a journal is append-only.

Invariant: a line is read when it is complete. A torn last line is kept for later and never joined with another.
Invariant: what is said of a torn last line is taken back when the file goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import BinaryIO, Final

from tried.pool.journal import LINE_LIMIT
from tried.pool.reading import Reading, read_line
from tried.pool.record import ExperimentRecord
from tried.pool.sources.nested_journal import inner_id, told_from_outside
from tried.pool.sources.source import BATCH, Delta, Skipped
from tried.storage.files import reason_of
from tried.storage.paths import open_plain

GIVE_UP: Final = 4 * LINE_LIMIT
"""What goes on for so long without a line end is no journal any more."""

_BLOCK: Final = 1 << 20
_HEAD: Final = 4096
_TAIL: Final = 256
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class FileState:
    """What `stat` tells about a file's content without reading it."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class JournalCursor:
    """`offset` bytes and `lines` lines were read; `head` and `tail` are digests of the first and last of those bytes.

    `ended`: the last line read had its line end. `torn` is the length of an unfinished last line, `torn_said` whether
    it was reported. `failure` is why the file could not be read at all. `unread`: the file goes on, for the next batch;
    `again`: this is not the first reading of it.
    """

    state: FileState | None = None
    offset: int = 0
    lines: int = 0
    head: bytes = b""
    tail: bytes = b""
    ended: bool = True
    torn: int = 0
    torn_said: bool = False
    line_of: Mapping[str, int] = field(default_factory=dict)
    failure: str | None = None
    unread: bool = False
    again: bool = False


@dataclass(frozen=True)
class JournalSource:
    """One JSONL file of records and amendments. `prefix` is where its project lies in the one that is read, such as
    `night/`; "" for the same."""

    path: Path
    kind: str = "journal"
    prefix: str = ""

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, JournalCursor) else None
        try:
            status = self.path.stat()
            if not stat.S_ISREG(status.st_mode):
                return _failed("is a folder, not a journal" if stat.S_ISDIR(status.st_mode) else "is not a file", known)
            state = FileState.of(status)
            if known is not None and known.failure is None and known.state == state and not known.unread:
                return _unchanged(known)
            with open_plain(self.path) as file:
                delta = _read(file, FileState.of(os.fstat(file.fileno())), known)
            if not self.prefix:
                return delta
            return replace(delta, upserts=tuple(told_from_outside(record, self.prefix) for record in delta.upserts))
        except FileNotFoundError:
            return _failed("there is no such file", known)
        except OSError as error:
            return _failed(f"cannot be read: {reason_of(error)}", known)

    def line_of(self, record_id: str) -> int | None:
        """The last line with that record, the one that counts."""
        record_id = inner_id(record_id, self.prefix)
        wanted = json.dumps(record_id).encode(), json.dumps(record_id, ensure_ascii=False).encode("utf-8", "replace")
        found: int | None = None
        try:
            with open_plain(self.path) as file:
                for number, (line, _, _) in enumerate(_lines(file), 1):
                    if line is not None and any(name in line for name in wanted):
                        records = _reading_of(line).records
                        if any(record.id == record_id and record.kind == "experiment" for record in records):
                            found = number
        except OSError:
            return None
        return found


def _failed(why: str, known: JournalCursor | None) -> Delta:
    if known is not None and known.failure == why:
        return Delta(cursor=known)
    return Delta(skipped=(Skipped("the file", why),), cursor=JournalCursor(failure=why), reset=True)


def _unchanged(known: JournalCursor) -> Delta:
    """Nothing was written since: an unfinished last line is no longer somebody's write in progress."""
    if not known.torn or known.torn_said:
        return Delta(cursor=known)
    return Delta(skipped=(_unfinished(known),), cursor=replace(known, torn_said=True))


def _unfinished(cursor: JournalCursor) -> Skipped:
    if cursor.torn > GIVE_UP:
        why = f"longer than {GIVE_UP // 1024**2} MiB: neither it nor what stands behind it is read"
        return Skipped(f"line {cursor.lines + 1}", why)
    return Skipped(f"line {cursor.lines + 1}", f"unfinished: {cursor.torn:,} bytes without a line end; not read")


def _read(file: BinaryIO, state: FileState, known: JournalCursor | None) -> Delta:
    read = known if known is not None and known.failure is None else None
    start = read if read is not None and not read.torn_said and _goes_on(file, state, read) else None
    reset = known is not None and start is None
    at = start or JournalCursor(again=read is not None)
    # There may be no second look at a torn line. In a file that grows under our eyes it is mostly a write in progress.
    first = not at.again and (start is None or at.unread)
    if at.offset == 0:
        at = replace(at, offset=len(_BOM) if file.read(len(_BOM)) == _BOM else 0)
    upserts: list[ExperimentRecord] = []
    skipped: list[Skipped] = []
    remarks: list[Skipped] = []
    line_of = dict(at.line_of)
    offset, lines, ended, torn, more = at.offset, at.lines, at.ended, 0, False
    file.seek(offset)
    for line, length, complete in _lines(file):
        if len(upserts) + len(skipped) >= BATCH:
            more = True
            break
        if not ended:
            ended = True
            if line == b"":
                offset += length
                continue
            lines -= 1  # what somebody wrote on, on the same line
        where = f"line {lines + 1}"
        reading = None if line is None else _reading_of(line)
        if not complete and (line is None or reading is None or not (reading.whole and line.endswith(b"}"))):
            torn = length
            break
        offset += length
        lines += 1
        ended = complete
        if reading is None:
            skipped.append(Skipped(where, f"longer than {LINE_LIMIT // 1024**2} MiB ({length:,} bytes)"))
            continue
        skipped.extend(Skipped(where, complaint) for complaint in reading.complaints)
        remarks.extend(Skipped(where, remark) for remark in reading.remarks)
        for record in reading.records:
            upserts.append(record)
            if record.kind == "experiment":
                if record.id in line_of:
                    earlier = f"line {line_of[record.id]}"
                    skipped.append(Skipped(earlier, f"replaced by {where}, which has the same id {record.id!r}"))
                line_of[record.id] = lines
    head, tail = digests_of_ends(file, offset)
    cursor = JournalCursor(state, offset, lines, head, tail, ended, torn, False, line_of, None, more, not first)
    if torn and first:
        skipped.append(_unfinished(cursor))
        cursor = replace(cursor, torn_said=True)
    total = round(state.size / max(offset, 1) * len(line_of)) if more else None
    return Delta(tuple(upserts), (), tuple(skipped), cursor, reset, tuple(remarks), more, total)


def _reading_of(line: bytes) -> Reading:
    """Whatever a line holds, it costs no other line."""
    try:
        return read_line(line)
    except Exception as error:
        return Reading(complaints=(f"could not be read: {type(error).__name__}: {error}"[:200],), whole=False)


def _goes_on(file: BinaryIO, state: FileState, known: JournalCursor) -> bool:
    """The same file, longer than what was read of it, with the bytes that were read where they were."""
    was = known.state
    if was is None or (was.device, was.inode) != (state.device, state.inode):
        return False
    if state.size < was.size or (state.size == was.size and not known.unread):
        return False
    return digests_of_ends(file, known.offset) == (known.head, known.tail)


def digests_of_ends(file: BinaryIO, offset: int) -> tuple[bytes, bytes]:
    """Of the first and of the last bytes before `offset`; leaves the file at its start."""
    file.seek(0)
    head = file.read(min(_HEAD, offset))
    file.seek(max(0, offset - _TAIL))
    tail = file.read(min(_TAIL, offset))
    file.seek(0)
    return hashlib.sha256(head).digest(), hashlib.sha256(tail).digest()


def _lines(file: BinaryIO) -> Iterator[tuple[bytes | None, int, bool]]:
    """(line without its line end, bytes with it, complete) from here on; None for one that is over LINE_LIMIT. One that
    is over GIVE_UP is the last."""
    parts: list[bytes] = []
    length = 0

    def line(last: bytes) -> bytes | None:
        return None if length > LINE_LIMIT else b"".join((*parts, last)).rstrip(b"\r\n")

    while block := file.read(_BLOCK):
        begin = 0
        while (end := block.find(b"\n", begin)) >= 0:
            length += end + 1 - begin
            yield line(block[begin : end + 1]), length, True
            parts, length, begin = [], 0, end + 1
        length += len(block) - begin
        if length <= LINE_LIMIT:
            parts.append(block[begin:])
        else:
            parts = []
        if length > GIVE_UP:
            break
    if length:
        yield line(b""), length, False
