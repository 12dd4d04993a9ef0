"""No text takes the parser down, whatever it is: arbitrary ones, mutated ones, hostile ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_checks import UNKNOWN, check_invariants, values
from test_syntax_prefixes import SAMPLES

from stopwatch import least_seconds
from tried.draft.entries import ParsedConfig
from tried.draft.syntax import parse

LANGUAGES = sorted(SAMPLES)

# What means something in one of the languages, so that arbitrary texts get past the first character.
FRAGMENTS = [
    *"[]{}(),:;=-?|>&*!#%@`\"'\\/.<~+$ \t\n\r\0",
    *("- ", ": ", "? ", "a: ", "a = ", "A=1\n", "--- ", "...\n", "<<: ", "&a ", "*a ", "!t ", "|-\n", "  ", "\r\n"),
    *("[[", "]]", '"""', "'''", "{{", "${", "$(", "}}", "//", "/*", "*/", "**", "def f():\n", "class A:\n", "    "),
    *("dict(", "if x; then\n", "fi\n", "<<EOF\n", "1e-3", "0x1", "true", "NaN", "os.environ.get(", "export ", "é"),
    *("\ufeff", "\u2028", "\x85", "\ud800", "😀", "日本", "\x01"),
]
texts = st.lists(st.sampled_from(FRAGMENTS) | st.text(max_size=3), max_size=60).map("".join)


def check(text: str, language: str) -> ParsedConfig:
    parsed = parse(text, language)
    check_invariants(parsed, text)
    assert not any("report it" in problem.message for problem in parsed.problems), parsed.problems
    return parsed


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=texts)
@settings(max_examples=150, deadline=None)
def test_arbitrary_texts(language: str, text: str) -> None:
    check(text, language)


@pytest.mark.parametrize("language", LANGUAGES)
@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_mutated_files(language: str, data: st.DataObject) -> None:
    text = SAMPLES[language]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text = text[:start] + data.draw(st.sampled_from(["", *FRAGMENTS])) + text[start + length :]
    assert check(text, language) == parse(text, language)  # the same text gives the same answer


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "\0",
        "\0\0\0a: 1\0",
        "\ufeff",
        "\ufeff\ufeff",
        "\ud800\udc00\ud800",
        "\x7fELF\x02\x01\x01\0\0\0",
        "\r\r\n\n\r",
        " " * 50_000,
        "\t" * 50_000,
        "\\" * 10_000,
        "'" * 9_999,
        '"' * 9_999,
        "#" * 50_000,
        "\u2028" * 1_000,
        "x" * 100_000,
        "9" * 100_000,
        "a: " + "9" * 10_000,
        "a = " + "9" * 10_000,
    ],
)
def test_odd_texts(language: str, text: str) -> None:
    check(text, language)


MANY = 10_000
NESTED = {
    "yaml": [
        "a:\n  " + "- " * MANY + "x",
        "a: " + "[" * MANY,
        "a: " + "{a: " * MANY,
        "? " * MANY,
        ": " * MANY,
        "a: 'x' " + "- " * MANY,
    ],
    "json": ["[" * MANY + "]" * MANY, '{"a":' * MANY, '[{"a":' * MANY],
    "toml": [
        "a = " + "[" * MANY + "]" * MANY,
        "a = " + "{a=" * MANY,
        "a" + ".a" * MANY + " = 1",
        "[a" + ".a" * MANY + "]\n[b]",
    ],
    "python": [
        "x = " + "(" * MANY,
        "x = " + "[" * MANY + "]" * MANY,
        "x = " + "f(a=" * MANY,
        "x = " + "-" * MANY + "1",
        "x = a" + ".b" * MANY,
        "x" + ".y" * MANY + " = 1",
        "x = 1" + " + 1" * MANY,
    ],
    "env": ["A=" + "$(" * MANY, "A=" + "${B:-" * MANY, "(" * MANY, 'A="' + "$(" * MANY, "if x; then\n" * MANY],
}


@pytest.mark.parametrize(
    ("language", "nested"), [(language, text) for language, texts in NESTED.items() for text in texts]
)
def test_ten_thousand_levels(language: str, nested: str) -> None:
    """Deep nesting is not read, quickly, and what stands on other lines is."""
    assignment = {"yaml": "last: 1", "json": "", "toml": "last = 1", "python": "last = 1", "env": "last=1"}[language]
    parsed = check(f"{nested}\n{assignment}\n", language)
    assert len(parsed.entries) < 1_000
    assert max((len(entry.path) for entry in parsed.entries), default=0) <= 201
    if assignment and "if x" not in nested:
        assert "last" in {entry.path[-1] for entry in parsed.entries}


def test_a_thousand_levels_of_indentation() -> None:
    yaml = "".join(" " * depth + "a:\n" for depth in range(1_000)) + "last: 1\n"
    assert values(yaml, "yaml")[("last",)] == 1
    python = "".join("  " * depth + f"class A{depth}:\n" for depth in range(1_000)) + "last = 1\n"
    assert values(python, "python")[("last",)] == 1
    check(yaml, "yaml")
    check(python, "python")


def test_two_hundred_levels_are_read() -> None:
    for language, opening, closing in (("json", '{"a":', "}"), ("yaml", "{a: ", "}")):
        text = opening * 150 + "1" + closing * 150
        assert values(text, language) == {("a",) * 150: 1}
        deeper = check(opening * 300 + "1" + closing * 300, language)
        assert deeper.entries[-1].value is UNKNOWN
        assert ["more than 200 levels" in problem.message for problem in deeper.problems] == [True]
    indented = "".join(" " * depth + "a:\n" for depth in range(150)) + " " * 150 + "b: 1\n"
    assert values(indented, "yaml") == {("a",) * 150 + ("b",): 1}


@pytest.mark.parametrize(
    "text",
    [
        "a:\n" + "  - 1\n" * 40_000 + "last: 1\n",
        "a: |\n" + "  words\n" * 40_000 + "last: 1\n",
        "a:\n" + "".join(f"  k{index}: 1\n" for index in range(35_000)) + "last: 1\n",
        "".join(f"k{index}: 1\n" for index in range(35_000)) + "last: 1\n",
        "last: 1\n" + "b: [" + "1, " * 40_000 + "]\n",
    ],
)
def test_yaml_longer_than_the_grammar_counts(text: str) -> None:
    parsed = check(text, "yaml")
    assert ("last",) in {entry.path for entry in parsed.entries}
    assert not parsed.problems
    lists = [entry.value for entry in parsed.entries if isinstance(entry.value, tuple)]
    assert all(len(value) == 40_000 for value in lists)


# Texts that took a grammar, or a reader of ours, quadratic time or more while this was written.
HOSTILE = {
    "yaml": [
        *("a: [\n", 'a: "\n', "- [a\n", "\n  *a ", "a: b: c\n", "&a ", "<<: *a\n", "k: 'x\n", "!a!a"),
        "a" + " " * 99 + "\n",
    ],
    "json": ['{"a":[', '"a": {\n', '{"a": 1}}\n', "/*", '"\n', "'x", "}]"],
    "toml": ["a=[\n", 'a="""\n', "a = b\n", "[a\n", "a.b.c = {\n", "'''\n"],
    "python": [
        *(",-", "in +", "**-,**1", "lr=0.1", "X = [\n", 'X = """\n', "class A:\n  x = (\n", "@a\n", "lambda ", ":+"),
        *("add_argument(", "x = [\n  1 2\n]\n"),
    ],
    "env": [")", "|", "<[[ `", "<<EOF\n", "case x in\n", "\\\n", 'A="a\n', "A=(\n", "f() {\n", "<<A1 "],
}


@pytest.mark.parametrize(
    ("language", "piece"), [(language, piece) for language, pieces in HOSTILE.items() for piece in pieces]
)
def test_hostile_texts_take_linear_time(language: str, piece: str) -> None:
    """Twelve times the text takes nowhere near 144 times the time: seconds would be minutes."""
    small, large = piece * (2_500 // len(piece)), piece * (30_000 // len(piece))
    limit = min(8.0, max(0.5, 48 * least_seconds(lambda: check(small, language))))
    assert least_seconds(lambda: check(large, language), limit) < limit


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("python", "-x = 1\n#a.b" * 10_000 + "lambda "),
        ("python", "def f():\n" + "  -x = 1\n  #a.b" * 8_000 + "lambda "),
        ("python", ("x = 1" + ",-" * 200 + "\n") * 250),
        ("env", ("echo " + ")" * 5_000 + "\n") * 20),
        ("env", ("echo " + "<[[ `" * 1_000 + "\n") * 20),
    ],
)
def test_a_hundred_kilobytes_of_slow_steps_take_a_second_or_two(language: str, text: str) -> None:
    # Twice what it takes, for slow machines; it took 9 s and more.
    assert least_seconds(lambda: check(text, language), 4) < 4


def test_a_long_script_is_read_whole_whatever_stands_at_the_margin() -> None:
    """In groups of statements: none is cut in brackets, before an `else`, after a backslash or in a text."""
    filler = "def helper(a):\n    return a.b(a)\n\n\n" * 30
    parts = [
        "xs{n} = [\n1,\n2,\n]\n",
        "if a:\n    pass\nelse:\n    pass\n",
        "y{n} = 1 + \\\n2\n",
        'text{n} = """\nz = 1\n"""\n',
        "lr{n} = 0.5\n",
    ]
    text = "".join(filler + part.replace("{n}", str(n)) for n in range(40) for part in parts)
    parsed = check(text, "python")
    assert len(text) > 200_000
    assert not parsed.problems
    found = {str(entry.path[0]): entry.value for entry in parsed.entries}
    assert len(found) == 4 * 40
    assert {found[f"xs{n}"] for n in range(40)} == {(1, 2)}
    assert {found[f"lr{n}"] for n in range(40)} == {0.5}


def test_a_long_script_that_is_broken_once_loses_only_that_place() -> None:
    constants = [f"a{n} = {n}\n" + f"def f{n}():\n    return {n}\n" * 20 for n in range(200)]
    constants[100] = "a100 = = 3\n"
    text = "".join(constants)
    parsed = check(text, "python")
    assert len(text) > 90_000
    assert {entry.path[0]: entry.value for entry in parsed.entries} == {
        f"a{n}": UNKNOWN if n == 100 else n for n in range(200)
    }
    assert len(parsed.problems) == 1


@pytest.mark.parametrize(
    ("language", "line", "lines"),
    [("toml", "k{n} = {n}", 60_000), ("python", "k{n} = {n}", 20_000), ("yaml", "k{n}: {n}", 30_000)],
)
def test_a_long_valid_text_is_read_to_its_end(language: str, line: str, lines: int) -> None:
    text = "".join(line.replace("{n}", str(n)) + "\n" for n in range(lines))
    parsed = check(text, language)
    assert not parsed.problems
    assert len(parsed.entries) == lines
    assert parsed.entries[-1].value == lines - 1


@pytest.mark.parametrize(("language", "broken"), [("toml", "a=[\n"), ("python", "X = [\n")])
def test_where_all_is_broken_the_rest_is_given_up_and_said(language: str, broken: str) -> None:
    text = "first = 1\n" + broken * 100_000
    parsed = check(text, language)
    assert parsed.entries[0].value == 1
    assert [p.span.end for p in parsed.problems if "the rest of it is not read" in p.message] == [len(text)]
