"""Versions of a config file are read as the editor reads the file."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.draft import drafts_of
from tried.draft.entries import Special
from tried.draft.parameters import comparable, normalise_key
from tried.draft.syntax import parse
from tried.pool.sources.tables.config_versions import (
    CHANGE_LIMIT,
    PARAMETER_LIMIT,
    ConfigVersions,
    changes_between,
    config_of,
    may_be_config,
    reads_as_config,
)

SCRIPT = '''"""Trains."""
import math

DEPTH = 8  # layers
MATRIX_LR = 4e-2
BATCH = 2**19
BETAS = (0.8, 0.95)
NAME = "base"
STEPS = math.inf


class Config:
    n_embd: int = 768


def run(x):
    MATRIX_LR = 3
    return relu(x)
'''


def test_a_scripts_constants() -> None:
    config = config_of("train.py", SCRIPT)
    assert config.params == {
        "DEPTH": 8,
        "MATRIX_LR": 0.04,
        "BATCH": 524288,
        "BETAS": [0.8, 0.95],
        "NAME": "base",
        "Config.n_embd": 768,
    }
    assert config.unknown == ("STEPS",)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("train.py", SCRIPT),
        ("a/conf.yaml", "lr: 1e-3\nmodel:\n  depth: 3\n  betas: [0.9, 0.99]\n  on: yes\nlist:\n- a: 1\n- a: 2\n"),
        ("conf.toml", "lr = 1e-3\n[model]\ndepth = 3\nwhen = 2020-01-01\n"),
        ("conf.json", '{"lr": 1e-3, "model": {"depth": 3, "x": null}}'),
        ("run.sh", 'LR=0.1\npython train.py --depth 3 --wd="0.2"\n'),
    ],
)
def test_values_compare_equal_to_those_of_the_draft(path: str, text: str) -> None:
    language = "python" if path.endswith("py") else path.rsplit(".", 1)[1].replace("sh", "env")
    draft = drafts_of(parse(text, language), text)[0]
    config = config_of(path, text)
    mine = {normalise_key(key): comparable(value) for key, value in config.params.items()}
    theirs = {p.key: p.value for p in draft.parameters if p.value is not Special.UNKNOWN}
    assert mine == theirs
    assert mine


def test_what_changed_between_two() -> None:
    before = config_of("c.yaml", "lr: 0.1\nwd: 0.2\nsize: 1e3\nold: 1\nref: ${x}\n")
    after = config_of("c.yaml", "lr: 0.3\nsize: 1000\nwd: 2.0e-1\nnew: [1, 2]\nref: 5\n")
    assert [change.model_dump(by_alias=True, exclude_unset=True) for change in changes_between(before, after)] == [
        {"change": "ParamChanged", "key": "lr", "from": 0.1, "to": 0.3},
        {"change": "ParamAdded", "key": "new", "value": [1, 2]},
        {"change": "ParamRemoved", "key": "old", "value": 1},
    ]


def test_many_changes_are_counted() -> None:
    before = config_of("c.yaml", "".join(f"k{n}: 0\n" for n in range(150)))
    after = config_of("c.yaml", "".join(f"k{n}: 1\n" for n in range(150)))
    changes = changes_between(before, after)
    assert len(changes) == CHANGE_LIMIT + 1
    assert changes[-1].reason == "50 more parameters differ"
    assert len(config_of("c.yaml", "".join(f"k{n}: 0\n" for n in range(1_500))).params) == PARAMETER_LIMIT


def test_the_rest_is_the_code_alone() -> None:
    same = (
        SCRIPT.replace("= 8  # layers", "=   9 # other words\n\n# and more").replace("4e-2", "0.5").replace("base", "x")
    )
    assert config_of("train.py", same).rest == config_of("train.py", SCRIPT).rest
    for other in (SCRIPT.replace("relu", "gelu"), SCRIPT + "run(1)\n", SCRIPT.replace("math.inf", "math.pi")):
        assert config_of("train.py", other).rest != config_of("train.py", SCRIPT).rest


LINES = st.sampled_from(
    [
        *(
            "DEPTH = 8  # layers",
            "DEPTH = 9",
            "DEPTH = 9; X = 1",
            "DEPTH = (1,",
            ")",
            "DEPTH: int = 7",
            "DEPTH = DEPTH",
        ),
        *('NAME = "a"', "NAME = '''", "'''", "NAME = [1, 2]", "NAME = {'a': 1}", "NAME = f(2)", "NAME = 1 \\", "+ 2"),
        *(
            "    DEPTH = 3",
            "def f():",
            "if True:",
            "class A:",
            "",
            "# DEPTH = 2",
            "DEPTH = 1_000",
            "A = B = 2",
            "del NAME",
        ),
    ]
)


@given(st.lists(st.lists(LINES, max_size=8), min_size=1, max_size=6), st.data())
def test_one_after_the_other_they_are_read_as_each_alone(versions: list[list[str]], data: Any) -> None:
    edited = list(versions[0])
    for _ in range(4):
        if edited:
            edited[data.draw(st.integers(0, len(edited) - 1))] = data.draw(LINES)
        versions.append(list(edited))
    reader = ConfigVersions("train.py")
    for lines in versions:
        text = "\n".join(lines)
        assert reader.read(text) == config_of("train.py", text), text


@pytest.mark.parametrize(
    ("line", "other"),
    [
        ("A = 1", "A = 2  # why"),
        ("A = 1", "A = 1; run()"),
        ("A = 1", "A = 1 if x else 2"),
        ("A = 1", "A = (1,"),
        ("A = 1", "A = '''"),
        ("A = 1", "A = 1 \\"),
        ("A = 1 \\", "A = 2 \\"),
        ("A = 1", "A: int = 2"),
        ("A = 1", "A = f(2)"),
        ("A = 1", "A = {'x': 1}"),
        ("A = 1", "C = 1"),
        ("A = 1", "  A = 2"),
        ("A = f(1)", "A = f(2)"),
        ("A = 1 ]", "A = 2 ]"),
    ],
)
@pytest.mark.parametrize(
    "around", ["@\nB = 2\n", "B = 3\n@", "A = 7\n@\nB = 2", "'''\n@\n'''\nB = 1", "def f():\n@\n", "B = [\n@\n]\n"]
)
def test_a_line_that_changed(line: str, other: str, around: str) -> None:
    reader = ConfigVersions("train.py")
    for text in (around.replace("@", line), around.replace("@", other), around.replace("@", line)):
        assert reader.read(text) == config_of("train.py", text), text


def test_what_is_taken_for_a_config() -> None:
    assert may_be_config("a/train.py")
    assert not may_be_config("pyproject.toml")
    assert not may_be_config("README.md")
    assert reads_as_config("train.py", SCRIPT)
    assert not reads_as_config("tools.py", "import os\n\ndef f():\n    return 1\n")
    assert config_of("notes.md", "lr: 1").params == {}
