"""What the pool keeps in memory of each record: enough to count, to list and to find, and no more."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from tried.pool.difference import commit_of
from tried.pool.outcome import Directions, has_conclusion, is_dead_end
from tried.pool.record import ExperimentRecord, Role


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """Columns of a record that many share, so that equal ones are kept once.

    `dead_end`: of experiments alone; a launcher that failed tried nothing. `concluded`: somebody drew a conclusion.
    `descends`: it names what it came from. `components`: the node tokens of its architecture. `run_id`: the tracker's
    own id, where that is not what the record's id has behind a colon. `digest`: that of its architecture, as stated.
    """

    dead_end: bool = False
    concluded: bool = False
    descends: bool = False
    timed: bool = False
    running: bool = False
    role: Role = "experiment"
    research_line: str | None = None
    components: frozenset[str] = frozenset()
    run_id: str | None = None
    commit: str | None = None
    digest: str | None = None


def facts_of(record: ExperimentRecord, directions: Directions | None = None) -> RecordFacts:
    run_id = record.run_id
    return RecordFacts(
        dead_end=record.role == "experiment" and is_dead_end(record, directions),
        concluded=has_conclusion(record.conclusion),
        descends=bool(record.parent or (record.derivation and record.derivation.from_)),
        timed=record.time is not None,
        running=is_running(record),
        role=record.role,
        research_line=record.research_line,
        components=frozenset(record.architecture.nodes.values()) if record.architecture else frozenset(),
        run_id=None if run_id is None or f":{record.id}".endswith(f":{run_id}") else run_id,
        commit=commit_of(record),
        digest=record.architecture.digest or None if record.architecture else None,
    )


def is_running(record: ExperimentRecord) -> bool:
    return record.verdict is None and (record.outcome or "").strip().lower() == "running"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Shares of records, 0 to 1: with a conclusion that somebody drew, naming what they came from, with an
    architecture, with a timestamp that can be read."""

    conclusion: float = 0.0
    lineage: float = 0.0
    architecture: float = 0.0
    timestamp: float = 0.0


@dataclass(frozen=True, slots=True)
class Totals:
    """Each record counted once; what is no experiment (a sweep, a launcher) is among `records`."""

    records: int = 0
    dead_ends: int = 0
    coverage: Coverage = Coverage()


class Tally:
    """Counts over records that come and go."""

    def __init__(self) -> None:
        self.records = 0
        self.dead_ends = 0
        self.concluded = 0
        self.descending = 0
        self.built = 0
        self.timed = 0
        self.roles: Counter[str | None] = Counter()
        self.lines: Counter[str | None] = Counter()

    def add(self, facts: RecordFacts, times: int = 1) -> None:
        """Count a record in, or with −1 out."""
        self.records += times
        self.dead_ends += times * facts.dead_end
        self.concluded += times * facts.concluded
        self.descending += times * facts.descends
        self.built += times * bool(facts.components)
        self.timed += times * facts.timed
        for counter, key in ((self.roles, facts.role), (self.lines, facts.research_line)):
            counter[key] += times
            if not counter[key]:
                del counter[key]

    @property
    def coverage(self) -> Coverage:
        count = self.records
        if not count:
            return Coverage()
        return Coverage(self.concluded / count, self.descending / count, self.built / count, self.timed / count)

    @property
    def totals(self) -> Totals:
        return Totals(self.records, self.dead_ends, self.coverage)

    @property
    def research_line(self) -> str | None:
        """That of all records, if they share one."""
        return next(iter(self.lines)) if len(self.lines) == 1 else None

    @property
    def other_roles(self) -> dict[str, int]:
        """How many records are no experiments, by what they are."""
        return {role: self.roles[role] for role in sorted(filter(None, self.roles)) if role != "experiment"}
