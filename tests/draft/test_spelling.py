"""Values written into configs: by hand for each language, and for any value that it reads back as what was meant."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntax_checks import entry_at, same, values

from tried.draft.spelling import Replacement, Value, is_open_quote, recorded_value, replacement, spelled, value_place
from tried.draft.values import UNKNOWN, comparable
from tried.text import Span


@pytest.mark.parametrize(
    ("language", "value", "written", "expected"),
    [
        ("yaml", 0.01, "0.1", "0.01"),
        ("yaml", 1e-05, "", "1.0e-05"),
        ("yaml", 64, "", "64"),
        ("yaml", True, "false", "true"),
        ("yaml", True, "False", "True"),
        ("yaml", False, "TRUE", "FALSE"),
        ("yaml", None, "", "null"),
        ("yaml", "adamw", "sgd", "adamw"),
        ("yaml", "two words", "", "two words"),
        ("yaml", "0x1F", "", '"0x1F"'),
        ("yaml", "1:30", "", '"1:30"'),
        ("yaml", "yes", "", '"yes"'),
        ("yaml", "null", "", '"null"'),
        ("yaml", "a: b", "", '"a: b"'),
        ("yaml", "#5", "", '"#5"'),
        ("yaml", "it's", "'its'", "'it''s'"),
        ("yaml", 0.01, '"0.1"', '"0.01"'),
        ("yaml", 0.01, '"0.', '"0.01"'),
        ("yaml", (1, 2.5, "a,b"), "", '[1, 2.5, "a,b"]'),
        ("json", "adamw", "", '"adamw"'),
        ("json", "adamw", "'sgd'", "'adamw'"),
        ("json", 1e-05, "0.1", "1e-05"),
        ("json", False, "", "false"),
        ("json", 'say "x"', "", '"say \\"x\\""'),
        ("toml", "adamw", "'sgd'", "'adamw'"),
        ("toml", "it's", "'sgd'", '"it\'s"'),
        ("toml", (True, False), "", "[true, false]"),
        ("python", "adamw", "'sgd'", "'adamw'"),
        ("python", True, "False", "True"),
        ("python", None, "", "None"),
        ("python", (1,), "(1, 2)", "(1,)"),
        ("python", (1, 2), "[]", "[1, 2]"),
        ("env", 0.01, "", "0.01"),
        ("env", "a b", "", "'a b'"),
        ("env", "it's $5", "", '"it\'s \\$5"'),
        ("env", "adamw", '"sgd"', '"adamw"'),
    ],
)
def test_how_a_value_is_written(language: str, value: Value, written: str, expected: str) -> None:
    assert spelled(value, language, written) == expected


@pytest.mark.parametrize(
    ("language", "value"),
    [
        ("yaml", math.nan),
        ("json", math.inf),
        ("toml", None),
        ("env", None),
        ("env", (1, 2)),
        ("env", "0x1F"),
        ("yaml", "two\nlines"),
        ("python", "\x1b[31m"),
        ("toml", "${oc.env:X}"),
        ("yaml", "???"),
    ],
)
def test_what_is_not_written(language: str, value: Value) -> None:
    assert spelled(value, language) is None


@pytest.mark.parametrize(
    ("language", "text", "path", "value", "after"),
    [
        ("yaml", "lr: 0.1  # as said\nb: 2\n", ("lr",), 0.01, "lr: 0.01  # as said\nb: 2\n"),
        ("yaml", "lr:\nb: 2\n", ("lr",), 0.01, "lr: 0.01\nb: 2\n"),
        ("yaml", "lr:   # as said\n", ("lr",), 0.01, "lr: 0.01  # as said\n"),
        ("yaml", "a: {lr: , b: 2}\n", ("a", "lr"), 0.01, "a: {lr: 0.01, b: 2}\n"),
        ("yaml", "a: [1, 2]\n", ("a",), (3,), "a: [3]\n"),
        ("json", '{"lr": 0.1, "b": 2}', ("lr",), 0.01, '{"lr": 0.01, "b": 2}'),
        ("json", '{"lr":, "b": 2}', ("lr",), 0.01, '{"lr": 0.01, "b": 2}'),
        ("json", '{"lr": "0.1"}', ("lr",), 0.01, '{"lr": "0.01"}'),
        ("toml", "lr = 0.1\n[a]\nb = 1\n", ("lr",), 0.01, "lr = 0.01\n[a]\nb = 1\n"),
        ("toml", "lr =\nb = 1\n", ("lr",), 0.01, "lr = 0.01\nb = 1\n"),
        ("toml", "lr = # c\nb = 1\n", ("lr",), 0.01, "lr = 0.01  # c\nb = 1\n"),
        ("python", "o = dict(lr=0.1, b=2)\n", ("o", "lr"), 0.01, "o = dict(lr=0.01, b=2)\n"),
        ("python", "x = float('0.1')\n", ("x",), 0.01, "x = float('0.01')\n"),
        ("env", "LR=0.1\nB=2\n", ("LR",), 0.01, "LR=0.01\nB=2\n"),
        ("env", "#!/bin/sh\nLR=${LR:-0.1}\npython t.py\n", ("LR",), 0.01, "#!/bin/sh\nLR=${LR:-0.01}\npython t.py\n"),
        ("env", "LR=${LR:-0.1}\n", ("LR",), 0.01, "LR=${LR:-0.01}\n"),
        ("env", "#!/bin/sh\nLR= B=2 python t.py\n", ("LR",), 0.01, "#!/bin/sh\nLR=0.01 B=2 python t.py\n"),
    ],
)
def test_a_value_is_replaced(language: str, text: str, path: tuple[str, ...], value: Value, after: str) -> None:
    made = replacement(text, language, entry_at(text, language, *path), value)
    assert made is not None
    assert made.applied(text) == after


@pytest.mark.parametrize(
    ("language", "text", "path"),
    [
        ("yaml", "lr: &x 0.1\nb: *x\n", ("lr",)),  # the other entry would change with it
        ("yaml", "lr: &x 0.1\nb: *x\n", ("b",)),
        ("yaml", "lr: |\n  0.1\n", ("lr",)),
        ("yaml", "lr: !ref <rate>\n", ("lr",)),
        ("yaml", "a:\n  - 1\n  - 2\n", ("a",)),
        ("yaml", "a: {b: 1}\n", ("a",)),
        ("python", "p.add_argument('--lr', action='store_true')\n", ("lr",)),
        ("toml", "lr = [\n 1,\n]\n", ("lr",)),
    ],
)
def test_what_cannot_be_replaced(language: str, text: str, path: tuple[str, ...]) -> None:
    assert replacement(text, language, entry_at(text, language, *path), 0.01) is None


def test_an_open_quote_ends_with_its_word() -> None:
    text = '{"opt": "ad, x\n "b": 2}'
    assert value_place(text, "json", entry_at(text, "json", "opt")) == Span(8, 11)
    assert is_open_quote('"ad')
    assert is_open_quote('"')
    assert not is_open_quote('""')
    assert not is_open_quote("'ad'")


@pytest.mark.parametrize(
    ("recorded", "value"),
    [
        (0.01, 0.01),
        (64.0, 64.0),
        ("0.001", 0.001),
        ("1e-3", 0.001),
        ("64", 64),
        ("yes", True),
        ("False", False),
        ("AdamW", "AdamW"),
        ("[1, 2]", (1, 2)),
        ("a,b", "a,b"),
    ],
)
def test_how_trackers_record_a_value(recorded: object, value: Value) -> None:
    assert same(recorded_value(recorded, comparable(recorded)), value)


def test_a_list_is_kept_as_it_is_shown() -> None:
    assert recorded_value("[cosine, linear]", comparable(["cosine", "linear"])) == ("cosine", "linear")
    assert recorded_value("[a, b]", comparable(["a, b", "c"])) is None


def test_what_was_cut_off_is_not_known() -> None:
    whole = "a long path " * 10
    assert recorded_value(whole[:59] + "…", comparable(whole)) is None
    assert recorded_value({"a": 1}, UNKNOWN) is None


# Any value, in any place of any language

TEMPLATES = {
    "yaml": ("a: 1\nkey: {}\nz: [2, x]\n", "a: 1\no: {{key: {}, z: 2}}\n", "o:\n  - key: {}  # said\n    z: 2\n"),
    "json": ('{{"a": 1, "key": {}, "z": [2, "x"]}}', '{{\n "o": {{\n  "key": {}\n }},\n "z": 2\n}}\n'),
    "toml": ("a = 1\nkey = {}\n[z]\nb = 2\n", 'o = {{ key = {}, z = "x" }}\n'),
    "python": ("a = 1\nkey = {}\nz = [2, 'x']\n", "o = dict(a=1, key={}, z=2)\n", "class C:\n    key: object = {}\n"),
    "env": ("a=1\nkey={}\nz=2\n", "#!/bin/bash\nexport a=1\nkey={} z=x python train.py\n"),
}
BEFORE = {
    "yaml": ("0.1", "adamw", "'x'", '"0.1"', "true", "[1]"),
    "json": ("0.1", '"x"', "true", "null", "[1, 2]"),
    "toml": ("0.1", '"x"', "'x'", "true", "[1]"),
    "python": ("0.1", '"x"', "'x'", "True", "(1, 2)", "None"),
    "env": ("0.1", "adamw", '"x"', "'x'", "true"),
}
PLACES = [(language, template) for language, all_of in TEMPLATES.items() for template in all_of]
SCALARS = st.one_of(
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.text(max_size=12),
    st.sampled_from(
        ["yes", "~", "0o14", "1_0", "2020-01-01", "a #b", "- x", "!t", "%y", "@z", "$HOME", "it's", '"', "\\"]
    ),
)


@given(
    place=st.sampled_from(PLACES),
    before=st.integers(0, 5),
    value=SCALARS | st.lists(SCALARS, min_size=2, max_size=3).map(tuple),
)
def test_any_value_reads_back_and_nothing_else_changes(place: tuple[str, str], before: int, value: Value) -> None:
    language, template = place
    old = BEFORE[language][before % len(BEFORE[language])]
    text = template.format(old)
    entry = next(entry for path in paths(text, language) for entry in [entry_at(text, language, *path)])
    written = spelled(value, language, old)
    if written is None:
        assert is_hard(value, language, old)
        return
    after = Replacement(entry.span, written).applied(text)
    now, then = values(after, language), values(text, language)
    key = entry.path
    if old[:1] in ("'", '"') and not isinstance(value, str) and language != "env":
        assert now[key] == spelled(value, language, "")
    else:
        assert same(now[key], value) or (language == "env" and comparable(now[key]) == comparable(value))
    assert {path: one for path, one in now.items() if path != key} == {p: one for p, one in then.items() if p != key}


def paths(text: str, language: str) -> list[tuple[str | int, ...]]:
    return [path for path in values(text, language) if path[-1] == "key"]


def is_hard(value: Value, language: str, old: str) -> bool:
    """What may be left unwritten."""
    if isinstance(value, tuple):
        return language == "env" or old[:1] in ("'", '"') or any(is_hard(item, language, "") for item in value)
    if isinstance(value, str):
        reads_otherwise = language == "env" and not isinstance(comparable(value), str)
        based = value[:2].lower() in ("0x", "0o", "0b") or "_" in value
        return (
            not value.isprintable()
            or "${" in value
            or value == "???"
            or reads_otherwise
            or (language == "env" and based)
        )
    return False
