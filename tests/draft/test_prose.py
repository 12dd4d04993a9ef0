from typing import Any

import pytest
from entry_builder import entries

from tried.draft.prose import Said, said_in
from tried.draft.syntax import parse
from tried.text import LineIndex


def said(tree: dict[str, Any]) -> Said:
    return said_in(entries(tree), (), LineIndex(""))


@pytest.mark.parametrize(
    ("tree", "prose"),
    [
        ({"notes": "the cache was stale"}, ("the cache was stale",)),
        ({"description": "first line\nsecond line\n"}, ("first line\nsecond line",)),
        ({"notes": ["one thing", "another", 3]}, ("one thing", "another")),
        ({"Hypothesis": "x", "wandb_notes": "y", "runComment": "z"}, ("x", "y", "z")),
        ({"experiment": {"why": "since it overfits"}}, ("since it overfits",)),
        ({"notes": {"first": "a b", "size": 3}}, ("a b",)),
        ({"notes": [], "comment": None, "title": "???", "goal": 0.3, "summary": "  "}, ()),
        ({"denoted": "no", "notebook": "x.ipynb"}, ()),
    ],
)
def test_prose_keys(tree: dict[str, Any], prose: tuple[str, ...]) -> None:
    assert said(tree).prose == prose


def test_comments_come_before_the_values_of_prose_keys() -> None:
    text = "notes: |\n  as said\n  below\n# Longer warmup than before\nlr: 0.1 # a guess\n"
    parsed = parse(text, "yaml")
    assert said_in(parsed.entries, parsed.comments, LineIndex(text)).prose == (
        "Longer warmup than before",
        "a guess",
        "as said\n  below".replace("  ", ""),
    )


@pytest.mark.parametrize(
    ("tree", "name"),
    [
        ({"name": "wide-net"}, "wide-net"),
        ({"run_name": "a", "name": "b"}, "b"),
        ({"experiment": {"name": "first"}}, "first"),
        ({"TrainConfig": {"run_name": "from a dataclass"}}, "from a dataclass"),
        ({"logger": {"wandb": {"name": "deep"}}, "run_name": "near"}, "near"),
        ({"env": {"RUN_ID": "0051_muon"}}, "0051_muon"),
        ({"name": "${model}-x", "exp_name": "y"}, "y"),
        ({"name": 7}, "7"),
        ({"model": {"name": "resnet"}, "dataset": {"name": "mnist"}, "optimizer": {"name": "adam"}}, None),
        ({"layers": [{"name": "conv1", "units": 3}]}, None),
        ({"name": True}, None),
        ({"name": "x" * 301}, None),
        ({"project": "p", "experiment_name": "second"}, "second"),
        ({"experiment_name": "line of work"}, None),
    ],
)
def test_the_name(tree: dict[str, Any], name: str | None) -> None:
    assert said(tree).name == name


def test_the_name_comes_with_its_entry() -> None:
    listed = entries({"lr": 0.1, "run": {"name": "third"}})
    found = said_in(listed, (), LineIndex(""))
    assert found.name_entry is listed[2]
    assert said({"lr": 0.1}).name_entry is None


@pytest.mark.parametrize(
    ("tree", "line"),
    [
        ({"research_line": "pruning", "project": "other"}, "pruning"),
        ({"project": "speech"}, "speech"),
        ({"project": {"name": "speech"}}, "speech"),
        ({"project_name": "speech", "experiment_name": "dev"}, "speech"),
        ({"main": {"experiment_name": "dev"}}, "dev"),
        ({"wandb_project": "a"}, "a"),
        ({"WANDB_PROJECT": "a"}, "a"),
        ({"training": {"callbacks": {"wandb_project": "deep"}}}, "deep"),
        ({"wandb": {"project": "b"}}, "b"),
        ({"trainer": {"logger": {"init_args": {"project": "c"}}}}, "c"),
        ({"mlflow": {"experiment_name": "d"}}, "d"),
        ({"wandb_project": None, "project": "${oc.env:P}"}, None),
        ({"project": "your_project"}, None),
        ({"research_line": "<line>"}, None),
        ({"model": {"project": "no"}}, None),
        ({"lr": 0.1}, None),
    ],
)
def test_the_research_line(tree: dict[str, Any], line: str | None) -> None:
    assert said(tree).research_line == line


@pytest.mark.parametrize(
    ("tree", "tags"),
    [
        ({"tags": ["a", "b", "a"]}, ("a", "b")),
        ({"tags": "a, b,c"}, ("a", "b", "c")),
        ({"wandb": {"tags": ["x"]}}, ("x",)),
        ({"tags": {"team": "speech", "priority": 2}}, ("speech",)),
        ({"wandb_tags": "['x', 'y']"}, ("x", "y")),
        ({"model": {"tags": ["no"]}}, ()),
        ({"tokenizer": {"pos_tags": True}, "tags": []}, ()),
    ],
)
def test_tags(tree: dict[str, Any], tags: tuple[str, ...]) -> None:
    assert said(tree).tags == tags
