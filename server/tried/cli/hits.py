"""`tried hits`: which records were of use to you, as a policy may count it, and how to make tried forget that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from tried.cli.asking import must_agree
from tried.cli.failure import Failure
from tried.cli.options import AsJson, Pools, Yes, folder_of_here, must_be_there, open_workspace
from tried.cli.output import complain, console, line_of, write_json
from tried.pool.pool import PoolSnapshot
from tried.ranking.policy import Policy
from tried.record_names import find_record
from tried.render.escape import plain, shortened
from tried.render.reports import rfc3339
from tried.render.words import counted, moment_ago
from tried.storage.files import StorageError
from tried.storage.hits import KeptHit, KeptHits, Place, Way, clear_hits, hits_file, hits_of, shown_ways, why_not_kept
from tried.workspace import Workspace
from tried.workspace.hits import present_id, unread_told

LIST_SCHEMA: Final = "tried.hitlist/v1"
SHOWN: Final = 50
NAME_LENGTH: Final = 40


@dataclass(frozen=True, slots=True)
class _Row:
    """A record that was hit. `ids` are those that it was hit by; `name` is None where the pool does not have it."""

    id: str
    ids: tuple[str, ...]
    name: str | None
    is_in_pool: bool
    count: int
    last: datetime
    ways: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Named:
    """The rows of the records that were named, and the ids of those `without` a hit."""

    rows: list[_Row]
    without: tuple[str, ...]


def hits(
    records: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RECORD]…", show_default=False, help="Only these: ids, or the last parts of ids."),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Forget them.")] = False,
    yes: Yes = False,
    pools: Pools = None,
    as_json: AsJson = False,
) -> None:
    """Show which records you opened, compared with, used or concluded, most hits first; with --clear, forget that."""
    must_be_there(pools)
    folder = folder_of_here()
    place: Place = tuple(pools) if pools else folder
    kept = hits_of(place)
    named: _Named | None = None
    rows: list[_Row] = []
    if kept.hits or records:  # else there is nothing to ask the pool for, and to read it may take long
        snapshot = open_workspace(folder, pools).snapshot
        rows = _rows(kept, snapshot)
        if records:
            named = _named(rows, records, snapshot)
            rows = named.rows
    cleared: int | None = None
    if clear:
        cleared = _clear(place, rows, kept, everything=not records, yes=yes, as_json=as_json)
        kept = hits_of(place)
    problem = why_not_kept(place) or kept.problem
    if as_json:
        write_json(_report(folder, place, [] if clear else rows, kept, problem, cleared))
        return
    if clear:
        console().print(line_of(f"forgot the hits on {counted(cleared or 0, 'record')}"))
        return
    if problem is not None:
        complain(problem)
    if kept.unread and kept.problem is None:
        complain(f"{hits_file(place)}: {unread_told(kept.unread)}")
    if rows or named is None:
        _print(rows)
    if named is not None and named.without:
        told = ", ".join(plain(record_id) for record_id in named.without[:SHOWN])
        more = f" and {len(named.without) - SHOWN:,} more" if len(named.without) > SHOWN else ""
        console().print(line_of(f"none on {told}{more}"))


def count_hits(workspace: Workspace, record_ids: Iterable[str], how: Way) -> None:
    """Remembers that somebody did this with these records. Where that cannot be kept, what they did is done all the
    same, and a line on stderr says why."""
    try:
        workspace.count_hits(record_ids, how, datetime.now(UTC))
    except StorageError as error:
        complain(f"this is not counted as a hit: {error}")


def tell_of_unread_hits(workspace: Workspace, policy: Policy) -> None:
    """A policy that counts hits ranks by less than it should where not all can be read: a line on stderr says so."""
    if policy.hit_boost.enabled:
        _ = workspace.hits  # looks at the file
        if (problem := workspace.hits_problem) is not None:
            complain(problem)


def _rows(kept: KeptHits, snapshot: PoolSnapshot) -> list[_Row]:
    """Most hits first, then the latest. What has become one record is one row."""
    by_record: dict[str, dict[str, KeptHit]] = {}
    for record_id, hit in kept.hits.items():
        by_record.setdefault(present_id(record_id, snapshot) or record_id, {})[record_id] = hit
    rows = [_row(record_id, found, snapshot) for record_id, found in by_record.items()]
    return sorted(rows, key=lambda row: (-row.count, -row.last.timestamp(), row.id))


def _row(record_id: str, found: Mapping[str, KeptHit], snapshot: PoolSnapshot) -> _Row:
    record = snapshot.get(record_id)
    ways: dict[str, int] = {}
    for hit in found.values():
        for way, count in hit.ways.items():
            ways[way] = ways.get(way, 0) + count
    return _Row(
        id=record_id,
        ids=tuple(found),
        name=record.name if record is not None else None,
        is_in_pool=record is not None,
        count=sum(hit.count for hit in found.values()),
        last=max(hit.last for hit in found.values()),
        ways=shown_ways(ways),
    )


def _named(rows: Sequence[_Row], names: Sequence[str], snapshot: PoolSnapshot) -> _Named:
    """Raises Failure for a name that is neither in the pool nor among the rows."""
    known = {record_id: row.id for row in rows for record_id in (*row.ids, row.id)}
    wanted: dict[str, None] = {}
    for name in names:
        if name in known:
            wanted[known[name]] = None
            continue
        found = find_record(snapshot, name)
        if found.record is None:
            raise Failure(f"{plain(found.why_not(name))}; `tried hits` lists all that were hit")
        wanted[found.record.id] = None
    shown = {row.id: row for row in rows if row.id in wanted}
    return _Named(list(shown.values()), tuple(record_id for record_id in wanted if record_id not in shown))


def _clear(place: Place, rows: Sequence[_Row], kept: KeptHits, *, everything: bool, yes: bool, as_json: bool) -> int:
    """Of how many records hits were forgotten. Raises Failure where somebody does not agree, StorageError."""
    if not rows and not (everything and (kept.unread or kept.problem)):
        return 0
    if not yes:
        must_agree(f"forget the hits on {counted(len(rows), 'record')}?", on_stderr=as_json)
    if everything:
        clear_hits(place)
    else:
        clear_hits(place, [record_id for row in rows for record_id in row.ids])
    return len(rows)


def _report(
    folder: Path, place: Place, rows: Sequence[_Row], kept: KeptHits, problem: str | None, cleared: int | None
) -> dict[str, Any]:
    path = hits_file(place)
    report = {
        "schema": LIST_SCHEMA,
        "workspace": str(folder),
        "file": str(path) if path is not None else None,
        "records": [
            {
                "record": row.id,
                "name": row.name,
                "in_pool": row.is_in_pool,
                "hits": row.count,
                "last": rfc3339(row.last),
                "ways": dict(row.ways),
            }
            for row in rows
        ],
        "unread": kept.unread,
        "problem": problem,
    }
    return report if cleared is None else {**report, "cleared": cleared}


def _print(rows: Sequence[_Row]) -> None:
    out, now = console(), datetime.now(UTC)
    if not rows:
        out.print(line_of("no hits: nobody opened, compared with, used or concluded a record here"))
        return
    width = len(f"{rows[0].count:,}")
    for row in rows[:SHOWN]:
        name = f"  {shortened(row.name, NAME_LENGTH)}" if row.name and row.name != row.id else ""
        ways = ", ".join(f"{way} {count:,}" for way, count in row.ways.items())
        out.print(
            line_of(
                f"{row.count:>{width},}  {plain(row.id)}",
                (name, "bold"),
                f"  {ways}",
                (f"  {moment_ago(row.last, now)}", "dim"),
                ("" if row.is_in_pool else "  not in the pool", "dim"),
            )
        )
    if len(rows) > SHOWN:
        out.print(line_of((f"… and {len(rows) - SHOWN:,} more; --json lists all", "dim")))
