"""Tables of tab- or comma-separated text, as people and agents append to them by hand: comments, ragged rows, quotes.

Invariant: nothing is guessed about a cell here; a row that cannot be laid on the header is said to be so by its line.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import Final

from tried.pool.sources.source import Skipped

CELL_LIMIT: Final = 100_000
COLUMN_LIMIT: Final = 500


@dataclass(frozen=True, slots=True)
class Row:
    """`line` counts from 1 in the file; `cells` are as many as were written."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The header, stripped, and the rows below it, without comments, blank lines and repeated headers."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    skipped: tuple[Skipped, ...] = ()


def read_table(data: bytes) -> Table | None:
    """The table in a file's bytes; None where there is no header of two columns or more."""
    skipped: list[Skipped] = []
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        skipped.append(Skipped(f"line {line}", "invalid UTF-8, read with replacement characters"))
        text = data.decode("utf-8-sig", "replace")
    if "\0" in text:
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = next((at for at, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), None)
    if start is None:
        return None
    if "\t" in lines[start]:
        rows = _tab_separated(lines, start)
    elif "," in lines[start]:
        rows = _comma_separated(lines, start, skipped)
    else:
        return None
    header = tuple(cell.strip() for cell in rows[0].cells) if rows else ()
    if not 2 <= len(header) <= COLUMN_LIMIT:
        return None
    kept: list[Row] = []
    for row in rows[1:]:
        if len(row.cells) > 2 * COLUMN_LIMIT or max(map(len, row.cells)) > CELL_LIMIT:
            skipped.append(
                Skipped(f"line {row.line}", f"a cell of more than {CELL_LIMIT:,} characters, or too many cells")
            )
        elif row.cells != header:
            kept.append(row)
    return Table(header, tuple(kept), tuple(skipped))


def _tab_separated(lines: list[str], start: int) -> list[Row]:
    """One line, one row: quotes are kept unless they enclose a whole cell, for descriptions hold single ones."""
    rows: list[Row] = []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip() or (line.lstrip().startswith("#") and "\t" not in line):
            continue
        cells = tuple(map(str.strip, line.split("\t")))
        rows.append(Row(number, tuple(map(_unquoted, cells)) if '"' in line else cells))
    return rows


def _comma_separated(lines: list[str], start: int, skipped: list[Skipped]) -> list[Row]:
    rows: list[Row] = []
    reader = csv.reader(io.StringIO("\n".join(lines[start:])), skipinitialspace=True)
    line = start + 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        except csv.Error as error:
            skipped.append(Skipped(f"line {line}", f"not comma-separated: {error}"))
            return rows
        if any(cell.strip() for cell in cells) and not (len(cells) == 1 and cells[0].lstrip().startswith("#")):
            rows.append(Row(line, tuple(cell.strip() for cell in cells)))
        line = start + 1 + reader.line_num


def _unquoted(cell: str) -> str:
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        inner = cell[1:-1]
        if '"' not in inner.replace('""', ""):
            return inner.replace('""', '"')
    return cell
