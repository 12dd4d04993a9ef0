"""What repetition has cost: runs that tried again what an earlier run of the same research line had already tried.

A run is a *repeat* of an earlier one if all compared parameters are equal (LEAST_COMPARED or more of them), the seeds
and folds too, and the architecture and the commit where both name one; if the earlier run had ended before; if they are
not members of one search; and if nothing says that it was meant (INTENDED_WORDS in name or tags). Runs that differ in
seeds, or that ran side by side, are *replicates* of one experiment, which is no waste. A repeat of runs that all broke
by an error of the code or the machine, were stopped, or told nothing at all is a *retry*: it is told apart.

Invariant: the same runs give the same audit, in whatever order they come; time and memory grow with their number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal

from tried.draft.keys import words_of
from tried.draft.parameters import COMPARED_KINDS, RecordedValue, flatten, is_known
from tried.pool.difference import commit_of
from tried.pool.history.run import Ending, Run
from tried.pool.metric_names import segments_of
from tried.pool.outcome import WELL_OUTCOMES, is_broken
from tried.pool.record import Cause, ExperimentRecord

Kind = Literal["repeat", "retry"]

LEAST_COMPARED: Final = 3
INTENDED_WORDS: Final = frozenset(
    {"replicate", "replicates", "replica", "replication", "repeat", "rerun", "retry", "reproduce", "reproduction"}
)
SEED_WORDS: Final = frozenset({"seed", "seeds", "fold", "folds", "trial", "rep", "repeat", "replicate", "replica"})

_MAY_BE_SEED: Final = re.compile(r"seed|fold|trial|rep|random.?state", re.IGNORECASE)
_CRASHES: Final = frozenset({"code_error", "infrastructure", "stopped"})
_COMMIT_LENGTH: Final = 7
_SHORTEST_CUT: Final = 200
"""Characters; no tracker cuts a shorter text."""


@dataclass(frozen=True, slots=True)
class Past:
    """What the audit needs of one run. `seconds` is None where nobody knows how long it took; `crashed`: it broke by no
    fault of the idea, was stopped, or ended nobody knows how and without any result."""

    id: str
    order: int
    line: str | None
    time: datetime | None
    seconds: float | None
    sweep: str | None
    commit: str | None
    seeds: tuple[tuple[str, object], ...]
    ending: Ending
    cause: Cause | None
    crashed: bool
    running: bool
    intended: bool


@dataclass(frozen=True, slots=True)
class Repeat:
    """`run` repeated `first`, the latest equal run that told something; of a retry, the latest that broke."""

    run: Past
    earlier: Past
    kind: Kind

    @property
    def of_dead_end(self) -> bool:
        return self.kind == "repeat" and self.earlier.ending == "dead_end"


@dataclass(frozen=True, slots=True)
class Cost:
    """`seconds` over the runs whose duration is known; of `unknown` it is not."""

    count: int = 0
    seconds: float = 0.0
    unknown: int = 0

    @classmethod
    def of(cls, runs: Iterable[Past]) -> Cost:
        every = list(runs)
        known = [run.seconds for run in every if run.seconds is not None]
        return cls(len(every), sum(known), len(every) - len(known))


@dataclass(frozen=True)
class Audit:
    """`repeats` and `retries` in the order of time; `other_code`: runs that would be repeats but for their commit."""

    runs: tuple[Past, ...] = ()
    repeats: tuple[Repeat, ...] = ()
    retries: tuple[Repeat, ...] = ()
    replicates: int = 0
    other_code: int = 0
    not_compared: int = 0
    by_line: dict[str | None, tuple[int, Cost]] = field(default_factory=dict)
    by_month: dict[str | None, tuple[int, Cost]] = field(default_factory=dict)

    @property
    def total(self) -> Cost:
        return Cost.of(self.runs)

    @property
    def repeated(self) -> Cost:
        return Cost.of(one.run for one in self.repeats)

    @property
    def retried(self) -> Cost:
        return Cost.of(one.run for one in self.retries)

    @property
    def dead_ends_repeated(self) -> Cost:
        return Cost.of(one.run for one in self.repeats if one.of_dead_end)

    def by_cause(self, runs: Iterable[Past]) -> dict[Cause, Cost]:
        """The runs that ended badly, the most frequent cause first."""
        found: dict[Cause, list[Past]] = {}
        for run in runs:
            if run.cause is not None and (run.ending == "dead_end" or run.crashed):
                found.setdefault(run.cause, []).append(run)
        ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
        return {cause: Cost.of(some) for cause, some in ordered}


def audit(runs: Sequence[Run]) -> Audit:
    """Of runs of one history. Debug runs are left out: they are there to be repeated."""
    alike = Counter(run.signature for run in runs if not run.debug)
    groups: dict[tuple[object, ...], list[Past]] = {}
    every: list[Past] = []
    not_compared = 0
    is_enough: dict[tuple[int, int], bool] = {}
    for run in runs:
        if run.debug:
            continue
        record = run.record
        kind = (run.shape, run.change_set)
        if kind not in is_enough:  # equal keys and changes give equally many parameters
            is_enough[kind] = len(run.in_force) >= LEAST_COMPARED
        if not is_enough[kind] or _changed_otherwise(record):
            every.append(_past(run, record))
            not_compared += 1
        elif alike[run.signature] == 1:
            every.append(_past(run, record))
        else:
            past = _past(run, record, _seeds(record))
            every.append(past)
            digest = record.architecture.digest if record.architecture else None
            about = (record.hypothesis or "").strip()
            groups.setdefault((past.line, run.signature, digest, _unknown(run, record), about), []).append(past)
    found: list[Repeat] = []
    replicates = other_code = 0
    for group in groups.values():
        if len(group) > 1:
            told, same, moved = _repeats_in(sorted(group, key=_when))
            found += told
            replicates += same
            other_code += moved
    found.sort(key=lambda one: _when(one.run))
    every.sort(key=_when)
    repeats = tuple(one for one in found if one.kind == "repeat")
    return Audit(
        runs=tuple(every),
        repeats=repeats,
        retries=tuple(one for one in found if one.kind == "retry"),
        replicates=replicates,
        other_code=other_code,
        not_compared=not_compared,
        by_line=_table([run.line for run in every], [(one.run.line, one.run) for one in repeats], most_first=True),
        by_month=_table([_month(run) for run in every], [(_month(one.run), one.run) for one in repeats]),
    )


def _when(past: Past) -> tuple[bool, float, int]:
    """Runs without a time come last, in the order of the pool."""
    return (past.time is None, past.time.timestamp() if past.time else 0.0, past.order)


def _repeats_in(group: Sequence[Past]) -> tuple[list[Repeat], int, int]:
    """(repeats and retries, replicates, equal but for the code) of runs with equal parameters, oldest first."""
    found: list[Repeat] = []
    replicates = other_code = 0
    told: dict[tuple[object, ...], dict[str | None, Past]] = {}
    broke: dict[tuple[object, ...], dict[str | None, Past]] = {}
    any_before = False
    for run in group:
        earlier = _compatible(told.get(run.seeds, {}), run)
        crash = _compatible(broke.get(run.seeds, {}), run)
        same_seeds = run.seeds in told or run.seeds in broke
        if earlier is not None and not run.intended:
            found.append(Repeat(run, earlier, "repeat"))
        elif crash is not None and earlier is None and not run.intended:
            found.append(Repeat(run, crash, "retry"))
        elif same_seeds and earlier is None and crash is None and _is_other_code(run, told, broke):
            other_code += 1
        elif any_before:
            replicates += 1
        (broke if run.crashed else told).setdefault(run.seeds, {})[run.commit] = run
        any_before = True
    return found, replicates, other_code


def _compatible(earlier: dict[str | None, Past], run: Past) -> Past | None:
    """The latest earlier run that this one can repeat: it had ended, with the same code as far as both say, outside of
    the same search."""
    names = list(earlier) if run.commit is None else [run.commit, None]
    known = [one for name in names if (one := earlier.get(name)) is not None]
    fits = [one for one in known if _had_ended(one, run) and not (run.sweep and run.sweep == one.sweep)]
    return max(fits, key=_when, default=None)


def _is_other_code(run: Past, *kept: dict[tuple[object, ...], dict[str | None, Past]]) -> bool:
    commits = {commit for some in kept for commit in some.get(run.seeds, ())}
    return run.commit is not None and None not in commits and run.commit not in commits


def _had_ended(earlier: Past, run: Past) -> bool:
    """What came of it could be known when the later one began; where no time tells, the order of the pool does."""
    if earlier.running:
        return False
    if earlier.time is None or run.time is None:
        return True
    if earlier.seconds is not None:
        return earlier.seconds <= (run.time - earlier.time).total_seconds()
    return earlier.time < run.time


def _past(run: Run, record: ExperimentRecord, seeds: tuple[tuple[str, object], ...] = ()) -> Past:
    duration = record.duration
    outcome = (record.outcome or "").strip().casefold()
    stopped = outcome in ("stopped", "killed")
    broke = stopped or run.cause in _CRASHES or (run.cause == "unknown" and is_broken(record))
    told_nothing = run.ending == "open" and outcome not in WELL_OUTCOMES and not record.numbers
    commit = commit_of(record)
    return Past(
        id=record.id,
        order=run.order,
        line=record.research_line,
        time=record.time,
        seconds=duration.secs + duration.nanos / 1e9 if duration is not None else None,
        sweep=record.sweep,
        commit=commit[:_COMMIT_LENGTH].lower() if commit else None,
        seeds=seeds,
        ending=run.ending,
        cause=run.cause or ("stopped" if stopped else None),
        crashed=broke or told_nothing,
        running=outcome == "running",
        intended=any(not INTENDED_WORDS.isdisjoint(segments_of(text)) for text in (record.name, *record.tags)),
    )


def _unknown(run: Run, record: ExperimentRecord) -> frozenset[tuple[str, str]]:
    """What was cut off or cannot be read, as far as it was recorded: different texts may be equal, but nobody knows."""
    if not any(map(_may_be_cut, record.params.values())):
        return frozenset()
    keys = [key for key, recorded in run.in_force.items() if not is_known(recorded.value)]
    logged = flatten(record.params)
    return frozenset((key, str(logged[key].recorded) if key in logged else "") for key in keys)


def _may_be_cut(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) >= _SHORTEST_CUT or value.endswith(("…", "..."))
    return isinstance(value, dict | list)


def _seeds(record: ExperimentRecord) -> tuple[tuple[str, object], ...]:
    some = {key: value for key, value in record.params.items() if _MAY_BE_SEED.search(key) or _is_nested(value)}
    found = flatten(some) if some else {}
    return tuple(sorted((key, str(one.value)) for key, one in found.items() if _is_seed(key, one)))


def _is_nested(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value[:1] == "{")


def _is_seed(key: str, recorded: RecordedValue) -> bool:
    if recorded.kind in COMPARED_KINDS or recorded.value is None:
        return False
    leaf = recorded.shown.replace("/", ".").rsplit(".", 1)[-1]
    return key.endswith("randomstate") or not SEED_WORDS.isdisjoint(words_of(leaf))


def _changed_otherwise(record: ExperimentRecord) -> bool:
    """What it changed from its parent stands in words or in the graph, so that equal parameters are no repeat."""
    changes: Sequence[Any] = record.derivation.changes if record.derivation else ()
    return any(not change.change.startswith("Param") and change.change != "CodeChanged" for change in changes)


def _month(run: Past) -> str | None:
    return run.time.strftime("%Y-%m") if run.time else None


def _table(
    runs: Iterable[str | None], repeats: Iterable[tuple[str | None, Past]], *, most_first: bool = False
) -> dict[str | None, tuple[int, Cost]]:
    """By name: how many runs, and what was repeated; names without repeats too."""
    counts: dict[str | None, int] = {}
    for name in runs:
        counts[name] = counts.get(name, 0) + 1
    some: dict[str | None, list[Past]] = {}
    for name, run in repeats:
        some.setdefault(name, []).append(run)
    rows = {name: (count, Cost.of(some.get(name, ()))) for name, count in counts.items()}
    if most_first:
        return dict(sorted(rows.items(), key=lambda row: (-row[1][1].count, -row[1][0], row[0] or "")))
    return dict(sorted(rows.items(), key=lambda row: (row[0] is None, row[0] or "")))
