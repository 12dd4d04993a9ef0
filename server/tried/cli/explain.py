"""`tried explain`: why a record ranks where it does for a config, or why it is not listed."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.files import must_exist
from tried.cli.hits import tell_of_unread_hits
from tried.cli.options import AsJson, Now, Pools, empty_pool_advice, folder_of, now_from, open_workspace, tell_of_unread
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.policy_options import Overrides, PolicyName, requested
from tried.cli.rank import query_of_file
from tried.cli.selecting import record_named
from tried.related.dropping import Question
from tried.related.explain import Explanation, explanation_of
from tried.render.document import to_plain
from tried.render.escape import plain, shortened
from tried.render.explanations import ANSWER_LENGTH, explanation_report
from tried.render.hover import breakdown_block
from tried.render.reasons import reasons
from tried.settings.requested_policy import RequestedPolicy


def explain(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="A config file.")],
    record: Annotated[
        str,
        typer.Argument(metavar="RECORD", show_default=False, help="A record, or the last part of its id; or `last`."),
    ],
    policy: PolicyName = None,
    overrides: Overrides = None,
    pools: Pools = None,
    research_line: Annotated[
        str | None, typer.Option("--research-line", metavar="LINE", help="Only among records of this research line.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option("--tag", metavar="TAG", help="Only among records with this tag. Can be given again."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="NAME", help="Only among records of this source.")
    ] = None,
    now: Now = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="So many records are listed.", show_default="ranking.limit"),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say why a past experiment ranks where it does for a config, or why it is not listed."""
    moment = now_from(now)
    must_exist(file)
    workspace = open_workspace(folder_of(file), pools)
    tell_of_unread(workspace, pools)
    asked = requested(workspace, policy, overrides)
    tell_of_unread_hits(workspace, asked.policy)
    query = dataclasses.replace(
        query_of_file(file, workspace, "`tried rank --text` ranks by free text"),
        research_line=research_line,
        tags=tuple(tag or ()),
        source=source,
    )
    question = Question(workspace.snapshot, query, asked.policy, moment, workspace.hits)
    wanted, unknown = record, None
    try:
        wanted = record_named(workspace, record, pools).id if workspace.snapshot else record
    except Failure as error:
        unknown = error
    explanation = explanation_of(wanted, workspace.snapshot, question, limit or workspace.settings.ranking.limit)
    if as_json:
        write_json(explanation_report(explanation, asked))
    if unknown is not None:
        raise unknown
    if not workspace.snapshot:
        complain(empty_pool_advice(workspace, pools))
    elif not as_json:
        _print(explanation, asked)


def _print(explanation: Explanation, asked: RequestedPolicy) -> None:
    out = console()
    changed = " with other knobs" if asked.is_requested and asked.has_overrides else ""
    out.print(
        line_of(
            (plain(explanation.record or ""), "bold"),
            (f"  by the policy {plain(asked.name)}{changed} ({asked.policy.policy_id})", "dim"),
        )
    )
    out.print(line_of(shortened(explanation.answer, ANSWER_LENGTH)))
    if explanation.scored is not None:
        out.print(line_of(""))
        for row in to_plain([breakdown_block(explanation.scored.terms, explanation.scored.score)]).splitlines():
            out.print(line_of(row.rstrip()))
        told = list(reasons(explanation))
        width = max((len(name) for name, _ in told), default=0)
        if told:
            out.print(line_of(""))
        for name, reason in told:
            out.print(line_of((f"{name:<{width}}  ", "dim"), reason))
