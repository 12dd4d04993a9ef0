from typing import Any

import pytest
from entry_builder import Tagged, entries

from tried.draft.parameters import parameters_of
from tried.draft.query_text import QueryPart, knob_names, query_text, value_words, word_value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("adamw_8bit", "adamw_8bit"),
        ("cosine", "cosine"),
        ("torch.optim.AdamW", "AdamW"),
        ("my_package.losses:focal_loss", "focal_loss"),
        ("bert-base-uncased", "bert-base-uncased"),
        ("google/gemma-2b", "google/gemma-2b"),
        ('("coco_2017_train",)', "coco_2017_train"),
        ("random forest", "random forest"),
        ("中文", "中文"),
        ("data/raw/train", None),
        ("./data", None),
        ("/tmp/x", None),
        ("~/runs", None),
        ("C:\\runs", None),
        ("train.csv", None),
        ("https://example.org", None),
        ("s3://bucket/key", None),
        ("${dataset}", None),
        ("{name}-{seed}", None),
        ("0.1", None),
        ("1e-4", None),
        ("true", None),
        ("none", None),
        ("???", None),
        ("a", None),
        ("x@example.org", None),
        ("line\nline", None),
        ("word " * 20, None),
        ("", None),
    ],
)
def test_which_texts_are_words(text: str, words: str | None) -> None:
    assert word_value(text) == words


def test_values_are_named_once_in_the_order_of_the_text() -> None:
    tree: dict[str, Any] = {
        "optimizer": {"name": "AdamW"},
        "other": "adamw",
        "features": ["energy", "tempo", 3],
        "dataset": "mnist",
        "cost": Tagged("!name:nnet.losses.CtcLoss", {"weight": 0.1}),
        "ref": Tagged("!ref", "<lr>"),
    }
    assert value_words(entries(tree)) == ("AdamW", "energy", "tempo", "mnist", "CtcLoss")


def test_what_tells_nothing_of_the_experiment_is_no_value() -> None:
    tree = {
        "output_dir": "runs",
        "run_name": "first",
        "device": "cuda",
        "notes": "words of mine",
        "log_folder": "logs",
        "host": "worker",
    }
    assert value_words(entries(tree)) == ()


def test_what_another_part_holds_is_left_out() -> None:
    listed = entries({"model": {"type": "resnet"}, "dataset": "mnist"})
    assert value_words(listed, {listed[1].span}) == ("mnist",)


def test_a_list_of_thousands_is_cut() -> None:
    tree = {f"k{number}": f"word{number}x" for number in range(1000)}
    assert len(value_words(entries(tree))) == 300


ALL: dict[str, Any] = {
    "prose": ["why, see https://example.org/x"],
    "name": "run one",
    "tags": ["ablation"],
    "components": ["ResNet"],
    "values": ["mnist"],
    "knobs": ["num_layers"],
}


def test_the_parts_in_their_order() -> None:
    assert query_text(**ALL) == "why, see\nrun one\nablation\nResNet\nmnist\nnum_layers"
    assert query_text() == ""


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ("prose", "why, see"),
        ("name", "run one"),
        ("tags", "ablation"),
        ("components", "ResNet"),
        ("values", "mnist"),
        ("knobs", "num_layers"),
    ],
)
def test_each_part_can_stand_alone(part: QueryPart, text: str) -> None:
    assert query_text(**ALL, parts=(part,)) == text


def test_knobs_are_named_once_by_their_last_segment_if_they_are_set() -> None:
    tree = {
        "opt": {"lr": 0.1},
        "head": {"lr": 0.2},
        "dims": [1, 2],
        "ema": None,
        "seed": 1,
        "epochs": 3,
        "dataset": "x",
    }
    assert knob_names(parameters_of(entries(tree))) == ("lr", "dims")


def test_a_book_in_the_notes_is_cut() -> None:
    assert len(query_text(prose=["word " * 100_000])) == 20_000
