"""Tables in the manner of autoresearch: `results.tsv`, a row an experiment, with what became of it.

How one is recognised, and what its columns become, is described in docs/results-tables.md. A table without a status
column is none: nothing in it says how a row ended.

Invariant: an id depends on the row and the table's place in the project, not on the machine, the rows above or below
(but for rows that are alike in both commit and description), or the metrics.
"""

from __future__ import annotations

import hashlib
import re
import stat
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord, as_number
from tried.pool.sources.described_changes import changes_in, is_baseline
from tried.pool.sources.journal_source import FileState
from tried.pool.sources.source import Delta, Skipped
from tried.pool.sources.table import Table, read_table
from tried.pool.sources.table_layout import NO_VALUE, Layout, Status, laid_out, layout_of, status_of
from tried.storage.files import reason_of

KIND: Final = "results-table"
SIZE_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of a table; a larger one is data, not a log of experiments."""

_COMMIT = re.compile(r"[0-9a-f]{6,40}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TableCursor:
    state: FileState | None
    records: Mapping[str, ExperimentRecord]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True)
class ResultsTableSource:
    """One results table. `project` is the folder that its place is told from, the same on every machine."""

    path: Path
    project: Path | None = None
    kind: str = KIND

    @property
    def name(self) -> str:
        """The table's place in the project (`phase2/results.tsv`), or its folder and name outside of it."""
        path = self.path.absolute()
        if self.project is not None and path.is_relative_to(self.project.absolute()):
            return path.relative_to(self.project.absolute()).as_posix()
        return f"{path.parent.name}/{path.name}" if path.parent.name else path.name

    @property
    def research_line(self) -> str:
        return research_line_of(self.path.parent, self.project)

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, TableCursor) else None
        try:
            status = self.path.stat()
            state = FileState.of(status)
            if known is not None and known.state == state:
                return Delta(cursor=known)
            if not stat.S_ISREG(status.st_mode):
                return self._failed(
                    "is a folder, not a table" if stat.S_ISDIR(status.st_mode) else "is not a file", known
                )
            if status.st_size > SIZE_LIMIT:
                return self._failed(f"larger than {SIZE_LIMIT // 1024**2} MiB: that is data, not a log", known, state)
            data = self.path.read_bytes()
        except FileNotFoundError:
            return self._failed("there is no such file", known)
        except OSError as error:
            return self._failed(f"cannot be read: {reason_of(error)}", known)
        table = read_table(data)
        layout = layout_of(table) if table is not None else None
        if table is None or layout is None:
            return self._failed(
                "not a results table: it needs a header and a status column with keep, discard, crash or revert",
                known,
                state,
            )
        records, skipped = records_of(table, layout, self.name, self.research_line)
        return _delta(TableCursor(state, {record.id: record for record in records}, skipped), known)

    def line_of(self, record_id: str) -> int | None:
        try:
            table = read_table(self.path.read_bytes())
        except OSError:
            return None
        layout = layout_of(table) if table is not None else None
        if table is None or layout is None:
            return None
        rows = _read_rows(table, layout, self.name, self.research_line)
        return next((line for line, record, _ in rows if record is not None and record.id == record_id), None)

    def _failed(self, why: str, known: TableCursor | None, state: FileState | None = None) -> Delta:
        return _delta(TableCursor(state, {}, (Skipped("the file", why),)), known)


def research_line_of(folder: Path, project: Path | None) -> str:
    """The research line of all tables in a folder, and of the scripts beside them: the folder's path in the project,
    or its name where it is the project itself or lies outside."""
    folder = folder.absolute()
    if project is not None and folder.is_relative_to(project.absolute()) and folder != project.absolute():
        return folder.relative_to(project.absolute()).as_posix()
    return folder.name or "results"


def is_results_table(data: bytes) -> bool:
    """Whether the first bytes of a file are those of a results table. The last, perhaps cut, line is not looked at."""
    table = read_table(data[: data.rfind(b"\n") + 1] or data)
    return table is not None and layout_of(table) is not None


def records_of(
    table: Table, layout: Layout, name: str, research_line: str
) -> tuple[tuple[ExperimentRecord, ...], tuple[Skipped, ...]]:
    """The rows as records, in their order, each derived from the last row that was kept before it."""
    rows = tuple(_read_rows(table, layout, name, research_line))
    records = tuple(record for _, record, _ in rows if record is not None)
    skipped = (Skipped(f"line {line}", complaint) for line, _, complaint in rows if complaint)
    return records, (*table.skipped, *skipped)


def _read_rows(
    table: Table, layout: Layout, name: str, research_line: str
) -> Iterator[tuple[int, ExperimentRecord | None, str | None]]:
    """(line, record or None, a complaint or None) of each row; whatever a row holds, it costs no other row."""
    kept: dict[tuple[str, ...], ExperimentRecord] = {}
    seen: Counter[str] = Counter()
    for row in table.rows:
        cells, complaint = laid_out(row, layout)
        if cells is None:
            yield row.line, None, complaint
            continue
        try:
            status = status_of(cells[layout.status])
            context = tuple(cells[index] for index in layout.context)
            native = _native_id(cells, layout, seen)
            record = _record(cells, layout, status, f"{KIND}:{name}:{native}", research_line, kept.get(context))
        except Exception as error:
            yield row.line, None, f"could not be read: {type(error).__name__}: {error}"[:200]
            continue
        if status.kept:
            kept[context] = record
        yield row.line, record, complaint


def _record(
    cells: Sequence[str],
    layout: Layout,
    status: Status,
    record_id: str,
    research_line: str,
    parent: ExperimentRecord | None,
) -> ExperimentRecord:
    header = layout.header
    description = cells[layout.description] if layout.description is not None else ""
    broken = status.outcome in ("crashed", "failed")
    metrics = _metrics(cells, layout, broken)
    primary = layout.primary
    if layout.pair is not None and primary not in metrics:
        primary = cells[layout.pair[0]] or None
    fields: dict[str, Any] = {
        "id": record_id,
        "name": description or record_id.rsplit(":", 1)[-1],
        "source": KIND,
        "research_line": research_line,
        "metrics": metrics,
    }
    conclusion = {"headline": description} if description else {}
    if status.outcome is not None:
        conclusion["outcome"] = status.outcome
    if conclusion:
        fields["conclusion"] = conclusion
    if status.verdict is not None:
        fields["verdict"] = status.verdict
    if status.cause is not None:
        fields["cause"] = status.cause
    if primary is not None:
        fields["objective"] = primary
    if word := cells[layout.status].strip():
        fields["tags"] = [word[:60].lower()]
    if parameters := {header[i]: cells[i] for i in layout.parameters if cells[i]}:
        fields["params"] = parameters
    if layout.time is not None and cells[layout.time]:
        fields["timestamp"] = cells[layout.time]
    if layout.commit is not None and _COMMIT.match(cells[layout.commit]):
        fields["git"] = {"commit": cells[layout.commit]}
    notes = [cells[i] for i in layout.notes if cells[i]]
    notes += [f"{header[i]}: {cells[i]}" for i in layout.texts if cells[i]]
    if notes:
        fields["notes"] = "\n".join(notes)
    changes = changes_in(description, frozenset(header))
    if not is_baseline(description) and "baseline" not in cells[layout.status].lower() and (changes or parent):
        if parent is not None:
            fields["parent"] = parent.id
        fields["derivation"] = {
            "from": parent.id if parent is not None else None,
            "to": record_id,
            "changes": [change.model_dump(by_alias=True, exclude_unset=True) for change in changes],
        }
        # Where the table leaves open how a row ended, a number beside another is no judgement.
        if status.outcome is not None:
            fields["derivation"]["metric_delta"] = _metric_delta(primary, metrics, parent)
    return ExperimentRecord.model_validate(fields)


def _metrics(cells: Sequence[str], layout: Layout, broken: bool) -> dict[str, Any]:
    """Numbers as numbers, other words as they stand; a zero of a run that crashed is a placeholder."""
    pairs = [(layout.header[index], cells[index]) for index in layout.metrics]
    if layout.pair is not None and cells[layout.pair[0]]:
        pairs.append((cells[layout.pair[0]], cells[layout.pair[1]]))
    metrics: dict[str, Any] = {}
    for name, cell in pairs:
        number = as_number(cell.lstrip("+"))
        if cell.lower() in NO_VALUE and cell.lower() != "nan":
            continue
        if number is None:
            metrics[name] = cell
        elif not (broken and number == 0):
            metrics[name] = number
    return metrics


def _metric_delta(primary: str | None, metrics: Mapping[str, Any], parent: ExperimentRecord | None) -> dict[str, Any]:
    if primary is None or parent is None:
        return {}
    before, after = as_number(parent.metrics.get(primary)), as_number(metrics.get(primary))
    if before is None or after is None:
        return {}
    return {primary: {"before": before, "after": after, "delta": after - before}}


def _native_id(cells: Sequence[str], layout: Layout, seen: Counter[str]) -> str:
    """The commit or id; with a digest of the row's words where it is missing or taken; numbered where all is alike."""
    native = cells[layout.native_id].strip() if layout.native_id is not None else ""
    if native.lower() in NO_VALUE:
        native = ""
    words = [cells[i] for i in (layout.description, *layout.parameters, *layout.context) if i is not None]
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:8]
    native = re.sub(r"\s+", "_", native)[:80]
    for candidate in (native, f"{native}~{digest}" if native else f"row-{digest}"):
        if candidate and not seen[candidate]:
            seen[candidate] += 1
            return candidate
    seen[candidate] += 1
    return f"{candidate}~{seen[candidate]}"


def _delta(now: TableCursor, known: TableCursor | None) -> Delta:
    """Only the rows that are new or other than before; everything where what was skipped is other than before, or where
    a new row does not stand at the end."""
    if known is None or known.skipped != now.skipped or not _is_appended(now.records, known.records):
        return Delta(tuple(now.records.values()), (), now.skipped, now, reset=known is not None)
    before = {record_id: record.to_json() for record_id, record in known.records.items()}
    changed = tuple(record for key, record in now.records.items() if before.get(key) != record.to_json())
    removed = tuple(record_id for record_id in known.records if record_id not in now.records)
    return Delta(changed, removed, (), now)


def _is_appended(now: Mapping[str, ExperimentRecord], known: Mapping[str, ExperimentRecord]) -> bool:
    stayed = [record_id for record_id in known if record_id in now]
    return stayed == list(now)[: len(stayed)]
