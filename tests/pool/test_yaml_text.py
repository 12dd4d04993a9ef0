"""YAML that others wrote."""

from __future__ import annotations

import contextlib
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.sources.common.yaml_text import DEPTH_LIMIT, SIZE_LIMIT, UnreadableYaml, load_yaml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E5", 100000.0),
        ("1_000", 1000),
        ("+1", 1),
        ("0x1F", 31),
        ("-0x1F", "-0x1F"),
        ("0o17", 15),
        (".5", 0.5),
        ("-.inf", -math.inf),
        ("1e400", math.inf),
        ("true", True),
        ("False", False),
        ("on", "on"),
        ("yes", "yes"),
        ("null", None),
        ("~", None),
        ("", None),
        ("1:30", "1:30"),
        ("2026-03-01", "2026-03-01"),
        ("1__0", "1__0"),
        ("0x", "0x"),
        ("9" * 6000, "9" * 6000),
        ("'1'", "1"),
        ("${lr}", "${lr}"),
        ("???", "???"),
        ("!!float abc", "abc"),
        ("!!timestamp foo", "foo"),
        ("!!binary aGk=", "aGk="),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!!omap [a: 1]", [{"a": 1}]),
        ("!!python/tuple [1, 2]", [1, 2]),
        ("!!python/name:os.system ''", ""),
        ("!!python/object:foo.Bar {x: 1}", {"x": 1}),
    ],
)
def test_values_are_read_as_experimenters_mean_them(text: str, value: Any) -> None:
    found = load_yaml(f"a: {text}\n")["a"]
    assert found == value
    assert type(found) is type(value)


def test_not_a_number() -> None:
    assert math.isnan(load_yaml("a: .nan")["a"])


def test_nothing_is_executed(tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    text = f"a: !!python/object/apply:os.system ['touch {mark}']\nb: !!python/object/new:os.mkdir ['{mark}']\n"
    assert load_yaml(text) == {"a": [f"touch {mark}"], "b": [f"{mark}"]}
    assert not mark.exists()


def test_documents_anchors_merges_and_keys() -> None:
    assert load_yaml("a: 1\n---\nb: 2\n") == {"a": 1}
    assert load_yaml("---\na: 1\n...\n") == {"a": 1}
    assert load_yaml("b: &b {x: 1}\nc:\n  <<: *b\n  y: 2\n") == {"b": {"x": 1}, "c": {"x": 1, "y": 2}}
    assert load_yaml("1: a\n1.5: b\nfalse: c\nnull: d\n") == {"1": "a", "1.5": "b", "false": "c", "null": "d"}
    assert load_yaml("a: 1\na: 2\n") == {"a": 2}
    assert load_yaml("") is None


def _bomb(levels: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, levels)]
    return "\n".join(lines)


def _merge_bomb(levels: int) -> str:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n}\n  <<: [" + ", ".join([f"*a{n - 1}"] * 9) + f"]\n  k{n}: 1" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "is no YAML: line 1: exceeded maximum nesting depth"),
        ("- " * 50_000 + "x", "is no YAML: line 1: exceeded maximum nesting depth"),
        ("[" * (DEPTH_LIMIT + 1) + "]" * (DEPTH_LIMIT + 1), f"is nested more than {DEPTH_LIMIT} levels deep"),
        (_bomb(10), "swells to more values than a config has"),
        ("&a [*a]", f"is nested more than {DEPTH_LIMIT} levels deep"),
        ("&a !x [*a]", f"is nested more than {DEPTH_LIMIT} levels deep"),
        ("a: *none", "is no YAML: line 1: found undefined alias"),
        ("a: 1\nb:\tc\n\td: e", "is no YAML: line 3: found a tab character that violates indentation"),
        ("{[1]: 2}", "is no YAML: line 1: found a key that is no text"),
        ("x" * (SIZE_LIMIT + 1), "is larger than 4 MiB"),
    ],
    ids=range(10),
)
def test_what_is_broken_or_hostile_is_refused_in_words(text: str, why: str) -> None:
    with pytest.raises(UnreadableYaml) as caught:
        load_yaml(text)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text", ["a: b\0c", "a: \ud800", 'a: "\\ud800"', "%YAML 9.9\n---\na: 1", "a: [1", "a:\n  <<: 3"]
)
def test_other_refusals_are_one_line(text: str) -> None:
    with pytest.raises(UnreadableYaml, match=r"\Ais no YAML: [^\n]+\Z"):
        load_yaml(text)


def test_merges_that_swell_end_soon() -> None:
    began = time.perf_counter()
    with contextlib.suppress(UnreadableYaml):  # older versions of the library swell
        assert set(load_yaml(_merge_bomb(9))["a8"]) == {"x", "y", *(f"k{n}" for n in range(1, 9))}
    assert time.perf_counter() - began < 5


_SIGNS = "-?&*!|>[]{},:'\"%@`#~\t\n é1a."
_WORDS = (": ", "- ", "&x ", "*x", "<<: ", "!t ", "!!int ", "!!python/tuple ", "---\n", "...", "0x", "e5", "\\u")
_PIECES = st.sampled_from([*_SIGNS, *_WORDS])


@given(st.lists(_PIECES, max_size=40).map("".join) | st.text(max_size=60))
def test_any_text_is_plain_data_or_refused(text: str) -> None:
    value, refusal = None, ""
    try:
        value = load_yaml(text)
    except UnreadableYaml as error:
        refusal = str(error)
    assert _is_plain(value)
    assert "\n" not in refusal


_DATA = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="ascii"), max_size=8).filter(
        lambda text: "Infinity" not in text
    ),  # is replaced below
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_DATA)
def test_what_json_writes_reads_the_same(data: Any) -> None:
    text = json.dumps({"a": data}, indent=1).replace("-Infinity", "-.inf").replace("Infinity", ".inf")
    assert load_yaml(text) == {"a": data}


def _is_plain(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool)
