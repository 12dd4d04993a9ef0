from __future__ import annotations

from typing import Any

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


LR = {**BASE, "lr": 0.5}
TURNED = {"lr": (0.01, 0.5)}
WORSE = {"val_acc": {"before": 0.71, "after": 0.6, "delta": -0.11}}


def test_notes_are_quoted_where_nobody_wrote_a_headline_and_a_generated_one_never_is() -> None:
    fields: dict[str, Any] = {
        "source": "mlflow",
        "verdict": "dead_end",
        "objective": "val_acc",
        "metrics": {"val_acc": 0.6},
        "conclusion": {"outcome": "completed", "derived": True},
        "generated_headline": "finished, val_acc 0.6, 0.11 below its parent",
        "derivation": {"metric_delta": WORSE},
    }
    noted = record("mlflow:1", BASE, notes="Worse: lr 0.01 forgets the pretrained weights. Twice.", **fields)
    (finding,) = findings_in(BASE, [noted])
    assert finding.message == (
        "ran before: dead end, “Worse: lr 0.01 forgets the pretrained weights.”, val_acc 0.71 → 0.6 (mlflow:1)"
    )
    assert finding.why == (
        "Worse: lr 0.01 forgets the pretrained weights.",
        "val_acc 0.71 → 0.6, compared with what it came from.",
        "Twice.",
    )
    (finding,) = findings_in(BASE, [record("mlflow:1", BASE, **fields)])
    assert finding.message == "ran before: dead end, val_acc 0.71 → 0.6 (mlflow:1)"
    assert finding.why == ("val_acc 0.71 → 0.6, compared with what it came from.",)


def test_a_written_headline_is_quoted_if_it_says_more_than_the_cause_and_the_change() -> None:
    def said(headline: str, cause: str) -> str:
        return message(dead("a:1", LR, headline, changes=TURNED, cause=cause, duration=19), dropout=0.3, lr=0.5)

    assert said("needs warmup, try 500 steps", "diverged") == (
        "lr 0.5: diverged after 19 s, “needs warmup, try 500 steps” (a:1)"
    )
    assert said("Diverged at lr 0.5: loss is NaN", "diverged") == "lr 0.5: diverged after 19 s (a:1)"
    assert said("CUDA out of memory", "out_of_memory") == "lr 0.5: out of memory after 19 s (a:1)"
    assert said("OOM, 24 GB card", "out_of_memory") == "lr 0.5: out of memory after 19 s, “OOM, 24 GB card” (a:1)"


def test_a_crash_is_told_by_its_error_and_not_twice() -> None:
    failed: dict[str, Any] = {"conclusion": {"outcome": "failed", "derived": True}, "duration": 0}
    assert message(record("a:1", BASE, generated_headline="failed after 0 s", **failed)) == "ran before: failed (a:1)"
    error = "Traceback …\nKeyError: 'x'\n"
    assert message(record("a:1", BASE, error=error, cause="code_error", **failed)) == (
        "ran before: code error: KeyError: 'x' (a:1)"
    )


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
