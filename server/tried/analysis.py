"""One config text against one pool snapshot: what is in it, what is to be said about it, what bears on it.

Invariant: `analyse` depends on its arguments alone: it reads no file and no clock.
Invariant: whatever the text, it returns; what it did not look at is said in `Analysis.passed_over`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from tried.draft.entries import Problem
from tried.findings.finding import Finding
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.hits import NO_HITS, Hits
from tried.record_names import Found, find_record
from tried.settings import Settings, Silence

if TYPE_CHECKING:
    from tried.draft.draft import ExperimentDraft
    from tried.evaluation.calibration import Calibration
    from tried.findings.settings import FindingSettings
    from tried.pool.pool import PoolSnapshot, SourceReport
    from tried.ranking.policy import Policy
    from tried.ranking.query import RetrievalQuery


@dataclass(frozen=True, slots=True)
class Analysis:
    """What tried knows of one text. `generation` is that of the snapshot it was made from.

    `passed_over` says why the text was not looked at (too large, binary, of no known language); such a text is no
    config. `ranking` holds at most `Settings.ranking.limit` records, the best first, ranked with `hits`. `mistakes` are
    the comments that were to silence something and do not.
    """

    path: Path | None
    generation: int
    language: str | None = None
    is_config: bool = False
    drafts: tuple[ExperimentDraft, ...] = ()
    findings: tuple[Finding, ...] = ()
    query: RetrievalQuery | None = None
    hits: Hits = field(default_factory=lambda: NO_HITS)
    ranking: tuple[ScoredRecord, ...] = ()
    problems: tuple[Problem, ...] = ()
    mistakes: tuple[Problem, ...] = ()
    passed_over: str | None = None


def analyse(
    text: str,
    path: Path | None,
    language_id: str | None,
    now: datetime,
    *,
    snapshot: PoolSnapshot,
    settings: Settings,
    folder: Path | None = None,
    saved_at: datetime | None = None,
    ranked: bool = True,
    hits: Hits = NO_HITS,
    calibration: Calibration | None = None,
) -> Analysis:
    """Drafts, findings and (`ranked`) related experiments of a text. `hits` tell how often records were of use,
    `calibration` which kinds of evidence speak in the hover alone.

    `folder` is the workspace that `path` lies in, `saved_at` when the file was last written, if the text is what it
    holds: runs that it started since are not held against it.
    """
    from tried.draft.config_files import decided_by_name, is_config
    from tried.draft.draft import drafts_of
    from tried.draft.syntax import language_of, parse

    nothing = Analysis(path, snapshot.generation)
    language = language_of(str(path or ""), language_id)
    if language is None:
        return dataclasses.replace(nothing, passed_over="no config language")
    nothing = dataclasses.replace(nothing, language=language)
    if why := not_worth_reading(text, settings):
        return dataclasses.replace(nothing, passed_over=why)
    place = relative_to(path, folder)
    if decided_by_name(place, include=settings.config.include, exclude=settings.config.exclude) is False:
        return nothing  # however long it is: a lock file is not parsed
    parsed = parse(text, language)
    tables = tables_beside(path, snapshot)
    if not is_config(
        place,
        parsed,
        include=settings.config.include,
        exclude=settings.config.exclude,
        has_results_table_beside=bool(tables),
    ):
        return nothing
    written = drafts_of(parsed, text)
    retries = _retries_in(written, snapshot)
    drafts = tuple(_with_records(_with_research_line(draft, tables), retries) for draft in written)
    query = query_of(drafts)
    return dataclasses.replace(
        nothing,
        is_config=True,
        drafts=drafts,
        findings=_findings(drafts, path, folder, snapshot, settings, saved_at, calibration),
        query=query,
        hits=hits,
        ranking=tuple(rank_in(snapshot, query, now, settings, hits=hits)) if query and ranked else (),
        problems=tuple(problem for draft in drafts for problem in draft.problems),
        mistakes=tuple(_mistakes(written, retries)),
    )


def not_worth_reading(text: str, settings: Settings) -> str | None:
    """Why a text is left alone: too large or binary; None if it is neither."""
    limit = settings.editor.max_file_bytes
    if len(text) > limit or (4 * len(text) > limit and len(text.encode("utf-8", "surrogatepass")) > limit):
        return f"larger than editor.max_file_bytes ({limit} bytes)"
    return "binary data" if "\0" in text else None


def tables_beside(path: Path | None, snapshot: PoolSnapshot) -> list[SourceReport]:
    """The pool's results tables that stand in the folder of `path`."""
    if path is None:
        return []
    from tried.pool.sources.tables.results_table import KIND

    return [source for source in snapshot.sources if source.kind == KIND and Path(source.path).parent == path.parent]


def relative_to(path: Path | None, folder: Path | None) -> PurePath:
    """The path as globs see it: relative to the workspace folder where it lies in it."""
    if path is None:
        return PurePath()
    if folder is not None and path.is_relative_to(folder):
        return path.relative_to(folder)
    return PurePath(path)


def query_of(drafts: Iterable[ExperimentDraft]) -> RetrievalQuery | None:
    """What the first draft with any content asks of the pool; None if there is none.

    The research line is no filter: what bears on a draft may have been tried in another line.
    """
    from tried.ranking.query import RetrievalQuery

    draft = leading_draft(drafts)
    return RetrievalQuery(text=draft.query_text, architecture=draft.architecture) if draft is not None else None


def leading_draft(drafts: Iterable[ExperimentDraft]) -> ExperimentDraft | None:
    """The first draft with any content: the one that is ranked by."""
    return next((draft for draft in drafts if draft.parameters or draft.query_text or draft.architecture), None)


def rank_in(
    snapshot: PoolSnapshot,
    query: RetrievalQuery,
    now: datetime,
    settings: Settings,
    limit: int | None = None,
    also: Collection[str] = (),
    policy: Policy | None = None,
    hits: Hits = NO_HITS,
) -> list[ScoredRecord]:
    """The pool's records for a query with a policy, or with the active one: the one way to a ranking.

    The records of the ids in `also` follow, wherever they rank.
    """
    from tried.ranking.rank import rank

    return rank(
        query,
        snapshot.index,
        now=now,
        limit=limit or settings.ranking.limit,
        policy=policy or ranking_policy(settings),
        hits=hits,
        also=also,
    )


def rank_of_in(
    snapshot: PoolSnapshot,
    query: RetrievalQuery,
    now: datetime,
    settings: Settings,
    record_id: str,
    policy: Policy | None = None,
    hits: Hits = NO_HITS,
) -> tuple[int, ScoredRecord] | None:
    """(place from 1, the record with its score) of one record in that ranking; None if the pool does not have it."""
    from tried.ranking.rank import rank_of

    policy = policy or ranking_policy(settings)
    return rank_of(query, snapshot.index, record_id, now=now, policy=policy, hits=hits)


def ranking_policy(settings: Settings) -> Policy:
    """The policy that is active; the default one where the settings name none that there is."""
    from tried.settings.policies import active_policy

    return active_policy(settings)


def finding_settings(settings: Settings) -> FindingSettings:
    """The part of the settings that decides when to speak."""
    from tried.findings.settings import FindingSettings

    thresholds = settings.findings.model_dump(exclude={"enable", "severity", "calibrate"})
    return FindingSettings(research_line=settings.research_line, severity=settings.findings.severity, **thresholds)


def _with_research_line(draft: ExperimentDraft, tables: Sequence[SourceReport]) -> ExperimentDraft:
    """What stands beside a results table belongs to that table's research line, unless it names another."""
    lines = {table.research_line for table in tables if table.research_line}
    if draft.research_line is not None or len(lines) != 1:
        return draft
    return dataclasses.replace(draft, research_line=lines.pop())


def with_retried_records(drafts: Sequence[ExperimentDraft], snapshot: PoolSnapshot) -> tuple[ExperimentDraft, ...]:
    """The drafts, with the ids of the records that their retries name."""
    retries = _retries_in(drafts, snapshot)
    return tuple(_with_records(draft, retries) for draft in drafts)


def _retries_in(drafts: Iterable[ExperimentDraft], snapshot: PoolSnapshot) -> dict[str, Found]:
    if not len(snapshot):
        return {}
    named = (one.record for draft in drafts for one in draft.directives if one.action == "retry" and one.record)
    return {name: find_record(snapshot, name) for name in named}


def _with_records(draft: ExperimentDraft, retries: Mapping[str, Found]) -> ExperimentDraft:
    """A retry may name a record by an alias or by the end of its id; the rules know it by its id."""
    records = {name: found.record.id for name, found in retries.items() if found.record}
    if not any(records.get(one.record or "", one.record) != one.record for one in draft.directives):
        return draft
    directives = tuple(
        dataclasses.replace(one, record=records.get(one.record, one.record)) if one.record else one
        for one in draft.directives
    )
    return dataclasses.replace(draft, directives=directives)


def _mistakes(drafts: Iterable[ExperimentDraft], retries: Mapping[str, Found]) -> Iterator[Problem]:
    """Directives that cannot be read, and retries of records that are not in the pool."""
    from tried.render.escape import plain

    for draft in drafts:
        yield from draft.mistaken_directives
        for one in draft.directives:
            found = retries.get(one.record or "") if one.action == "retry" else None
            if found is not None and found.record is None and one.record:
                yield Problem(f"silences nothing: {plain(found.why_not(one.record))}", one.span)


def _findings(
    drafts: Iterable[ExperimentDraft],
    path: Path | None,
    folder: Path | None,
    snapshot: PoolSnapshot,
    settings: Settings,
    saved_at: datetime | None,
    calibration: Calibration | None,
) -> tuple[Finding, ...]:
    from tried.findings import find

    if not settings.findings.enable:
        return ()
    thresholds = finding_settings(settings)
    found = [finding for draft in drafts for finding in find(draft, snapshot.history, thresholds, saved_at)]
    return told_findings(found, path, folder, snapshot, settings, calibration)


def told_findings(
    findings: Iterable[Finding],
    path: Path | None,
    folder: Path | None,
    snapshot: PoolSnapshot,
    settings: Settings,
    calibration: Calibration | None = None,
) -> tuple[Finding, ...]:
    """What a user gets of the findings on a file, by place: as loud as calibration has it, and nothing of what the
    settings silence. `folder` is the workspace that `path` lies in."""
    if not settings.findings.enable:
        return ()
    if calibration:
        from tried.evaluation.calibration import calibrated

        findings = calibrated(findings, calibration)
    place = relative_to(path, folder)
    told = (
        finding
        for finding in findings
        if not is_silenced(finding, place, settings.silence, snapshot)
        and not is_about_own_run(finding, path, folder, snapshot)
    )
    return tuple(sorted(told, key=lambda finding: finding.span))


def is_silenced(finding: Finding, place: PurePath, silences: Iterable[Silence], snapshot: PoolSnapshot) -> bool:
    """True if a ``[[silence]]`` matches in all that it gives. `place` is relative to the workspace folder."""
    from tried.draft.config_files import matches
    from tried.draft.parameters import normalise_key

    blamed = {normalise_key(key) for key in finding.blamed}
    codes = {finding.code, f"{finding.code}/{finding.evidence}", finding.evidence}
    if finding.cause:
        codes.add(f"{finding.code}/{finding.cause}")
    for silence in silences:
        if silence.code and silence.code not in codes:
            continue
        if silence.key and normalise_key(silence.key) not in blamed:
            continue
        if silence.path and not matches(place, silence.path):
            continue
        if silence.id and snapshot.aliases.get(silence.id, silence.id) != finding.record:
            continue
        return True
    return False


def is_about_own_run(finding: Finding, path: Path | None, folder: Path | None, snapshot: PoolSnapshot) -> bool:
    """True for a repeat of nothing but the runs in whose folder (`run_dir`) the file itself lies.

    Such a file is the saved config of those runs. Once it is edited it equals them no more, and is no repeat.
    """
    if finding.evidence != "repeat" or path is None:
        return False
    for record_id in finding.records:
        record = snapshot.get(record_id)
        if record is None or not record.run_dir:
            return False
        run_dir = folder / record.run_dir if folder else Path(record.run_dir)
        if run_dir == folder or run_dir not in path.parents:
            return False
    return True
