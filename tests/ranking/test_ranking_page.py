"""docs/ranking.md shows every knob of a policy, with its default and what it takes.

TRIED_UPDATE_DOCS=1 writes the table.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from tried.ranking.policy import DEFAULT_POLICY, STEADY, knob_range, knobs

PAGE = Path(__file__).parents[2] / "docs" / "ranking.md"
TABLE = re.compile(r"(\| knob \| default \| takes \|\n\|---\|---\|---\|\n)(?:<!-- knobs -->\n|(?:\| .*\n)*)")


def value_of(data: Any, name: str) -> Any:
    for part in name.split("."):
        data = data[part]
    return data


def rows() -> str:
    defaults = DEFAULT_POLICY.model_dump()
    lines = []
    for name, info in knobs().items():
        value = value_of(defaults, name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        shown = "none" if value is None else f"`{json.dumps(value)}`"
        lines.append(f"| `{name}` | {shown} | {knob_range(info)} |\n")
    return "".join(lines)


def test_the_table_of_knobs_is_that_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    wanted, found = TABLE.subn(lambda match: match[1] + rows(), text)
    assert found == 1
    if os.environ.get("TRIED_UPDATE_DOCS"):
        PAGE.write_text(wanted, encoding="utf-8")
        text = wanted
    assert text == wanted


def test_steady_differs_from_the_default_by_the_three_terms_alone() -> None:
    """As the page says."""
    default, steady = DEFAULT_POLICY.model_dump(), STEADY.model_dump()
    changed = {name for name in knobs() if value_of(default, name) != value_of(steady, name)}
    assert changed == {f"{term}.enabled" for term in ("lexical_bonus", "hit_boost", "decay_penalty")}
