"""Configs with judged records: which a careful engineer wants to see while writing them, and how loud to be at most.

Invariant: whatever stands in a judgements file, it is read to its end; each bad line is told with its number.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tried.findings.claim import LOUDNESS
from tried.findings.finding import Finding
from tried.pool.history.line_history import places_in_time
from tried.pool.history.run_row import NO_TIME, microseconds
from tried.pool.record import ExperimentRecord

Expectation = Literal["warn", "inform", "show", "silent"]

LOUDEST_ALLOWED: Final[dict[Expectation, int]] = {
    "warn": LOUDNESS["warning"],
    "inform": LOUDNESS["information"],
    "show": LOUDNESS["hover"],
    "silent": LOUDNESS["hover"],
}
"""How loud a finding may be. What contradicts itself may stand in the hover of a config that expects silence."""

RIGHT_FROM_GRADE: Final = 2
_SHOWN: Final = 60
_MOST_MISTAKES: Final = 5
"""Of one line: a record of a pool has dozens."""


@dataclass(frozen=True)
class Judgement:
    """One judged config: `grades` are 3 (must be seen), 2 (should), 1 (may); `self_id` is its own record.

    `config` is a path relative to the judgements file, in whose line `line` (from 1) it stands. Without a `language`
    the file's name tells it, without a `research_line` nothing narrows the pool.
    """

    query: str
    config: str
    language: str | None
    research_line: str | None
    expect: Expectation
    grades: Mapping[str, int]
    do_not_warn: frozenset[str]
    self_id: str | None
    line: int = 0

    @property
    def relevant(self) -> set[str]:
        return {record for record, grade in self.grades.items() if grade >= RIGHT_FROM_GRADE}

    @property
    def gains(self) -> dict[str, int]:
        """The grades that count for nDCG: what one may see (grade 1) is not asked for."""
        return {record: grade for record, grade in self.grades.items() if grade >= RIGHT_FROM_GRADE}

    @property
    def expects_silence(self) -> bool:
        """Whether every squiggle is a false alarm."""
        return self.expect == "silent" or not self.relevant

    def is_right(self, finding: Finding) -> bool:
        return bool(self.relevant.intersection(finding.records))

    def is_judged(self, finding: Finding) -> bool:
        return any(record in self.grades or record in self.do_not_warn for record in finding.records)

    def is_too_loud(self, finding: Finding) -> bool:
        return LOUDNESS[finding.severity] > LOUDEST_ALLOWED[self.expect]


@dataclass(frozen=True)
class BadLine:
    """A line of a judgements file (from 1) that cannot be used, and why."""

    line: int
    why: str


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Relevant(_Part):
    id: str = Field(min_length=1)
    grade: int = Field(ge=1, le=3)
    why: str = ""


class _Line(_Part):
    query: str = Field(min_length=1)
    config: str = Field(min_length=1)
    language: str | None = None
    research_line: str | None = None
    expect: Expectation = "show"
    relevant: list[_Relevant] = []
    do_not_warn: list[str] = []
    self_id: str | None = None
    source: str = ""
    kind: str = ""
    why: str = ""


def judgements_in(text: str) -> tuple[list[Judgement], list[BadLine]]:
    """What a judgements file holds: the lines that can be used, and those that cannot. Empty lines are passed over."""
    found: dict[str, Judgement] = {}
    bad: list[BadLine] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            read = _Line.model_validate_json(line)
        except ValidationError as error:
            bad.append(BadLine(number, in_brief(_mistakes(error))))
            continue
        if why := in_brief([*_given_twice(line), *_contradictions(read, found)]):
            bad.append(BadLine(number, why))
            continue
        found[read.query] = Judgement(
            query=read.query,
            config=read.config,
            language=read.language,
            research_line=read.research_line,
            expect=read.expect,
            grades={each.id: each.grade for each in read.relevant},
            do_not_warn=frozenset(read.do_not_warn),
            self_id=read.self_id,
            line=number,
        )
    return list(found.values()), bad


def pool_before(judgement: Judgement, records: Sequence[ExperimentRecord]) -> Iterable[ExperimentRecord]:
    """The records that there were when the config was written: neither its own nor later ones (`later_than`)."""
    gone = set(later_than(judgement.self_id, map(dated, records)))
    return (record for record in records if record.id not in gone)


class Dated(NamedTuple):
    """Of a record, what decides whether it was there; `time` as in `RunRow`."""

    id: str
    research_line: str | None
    time: int


def dated(record: ExperimentRecord) -> Dated:
    return Dated(record.id, record.research_line, NO_TIME if record.time is None else microseconds(record.time))


def later_than(self_id: str | None, records: Iterable[Dated]) -> list[str]:
    """Of a pool's records, in its order, the ids of those that there were not when the config of `self_id` was written:
    that record itself, then what ran later in its research line, or in the whole pool if it has none.

    Later is what a backtest has behind it (`places_in_time`). Nothing is, of a config that never ran.
    """
    pool = list(records) if self_id is not None else []
    own = next((record for record in pool if record.id == self_id), None)
    if own is None:
        return []
    line = [record for record in pool if own.research_line in (None, record.research_line)]
    places = places_in_time(np.array([record.time for record in line], np.int64)).tolist()
    in_time = [line[place].id for place in places]
    return in_time[in_time.index(own.id) :]


def contradictions(
    grades: Iterable[tuple[str, int]],
    do_not_warn: Iterable[str],
    self_id: str | None,
    id_of: Callable[[str], str] = lambda name: name,
) -> Iterator[str]:
    """What a judgement says of one record in two ways. `id_of` gives the id of the record that a name is one of."""
    graded: dict[str, tuple[str, int]] = {}
    own = None if self_id is None else id_of(self_id)
    for name, grade in grades:
        record = id_of(name)
        if record in graded:
            yield f"relevant: {_both(graded[record][0], name)} graded twice; keep one of them"
        elif record == own and self_id is not None:
            is_own = "is" if name == self_id else f"is {told(self_id)},"
            yield f"relevant: {told(name)} {is_own} the config's own record (self_id), which it cannot be shown"
        graded.setdefault(record, (name, grade))
    for name in do_not_warn:
        other, grade = graded.get(id_of(name), (name, 0))
        if grade >= RIGHT_FROM_GRADE:
            yield f"do_not_warn: {_both(other, name)} graded {grade} as well; take it out of one of them"


def _both(first: str, second: str) -> str:
    """`"a1" is`; of two names of one record `"a1" is "old-name", and is`."""
    return f"{told(second)} is" if first == second else f"{told(second)} is {told(first)}, and is"


def _contradictions(line: _Line, before: Mapping[str, Judgement]) -> Iterator[str]:
    if line.query in before:
        yield f"query: {told(line.query)} stands in line {before[line.query].line} already; name it otherwise"
    yield from contradictions([(each.id, each.grade) for each in line.relevant], line.do_not_warn, line.self_id)


def _given_twice(line: str) -> Iterator[str]:
    """Of a line that has been read, so that it is JSON and not deep: fields of which all values but one are lost."""
    twice: dict[str, None] = {}

    def seen(pairs: list[tuple[str, object]]) -> None:
        names = [name for name, _ in pairs]
        twice.update((name, None) for name in names if names.count(name) > 1)

    json.loads(line, object_pairs_hook=seen, parse_int=str, parse_float=str)
    for name in twice:
        yield f"{cut(name)}: is given twice in one object; keep one of them"


def _mistakes(error: ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False):
        place = ".".join(map(str, each["loc"]))
        kind, given = each["type"], each["input"]
        if kind == "json_invalid":
            yield f"no JSON ({each['msg'].removeprefix('Invalid JSON: ')}); expected one object a line"
        elif kind == "extra_forbidden":
            yield f"{cut(place)}: no field of a judgement; {_instead_of(str(each['loc'][-1]), len(each['loc']) > 1)}"
        elif kind == "missing":
            yield f"{place}: is missing"
        elif place.endswith(".grade"):
            yield f"{place}: expected 3 (must be seen), 2 (should) or 1 (may), got {told(given)}"
        elif place == "expect":
            yield f"expect: expected one of {', '.join(get_args(Expectation))}, got {told(given)}"
        else:
            wanted = each["msg"].removeprefix("Input should be ") if place else "an object"
            yield f"{f'{place}: ' if place else ''}expected {wanted}, got {told(given)}"


def _instead_of(name: str, in_relevant: bool) -> str:
    known = list((_Relevant if in_relevant else _Line).model_fields)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def in_brief(mistakes: Iterable[str]) -> str:
    """The first of a line's mistakes, and how many more there are."""
    every = list(mistakes)
    more = [f"and {len(every) - _MOST_MISTAKES:,} more mistakes"] if len(every) > _MOST_MISTAKES else []
    return "; ".join([*every[:_MOST_MISTAKES], *more])


def told(value: Any) -> str:
    """As JSON, cut after 60 characters."""
    return cut(json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__))


def cut(text: str) -> str:
    """After 60 characters: a bad line may hold anything."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
