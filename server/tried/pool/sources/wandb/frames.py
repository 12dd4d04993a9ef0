"""The frame and the wire format of W&B's logs: a LevelDB log (blocks of 32 KiB, each record in one or more fragments)
of protobuf messages.

Invariant: no length is trusted, and reading costs no more than the bytes that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tried.storage.paths import open_plain

MAGIC: Final = b":W&B\xe1\xbe"
"""Then follows a version, 0."""

HEADER: Final = 7
"""Bytes of the file's header, and of a fragment's."""

BLOCK: Final = 32 * 1024
RECORD_LIMIT: Final = 16 * 1024 * 1024
_FULL, _FIRST, _MIDDLE, _LAST = 1, 2, 3, 4


class NotAWandbLog(ValueError):
    """What is wrong with a file, in words for the user."""


class Malformed(ValueError):
    """A message that does not keep to the wire format."""


@dataclass(slots=True)
class Gaps:
    """What of a log could not be read: places in it that are damaged, whether it ends within a record, and how many
    bytes of its middle were left out."""

    damaged: int = 0
    torn: bool = False
    left_out: int = 0


def records_of(path: Path, gaps: Gaps, limit: int) -> Iterator[bytes]:
    """The records of a log; of one larger than `limit` bytes those of the first and the last half of so many. Changes
    `gaps`. Follows no link. Raises OSError and NotAWandbLog."""
    with open_plain(path, follow=False) as file:
        size = file.seek(0, 2)
        file.seek(0)
        if size == 0:
            return
        head = file.read(HEADER)
        if head[: len(MAGIC)] != MAGIC[: len(head)]:
            raise NotAWandbLog("is no log of W&B: it does not begin like one")
        file.seek(0)
        half = max(BLOCK, limit // 2 // BLOCK * BLOCK)
        if size <= 2 * half:
            yield from _frames(file.read(2 * half), HEADER, gaps)
            return
        yield from _frames(file.read(half), HEADER, gaps)
        gaps.torn = False
        start = (size - half) // BLOCK * BLOCK
        gaps.left_out = start - half
        file.seek(start)
        yield from _frames(file.read(half + BLOCK), 0, gaps, begun=True)


def _frames(data: bytes, at: int, gaps: Gaps, begun: bool = False) -> Iterator[bytes]:
    """The records in whole blocks from `at` on. `begun`: the first one may have begun before."""
    parts: list[bytes] | None = None
    length = 0
    end = len(data)
    while at < end:
        block_end = min(at - at % BLOCK + BLOCK, end)
        if at + HEADER > block_end:
            gaps.torn |= block_end == end and end % BLOCK != 0
            at = block_end
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        start, stop = at + HEADER, at + HEADER + size
        if kind == 0 and size == 0:  # room that was kept and not used
            at = block_end
            continue
        if kind > _LAST or stop > at - at % BLOCK + BLOCK:
            gaps.damaged += 1
            parts, at = None, block_end
            continue
        if stop > end:
            gaps.torn = True
            return
        at = stop
        if kind == _FULL:
            gaps.damaged += parts is not None
            parts = None
            yield data[start:stop]
        elif kind == _FIRST:
            gaps.damaged += parts is not None
            parts, length = [data[start:stop]], size
        elif parts is None:
            gaps.damaged += not begun
        else:
            length += size
            if length > RECORD_LIMIT:
                gaps.damaged += 1
                parts = None
                continue
            parts.append(data[start:stop])
            if kind == _LAST:
                yield b"".join(parts)
                parts = None
        begun = begun and kind == _MIDDLE
    gaps.torn |= parts is not None


def _varint(data: bytes, at: int, end: int) -> tuple[int, int]:
    value = shift = 0
    while at < end and shift < 70:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
        shift += 7
    raise Malformed


def fields_of(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(number, value of a varint, bytes of a length-delimited field); fields of other types are passed over."""
    at, end = 0, len(data)
    while at < end:
        key = data[at]
        if key < 0x80:
            at += 1
        else:
            key, at = _varint(data, at, end)
        wire = key & 7
        if wire == 2:
            size = data[at] if at < end else 0x80
            if size < 0x80:
                at += 1
            else:
                size, at = _varint(data, at, end)
            if size > end - at:
                raise Malformed
            yield key >> 3, 0, data[at : at + size]
            at += size
        elif wire == 0:
            value, at = _varint(data, at, end)
            yield key >> 3, value, b""
        elif wire in (1, 5):
            at += 8 if wire == 1 else 4
            if at > end:
                raise Malformed
        else:
            raise Malformed


def signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def text_of(data: bytes) -> str:
    return data.decode("utf-8", "replace")
