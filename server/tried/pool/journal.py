"""The journal: an append-only JSONL file of records and amendments, and how an amendment changes its record.

The format is described in docs/journal.md. Reading one, again and again, is `sources.journal_source`.

Invariant: what was written is never changed; a correction is another line.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tried.pool.outcome import has_conclusion
from tried.pool.record import Cause, ExperimentRecord, Verdict
from tried.storage.files import StorageError, append_lines, replace_file
from tried.storage.paths import exists, leads_out

OUR_JOURNAL: Final = Path(".tried") / "pool.jsonl"
"""Where a workspace folder keeps what `tried` itself writes down."""

LINE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one line; a longer one is skipped, and said."""

KEPT_BY_AMENDMENTS: Final = frozenset({"id", "kind", "schema_version", "amends", "source", "timestamp", "parent"})
"""Fields that say which run it was: an amendment never changes them."""

UNITED_BY_AMENDMENTS: Final = ("tags", "aliases")
FILLED_BY_AMENDMENTS: Final = frozenset({"params", "metrics", "directions", "conclusion", "derivation"})
"""Objects that are replaced member by member, so that a reason given later keeps the outcome stated before."""


def append(path: Path, record: ExperimentRecord) -> None:
    """Append a record or amendment to a journal, safely between processes, and sync it to the disk.

    Raises StorageError if it cannot be written, ValueError if the line would be longer than LINE_LIMIT.
    """
    append_all(path, (record,))


def append_all(path: Path, records: Iterable[ExperimentRecord]) -> None:
    """Append records and amendments to a journal in one locked write: all of them or, on an error, none."""
    lines: list[bytes] = []
    for record in records:
        line = record.to_json().encode("utf-8", "replace")
        if len(line) >= LINE_LIMIT:
            raise ValueError(
                f"record {record.id!r} takes {len(line):,} bytes; a line of a journal holds {LINE_LIMIT:,}"
            )
        lines.append(line)
    append_lines(path, lines)


def conclude(folder: Path, record_id: str, reason: str, verdict: Verdict | None, now: datetime) -> ExperimentRecord:
    """Write down what a person or agent decided about a record, as an amendment in the folder's own journal.

    The reason becomes the headline. Raises like `write_down`, and ValueError if there is neither a reason nor a
    verdict.
    """
    amendment = conclusion_of(record_id, reason, verdict, now)
    write_down(folder, (amendment,))
    return amendment


def write_down(folder: Path, records: Sequence[ExperimentRecord]) -> Path:
    """Append to the journal of a workspace folder, all of them or none; the path of the journal.

    Creates `.tried/pool.jsonl` (and a `.gitignore` for its lock) if need be. Raises StorageError if it cannot be
    written or is a link out of the folder.
    """
    journal = folder / OUR_JOURNAL
    if leads_out(journal, folder):
        raise StorageError(f"{journal}: is a link out of the workspace and is not written to; put a file in its place")
    if not records:
        return journal
    if not exists(journal.parent):
        replace_file(
            journal.parent / ".gitignore", b"# Locks are of one machine; the journal is worth keeping.\n*.lock\n"
        )
    append_all(journal, records)
    return journal


def conclusion_of(
    record_id: str, reason: str, verdict: Verdict | None, now: datetime, cause: Cause | None = None
) -> ExperimentRecord:
    """The amendment that gives a record a headline, a verdict, or both; and a cause."""
    reason = " ".join(reason.split())
    if not reason and verdict is None:
        raise ValueError("say why, or give a verdict")
    moment = now.astimezone(UTC) if now.tzinfo else now.replace(tzinfo=UTC)
    timestamp = moment.isoformat().replace("+00:00", "Z")
    told = (record_id, reason, verdict or "", timestamp, *([cause] if cause else []))
    digest = hashlib.sha256("\0".join(told).encode("utf-8", "replace"))
    fields: dict[str, Any] = {
        "id": f"amendment:{digest.hexdigest()[:16]}",
        "kind": "amendment",
        "amends": record_id,
        "timestamp": timestamp,
    }
    if reason:
        fields["conclusion"] = {"headline": reason}
    if verdict is not None:
        fields["verdict"] = verdict
    if cause is not None:
        fields["cause"] = cause
    return ExperimentRecord.model_validate(fields)


def fold(record: ExperimentRecord, amendments: Iterable[ExperimentRecord]) -> ExperimentRecord:
    """The record with its amendments in it, in their order.

    What an amendment fills replaces what the record had (FILLED_BY_AMENDMENTS member by member, all else whole); tags
    and aliases unite; what says which run it was stays.
    """
    data: dict[str, Any] | None = None
    for amendment in amendments:
        if data is None:
            data = record.model_dump(by_alias=True, exclude_unset=True)
        _amend(data, amendment)
    return record if data is None else ExperimentRecord.model_validate(data)


def _amend(data: dict[str, Any], amendment: ExperimentRecord) -> None:
    changes = amendment.model_dump(by_alias=True, exclude_unset=True)
    for field in UNITED_BY_AMENDMENTS:
        if added := changes.pop(field, None):
            data[field] = list(dict.fromkeys([*data.get(field, ()), *added]))
    for field, value in changes.items():
        if field in KEPT_BY_AMENDMENTS or _is_empty(value):
            continue
        old = data.get(field)
        if field in FILLED_BY_AMENDMENTS and isinstance(old, dict) and isinstance(value, dict):
            data[field] = {**old, **{key: item for key, item in value.items() if not _is_empty(item)}}
        else:
            data[field] = value
    if has_conclusion(amendment.conclusion):
        data["conclusion"]["derived"] = False


def _is_empty(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, str) and not value.strip())
        or (isinstance(value, list | tuple | dict) and not value)
    )
