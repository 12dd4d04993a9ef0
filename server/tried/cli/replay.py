"""`tried replay`: a ranking again, from its trace alone, or as another policy would have ranked."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from tried.cli.failure import Failure
from tried.cli.options import AsJson, folder_of_here
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.policy_options import tell_remarks
from tried.cli.trace_files import Entry, TraceFiles, traces_at
from tried.evaluation.replay import Replay, ReplayedRow, ReplayError, replay
from tried.evaluation.trace import ResultRow, Trace
from tried.ranking.policy import Policy, PolicyError, policy_from_json, with_overrides
from tried.ranking.policy_remarks import remarks_on
from tried.render.escape import plain, shortened
from tried.render.reports import rfc3339
from tried.render.trace_reports import (
    TRACES_SCHEMA,
    TraceError,
    encoded,
    is_identical,
    replay_report,
    result_json,
)
from tried.render.words import counted
from tried.render.words import number as figure
from tried.settings.requested_policy import overrides_from
from tried.storage.files import reason_of
from tried.storage.paths import open_plain

FILTERS: Final = ("filters", "research_line", "tag", "tags", "source", "containing")
POLICY_FILE_LIMIT: Final = 1024**2
NAME_LENGTH: Final = 60


def replay_trace(
    trace: Annotated[
        Path | None,
        typer.Argument(metavar="TRACE", show_default=False, help="A file or folder of traces; else those kept."),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show which traces there are.")] = False,
    number: Annotated[
        int | None,
        typer.Option("--number", metavar="N", min=1, show_default="the last", help="This one, as --list counts."),
    ] = None,
    trace_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", show_default=False, help="The one of this id, or its beginning.")
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME|FILE",
            show_default="the trace's own",
            help="What this policy would have done: its name, or a .toml or .json file of knobs.",
        ),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="KNOB=VALUE", show_default=False, help="Another value of one knob. Can be given again."
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Repeat a ranking from its trace, without the pool, or show what another policy would have done.

    Exit status 1 if the trace's own policy does not give the trace's results again, 2 on an error.
    """
    files = traces_at(trace)
    if listed:
        _list(files, as_json)
        return 0
    if number is not None and trace_id is not None:
        raise Failure("--number, --id: give one of them")
    try:
        entry, count = files.find(number, trace_id)
    finally:
        _tell(files)
    try:
        found_id, found = entry.trace()
        replayed = replay(found, _policy(found, policy, overrides))
    except TraceError as error:
        others = f"; the {counted(count - 1, 'other trace')} can be used (--list)" if count > 1 else ""
        raise Failure(f"{entry.place}: {error}{others}") from error
    except ReplayError as error:
        raise Failure(str(error)) from error
    if as_json:
        write_json(replay_report(replayed, found_id))
    else:
        _print(replayed, found_id, "" if number or trace_id or count == 1 else f", the last of {count:,}")
    return 1 if replayed.is_same_policy and not is_identical(replayed) else 0


def _policy(trace: Trace, name: str | None, overrides: list[str] | None) -> Policy | None:
    """The policy that was asked for; None for the trace's own. Raises Failure."""
    if name is None and not overrides:
        return None
    try:
        knobs = overrides_from(overrides or ())
    except PolicyError as error:
        raise Failure(f"--set: {error}") from error
    if filters := [knob for knob in knobs if knob.split(".")[0] in FILTERS]:
        raise Failure(
            f"--set {filters[0]}: a trace holds the candidates that passed its filters, and no others; with other"
            " filters rank the pool itself (`tried rank`)"
        )
    policy = trace.scored.policy if name is None else _named_policy(name)
    try:
        chosen = with_overrides(policy, knobs) if knobs else policy
    except PolicyError as error:
        raise Failure(f"--set: {error}") from error
    tell_remarks(name or trace.policy_name or "of the trace", remarks_on(chosen, knobs))
    return chosen


def _named_policy(name: str) -> Policy:
    from tried.settings.policies import policy_of
    from tried.workspace import Workspace

    try:
        if name.endswith((".toml", ".json")):
            return policy_from_json(_policy_file(Path(name)))
        return policy_of(Workspace(folder_of_here()).settings, name)
    except PolicyError as error:
        raise Failure(f"--policy {name}: {error}") from error


def _policy_file(path: Path) -> Any:
    try:
        with open_plain(path) as file:
            data = file.read(POLICY_FILE_LIMIT + 1)
    except OSError as error:
        raise Failure(f"--policy {path}: cannot be read: {reason_of(error)}") from error
    if len(data) > POLICY_FILE_LIMIT:
        raise Failure(f"--policy {path}: larger than 1 MB; a policy is a table of knobs")
    try:
        return json.loads(data) if path.suffix == ".json" else tomllib.loads(data.decode("utf-8-sig"))
    except RecursionError:
        raise Failure(f"--policy {path}: it nests too deeply") from None
    except ValueError as error:  # of JSON, of TOML, and of the encoding
        raise Failure(f"--policy {path}: no {path.suffix[1:].upper()}: {error}") from error


def _tell(files: TraceFiles) -> None:
    for note in files.notes():
        complain(note)


def _print(replayed: Replay, trace_id: str, which: str) -> None:
    out = console()
    trace, scored = replayed.trace, replayed.trace.scored
    own = f"{plain(trace.policy_name)} " if trace.policy_name else ""
    kept = counted(len(scored.candidates), "candidate")
    kept = kept if scored.is_complete else f"{len(scored.candidates):,} of {counted(scored.total, 'candidate')}"
    out.print(
        line_of(
            (f"trace {plain(trace_id)}", "bold"),
            f"{which}: {rfc3339(trace.now)}, policy {own}{scored.policy.policy_id}, {kept}",
        )
    )
    if replayed.is_same_policy:
        for each in replayed.rows:
            out.print(line_of(*_row(each.row)))
        _print_verdict(replayed)
        return
    out.print(line_of(f"under policy {replayed.policy.policy_id}:"))
    for each in replayed.rows:
        _print_move(each)
    if replayed.left:
        out.print(line_of(f"no longer among the first {len(replayed.rows)}:"))
        for each in replayed.left:
            _print_move(each)
    if not replayed.is_complete:
        out.print(line_of("not complete: others than the candidates that were kept may rank among these"))


def _print_verdict(replayed: Replay) -> None:
    if is_identical(replayed):
        console().print(line_of(("identical", "bold green"), ": the results of the trace, byte for byte"))
        return
    before = result_json(replayed.trace.result)
    after = result_json(each.row for each in replayed.rows)
    place = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if encoded(a) != encoded(b)), None)
    if place is None:
        said = f"the trace has {counted(len(before), 'result')}, its candidates give {len(after)}"
    else:
        said = f"rank {place + 1} of the trace is {_said(before[place])}, its candidates give {_said(after[place])}"
    console().print(line_of(("not identical", "bold red"), f": {plain(said)}"))


def _said(row: dict[str, Any]) -> str:
    values = ", ".join(f"{term['name']} {term['value']!r}" for term in row["terms"])
    return f"{row['id']} {row['score']!r} ({values})"


def _row(row: ResultRow) -> tuple[str | tuple[str, str], ...]:
    mark = ("✗", "bold red") if row.dead_end else ("·", "dim")
    name = f"  {shortened(row.name, NAME_LENGTH)}" if row.name and row.name != row.id else ""
    return f"{row.rank:>3}  {figure(row.score)}  ", mark, f" {plain(row.id)}", (name, "bold")


def _print_move(move: ReplayedRow) -> None:
    rose = f"was {move.before.rank}" if move.moved else "as before"
    style = "green" if move.moved > 0 else "red" if move.moved < 0 else "dim"
    console().print(line_of(*_row(move.row), (f"  {rose}, {figure(move.before.score)}", style)))
    if move.changed:
        before = {term.name: term.value for term in move.before.terms}
        after = {term.name: term.value for term in move.row.terms}
        terms = (f"{name} {figure(before.get(name, 0.0))} → {figure(after.get(name, 0.0))}" for name in move.changed)
        console().print(line_of((" " * 14 + plain(", ".join(terms)), "dim")))


def _list(files: TraceFiles, as_json: bool) -> None:
    rows = [_summary(entry) for entry in files]
    _tell(files)
    if as_json:
        write_json({"schema": TRACES_SCHEMA, "path": str(files.path), "traces": rows, "passed_over": files.torn})
        return
    out = console()
    for row in rows:
        head = f"{row['number']:>4}  {plain(row['id'] or '?'):<12}  "
        if row["problem"] is not None:
            out.print(line_of(head, (f"line {row['line']}: {plain(row['problem'])}", "bold red")))
            continue
        kept = f"{row['candidates']:,}" if row["complete"] else f"{row['candidates']:,} of {row['total']:,}"
        policy = plain(row["policy_name"] or row["policy_id"])
        first = f"first {plain(row['first'])}" if row["first"] is not None else "no result"
        terms = shortened(" ".join(row["terms"]), NAME_LENGTH)
        out.print(line_of(head, f"{row['now']}  {policy}  {kept} candidates  {first}", (f"  {terms}", "dim")))
    out.print(line_of((f"{counted(len(rows), 'trace')} in {files.path}", "dim")))


def _summary(entry: Entry) -> dict[str, Any]:
    summary: dict[str, Any] = {
        "number": entry.number,
        "path": str(entry.line.path),
        "line": entry.line.number,
        "id": entry.id,
        "problem": None,
    }
    try:
        _, trace = entry.trace()
    except TraceError as error:
        return {**summary, "problem": str(error)}
    return {
        **summary,
        "now": rfc3339(trace.now),
        "version": trace.version,
        "policy_name": trace.policy_name,
        "policy_id": trace.scored.policy.policy_id,
        "terms": list(trace.scored.query.terms),
        "candidates": len(trace.scored.candidates),
        "total": trace.scored.total,
        "complete": trace.scored.is_complete,
        "first": trace.result[0].id if trace.result else None,
    }
