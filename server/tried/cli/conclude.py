"""`tried conclude`: write down what came of a run, so that the next draft knows it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.options import AsJson, empty_pool_advice, folder_of_here, open_workspace, tell_of_unread
from tried.cli.output import console, line_of, write_json
from tried.pool import journal
from tried.pool.record import ExperimentRecord, Verdict
from tried.record_names import Found, find_record
from tried.render.escape import plain
from tried.render.reports import conclude_report

WORDS: dict[Verdict, str] = {"dead_end": "a dead end", "works": "works", "inconclusive": "inconclusive"}


def conclude(
    record_id: Annotated[
        str, typer.Argument(metavar="ID", help="The record, as `tried rank` shows it, or the end of its id.")
    ],
    why: Annotated[str, typer.Argument(metavar="WHY", help="The reason, in a sentence.")] = "",
    dead_end: Annotated[bool, typer.Option("--dead-end", help="It is a dead end.")] = False,
    works: Annotated[bool, typer.Option("--works", help="It works.")] = False,
    inconclusive: Annotated[bool, typer.Option("--inconclusive", help="It says nothing either way.")] = False,
    as_json: AsJson = False,
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
    found = find_record(workspace.snapshot, record_id)
    if found.record is None:
        tell_of_unread(workspace, None)
        raise Failure(_unknown(record_id, found) if workspace.snapshot else empty_pool_advice(workspace))
    folder = workspace.folder or Path.cwd()
    amendment = journal.conclude(folder, found.record.id, why, verdict, datetime.now(UTC))
    if as_json:
        write_json(conclude_report(amendment, folder / journal.OUR_JOURNAL))
    else:
        _confirm(found.record, verdict, folder / journal.OUR_JOURNAL)


def _unknown(record_id: str, found: Found) -> str:
    if found.several:
        return f"{found.why_not(record_id)}; give a whole id"
    hint = "" if found.near else "; `tried rank --text WORDS` finds records by what they say"
    return f"{found.why_not(record_id)}{hint}"


def _confirm(record: ExperimentRecord, verdict: Verdict | None, path: Path) -> None:
    said = f"{plain(record.id)} {WORDS[verdict]}" if verdict == "works" else plain(record.id)
    if verdict in ("dead_end", "inconclusive"):
        said = f"{plain(record.id)} is {WORDS[verdict]}"
    console().print(line_of(f"noted in {path}: {said}"))
