"""The columns of a results table and the words in its status column.

The tables here are documented in docs/results-tables.md, which a test holds against this module.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tried.pool.metric_names import direction_by_name, is_bookkeeping_metric
from tried.pool.record import Cause, Verdict, as_number
from tried.pool.sources.tables.table import Row, Table

STATUS_COLUMNS: Final = ("status", "decision", "verdict", "result", "outcome")
DESCRIPTION_COLUMNS: Final = (
    "description",
    "desc",
    "experiment",
    "change",
    "changes",
    "idea",
    "title",
    "name",
    "label",
)
ID_COLUMNS: Final = (
    "commit",
    "commit_hash",
    "git_commit",
    "sha",
    "hash",
    "exp_id",
    "experiment_id",
    "run_id",
    "exp",
    "id",
)
UNDECIDED_IDS: Final = ("commit", "commit_hash", "git_commit", "exp_id", "experiment_id", "run_id", "exp")
UNDECIDED_DESCRIPTIONS: Final = ("description", "desc", "experiment", "change", "changes", "idea")
"""A table that says of no row what became of it needs one of either, and a metric."""

TIME_COLUMNS: Final = ("timestamp", "time", "datetime", "date", "created_at", "started_at")
NOTES_COLUMNS: Final = ("notes", "note", "comment", "comments", "remarks", "reason")
CONTEXT_COLUMNS: Final = ("target", "dataset", "task", "benchmark", "metric")
"""Rows that differ in one of these are not comparable: each has its own line of kept rows."""
PARAMETER_COLUMNS: Final = (
    *(
        "model",
        "model_family",
        "family",
        "optimizer",
        "dataset",
        "task",
        "target",
        "features",
        "extra_features",
        "seed",
    ),
    *("lr", "learning_rate", "batch_size", "weight_decay", "dropout", "depth", "width"),
)


@dataclass(frozen=True, slots=True)
class Status:
    """What a word in the status column means. `kept`: the next rows start from here."""

    verdict: Verdict | None = None
    outcome: str | None = None
    kept: bool = False
    cause: Cause | None = None


STATUSES: Final[Mapping[str, Status]] = {
    **dict.fromkeys(
        ("keep", "kept", "keeper", "accept", "accepted", "adopted"), Status("works", "completed", kept=True)
    ),
    "baseline": Status(outcome="completed", kept=True),
    **dict.fromkeys(("ok", "done", "success", "completed", "finished"), Status(outcome="completed")),
    **dict.fromkeys(
        ("discard", "discarded", "revert", "reverted", "reject", "rejected", "refuted", "drop", "dropped"),
        Status("dead_end", "completed"),
    ),
    **dict.fromkeys(("crash", "crashed"), Status(outcome="crashed")),
    **dict.fromkeys(("fail", "failed", "error"), Status(outcome="failed")),
    "oom": Status(outcome="crashed", cause="out_of_memory"),
    "timeout": Status(outcome="failed", cause="stopped"),
    **dict.fromkeys(("running", "pending", "todo", "skip", "skipped", "defer", "deferred"), Status()),
}
"""By the first word of the cell, in lower case; any other word leaves open how the row ended."""

_DECIDING: Final = frozenset({"keep", "kept", "discard", "discarded", "revert", "reverted", "crash", "crashed"})
NO_VALUE: Final = frozenset({"", "-", "--", "—", "n/a", "na", "none", "null", "nan", "?", "tbd", "todo", "pending"})
_FIRST_WORD = re.compile(r"[a-z]+")
_CAPITALS = re.compile(r"(?<![\w-])(?:KEEP|KEPT|REVERT(?:ED)?|DISCARD(?:ED)?|REJECT(?:ED)?|CRASH(?:ED)?|OOM)(?![\w-])")
"""Words of a status that are one in the midst of others."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Which column is what, by index; `metrics` are in the order of the header. `decides`: the status says which rows
    were kept, so that others come from them."""

    header: tuple[str, ...]
    status: int | None
    description: int | None
    native_id: int | None
    commit: int | None
    time: int | None
    notes: tuple[int, ...]
    parameters: tuple[int, ...]
    metrics: tuple[int, ...]
    texts: tuple[int, ...]
    pair: tuple[int, int] | None
    context: tuple[int, ...]
    primary: str | None
    decides: bool = True


def layout_of(table: Table) -> Layout | None:
    """The columns' meanings; None for a table that is no log of experiments: none of its columns says what became of
    the rows, nor has it an id, a description and a known metric."""
    names = [name.lower().replace(" ", "_").replace("-", "_") for name in table.header]
    status = _status_column(names, table.rows)
    if status is None:
        if not _is_undecided_log(names, table.rows):
            return None
        status = next((names.index(name) for name in STATUS_COLUMNS if name in names), None)
    taken = {status} if status is not None else set()

    def find(candidates: Iterable[str]) -> int | None:
        for candidate in candidates:
            for index, name in enumerate(names):
                if name == candidate and index not in taken:
                    taken.add(index)
                    return index
        return None

    description = find(DESCRIPTION_COLUMNS)
    native_id = find(ID_COLUMNS)
    commit = native_id if native_id is not None and _is_commit_column(names[native_id]) else None
    if commit is None:
        commit = next((i for i, name in enumerate(names) if _is_commit_column(name) and i not in taken), None)
    taken.update(() if commit is None else (commit,))
    time = find(TIME_COLUMNS)
    notes = tuple(index for index, name in enumerate(names) if name in NOTES_COLUMNS and index not in taken)
    pair = (names.index("metric"), names.index("value")) if {"metric", "value"} <= set(names) else None
    taken.update((*notes, *(pair or ())))
    parameters = tuple(i for i, name in enumerate(names) if name in PARAMETER_COLUMNS and i not in taken)
    taken.update(parameters)
    rest = [index for index in range(len(names)) if index not in taken and names[index]]
    metrics = tuple(index for index in rest if _is_numeric(index, table.rows))
    context = tuple(i for i, name in enumerate(names) if name in CONTEXT_COLUMNS and i not in metrics)
    candidates = [table.header[index] for index in metrics if not is_bookkeeping_metric(table.header[index])]
    layout = Layout(
        header=table.header,
        status=status,
        description=description,
        native_id=native_id,
        commit=commit,
        time=time,
        notes=notes,
        parameters=parameters,
        metrics=metrics,
        texts=tuple(index for index in rest if index not in metrics),
        pair=pair,
        context=context,
        primary=candidates[0] if candidates else None,
    )
    return replace(layout, decides=any(_has_verdict(row.cells, layout) for row in table.rows))


def laid_out(row: Row, layout: Layout) -> tuple[list[str] | None, str | None]:
    """(cells, one for each column of the header, or None; a complaint or None)."""
    cells, width = list(row.cells), len(layout.header)
    if len(cells) - cells.count("") < 2:
        return None, "fewer than two cells; a remark needs a `#` in front"
    if len(cells) < width:
        # Perhaps the first cell was left out altogether, tab included; else those on the right.
        lacking = width - len(cells)
        status = layout.status
        if status is not None and not _is_status(cells, status) and _is_status(cells, status - lacking):
            cells = [""] * lacking + cells
        return cells + [""] * (width - len(cells)), None
    if len(cells) > width:
        if not any(cells[width:]):
            return cells[:width], None
        if layout.status is None or _is_status(cells, layout.status):
            if layout.description == width - 1 or layout.notes[-1:] == (width - 1,):
                return [*cells[: width - 1], " ".join(cells[width - 1 :])], None
            return cells[:width], f"{len(cells)} cells under {width} columns: those on the right were left out"
        # Columns were added before the status and the header was not: only what stands at the ends is certain.
        more = len(cells) - width
        texts = {index: cells[index] for index in (layout.native_id, layout.description) if index is not None}
        certain = [texts.get(index, "") if index < layout.status else cells[index + more] for index in range(width)]
        return certain, f"{len(cells)} cells under {width} columns: the metrics were left out"
    return cells, None


def status_of(cell: str) -> Status:
    """`REVERTED:too_eager` is a revert, `revert (feature mismatch)` too; unknown words leave the verdict open."""
    word = _FIRST_WORD.match(cell.strip().lower())
    if word and (known := STATUSES.get(word[0])):
        rest = cell.strip().lower()[word.end() : word.end() + 1]
        if rest != "_":  # KEEP_CANDIDATE is no keep yet
            return known
    return Status()


def status_of_row(cells: Sequence[str], layout: Layout) -> Status:
    """By the status column; in a table without one, by what the notes say in capitals (`5-fold CV, REVERT`), unless
    they say several things."""
    if layout.status is not None:
        status = status_of(cells[layout.status])
    else:
        said = {STATUSES[word.lower()] for index in layout.notes for word in _CAPITALS.findall(cells[index])}
        status = said.pop() if len(said) == 1 else Status()
    return status if layout.decides else replace(status, kept=False)


def _status_column(names: Sequence[str], rows: Sequence[Row]) -> int | None:
    """A column with a fitting name in which some row was kept, discarded, reverted or crashed; without any rows yet,
    `status` beside an id and a description."""
    for wanted in STATUS_COLUMNS:
        for index, name in enumerate(names):
            if name != wanted:
                continue
            if any(_is_deciding(row.cells, index) for row in rows):
                return index
            if not rows and name == "status" and "description" in names and not set(names).isdisjoint(ID_COLUMNS):
                return index
    return None


def _is_undecided_log(names: Sequence[str], rows: Sequence[Row]) -> bool:
    """A log that leaves open how its rows ended: nothing else has an id of an experiment, a description and a metric
    that is known as one."""
    if not rows or set(names).isdisjoint(UNDECIDED_IDS) or set(names).isdisjoint(UNDECIDED_DESCRIPTIONS):
        return False
    return any(
        direction_by_name(name) is not None and not is_bookkeeping_metric(name) and _is_numeric(index, rows)
        for index, name in enumerate(names)
    )


def _has_verdict(cells: Sequence[str], layout: Layout) -> bool:
    looked_at = layout.notes if layout.status is None else (layout.status,)
    return len(cells) > max(looked_at, default=-1) and status_of_row(cells, layout).verdict is not None


def _is_deciding(cells: Sequence[str], index: int) -> bool:
    word = _FIRST_WORD.match(cells[index].strip().lower()) if index < len(cells) else None
    return word is not None and word[0] in _DECIDING


def _is_status(cells: Sequence[str], index: int) -> bool:
    word = _FIRST_WORD.match(cells[index].strip().lower()) if 0 <= index < len(cells) else None
    return word is not None and word[0] in STATUSES


def _is_commit_column(name: str) -> bool:
    return name in ("commit", "commit_hash", "git_commit", "sha", "hash")


def _is_numeric(index: int, rows: Sequence[Row]) -> bool:
    """At least half of what stands in the column are numbers."""
    cells = [row.cells[index].lower() for row in rows if index < len(row.cells) and row.cells[index]]
    filled = [cell for cell in cells if cell not in NO_VALUE or cell == "nan"]
    return sum(as_number(cell.lstrip("+")) is not None for cell in filled) * 2 >= len(filled) > 0
