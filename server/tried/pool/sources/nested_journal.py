"""The journal of a project inside of another one: what it names by a path, it tells from its own project.

`results-table:results.tsv:ad259c0` in the journal of `night/`, a repository of its own, is what the workspace around it
calls `results-table:night/results.tsv:ad259c0`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from tried.pool.journal import OUR_JOURNAL
from tried.pool.record import ExperimentRecord
from tried.storage.paths import shown

PATH_KINDS: Final = ("hydra:", "lightning:", "results-table:", "sacred:")
"""Beginnings of the ids in which a path in the project follows."""

_NAMED: Final = ("id", "amends", "parent", "sweep")


def prefix_of(journal: Path, project: Path | None) -> str:
    """`night/` for the journal of a project below this one, "" for this one's own and for any other."""
    from tried.pool.sources.discovery import project_of

    if project is None or journal.parts[-2:] != OUR_JOURNAL.parts:
        return ""
    inner, outer = project_of(journal.parent.parent), project.absolute()
    return f"{shown(inner.relative_to(outer).as_posix())}/" if inner != outer and inner.is_relative_to(outer) else ""


def outer_id(record_id: str, prefix: str) -> str:
    kind = next((kind for kind in PATH_KINDS if prefix and record_id.startswith(kind)), None)
    return record_id if kind is None else f"{kind}{prefix}{record_id.removeprefix(kind)}"


def inner_id(record_id: str, prefix: str) -> str:
    kind = next((kind for kind in PATH_KINDS if record_id.startswith(f"{kind}{prefix}")), None)
    return record_id if kind is None else f"{kind}{record_id.removeprefix(f'{kind}{prefix}')}"


def told_from_outside(record: ExperimentRecord, prefix: str) -> ExperimentRecord:
    """The same record or amendment, with all ids by a path as the project around it has them."""
    if not prefix:
        return record
    update: dict[str, Any] = {
        name: outer_id(value, prefix) for name in _NAMED if (value := getattr(record, name)) is not None
    }
    update["aliases"] = [outer_id(alias, prefix) for alias in record.aliases]
    if (derivation := record.derivation) is not None:
        ends = {name: outer_id(value, prefix) for name in ("from_", "to") if (value := getattr(derivation, name))}
        update["derivation"] = derivation.model_copy(update=ends)
    return record.model_copy(update={name: new for name, new in update.items() if new != getattr(record, name)})
