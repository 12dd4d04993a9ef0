"""Where records lie while the pool keeps only columns of them: JSON, compressed, in a file that nobody else sees.

Invariant: the file only grows, so a place that a snapshot holds says the same as long as the snapshot lives.
Invariant: no record is lost: what cannot be written to the disk stays in memory, and `problem` says so.
"""

from __future__ import annotations

import json
import os
import re
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Final

from tried.pool.record import ExperimentRecord, finite
from tried.storage.cache import anonymous_file, cache_folder
from tried.storage.files import reason_of

Place = int
"""Where a record lies: offset and length in the file, or below zero a number in memory."""

COMPRESSED_FROM: Final = 512
"""Bytes; a shorter record is written as it is."""

CACHED_RECORDS: Final = 512
CACHED_BYTES: Final = 8 * 1024 * 1024
"""How many decoded records are kept at most, and what their JSON takes together."""

_LENGTH_BITS: Final = 28
_LONGEST: Final = (1 << _LENGTH_BITS) - 1
_NO_NUMBER: Final = re.compile(rb'NaN|Infinity|"nan"|"-?inf"')


class Spool:
    """Made empty; `put` returns the place of a record, `record` reads it. All methods may be called from any thread."""

    def __init__(self, folder: Path | None = None) -> None:
        self.problem: str | None = None
        self.size = 0
        self._folder = folder
        self._file: IO[bytes] | None = None
        self._memory: list[bytes | ExperimentRecord] = []
        self._lock: Final = threading.Lock()
        self._decoded: OrderedDict[Place, tuple[ExperimentRecord, int]] = OrderedDict()
        self._decoded_bytes = 0

    def put(self, record: ExperimentRecord, known: Place | None = None) -> tuple[Place, ExperimentRecord]:
        """(its place, the record as it is read back). `known` is a place that may hold the very same: then that."""
        data, record, is_plain = _encoded(record)
        if not is_plain:
            with self._lock:
                self._memory.append(record)
                return -len(self._memory), record
        if known is not None and self._bytes_at(known) == data:
            return known, record
        return self._write(data), record

    def record(self, place: Place) -> ExperimentRecord:
        """The record at a place that `put` gave."""
        with self._lock:
            if (kept := self._decoded.get(place)) is not None:
                self._decoded.move_to_end(place)
                return kept[0]
        data = self._bytes_at(place)
        if isinstance(data, ExperimentRecord):
            return data
        text = data if data[:1] == b"{" else zlib.decompress(data)
        record = ExperimentRecord.model_validate_json(text)
        with self._lock:
            if (kept := self._decoded.get(place)) is not None:
                return kept[0]
            self._decoded[place] = record, len(text)
            self._decoded_bytes += len(text)
            while len(self._decoded) > CACHED_RECORDS or (
                self._decoded_bytes > CACHED_BYTES and len(self._decoded) > 1
            ):
                _, (_, length) = self._decoded.popitem(last=False)
                self._decoded_bytes -= length
        return record

    def compacted(self, places: Iterable[Place]) -> tuple[Spool, dict[Place, Place]]:
        """Another spool with these places alone, and where they are in it. This one stays as it is."""
        other = Spool(self._folder)
        moved: dict[Place, Place] = {}
        for place in places:
            if place in moved:
                continue
            data = self._bytes_at(place)
            if isinstance(data, ExperimentRecord):
                other._memory.append(data)
                moved[place] = -len(other._memory)
            else:
                moved[place] = other._write(data)
        return other, moved

    def _write(self, data: bytes) -> Place:
        with self._lock:
            if self.problem is None and len(data) <= _LONGEST:
                try:
                    if self._file is None:
                        self._file = anonymous_file(self._folder or cache_folder())
                    _write_at(self._file, data, self.size)
                except OSError as error:
                    self.problem = reason_of(error)
                else:
                    offset = self.size
                    self.size += len(data)
                    return (offset << _LENGTH_BITS) | len(data)
            self._memory.append(data)
            return -len(self._memory)

    def _bytes_at(self, place: Place) -> bytes | ExperimentRecord:
        if place < 0:
            return self._memory[-place - 1]
        file = self._file
        assert file is not None
        return self._read_at(file, place & _LONGEST, place >> _LENGTH_BITS)

    def _read_at(self, file: IO[bytes], length: int, offset: int) -> bytes:
        if hasattr(os, "pread"):
            parts, missing = [], length
            while missing:  # a single read may give less
                part = os.pread(file.fileno(), missing, offset + length - missing)
                if not part:
                    raise OSError("the spool of records was cut short")
                parts.append(part)
                missing -= len(part)
            return parts[0] if len(parts) == 1 else b"".join(parts)
        with self._lock:
            file.seek(offset)
            return file.read(length)


def length_at(place: Place) -> int:
    """Bytes that a place takes in the file; 0 for one in memory."""
    return place & _LONGEST if place > 0 else 0


def _write_at(file: IO[bytes], data: bytes, offset: int) -> None:
    """All of it, or OSError; what is behind `offset` counts for nothing before that."""
    if hasattr(os, "pwrite"):
        written = os.pwrite(file.fileno(), data, offset)
    else:
        file.seek(offset)
        written = file.write(data)
    if written != len(data):
        raise OSError(f"only {written} of {len(data)} bytes fitted; is the disk full?")


def _encoded(record: ExperimentRecord) -> tuple[bytes, ExperimentRecord, bool]:
    """(bytes, the record as they read back, True), or False where it cannot be written and read back as JSON."""
    try:
        text = record.model_dump_json(by_alias=True, exclude_unset=True).encode()
        if _NO_NUMBER.search(text):
            text, record = _in_full(record)
    except Exception:  # lone surrogates, dates, whatever else a source left in a value
        try:
            text, record = _in_full(record)
        except Exception:
            return b"", record, False
    return (zlib.compress(text, 1) if len(text) >= COMPRESSED_FROM else text), record, True


def _in_full(record: ExperimentRecord) -> tuple[bytes, ExperimentRecord]:
    """As a line of a journal: non-finite numbers as text, and what is no JSON in words."""
    data = finite(record.model_dump(by_alias=True, exclude_unset=True))
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
    return text, ExperimentRecord.model_validate_json(text)
