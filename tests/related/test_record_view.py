"""One record in full: each part against what stands in the records, worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from record_pool import crash, drafts, pool, run

from tried.findings.settings import FindingSettings
from tried.pool.record import Change, ExperimentRecord
from tried.pool.spool import Spool
from tried.related.change_lines import change_line
from tried.related.record_view import RecordView, record_view

SETTINGS = FindingSettings(research_line="vision")
BASE = {"lr": 0.01, "depth": 4, "dropout": 0.1}
CONFIG = "name: next\nlr: 0.05\ndepth: 4\nwarmup: 100\nseed: 3\n"


def view(folder: Path, name: str, *records: dict[str, Any], config: str = "") -> RecordView:
    snapshot = pool(folder, *records)
    record = snapshot.get(name)
    assert record is not None
    return record_view(record, snapshot, SETTINGS, drafts(config) if config else ())


def rows(shown: RecordView) -> list[tuple[str, str | None, str | None, str]]:
    return [(row.key, row.record, row.draft, row.status) for row in shown.parameters]


def test_parameters_stand_beside_the_draft_differences_first(tmp_path: Path) -> None:
    record = run("a", {**BASE, "seed": 1})
    others = [run(f"o{i}", {**BASE, "depth": i}) for i in range(4)]
    shown = view(tmp_path, "a", record, *others, config=CONFIG)
    assert shown.has_draft
    assert rows(shown) == [
        ("lr", "0.01", "0.05", "differs"),
        ("dropout", "0.1", None, "only_record"),
        ("warmup", None, "100", "only_draft"),
        ("depth", "4", "4", "equal"),
        ("seed", "1", "3", "not_compared"),
        ("name", None, "next", "not_compared"),
    ]


def test_without_a_draft_nothing_is_compared(tmp_path: Path) -> None:
    shown = view(tmp_path, "a", run("a", BASE))
    assert not shown.has_draft
    assert rows(shown) == [(key, str(value), None, "not_compared") for key, value in BASE.items()]


def test_keys_are_aligned_however_they_are_wrapped(tmp_path: Path) -> None:
    record = run("a", {"config/optim/lr": 0.01, "config/model/depth": 4, "config/model/width": 64})
    shown = view(tmp_path, "a", record, config="optim:\n  lr: 0.1\nmodel:\n  depth: 4\n  width: 64\n")
    assert rows(shown) == [
        ("optim.lr", "0.01", "0.1", "differs"),
        ("model.depth", "4", "4", "equal"),
        ("model.width", "64", "64", "equal"),
    ]


def test_where_nothing_aligns_both_sides_are_listed(tmp_path: Path) -> None:
    shown = view(tmp_path, "a", run("a", {"alpha": 1}), config="beta: 2\n")
    assert rows(shown) == [("alpha", "1", None, "only_record"), ("beta", None, "2", "only_draft")]


def test_a_record_that_logs_nothing_lacks_nothing(tmp_path: Path) -> None:
    """What it changed is known, what else it ran with is not."""
    change = {"change": "ParamChanged", "key": "lr", "from": 0.1, "to": 0.5}
    record = run("a", {}, derivation={"from": "b", "changes": [change]})
    shown = view(tmp_path, "a", record, run("b", {"lr": 0.1, "depth": 4}), config="lr: 0.1\ndepth: 4\n")
    assert rows(shown) == [("lr", "0.5", "0.1", "differs"), ("depth", None, "4", "not_compared")]


def test_what_was_cut_off_is_neither_equal_nor_different(tmp_path: Path) -> None:
    record = run("a", {"lr": 0.1, "depth": 4, "layers": "x" * 250})
    shown = view(tmp_path, "a", record, config="lr: 0.1\ndepth: 4\nlayers: y\n")
    assert [(key, status) for key, _, _, status in rows(shown)] == [
        ("lr", "equal"),
        ("depth", "equal"),
        ("layers", "not_compared"),
    ]


def test_of_several_drafts_the_closest_is_taken(tmp_path: Path) -> None:
    config = "lr: 1\ndepth: 9\ndropout: 0.5\n---\nlr: 0.01\ndepth: 4\ndropout: 0.2\n"
    shown = view(tmp_path, "a", run("a", BASE), config=config)
    assert [(key, status) for key, _, _, status in rows(shown)] == [
        ("dropout", "differs"),
        ("lr", "equal"),
        ("depth", "equal"),
    ]


def test_replicates_are_averaged_and_listed_latest_first(tmp_path: Path) -> None:
    """Of 0.90, 0.92 and 0.94 the mean is 0.92 and the sample standard deviation 0.02."""
    records = [
        run(f"a{i}", {**BASE, "seed": i}, 0.90 + 0.02 * i, timestamp=f"2026-11-0{i + 1}T00:00:00Z") for i in range(3)
    ]
    other = run("b", {**BASE, "depth": 5}, 0.5)
    at_other_commit = run("c", {**BASE, "seed": 9}, 0.1, git={"commit": "0123456789abcdef"})
    shown = view(tmp_path, "a1", *records, other, at_other_commit).replicates
    assert shown.runs == 3
    assert [one.id for one in shown.records] == ["a2", "a1", "a0"]
    assert [one.value for one in shown.records] == pytest.approx([0.94, 0.92, 0.90])
    assert shown.result is not None
    assert shown.result.mean == pytest.approx(0.92)
    assert shown.result.spread == pytest.approx(0.02)
    assert (shown.result.metric, shown.result.direction, shown.result.count) == ("val_acc", "max", 3)


def test_metrics_say_what_moved_and_whether_it_helped(tmp_path: Path) -> None:
    parent = run("a", BASE, metrics={"val_acc": 0.9, "val_loss": 1.0, "train_speed_x": 3}, objective="val_acc")
    child = run(
        "b",
        {**BASE, "lr": 0.1},
        metrics={"val_loss": 0.75, "val_acc": 0.85, "novelty": 2.0},
        objective="val_acc",
        parent="a",
    )
    shown = {row.name: row for row in view(tmp_path, "b", parent, child).metrics}
    assert list(shown) == ["val_acc", "val_loss", "novelty"]
    objective = shown["val_acc"]
    assert (objective.value, objective.before, objective.direction) == (0.85, 0.9, "max")
    assert objective.delta == pytest.approx(-0.05)
    assert (objective.is_objective, objective.is_better) == (True, False)
    loss = shown["val_loss"]
    assert (loss.before, loss.delta, loss.direction, loss.is_better) == (1.0, -0.25, "min", True)
    unknown = shown["novelty"]
    assert (unknown.before, unknown.delta, unknown.direction, unknown.is_better) == (None, None, None, None)


@pytest.mark.parametrize(("before", "after", "better"), [(0.9, "nan", False), ("nan", 0.9, True), ("nan", "nan", None)])
def test_a_metric_that_is_no_number_is_worse_than_one_that_is(
    tmp_path: Path, before: Any, after: Any, better: bool | None
) -> None:
    parent = run("a", BASE, before)
    child = run("b", {**BASE, "lr": 0.1}, after, parent="a")
    (row,) = view(tmp_path, "b", parent, child).metrics
    assert row.is_better is better


def test_lineage_is_cut_and_counted_and_ends_at_a_circle(tmp_path: Path) -> None:
    chain = [run(f"c{i}", {"lr": i}, parent=f"c{i - 1}" if i else "c24") for i in range(25)]
    children = [run(f"k{i:02}", {"lr": 100 + i}, parent="c24") for i in range(60)]
    shown = view(tmp_path, "c24", *chain, *children)
    assert [one.id for one in shown.ancestors] == [f"c{i}" for i in range(23, 3, -1)]
    assert shown.children_total == 61  # c0 is one as well
    assert len(shown.children) == 50
    assert [one.id for one in view(tmp_path, "c2", *chain).ancestors][:3] == ["c1", "c0", "c24"]


def test_headlines_say_who_wrote_them(tmp_path: Path) -> None:
    written = run("a", BASE, conclusion={"headline": "too deep", "outcome": "completed"})
    generated = run("b", BASE, generated_headline="finished, val_acc 0.9")
    bare = run("c", BASE)
    for name, expected in (
        ("a", ("too deep", "written")),
        ("b", ("finished, val_acc 0.9", "generated")),
        ("c", ("", "none")),
    ):
        shown = view(tmp_path, name, written, generated, bare)
        assert (shown.headline, shown.headline_kind) == expected


ERROR = "Traceback (most recent call last):\n  File 'train.py'\nCUDA out of memory. Tried to allocate 2 GiB\n"


def test_a_conclusion_may_begin_with_cause_and_last_error(tmp_path: Path) -> None:
    parent = run("a", BASE, 0.9)
    child = crash("b", {**BASE, "depth": 64}, parent="a", error=ERROR, cause="out_of_memory")
    shown = view(tmp_path, "b", parent, child)
    assert shown.prefill == "out of memory: CUDA out of memory. Tried to allocate 2 GiB"
    assert shown.proposed == "dead_end"
    assert (shown.outcome, shown.cause) == ("dead_end", "out_of_memory")


def test_nothing_is_put_over_what_somebody_wrote(tmp_path: Path) -> None:
    conclusion = {"outcome": "crashed", "headline": "the card is too small for 64"}
    told = crash("b", {**BASE, "depth": 64}, cause="out_of_memory", verdict="dead_end", conclusion=conclusion)
    shown = view(tmp_path, "b", run("a", BASE, 0.9), told)
    assert (shown.headline, shown.prefill, shown.proposed) == ("the card is too small for 64", "", "dead_end")
    worse = view(tmp_path, "b", crash("b", BASE, cause="worse"))
    assert worse.prefill == ""


def test_nothing_is_proposed_where_nothing_is_known(tmp_path: Path) -> None:
    worked = view(tmp_path, "a", run("a", BASE, 0.9))
    assert (worked.prefill, worked.proposed) == ("", None)
    error = "ValueError: no such file"
    failed = view(
        tmp_path, "b", run("a", BASE, 0.9), crash("b", {**BASE, "lr": 1}, parent="a", error=error, cause="code_error")
    )
    assert (failed.prefill, failed.proposed) == (f"an error in the code: {error}", None)
    unexplained = view(tmp_path, "b", crash("b", BASE, cause="out_of_memory"))
    assert (unexplained.prefill, unexplained.proposed) == ("out of memory", None)
    judged = view(tmp_path, "b", crash("b", BASE, verdict="inconclusive"))
    assert judged.proposed == "inconclusive"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"change": "ParamChanged", "key": "lr", "from": 0.1, "to": 0.5}, "lr: 0.1 → 0.5"),
        ({"change": "ParamAdded", "key": "warmup", "value": 100}, "warmup: 100 (new)"),
        ({"change": "ParamRemoved", "key": "dropout", "value": True}, "dropout: true (removed)"),
        ({"change": "NodeAdded", "node": "n1", "filter": "step:Dropout"}, "+ step:Dropout"),
        ({"change": "NodeRemoved", "node": "n1"}, "− n1"),
        ({"change": "NodeReplaced", "node": "n1", "from": "step:A", "to": "step:B"}, "step:A → step:B"),
        ({"change": "NodeReconfigured", "node": "n1", "from_hash": "a", "to_hash": "b"}, "n1 reconfigured"),
        ({"change": "EdgeAdded", "source": "a", "target": "b"}, "+ a → b"),
        ({"change": "EdgeRemoved", "source": "a", "target": "b"}, "− a → b"),
        (
            {"change": "CodeChanged", "from_sha": "0123456789abcdef", "to_sha": "fedcba9876543210"},
            "code 0123456789 → fedcba9876",
        ),
        ({"change": "CodeChanged"}, "code changed"),
        ({"change": "SearchSpaceChanged", "added": ["lr"], "removed": []}, "search space: + [lr]"),
        ({"change": "Unspecified", "reason": "cleaned  the\ndata"}, "cleaned the data"),
        ({"change": "Rewired", "node": "n2", "how": "twice"}, "Rewired: n2 twice"),
    ],
)
def test_each_kind_of_change_is_one_line(change: dict[str, Any], line: str) -> None:
    assert change_line(Change.model_validate(change)) == line


def test_what_is_no_experiment_can_be_shown(tmp_path: Path) -> None:
    shown = view(tmp_path, "s", run("s", BASE, role="sweep"), config=CONFIG)
    assert (shown.outcome, shown.plots, shown.replicates.runs) == ("unknown", (), 1)
    assert ("lr", "0.01", "0.05", "differs") in rows(shown)


def test_a_record_is_shown_without_decoding_those_it_is_drawn_among(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What plots and counts need of the others stands in columns."""
    records = [run(f"r{number}", {**BASE, "lr": 0.001 * (number + 1)}, 0.9) for number in range(300)]
    snapshot = pool(tmp_path, *records)
    record = snapshot.get("r7")
    assert record is not None
    decoded: list[int] = []
    read = Spool.record

    def counting(spool: Spool, place: int) -> ExperimentRecord:
        decoded.append(place)
        return read(spool, place)

    monkeypatch.setattr(Spool, "record", counting)
    shown = record_view(record, snapshot, SETTINGS, drafts(CONFIG))
    assert len(shown.plots[0].points) == 200
    assert len(decoded) <= 3
