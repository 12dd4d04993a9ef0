"""Real configs of other people, where they are at hand: read whole, and as independent readers read them."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date, datetime
from datetime import time as time_of_day
from functools import partial
from pathlib import Path

import pytest
from syntax_checks import LIST, MAPPING, UNKNOWN, check_invariants, same, values
from test_syntax_json import flat

from stopwatch import least_seconds
from tried.draft.syntax import language_of, parse
from tried.text import LineIndex

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")


def files(*languages: str) -> Iterator[tuple[Path, str, str]]:
    """Path, language and text of the configs and queries."""
    for folder in ("configs", "queries"):
        for path in sorted((DATA / folder).rglob("*")):
            language = language_of(path.name)
            if path.is_file() and language in languages:
                yield path, language, path.read_bytes().decode("utf-8", "replace")


def test_every_file_is_read_and_hardly_any_has_problems() -> None:
    read = troubled = 0
    for path, language, text in files("yaml", "json", "toml", "env", "python"):
        parsed = parse(text, language)
        check_invariants(parsed, text)
        read += 1
        if "_nasty" not in path.parts and parsed.problems:
            troubled += 1
            assert all("set again" in problem.message for problem in parsed.problems), (path, parsed.problems)
        words = "".join(line for line in text.splitlines() if not line.lstrip().startswith(("#", "//"))).strip()
        if len(words) > 4:
            assert parsed.entries, path
    assert read >= 500
    assert troubled <= 1


def test_of_a_broken_file_every_key_is_read_or_named_in_a_problem() -> None:
    broken = [(path, text) for path, _, text in files("yaml") if path.parent.name == "yaml-error"]
    assert len(broken) >= 20
    for path, text in broken:
        parsed = parse(text, "yaml")
        index = LineIndex(text)
        assert 1 <= len(parsed.problems) <= 8, path
        explained = {index.line_of(entry.key.start) for entry in parsed.entries if entry.key is not None}
        scalars = [entry.span for entry in parsed.entries if entry.value not in (MAPPING, LIST)]
        for span in [*scalars, *(problem.span for problem in parsed.problems)]:
            explained |= set(range(index.line_of(span.start), index.line_of(span.end) + 1))
        for number, line in enumerate(text.splitlines()):
            if re.match(r"\s*[\w.]+:(\s|$)", line):
                assert number in explained, (path, line)


def test_json_and_toml_are_read_as_the_standard_library_reads_them() -> None:
    compared = 0
    for path, language, text in files("json", "toml"):
        try:
            expected = dict(flat(json.loads(text) if language == "json" else tomllib.loads(text)))
        except ValueError:
            continue
        read = values(text, language)
        if () in expected or not expected:
            continue
        for where, value in expected.items():
            if isinstance(value, date | datetime | time_of_day):
                continue
            top_of_list = isinstance(value, tuple) and len(where) == 0
            assert top_of_list or same(read[where], value) or read[where] is UNKNOWN, (path, where)
        compared += 1
    assert compared >= 80


def test_yaml_written_in_json_is_read_alike_by_both_readers() -> None:
    compared = 0
    for path, _, text in files("json"):
        try:
            json.loads(text)
        except ValueError:
            continue
        as_json, as_yaml = (
            [(entry.path, entry.span, entry.key) for entry in parse(text, language).entries]
            for language in ("json", "yaml")
        )
        assert as_json == as_yaml, path
        compared += 1
    assert compared >= 50


def test_a_config_of_300_lines_takes_milliseconds_and_one_of_5000_lines_a_tenth_of_a_second() -> None:
    block = "key_{}:\n  lr: 1e-3\n  name: foo bar # comment\n  list: [1, 2, 3]\n  sub:\n    x: 'a'\n"
    for lines, limit in ((300, 0.05), (5_000, 0.5)):  # five times what it takes on an idle machine
        text = "".join(block.format(index) for index in range(lines // 6))
        parsed = parse(text, "yaml")
        assert len(parsed.entries) == lines // 6 * 6
        assert {entry.value for entry in parsed.entries} >= {0.001, "foo bar", (1, 2, 3), "a", MAPPING}
        assert LIST not in {entry.value for entry in parsed.entries}
        assert least_seconds(partial(parse, text, "yaml"), limit) < limit
