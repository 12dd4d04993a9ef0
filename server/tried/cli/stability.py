"""`tried stability`: how far ranked lists move when a config hardly changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final

import typer

from tried.analysis import not_worth_reading, query_of
from tried.cli.failure import Failure
from tried.cli.files import config_files_in, must_exist, read_config
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
from tried.cli.output import console, line_of, write_json
from tried.draft.draft import drafts_of
from tried.draft.syntax import language_of, parse
from tried.evaluation.noisy_vectors import with_vectors
from tried.evaluation.perturbations import spaced
from tried.evaluation.record_configs import LANGUAGE, config_of_record
from tried.evaluation.stability import (
    NO_USE,
    TOP,
    StabilityRun,
    Summary,
    Use,
    by_change,
    churn_of,
    difference,
    observe,
    ranking_by,
    summary,
)
from tried.evaluation.stability_drafts import StabilityDraft, drafts_of_records
from tried.evaluation.stability_sessions import CHANGES, Ask, moments_in, one_percent
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy, PolicyError
from tried.ranking.query import RetrievalQuery
from tried.render.escape import plain
from tried.render.stability_reports import stability_report
from tried.render.words import counted
from tried.settings import Settings
from tried.settings.policies import policy_of
from tried.settings.requested_policy import active_name
from tried.workspace import Workspace

MOST_DRAFTS: Final = 20
MOST_LOOKED_AT: Final = 10 * MOST_DRAFTS
"""Records that may have no parameters, and are then no drafts."""

MOST_PLACES: Final = 1_000
MOST_WITH_VECTORS: Final = 20_000
"""Records of a pool up to which vectors are made: all of it is read again for them."""

OPENED: Final = Use(opened=5)


def stability(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE…]", show_default=False, help="Config files or folders; without, those of the workspace."
        ),
    ] = None,
    policies: Annotated[
        list[str] | None,
        typer.Option(
            "--policy",
            metavar="NAME",
            help="Rank by this policy. Can be given again; each is held against the first.",
            show_default="ranking.policy, and steady",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", min=1, max=MOST_PLACES, help="Places of the list that count.")] = 10,
    pools: Pools = None,
    now: Now = None,
    as_json: AsJson = False,
) -> None:
    """Say how far ranked lists move when a config hardly changes, under one policy and another."""
    moment = now_from(now)
    for file in files or ():
        must_exist(file)
    workspace = open_workspace(folder_of(files[0]) if files else folder_of_here(), pools)
    tell_of_unread(workspace, pools)
    chosen = _policies(policies or [], workspace.settings)
    if not workspace.snapshot:
        raise Failure(empty_pool_advice(workspace, pools))
    work = _Work(workspace, moment)
    if files:
        work.add_files(files)
    else:
        work.add_files([workspace.folder or Path.cwd()])
        if not work.drafts:
            work.add_records()
    if not work.drafts:
        raise Failure(
            "no config here, and no record with parameters to make one of; give a config FILE"
            if not files
            else f"{', '.join(map(str, files))}: holds no config; give a config FILE"
        )
    runs = work.runs(chosen, k)
    if as_json:
        write_json(
            stability_report(
                runs,
                now=moment,
                k=k,
                records=len(workspace.snapshot),
                drafts=[draft.name for draft in work.drafts],
                of_records=work.of_records,
                found=work.found,
                notes=work.notes,
            )
        )
    else:
        _print(work, runs, k)


def _policies(names: Sequence[str], settings: Settings) -> dict[str, Policy]:
    chosen: dict[str, Policy] = {}
    for name in names or dict.fromkeys([active_name(settings), "steady", "default"]):
        if name in chosen:
            raise Failure(f"--policy {name}: is given twice; name another one to compare it with")
        if not names and len(chosen) == 2:
            break
        try:
            chosen[name] = policy_of(settings, name)
        except PolicyError as error:
            raise Failure(f"--policy: {error}") from error
    return chosen


def _asking(language: str) -> Ask:
    return lambda text: query_of(drafts_of(parse(text, language), text)) or RetrievalQuery()


@dataclass
class _Work:
    """`found`: of so many drafts at most MOST_DRAFTS are taken, from all over them, and those that somebody named."""

    workspace: Workspace
    now: datetime
    drafts: list[StabilityDraft] = field(default_factory=list)
    found: int = 0
    of_records: bool = False
    notes: list[str] = field(default_factory=list)

    def add_files(self, paths: Sequence[Path]) -> None:
        named: list[tuple[Path, str]] = []
        others: list[tuple[Path, str]] = []
        seen: set[Path] = set()
        for path, is_named in sorted(config_files_in(list(paths)), key=lambda each: not each[1]):
            if (whole := path.resolve()) in seen:
                continue
            seen.add(whole)
            (named if is_named else others).extend((path, text) for text in self._read(path, is_named))
        self.found = len(named) + len(others)
        moments = moments_in(self.workspace.snapshot.index)
        share = one_percent(len(moments)) if len(moments) > 1 else 0
        newest = tuple(moments)[:share]
        pool = frozenset(moments).difference(newest)
        for path, text in (*named, *spaced(others, MOST_DRAFTS)):
            language = language_of(path.name) or ""
            self.drafts.append(StabilityDraft(str(path), text, language, _asking(language), self.now, pool, newest))

    def _read(self, path: Path, is_named: bool) -> list[str]:
        """The text of a config; of a file that nobody named and that is none, nothing."""
        settings = self.workspace.settings
        try:
            text = read_config(path, settings)
        except Failure:
            if is_named:
                raise
            return []
        if is_named:
            why = not_worth_reading(text, settings) or ("" if language_of(path.name) else "no language of configs")
            if why:
                raise Failure(f"{path}: {why}; give a config file (YAML, JSON, TOML, Python, .env)")
            return [text]
        return [text] if self.workspace.analyse(text, path.absolute(), None, self.now, ranked=False).is_config else []

    def add_records(self) -> None:
        """Each as if it were about to be started: what came later is not there yet."""
        snapshot = self.workspace.snapshot
        moments = moments_in(snapshot.index)
        experiments = [each for each in moments if snapshot.facts_of(each).role == "experiment"]
        self.of_records, self.found = True, len(experiments)
        looked_at = [snapshot.records[each] for each in spaced(experiments, MOST_LOOKED_AT)]
        usable = spaced([record for record in looked_at if config_of_record(record) is not None], MOST_DRAFTS)
        self.drafts.extend(drafts_of_records(usable, moments, _asking(LANGUAGE), self.now))

    def runs(self, policies: dict[str, Policy], k: int) -> list[StabilityRun]:
        """Each policy, and once more with hits if it looks at them."""
        snapshot = self.workspace.snapshot
        sessions = [(snapshot.index, draft.editing) for draft in self.drafts]
        if len(snapshot) <= MOST_WITH_VECTORS:
            index = RankingIndex.of(with_vectors(snapshot.records.values()), snapshot.directions)
            sessions += [(index, draft.noisy) for draft in self.drafts]
        else:
            self.notes.append(f"no noisy vectors: the pool has more than {MOST_WITH_VECTORS:,} records")
        return [
            StabilityRun(
                name,
                policy.policy_id,
                use,
                tuple(
                    step
                    for index, session in sessions
                    for step in observe(session, ranking_by(policy, index, max(k, TOP, use.opened)), k, use)
                ),
            )
            for name, policy in policies.items()
            for use in (NO_USE, *((OPENED,) if policy.hit_boost.enabled else ()))
        ]


def _print(work: _Work, runs: Sequence[StabilityRun], k: int) -> None:
    out = console()
    drafts = len(work.drafts)
    what = counted(drafts, "record as a draft", "records as drafts") if work.of_records else counted(drafts, "config")
    of = f" of {work.found:,}" if work.found > drafts else ""
    records = counted(len(work.workspace.snapshot), "past run")
    out.print(line_of(f"{what}{of}, {records}; the first {k} places; each change alone, against the list of before"))
    for note in work.notes:
        out.print(line_of(note))
    for run in runs:
        told = f", with hits on the first {run.use.opened} places" if run.use.opened else ""
        out.print(line_of((f"\n{plain(run.policy)} ({run.policy_id}){told}", "bold")))
        out.print(
            line_of(
                (f"  {'change':<18}  {'steps':>5}  {'moved':>5}  {'by place':>8}  {'by set':>6}  top {TOP} kept", "dim")
            )
        )
        steps = by_change(run.observed)
        for change in CHANGES:
            if change in steps:
                out.print(line_of(_row(change, summary(steps[change]))))
        out.print(line_of(_row("all", summary(run.observed))))
        if run is not runs[0]:
            held = difference(churn_of(runs[0].observed), churn_of(run.observed))
            out.print(
                line_of(
                    f"  against {plain(runs[0].policy)}: churn by place {held.mean:+.3f}, lower for"
                    f" {counted(held.lower, 'draft')}, higher for {held.higher:,}, the same for {held.equal:,}"
                )
            )


def _row(name: str, told: Summary) -> str:
    return (
        f"  {name:<18}  {told.steps:>5,}  {told.moved:>5,}  {told.positional_churn:>8.3f}  {told.set_churn:>6.3f}"
        f"  {told.retention:>10.3f}"
    )
