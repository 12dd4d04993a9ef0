"""Traps of real configs in which a squiggle would be wrong: what is unread, unset, elsewhere, or no parameter."""

from __future__ import annotations

from typing import Any

import pytest
from findings_pool import BASE, crashed, dead, findings_in, record, squiggles, told, unrelated, worked, yaml_of


def test_removing_what_failed_is_no_repeat_of_it_in_a_small_pool() -> None:
    assert squiggles(findings_in(BASE, [dead("a:1", {**BASE, "mixup": 0.8})])) == []
    seeds = [dead(f"a:{i}", {**BASE, "mixup": 0.8, "seed": i}) for i in range(3)]
    assert squiggles(findings_in(BASE, seeds)) == []


@pytest.mark.parametrize("change", ["CodeChanged", "NodeReplaced", "NodeAdded", "EdgeRemoved"])
def test_a_dead_end_of_code_or_architecture_alone_blames_no_parameter(change: str) -> None:
    run = dead("a:1", BASE, "the new kernel is worse", derivation={"changes": [{"change": change}]})
    assert told(findings_in(BASE, [run])) == [("repeat", "hover", "a:1")]
    assert findings_in({**BASE, "lr": 0.012}, [run]) == []


def test_a_change_that_is_told_in_words_alone_is_softer() -> None:
    run = dead("a:1", BASE, derivation={"changes": [{"change": "Unspecified", "reason": "rewrote attention"}]})
    assert squiggles(findings_in(BASE, [run])) == [("repeat", "information", "a:1")]


@pytest.mark.parametrize(("language", "text"), [("yaml", "lr: ${x}\n"), ("python", "lr = args.lr\n")])
def test_a_value_that_cannot_be_read_is_not_equal(language: str, text: str) -> None:
    rest = {key: value for key, value in BASE.items() if key != "lr"}
    lines = yaml_of(rest) if language == "yaml" else "".join(f"{k} = {v!r}\n" for k, v in rest.items())
    found = findings_in(text + lines, [dead("a:1", BASE)], language=language)
    assert told(found) == [("repeat", "hover", "a:1")]
    assert ("lr", "?", "0.01") in [(d.key, d.draft, d.record) for d in found[0].differences]


def test_a_key_that_two_of_the_draft_may_be_is_not_equal() -> None:
    text = "opt: {lr: 99}\nsched: {lr: 1}\n" + yaml_of({k: v for k, v in BASE.items() if k != "lr"})
    pool = [dead("a:1", BASE), *(worked(f"b:{i}", {**BASE, "depth": 20 + i}) for i in range(12))]
    assert squiggles(findings_in(text, pool)) == []


def test_an_explicit_null_differs_from_a_value_and_not_from_nothing() -> None:
    pool = [dead("a:1", {**BASE, "grad_clip": 1.0}), *(worked(f"b:{i}", {**BASE, "depth": i + 9}) for i in range(9))]
    assert squiggles(findings_in(yaml_of(BASE) + "grad_clip: null\n", pool)) == []
    assert squiggles(findings_in(yaml_of(BASE) + "grad_clip: null\n", [dead("a:2", BASE)])) != []


@pytest.mark.parametrize(
    ("draft", "theirs"),
    [
        ("datasets: [{path: a}, {path: b}]\n", {"datasets": "[{'path': 'a'}]"}),
        ("datasets: [{path: b}]\n", {"datasets": "[{'path': 'a'}]"}),
        ("datasets: [{path: a}]\n", {"datasets": [{"path": "a"}, {"path": "b"}]}),
        ("layers: [{units: 8}]\n", {"layers": [{"units": 8}, {"units": 8}]}),
    ],
)
def test_lists_of_mappings_of_other_lengths_or_contents_differ(draft: str, theirs: dict[str, Any]) -> None:
    siblings = [worked(f"b:{i}", {**BASE, **theirs, "depth": i + 9}) for i in range(9)]
    assert squiggles(findings_in(draft + yaml_of(BASE), [dead("a:1", {**BASE, **theirs}), *siblings])) == []


def test_the_same_list_of_mappings_is_equal_as_text() -> None:
    run = dead("a:1", {**BASE, "datasets": "[{'path': 'a'}]"})
    assert squiggles(findings_in("datasets: [{path: a}]\n" + yaml_of(BASE), [run])) == [("repeat", "warning", "a:1")]


@pytest.mark.parametrize("key", ["env_id", "model_name", "model.path", "feature_path", "dataset.name"])
def test_another_context_is_another_experiment(key: str) -> None:
    run = dead("a:1", {**BASE, "lr": 0.5, key: "one"}, changes={"lr": (0.01, 0.5)})
    assert squiggles(findings_in({**BASE, "lr": 0.5, "dropout": 0.3, key: "two"}, [run])) == []
    assert squiggles(findings_in({**BASE, "lr": 0.5, "dropout": 0.3, key: "one"}, [run])) != []


def test_out_of_memory_on_another_machine_says_nothing() -> None:
    run = crashed("a:1", {**BASE, "batch_size": 32, "gpu_type": "A10"}, "CUDA out of memory")
    assert findings_in({**BASE, "batch_size": 32, "gpu_type": "H100"}, [run]) == []
    assert squiggles(findings_in({**BASE, "batch_size": 32, "gpu_type": "a10"}, [run])) != []
    assert squiggles(findings_in({**BASE, "batch_size": 32}, [run])) != []


def test_out_of_memory_of_a_larger_model_is_for_the_hover() -> None:
    run = crashed("a:1", {**BASE, "batch_size": 32}, "CUDA out of memory", changes={"batch_size": (8, 32)})
    found = findings_in({**BASE, "batch_size": 32, "depth": 2}, [run])
    assert [f for f in told(found) if f[0] == "move"] == [("move", "hover", "a:1")]


def test_out_of_memory_blames_no_key_that_is_no_size() -> None:
    run = crashed("a:1", {**BASE, "warmup_steps": 100}, "CUDA out of memory")
    assert told(findings_in({**BASE, "warmup_steps": 200}, [run])) == [("near", "hover", "a:1")]


def test_out_of_memory_holds_for_what_is_larger() -> None:
    run = crashed("a:1", {}, "OOM", changes={"DEPTH": (8, 16)})
    (finding,) = findings_in({**BASE, "DEPTH": 20, "depth": None}, [run])
    assert (finding.evidence, finding.severity, finding.message) == (
        "near",
        "information",
        "above DEPTH 16: out of memory (a:1)",
    )
    assert findings_in({**BASE, "DEPTH": 12, "depth": None}, [run]) == []


def test_out_of_memory_is_contradicted_only_by_what_was_as_large_in_every_size() -> None:
    run = crashed("a:1", {**BASE, "batch_size": 64, "seq_len": 2048}, "OOM", changes={"batch_size": (16, 64)})
    shorter = worked("a:2", {**BASE, "batch_size": 64, "seq_len": 1024})
    longer = worked("a:3", {**BASE, "batch_size": 64, "seq_len": 4096})
    draft = {**BASE, "batch_size": 64, "seq_len": 4096, "dropout": 0.3}
    assert squiggles(findings_in(draft, [run, shorter])) == [("move", "warning", "a:1")]
    assert squiggles(findings_in(draft, [run, longer])) == []


def test_less_of_what_diverged_may_be_the_cure() -> None:
    run = crashed("a:1", {**BASE, "lr": 0.01}, "loss is NaN")
    assert told(findings_in({**BASE, "lr": 0.008}, [run])) == [("near", "hover", "a:1")]
    assert told(findings_in({**BASE, "lr": 0.02}, [run])) == [("near", "information", "a:1")]


@pytest.mark.parametrize("value", [0, ".inf", ".nan", 0.9])
def test_off_endless_and_far_are_not_near(value: object) -> None:
    assert squiggles(findings_in({**BASE, "mixup": value}, [dead("a:1", {**BASE, "mixup": 0.1})])) == []


def test_a_knob_at_zero_is_off() -> None:
    setters = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": 0.1 * (i + 1)}) for i in range(3)]
    assert squiggles(findings_in({**BASE, "width": 7, "mixup": 0.0}, [*setters, *unrelated(5)])) == []
    zero = worked("z", {**BASE, "depth": 60, "mixup": 0})
    found = squiggles(findings_in({**BASE, "width": 7, "mixup": 0.9}, [*setters, *unrelated(4), zero]))
    assert found == [("knob", "information", "k:2")]


def test_what_worked_on_other_data_does_not_blame_a_knob() -> None:
    setters = [dead(f"k:{i}", {**BASE, "depth": 10 + i, "mixup": 0.5, "dataset": "imagenet"}) for i in range(3)]
    others = [worked(f"o:{i}", {**BASE, "depth": 50 + i, "dataset": "cifar"}) for i in range(6)]
    draft = {**BASE, "width": 7, "mixup": 0.5, "dataset": "imagenet"}
    assert [f for f in squiggles(findings_in(draft, [*setters, *others])) if f[0] == "knob"] == []


def test_two_equal_intervals_and_one_knob_are_no_experiment() -> None:
    thin = {"lr": 0.01, "log_interval": 10, "save_every": 5}
    assert findings_in(thin, [dead("a:1", thin)]) == []
    enough = {"lr": 0.01, "depth": 4, "epochs": 10}
    assert squiggles(findings_in(enough, [dead("a:1", enough)])) == [("repeat", "warning", "a:1")]


def test_a_length_that_only_the_record_states_is_named() -> None:
    (finding,) = findings_in(BASE, [dead("a:1", {**BASE, "max_steps": 20})])
    assert (finding.severity, finding.message) == (
        "information",
        "ran before with max_steps 20: dead end, “worse by far” (a:1)",
    )


def test_a_draft_without_a_limit_is_longer_than_any_debug_run() -> None:
    assert squiggles(findings_in({**BASE, "max_steps": -1}, [dead("a:1", {**BASE, "max_steps": 10})])) == []


def test_rollout_steps_are_no_length_of_a_run() -> None:
    run = dead("a:1", {**BASE, "n_steps": 128})
    assert squiggles(findings_in({**BASE, "n_steps": 2048}, [run])) != []


def test_a_repeat_that_was_worse_within_the_noise_is_for_the_hover() -> None:
    run = record(
        "a:1",
        {**BASE, "lr": 0.5},
        metrics={"val_loss": 1.0001},
        conclusion={"outcome": "completed"},
        derivation={"metric_delta": {"val_loss": {"before": 1.0, "after": 1.0001, "delta": 0.0001}}},
    )
    noisy = [worked(f"r:{i}", {**BASE, "seed": i}, metrics={"val_loss": 1.0 + 0.1 * i}) for i in range(2)]
    assert told(findings_in({**BASE, "lr": 0.5}, [run, *noisy]))[0] == ("repeat", "hover", "a:1")


def test_a_number_beyond_all_floats_takes_nothing_down() -> None:
    text = '{"lr": 0.01, "depth": 4, "width": 128, "vocab_buckets": 1' + "0" * 350 + "}"
    pool = [dead("a:1", {**BASE, "vocab_buckets": 5}), dead("a:2", {"lr": 0.01, "depth": 4, "vocab_buckets": 10**400})]
    assert squiggles(findings_in(text, pool, language="json")) == []


@pytest.mark.parametrize(
    "tooling",
    [
        "wandb: {name: run-17, tags: [x]}\n",
        "experiment: {name: new}\n",
        "callbacks: {checkpoint: {save_top_k: 3}}\n",
        "hydra: {job: {chdir: true}}\n",
        "launcher: {mem_gb: 64}\n",
    ],
)
def test_containers_of_tools_are_no_new_knobs(tooling: str) -> None:
    assert squiggles(findings_in(tooling + yaml_of(BASE), [dead("a:1", BASE)])) == [("repeat", "warning", "a:1")]


def test_a_move_is_found_in_whatever_order_its_changes_stand() -> None:
    for changes in ({"epochs": (3, 5), "lr": (0.01, 0.5)}, {"lr": (0.01, 0.5), "epochs": (3, 5)}):
        run = dead("a:1", {**BASE, "epochs": 5, "lr": 0.5}, changes=changes)
        found = findings_in({**BASE, "epochs": 5, "lr": 0.5, "dropout": 0.3}, [run])
        assert squiggles(found) == [("move", "warning", "a:1")]


def test_another_line_in_which_it_worked_contradicts() -> None:
    bad = dead("a:1", BASE, line="vision")
    good = worked("b:1", BASE, line="speech")
    assert squiggles(findings_in(BASE, [bad, good])) == []
    moved = dead("a:1", {**BASE, "lr": 0.5}, changes={"lr": (0.01, 0.5)}, line="vision")
    elsewhere = worked("b:1", {**BASE, "lr": 0.5, "dropout": 0.3, "width": 9}, line="speech")
    assert squiggles(findings_in({**BASE, "lr": 0.5, "dropout": 0.3}, [moved, elsewhere])) == []
    assert squiggles(findings_in({**BASE, "lr": 0.5, "dropout": 0.3}, [moved])) == [("move", "warning", "a:1")]


def test_in_another_line_three_parameters_must_be_equal() -> None:
    home = worked("home", {"warmup": 10})
    near_enough = dead("a:1", {"lr": 0.5, "depth": 4, "width": 128}, changes={"lr": (0.01, 0.5)}, line="speech")
    too_few = dead("a:1", {"lr": 0.5, "depth": 4, "width": 99}, changes={"lr": (0.01, 0.5)}, line="speech")
    draft = {**BASE, "lr": 0.5}
    assert told(findings_in(draft, [near_enough, home])) != []
    assert told(findings_in(draft, [too_few, home])) == []
