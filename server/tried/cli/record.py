"""`tried record`: write down a run that no tracker knows of, with the parameters of its config."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, get_args

import typer

from tried.cli.failure import Failure
from tried.cli.files import must_exist
from tried.cli.hits import count_hits
from tried.cli.options import AsJson, folder_of, now_from, open_workspace
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.selecting import drafts_in
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import is_known
from tried.pool import journal
from tried.pool.record import ExperimentRecord, Verdict, as_number, finite
from tried.record_names import find_record
from tried.render.escape import plain
from tried.render.reports import record_report, rfc3339
from tried.render.words import counted
from tried.storage.repository import Repository
from tried.workspace import Workspace

KIND: Final = "tried"
OUTCOMES: Final = ("completed", "failed", "crashed", "stopped", "running")
CONFIG_FIELD: Final = "config"
"""In a record: the config file that was run, relative to the workspace folder."""


def record(
    file: Annotated[Path, typer.Argument(metavar="FILE", show_default=False, help="The config that was run.")],
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="OUTCOME", help=f"One of {', '.join(OUTCOMES)}.")
    ] = None,
    headline: Annotated[
        str | None, typer.Option("--headline", metavar="WHY", help="What came of it, in a sentence.")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", metavar="NAME=VALUE", help="What came out. Can be given again.", show_default=False),
    ] = None,
    verdict: Annotated[
        str | None, typer.Option("--verdict", metavar="VERDICT", help=f"One of {', '.join(get_args(Verdict))}.")
    ] = None,
    parent: Annotated[
        str | None,
        typer.Option(
            "--parent",
            metavar="ID",
            help="What it came from; `none` for nothing.",
            show_default="what was recorded of this file last",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", metavar="NAME", help="A few words for it.")] = None,
    note: Annotated[str | None, typer.Option("--note", metavar="TEXT", help="Anything else.")] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Can be given again.", show_default=False)
    ] = None,
    research_line: Annotated[
        str | None, typer.Option("--research-line", metavar="LINE", help="If the config does not name it.")
    ] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="N", min=0, help="How long it took.")] = None,
    time: Annotated[
        str | None, typer.Option("--time", metavar="RFC3339", help="When it was started.", show_default="now")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Write down a run of a config, without any tracker."""
    if outcome is not None and outcome not in OUTCOMES:
        raise Failure(f"--outcome {outcome}: expected one of {', '.join(OUTCOMES)}")
    if verdict is not None and verdict.replace("-", "_") not in get_args(Verdict):
        raise Failure(f"--verdict {verdict}: expected one of {', '.join(get_args(Verdict))}")
    metrics = _metrics(metric or ())
    if not (outcome or headline or verdict or metrics):
        raise Failure('say what came of it: --outcome failed, --headline "…", --verdict works, or --metric val_f1=0.91')
    moment = now_from(time)
    must_exist(file)
    workspace = open_workspace(folder_of(file), None)
    _, _, drafts = drafts_in(file, workspace)
    draft, unread = _draft_of(file, drafts)
    folder = workspace.folder or Path.cwd()
    path = _relative(file, folder)
    fields: dict[str, Any] = {
        "name": name or draft.name or file.stem,
        "params": _params(draft),
        "metrics": metrics,
        "timestamp": rfc3339(moment),
        "duration": seconds,
        "parent": _parent(workspace, parent, path),
        "research_line": research_line or draft.research_line,
        "tags": list(dict.fromkeys([*draft.tags, *(tag or ())])),
        "notes": "\n\n".join(text for text in (note, *draft.prose) if text and text.strip()),
        "conclusion": {"headline": " ".join(headline.split()) if headline else None, "outcome": outcome},
        "verdict": verdict,
        "architecture": draft.architecture.model_dump() if draft.architecture else None,
        "git": _git(file),
        "source": KIND,
        CONFIG_FIELD: path,
    }
    fields["conclusion"] = {key: value for key, value in fields["conclusion"].items() if value}
    fields = {key: value for key, value in fields.items() if value not in (None, "", [], {})}
    made = ExperimentRecord.model_validate({"id": _id_of(fields), **fields})
    written = journal.write_down(folder, [made])
    if headline or verdict:
        count_hits(workspace, [made.id], "concluded")
    if unread:
        complain(f"{file}: {counted(unread, 'value')} cannot be read without running it, and left out")
    if as_json:
        write_json(record_report(made, written))
    else:
        came = f", from {plain(made.parent)}" if made.parent else ""
        console().print(
            line_of(f"noted in {written}: {plain(made.id)}, {counted(len(made.params), 'parameter')}{came}")
        )


def _draft_of(file: Path, drafts: Sequence[ExperimentDraft]) -> tuple[ExperimentDraft, int]:
    """The first document with parameters, and how many of its values cannot be read."""
    telling = [draft for draft in drafts if any(is_known(parameter.value) for parameter in draft.parameters)]
    if not telling:
        raise Failure(f"{file}: holds no parameters; name the config that was run")
    if len(telling) > 1:
        complain(f"{file}: holds {len(telling)} experiments, of which the first is recorded")
    return telling[0], sum(not is_known(parameter.value) for parameter in telling[0].parameters)


def _params(draft: ExperimentDraft) -> dict[str, Any]:
    """As the draft reads them: what a later draft of the same text is compared with."""
    found: dict[str, Any] = {}
    for parameter in draft.parameters:
        value = parameter.entry.value
        if is_known(parameter.value):
            found[parameter.shown] = list(value) if isinstance(value, tuple) else value
    return found


def _metrics(given: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for text in given:
        name, sign, value = text.partition("=")
        number = as_number(value.strip())
        if not sign or not name.strip() or number is None:
            raise Failure(f"--metric {text}: expected NAME=NUMBER, such as val_f1=0.91 or val_loss=nan")
        found[name.strip()] = finite(number)
    return found


def _parent(workspace: Workspace, given: str | None, path: str) -> str | None:
    """The record that was named, else what was recorded of the same file last: whoever records a file again says by
    that what it came from."""
    snapshot = workspace.snapshot
    if given is not None:
        if given.strip().casefold() == "none":
            return None
        found = find_record(snapshot, given)
        if found.record is None:
            raise Failure(f"--parent {given}: {found.why_not(given)}")
        return found.record.id
    latest: tuple[datetime, str] | None = None
    for record_id in snapshot.records:
        if not record_id.startswith(f"{KIND}:"):
            continue
        one = snapshot.records[record_id]
        if (one.model_extra or {}).get(CONFIG_FIELD) == path and one.time is not None:
            latest = max(latest or (one.time, record_id), (one.time, record_id))
    return latest[1] if latest else None


def _git(file: Path) -> dict[str, Any] | None:
    repository = Repository.at(file.absolute().parent)
    state = repository.working_state() if repository is not None else None
    if state is None:
        return None
    told = {"sha": state.commit, "dirty": state.dirty, "branch": state.branch}
    return {key: value for key, value in told.items() if value is not None}


def _relative(file: Path, folder: Path) -> str:
    path = file.absolute()
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.as_posix()


def _id_of(fields: dict[str, Any]) -> str:
    """The same content at the same time has the same id."""
    text = json.dumps(finite(fields), sort_keys=True, ensure_ascii=True, default=str)
    return f"{KIND}:{hashlib.sha256(text.encode()).hexdigest()[:12]}"
