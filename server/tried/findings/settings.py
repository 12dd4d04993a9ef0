"""What decides when to speak and how loud. See docs/warnings.md for the study behind the numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from tried.findings.finding import Code, Evidence, Severity

Reason = Literal["judged", "out_of_memory", "diverged", "worse", "code_error", "infrastructure", "stopped", "unknown"]
"""Why a record counts as a dead end: a cause, or that a person or an agent judged it so."""

CODE_OF: Final[Mapping[Evidence, Code]] = {
    "repeat": "repeat",
    "move": "dead-end",
    "knob": "dead-end",
    "near": "dead-end",
}

_STRONG: Final[Mapping[Reason, Severity]] = {
    "judged": "warning",
    "out_of_memory": "warning",
    "diverged": "warning",
    "worse": "information",
    "code_error": "hover",
    "infrastructure": "hover",
    "stopped": "hover",
    "unknown": "hover",
}
_WEAK: Final[Mapping[Reason, Severity]] = {
    **_STRONG,
    "judged": "information",
    "out_of_memory": "information",
    "diverged": "information",
}

DEFAULT_SEVERITY: Final[Mapping[str, Severity]] = {
    f"{evidence}/{reason}": severity
    for evidence, table in (("repeat", _STRONG), ("move", _STRONG), ("knob", _WEAK), ("near", _WEAK))
    for reason, severity in table.items()
}
"""Severity by evidence and reason. A setting may name `move/worse`, `dead-end/worse`, `move` or `dead-end`."""


@dataclass(frozen=True, slots=True)
class FindingSettings:
    """Thresholds of the rules; shares are in [0, 1].

    `research_line` is used where the draft names none. `severity` overrides `DEFAULT_SEVERITY`.
    """

    research_line: str | None = None
    severity: Mapping[str, Severity] = field(default_factory=dict)
    minimum_compared: int = 3
    minimum_similarity: float = 0.3
    common_key_share: float = 0.9
    knob_dead_ends: int = 3
    knob_worked_without: int = 5
    move_agreement: float = 0.5
    debug_budget_share: float = 0.1

    def severity_of(self, evidence: Evidence, reason: Reason) -> Severity:
        code = CODE_OF[evidence]
        for name in (f"{evidence}/{reason}", f"{code}/{reason}", evidence, code):
            if name in self.severity:
                return self.severity[name]
        return DEFAULT_SEVERITY[f"{evidence}/{reason}"]
