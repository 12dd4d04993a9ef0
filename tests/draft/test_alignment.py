from __future__ import annotations

from collections.abc import Iterable

from tried.draft.alignment import AlignedDraft, align
from tried.draft.parameters import parameters_of
from tried.draft.syntax import parse
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord


def aligned(text: str, keys: Iterable[str]) -> AlignedDraft:
    record = ExperimentRecord(id="r", params={key: index + 1 for index, key in enumerate(keys)})
    line = ParameterHistory.empty().updated((), [record]).lines[None]
    return align(parameters_of(parse(text, "yaml").entries), line.keys, line.keys_by_suffix)


def matched(found: AlignedDraft) -> dict[str, str]:
    return {key: parameter.shown for key, parameter in found.values.items()}


def test_a_container_in_the_config_is_taken_off() -> None:
    found = aligned("slot: D7\nenv:\n  MATRIX_LR: 0.1\n  DEPTH: 4\n  EMA: 1\n", ["matrix_lr", "depth"])
    assert matched(found) == {"matrixlr": "env.MATRIX_LR", "depth": "env.DEPTH"}
    assert [parameter.shown for parameter in found.new] == ["env.EMA"]


def test_a_prefix_of_the_tracker_is_taken_off() -> None:
    assert matched(aligned("lr: 1\ndepth: 2\n", ["config/lr", "config/depth"])) == {
        "config.lr": "lr",
        "config.depth": "depth",
    }


def test_both_sides_may_wrap() -> None:
    assert matched(aligned("trainer:\n  lr: 1\n", ["config.lr"])) == {"config.lr": "trainer.lr"}


def test_the_whole_key_wins() -> None:
    found = aligned("lr: 1\nhead:\n  lr: 2\n", ["lr", "head.lr"])
    assert matched(found) == {"lr": "lr", "head.lr": "head.lr"}


def test_an_ambiguous_end_matches_nothing() -> None:
    assert matched(aligned("lr: 1\n", ["head.lr", "body.lr"])) == {}
    assert matched(aligned("head:\n  lr: 1\nbody:\n  lr: 2\n", ["lr"])) == {}


def test_a_bare_name_says_too_little_to_be_matched_by_its_end() -> None:
    assert matched(aligned("model:\n  name: a\n", ["optimizer.name"])) == {}


def test_nested_parts_of_a_matched_container_are_new_knobs() -> None:
    found = aligned("params:\n  lr: 1\n  ema:\n    decay: 0.9\nlaunch:\n  slot: 7\n", ["lr"])
    assert [parameter.shown for parameter in found.new] == ["params.ema.decay"]


def test_what_surrounds_the_container_is_no_match_even_if_a_name_agrees() -> None:
    text = "slot: D7\nphase_tag: x\npatches: [a, b]\nenv:\n  lr: 1\n  depth: 2\n"
    found = aligned(text, ["lr", "depth", "patches"])
    assert matched(found) == {"lr": "env.lr", "depth": "env.depth"}
    assert found.new == ()
    mostly_known = aligned(
        "seq: 1\npatches: 2\nslot: 3\nenv:\n  lr: 1\n  depth: 2\n  ema: 3\n", ["lr", "depth", "ema", "seq", "patches"]
    )
    assert {"seq", "patches"} <= mostly_known.values.keys()
    assert [parameter.shown for parameter in mostly_known.new] == ["slot"]


def test_a_bare_name_at_the_root_is_not_the_end_of_a_longer_key() -> None:
    assert matched(aligned("name: a\nlr: 1\n", ["optimizer.name", "lr"])) == {"lr": "lr"}


def test_what_matches_by_its_end_gives_way_to_what_matches_whole() -> None:
    found = aligned("lr: 1\nbody:\n  lr: 2\n", ["lr"])
    assert matched(found) == {"lr": "lr"}


def test_a_container_half_known_is_one() -> None:
    found = aligned("seq: 1\nslot: 3\nenv:\n  lr: 1\n  depth: 2\n", ["lr", "depth", "seq"])
    assert "seq" in found.values


def test_the_same_value_at_two_places_is_not_ambiguous() -> None:
    text = "base: &b {lr: 0.5, batch: 64}\nrun:\n  <<: *b\n  depth: 12\n"
    found = aligned(text, ["lr", "batch", "depth"])
    assert set(found.values) == {"lr", "batch", "depth"}
    assert found.ambiguous == frozenset()


def test_the_name_of_a_mapping_is_what_was_logged_flat() -> None:
    found = aligned("model:\n  name: resnet18\n  depth: 2\nlr: 1\n", ["model", "lr"])
    assert matched(found) == {"model": "model.name", "lr": "lr"}
    assert [parameter.shown for parameter in found.new] == ["model.depth"]
    assert matched(aligned("cfg:\n  model:\n    name: a\n", ["config/model"])) == {"config.model": "cfg.model.name"}


def test_what_is_written_flat_is_the_name_that_was_logged() -> None:
    assert matched(aligned("model: resnet18\nlr: 1\n", ["model.name", "model.depth", "lr"])) == {
        "model.name": "model",
        "lr": "lr",
    }


def test_a_name_is_itself_where_both_were_logged() -> None:
    assert matched(aligned("model:\n  name: a\n", ["model", "model.name"])) == {"model.name": "model.name"}
    assert matched(aligned("model: a\n", ["model", "model.name"])) == {"model": "model"}
    both = aligned("model: a\nmodel.name: b\nlr: 1\n", ["model", "lr"])
    assert matched(both) == {"model": "model", "lr": "lr"}


def test_only_the_name_stands_for_its_owner_and_only_where_it_is_certain_which() -> None:
    assert matched(aligned("model:\n  type: a\nlr: 1\n", ["model", "lr"])) == {"lr": "lr"}
    assert matched(aligned("model: a\nlr: 1\n", ["teacher.model.name", "student.model.name", "lr"])) == {"lr": "lr"}
    assert matched(aligned("name: a\nlr: 1\n", ["name.name", "lr"])) == {"lr": "lr"}


def test_a_key_of_very_many_segments_is_matched_by_its_inner_ones_in_no_time() -> None:
    long = ".".join(["a"] * 20_000)
    assert matched(aligned(f"{long}.lr: 1\n{long}.depth: 2\n", ["lr", "depth"])).keys() == {"lr", "depth"}
