"""`tried conclude`: write down what came of a run, so that the next draft knows it."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.options import empty_pool_advice, folder_of_here, open_workspace
from tried.cli.output import console, line_of
from tried.pool import journal
from tried.pool.pool import PoolSnapshot
from tried.pool.record import ExperimentRecord, Verdict
from tried.render.escape import plain

WORDS: dict[Verdict, str] = {"dead_end": "a dead end", "works": "works", "inconclusive": "inconclusive"}


def conclude(
    record_id: Annotated[str, typer.Argument(metavar="ID", help="The record, as `tried rank` shows it.")],
    why: Annotated[str, typer.Argument(metavar="WHY", help="The reason, in a sentence.")] = "",
    dead_end: Annotated[bool, typer.Option("--dead-end", help="It is a dead end.")] = False,
    works: Annotated[bool, typer.Option("--works", help="It works.")] = False,
    inconclusive: Annotated[bool, typer.Option("--inconclusive", help="It says nothing either way.")] = False,
) -> None:
    """Write down why a run ended as it did, and whether it is a dead end, in .tried/pool.jsonl."""
    given: dict[Verdict, bool] = {"dead_end": dead_end, "works": works, "inconclusive": inconclusive}
    chosen = [verdict for verdict, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise Failure("give one of --dead-end, --works and --inconclusive")
    verdict = chosen[0] if chosen else None
    if not why.strip() and verdict is None:
        raise Failure(f'say why, as in: tried conclude {record_id} "the learning rate is too high" --dead-end')
    workspace = open_workspace(folder_of_here(), None)
    record = workspace.snapshot.get(record_id)
    if record is None:
        raise Failure(_unknown(record_id, workspace.snapshot) if workspace.snapshot else empty_pool_advice(workspace))
    folder = workspace.folder or Path.cwd()
    journal.conclude(folder, record.id, why, verdict, datetime.now(UTC))
    _confirm(record, verdict, folder / journal.OUR_JOURNAL)


def _unknown(record_id: str, snapshot: PoolSnapshot) -> str:
    near = difflib.get_close_matches(record_id, snapshot.records, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "`tried rank --text WORDS` finds records by what they say"
    return f"no record {record_id} in the pool; {hint}"


def _confirm(record: ExperimentRecord, verdict: Verdict | None, path: Path) -> None:
    said = f"{plain(record.id)} {WORDS[verdict]}" if verdict == "works" else plain(record.id)
    if verdict in ("dead_end", "inconclusive"):
        said = f"{plain(record.id)} is {WORDS[verdict]}"
    console().print(line_of(f"noted in {path}: {said}"))
