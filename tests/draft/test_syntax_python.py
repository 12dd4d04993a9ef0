"""Python scripts: constants, calls, classes and options, read from the tree and never run."""

from __future__ import annotations

import ast
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntax_checks import LIST, MAPPING, UNKNOWN, comments, complaints, entry_at, messages, places, same, values

from tried.draft.entries import EntryValue
from tried.draft.syntax import parse


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1", 1),
        ("-1", -1),
        ("0x1F", 31),
        ("1_000", 1000),
        ("1e-3", 0.001),
        ("True", True),
        ("None", None),
        ("'a'", "a"),
        ('"a" "b"', "ab"),
        (r'r"\d"', r"\d"),
        (r'"a\tb\x41\u00e9\101\"\q"', 'a\tbAéA"\\q'),
        ('"""a\nb"""', "a\nb"),
        ('f"plain"', "plain"),
        ('f"{x}"', UNKNOWN),
        ('b"x"', UNKNOWN),
        ("2**18", 262144),
        ("64 * 1024", 65536),
        ("1 / 3", 1 / 3),
        ("-(7 // 2) % 5", 2),
        ("3 - 0.5", 2.5),
        ("2**-1", 0.5),
        ("1 / 0", UNKNOWN),
        ("9**9**9", UNKNOWN),
        ("(-8) ** 0.5", UNKNOWN),
        ("1j", UNKNOWN),
        ("name", UNKNOWN),
        ("torch.bfloat16", UNKNOWN),
        ("compute()", UNKNOWN),
        ("time.time()", UNKNOWN),
        ("a if b else 1", UNKNOWN),
        ("lambda: 1", UNKNOWN),
        ("[x for x in y]", UNKNOWN),
        ("[]", ()),
        ("(1, 2)", (1, 2)),
        ("1, 2", (1, 2)),
        ("{1}", (1,)),
        ("tuple([1, 2])", (1, 2)),
        ("[1, *rest]", UNKNOWN),
        ("[1, name]", UNKNOWN),
        ("(0.9, 0.95)", (0.9, 0.95)),
        ('float("inf")', math.inf),
        ("int(1e5)", 100000),
        ('int("x")', UNKNOWN),
        ('Path("runs")', "runs"),
        ('os.environ.get("X", 0.1)', 0.1),
        ('os.environ.get("X")', UNKNOWN),
        ('os.environ["X"]', UNKNOWN),
        ('os.getenv("X", "0.02")', "0.02"),
        ('float(os.environ.get("X", "0.02"))', 0.02),
        ('int(os.getenv("X", 20_000))', 20000),
        ('bool(int(os.environ.get("X", "0")))', False),
        ('os.environ.get("X", "1") == "1"', True),
        ('os.environ.get("X", "0") != "0"', False),
        ('os.environ.get("X") or 0.5', 0.5),
        ('os.environ.get("X", str(uuid.uuid4()))', UNKNOWN),
        ("\\\n    5", 5),
    ],
)
def test_values(written: str, value: EntryValue) -> None:
    text = f"X = {written}\nY: int = 3\n"
    read = values(text, "python")
    assert same(read[("X",)], value)
    assert read[("Y",)] == 3


def test_arithmetic_that_would_never_end_is_not_begun() -> None:
    text = "a = 9**9**9**9\nb = 2**100000000\nc = 10**4000 * 10**4000\nd = 1e308 * 10\ne = 7 ** (10**10)\nf = 2**6000\n"
    started = time.process_time()
    read = values(text, "python")
    assert time.process_time() - started < 1
    assert [read[(name,)] for name in "abce"] == [UNKNOWN] * 4
    assert read[("d",)] == math.inf
    assert read[("f",)] == 2**6000


def test_the_default_is_what_is_pointed_at() -> None:
    text = 'class Hyperparameters:\n    matrix_lr = float(os.environ.get("MATRIX_LR", 0.04))\n'
    assert places(text, "python") == {
        ("Hyperparameters",): ("Hyperparameters", text[text.index("matrix_lr") :].rstrip()),
        ("Hyperparameters", "matrix_lr"): ("matrix_lr", "0.04"),
    }


def test_targets() -> None:
    text = "a, b = 1, 'x'\n(c, d) = [3, 4]\ne = f = 5\ng, h = call()\ni, *j = 1, 2\nk: int\nm = 1; n = 2\n"
    assert values(text, "python") == {
        ("a",): 1,
        ("b",): "x",
        ("c",): 3,
        ("d",): 4,
        ("e",): 5,
        ("f",): 5,
        ("g",): UNKNOWN,
        ("h",): UNKNOWN,
        ("i",): UNKNOWN,
        ("m",): 1,
        ("n",): 2,
    }


def test_calls_and_dictionaries_are_mappings() -> None:
    text = (
        "cfg = dict(lr=0.1, opt={'name': 'adam', 'betas': (0.9, 0.99)}, **rest)\n"
        "model = ResNet(Bottleneck, [3, 4], depth=50, norm=nn.BatchNorm(eps=1e-5))\n"
        "net = nn.Sequential(nn.Linear(4, 2), nn.ReLU())\n"
        "lazy = L(AdamW)(lr=1e-3)\n"
        "part = functools.partial(SGD, lr=3)\n"
        "conf = ConfigDict({'a': {'b': 1}})\n"
        "opt = build(lr=0.2)\n"
    )
    tags = {entry.path: entry.tag for entry in parse(text, "python").entries if entry.tag}
    assert tags == {
        ("model",): "ResNet",
        ("model", "norm"): "nn.BatchNorm",
        ("net",): "nn.Sequential",
        ("net", 0): "nn.Linear",
        ("net", 1): "nn.ReLU",
        ("lazy",): "AdamW",
        ("part",): "SGD",
        ("conf",): "ConfigDict",
        ("opt",): "build",
    }
    assert values(text, "python") == {
        ("cfg", "lr"): 0.1,
        ("cfg", "opt", "name"): "adam",
        ("cfg", "opt", "betas"): (0.9, 0.99),
        ("model", 1): (3, 4),
        ("model", "depth"): 50,
        ("model", "norm", "eps"): 1e-5,
        ("net", 0, 0): 4,
        ("net", 0, 1): 2,
        ("lazy", "lr"): 1e-3,
        ("part", "lr"): 3,
        ("conf", "a", "b"): 1,
        ("opt", "lr"): 0.2,
    }
    shown = places(text, "python")
    assert shown[("cfg", "opt", "name")] == ("'name'", "'adam'")
    assert shown[("model",)] == ("model", "ResNet(Bottleneck, [3, 4], depth=50, norm=nn.BatchNorm(eps=1e-5))")
    assert shown[("model", "depth")] == ("depth", "50")
    assert shown[("model", 1)] == (None, "[3, 4]")
    assert entry_at(text, "python", "net").value is MAPPING


def test_a_list_of_calls_is_a_list_of_mappings() -> None:
    text = "layers = [\n    Conv(size=3),  # first\n    Conv(size=5),\n]\n"
    assert entry_at(text, "python", "layers").value is LIST
    assert values(text, "python") == {("layers", 0, "size"): 3, ("layers", 1, "size"): 5}
    assert comments(text, "python") == [("first", "# first", False)]


def test_classes() -> None:
    text = (
        "@dataclass\nclass Args(Base):\n"
        '    """Not an entry."""\n'
        "    lr: float = 0.1  # rate\n"
        "    # own\n"
        "    sizes: list = field(default_factory=lambda: [1, 2])\n"
        "    depth: int = field(default=3)\n"
        "    width: int = Field(7, gt=0)\n"
        "    empty: list = dataclasses.field(default_factory=list)\n"
        "    needed: int\n"
        "    class optimizer:\n"
        "        name = 'adam'\n"
        "    def method(self):\n"
        "        hidden = 1\n"
        "class Module(nn.Module):\n"
        "    def __init__(self):\n"
        "        self.x = 1\n"
    )
    assert values(text, "python") == {
        ("Args", "lr"): 0.1,
        ("Args", "sizes"): (1, 2),
        ("Args", "depth"): 3,
        ("Args", "width"): 7,
        ("Args", "empty"): (),
        ("Args", "optimizer", "name"): "adam",
    }
    assert ("Module",) not in places(text, "python")
    assert comments(text, "python") == [("rate", "# rate", False), ("own", "# own", True)]


def test_only_the_module_level_counts() -> None:
    text = (
        "import os\n"
        "A = 1\n"
        "def f():\n    B = 2  # hidden\n"
        "for i in range(3):\n    C = 3\n"
        "if debug:\n    A = 99\n"
        'if __name__ == "__main__":\n    D = 4  # seen\n    if x:\n        E = 5\n'
        "__all__ = ['A']\n"
        "with open(x) as f:\n    F = 6\n"
    )
    assert values(text, "python") == {("A",): 1, ("D",): 4}
    assert comments(text, "python") == [("seen", "# seen", False)]


def test_assigning_again() -> None:
    text = (
        "lr = 0.1\nlr = 0.2\nsteps = 5\nsteps += 1\n"
        "model = ResNet(depth=50)\nmodel = torch.compile(model)\nmodel = model.to('cuda')\n"
        "opt = dict(lr=1)\nopt.lr = 2\nopt['wd'] = 3\nremote.x.y = 4\nbest = Best()\nbest = other\n"
    )
    assert values(text, "python") == {
        ("lr",): 0.2,
        ("steps",): UNKNOWN,
        ("model", "depth"): 50,
        ("opt", "lr"): 2,
        ("opt", "wd"): 3,
        ("remote", "x", "y"): 4,
        ("best",): UNKNOWN,
    }
    assert not messages(text, "python")  # in a program that is no mistake
    assert places(text, "python")[("opt", "wd")] == ("'wd'", "3")
    assert entry_at(text, "python", "model").tag == "ResNet"


def test_options_with_defaults() -> None:
    text = (
        "def parse():\n"
        "    p = argparse.ArgumentParser()\n"
        "    p.add_argument('-l', '--learning-rate', type=float, default=0.1)\n"
        "    p.add_argument('--fast', action='store_true')\n"
        "    p.add_argument('--slow', action='store_false', dest='speed')\n"
        "    p.add_argument('--needed')\n"
        "    p.add_argument('path', default='x')\n"
        "flags.DEFINE_integer('depth', 12, 'layers')\n"
        "@click.option('--width/--no-width', default=2 * 32)\n"
        "def main(width): pass\n"
    )
    assert values(text, "python") == {
        ("learning_rate",): 0.1,
        ("fast",): False,
        ("speed",): True,
        ("path",): "x",
        ("depth",): 12,
        ("width",): 64,
    }
    assert places(text, "python")[("learning_rate",)] == ("'--learning-rate'", "0.1")


def test_docstring_and_comments() -> None:
    text = (
        '#!/usr/bin/env python\n"""What is tried.\n\n    And why.\n    """\n# top\nX = 1  # of x\n"""no docstring"""\n'
    )
    assert [(text, own) for text, _, own in comments(text, "python")] == [
        ("What is tried.\n\nAnd why.", True),
        ("top", True),
        ("of x", False),
    ]
    assert values(text, "python") == {("X",): 1}


@pytest.mark.parametrize(
    "broken",
    ["X =", "X = ", "X = (", "X = 4 4", "X = [1,", 'X = "open', "X: int = ", "X = f(", "X = 1 +"],
)
@pytest.mark.parametrize("indent", ["", "    "])
def test_a_half_typed_value_costs_itself_alone(broken: str, indent: str) -> None:
    lines = ["A = 1", broken, "B = [2, 3]", "C = dict(", "    d=4,", ")", "def f():", "    pass"]
    head = "class Config:\n" if indent else ""
    text = head + "".join(f"{indent}{line}\n" for line in lines) + "end = 9\n"
    prefix = ("Config",) if indent else ()
    assert values(text, "python") == {
        (*prefix, "A"): 1,
        (*prefix, "X"): UNKNOWN,
        (*prefix, "B"): (2, 3),
        (*prefix, "C", "d"): 4,
        ("end",): 9,
    }
    assert len(messages(text, "python")) == 1


def test_a_half_typed_argument_costs_itself_alone() -> None:
    text = "cfg = dict(\n    lr=0.1,\n    depth=\n    width=3,\n    opt=Adam(wd=0.2),\n)\nlast = 1\n"
    assert values(text, "python") == {
        ("cfg", "lr"): 0.1,
        ("cfg", "width"): 3,
        ("cfg", "opt", "wd"): 0.2,
        ("last",): 1,
    }
    assert complaints(text, "python") == ["    depth="]
    unfinished = "cfg = {\n    'lr': 0.1,\n    'betas': (0.9,\n"
    assert values(unfinished, "python") == {("cfg", "lr"): 0.1, ("cfg", "betas"): UNKNOWN}


def test_options_survive_in_a_broken_function() -> None:
    text = "def f(:\n    p.add_argument('--lr', default=(0.1))\n    p.add_argument('--wd', default=\nX = 1\n"
    assert values(text, "python") == {("lr",): 0.1, ("X",): 1}


def test_broken_code_without_settings_is_no_problem() -> None:
    text = "X = 1\ndef f(:\n    return\nfor x in\nimport\nY = 2\n"
    assert values(text, "python") == {("X",): 1, ("Y",): 2}
    assert not messages(text, "python")


def test_characters_beyond_ascii_and_line_ends() -> None:
    text = '# 注 😀\r\nprüf = "😀é"  # ü\r\nnext_one = 1\r\ncfg = dict(\r\n    größe=2,\r\n)\r\n'
    assert places(text, "python") == {
        ("prüf",): ("prüf", '"😀é"'),
        ("next_one",): ("next_one", "1"),
        ("cfg",): ("cfg", "dict(\r\n    größe=2,\r\n)"),
        ("cfg", "größe"): ("größe", "2"),
    }
    assert comments(text, "python") == [("注 😀", "# 注 😀", True), ("ü", "# ü", False)]


names = st.sampled_from(["lr", "depth", "wd", "n_head", "BETAS"])
literals = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, literals, max_size=4))
def test_what_the_standard_library_evaluates_is_read_alike(constants: dict[str, object]) -> None:
    text = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
    read = values(text, "python")
    for statement in ast.parse(text).body:
        assert isinstance(statement, ast.Assign)
        target = statement.targets[0]
        assert isinstance(target, ast.Name)
        value = ast.literal_eval(statement.value)
        if isinstance(value, list | dict):
            continue
        assert same(read[(target.id,)], value)
    lists = {name: value for name, value in constants.items() if isinstance(value, list)}
    for name, items in lists.items():
        if not any(isinstance(item, list | dict) for item in items):
            assert same(read[(name,)], tuple(items))
