"""How often records were of use to somebody: kept in the user's own state folder, for each workspace folder apart, and
for pools that are read instead of a folder's own.

A file of lines for each: the first names the schema and the place, every other one tells of hits on a record, and they
add up. A file that has grown is written anew with a line for each record and way; of more than it may hold, what was
concluded once and no more is forgotten first, then what was hit longest ago.

Invariant: where a file lies follows from the user's environment and the place's real path alone, never from what a
workspace holds; nothing is written into a workspace, and nothing sent anywhere.
Invariant: a line that is torn, foreign or beyond the limits takes no other with it; what is not read is counted.
Invariant: lines are added, and a file is written anew, under one lock: no process loses what another has added.
Invariant: a file of another schema, or of which not all can be read, is never written anew, but for clearing all of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from tried.storage.files import StorageError, append_under_lock, locked, reason_of, replace_file
from tried.storage.paths import exists, is_folder, open_plain, real_path
from tried.storage.user_folders import state_folder

SCHEMA: Final = "tried.hits/v1"

Place: TypeAlias = Path | tuple[Path, ...]
"""What hits belong to: a workspace folder, or the pools that are read instead of its own, in whatever order."""

Way = Literal["opened", "compared", "used", "concluded"]
"""What a person did with a record."""

WAYS: Final[tuple[Way, ...]] = get_args(Way)
OTHER_WAY: Final = "other"
"""How ways are shown that this version does not know."""

WAY_LENGTH: Final = 64
"""Of the word for one; what is longer, or no word, is but another way."""

GROWN_BYTES: Final = 1024**2
"""A file that is larger is written anew."""

KEPT_BYTES: Final = GROWN_BYTES // 2
"""So much of it then stays: it is half a file until that happens again."""

MOST_BYTES: Final = 8 * 1024**2
MOST_LINES: Final = 100_000
"""So much of a file is read, however large somebody made it."""

MOST_AT_ONCE: Final = 5_000
"""Records of one write; more are written one after another."""

MOST_HITS: Final = 1_000_000
"""Of one line, and of one record in all."""

ID_LENGTH: Final = 4_096
LINE_BYTES: Final = 16 * ID_LENGTH
CLOCKS_DIFFER: Final = timedelta(days=1)
"""A hit of later than that from now has no time that could be."""

LOCK_SECONDS: Final = 1.0
"""So long a person's action waits, at most, for another process that counts."""

FOLDER_MODE: Final = 0o700
MODE: Final = 0o600


@dataclass(frozen=True, slots=True)
class KeptHit:
    """`count` is at least 1, `last` in UTC; `ways` are the counts of each way, in the order of WAYS, behind them those
    of ways that a later version knows, by their words."""

    count: int
    last: datetime
    ways: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class KeptHits:
    """By the id that a record had. `unread`: lines that were skipped. `problem`: why there are none, or not all, and
    what to do."""

    hits: Mapping[str, KeptHit] = field(default_factory=dict)
    unread: int = 0
    problem: str | None = None


def hits_file(place: Place) -> Path | None:
    """Where the hits of a workspace folder or of pools are kept; None without a home. Makes nothing."""
    state = state_folder()
    if state is None:
        return None
    name = hashlib.sha256("\0".join(_real(place)).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return state / "hits" / f"{name}.jsonl"


def record_hit(place: Place, record_ids: Iterable[str], how: Way, now: datetime) -> None:
    """Count one hit on each of these records of a place's pool. `now` without a zone is UTC.

    Raises StorageError where they cannot be kept.
    """
    last = (now.astimezone(UTC) if now.tzinfo else now.replace(tzinfo=UTC)).isoformat(timespec="milliseconds")
    lines = (_line(one, 1, last, how) for one in record_ids if 0 < len(one) <= ID_LENGTH)
    while some := tuple(islice(lines, MOST_AT_ONCE)):
        path = _file_or_failure(place)
        _make(path.parent)
        with locked(path, LOCK_SECONDS):
            first = _first_line(path)
            _must_be_ours(path, first)
            append_under_lock(path, some if first is not None else (_header(place), *some), MODE)
            with suppress(StorageError, OSError):  # they are counted; the file stays as large as it is
                if path.stat().st_size > GROWN_BYTES and (kept := _read(path)).problem is None:
                    _write(path, place, kept.hits, KEPT_BYTES)


def hits_of(place: Place, now: datetime | None = None) -> KeptHits:
    """The hits that are kept for a workspace folder or for pools. Never raises.

    Those of later than a day from `now` (None: from this moment) are not read.
    """
    path = hits_file(place)
    if path is None:
        return KeptHits(problem=_NO_HOME)
    return _read(path, (now or datetime.now(UTC)) + CLOCKS_DIFFER)


def clear_hits(place: Place, record_ids: Iterable[str] | None = None) -> int:
    """Forget the hits on these records, or all of them with the file; of how many records there were any.

    Raises StorageError.
    """
    path = _file_or_failure(place)
    if not exists(path):
        return 0
    with locked(path, LOCK_SECONDS):
        kept = _read(path)
        if record_ids is None:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise StorageError(f"{path}: cannot be removed: {reason_of(error)}") from error
            return len(kept.hits)
        if kept.problem is not None:
            raise StorageError(kept.problem)
        gone = kept.hits.keys() & set(record_ids)
        if gone:
            _write(path, place, {name: hit for name, hit in kept.hits.items() if name not in gone})
        return len(gone)


def shown_ways(ways: Mapping[str, int]) -> dict[str, int]:
    """Those that this version knows, and how many others."""
    shown: dict[str, int] = {way: ways[way] for way in WAYS if way in ways}
    others = sum(count for way, count in ways.items() if way not in WAYS)
    return {**shown, OTHER_WAY: others} if others else shown


def why_not_kept(place: Place) -> str | None:
    """Why hits of a place cannot be written, as far as that can be told without writing; None if they can."""
    path = hits_file(place)
    if path is None:
        return _NO_HOME
    there = next((one for one in (path, *path.parents) if exists(one)), path)
    if there != path and not is_folder(there):
        why = "a file stands where a folder must be; move it away, or set XDG_STATE_HOME"
    elif not os.access(there, os.W_OK):
        why = "it cannot be written; change that, or set XDG_STATE_HOME to a folder of yours"
    else:
        return None
    return f"{there}: hits cannot be kept: {why}"


_NO_HOME: Final = "there is no home folder to keep hits in: set HOME or XDG_STATE_HOME"


def _real(place: Place) -> list[str]:
    """Each path once, in the order of their names. A folder that is a pool by itself is the same as a workspace."""
    return sorted({real_path(path) for path in ([place] if isinstance(place, Path) else place)})


def _file_or_failure(place: Place) -> Path:
    path = hits_file(place)
    if path is None:
        raise StorageError(_NO_HOME)
    return path


def _make(folder: Path) -> None:
    """Nobody else may look into it, nor into the state folder if that is made, too."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        folder.mkdir(exist_ok=True, mode=FOLDER_MODE)
    except OSError as error:
        raise StorageError(f"{folder}: the folder cannot be made: {reason_of(error)}") from error


def _header(place: Place) -> bytes:
    about = {"folder": real_path(place)} if isinstance(place, Path) else {"pools": _real(place)}
    return json.dumps({"schema": SCHEMA, **about}).encode()


def _line(record_id: str, count: int, last: str, how: str) -> bytes:
    return json.dumps({"record": record_id, "hits": count, "last": last, "how": how}).encode()


def _first_line(path: Path) -> bytes | None:
    """None where there is nothing yet. Raises StorageError for what is no file, or cannot be read."""
    try:
        with open_plain(path) as file:
            return file.readline(LINE_BYTES) or None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"{path}: nothing was written: {reason_of(error)}") from error


def _must_be_ours(path: Path, first: bytes | None) -> None:
    if first is not None and (schema := _foreign_schema(first)) is not None:
        raise StorageError(_told_foreign(path, schema))


def _foreign_schema(line: bytes) -> str | None:
    schema = _object(line).get("schema")
    return schema if isinstance(schema, str) and schema != SCHEMA else None


def _told_foreign(path: Path, schema: str) -> str:
    return (
        f"{path}: holds {schema[:60]!a}, not {SCHEMA}: another version of tried wrote it, so it is neither read nor"
        " written; use that version, or begin anew with `tried hits --clear`"
    )


def _read(path: Path, latest: datetime | None = None) -> KeptHits:
    """Never raises."""
    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return KeptHits()
    except OSError as error:
        return KeptHits(problem=f"{path}: the hits cannot be read: {reason_of(error)}")
    lines = data[:MOST_BYTES].split(b"\n", MOST_LINES)
    rest = lines.pop() if len(lines) > MOST_LINES else b""
    if (schema := _foreign_schema(lines[0])) is not None:
        return KeptHits(unread=sum(map(bool, lines)), problem=_told_foreign(path, schema))
    problem = None
    if rest or len(data) > MOST_BYTES:
        most = f"{MOST_BYTES:,} bytes and {MOST_LINES:,} lines"
        problem = f"{path}: has more than {most}: the rest is not read; `tried hits --clear` removes it"
    counts: dict[str, dict[str, int]] = {}
    last: dict[str, datetime] = {}
    unread = 0
    for line in lines:
        found = _object(line)
        if (hit := _hit_in(found, latest)) is not None:
            record_id, how, count, moment = hit
            ways = counts.setdefault(record_id, {})
            ways[how] = min(ways.get(how, 0) + count, MOST_HITS)
            last[record_id] = max(last.get(record_id, moment), moment)
        elif found.get("schema") != SCHEMA and line.strip():
            unread += 1
    return KeptHits({each: _hit(ways, last[each]) for each, ways in counts.items()}, unread, problem)


def _hit(ways: Mapping[str, int], last: datetime) -> KeptHit:
    ordered = {way: ways[way] for way in (*WAYS, *sorted(ways.keys() - set(WAYS))) if way in ways}
    return KeptHit(min(sum(ordered.values()), MOST_HITS), last, ordered)


def _hit_in(data: Mapping[str, Any], latest: datetime | None) -> tuple[str, str, int, datetime] | None:
    """(record, way, count, time) of a line; None if it is no hit, or none that could be."""
    record_id, count, last, how = (data.get(name) for name in ("record", "hits", "last", "how"))
    if not isinstance(record_id, str) or not 0 < len(record_id) <= ID_LENGTH:
        return None
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_HITS:
        return None
    try:
        moment = datetime.fromisoformat(last if isinstance(last, str) else "")
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    if latest is not None and moment > latest:
        return None
    return record_id, how if isinstance(how, str) and 0 < len(how) <= WAY_LENGTH else OTHER_WAY, count, moment


def _object(line: bytes) -> dict[str, Any]:
    """What a line holds; empty where that is nothing that can be read."""
    if not line or len(line) > LINE_BYTES:
        return {}
    try:
        data = json.loads(line.decode())
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _write(path: Path, place: Place, hits: Mapping[str, KeptHit], most_bytes: int = MOST_BYTES) -> None:
    """In place of what a file holds, as much as may stay, under its lock: what was hit last first, behind it what was
    but concluded once, maybe with many others."""
    lines = [_header(place)]
    size = len(lines[0]) + 1
    for record_id, hit in sorted(hits.items(), key=_to_keep):
        added = list(_lines_of(record_id, hit))
        size += sum(len(line) + 1 for line in added)
        if size > most_bytes:
            break
        lines += added
    replace_file(path, b"\n".join(lines) + b"\n")


def _to_keep(hit: tuple[str, KeptHit]) -> tuple[bool, float, int, str]:
    """To sort by: what is to stay first."""
    record_id, kept = hit
    is_faint = kept.count == 1 and "concluded" in kept.ways
    return is_faint, -kept.last.timestamp(), -kept.count, record_id


def _lines_of(record_id: str, hit: KeptHit) -> Iterator[bytes]:
    for way, count in hit.ways.items():
        yield _line(record_id, count, hit.last.isoformat(), way)
