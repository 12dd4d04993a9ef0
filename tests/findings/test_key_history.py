from __future__ import annotations

from findings_pool import BASE, at_time, crashed, dead, worked, yaml_of

from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings import FindingSettings
from tried.findings.key_history import KeyHistory, is_untried, key_history
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord


def history_of(key: str, config: dict[str, object], records: list[ExperimentRecord]) -> KeyHistory | None:
    text = yaml_of(config)
    (draft,) = drafts_of(parse(text, "yaml"), text)
    parameter = next(p for p in draft.parameters if p.shown == key)
    return key_history(draft, parameter, ParameterHistory.empty().updated((), records), FindingSettings())


POOL = [
    worked("a:1", {**BASE, "lr": 0.01}, metrics={"val_loss": 0.50}),
    worked("a:2", {**BASE, "lr": 0.01, "seed": 2}, metrics={"val_loss": 0.40}),
    worked("a:3", {**BASE, "lr": 0.02}, metrics={"val_loss": 0.30}),
    dead("a:4", {**BASE, "lr": 0.5}, "diverges", changes={"lr": (0.01, 0.5)}, metrics={"val_loss": float("nan")}),
]


def test_values_with_runs_outcomes_and_the_best_objective() -> None:
    found = history_of("lr", {**BASE, "lr": 0.02}, POOL)
    assert found is not None
    assert (found.key, found.draft, found.research_line, found.runs, found.tried) == ("lr", "0.02", "vision", 4, True)
    rows = [(v.text, v.is_draft, v.runs, v.worked, v.dead_ends, v.best and v.best.value) for v in found.values]
    assert rows == [("0.02", True, 1, 1, 0, 0.30), ("0.01", False, 2, 2, 0, 0.40), ("0.5", False, 1, 0, 1, None)]
    assert found.values[1].records == ("a:2", "a:1")


def test_records_and_steps_are_told_from_the_latest_by_timestamp() -> None:
    times = {"a:1": "2026-03-02", "a:2": "2026-03-01", "a:4": "2026-03-09", "a:5": "2026-03-08"}
    other = dead(
        "a:5", {**BASE, "lr": 0.7}, "diverges", changes={"lr": (0.01, 0.7)}, metrics={"val_loss": float("nan")}
    )
    runs = [at_time(run, times.get(run.id)) for run in [*POOL, other]]
    found = history_of("lr", {**BASE, "lr": 0.01}, runs)
    assert found is not None
    assert found.values[0].records == ("a:1", "a:2")
    assert [step.record for step in found.turned] == ["a:4", "a:5"]


def test_a_value_that_was_never_tried_is_said() -> None:
    found = history_of("lr", {**BASE, "lr": 0.03}, POOL)
    assert found is not None
    assert not found.tried
    assert not any(value.is_draft for value in found.values)


def test_what_came_of_turning_the_knob_from_here() -> None:
    found = history_of("lr", {**BASE, "lr": 0.01}, POOL)
    assert found is not None
    assert [(t.text, t.happened, t.record) for t in found.turned] == [("0.5", "diverged", "a:4")]


def test_a_key_that_no_run_logged_has_no_history() -> None:
    assert history_of("mixup", {**BASE, "mixup": 1}, POOL) is None


def test_a_higher_metric_is_better_where_its_name_says_so() -> None:
    runs = [worked(f"a:{i}", BASE, metrics={"accuracy": v}) for i, v in enumerate((0.7, 0.9, 0.8))]
    found = history_of("lr", dict(BASE), [*runs, crashed("a:9", BASE)])
    assert found is not None
    best = found.values[0].best
    assert best is not None
    assert (best.metric, best.value, best.record) == ("accuracy", 0.9, "a:1")


def untried(key: str, config: dict[str, object], records: list[ExperimentRecord], line: str | None = "vision") -> bool:
    text = yaml_of(config)
    (draft,) = drafts_of(parse(text, "yaml"), text)
    parameter = next(p for p in draft.parameters if p.shown == key)
    history = ParameterHistory.empty().updated((), records)
    return is_untried(draft, parameter, history, FindingSettings(research_line=line))


def test_never_tried_is_said_only_where_it_is_certain() -> None:
    other_line = [worked("b:1", {"config.mixup": 1}, line="speech")]
    by_description = [dead(f"c:{i}", {}, changes={"mixup": (0, i + 1)}) for i in range(9)]
    assert untried("mixup", {**BASE, "mixup": 1}, POOL)
    assert not untried("lr", {**BASE}, POOL)
    assert not untried("mixup", {**BASE, "mixup": 1}, [*POOL, *other_line])
    assert not untried("ema", {**BASE, "ema": 1}, [*POOL, *other_line], line=None)
    assert not untried("ema", {**BASE, "ema": 1}, by_description)


def test_a_fragment_of_unknown_line_is_told_of_the_line_that_tried_its_key_most() -> None:
    lines = [worked("b:1", {"x.lr": 1}, line="speech"), *POOL]
    found = history_of("lr", {"lr": 0.01}, lines)
    assert found is not None
    assert (found.research_line, found.runs, found.values[0].is_draft) == ("vision", 4, True)


def test_dead_ends_by_the_value_itself_are_told_from_those_that_merely_had_it() -> None:
    died_of_depth = dead("a:5", {**BASE, "lr": 0.5, "depth": 9}, changes={"depth": (4, 9)})
    found = history_of("lr", {**BASE, "lr": 0.5}, [*POOL, died_of_depth])
    assert found is not None
    assert (found.values[0].text, found.values[0].dead_ends, found.values[0].by_this) == ("0.5", 2, 1)


BIRDS = "project: birds\nmodel:\n  name: resnet18\noptimizer:\n  name: adamw\nlr: 0.01\ndepth: 4\n"
FLAT = {"model": "resnet18", "optimizer": "adamw", "lr": 0.01, "depth": 4}


def history_in_lines(shown: str, text: str, records: list[ExperimentRecord]) -> KeyHistory | None:
    (draft,) = drafts_of(parse(text, "yaml"), text)
    parameter = next(p for p in draft.parameters if p.shown == shown)
    return key_history(draft, parameter, ParameterHistory.empty().updated((), records), FindingSettings())


def test_a_name_is_found_where_the_line_logged_it_flat() -> None:
    other = [worked(f"h:{i}", {"model": {"name": "vit"}, "lr": 0.01, "depth": i}, line="hydra") for i in range(9)]
    found = history_in_lines("model.name", BIRDS, [worked("b:1", FLAT, line="birds"), *other])
    assert found is not None
    assert (found.research_line, found.own, found.tried, found.runs) == ("birds", True, True, 1)


def test_another_line_says_that_it_is_another_and_what_is_missing_in_the_own_one() -> None:
    own, text = worked("b:1", {"lr": 0.01}, line="birds"), "project: birds\nlr: 0.01\nmixup: 0.2\n"
    other = worked("h:1", {"mixup": 0.5}, line="hydra")
    found = history_in_lines("mixup", text, [own, other])
    assert found is not None
    assert (found.research_line, found.own, found.missing_in, found.tried) == ("hydra", False, "birds", False)
    unclear = worked("b:2", {"head": {"mixup": 1}, "body": {"mixup": 2}}, line="birds")
    found = history_in_lines("mixup", text, [own, unclear, other])
    assert found is not None
    assert (found.own, found.missing_in) == (False, None), "it may have been either of the two"


def test_a_name_that_may_be_a_part_of_what_was_logged_is_not_said_to_be_untried() -> None:
    def untried(text: str, logged: dict[str, object]) -> bool:
        text += "depth: 1\n"
        draft = drafts_of(parse(text, "yaml"), text)[0]
        history = ParameterHistory.empty().updated((), [worked("a:1", {**logged, "depth": 1})])
        return is_untried(draft, draft.parameters[0], history, FindingSettings())

    assert untried("model:\n  name: a\n", {"lr": 1})
    assert not untried("model:\n  name: a\n", {"model": "a"})
    assert not untried("model:\n  type: a\n", {"net": {"model": "a"}})
    assert not untried("model: a\n", {"model": {"_target_": "lib.A"}})
    assert untried("model: a\n", {"submodel": {"name": "a"}})
