"""The experiments that bear on a draft as a list shows them: ranked records, replicates in one row.

Invariant: rows stand in the order of the ranking of their best-ranked runs, unless sorted otherwise, behind the few
that are closest to the draft; every record that passes the filter belongs to exactly one row of the whole list.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import islice
from typing import Final

from tried.analysis import Analysis, leading_draft
from tried.findings.find import own_line
from tried.findings.settings import FindingSettings
from tried.pool.history.run import Run
from tried.pool.history.run_row import NO_TIME, Flag
from tried.pool.record import ExperimentRecord
from tried.pool.snapshot import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import passing, placing_of, rank
from tried.ranking.segment import moment_of
from tried.related.closest import Closest, closest_to
from tried.related.differences import DraftDifferences
from tried.related.experiment import Experiment
from tried.related.grouping import Grouping
from tried.related.ordering import Sort, ordered
from tried.related.outcome import Outcome, common_outcome, ids_with, outcome_of, outcome_of_run
from tried.related.record_view import HeadlineKind, headline_of_view
from tried.related.result import result_of
from tried.related.searching import ids_beginning

MOST_ROWS: Final = 5_000
_MOST_ASKED: Final = 8
"""Replicates that are asked for words of their own."""


@dataclass(frozen=True, slots=True)
class Filter:
    """What the records of a list have in common; all of it holds together. Of `text` every word must occur in the
    record, of the last one a beginning; or it is the beginning of the record's id."""

    outcome: Outcome | None = None
    research_line: str | None = None
    tag: str | None = None
    source: str | None = None
    text: str = ""

    @property
    def is_empty(self) -> bool:
        return self == NO_FILTER


NO_FILTER: Final = Filter()


@dataclass(frozen=True, slots=True)
class Experiments:
    """`rows` are at most as many as were asked for, `total` all that pass the filter."""

    rows: tuple[Experiment, ...]
    total: int


class RelatedExperiments:
    """The experiments that bear on one analysed text, in one snapshot, under one filter."""

    def __init__(
        self,
        analysis: Analysis,
        snapshot: PoolSnapshot,
        settings: FindingSettings,
        policy: Policy,
        now: datetime,
        chosen: Filter = NO_FILTER,
    ) -> None:
        self.analysis: Final = analysis
        self.snapshot: Final = snapshot
        self.settings: Final = settings
        self.policy: Final = policy
        self.now: Final = now
        self.chosen: Final = chosen
        self.grouping: Final = Grouping(snapshot)

    @cached_property
    def query(self) -> RetrievalQuery | None:
        """What the text asks of the pool, among records that pass the filter."""
        asked = self.analysis.query
        if asked is None:
            return None
        query = filtered_query(asked, self.chosen)
        return replace(query, containing="") if self._named else query

    @cached_property
    def _named(self) -> frozenset[str]:
        """The records whose ids begin with the text that is searched for."""
        return ids_beginning(self.chosen.text, self.snapshot)

    @cached_property
    def own_line(self) -> str | None:
        """The research line of the pool that the draft belongs to, as far as that is known."""
        draft = leading_draft(self.analysis.drafts)
        line = own_line(draft, self.snapshot.history, self.settings) if draft is not None else None
        return line.research_line if line is not None else None

    @cached_property
    def among(self) -> Collection[str] | None:
        """The ids that pass what rankings know nothing of: the outcome, and beginnings of ids; None for all."""
        ended = ids_with(self.chosen.outcome, self.snapshot) if self.chosen.outcome is not None else None
        if not self._named:
            return ended
        searched = self._named.union(passing(_words(self.chosen.text), self.snapshot.index, now=self.now))
        return searched if ended is None else searched & ended

    def listed(self, limit: int, sort: Sort = "score") -> Experiments:
        """The first `limit` rows, by rank, never more than MOST_ROWS."""
        rows = [self._row(place, each) for place, each in enumerate(self.ranked(limit), start=1)]
        rows = self._with_closest(rows)[: row_limit(limit)]
        return Experiments(tuple(ordered(rows, sort)), self.total)

    def _with_closest(self, rows: list[Experiment]) -> list[Experiment]:
        """Those closest to the draft first, wherever they rank."""
        if self.closest is None or not rows:
            return rows
        kind_of = self.grouping.kind_of
        known = {kind_of(row.scored.record.id): row for row in rows}
        first: dict[object, Experiment] = {}
        for record_id in self.closest.records:
            kind = kind_of(record_id)
            if (row := known.get(kind) or self._row_of(record_id)) is not None:
                first[kind] = replace(row, closeness=self.closest.closeness)
        return [*first.values(), *(row for kind, row in known.items() if kind not in first)]

    @cached_property
    def closest(self) -> Closest | None:
        draft = leading_draft(self.analysis.drafts)
        return closest_to(draft, self.snapshot, self.settings) if draft is not None else None

    def _row_of(self, record_id: str) -> Experiment | None:
        """The row of a record that ranks below what is listed; None if it does not pass the filter."""
        place = self.place_of(record_id)
        return self._row(*place) if place is not None else None

    def place_of(self, record_id: str) -> tuple[int, ScoredRecord] | None:
        """The rank of a record's experiment among all that pass the filter, and the best-ranked run of it; None if it
        does not pass."""
        if self.query is None:
            return None
        replicates = [run.id for run in self.grouping.replicates_of(record_id)] or [record_id]
        placing = placing_of(
            replicates,
            self.query,
            self.snapshot.index,
            now=self.now,
            policy=self.policy,
            hits=self.analysis.hits,
            among=self.among,
        )
        return (self.grouping.count_among(placing.above) + 1, placing.best) if placing is not None else None

    def last_rank(self, limit: int) -> int:
        """Up to which rank a list of so many rows goes; those closest to the draft take room of others in it."""
        records = self.closest.records if self.closest is not None else ()
        ranks = sorted(place[0] for each in records if (place := self.place_of(each)) is not None)
        last = max(0, row_limit(limit) - len(ranks))
        for own in ranks:
            last += own <= last + 1
        return min(last, row_limit(limit))

    @cached_property
    def total(self) -> int:
        """Of all experiments that pass the filter."""
        if self.query is None:
            return 0
        return self.grouping.count if self._passed is None else self.grouping.count_among(self._passed)

    @cached_property
    def _passed(self) -> frozenset[str] | None:
        """The ids of all records that pass the filter; None where there is none."""
        if self.query is None or (self.chosen.is_empty and self.policy.ttl_days is None):
            return None
        return frozenset(passing(self.query, self.snapshot.index, now=self.now, policy=self.policy, among=self.among))

    def ranked(self, limit: int) -> list[ScoredRecord]:
        """The best-ranked runs of the first so many experiments, never more than MOST_ROWS."""
        limit = row_limit(limit)
        if self.query is None or not limit:
            return []
        if self.chosen.is_empty and (known := self._known(limit)) is not None:
            return known
        return rank(
            self.query,
            self.snapshot.index,
            now=self.now,
            limit=limit,
            policy=self.policy,
            hits=self.analysis.hits,
            among=self.among,
            alike=self.grouping.kind_of,
        )

    def _known(self, limit: int) -> list[ScoredRecord] | None:
        """The same of what the analysis has ranked already; None where that is not enough."""
        first: dict[object, ScoredRecord] = {}
        for scored in self.analysis.ranking:
            first.setdefault(self.grouping.kind_of(scored.record.id), scored)
        is_whole = len(self.analysis.ranking) >= len(self.snapshot.index)
        return list(first.values())[:limit] if is_whole or len(first) >= limit else None

    @cached_property
    def _differences(self) -> DraftDifferences | None:
        draft = leading_draft(self.analysis.drafts)
        return DraftDifferences(draft, self.snapshot.history, self.settings) if draft else None

    def _row(self, place: int, scored: ScoredRecord) -> Experiment:
        record = scored.record
        runs = list(self._replicates(record.id))
        why, why_kind = what_is_told(record, runs)
        if not runs:
            outcome = outcome_of(record, self.snapshot)
            return Experiment(scored, place, (record.id,), why, why_kind, outcome, None, record.time, None, None)
        outcome = common_outcome(runs)
        return Experiment(
            scored=scored,
            rank=place,
            records=tuple(run.id for run in runs),
            why=why,
            why_kind=why_kind,
            outcome=outcome,
            cause=next(run.cause for run in runs if outcome_of_run(run) == outcome) if outcome == "dead_end" else None,
            time=latest_of(runs),
            result=result_of(runs),
            differences=self._differences.of(runs[0]) if self._differences is not None else None,
        )

    def _replicates(self, record_id: str) -> Iterator[Run]:
        """Those that pass the filter, the best-ranked first."""
        runs, passed = self.grouping.replicates_of(record_id), self._passed
        yield from (run for run in runs if run.id == record_id)
        yield from (run for run in runs if run.id != record_id and (passed is None or run.id in passed))


def row_limit(limit: int) -> int:
    return min(max(0, limit), MOST_ROWS)


def filtered_query(query: RetrievalQuery, chosen: Filter) -> RetrievalQuery:
    """All of a filter but the outcome, of which rankings know nothing."""
    return replace(
        query,
        research_line=chosen.research_line,
        tags=(chosen.tag,) if chosen.tag is not None else (),
        source=chosen.source,
        containing=chosen.text,
    )


def what_is_told(record: ExperimentRecord, runs: Sequence[Run]) -> tuple[str, HeadlineKind]:
    """What somebody wrote of a record, else of one of its replicates `runs`; else what the record shows by itself."""
    told = headline_of_view(record)
    if told[1] != "written":
        noted = (run for run in runs if run.id != record.id and run.has(Flag.WRITTEN))
        for run in islice(noted, _MOST_ASKED):
            if (other := headline_of_view(run.record))[1] == "written":
                return other
    return told


def _words(text: str) -> RetrievalQuery:
    return RetrievalQuery(containing=text)


def latest_of(runs: Sequence[Run]) -> datetime | None:
    times = [run.time for run in runs]
    latest = max(times)
    return moment_of(latest) if latest != NO_TIME else None
