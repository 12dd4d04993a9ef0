from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.keys import normalise_key, words_of
from tried.draft.parameter_kinds import KIND_NAMES, ParameterKind, kind_of
from tried.draft.parameters import flatten
from tried.draft.values import TRUNCATED, UNKNOWN, comparable, is_known, shown_value


@pytest.mark.parametrize(
    "spellings",
    [
        (0.001, "1e-3", "0.001", "1.0E-3", "+.001", "1_0e-4"),
        (1000, 1000.0, "1000", "1_000", "1e3", " 1000 ", "'1000'"),
        (2**70, str(2**70)),
        (262144, "2**18", "2^18"),
        (True, "true", "True", "yes", "on", "ON"),
        (False, "false", "No", "off"),
        (None, "", "null", "None", "~"),
        ([1, 2], (1, 2), "[1, 2]", "(1, 2)", "1,2", "1, 2", ["1", "2"]),
        (["a", "b"], "a,b", '["a", "b"]', "['a', 'b']"),
        ([512], 512, "[512]"),
        ("AdamW", "adamw", " AdamW ", '"AdamW"'),
        (math.inf, "inf", "Infinity", ".inf"),
        (math.nan, "nan", "NaN", ".nan"),
        ({"a": 1, "b": 2}, "{'b': 2, 'a': 1}", '{"a": 1, "b": 2}'),
    ],
)
def test_equal_values_are_equal_however_they_are_written(spellings: tuple[Any, ...]) -> None:
    assert len({comparable(value) for value in spellings}) == 1


@pytest.mark.parametrize(
    ("left", "right"),
    [(True, 1), (False, 0), ("true", "1"), (0.001, 0.0011), ("a b", "ab"), ([1, 2], [2, 1]), (2**53, 2**53 + 1)],
)
def test_different_values_stay_different(left: Any, right: Any) -> None:
    assert comparable(left) != comparable(right)


@pytest.mark.parametrize("text", ["x" * 250, "x" * 500, "x" * 5000, "x" * 6000, "cut off…", "cut off...", "[1, 2..."])
def test_what_was_cut_off_is_told_from_what_cannot_be_read(text: str) -> None:
    assert comparable(text) is TRUNCATED
    assert not is_known(comparable(text))


@pytest.mark.parametrize("text", ["${lr}", "data/${now:%Y-%m-%d}/x", "[1, ${n}]", "???"])
def test_what_only_the_program_can_resolve_is_unknown(text: str) -> None:
    assert comparable(text) is UNKNOWN
    assert comparable([1, text]) is UNKNOWN


def test_deep_nesting_is_unknown_and_raises_nothing() -> None:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    assert comparable(value) is UNKNOWN
    assert comparable("[" * 900 + "]" * 900) is UNKNOWN
    assert len(shown_value(value)) <= 60


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_every_json_value_has_a_hashable_form_and_one_printable_line(value: Any) -> None:
    hash(comparable(value))
    assert "\n" not in shown_value(value)
    flatten({"key": value})


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**60), 2**60))
def test_a_number_equals_its_text(value: float) -> None:
    assert comparable(value) == comparable(repr(value)) == comparable(json.dumps(value))


@pytest.mark.parametrize(
    ("spelling", "key"),
    [
        ("optimizer.lr", "optimizer.lr"),
        ("optimizer/lr", "optimizer.lr"),
        ("optimizer__lr", "optimizer.lr"),
        ("--batch-size", "batchsize"),
        ("Batch_Size", "batchsize"),
        ("batch size", "batchsize"),
        ("layers[0].units", "layers.0.units"),
        ("学习率", "学习率"),
        ("...", ""),
    ],
)
def test_keys_are_normalised(spelling: str, key: str) -> None:
    assert normalise_key(spelling) == key
    assert normalise_key(("a", spelling)) == (f"a.{key}" if key else "a")


def test_words_of_a_segment() -> None:
    assert words_of("numTrainEpochs") == words_of("num_train_epochs") == ("num", "train", "epochs")
    assert words_of("INT8_KEEP_PATTERNS") == ("int8", "keep", "patterns")


@pytest.mark.parametrize(
    ("key", "kind"),
    [
        ("seed", ParameterKind.VOLATILE),
        ("trainer.random_seed", ParameterKind.VOLATILE),
        ("output_dir", ParameterKind.VOLATILE),
        ("wandb_project", ParameterKind.VOLATILE),
        ("model.seed_layer_width", ParameterKind.KNOB),
        ("INT8_ROW_MEAN_NAME_PATTERNS", ParameterKind.KNOB),
        ("model.name", ParameterKind.CONTEXT),
        ("optimizer.name", ParameterKind.KNOB),
        ("model.path", ParameterKind.CONTEXT),
        ("feature_path", ParameterKind.CONTEXT),
        ("export_path", ParameterKind.VOLATILE),
        ("env_id", ParameterKind.CONTEXT),
        ("total_timesteps", ParameterKind.BUDGET),
        ("wandb.name", ParameterKind.BOOKKEEPING),
        ("callbacks.checkpoint.save_top_k", ParameterKind.BOOKKEEPING),
        ("experiment.name", ParameterKind.VOLATILE),
        ("fold", ParameterKind.VOLATILE),
        ("loss.target", ParameterKind.KNOB),
        ("wandb_log_freq", ParameterKind.VOLATILE),
        ("dataset.name", ParameterKind.CONTEXT),
        ("dataset_settings.name", ParameterKind.CONTEXT),
        ("data.batch_size", ParameterKind.KNOB),
        ("base_model", ParameterKind.CONTEXT),
        ("TOKENIZER_PATH", ParameterKind.CONTEXT),
        ("num_epochs", ParameterKind.BUDGET),
        ("MAX_WALLCLOCK_SECONDS", ParameterKind.BUDGET),
        ("eval_steps", ParameterKind.BUDGET),
        ("warmup_steps", ParameterKind.KNOB),
        ("nproc_per_node", ParameterKind.HARDWARE),
        ("dataloader.num_workers", ParameterKind.HARDWARE),
        ("name", ParameterKind.BOOKKEEPING),
        ("description", ParameterKind.BOOKKEEPING),
        ("lr", ParameterKind.KNOB),
        ("layers.0", ParameterKind.KNOB),
    ],
)
def test_kinds_of_keys_are_matched_by_whole_segments(key: str, kind: ParameterKind) -> None:
    assert kind_of(key) is kind
    assert kind_of(key.upper()) is kind


def test_no_name_is_of_two_kinds() -> None:
    names = [name for names in KIND_NAMES.values() for name in names]
    assert len(names) == len(set(names))


def test_a_record_is_flattened_with_the_spelling_it_had() -> None:
    found = flatten({"model": {"layers": [{"units": 4}], "act": "relu"}, "opt": "{'lr': 0.1}", "dims": [1, 2]})
    assert {key: (v.shown, v.value) for key, v in found.items()} == {
        "model.layers.0.units": ("model.layers.0.units", 4),
        "model.act": ("model.act", "relu"),
        "opt.lr": ("opt.lr", 0.1),
        "dims": ("dims", ("list", 1, 2)),
    }
