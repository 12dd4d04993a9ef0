"""How well findings and ranked lists do on judged configs: by query and overall, by policy, and against a gate.

Each config is looked at twice: beside the records of its own research line, and beside the whole pool without a word of
its line. Of the pool it sees what there was when it was written.

Invariant: pure functions of their arguments; nobody's hits enter, so that an evaluation is the same for everybody.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean
from typing import Final, Literal

from tried.draft.draft import ExperimentDraft
from tried.evaluation.judgements import Dated, Judgement, contradictions, dated, later_than, told
from tried.evaluation.metrics import ndcg_at, recall_at
from tried.findings import FindingSettings, find
from tried.findings.claim import LOUDNESS
from tried.findings.finding import Finding
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank

Scope = Literal["own_line", "whole_pool"]
SCOPES: Final[tuple[Scope, ...]] = ("own_line", "whole_pool")
ToldFindings = Callable[[Judgement, Sequence[Finding]], Sequence[Finding]]
SAME: Final = 1e-12
"""Two values that differ by less are equal: the order of additions decides about the last digits."""


@dataclass(frozen=True)
class JudgedConfig:
    """A judgement with what was read of its config: the drafts, and what the config asks of the pool."""

    judgement: Judgement
    drafts: tuple[ExperimentDraft, ...]
    query: RetrievalQuery


@dataclass(frozen=True)
class Listed:
    """The ids that one policy lists, best first, and what the list is worth at each k: nothing known without relevant
    records."""

    ids: tuple[str, ...]
    recall: Mapping[int, float]
    ndcg: Mapping[int, float]


@dataclass(frozen=True)
class Answer:
    """What one judged config gets in one scope: the findings, and by policy the ranked list."""

    judgement: Judgement
    findings: tuple[Finding, ...]
    listed: Mapping[str, Listed]

    @property
    def squiggles(self) -> list[Finding]:
        return [finding for finding in self.findings if LOUDNESS[finding.severity] > LOUDNESS["hover"]]

    @property
    def too_loud(self) -> list[Finding]:
        return [finding for finding in self.findings if self.judgement.is_too_loud(finding)]

    @property
    def is_answered(self) -> bool:
        """Whether any finding, in the hover or louder, rests on a record that should be seen."""
        return any(self.judgement.is_right(finding) for finding in self.findings)


@dataclass(frozen=True)
class Overall:
    """All answers of one scope. Precision and coverage are over configs with something that should be seen; the others
    count for false alarms alone."""

    answers: tuple[Answer, ...]

    @property
    def answerable(self) -> list[Answer]:
        return [answer for answer in self.answers if answer.judgement.relevant]

    @property
    def silent(self) -> list[Answer]:
        """Of configs on which every squiggle is a false alarm."""
        return [answer for answer in self.answers if answer.judgement.expects_silence]

    @property
    def squiggles(self) -> int:
        return sum(len(answer.squiggles) for answer in self.answerable)

    @property
    def right(self) -> int:
        return sum(answer.judgement.is_right(one) for answer in self.answerable for one in answer.squiggles)

    @property
    def judged(self) -> int:
        """Squiggles of which any record is judged; the others may deserve a judgement."""
        return sum(answer.judgement.is_judged(one) for answer in self.answerable for one in answer.squiggles)

    @property
    def answered(self) -> int:
        return sum(answer.is_answered for answer in self.answerable)

    @property
    def finding_precision(self) -> float | None:
        """Right squiggles among those that are judged; None where there is none."""
        return self.right / self.judged if self.judged else None

    @property
    def finding_precision_strict(self) -> float | None:
        """The same among all of them."""
        return self.right / self.squiggles if self.squiggles else None

    @property
    def coverage(self) -> float | None:
        """The share of the configs with something to be seen that a right finding answers."""
        return self.answered / len(self.answerable) if self.answerable else None

    @property
    def false_alarms(self) -> int:
        return sum(len(answer.squiggles) for answer in self.silent)

    @property
    def too_loud(self) -> int:
        return sum(len(answer.too_loud) for answer in self.answers)

    @property
    def may_be_too_loud(self) -> bool:
        """Whether anything expects less than a warning."""
        return any(answer.judgement.expect != "warn" for answer in self.answers)

    def recall(self, policy: str, k: int) -> float | None:
        return _mean(answer.listed[policy].recall[k] for answer in self.answerable)

    def ndcg(self, policy: str, k: int) -> float | None:
        return _mean(answer.listed[policy].ndcg[k] for answer in self.answerable)


@dataclass(frozen=True)
class Evaluation:
    """`policies` by name, `ks` the numbers of places that were measured, the first one that which is shown."""

    policies: Mapping[str, Policy]
    ks: tuple[int, ...]
    now: datetime
    scopes: Mapping[Scope, Overall]


@dataclass(frozen=True)
class Comparison:
    """What the second policy changed: by query the difference, and the mean of them. Queries without relevant records
    are left out."""

    by_query: Mapping[str, float]

    @property
    def mean(self) -> float | None:
        return _mean(self.by_query.values())

    @property
    def better(self) -> int:
        return sum(one > SAME for one in self.by_query.values())

    @property
    def worse(self) -> int:
        return sum(one < -SAME for one in self.by_query.values())

    @property
    def equal(self) -> int:
        return len(self.by_query) - self.better - self.worse


def evaluate(
    configs: Sequence[JudgedConfig],
    snapshot: PoolSnapshot,
    policies: Mapping[str, Policy],
    *,
    now: datetime,
    ks: Sequence[int] = (10,),
    settings: FindingSettings | None = None,
    told: ToldFindings = lambda _, findings: findings,
) -> Evaluation:
    """What each judged config gets from a pool. `now` is the time that ages count from, `told` what a user gets of the
    findings on a config.

    Judgements name records of the pool by their ids (`resolved`). The research line of `settings` is not used. Raises
    ValueError without any k and for a k below 1.
    """
    if not ks or min(ks) < 1:
        raise ValueError(f"ks are {list(ks)}: give at least one number of places, each at least 1")
    records = _dated_in(snapshot)
    rules = settings or FindingSettings()

    def answer(config: JudgedConfig, scope: Scope) -> Answer:
        judgement = config.judgement
        gone = set(later_than(judgement.self_id, records))
        line = judgement.research_line if scope == "own_line" else None
        among = [each.id for each in records if each.id not in gone and line in (None, each.research_line)]
        history = snapshot.history.updated(gone, (), snapshot.records.__getitem__) if gone else snapshot.history
        if line is not None:
            own = (snapshot.records[record_id] for record_id in among)
            history = ParameterHistory.empty(snapshot.directions).updated((), own)
        scoped = dataclasses.replace(rules, research_line=line)
        return Answer(
            judgement,
            tuple(told(judgement, [finding for draft in config.drafts for finding in find(draft, history, scoped)])),
            {name: _listed(config, snapshot, frozenset(among), policy, now, ks) for name, policy in policies.items()},
        )

    scopes = {scope: Overall(tuple(answer(config, scope) for config in configs)) for scope in SCOPES}
    return Evaluation(policies, tuple(ks), now, scopes)


def compared(overall: Overall, measure: Callable[[Listed], float], before: str, after: str) -> Comparison:
    """The difference that the policy `after` makes to a measure, such as ``lambda listed: listed.ndcg[10]``."""
    return Comparison(
        {
            answer.judgement.query: measure(answer.listed[after]) - measure(answer.listed[before])
            for answer in overall.answerable
        }
    )


def resolved(judgement: Judgement, snapshot: PoolSnapshot) -> tuple[Judgement, list[str]]:
    """The judgement with the ids that its records have in the pool, and what of it the pool does not bear out."""
    problems: list[str] = []

    def id_of(name: str) -> str:
        return name if name in snapshot.records else snapshot.aliases.get(name, name)

    def must_have(names: Iterable[str], place: str) -> None:
        missing = [name for name in names if id_of(name) not in snapshot.records]
        problems.extend(f"{place}: no record of the pool has the id {told(name)}" for name in missing)

    line, own = judgement.research_line, judgement.self_id
    if line is not None and line not in snapshot.research_lines:
        problems.append(f"research_line: no record of the pool has {told(line)}")
    must_have(judgement.grades, "relevant")
    must_have(sorted(judgement.do_not_warn), "do_not_warn")
    must_have(() if own is None else (own,), "self_id")
    problems += contradictions(judgement.grades.items(), sorted(judgement.do_not_warn), own, id_of)
    found = dataclasses.replace(
        judgement,
        grades={id_of(name): grade for name, grade in judgement.grades.items()},
        do_not_warn=frozenset(map(id_of, judgement.do_not_warn)),
        self_id=None if own is None else id_of(own),
    )
    if found.self_id is None or problems:
        return found, problems
    theirs = snapshot.facts_of(found.self_id).research_line
    if line is not None and theirs is not None and line != theirs:
        problems.append(f"research_line: that of the config's own record (self_id) is {told(theirs)}, not {told(line)}")
    later = set(later_than(found.self_id, _dated_in(snapshot)))
    problems += [
        f"relevant: {told(name)} is later than the config's own record (self_id), so it was not there yet"
        for name in judgement.grades
        if id_of(name) in later
    ]
    return found, problems


def _dated_in(snapshot: PoolSnapshot) -> list[Dated]:
    """All records of a pool; only those that are no experiments are decoded for it."""
    times: dict[str, int] = {}
    for line in snapshot.history.lines.values():
        times.update(zip(line.columns.ids, line.columns.facts["time"].tolist(), strict=True))
    return [
        Dated(record_id, facts.research_line, times[record_id])
        if record_id in times
        else dated(snapshot.records[record_id])
        for record_id, facts in snapshot.facts()
    ]


def _listed(
    config: JudgedConfig,
    snapshot: PoolSnapshot,
    among: frozenset[str],
    policy: Policy,
    now: datetime,
    ks: Sequence[int],
) -> Listed:
    found = rank(config.query, snapshot.index, now=now, limit=max(ks), policy=policy, among=among)
    ids = tuple(scored.record.id for scored in found)
    wanted, gains = config.judgement.relevant, config.judgement.gains
    if not wanted:
        return Listed(ids, {}, {})
    return Listed(ids, {k: recall_at(ids, wanted, k) for k in ks}, {k: ndcg_at(ids, gains, k) for k in ks})


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return fmean(numbers) if numbers else None
