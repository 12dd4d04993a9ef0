"""What is edited to see how far lists move: a config's text with the records that there were when it was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from tried.evaluation.record_configs import LANGUAGE, config_of_record
from tried.evaluation.stability import Session
from tried.evaluation.stability_sessions import Ask, editing_session, noisy_session, one_percent
from tried.pool.record import ExperimentRecord


@dataclass(frozen=True, slots=True)
class StabilityDraft:
    """`ask` knows the language of the text; `newcomers` are not in `pool` yet."""

    name: str
    text: str
    language: str
    ask: Ask
    now: datetime
    pool: frozenset[str]
    newcomers: tuple[str, ...]

    @property
    def editing(self) -> Session:
        return editing_session(self.name, self.text, self.language, self.ask, self.now, self.pool, self.newcomers)

    @property
    def noisy(self) -> Session:
        return noisy_session(self.name, self.ask(self.text), self.now, self.pool)


def drafts_of_records(
    records: Iterable[ExperimentRecord], moments: Mapping[str, datetime | None], ask: Ask, now: datetime
) -> Iterator[StabilityDraft]:
    """Each record as if it were about to be started: it is not in its pool, nor is what began later.

    `moments` are those of the whole pool, the latest first, as `moments_in` gives them; the newcomers are the 1 % that
    came next. `ask` reads JSON. A record without a time is written `now`; one without parameters gives no draft.
    """
    for record in records:
        text = config_of_record(record)
        if text is None:
            continue
        began = moments.get(record.id)
        later = [each for each, moment in moments.items() if began and moment and moment > began]
        pool = frozenset(moments).difference(later, (record.id,))
        newcomers = tuple(reversed(later))[: one_percent(len(pool))]
        yield StabilityDraft(record.id, text, LANGUAGE, ask, began or now, pool, newcomers)
