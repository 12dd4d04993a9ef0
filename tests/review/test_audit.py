"""What counts as a repeat and what does not, case by case, and the sums."""

from __future__ import annotations

import random
from typing import Any

from review_pool import failed, record, runs_from

from tried.pool.record import ExperimentRecord
from tried.review.audit import Audit, Cost, audit

PARAMS = {"lr": 0.1, "depth": 4, "width": 64}


def run(record_id: str, day: int, params: dict[str, Any] | None = None, **fields: Any) -> ExperimentRecord:
    fields.setdefault("timestamp", f"2026-03-{day:02}T00:00:00Z")
    fields.setdefault("duration", 3600)
    return record(record_id, {**PARAMS, **(params or {})}, **fields)


def bad(record_id: str, day: int, cause: str, **fields: Any) -> ExperimentRecord:
    return failed(record_id, PARAMS, cause, **{"timestamp": f"2026-03-{day:02}T00:00:00Z", "duration": 1800, **fields})


def told(*records: ExperimentRecord) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    found = audit(runs_from(records))
    return (
        [(one.run.id, one.earlier.id) for one in found.repeats],
        [(one.run.id, one.earlier.id) for one in found.retries],
    )


def test_the_same_again_is_a_repeat_of_the_latest_before_it() -> None:
    assert told(run("c", 3), run("a", 1), run("b", 2)) == ([("b", "a"), ("c", "b")], [])


def test_values_are_compared_as_values() -> None:
    assert told(run("a", 1), run("b", 2, {"lr": "1e-1"})) == ([("b", "a")], [])
    assert told(run("a", 1), run("b", 2, {"lr": 0.2})) == ([], [])


def test_seeds_make_replicates_and_equal_seeds_do_not() -> None:
    runs = [run("a", 1, {"seed": 1}), run("b", 2, {"seed": 2}), run("c", 3, {"seed": 1})]
    assert told(*runs) == ([("c", "a")], [])
    assert audit(runs_from(runs)).replicates == 1
    folds = [run(f"f{i}", i + 1, {"cv.fold": i, "random_state": 7}) for i in range(3)]
    assert (told(*folds), audit(runs_from(folds)).replicates) == (([], []), 2)


def test_names_and_output_folders_make_no_replicate() -> None:
    runs = (run("a", 1, {"run_name": "x", "output_dir": "/a"}), run("b", 2, {"run_name": "y", "output_dir": "/b"}))
    assert told(*runs) == ([("b", "a")], [])


def test_side_by_side_is_no_repeat_since_nothing_was_known_yet() -> None:
    first = run("a", 1, duration=3600)
    beside = run("b", 1, timestamp="2026-03-01T00:59:59Z")
    after = run("c", 1, timestamp="2026-03-01T01:00:00Z")
    assert told(first, beside) == ([], [])
    assert told(first, after) == ([("c", "a")], [])
    assert audit(runs_from([first, beside])).replicates == 1
    endless = run("a", 1, duration=3e11), run("b", 2)  # ends on no day that there is
    last = run("a", 1, timestamp="9999-12-31T01:00:00Z", duration=86_400), run("b", 1, timestamp="9999-12-31T02:00:00Z")
    assert (told(*endless), told(*last)) == (([], []), ([], []))
    unknown = {"duration": None}
    assert told(run("a", 1, **unknown), run("b", 1, **unknown)) == ([], [])
    assert told(run("a", 1, **unknown), run("b", 2, **unknown)) == ([("b", "a")], [])


def test_another_line_another_code_another_architecture_is_no_repeat() -> None:
    assert told(run("a", 1), run("b", 2, research_line="audio")) == ([], [])
    one, other = {"git": {"sha": "a" * 40}}, {"git": {"sha": "b" * 40}}
    assert told(run("a", 1, **one), run("b", 2, **other)) == ([], [])
    assert audit(runs_from([run("a", 1, **one), run("b", 2, **other)])).other_code == 1
    assert told(run("a", 1, **one), run("b", 2, git={"commit": "a" * 7})) == ([("b", "a")], [])
    assert told(run("a", 1, **one), run("b", 2)) == ([("b", "a")], [])
    graph = {"architecture": {"digest": "x", "nodes": {"n": "filter:A"}, "edges": []}}
    assert told(run("a", 1), run("b", 2, **graph)) == ([], [])


def test_members_of_one_search_and_what_was_meant_are_no_repeats() -> None:
    assert told(run("a", 1, sweep="s"), run("b", 2, sweep="s")) == ([], [])
    assert told(run("a", 1, sweep="s"), run("b", 2, sweep="t")) == ([("b", "a")], [])
    assert told(run("a", 1), run("b", 2, name="baseline, rerun")) == ([], [])
    assert told(run("a", 1), run("b", 2, tags=["Replicate"])) == ([], [])
    assert told(run("a", 1), run("b", 2, tags=["debug"])) == ([], [])
    assert told(run("a", 1, hypothesis="x"), run("b", 2, hypothesis="y")) == ([], [])


def test_few_parameters_tell_nothing_and_changes_in_words_neither() -> None:
    short = {"lr": 0.1, "depth": 4}
    two = [record(name, short, timestamp=f"2026-03-0{i}T00:00:00Z") for i, name in enumerate("ab", start=1)]
    assert told(*two) == ([], [])
    assert audit(runs_from(two)).not_compared == 2
    words = {"derivation": {"changes": [{"change": "Unspecified", "reason": "a new loss"}]}}
    assert told(run("a", 1), run("b", 2, **words)) == ([], [])


def test_cut_values_are_neither_equal_nor_different() -> None:
    one, other = "x" * 499 + "a", "x" * 499 + "b"
    assert told(run("a", 1, {"text": one}), run("b", 2, {"text": other})) == ([], [])


def test_trying_again_after_a_crash_is_a_retry_until_something_was_learned() -> None:
    for cause in ("code_error", "infrastructure", "stopped", "unknown"):
        assert told(bad("a", 1, cause), run("b", 2)) == ([], [("b", "a")])
    assert told(bad("a", 1, "code_error"), run("b", 2), run("c", 3)) == ([("c", "b")], [("b", "a")])
    assert told(bad("a", 1, "diverged"), run("b", 2)) == ([("b", "a")], [])
    assert told(run("a", 1, conclusion={"outcome": "stopped", "derived": True}), run("b", 2)) == ([], [("b", "a")])


def test_a_run_that_told_nothing_is_tried_again_without_waste() -> None:
    silent = run("a", 1, conclusion={"derived": True})
    assert told(silent, run("b", 2)) == ([], [("b", "a")])
    heard = run("a", 1, conclusion={"derived": True}, metrics={"val_loss": 1.0})
    assert told(heard, run("b", 2)) == ([("b", "a")], [])


def test_what_repeated_a_dead_end_is_counted() -> None:
    found = audit(runs_from([bad("a", 1, "diverged"), bad("b", 2, "diverged"), run("c", 3), run("d", 4)]))
    assert [(one.run.id, one.of_dead_end) for one in found.repeats] == [("b", True), ("c", True), ("d", False)]
    assert found.dead_ends_repeated == Cost(2, 5400.0, 0)


def test_the_sums() -> None:
    found = audit(
        runs_from(
            [
                bad("a", 1, "out_of_memory"),
                bad("b", 2, "out_of_memory"),
                run("c", 3, duration=None),
                run("d", 4, timestamp="2026-04-01T00:00:00Z", duration={"secs": 1, "nanos": 500_000_000}),
                run("x", 5, {"lr": 9}, research_line="audio"),
                run("y", 6, timestamp=None, research_line="audio"),
            ]
        )
    )
    assert found.total == Cost(6, 1800 + 1800 + 1.5 + 3600 + 3600, 1)
    assert found.repeated == Cost(3, 1801.5, 1)
    assert found.by_cause(one.run for one in found.repeats) == {"out_of_memory": Cost(1, 1800.0, 0)}
    assert found.by_cause(found.runs) == {"out_of_memory": Cost(2, 3600.0, 0)}
    assert found.by_line == {"vision": (4, Cost(3, 1801.5, 1)), "audio": (2, Cost())}
    assert list(found.by_month.items()) == [
        ("2026-03", (4, Cost(2, 1800.0, 1))),
        ("2026-04", (1, Cost(1, 1.5, 0))),
        (None, (1, Cost())),
    ]


def test_nothing_gives_nothing() -> None:
    assert audit([]) == Audit()


def test_the_order_of_the_pool_makes_no_difference_where_times_tell() -> None:
    records = [run(f"r{i}", 1 + i % 9, {"lr": i % 3, "seed": i % 2}) for i in range(40)]
    records = [
        r.model_copy(update={"timestamp": f"2026-03-{1 + i % 28:02}T{i % 24:02}:00:00Z"}) for i, r in enumerate(records)
    ]
    first = told(*records)
    random.Random(5).shuffle(records)
    assert told(*records) == first
    assert first[0]
