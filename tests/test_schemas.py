"""docs/schemas.md lists every schema with the version and the file that the code has, and no other."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

from tried.pool.record import SCHEMA_VERSION
from tried.ranking.policy import DEFAULT_POLICY as POLICY
from tried.ranking.policy import POLICY_SCHEMA, policy_json

REPOSITORY = Path(__file__).parents[1]
PACKAGE = REPOSITORY / "server" / "tried"
PAGE = (REPOSITORY / "docs" / "schemas.md").read_text(encoding="utf-8")
SCHEMA = re.compile(r"tried\.[a-z-]+/v[0-9]+")
ROW = re.compile(r"^\| `?([a-z.-]+)`? \| (v?[0-9]+|none) \| `([a-z_/]+\.py)` \|", re.MULTILINE)


def in_code() -> set[tuple[str, str, str]]:
    """(name, version, file) of each string of the code that is a schema's name and nothing else."""
    found = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and SCHEMA.fullmatch(node.value):
                name, version = node.value.split("/")
                found.add((name, version, path.relative_to(PACKAGE).as_posix()))
    return found


def test_every_schema_is_on_the_page_and_defined_in_one_place() -> None:
    rows = {tuple(row) for row in ROW.findall(PAGE)}
    assert ("record", str(SCHEMA_VERSION), "pool/record.py") in rows
    assert ("settings", "none", "settings/model.py") in rows
    assert {row for row in rows if row[0].startswith("tried.")} == in_code()
    names = [name for name, _, _ in in_code()]
    assert len(names) == len(set(names)), "a schema is defined in one place"


def test_every_file_that_is_written_names_its_schema() -> None:
    """What the page lists as kept is written with this name; the room of files that are ours holds no other."""
    kept = PAGE.split("## What is kept")[1].split("## What is answered")[0]
    for name, version, path in in_code():
        if path.startswith("storage/"):
            assert f"| `{name}` | {version} |" in kept, path


def test_the_settings_have_the_schema_that_the_page_points_to() -> None:
    schema = json.loads((REPOSITORY / "docs" / "tried.schema.json").read_text(encoding="utf-8"))
    assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"
    assert "version" not in schema


def test_the_page_points_to_pages_that_there_are() -> None:
    for target in re.findall(r"\]\(([a-z.-]+)\)", PAGE):
        assert (REPOSITORY / "docs" / target).exists(), target


def test_another_knob_is_another_version_of_policies() -> None:
    """The id of a policy is a hash of its form: whoever adds a knob changes every id, and must say so."""
    assert POLICY_SCHEMA == "tried.policy/v1"
    assert POLICY.policy_id == "ba290901830e"
    assert sorted(policy_json(POLICY)) == [
        "decay_penalty",
        "half_life_days",
        "hit_boost",
        "lexical_bonus",
        "schema",
        "ttl_days",
        "weights",
    ]
