"""Configs with judged records: which a careful engineer wants to see while writing them, and how loud to be at most.

Invariant: whatever stands in a judgements file, it is read to its end; each bad line is told with its number.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tried.findings.claim import LOUDNESS
from tried.findings.finding import Finding
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
            mistakes = list(_mistakes(error))
            more = [f"and {len(mistakes) - _MOST_MISTAKES} more mistakes"] if len(mistakes) > _MOST_MISTAKES else []
            bad.append(BadLine(number, "; ".join([*mistakes[:_MOST_MISTAKES], *more])))
            continue
        if why := "; ".join(_contradictions(read, found)):
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


def read_judgements(path: Path) -> list[Judgement]:
    """All judgements of a file. Raises OSError where it cannot be read, and ValueError for the first bad line."""
    judgements, bad = judgements_in(path.read_text(encoding="utf-8-sig", errors="replace"))
    if bad:
        raise ValueError(f"{path}:{bad[0].line}: {bad[0].why}")
    return judgements


def pool_before(judgement: Judgement, records: Sequence[ExperimentRecord]) -> Iterable[ExperimentRecord]:
    """The records that there were when the config was written: not its own, and none of its line that stand below."""
    gone = later_than(judgement, ((record.id, record.research_line) for record in records))
    return (record for record in records if record.id not in gone)


def later_than(judgement: Judgement, records: Iterable[tuple[str, str | None]]) -> set[str]:
    """Of the (id, research line) of a pool's records, in its order, the ids of those that there were not yet."""
    later: set[str] = set()
    for record_id, line in records:
        if record_id == judgement.self_id or (later and line == judgement.research_line):
            later.add(record_id)
    return later


def _contradictions(line: _Line, before: Mapping[str, Judgement]) -> Iterator[str]:
    if line.query in before:
        yield f"query: {_told(line.query)} stands in line {before[line.query].line} already; name it otherwise"
    grades: dict[str, int] = {}
    for each in line.relevant:
        if each.id in grades:
            yield f"relevant: {_told(each.id)} is graded twice"
        grades[each.id] = each.grade
    if line.self_id in grades:
        yield f"relevant: {_told(line.self_id)} is the config's own record (self_id), which it cannot be shown"
    for record in line.do_not_warn:
        if grades.get(record, 0) >= RIGHT_FROM_GRADE:
            yield f"do_not_warn: {_told(record)} is graded {grades[record]} as well; take it out of one of them"


def _mistakes(error: ValidationError) -> Iterator[str]:
    for each in error.errors(include_url=False):
        place = ".".join(map(str, each["loc"]))
        kind, given = each["type"], each["input"]
        if kind == "json_invalid":
            yield f"no JSON ({each['msg'].removeprefix('Invalid JSON: ')}); expected one object a line"
        elif kind == "extra_forbidden":
            yield f"{_cut(place)}: no field of a judgement; {_instead_of(str(each['loc'][-1]), len(each['loc']) > 1)}"
        elif kind == "missing":
            yield f"{place}: is missing"
        elif place.endswith(".grade"):
            yield f"{place}: expected 3 (must be seen), 2 (should) or 1 (may), got {_told(given)}"
        elif place == "expect":
            yield f"expect: expected one of {', '.join(get_args(Expectation))}, got {_told(given)}"
        else:
            wanted = each["msg"].removeprefix("Input should be ") if place else "an object"
            yield f"{f'{place}: ' if place else ''}expected {wanted}, got {_told(given)}"


def _instead_of(name: str, in_relevant: bool) -> str:
    known = list((_Relevant if in_relevant else _Line).model_fields)
    near = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"


def _told(value: Any) -> str:
    return _cut(json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
