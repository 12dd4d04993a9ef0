"""`tried evaluate`: how well findings and ranked lists do on configs that somebody judged."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from tried.analysis import finding_settings, not_worth_reading, query_of, told_findings, with_retried_records
from tried.cli.evaluation_text import print_evaluation
from tried.cli.failure import Failure
from tried.cli.files import must_exist, read_config
from tried.cli.options import AsJson, Pools, empty_pool_advice, folder_of, now_from, open_workspace, tell_of_unread
from tried.cli.output import complain, write_json
from tried.draft.draft import drafts_of
from tried.draft.syntax import language_of, parse
from tried.evaluation.evaluate import JudgedConfig, ToldFindings, resolved
from tried.evaluation.evaluate import evaluate as evaluated
from tried.evaluation.gate import GateError, Held, Limit, held, maximum_of, minimum_of
from tried.evaluation.judgements import BadLine, Judgement, cut, in_brief, judgements_in, told
from tried.findings.finding import Finding
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.policy import Policy, PolicyError
from tried.ranking.query import RetrievalQuery
from tried.render.evaluation_reports import evaluation_report
from tried.render.words import counted
from tried.settings import Settings
from tried.settings.policies import policy_of
from tried.storage.paths import NotPlain, exists, open_plain
from tried.workspace import Workspace

BESIDE = "pool.jsonl"
MOST_BYTES = 64 * 1024 * 1024
MOST_PLACES = 1_000
MOST_TOLD = 100
"""Bad lines that are told one by one: a file of something else has nothing but these."""


def evaluate(
    judgements: Annotated[
        Path,
        typer.Argument(
            metavar="JUDGEMENTS", show_default=False, help="A file of judged configs, JSONL; docs/evaluation.md has it."
        ),
    ],
    pools: Pools = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="NAME",
            help="Rank by this policy. Given twice, the second is compared with the first.",
            show_default="ranking.policy",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=MOST_PLACES, help="Places of the list that count.")] = 10,
    minima: Annotated[
        list[str] | None,
        typer.Option(
            "--min",
            metavar="MEASURE=VALUE",
            help="Exit status 1 if less, as in recall@10=0.8, ndcg@10=0.7, finding_precision=0.9 or coverage=0.5;"
            " whole_pool.recall@10=0.6 is that of the whole pool. Can be given again.",
            show_default=False,
        ),
    ] = None,
    maxima: Annotated[
        list[str] | None,
        typer.Option(
            "--max",
            metavar="MEASURE=NUMBER",
            help="Exit status 1 if more, as in false_alarms=0 or too_loud=0; whole_pool.false_alarms=0 is that of the"
            " whole pool. Can be given again.",
            show_default=False,
        ),
    ] = None,
    lenient: Annotated[bool, typer.Option("--lenient", help="Bad lines are told, and no error.")] = False,
    now: Annotated[
        str | None,
        typer.Option(
            "--now", metavar="RFC3339", help="The time that ages count from.", show_default="that of the newest record"
        ),
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Say how well findings and ranked lists do on judged configs. Exit status 1 if they fall short, 2 on an error."""
    wanted = [*_limits("--min", minimum_of, minima), *_limits("--max", maximum_of, maxima)]
    moment = now_from(now) if now is not None else None
    text = _text_of(judgements)
    beside = judgements.parent / BESIDE
    given = pools or ([beside] if exists(beside) else None)
    workspace = open_workspace(folder_of(judgements), given)
    tell_of_unread(workspace, given)
    chosen = _policies(policies or [], workspace.settings)
    if not workspace.snapshot:
        raise Failure(empty_pool_advice(workspace, given))
    configs, bad = _configs_in(text, judgements.parent, workspace)
    for line in bad[:MOST_TOLD]:
        complain(f"{judgements}:{line.line}: {line.why}")
    if len(bad) > MOST_TOLD:
        complain(f"{judgements}: … and {len(bad) - MOST_TOLD:,} more lines that cannot be used")
    if not configs:
        raise Failure(
            f"{judgements}: {'no line of it can be used' if bad else 'holds no judgement'}; docs/evaluation.md"
            " shows what one looks like"
        )
    ks = tuple(dict.fromkeys([k, *(each.k for each in wanted if each.k is not None)]))
    evaluation = evaluated(
        configs,
        workspace.snapshot,
        chosen,
        now=moment or newest_in(workspace.snapshot),
        ks=ks,
        settings=finding_settings(workspace.settings),
        told=_told_in(judgements.parent, workspace),
    )
    gates = held(evaluation, wanted)
    if as_json:
        write_json(evaluation_report(str(judgements), len(workspace.snapshot), evaluation, bad, gates))
    else:
        print_evaluation(evaluation, len(workspace.snapshot))
    short = [gate for gate in gates if not gate.holds]
    for gate in short:
        complain(_shortfall(gate))
    if bad:
        complain(f"{counted(len(bad), 'judgement')} of {len(bad) + len(configs):,} not used (see above)")
        if not lenient:
            return 2
    return 1 if short else 0


def _told_in(folder: Path, workspace: Workspace) -> ToldFindings:
    """What a user of the workspace gets of findings; may replay its pool."""
    workspace.calibrate()
    settings, snapshot, calibration = workspace.settings, workspace.snapshot, workspace.calibration

    def told(judgement: Judgement, findings: Iterable[Finding]) -> Sequence[Finding]:
        path = Path(os.path.normpath((folder / judgement.config).absolute()))
        return told_findings(findings, path, workspace.folder, snapshot, settings, calibration)

    return told


def newest_in(snapshot: PoolSnapshot) -> datetime:
    """The time of the newest record, so that an evaluation is the same tomorrow; the beginning of time if none has
    one."""
    times = [source.newest for source in snapshot.sources if source.newest is not None]
    aware = [time if time.tzinfo is not None else time.replace(tzinfo=UTC) for time in times]
    return max(aware, default=datetime(1970, 1, 1, tzinfo=UTC))


def _limits(option: str, limit_of: Callable[[str], Limit], texts: Iterable[str] | None) -> list[Limit]:
    try:
        return [limit_of(text) for text in texts or ()]
    except GateError as error:
        raise Failure(f"{option} {error}") from error


def _policies(names: list[str], settings: Settings) -> dict[str, Policy]:
    if len(names) > 2:
        raise Failure("--policy: two policies can be compared, no more; leave out the others")
    chosen: dict[str, Policy] = {}
    for name in names or [settings.ranking.policy]:
        if name in chosen:
            raise Failure(f"--policy {name}: is given twice; name another one to compare it with")
        try:
            chosen[name] = policy_of(settings, name)
        except PolicyError as error:
            raise Failure(f"--policy: {error}") from error
    return chosen


def _text_of(path: Path) -> str:
    must_exist(path, "a file of judgements")
    try:
        with open_plain(path) as file:
            data = file.read(MOST_BYTES + 1)
    except (OSError, NotPlain) as error:
        why = (error.strerror or str(error)).lower() if isinstance(error, OSError) else "is no plain file"
        raise Failure(f"{path}: cannot be read ({why}); name a file of judgements, a JSON object a line") from error
    if len(data) > MOST_BYTES:
        raise Failure(f"{path}: is larger than {MOST_BYTES >> 20} MB; name a file of judgements, a JSON object a line")
    return data.decode("utf-8-sig", "replace")


def _configs_in(text: str, folder: Path, workspace: Workspace) -> tuple[list[JudgedConfig], list[BadLine]]:
    """The judgements that can be used, with what was read of their configs, and those that cannot."""
    judgements, bad = judgements_in(text)
    configs: list[JudgedConfig] = []
    for judgement in judgements:
        known, problems = resolved(judgement, workspace.snapshot)
        path = folder / judgement.config
        try:
            config = _read(known, path, workspace)
        except Failure as failure:
            problems.append(f"config: {str(failure).replace(str(path), str(folder / cut(judgement.config)))}")
        if problems:
            bad.append(BadLine(judgement.line, _with_hints(problems, judgement, workspace.snapshot)))
        else:
            configs.append(config)
    return configs, sorted(bad, key=lambda line: line.line)


def _with_hints(problems: Iterable[str], judgement: Judgement, snapshot: PoolSnapshot) -> str:
    said = in_brief(problems)
    line = judgement.research_line
    if line is not None and line not in snapshot.research_lines:
        near = difflib.get_close_matches(line, snapshot.research_lines, n=1)
        said += f"; did you mean the line {told(near[0])}?" if near else ""
    return said


def _read(judgement: Judgement, path: Path, workspace: Workspace) -> JudgedConfig:
    if "\0" in judgement.config:
        raise Failure("is no path of a file")
    must_exist(path)
    language = language_of(path.name, judgement.language)
    if language is None:
        raise Failure(
            f"{path}: of no language that is read (YAML, JSON, TOML, Python, .env, shell); name it in language"
        )
    text = read_config(path, workspace.settings)
    if why := not_worth_reading(text, workspace.settings):
        raise Failure(f"{path}: {why}")
    drafts = with_retried_records(drafts_of(parse(text, language), text), workspace.snapshot)
    return JudgedConfig(judgement, drafts, query_of(drafts) or RetrievalQuery())


def _shortfall(gate: Held) -> str:
    limit = gate.limit
    scope = "" if limit.scope == "own_line" else f"{limit.scope}."
    name = f"{scope}{limit.name}{f' (policy {gate.policy})' if gate.policy else ''}"
    if gate.value is None:
        return f"{name}: nothing to measure it by, at {limit.side} {limit.value:g} asked for"
    if limit.side == "most":
        return f"{name}: {gate.value:g}, at most {limit.value:g} asked for"
    return f"{name}: {gate.value:.4f}, {gate.short_by:.4f} short of {limit.value:g}"
