"""Configs with judged records: which a careful engineer wants to see while writing them, and how loud to be at most."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

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


@dataclass(frozen=True)
class Judgement:
    """One judged config: `grades` are 3 (must be seen), 2 (should), 1 (may); `self_id` is its own record."""

    query: str
    config: str
    language: str
    research_line: str
    expect: Expectation
    grades: dict[str, int]
    do_not_warn: frozenset[str]
    self_id: str | None

    @property
    def relevant(self) -> set[str]:
        return {record for record, grade in self.grades.items() if grade >= RIGHT_FROM_GRADE}

    def is_right(self, finding: Finding) -> bool:
        return bool(self.relevant.intersection(finding.records))

    def is_judged(self, finding: Finding) -> bool:
        return any(record in self.grades or record in self.do_not_warn for record in finding.records)

    def is_too_loud(self, finding: Finding) -> bool:
        return LOUDNESS[finding.severity] > LOUDEST_ALLOWED[self.expect]


def read_judgements(path: Path) -> list[Judgement]:
    """Raises OSError and ValueError where the file cannot be read: it is a developer's own."""
    found: list[Judgement] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            data = json.loads(line)
            found.append(
                Judgement(
                    query=data["query"],
                    config=data["config"],
                    language=data["language"],
                    research_line=data["research_line"],
                    expect=data["expect"],
                    grades={each["id"]: each["grade"] for each in data["relevant"]},
                    do_not_warn=frozenset(data["do_not_warn"]),
                    self_id=data.get("self_id"),
                )
            )
    return found


def pool_before(judgement: Judgement, records: Sequence[ExperimentRecord]) -> Iterable[ExperimentRecord]:
    """The records that there were when the config was written: not its own, and none of its line that stand below."""
    own_passed = False
    for record in records:
        if record.id == judgement.self_id:
            own_passed = True
        elif not (own_passed and record.research_line == judgement.research_line):
            yield record
