"""What would make a pool more useful: what is missing in it, how often, and what to do about it.

Invariant: the same pool gives the same advice in the same order, the most useful first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final, Literal

from tried.draft.parameters import TRUNCATED
from tried.pool.history.run import Run
from tried.pool.pool import PoolSnapshot, SourceReport
from tried.review.runs import is_concluded

Code = Literal[
    "unreadable",
    "no-conclusions",
    "few-parameters",
    "no-directions",
    "all-nan",
    "truncated",
    "no-research-line",
    "no-parents",
    "unknown-parents",
    "no-times",
    "skipped",
    "waiting",
]

WHERE_TO_CONCLUDE: Final = {
    "journal": '`tried conclude ID "why"`',
    "mlflow": "the run's description, or the tags `tried.conclusion` and `tried.verdict`; or `tried conclude`",
    "wandb": "the run's notes, and a tag `dead-end`, `works` or `inconclusive`; or `tried conclude`",
    "hydra": '`tried conclude outputs/DATE/TIME "why"`: the folder of the run is its name',
    "results-table": 'the description; or `tried conclude COMMIT "why"`',
    "optuna": '`trial.set_user_attr("tried.conclusion", "why")` while it runs, `tried conclude` afterwards',
    "dvc": "a line `Tried: dead-end it diverges` in the message of `dvc exp run -m`; or `tried conclude`",
    "sacred": '`tried conclude runs/31 "why"`: the folder of the run is its name',
    "lightning": '`tried conclude lightning_logs/version_7 "why"`: the folder of the run is its name',
    "soma": "soma's notes, and a tag `dead-end`, `works` or `inconclusive`; or `tried conclude`",
    "commits": "a line `Tried: dead-end it diverges` at the end of the commit's message",
}
"""By kind of source: where one writes why a run ended as it did, so that tried finds it; docs/sources.md says more."""

CONCLUDED_SHARE: Final = 0.5
PARENTS_SHARE: Final = 0.1
LEAST_COMPARED: Final = 3
EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Advice:
    """`count` of `of` things lack something; `says` is one sentence, `how` what to do, a line each."""

    code: Code
    says: str
    how: tuple[str, ...]
    count: int
    of: int


def advice(snapshot: PoolSnapshot, runs: Sequence[Run]) -> list[Advice]:
    """Advice on a pool that has records; `runs` are those of its history."""
    return [
        *_unreadable(snapshot.sources),
        *_conclusions(snapshot.sources, runs),
        *_parameters(runs),
        *_directions(runs),
        *_not_numbers(runs),
        *_truncated(runs),
        *_research_line(snapshot),
        *_parents(snapshot, runs),
        *_unknown_parents(snapshot),
        *_times(snapshot),
        *_skipped(snapshot.sources),
        *_waiting(snapshot.sources),
    ]


def _unreadable(sources: Iterable[SourceReport]) -> Iterable[Advice]:
    every = list(sources)
    for source in every:
        why = next((one.why for one in source.skipped if one.where in ("the file", "the source")), None)
        if why is not None:
            yield Advice(
                "unreadable",
                f"{source.path} could not be read: {why}",
                ("put that right, or name it no more",),
                1,
                len(every),
            )


def _conclusions(sources: Iterable[SourceReport], runs: Sequence[Run]) -> Iterable[Advice]:
    bad = [run for run in runs if run.ending == "dead_end"]
    ended = [run for run in runs if run.ending != "open"]
    silent = [run for run in bad if not is_concluded(run.record)]
    if not ended:
        return
    kinds = list(dict.fromkeys(source.kind for source in sources if source.records))
    how = [f"{kind}: {WHERE_TO_CONCLUDE[kind]}" for kind in kinds if kind in WHERE_TO_CONCLUDE]
    if bad and len(silent) > (1 - CONCLUDED_SHARE) * len(bad):
        told = len(bad) - len(silent)
        yield Advice(
            "no-conclusions",
            f"{told:,} of {len(bad):,} runs that ended badly say why they ended",
            ("`tried triage` proposes a sentence for each group of them: a minute's work", *how),
            len(silent),
            len(bad),
        )
        return
    explained = sum(is_concluded(run.record) for run in ended)
    if explained < CONCLUDED_SHARE * len(ended):
        yield Advice(
            "no-conclusions",
            f"{explained:,} of {len(ended):,} runs say what came of them",
            ('`tried conclude last "why"` after a run', *how),
            len(ended) - explained,
            len(ended),
        )


def _parameters(runs: Sequence[Run]) -> Iterable[Advice]:
    is_few: dict[tuple[int, int], bool] = {}
    few = 0
    for run in runs:
        kind = (run.shape, run.change_set)
        if kind not in is_few:  # equal keys and changes give equally many parameters
            is_few[kind] = len(run.in_force) < LEAST_COMPARED
        few += is_few[kind]
    if few * 2 > len(runs):
        yield Advice(
            "few-parameters",
            f"{few:,} of {len(runs):,} runs log fewer than {LEAST_COMPARED} parameters, so a config cannot be compared"
            " with them",
            ("log the whole config with each run", "`tried record FILE` writes down a config that was run"),
            few,
            len(runs),
        )


def _directions(runs: Iterable[Run]) -> Iterable[Advice]:
    unknown = Counter(run.objective[0] for run in runs if run.objective is not None and run.objective[2] is None)
    if unknown:
        names = [name for name, _ in unknown.most_common(EXAMPLES)]
        yield Advice(
            "no-directions",
            f"which way is better is not known for {_listed(names, len(unknown))}, by which {unknown.total():,} runs"
            " are judged",
            ("in tried.toml: [metrics.directions]", f'"{names[0]}" = "max"  # or "min"'),
            unknown.total(),
            unknown.total(),
        )


def _not_numbers(runs: Iterable[Run]) -> Iterable[Advice]:
    values: dict[str, list[float]] = {}
    for run in runs:
        if run.objective is not None:
            values.setdefault(run.objective[0], []).append(run.objective[1])
    bad = [name for name, numbers in values.items() if len(numbers) >= EXAMPLES and all(map(isnan, numbers))]
    if bad:
        count = sum(len(values[name]) for name in bad)
        yield Advice(
            "all-nan",
            f"{_listed(bad[:EXAMPLES], len(bad))} is NaN in all of {count:,} runs, which makes all of them diverged",
            ("see whether it is computed as it should be; name another one as the objective if it is not to judge",),
            count,
            count,
        )


def _truncated(runs: Sequence[Run]) -> Iterable[Advice]:
    keys: Counter[str] = Counter()
    touched = 0
    for run in runs:
        cut = [recorded.shown for recorded in run.in_force.values() if recorded.value is TRUNCATED]
        keys.update(cut)
        touched += bool(cut)
    if keys:
        names = [name for name, _ in keys.most_common(EXAMPLES)]
        yield Advice(
            "truncated",
            f"{touched:,} of {len(runs):,} runs have values that the tracker cut off ({_listed(names, len(keys))}):"
            " they are compared with nothing",
            ("log a nested or long value as parameters of its own (`data.train.path`), not as one text",),
            touched,
            len(runs),
        )


def _research_line(snapshot: PoolSnapshot) -> Iterable[Advice]:
    lines = snapshot.history.line_of
    without = sum(line is None for line in lines.values())
    if without and without < len(lines):
        yield Advice(
            "no-research-line",
            f"{without:,} of {len(lines):,} runs belong to no research line, so evidence from them is weak",
            (
                "a source's line: research_line in its [[pool.sources]] of tried.toml",
                "a run's line: the tag `tried.research_line`; in a journal the field `research_line`",
            ),
            without,
            len(lines),
        )


def _parents(snapshot: PoolSnapshot, runs: Sequence[Run]) -> Iterable[Advice]:
    share = snapshot.totals.coverage.lineage
    if len(runs) > 1 and share < PARENTS_SHARE:
        count = len(snapshot) - round(share * len(snapshot))
        yield Advice(
            "no-parents",
            f"{len(snapshot) - count:,} of {len(snapshot):,} records say what they came from, so what a change did is"
            " not known",
            (
                "tag a run with `tried.parent` and the id of the run that it varies; in a journal the field `parent`",
                "or name the parameter that holds it: parent_key in [pool] of tried.toml",
            ),
            count,
            len(snapshot),
        )


def _unknown_parents(snapshot: PoolSnapshot) -> Iterable[Advice]:
    """Parents that no source has; many of them are the name of a run, or the end of its id."""
    unknown = {name: len(ids) for name, ids in snapshot.children.items() if ids and snapshot.get(name) is None}
    if not unknown:
        return
    named: dict[str, list[str]] = {}
    for record in snapshot.records.values():
        if record.name in unknown:
            named.setdefault(record.name, []).append(record.id)
    often = sorted(unknown, key=lambda name: (-unknown[name], name))
    how = []
    for name in often:
        meant, what = (named[name], "the name") if name in named else (snapshot.find(name), "the end of the id")
        if meant:
            more = f" and {len(meant) - 1:,} more" if len(meant) > 1 else ""
            how.append(f"{name} is {what} of {meant[0]}{more}: write the whole id")
        if len(how) == EXAMPLES:
            break
    count = sum(unknown.values())
    yield Advice(
        "unknown-parents",
        f"{count:,} {'record names a parent' if count == 1 else 'records name parents'} that no source has:"
        f" {_listed(often[:EXAMPLES], len(often))}",
        (
            *how,
            "a parent is the id of a run as `tried pool --where` lists it; `tried lineage ID` shows what came of it",
            "if its source is not read, name that in tried.toml ([pool] sources)",
        ),
        count,
        sum(map(len, snapshot.children.values())),
    )


def _times(snapshot: PoolSnapshot) -> Iterable[Advice]:
    share = snapshot.totals.coverage.timestamp
    if share < CONCLUDED_SHARE:
        count = len(snapshot) - round(share * len(snapshot))
        yield Advice(
            "no-times",
            f"{count:,} of {len(snapshot):,} records have no time, so the latest cannot be told from the oldest",
            ("a table: a column `date` or `timestamp`; a journal: the field `timestamp`",),
            count,
            len(snapshot),
        )


def _skipped(sources: Sequence[SourceReport]) -> Iterable[Advice]:
    damaged = [source for source in sources if source.skipped and not _failed(source)]
    count = sum(len(source.skipped) - source.waiting_amendments for source in damaged)
    if count > 0:
        things = f"{count:,} thing{'' if count == 1 else 's'}"
        yield Advice(
            "skipped",
            f"{things} in {len(damaged):,} of {len(sources):,} sources could not be read",
            ("`tried pool` lists them with their places",),
            count,
            count,
        )


def _waiting(sources: Sequence[SourceReport]) -> Iterable[Advice]:
    count = sum(source.waiting_amendments for source in sources)
    if count:
        yield Advice(
            "waiting",
            f"{count:,} conclusion{' is' if count == 1 else 's are'} about runs that no source has",
            ("name the source in tried.toml ([pool] sources), or delete their lines",),
            count,
            sum(source.amendments for source in sources),
        )


def _failed(source: SourceReport) -> bool:
    return any(one.where in ("the file", "the source") for one in source.skipped)


def _listed(names: Sequence[str], total: int) -> str:
    more = f" and {total - len(names):,} more" if total > len(names) else ""
    return ", ".join(names) + more
