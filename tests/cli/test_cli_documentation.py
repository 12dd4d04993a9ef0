"""docs/command-line.md speaks of every command, of every option and of every field of conditions."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from cli_runner import Runner

from tried.cli.application import application
from tried.review.advice import Code
from tried.review.selection import FIELDS

SCHEMA = re.compile(r'"(tried\.[a-z]+/v[0-9]+)"')
OPTION = re.compile(r"(?<!-)--[a-z][a-z-]*")
PAGE = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")


COMMANDS = sorted(
    str(command.name or command.callback.__name__) for command in application.registered_commands if command.callback
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_is_documented_and_no_other(tried: Runner, command: str) -> None:
    sections = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    own = next(part for part in sections if part.startswith(f"tried {command}\n"))
    offered = set(OPTION.findall(tried(command, "--help").out)) - {"--help"}

    assert offered == set(OPTION.findall(own))


def test_every_command_is_in_the_list_at_the_top() -> None:
    top = PAGE.split("```")[1]
    assert sorted({line.split()[1] for line in top.splitlines() if line and "--version" not in line}) == COMMANDS


def test_the_fields_of_conditions_are_documented() -> None:
    section = PAGE.split("<!-- fields -->")[1].split("<!-- end of fields -->")[0].strip().splitlines()
    assert section[2:] == [f"| `{name}` | {meaning} |" for name, meaning in FIELDS.items()]


def test_every_contract_and_every_code_of_advice_is_documented() -> None:
    folder = Path(__file__).parents[2] / "server" / "tried"
    files = [*(folder / "cli").glob("*.py"), *(folder / "render").glob("*.py")]
    schemas = {found for path in files for found in SCHEMA.findall(path.read_text(encoding="utf-8"))}
    assert {"tried.audit/v1", "tried.pool/v1", "tried.allow/v1"} <= schemas
    of_the_server = (Path(__file__).parents[2] / "docs" / "language-server.md").read_text(encoding="utf-8")
    told = {schema for schema in schemas if f"### {schema}" in PAGE or f'"{schema}"' in of_the_server}
    assert sorted(schemas - told) == []
    doctor = PAGE.split("### tried.doctor/v1")[1].split("###")[0]
    assert all(f"`{code}`" in doctor for code in get_args(Code))
