"""JSON and JSONC: values, places, comments, and half-typed files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntax_checks import LIST, MAPPING, UNKNOWN, comments, complaints, entry_at, messages, places, same, values

from tried.draft.entries import EntryValue, Path
from tried.draft.syntax import parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1),
        ("-0.5e-3", -0.0005),
        ("12345678901234567890123", 12345678901234567890123),
        ("1E400", math.inf),
        ("NaN", math.nan),
        ("-Infinity", -math.inf),
        ("true", True),
        ("null", None),
        ("None", None),
        ('"a\\u00e9\\n\\ud83d\\ude00"', "aé\n😀"),
        ('"tab\tinside"', "tab\tinside"),
        (r'"C:\data"', r"C:\data"),
        ("'it\\'s'", "it's"),
        ('"${name}"', UNKNOWN),
        ('"???"', "???"),
        ("[]", ()),
        ("[1, 2, 3,]", (1, 2, 3)),
        ('[1, "a", null, true]', (1, "a", None, True)),
        ("0x10", 16),
    ],
)
def test_values(written: str, value: EntryValue) -> None:
    parsed = parse(f'{{"key": {written}}}', "json")
    assert [entry.path for entry in parsed.entries] == [("key",)]
    assert same(parsed.entries[0].value, value)
    assert not parsed.problems


def test_places() -> None:
    text = '{\n  "a": {"b": [1, {"c": "x"}]},\n  "😀": [2, 3],\n  bare: {}\n}\n'
    assert places(text, "json") == {
        ("a",): ('"a"', '{"b": [1, {"c": "x"}]}'),
        ("a", "b"): ('"b"', '[1, {"c": "x"}]'),
        ("a", "b", 0): (None, "1"),
        ("a", "b", 1): (None, '{"c": "x"}'),
        ("a", "b", 1, "c"): ('"c"', '"x"'),
        ("😀",): ('"😀"', "[2, 3]"),
        ("bare",): ("bare", "{}"),
    }
    assert entry_at(text, "json", "a").value is MAPPING
    assert entry_at(text, "json", "a", "b").value is LIST
    assert entry_at(text, "json", "bare").value is MAPPING


def test_a_list_at_the_root_has_items() -> None:
    assert values('[1, {"a": 2}]', "json") == {(0,): 1, (1, "a"): 2}


def test_comments() -> None:
    text = '// top\n{\n  "a": 1, // of a\n  /* a\n   * block */\n  "url": "http://x", /* x */ "b": 2 # hash\n}\n'
    assert comments(text, "json") == [
        ("top", "// top", True),
        ("of a", "// of a", False),
        ("a\nblock", "/* a\n   * block */", True),
        ("x", "/* x */", False),
        ("hash", "# hash", False),
    ]
    assert values(text, "json") == {("a",): 1, ("url",): "http://x", ("b",): 2}
    assert not messages(text, "json")


def test_of_a_key_set_twice_the_last_counts() -> None:
    text = '{"a": 1, "b": 2, "a": {"c": 3}}'
    assert values(text, "json") == {("b",): 2, ("a", "c"): 3}
    assert messages(text, "json") == ["`a` is set again below; the last one counts"]


def test_a_key_without_value_does_not_take_the_next_key_for_it() -> None:
    text = '{\n  "lr": 0.1,\n  "depth":\n  "width": 5,\n  "x" \n}'
    assert values(text, "json") == {("lr",): 0.1, ("depth",): UNKNOWN, ("width",): 5}
    assert complaints(text, "json") == ['"depth"', '"x"']


def test_lost_commas_and_colons() -> None:
    assert values('{"a": 1 "b": 2\n"c": [1 2]}', "json") == {("a",): 1, ("b",): 2, ("c",): (1, 2)}
    assert values('{"a" 1, "b": 2}', "json") == {("b",): 2}


def test_an_unclosed_bracket_ends_where_the_indentation_says() -> None:
    text = '{\n  "a": {\n    "x": 1,\n    "y": [1, 2\n  "b": 2,\n  "c": {"z": 1}\n}\n'
    assert values(text, "json") == {("a", "x"): 1, ("a", "y"): UNKNOWN, ("b",): 2, ("c", "z"): 1}
    assert messages(text, "json") == ["`{` is never closed", "`[` is never closed"]
    assert entry_at(text, "json", "a").span.of(text).endswith("[1, 2")


def test_an_unclosed_string_ends_with_its_line() -> None:
    text = '{\n  "a": "open,\n  "b": 2\n}'
    assert values(text, "json") == {("a",): UNKNOWN, ("b",): 2}
    assert complaints(text, "json") == ['"open,']


def test_lost_and_spare_brackets_around_everything() -> None:
    assert values('"a": 1,\n"b": 2', "json") == {("a",): 1, ("b",): 2}
    assert values('{"a": 1}, "b": 2}', "json") == {("a",): 1, ("b",): 2}
    assert values('{"a": [1]], "b": 2}', "json") == {("a",): (1,), ("b",): 2}
    assert values('json\n{"a": 1}', "json") == {("a",): 1}
    assert values('{"a": 1}\n{"a": 2}', "json") == {("a",): 1}


def test_a_word_that_is_no_value_is_unknown() -> None:
    text = '{"a": tru, "b": [1, fals], "c": 3}'
    assert values(text, "json") == {("a",): UNKNOWN, ("b",): UNKNOWN, ("c",): 3}
    assert complaints(text, "json") == ["tru", "fals"]


scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
documents = st.dictionaries(
    st.text(),
    st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)),
    max_size=5,
)


def flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, EntryValue]]:
    """What entries an independent reading of the same text would have."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield from flat(member, (*path, key))
    elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        for index, item in enumerate(value):
            yield from flat(item, (*path, index))
    elif isinstance(value, list):
        yield path, UNKNOWN if any(is_reference(item) for item in value) else tuple(value)
    else:
        yield path, UNKNOWN if is_reference(value) else value


def is_reference(value: object) -> bool:
    return isinstance(value, str) and "${" in value.replace("\\${", "")


@given(documents, st.sampled_from([None, 0, 1, 4]), st.booleans(), st.sampled_from(["json", "yaml"]))
def test_what_the_standard_library_wrote_is_read_as_it_reads_it(
    document: dict[str, Any], indent: int | None, ascii_only: bool, language: str
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    read = values(text, language)
    expected = dict(flat(json.loads(text)))
    if language == "yaml":
        # NaN and Infinity are words there, and so are control characters and lone surrogates no text.
        expected = {path: value for path, value in expected.items() if is_plain(value)}
        read = {path: value for path, value in read.items() if path in expected}
        if not all(part.isprintable() for path in expected for part in path if isinstance(part, str)):
            return
    assert read.keys() == expected.keys()
    for path, value in expected.items():
        assert same(read[path], value), path


def is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(is_plain(item) for item in value)
    return value == value and value not in (math.inf, -math.inf) and (not isinstance(value, str) or value.isprintable())
