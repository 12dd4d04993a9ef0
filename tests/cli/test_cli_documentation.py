"""docs/command-line.md speaks of every command and of every option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cli_runner import Runner

OPTION = re.compile(r"(?<!-)--[a-z][a-z-]*")
PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", ["check", "rank", "pool", "conclude", "serve", "demo"])
def test_every_option_is_documented_and_no_other(tried: Runner, command: str) -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    own = next(part for part in sections if part.startswith(f"tried {command}\n"))
    offered = set(OPTION.findall(tried(command, "--help").out)) - {"--help"}

    assert offered == set(OPTION.findall(own))
