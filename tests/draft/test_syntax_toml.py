"""TOML: tables, places, and what is still read where a statement is broken."""

from __future__ import annotations

import math
import tomllib
from datetime import date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntax_checks import LIST, MAPPING, UNKNOWN, comments, complaints, entry_at, messages, places, same, values
from test_syntax_json import flat

from tried.draft.entries import EntryValue
from tried.draft.syntax import parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1),
        ("-1_000", -1000),
        ("0xff", 255),
        ("1e-3", 0.001),
        ("-inf", -math.inf),
        ("+nan", math.nan),
        ("true", True),
        ('"a\\u00e9\\n"', "aé\n"),
        (r"'C:\x'", r"C:\x"),
        ('"""\nfirst\\\n   second\n"""', "firstsecond\n"),
        ("'''\na\nb'''", "a\nb"),
        ('"${name}"', UNKNOWN),
        ("1979-05-27T07:32:00Z", "1979-05-27T07:32:00Z"),
        ("1979-05-27", "1979-05-27"),
        ("07:32:00", "07:32:00"),
        ("[1, 2, # two\n 3,\n]", (1, 2, 3)),
        ("[]", ()),
    ],
)
def test_values(written: str, value: EntryValue) -> None:
    text = f"key = {written}\nlast = 1\n"
    read = values(text, "toml")
    assert same(read[("key",)], value)
    assert read[("last",)] == 1
    assert not messages(text, "toml")


def test_tables_dotted_keys_and_arrays_of_tables() -> None:
    text = (
        "a.b = 1\n"
        "[model]  # the net\n"
        "depth = 12\n"
        "norm.eps = 1e-5\n"
        "[model.head]\n"
        'kind = "mlp"\n'
        "[[runs]]\n"
        "seed = 1\n"
        "[[runs]]\n"
        "seed = 2\n"
        "[runs.opt]\n"
        "lr = 0.1\n"
        "[x.'y z']\n"
        "inline = {p = 1, q.r = [2]}\n"
    )
    assert values(text, "toml") == {
        ("a", "b"): 1,
        ("model", "depth"): 12,
        ("model", "norm", "eps"): 1e-5,
        ("model", "head", "kind"): "mlp",
        ("runs", 0, "seed"): 1,
        ("runs", 1, "seed"): 2,
        ("runs", 1, "opt", "lr"): 0.1,
        ("x", "y z", "inline", "p"): 1,
        ("x", "y z", "inline", "q", "r"): (2,),
    }
    shown = places(text, "toml")
    assert shown[("a",)] == ("a", "a.b = 1")
    assert shown[("a", "b")] == ("b", "1")
    assert shown[("model", "head")] == ("head", '[model.head]\nkind = "mlp"')
    assert shown[("model",)][0] == "model"
    assert shown[("model",)][1].startswith("[model]")
    assert shown[("model",)][1].endswith('"mlp"')
    assert shown[("runs", 0)] == (None, "[[runs]]\nseed = 1")
    assert shown[("runs", 1)] == (None, "[[runs]]\nseed = 2\n[runs.opt]\nlr = 0.1")
    assert shown[("x", "y z")] == ("'y z'", "[x.'y z']\ninline = {p = 1, q.r = [2]}")
    assert entry_at(text, "toml", "runs").value is LIST
    assert entry_at(text, "toml", "model").value is MAPPING


def test_entries_stand_in_the_order_of_the_text() -> None:
    text = "[a]\nx = 1\n[b]\ny = 2\n[a.c]\nz = 3\n"
    assert [entry.path for entry in parse(text, "toml").entries] == [
        ("a",),
        ("a", "x"),
        ("b",),
        ("b", "y"),
        ("a", "c"),
        ("a", "c", "z"),
    ]


def test_comments() -> None:
    text = "# top\na = 1 # of a\n[t] # of t\n  # own\nb = [ # in\n  1,\n]\n"
    assert comments(text, "toml") == [
        ("top", "# top", True),
        ("of a", "# of a", False),
        ("of t", "# of t", False),
        ("own", "# own", True),
        ("in", "# in", False),
    ]


@pytest.mark.parametrize(
    ("broken", "key"),
    [
        ("key = ", "key"),
        ("key = word", "key"),
        ('key = "open', "key"),
        ("key = [1, 2", "key"),
        ("key = 1 2", "key"),
        ("key", None),
        ("= 3", None),
    ],
)
def test_a_broken_statement_costs_itself_alone(broken: str, key: str | None) -> None:
    text = f"before = 1\n{broken}\nafter = [2, 3]\n[table]\nm = '''\nx = 1\n'''\n"
    expected: dict[tuple[str | int, ...], EntryValue] = {
        ("before",): 1,
        ("after",): (2, 3),
        ("table", "m"): "x = 1\n",
    }
    if key:
        expected[(key,)] = UNKNOWN
    assert values(text, "toml") == expected
    assert [complaint.strip() for complaint in complaints(text, "toml")] == [broken.strip()]


def test_a_half_typed_header_opens_a_table() -> None:
    text = "a = 1\n[opt\nlr = 0.1\n[done]\nb = 2\n"
    assert values(text, "toml") == {("a",): 1, ("opt", "lr"): 0.1, ("done", "b"): 2}
    assert complaints(text, "toml") == ["[opt"]
    assert places(text, "toml")[("opt",)][0] == "opt"


def test_inline_tables_of_toml_1_1() -> None:
    text = "a = {x = 1,\n  y = 2, }\nb = 3\n"
    assert values(text, "toml") == {("a", "x"): 1, ("a", "y"): 2, ("b",): 3}
    assert not messages(text, "toml")


def test_twice() -> None:
    assert values("a = 1\na = 2\n", "toml") == {("a",): 2}
    assert messages("a = 1\na = 2\n", "toml") == ["`a` is set again below; the last one counts"]
    text = "[a]\nx = 1\n[b]\n[a]\ny = 2\n"
    assert values(text, "toml") == {("a", "x"): 1, ("a", "y"): 2}
    assert messages(text, "toml") == ["the table `a` is given twice; both are read"]


def test_characters_beyond_ascii_and_line_ends() -> None:
    text = '# 注\r\n"日" = "😀" # x\r\nb = 1\r\n'
    assert places(text, "toml") == {("日",): ('"日"', '"😀"'), ("b",): ("b", "1")}
    assert comments(text, "toml") == [("注", "# 注", True), ("x", "# x", False)]


keys = st.sampled_from(["a", "b", "c-d", "e_f", "1", '"g h"', "'i.j'"])
literals = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False).map(repr),
    st.sampled_from(["true", "false", "1979-05-27", "07:32:00", "1979-05-27T07:32:00Z", '"x"', "'\\'", '"""a\nb"""']),
    st.lists(st.integers().map(str), max_size=3).map(lambda items: "[" + ", ".join(items) + "]"),
    st.dictionaries(keys, st.integers().map(str), max_size=3).map(
        lambda table: "{" + ", ".join(f"{key} = {value}" for key, value in table.items()) + "}"
    ),
)
tables = st.dictionaries(
    st.lists(keys, min_size=1, max_size=3).map(".".join), st.dictionaries(keys, literals, max_size=3), max_size=4
)


@given(tables)
def test_what_the_standard_library_reads_is_read_alike(tables: dict[str, dict[str, str]]) -> None:
    text = "".join(
        f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in members.items())
        for name, members in tables.items()
    )
    try:
        expected = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    read = values(text, "toml")
    written = dict(flat(expected))
    assert read.keys() == written.keys()
    for path, value in written.items():
        if isinstance(value, date | datetime | time):
            assert str(read[path])[:5] == str(value)[:5]
        else:
            assert same(read[path], value), path
