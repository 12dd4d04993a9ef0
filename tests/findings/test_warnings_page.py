"""docs/warnings.md and docs/ranking.md state the numbers and severities that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tried.findings.settings import DEFAULT_SEVERITY, FindingSettings, Reason
from tried.ranking.policy import DEFAULT_POLICY

DOCS = Path(__file__).parents[2] / "docs"
WARNINGS = (DOCS / "warnings.md").read_text(encoding="utf-8")
RANKING = (DOCS / "ranking.md").read_text(encoding="utf-8")

ROWS: list[tuple[str, tuple[Reason, ...]]] = [
    ("a person or an agent judged it a dead end", ("judged",)),
    ("it ran out of memory, or diverged", ("out_of_memory", "diverged")),
    ("it was worse than its parent", ("worse",)),
    ("it ended by an error in the code", ("code_error", "infrastructure", "stopped", "unknown")),
]


@pytest.mark.parametrize(("start", "reasons"), ROWS)
def test_how_loud_a_record_makes_a_finding(start: str, reasons: tuple[Reason, ...]) -> None:
    row = next(line for line in WARNINGS.splitlines() if line.startswith(f"| {start}"))
    strong, weak = [cell.strip() for cell in row.strip("|").split("|")[1:]]
    for reason in reasons:
        assert DEFAULT_SEVERITY[f"repeat/{reason}"] == DEFAULT_SEVERITY[f"move/{reason}"] == strong
        assert DEFAULT_SEVERITY[f"knob/{reason}"] == DEFAULT_SEVERITY[f"near/{reason}"] == weak


def test_the_thresholds_are_those_of_the_code() -> None:
    settings = FindingSettings()
    assert f"at least {settings.minimum_similarity * 100:.0f} % of the union" in WARNINGS
    assert f"at least {settings.minimum_compared} compared parameters" in WARNINGS
    assert f"what {settings.common_key_share * 10:.0f} in 10 of" in WARNINGS
    assert f"at least {settings.knob_dead_ends} experiments of the line set a key" in WARNINGS
    assert f"at least {settings.knob_worked_without} that worked lack it" in WARNINGS
    assert settings.debug_budget_share == 0.1
    assert "under a tenth" in WARNINGS
    assert settings.move_agreement == 0.5
    assert "under half of the parameters agree" in WARNINGS


def test_the_weights_are_those_of_the_policy() -> None:
    weights = re.findall(r"(\d\.\d+)·(\w+)", RANKING)
    assert [(float(weight), name) for weight, name in weights[:4]] == [
        (getattr(DEFAULT_POLICY.weights, name), name) for name in ("lexical", "structural", "recency", "importance")
    ]
    assert f"halves every {DEFAULT_POLICY.half_life_days:.0f} days" in RANKING
