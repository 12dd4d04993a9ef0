"""YAML: values, places, and what is still read where a file is broken."""

from __future__ import annotations

import math
import time

import pytest
from syntax_checks import (
    LIST,
    MAPPING,
    UNKNOWN,
    check_invariants,
    comments,
    complaints,
    entry_at,
    messages,
    places,
    same,
    values,
)

from tried.draft.entries import EntryValue
from tried.draft.syntax import parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1),
        ("-17", -17),
        ("+3", 3),
        ("0x1F", 31),
        ("0o17", 15),
        ("010", 10),  # decimal in YAML 1.2
        ("1_000", 1000),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("1e-3", 0.001),  # a string to many readers of YAML 1.1, a number to people
        ("1.0E-3", 0.001),
        ("1E5", 100000.0),
        (".5", 0.5),
        ("-.5e1", -5.0),
        ("1.", 1.0),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        (".nan", math.nan),
        ("~", None),
        ("null", None),
        ("Null", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("yes", "yes"),
        ("on", "on"),
        ("1:30", "1:30"),
        ("1.2.3", "1.2.3"),
        ("2024-05-01", "2024-05-01"),
        ("1e", "1e"),
        ("???", UNKNOWN),
        ("${lr}", UNKNOWN),
        ("${oc.env:LR,0.1}", UNKNOWN),
        ("runs/${name}/x", UNKNOWN),
        ("'${name}'", UNKNOWN),
        (r"\${literal}", r"\${literal}"),
        ("{{ lr }}", UNKNOWN),
        ("two words", "two words"),
        ("it's", "it's"),
        ("a#b", "a#b"),
        ("http://x/y", "http://x/y"),
        ("'it''s'", "it's"),
        ("'1'", "1"),
        ('"1"', "1"),
        (r'"a\tb\x41\u00e9\U0001F600\\\"\/"', 'a\tbAé😀\\"/'),
        (r'"\ud83d\ude00"', "😀"),
        ('"true"', "true"),
        ("[]", ()),
        ("[1, 2.5, x, ~, true]", (1, 2.5, "x", None, True)),
        ("[1, 2,]", (1, 2)),
        ("['a', \"b\"]", ("a", "b")),
        ("[1, '${x}']", UNKNOWN),
        ("!!str 1", "1"),
        ("!!int '7'", 7),
        ("!!float 1", 1.0),
        ("!<tag:yaml.org,2002:str> 2", "2"),
        ("!!python/tuple [1, 2]", (1, 2)),
    ],
)
def test_a_scalar_means_what_people_mean(written: str, value: EntryValue) -> None:
    text = f"key: {written}\n"
    parsed = parse(text, "yaml")
    assert [entry.path for entry in parsed.entries] == [("key",)]
    assert same(parsed.entries[0].value, value)
    assert not parsed.problems


@pytest.mark.parametrize(
    ("block", "value"),
    [
        ("|\n  a\n   b\n\n  c\n", "a\n b\n\nc\n"),
        ("|-\n  a\n  b\n\n", "a\nb"),
        ("|+\n  a\n\n", "a\n\n"),
        (">\n  a\n  b\n\n  c\n   d\n  e\n", "a b\nc\n d\ne\n"),
        (">-\n  one\n  two\n", "one two"),
        ("|2\n   a\n  b\n", " a\nb\n"),
        ("| # why\n  a\n", "a\n"),
        ("|\n  # no comment\n", "# no comment\n"),
        ("|\r\n  a\r\n  b\r\n", "a\nb\n"),
    ],
)
def test_block_scalars(block: str, value: str) -> None:
    assert values(f"k: {block}last: 1\n", "yaml") == {("k",): value, ("last",): 1}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("one\n  two\n\n  three", "one two\nthree"),
        ("'one\n  two\n\n  three'", "one two\nthree"),
        ('"one \\\n  two"', "one two"),
        ('"one\\n\n  two"', "one\n two"),
        ('"one\n\n\n  two"', "one\n\ntwo"),
    ],
)
def test_scalars_over_several_lines_are_folded(written: str, value: str) -> None:
    assert values(f"k: {written}\nlast: 1\n", "yaml") == {("k",): value, ("last",): 1}


def test_nesting_gives_paths_and_places() -> None:
    text = (
        "model:  # the net\n"
        "  depth: 12\n"
        "  blocks:\n"
        "  - kind: conv\n"
        "    size: [3, 3]\n"
        "  - kind: pool\n"
        "tags:\n"
        "- a\n"
        "- b\n"
        "nothing:\n"
        '"quoted key": {x: 1, y}\n'
    )
    assert places(text, "yaml") == {
        ("model",): ("model", "depth: 12\n  blocks:\n  - kind: conv\n    size: [3, 3]\n  - kind: pool"),
        ("model", "depth"): ("depth", "12"),
        ("model", "blocks"): ("blocks", "- kind: conv\n    size: [3, 3]\n  - kind: pool"),
        ("model", "blocks", 0): (None, "kind: conv\n    size: [3, 3]"),
        ("model", "blocks", 0, "kind"): ("kind", "conv"),
        ("model", "blocks", 0, "size"): ("size", "[3, 3]"),
        ("model", "blocks", 1): (None, "kind: pool"),
        ("model", "blocks", 1, "kind"): ("kind", "pool"),
        ("tags",): ("tags", "- a\n- b"),
        ("nothing",): ("nothing", ""),
        ("quoted key",): ('"quoted key"', "{x: 1, y}"),
        ("quoted key", "x"): ("x", "1"),
        ("quoted key", "y"): ("y", ""),
    }
    assert entry_at(text, "yaml", "model").value is MAPPING
    assert entry_at(text, "yaml", "model", "blocks").value is LIST
    assert entry_at(text, "yaml", "tags").value == ("a", "b")
    assert entry_at(text, "yaml", "nothing").span.start == text.index("nothing:") + len("nothing:")


def test_an_empty_value_stands_after_the_colon_and_its_space() -> None:
    text = "a: # why\nb:\nc: \n"
    spans = [entry.span for entry in parse(text, "yaml").entries]
    assert [(span.start, span.end) for span in spans] == [(3, 3), (11, 11), (15, 15)]


def test_comments() -> None:
    text = "# top\na: 1  # trailing\n\n  ## indented\nb: 'no # comment'\nc: [1, # in\n  2]\n#\n"
    assert comments(text, "yaml") == [
        ("top", "# top", True),
        ("trailing", "# trailing", False),
        ("indented", "## indented", True),
        ("in", "# in", False),
        ("", "#", True),
    ]


def test_documents_are_counted() -> None:
    text = "# first\n---\na: 1\n...\n%YAML 1.2\n---\na: 2\n--- # third\na: 3\n"
    parsed = parse(text, "yaml")
    assert [(entry.document, entry.value) for entry in parsed.entries] == [(0, 1), (1, 2), (2, 3)]
    assert not parsed.problems


def test_a_broken_document_costs_no_other() -> None:
    text = "a: 1\n---\nb: : x\n---\nc: 3\n"
    assert values(text, "yaml", 0) == {("a",): 1}
    assert values(text, "yaml", 2) == {("c",): 3}


def test_anchors_aliases_and_merge_keys_stand_where_they_are_used() -> None:
    text = (
        "base: &base\n"
        "  lr: 0.1\n"
        "  opt: {name: adam}\n"
        "other: &other {lr: 1, wd: 2}\n"
        "run:\n"
        "  <<: [*base, *other]\n"
        "  lr: 0.3\n"
        "copy: *base\n"
        "list: [*base, 1]\n"
    )
    read = values(text, "yaml")
    assert read[("run", "lr")] == 0.3  # its own key wins, wherever it stands
    assert read[("run", "wd")] == 2
    assert read[("run", "opt", "name")] == "adam"
    assert read[("copy", "lr")] == 0.1
    assert read[("list", 0, "opt", "name")] == "adam"
    shown = places(text, "yaml")
    assert shown[("run", "wd")] == ("<<", "*other")
    assert shown[("run", "opt")] == ("<<", "*base")
    assert shown[("run", "opt", "name")] == ("<<", "*base")
    assert shown[("copy",)] == ("copy", "*base")
    assert shown[("copy", "lr")] == ("copy", "*base")
    assert shown[("list", 0)] == (None, "*base")
    assert ("run", "<<") not in shown
    assert not messages(text, "yaml")


def test_of_merged_mappings_the_earlier_wins_and_merges_chain() -> None:
    text = "a: &a {x: 1}\nb: &b\n  <<: *a\n  y: 2\nc:\n  <<: [*b, {x: 9, z: 3}]\n"
    read = values(text, "yaml")
    assert (read[("c", "x")], read[("c", "y")], read[("c", "z")]) == (1, 2, 3)


def test_an_alias_without_anchor_is_unknown() -> None:
    text = "a: *gone\nb: 1\n"
    assert values(text, "yaml") == {("a",): UNKNOWN, ("b",): 1}
    assert messages(text, "yaml") == ["alias `*gone`: no anchor `&gone` stands before it"]


def test_an_anchor_that_holds_an_alias_to_itself_ends() -> None:
    assert values("a: &a [1, *a]\nb: 2\n", "yaml")[("b",)] == 2


def test_an_alias_bomb_is_cut_off_and_said() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for level in range(1, 10):
        lines.append(f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 9) + "]")
    parsed = parse("\n".join([*lines, "after: 1"]), "yaml")
    assert len(parsed.entries) < 11_000
    assert parsed.entries[-1].path == ("after",)
    assert ["aliases stand for more than 10,000" in problem.message for problem in parsed.problems] == [True]


@pytest.mark.parametrize("mapping", ["{}", "{x: 1}", "{<<: *m, y: 2}"])
def test_a_bomb_of_merge_keys_is_cut_off(mapping: str) -> None:
    many = 3_000
    text = f"m: &m {{z: 0}}\na: &a {mapping}\nl: &l [{', '.join(['*a'] * many)}]\n" + "b:\n  <<: *l\n" * many
    started = time.process_time()
    parsed = parse(text + "last: 1\n", "yaml")
    assert time.process_time() - started < 5
    assert len(parsed.entries) < 20_000
    assert parsed.entries[-1].path == ("last",)


def test_tags_of_ones_own_are_kept_and_the_value_read() -> None:
    text = (
        "model: !new:torch.nn.Linear\n  in_features: 3\nact: !new:torch.nn.ReLU\nlr: !ref <base>\n"
        "seed: !apply:torch.manual_seed [1, 2]\nk: !scale 3\nlayers:\n  - !new:A\n  - !new:B {x: 1}\n"
    )
    parsed = {entry.path: (entry.tag, entry.value) for entry in parse(text, "yaml").entries}
    assert parsed[("model",)] == ("!new:torch.nn.Linear", MAPPING)
    assert parsed[("model", "in_features")] == (None, 3)
    assert parsed[("act",)] == ("!new:torch.nn.ReLU", None)
    assert parsed[("lr",)] == ("!ref", UNKNOWN)
    assert parsed[("seed",)] == ("!apply:torch.manual_seed", (1, 2))
    assert parsed[("k",)] == ("!scale", 3)
    assert parsed[("layers",)] == (None, LIST)
    assert parsed[("layers", 0)] == ("!new:A", None)
    assert parsed[("layers", 1)] == ("!new:B", MAPPING)
    assert entry_at(text, "yaml", "act").span.of(text) == "!new:torch.nn.ReLU"


def test_of_a_key_set_twice_the_last_counts_and_a_problem_says_so() -> None:
    text = "a: {x: 1}\nb: 2\na:\n  y: 3\n"
    assert values(text, "yaml") == {("b",): 2, ("a", "y"): 3}
    assert messages(text, "yaml") == ["`a` is set again below; the last one counts"]
    assert parse(text, "yaml").problems[0].span.start == 0


def test_brackets_may_close_at_the_left_edge() -> None:
    text = "a: [  # sizes\n1,\n2,  # two\n]\nb: {\n'c': 3,\n}\nd: 4\n"
    assert values(text, "yaml") == {("a",): (1, 2), ("b", "c"): 3, ("d",): 4}
    assert not messages(text, "yaml")
    assert [comment[0] for comment in comments(text, "yaml")] == ["sizes", "two"]


@pytest.mark.parametrize(
    ("broken", "key", "message"),
    [
        ("key: value: x", "key", "second `: `"),
        ("key: @x", "key", "cannot start with `@`"),
        ("key: `x`", "key", "cannot start with ```"),
        ("key: 'open", "key", "closing `'`"),
        ('key: "open', "key", 'closing `"`'),
        ("\tkey: 1", None, "tab"),
        ("key", None, "write `key: value`"),
        ("key:1", None, "space after the colon"),
    ],
)
@pytest.mark.parametrize("indent", ["", "  "])
def test_a_broken_line_costs_itself_alone(broken: str, key: str | None, message: str, indent: str) -> None:
    lines = ["before: 1", broken, "after: [2, 3]", "last:", "  deep: x"]
    text = ("outer:\n" if indent else "") + "\n".join(indent + line for line in lines) + "\nend: 9\n"
    prefix = ("outer",) if indent else ()
    expected: dict[tuple[str | int, ...], EntryValue] = {
        (*prefix, "before"): 1,
        (*prefix, "after"): (2, 3),
        (*prefix, "last", "deep"): "x",
        ("end",): 9,
    }
    if key:
        expected[(*prefix, key)] = UNKNOWN  # what is half typed is unknown, not absent
    assert values(text, "yaml") == expected
    assert [message in said for said in messages(text, "yaml")] == [True]
    assert [complaint.strip() for complaint in complaints(text, "yaml")] == [broken.strip()]


def test_both_sides_of_a_merge_conflict_are_read() -> None:
    text = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nc: 3\n>>>>>>> theirs\nd: 4\n"
    assert values(text, "yaml") == {("a",): 1, ("b",): 2, ("c",): 3, ("d",): 4}
    assert complaints(text, "yaml") == ["<<<<<<< HEAD", "=======", ">>>>>>> theirs"]


def test_wrong_indentation() -> None:
    deeper = "opt:\n  lr: 0.1\n    wd: 0.2\n  beta: 0.9\nlast: 1\n"
    assert values(deeper, "yaml") == {("opt", "lr"): 0.1, ("opt", "beta"): 0.9, ("last",): 1}
    assert complaints(deeper, "yaml") == ["wd: 0.2"]
    left = "opt:\n    lr: 0.1\n  wd: 0.2\nlast: 1\n"
    assert values(left, "yaml") == {("opt", "lr"): 0.1, ("opt", "wd"): 0.2, ("last",): 1}
    assert complaints(left, "yaml") == ["wd: 0.2"]


def test_half_typed_brackets() -> None:
    text = "a: 1\nbetas: [0.9, 0.9\nopt: {lr: 0.1,\n  wd: 0\nlast: {x: 1}\n"
    read = values(text, "yaml")
    assert read[("betas",)] is UNKNOWN  # who knows how it goes on
    assert read[("opt", "lr")] == 0.1
    assert (read[("a",)], read[("last", "x")]) == (1, 1)
    assert messages(text, "yaml") == ["`]` is missing", "`}` is missing"]


def test_lists_around_a_broken_item() -> None:
    text = "steps:\n- name: a\n  size: 1\n- name: @b\n  size: 2\n- {name: c}\nnext: 1\n"
    assert values(text, "yaml") == {
        ("steps", 0, "name"): "a",
        ("steps", 0, "size"): 1,
        ("steps", 1, "name"): UNKNOWN,
        ("steps", 1, "size"): 2,
        ("steps", 2, "name"): "c",
        ("next",): 1,
    }


def test_anchors_of_a_broken_file_still_hold() -> None:
    text = "base: &base\n  lr: 0.1\n  wd: @\nrun: *base\nalso:\n  <<: *base\n"
    read = values(text, "yaml")
    assert (read[("run", "lr")], read[("also", "lr")]) == (0.1, 0.1)
    assert read[("also", "wd")] is UNKNOWN


def test_comments_of_a_broken_file_are_kept() -> None:
    text = "# top\na: 1\n# about b\nb: x: y  # tried: ignore\nc:\n  # in c\n  d: @\n  # end\n"
    assert [text for text, _, _ in comments(text, "yaml")] == ["top", "about b", "tried: ignore", "in c", "end"]


def test_characters_beyond_ascii_shift_nothing() -> None:
    text = "名前: 😀  # 注\né: [ü, \"日本\"]\nlr: 0.1\nb: &日 {x: 1}\nc: *日\nbad: @\u2028\nend: '\u2028'\n"
    assert places(text, "yaml") == {
        ("名前",): ("名前", "😀"),
        ("é",): ("é", '[ü, "日本"]'),
        ("lr",): ("lr", "0.1"),
        ("b",): ("b", "{x: 1}"),
        ("b", "x"): ("x", "1"),
        ("c",): ("c", "*日"),
        ("c", "x"): ("c", "*日"),
        ("bad",): ("bad", "@\u2028"),
        ("end",): ("end", "'\u2028'"),
    }


@pytest.mark.parametrize("ending", ["\r\n", "\r", "\n"])
def test_line_ends(ending: str) -> None:
    text = ending.join(["a: 1", "b:", "  c: 'x", "    y'", "  d: |", "    z", "e: 5", ""])
    assert values(text, "yaml") == {("a",): 1, ("b", "c"): "x y", ("b", "d"): "z\n", ("e",): 5}


def test_a_byte_order_mark_is_no_part_of_the_first_key() -> None:
    text = "\ufefflr: 0.1\n# c\nx: @\n"
    entry = parse(text, "yaml").entries[0]
    assert (entry.path, entry.key and entry.key.of(text), entry.span.of(text)) == (("lr",), "lr", "0.1")
    assert comments(text, "yaml") == [("c", "# c", True)]
    assert complaints(text, "yaml") == ["x: @"]


def test_json_is_yaml() -> None:
    text = '{"a": [1, 2], "b": {"c": "\\u00e9", "d": null}, "e": [{"f": true}]}'
    assert values(text, "yaml") == {
        ("a",): (1, 2),
        ("b", "c"): "é",
        ("b", "d"): None,
        ("e", 0, "f"): True,
    }


@pytest.mark.parametrize("text", ["", "\n\n", "# only\n", "---\n", "just words\n", "- \n", "...\n", "%YAML 1.2\n"])
def test_texts_without_settings(text: str) -> None:
    parsed = parse(text, "yaml")
    check_invariants(parsed, text)
    assert [entry.value for entry in parsed.entries] in ([], [None])
