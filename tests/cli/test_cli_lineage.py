"""`tried lineage` and `tried diff`: exact lines and keys, of records and of configs that wrap their keys otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from cli_runner import Runner


def run(record_id: str, lr: float, loss: float, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    return {
        "id": record_id,
        "params": {"optimizer.lr": lr, "depth": 4, "seed": 1, **fields.pop("params", {})},
        "metrics": {"val_loss": loss},
        "conclusion": {"outcome": "completed"},
        **({"parent": parent} if parent else {}),
        **fields,
    }


@pytest.fixture
def family(tried: Runner) -> Runner:
    tried.journal(
        run("a", 0.1, 2.0),
        run("b", 0.2, 1.5, "a", name="warmer"),
        run("c", 0.4, 3.0, "b", params={"seed": 2}),
        run("d", 0.2, 1.0, "b", params={"depth": 8}),
    )
    return tried


def test_a_lineage(family: Runner) -> None:
    done = family("lineage", "b")
    assert done.status == 0
    assert done.lines == [
        "✓ a",
        "  ✓ b  warmer  optimizer.lr 0.1 → 0.2; val_loss 2 → 1.5 (better)",
        "    ✗ c  optimizer.lr 0.2 → 0.4; val_loss 1.5 → 3 (worse)",
        "    ✓ d  depth 4 → 8; val_loss 1.5 → 1 (better)",
    ]


def test_the_json_of_a_lineage(family: Runner) -> None:
    report = family("lineage", "c", "--json").json
    assert list(report) == ["schema", "record", "ancestors", "descendants", "missing", "circular", "cut"]
    assert report["schema"] == "tried.lineage/v1"
    assert [(one["id"], one["depth"]) for one in report["ancestors"]] == [("b", -1), ("a", -2)]
    assert report["record"] == {
        "id": "c",
        "name": "",
        "depth": 0,
        "parent": "b",
        "headline": None,
        "summary": "optimizer.lr 0.2 → 0.4; val_loss 1.5 → 3 (worse)",
        "changes": [{"change": "ParamChanged", "key": "optimizer.lr", "from": 0.2, "to": 0.4}],
        "metric_delta": {"val_loss": {"before": 1.5, "after": 3.0, "delta": 1.5}},
    }


def test_what_is_missing_is_said(tried: Runner) -> None:
    tried.journal(run("alone", 1, 1), run("orphan", 1, 1, "\x1b[31mgone"))
    assert "nobody recorded what it came from" in tried("lineage", "alone").err
    assert tried("lineage", "orphan").lines[0] == "…  [31mgone  no source of the pool has it"
    assert "no record nobody" in tried("lineage", "nobody").err


def test_a_diff_of_two_runs(family: Runner) -> None:
    assert family("diff", "b", "c").lines == [
        "− b   + c",
        "  optimizer.lr: 0.2 → 0.4",
        "  val_loss: 1.5 → 3 (worse)",
        "  1 parameter is equal",
        "  1 differ too, and make no other experiment: seed",
    ]


def test_the_json_of_a_diff(family: Runner) -> None:
    report = family("diff", "b", "c", "--json").json
    assert report == {
        "schema": "tried.diff/v1",
        "left": "b",
        "right": "c",
        "equal": 1,
        "parameters": [
            {"key": "optimizer.lr", "before": 0.2, "after": 0.4, "kind": "knob", "compared": True},
            {"key": "seed", "before": 1, "after": 2, "kind": "volatile", "compared": False},
        ],
        "unknown": [],
        "architecture": [],
        "code": None,
        "metrics": [
            {"name": "val_loss", "before": 1.5, "after": 3.0, "delta": 1.5, "direction": "min", "better": False}
        ],
    }


def test_a_diff_with_a_config_whose_keys_are_wrapped(family: Runner) -> None:
    family.write("next.yaml", "hyper:\n  optimizer:\n    lr: 5e-1\n  dropout: 0.1\n")
    assert family("diff", "b", "next.yaml").lines == [
        "− b   + next.yaml",
        "  hyper.optimizer.lr: 0.2 → 0.5",
        "  0 parameters are equal",
        "  1 are not in the file: depth",
    ]
    assert family("diff", "next.yaml", "b").lines[1] == "  optimizer.lr: 0.5 → 0.2"


def test_a_diff_with_a_config_that_holds_the_names_in_parts(tried: Runner) -> None:
    tried.journal({"id": "a", "params": {"model": "resnet18", "optimizer": "adamw", "lr": 0.1}})
    tried.write("next.yaml", "model:\n  name: resnet18\noptimizer:\n  name: adamw\n  lr: 0.1\n")
    assert tried("diff", "a", "next.yaml").lines == [
        "− a   + next.yaml",
        "  nothing that makes another experiment differs",
        "  3 parameters are equal",
    ]


def test_two_equal_runs(tried: Runner) -> None:
    tried.journal(run("a", 1, 1), run("b", 1, 1))
    assert tried("diff", "a", "b").lines[:2] == ["− a   + b", "  nothing that makes another experiment differs"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["b", "nobody"], "no record nobody in the pool"),
        (["b", "empty.yaml"], "holds no parameters"),
        (["b", "x.txt"], "no language of configs"),
    ],
)
def test_mistakes_are_told(family: Runner, arguments: list[str], said: str) -> None:
    family.write("empty.yaml", "# nothing\n")
    family.write("x.txt", "x")
    done = family("diff", *arguments)
    assert (done.status, done.out) == (2, "")
    assert said in done.err


def test_an_empty_pool_says_what_to_do(tried: Runner) -> None:
    for arguments in (["lineage", "a"], ["diff", "a", "b"]):
        done = tried(*arguments)
        assert (done.status, done.out) == (2, "")
        assert "no past experiments found" in done.err
