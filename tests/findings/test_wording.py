from __future__ import annotations

from findings_pool import BASE, crashed, dead, findings_in, record, worked


def message(*records: object, **draft: object) -> str:
    (finding,) = findings_in({**BASE, **draft}, records)  # type: ignore[arg-type]
    return finding.message


def test_the_judged_metric_is_named_with_as_many_digits_as_it_takes() -> None:
    deltas = {
        "epoch_time": {"before": 10.0, "after": 9.0, "delta": -1.0},
        "val_bpb": {"before": 0.99712, "after": 0.99713, "delta": 0.00001},
    }
    run = record(
        "a:1",
        BASE,
        objective="val_bpb",
        metrics={"val_bpb": 0.99713},
        conclusion={"outcome": "completed"},
        verdict="dead_end",
        derivation={"metric_delta": deltas},
    )
    assert message(run) == "ran before: dead end, val_bpb 0.99712 → 0.99713 (a:1)"


def test_the_words_of_an_unnamed_record_are_quoted() -> None:
    assert message(dead("a:1", BASE, "overfits")) == "ran before: dead end, “overfits” (a:1)"
    named = dead("a:1", BASE, "lr too high: overfits", name="lr")
    assert message(named) == "ran before: dead end, “lr too high: overfits” (a:1)"


def test_only_those_of_the_told_reason_are_counted_with_it() -> None:
    memory = crashed("a:9", {**BASE, "seed": 9}, "CUDA out of memory")
    errors = [crashed(f"a:{i}", {**BASE, "seed": i}, "KeyError: 'x'") for i in range(4)]
    assert message(*errors, memory) == "ran before: out of memory (a:9, 4 more ended badly)"


def test_a_running_repeat_is_said_to_run() -> None:
    assert message(record("a:1", BASE, conclusion={"outcome": "running"})) == "is running (a:1)"


def test_what_worked_in_one_line_is_not_counted_with_what_failed_in_another() -> None:
    found = findings_in(BASE, [worked("b:1", BASE, line="speech"), dead("a:1", BASE), worked("a:2", BASE)])
    assert all("more like it" not in finding.message for finding in found)


def test_a_message_is_one_short_printable_line_whatever_the_record_holds() -> None:
    changes = {f"key\x1b{i}\n‮": (0, f"v{i}\n") for i in range(12)}
    params = {**BASE, **{key: new for key, (_, new) in changes.items()}}
    run = dead("id\n\x1b[31m" + "z" * 900, params, "h\n‮x", changes=changes)
    config = {f"key{i}": f"v{i}" for i in range(12)}
    (finding,) = findings_in({**BASE, **config, "dropout": 0.7}, [run])
    assert finding.message.isprintable()
    assert len(finding.message) <= 400
    assert "and 9 more" in finding.message


def test_of_a_long_hexadecimal_id_the_beginning_is_said() -> None:
    (finding,) = findings_in(
        {**BASE, "lr": 0.6}, [dead("mlflow:c94d1f60be3e4f7aa6d8b9057e21a3f5", {**BASE, "lr": 0.5})]
    )
    assert finding.message.endswith("(mlflow:c94d1f60)")
    assert finding.record == "mlflow:c94d1f60be3e4f7aa6d8b9057e21a3f5"
