"""Dotenv files and shell scripts."""

from __future__ import annotations

import pytest
from syntax_checks import UNKNOWN, comments, complaints, messages, places, same, values

from tried.draft.entries import EntryValue


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0.1", 0.1),
        ("1e-3", 0.001),
        ("12", 12),
        ("True", True),
        ("false", False),
        ("yes", "yes"),
        ("", ""),
        ("word", "word"),
        ("'0.5'", 0.5),
        ('"two words"', "two words"),
        ("'$kept'", "$kept"),
        ("$OTHER", UNKNOWN),
        ('"a ${OTHER} b"', UNKNOWN),
        ("$(date)", UNKNOWN),
        ("${LR:-0.02}", 0.02),
        ('"${LR:-0.02}"', 0.02),
        ("${LR:-}", ""),
        ("${LR}", UNKNOWN),
        ("a,b.c:d", "a,b.c:d"),
    ],
)
@pytest.mark.parametrize("shebang", ["", "#!/bin/bash\n"])
def test_values(written: str, value: EntryValue, shebang: str) -> None:
    text = f"{shebang}BEFORE=1\nexport KEY={written}  # why\nAFTER=2\n"
    read = values(text, "env")
    assert same(read[("KEY",)], value)
    assert (read[("BEFORE",)], read[("AFTER",)]) == (1, 2)
    assert comments(text, "env") == [("why", "# why", False)]
    assert not messages(text, "env")


def test_dotenv_files() -> None:
    text = (
        "# top\nNOTE=try a lower rate  # why\nKEY = 0.1\nyaml_like: 3\n; old comment\n\nURL=http://x#frag\n"
        'JSON={"a": 1}\nlast.one=5\n'
    )
    assert values(text, "env") == {
        ("NOTE",): "try a lower rate",
        ("KEY",): 0.1,
        ("yaml_like",): 3,
        ("URL",): "http://x#frag",
        ("JSON",): '{"a": 1}',
        ("last.one",): 5,
    }
    assert places(text, "env")[("NOTE",)] == ("NOTE", "try a lower rate")
    assert [text for text, _, _ in comments(text, "env")] == ["top", "why", "old comment"]


def test_a_half_typed_line_of_a_dotenv_file() -> None:
    text = "NOTE=try a lower rate\nLR\nexport\nDEPTH=4\nX='open\n"
    assert values(text, "env") == {("NOTE",): "try a lower rate", ("DEPTH",): 4, ("X",): UNKNOWN}
    assert complaints(text, "env") == ["LR", "export", "X='open"]


def test_pairs_before_a_command() -> None:
    for text in ("LR=0.1 DEPTH=4 torchrun train.py\n", "LR=0.1 DEPTH='4' \\\n  ./run.sh --x 1"):
        assert values(text, "env") == {("LR",): 0.1, ("DEPTH",): 4}
    assert values("LR=0.1 python train.py", "env") == {("LR",): 0.1}
    assert values("env LR=0.1 NAME='x' python train.py", "env") == {("LR",): 0.1, ("NAME",): "x"}


def test_shell_scripts() -> None:
    text = (
        "#!/bin/bash\n"
        "set -euo pipefail\n"
        "# top\n"
        'A=1; B="two words" && C=3\n'
        "declare -x D=4\n"
        ': "${E:=5}"\n'
        'if [ -z "$F" ]; then\n  F=6  # default\nfi\n'
        "train() {\n  local G=7\n  H=8\n}\n"
        "SIZES=(1 2 'x')\n"
        "cat <<EOF > out\nI=9\nEOF\n"
        "J='q'\"r\"s\n"
        "K+=1\n"
        "L=$((2 * 3))\n"
        "echo M=10\n"
        "for s in 1 2; do\n  N=11 python t.py\ndone\n"
        "O='a\nb'\n"
        "P=${Q:-${R:-1}}\n"
    )
    assert values(text, "env") == {
        ("A",): 1,
        ("B",): "two words",
        ("C",): 3,
        ("D",): 4,
        ("E",): 5,
        ("F",): 6,
        ("SIZES",): (1, 2, "x"),
        ("J",): "qrs",
        ("K",): UNKNOWN,
        ("L",): UNKNOWN,
        ("N",): 11,
        ("O",): "a\nb",
        ("P",): UNKNOWN,
    }
    shown = places(text, "env")
    assert shown[("B",)] == ("B", '"two words"')
    assert shown[("E",)] == ("E", "5")
    assert shown[("J",)] == ("J", "'q'\"r\"s")
    assert comments(text, "env") == [("top", "# top", True), ("default", "# default", False)]


def test_a_broken_script() -> None:
    text = "#!/bin/bash\nA=\"open\nB=2\nif x; then\nC=3  # c\ncat <<NEVER\nD=4\nE=(1 2\nF='a\nb'\n"
    read = values(text, "env")
    assert {path[0]: value for path, value in read.items() if path[0] != "E"} == {
        "A": UNKNOWN,
        "B": 2,
        "C": 3,
        "D": 4,
        "F": "a\nb",
    }
    assert read[("E",)] is UNKNOWN
    assert complaints(text, "env") == ['A="open', "E=(1 2"]
    assert comments(text, "env") == [("c", "# c", False)]


def test_of_a_variable_set_twice_the_last_counts() -> None:
    assert values("#!/bin/sh\nA=1\nA=2\n", "env") == {("A",): 2}


def test_characters_beyond_ascii_and_line_ends() -> None:
    for shebang in ("", "#!/bin/bash\r\n"):
        text = f"{shebang}# 注\r\nA='😀é'  # ü\r\nB=ü\r\nC=1\r\n"
        assert places(text, "env") == {("A",): ("A", "'😀é'"), ("B",): ("B", "ü"), ("C",): ("C", "1")}
        assert [text for text, _, _ in comments(text, "env")] == ["注", "ü"]
