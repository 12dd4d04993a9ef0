"""How far the lists of judged configs move, and how good they are all the while.

Invariant: judgements decide how good a list is, and nothing else: neither what is opened nor which records come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from statistics import fmean

from tried.evaluation.judgements import Judgement, dated, later_than, pool_before
from tried.evaluation.metrics import ndcg_at, recall_at
from tried.evaluation.stability import Observed, Ranking, Session, Use, observe
from tried.evaluation.stability_sessions import Ask, editing_session, noisy_session, one_percent
from tried.pool.record import ExperimentRecord


@dataclass(frozen=True, slots=True)
class EditedConfig:
    """A judgement with the text of its config and what that asks of a pool."""

    judgement: Judgement
    text: str
    language: str
    ask: Ask


@dataclass(frozen=True, slots=True)
class JudgedSessions:
    judgement: Judgement
    sessions: tuple[Session, ...]


@dataclass(frozen=True)
class JudgedRun:
    """All steps under one policy, and by query the means over its steps of nDCG@k and recall@k, if anything is
    relevant."""

    observed: tuple[Observed, ...]
    ndcg: Mapping[str, float]
    recall: Mapping[str, float]


def written_at(judgement: Judgement, records: Sequence[ExperimentRecord]) -> datetime | None:
    """When a config was written: when its own run began, else the last one of its line before it; None if nobody
    knows."""
    own = next((record for record in records if record.id == judgement.self_id), None)
    if own is not None and own.time is not None:
        return own.time
    before = pool_before(judgement, records)
    times = (each.time for each in before if each.research_line == judgement.research_line)
    return max((time for time in times if time is not None), default=None)


def sessions_on(
    config: EditedConfig, records: Sequence[ExperimentRecord], now: datetime, *, whole_pool: bool
) -> JudgedSessions:
    """Edits and noisy vectors, with the pool before the config, of its research line or the whole of it.

    As the pool grows come the records that follow the config in its research line, its own run left out; in the whole
    pool, which has no others that are later, some are held back until then if those are fewer than 1 %.
    """
    judgement = config.judgement
    before = {record.id: record.research_line == judgement.research_line for record in pool_before(judgement, records)}
    later = [each for each in later_than(judgement.self_id, map(dated, records)) if each != judgement.self_id]
    pool = set(before) if whole_pool else {record_id for record_id, is_own in before.items() if is_own}
    newcomers = later[: one_percent(len(pool))]
    if whole_pool:
        others = sorted((record_id for record_id, is_own in before.items() if not is_own), key=_scattered)
        held_back = others[: one_percent(len(pool)) - len(newcomers)]
        pool.difference_update(held_back)
        newcomers += held_back
    return JudgedSessions(
        judgement,
        (
            editing_session(judgement.query, config.text, config.language, config.ask, now, frozenset(pool), newcomers),
            noisy_session(judgement.query, config.ask(config.text), now, frozenset(pool)),
        ),
    )


def judged_run(judged: Iterable[JudgedSessions], ranking: Ranking, k: int, use: Use) -> JudgedRun:
    """`ranking` is over an index of records `with_vectors`."""
    observed: list[Observed] = []
    ndcg: dict[str, float] = {}
    recall: dict[str, float] = {}
    for each in judged:
        found = [step for session in each.sessions for step in observe(session, ranking, k, use)]
        observed += found
        if wanted := each.judgement.relevant:
            grades = {record: grade for record, grade in each.judgement.grades.items() if record in wanted}
            ndcg[each.judgement.query] = fmean(ndcg_at(step.shown, grades, k) for step in found)
            recall[each.judgement.query] = fmean(recall_at(step.shown, wanted, k) for step in found)
    return JudgedRun(tuple(observed), ndcg, recall)


def _scattered(record_id: str) -> bytes:
    return blake2b(record_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
