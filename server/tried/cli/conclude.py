"""`tried conclude`: write down what came of runs, so that the next draft knows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.analysis import finding_settings
from tried.cli.asking import must_agree
from tried.cli.failure import Failure
from tried.cli.files import must_exist
from tried.cli.hits import count_hits
from tried.cli.options import AsJson, Yes, empty_pool_advice, folder_of_here, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import SHOWN, drafts_in, members, named, selected, told
from tried.draft.parameters import shown_value
from tried.draft.syntax import parse
from tried.pool import journal
from tried.pool.history.run import Run
from tried.pool.record import ExperimentRecord, Verdict
from tried.render.escape import plain, shortened
from tried.render.reports import conclude_report, conclusions_report
from tried.render.words import counted
from tried.review.comment_conclusions import CommentConclusion, Offer, conclusions_in, offers, without_run
from tried.review.runs import is_concluded, runs_in
from tried.text import LineIndex
from tried.workspace import Workspace

REPLACED = 5
"""Runs that are named because what was concluded of them is replaced."""
WORDS: dict[Verdict, str] = {"dead_end": "a dead end", "works": "works", "inconclusive": "inconclusive"}


@dataclass(frozen=True, slots=True)
class Conclusion:
    """What is to be written down of one run."""

    run: Run
    reason: str
    verdict: Verdict | None


def conclude(
    record_id: Annotated[
        str,
        typer.Argument(
            metavar="[ID|PATH|last]",
            show_default=False,
            help="The record, as `tried rank` shows it, or the end of its id; a run's folder; a config that was run;"
            " or `last`, the newest run.",
        ),
    ] = "",
    why: Annotated[str, typer.Argument(metavar="WHY", show_default=False, help="The reason, in a sentence.")] = "",
    sweep: Annotated[
        str | None, typer.Option("--sweep", metavar="ID", help="All members of this search.", show_default=False)
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="All runs of which this holds, as in: 'lr >= 3e-3 and dataset = cifar'.",
            show_default=False,
        ),
    ] = None,
    from_comments: Annotated[
        Path | None,
        typer.Option(
            "--from-comments",
            metavar="FILE",
            help="What comments of this config say, as in: lr: 0.5  # dead end: diverges.",
            show_default=False,
        ),
    ] = None,
    dead_end: Annotated[bool, typer.Option("--dead-end", help="It is a dead end.")] = False,
    works: Annotated[bool, typer.Option("--works", help="It works.")] = False,
    inconclusive: Annotated[bool, typer.Option("--inconclusive", help="It says nothing either way.")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Write down why runs ended as they did, in .tried/pool.jsonl."""
    given: dict[Verdict, bool] = {"dead_end": dead_end, "works": works, "inconclusive": inconclusive}
    chosen = [verdict for verdict, is_given in given.items() if is_given]
    if len(chosen) > 1:
        raise Failure("give one of --dead-end, --works and --inconclusive")
    verdict = chosen[0] if chosen else None
    if from_comments is not None:
        if record_id or where or sweep or verdict:
            raise Failure("--from-comments reads runs, reasons and verdicts from the file: give it alone")
    elif where is not None or sweep is not None:
        if why:
            raise Failure(f"give {record_id}, or --where and --sweep, not both")
        why = record_id
    elif not record_id:
        raise Failure('say which run and why, as in: tried conclude last "the learning rate is too high" --dead-end')
    if from_comments is None and not why.strip() and verdict is None:
        which = record_id or "--where 'lr >= 3e-3'"
        raise Failure(f'say why, as in: tried conclude {which} "the learning rate is too high" --dead-end')
    workspace = open_workspace(folder_of_here(), None)
    try:
        if from_comments is not None:
            conclusions = _of_comments(workspace, from_comments)
        else:
            runs = _chosen(workspace, record_id, where, sweep)
            conclusions = [Conclusion(run, why, verdict) for run in runs]
    except Failure:
        tell_of_unread(workspace, None)
        if not workspace.snapshot:
            raise Failure(empty_pool_advice(workspace)) from None
        raise
    is_one = where is None and sweep is None and from_comments is None and len(conclusions) == 1
    if not is_one:
        show(conclusions, on_stderr=as_json)
        if not yes:
            must_agree(f"write this down for {counted(len(conclusions), 'run')}?", on_stderr=as_json)
    now = datetime.now(UTC)
    amendments = [journal.conclusion_of(one.run.id, one.reason, one.verdict, now) for one in conclusions]
    path = journal.write_down(workspace.folder or Path.cwd(), amendments)
    count_hits(workspace, (one.run.id for one in conclusions), "concluded")
    if as_json:
        write_json(conclude_report(amendments[0], path) if is_one else conclusions_report(amendments, path))
    elif is_one:
        _confirm(conclusions[0].run.record, verdict, path)
    else:
        console().print(line_of(f"noted in {path}: {counted(len(amendments), 'run')}"))


def _chosen(workspace: Workspace, name: str, where: str | None, sweep: str | None) -> Sequence[Run]:
    if where is None and sweep is None:
        return named(workspace, name)
    runs = members(workspace, sweep) if sweep is not None else runs_in(workspace.snapshot.history)
    if where is not None:
        runs = selected(where, runs)
        if not runs:
            raise Failure(f"--where {where}: no run is like that; nothing was written")
    return runs


def _of_comments(workspace: Workspace, path: Path) -> list[Conclusion]:
    """What the comments of a config say of runs; raises Failure where they say nothing of any."""
    must_exist(path)
    language, text, drafts = drafts_in(path, workspace)
    comments, lines = parse(text, language).comments, LineIndex(text)
    said = [(draft, conclusions_in(draft, comments, lines)) for draft in drafts]
    if not any(found for _, found in said):
        raise Failure(f"{path}: no comment such as `lr: 0.5  # dead end: diverges` stands at the end of a line")
    settings, history = finding_settings(workspace.settings), workspace.snapshot.history
    every: list[Offer] = []
    left: list[CommentConclusion] = []
    for draft, found in said:
        made = offers(draft, found, history, settings)
        every += made
        left += without_run(found, made)
    if not every:
        raise Failure(f"{path}: no run without a conclusion had these values and ended so; nothing was written")
    conclusions: dict[str, Conclusion] = {}
    taken: list[CommentConclusion] = []
    for offer in every:
        before = len(conclusions)
        for run in offer.runs:
            conclusions.setdefault(run.id, Conclusion(run, offer.said.reason, offer.said.verdict))
        if len(conclusions) == before:
            taken.append(offer.said)
    for one in left:
        had = f"{plain(one.parameter.shown)} {plain(shown_value(one.parameter.entry.value))}"
        complain(f"{_comment(path, one, lines)} is about no run: none without a conclusion had {had} and ended so")
    for one in taken:
        complain(f"{_comment(path, one, lines)} is about runs that the comments before it conclude already")
    return list(conclusions.values())


def _comment(path: Path, said: CommentConclusion, lines: LineIndex) -> str:
    return f"{plain(str(path))}:{lines.line_of(said.line.start) + 1}: “{shortened(said.reason, 60)}”"


def show(conclusions: Sequence[Conclusion], *, on_stderr: bool = False) -> None:
    """What is about to be written down, and what that replaces."""
    out = console(on_stderr=on_stderr)
    for said in dict.fromkeys((one.reason, one.verdict) for one in conclusions):
        runs = [one.run for one in conclusions if (one.reason, one.verdict) == said]
        reason, verdict = said
        about = f"{counted(len(runs), 'run')}" + (f", {WORDS[verdict]}" if verdict else "")
        out.print(line_of((f"{about}: ", "bold"), plain(reason) or "(no reason)"))
        for run in runs[:SHOWN]:
            out.print(told(run))
        if len(runs) > SHOWN:
            out.print(line_of(f"    … and {len(runs) - SHOWN:,} more"))
    concluded = [plain(one.run.id) for one in conclusions if is_concluded(one.run.record)]
    if concluded:
        more = f" and {len(concluded) - REPLACED:,} more" if len(concluded) > REPLACED else ""
        complain(
            f"{len(concluded):,} of these {'has' if len(concluded) == 1 else 'have'} a conclusion, which this replaces:"
            f" {', '.join(concluded[:REPLACED])}{more}"
        )


def _confirm(record: ExperimentRecord, verdict: Verdict | None, path: Path) -> None:
    said = f"{plain(record.id)} {WORDS[verdict]}" if verdict == "works" else plain(record.id)
    if verdict in ("dead_end", "inconclusive"):
        said = f"{plain(record.id)} is {WORDS[verdict]}"
    console().print(line_of(f"noted in {path}: {said}"))
