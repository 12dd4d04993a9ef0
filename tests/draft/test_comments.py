import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.comments import paragraphs_of, prose_of
from tried.draft.syntax import parse
from tried.text import LineIndex


@pytest.mark.parametrize(
    "line",
    [
        "warmup was too short, so it diverged",
        "NOTE: use bf16 here",
        "Decoder: GRU + beam search",
        "Model: CTC-wav2vec2",
        "lr = 0.1 diverged at once",
        "lr: 0.1 (was 0.3, diverged)",
        "lr: 0.1 -> nan after 300 steps",
        "if this diverges again: lower it",
        "from scratch, not from the checkpoint",
        "import the old weights first",
        "class imbalance: we weight the loss",
        "make sure that the cache is empty",
        "(only the encoder is trained)",
        "see https://example.org/paper for why",
        "学習率を下げた",
        "8% better",
        "baseline",
        "- second try with more heads",
        "why: the old one overfits",
    ],
)
def test_words_are_prose(line: str) -> None:
    assert prose_of(line) is not None


@pytest.mark.parametrize(
    "line",
    [
        "lr: 0.1",
        "lr: 0.1  # was better",
        "optimizer: adamw",
        "batch_size: 32,",
        '"lr": 0.1,',
        "dataset: org/name",
        "layers: [64, 64]",
        "optimizer:",
        "- path: data/train",
        "- lm_head",
        "lr = 0.1",
        "LR=0.1",
        "export X=1",
        "CUDA_VISIBLE_DEVICES=0 python train.py",
        "self.foo()",
        "x = self.norm(x) if y else x",
        "model.fit(X, y)",
        "import numpy as np",
        "from a.b import c",
        "def forward(self, x):",
        "class Net(nn.Module):",
        "if x > 0:",
        "for x in range(3):",
        "return x",
        "print(x)",
        "[optimizer]",
        "[1, 2]",
        "{",
        "},",
        "]",
        "<<: *default",
        "!ref <lr>",
        "enc: !new:a.b.C",
        "python train.py lr=0.1",
        "run --lr 0.1",
        "$ ls",
        ">>> x",
        "path/to/file.txt",
        "https://example.org",
        "-----",
        "=== ===",
        "─────",
        "",
        "42",
        "!/usr/bin/env bash",
        "-*- coding: utf-8 -*-",
        "vim: set ts=2",
        "noqa: E501",
        "type: ignore",
        "yaml-language-server: $schema=x.json",
        "@package _global_",
        "fmt: off",
    ],
)
def test_code_and_decoration_are_none(line: str) -> None:
    assert prose_of(line) is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("##### Training parameters ######", "Training parameters"),
        ("----- why -----", "why"),
        ("  it diverged.  ", "it diverged."),
        ("> quoted (words)", "quoted (words)"),
    ],
)
def test_decoration_is_taken_off(line: str, said: str) -> None:
    assert prose_of(line) == said


def paragraphs(text: str) -> tuple[str, ...]:
    return paragraphs_of(parse(text, "yaml").comments, LineIndex(text))


def test_lines_that_follow_each_other_are_one_paragraph() -> None:
    text = """\
# The warmup was too short:
# it diverged after 300 steps.
#
# Now it is longer.

lr: 0.1  # lower than before
# batch_size: 32
# Fits on one card.
batch_size: 16
"""
    assert paragraphs(text) == (
        "The warmup was too short:\nit diverged after 300 steps.",
        "Now it is longer.",
        "lower than before",
        "Fits on one card.",
    )


def test_licences_and_directives_are_no_prose() -> None:
    text = """\
# Copyright (c) 2025 Some Company
# All rights reserved.
#
# A first try.
lr: 0.1  # as in the paper  # tried: ignore[dead-end] on purpose
# tried: retry exp-1 because the cache was stale
wd: 0.1
"""
    assert paragraphs(text) == ("A first try.", "as in the paper")


@given(st.text(max_size=200))
def test_any_line_is_judged(line: str) -> None:
    said = prose_of(line)
    assert said is None or (said and len(said) <= len(line))
