"""Which language a file is read as."""

from __future__ import annotations

import pytest

from tried.draft.entries import Problem
from tried.draft.syntax import LANGUAGES, language_of, parse
from tried.text import Span


@pytest.mark.parametrize(
    ("path", "language_id", "language"),
    [
        ("a/config.yaml", None, "yaml"),
        ("a/config.YML", None, "yaml"),
        ("C:\\runs\\config.json", None, "json"),
        ("settings.jsonc", None, "json"),
        ("pyproject.toml", None, "toml"),
        ("train.py", None, "python"),
        (".env", None, "env"),
        ("a/.env.local", None, "env"),
        ("base.env", None, "env"),
        ("run.sh", None, "env"),
        ("x.env.sh", None, "env"),
        (".envrc", None, "env"),
        ("MLproject", None, "yaml"),
        ("README.md", None, None),
        ("yaml", None, None),
        (".yaml", None, None),
        ("results.tsv", None, None),
        ("model.jsonnet", None, None),
        ("noname", "yaml", "yaml"),
        ("noname", "YAML", "yaml"),
        ("noname", "jsonc", "json"),
        ("noname", "dotenv", "env"),
        ("noname", "env", "env"),
        ("noname", "properties", "env"),
        ("noname", "shellscript", "env"),
        ("noname", "sh", "env"),
        ("noname", "bash", "env"),
        ("noname", "python", "python"),
        ("noname", "toml", "toml"),
        ("playbook", "yaml.ansible", "yaml"),
        ("config.yaml", "plaintext", "yaml"),  # an editor that does not know the file
        ("config.txt", "json", "json"),  # a person who says what it is
        ("noname", "plaintext", None),
        ("noname", "", None),
    ],
)
def test_language_of(path: str, language_id: str | None, language: str | None) -> None:
    assert language_of(path, language_id) == language


def test_each_language_has_a_reader() -> None:
    for language in LANGUAGES:
        parsed = parse("", language)
        assert (parsed.language, parsed.entries, parsed.problems) == (language, (), ())


def test_a_language_that_is_not_read_is_a_problem() -> None:
    parsed = parse("a: 1", "cobol")
    assert parsed.entries == ()
    assert parsed.problems == (Problem("no reader for the language `cobol`", Span(0, 4)),)
