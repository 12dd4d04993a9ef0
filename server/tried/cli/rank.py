"""`tried rank`: the experiments that bear on a config or on free text, best first."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from tried.architecture import ArchitectureFingerprint
from tried.cli.failure import Failure
from tried.cli.files import must_exist, read_config
from tried.cli.hits import tell_of_unread_hits
from tried.cli.options import (
    AsJson,
    Now,
    Pools,
    empty_pool_advice,
    folder_of,
    folder_of_here,
    now_from,
    open_workspace,
    tell_of_unread,
)
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.policy_options import Overrides, PolicyName, requested
from tried.cli.ranking_text import how_ordered, nothing_left, print_ranking, too_old, what_is_listed
from tried.ranking.query import RetrievalQuery
from tried.render.reports import ranking_report
from tried.settings.requested_policy import RequestedPolicy
from tried.storage.files import StorageError
from tried.workspace import Workspace


def rank(
    file: Annotated[Path | None, typer.Argument(metavar="FILE", show_default=False, help="A config file.")] = None,
    text: Annotated[str | None, typer.Option("--text", metavar="WORDS", help="Rank by this, without a file.")] = None,
    architecture: Annotated[
        Path | None,
        typer.Option(metavar="FINGERPRINT.json", show_default=False, help="An architecture to go with --text."),
    ] = None,
    policy: PolicyName = None,
    overrides: Overrides = None,
    pools: Pools = None,
    research_line: Annotated[
        str | None, typer.Option("--research-line", metavar="LINE", help="Only records of this research line.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Only records with this tag. Can be given again.")
    ] = None,
    source: Annotated[str | None, typer.Option("--source", metavar="NAME", help="Only records of this source.")] = None,
    now: Now = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="At most so many.", show_default="ranking.limit"),
    ] = None,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", show_default=False, help="Add a trace of it to this file."),
    ] = None,
    trace_text: Annotated[
        bool, typer.Option("--trace-text", help="Keep in the trace the text that is ranked by, not its words alone.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the past experiments that bear on a config file or on a text."""
    moment = now_from(now)
    if file is None and text is None and architecture is None:
        raise Failure("nothing to rank by; give a config FILE, or --text, or --architecture")
    if file is not None and (text is not None or architecture is not None):
        raise Failure("a FILE is ranked by what it holds: give it alone, or --text and --architecture without it")
    if file:
        must_exist(file)
    workspace = open_workspace(folder_of(file) if file else folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    asked = requested(workspace, policy, overrides)
    tell_of_unread_hits(workspace, asked.policy)
    query = (
        query_of_file(file, workspace)
        if file
        else RetrievalQuery(text=text or "", architecture=_fingerprint(architecture) if architecture else None)
    )
    query = dataclasses.replace(query, research_line=research_line, tags=tuple(tag or ()), source=source)
    ranking = workspace.rank(query, moment, limit, asked.policy)
    with _traced(query, workspace, moment, limit, asked, trace, trace_text):
        if as_json:
            directions = workspace.settings.metrics.directions
            write_json(ranking_report(query, ranking, moment, directions, requested=asked))
        elif ranking:
            if remark := how_ordered(query, ranking[0]):
                console().print(line_of(remark))
            print_ranking(ranking, workspace.snapshot, moment)
            if told := what_is_listed(len(ranking), query, workspace.snapshot.index, moment, asked):
                console().print(line_of((f"     {told}", "dim")))
        elif not workspace.snapshot:
            complain(empty_pool_advice(workspace, pools))
        else:
            old = too_old(query, workspace.snapshot.index, moment, asked.policy)
            console().print(line_of(nothing_left(old, asked.policy)))


@contextmanager
def _traced(
    query: RetrievalQuery,
    workspace: Workspace,
    now: datetime,
    limit: int | None,
    asked: RequestedPolicy,
    path: Path | None,
    with_text: bool,
) -> Iterator[None]:
    """Behind the answer, if settings or a `path` ask for it; also where whoever reads the answer has seen enough."""
    if path is None and not workspace.settings.trace.enabled:
        yield
        return
    try:
        yield
        sys.stdout.flush()  # nobody waits for the trace
    except (OSError, SystemExit):  # the latter is how rich ends where nobody reads on
        try:
            _trace(query, workspace, now, limit, asked, path, with_text)
        except StorageError as error:
            complain(str(error))
        raise
    _trace(query, workspace, now, limit, asked, path, with_text)


def _trace(
    query: RetrievalQuery,
    workspace: Workspace,
    now: datetime,
    limit: int | None,
    asked: RequestedPolicy,
    path: Path | None,
    with_text: bool,
) -> None:
    """Writes down what was ranked. That it cannot be kept is told, and is an error only of a file that was named."""
    from tried.workspace.traces import keep_ranking, trace_of_ranking, write_ranking

    settings = workspace.settings
    line = trace_of_ranking(
        query,
        workspace.snapshot,
        now,
        settings,
        limit=limit or settings.ranking.limit,
        policy=asked.policy,
        policy_name=asked.name,
        hits=workspace.hits,
        with_text=with_text,
    )
    if settings.trace.enabled:
        try:
            keep_ranking(line, settings)
        except StorageError as error:
            complain(f"the ranking was not traced: {error}")
    if path is not None:
        write_ranking(line, path)


def query_of_file(path: Path, workspace: Workspace, otherwise: str = "use --text for free text") -> RetrievalQuery:
    """What a file asks of the pool, whether it looks like a config or not: somebody named it. `otherwise` is what to do
    where it is none. Raises Failure."""
    from tried.analysis import not_worth_reading, query_of
    from tried.draft.draft import drafts_of
    from tried.draft.syntax import language_of, parse

    text = read_config(path, workspace.settings)
    language = language_of(str(path))
    if language is None:
        raise Failure(f"{path}: no language of configs (YAML, JSON, TOML, Python, .env); {otherwise}")
    if why := not_worth_reading(text, workspace.settings):
        raise Failure(f"{path}: {why}; {otherwise}")
    return query_of(drafts_of(parse(text, language), text)) or RetrievalQuery()


def _fingerprint(path: Path) -> ArchitectureFingerprint:
    try:
        fingerprint = ArchitectureFingerprint.model_validate_json(path.read_bytes())
    except OSError as error:
        raise Failure(f"--architecture {path}: cannot be read ({(error.strerror or str(error)).lower()})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise Failure(
            f"--architecture {path}: {place}: {first['msg'].lower()};"
            ' expected {"nodes": {"id": "filter:Name"}, "edges": [{"source": "id", "target": "id"}]}'
        ) from error
    if fingerprint.digest:
        return fingerprint
    return ArchitectureFingerprint.of(fingerprint.nodes, fingerprint.edges, fingerprint.node_config)
