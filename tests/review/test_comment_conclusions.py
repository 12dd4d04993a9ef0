"""Comments that conclude, and the runs that they are about."""

from __future__ import annotations

import pytest
from review_pool import failed, record

from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings.settings import FindingSettings
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord, Verdict
from tried.review.comment_conclusions import CommentConclusion, Offer, conclusions_in, offers, read_comment, without_run
from tried.text import LineIndex

CONFIG = """\
research_line: vision
optimizer:
  lr: 0.5  # dead end: diverges, warmup did not help
depth: 4  # works: as deep as it needs to be
width: 64
"""


def said_in(text: str, language: str = "yaml") -> list[CommentConclusion]:
    parsed = parse(text, language)
    return [one for draft in drafts_of(parsed, text) for one in conclusions_in(draft, parsed.comments, LineIndex(text))]


def offered(text: str, *records: ExperimentRecord) -> list[Offer]:
    parsed = parse(text, "yaml")
    history = ParameterHistory.empty().updated((), records)
    (draft,) = drafts_of(parsed, text)
    return offers(draft, conclusions_in(draft, parsed.comments, LineIndex(text)), history, FindingSettings())


@pytest.mark.parametrize(
    ("comment", "read"),
    [
        ("dead end: diverges", ("dead_end", "diverges")),
        ("Dead-End :  too   slow", ("dead_end", "too slow")),
        ("DEADEND: x", ("dead_end", "x")),
        ("works: with warmup", ("works", "with warmup")),
        ("inconclusive: noise", ("inconclusive", "noise")),
        ("as in the paper  # dead end: no", ("dead_end", "no")),
        ("dead end: hot  # tried: ignore", ("dead_end", "hot")),
        ("dead end", None),
        ("dead end:", None),
        ("this was a dead end: no", None),
        ("networks: 3", None),
        ("it works: yes", None),
        ("tried: ignore dead end: x", None),
        ("dead end: " + "x" * 1001, None),
    ],
)
def test_what_is_a_conclusion(comment: str, read: tuple[Verdict, str] | None) -> None:
    assert read_comment(comment) == read


def test_it_is_about_the_value_on_its_line() -> None:
    found = said_in(CONFIG)
    assert [(one.parameter.key, one.verdict, one.reason) for one in found] == [
        ("optimizer.lr", "dead_end", "diverges, warmup did not help"),
        ("depth", "works", "as deep as it needs to be"),
    ]
    assert found[0].line.of(CONFIG) == "  lr: 0.5  # dead end: diverges, warmup did not help"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("# dead end: all of it\nlr: 1\n", "yaml"),
        ("optimizer:  # dead end: adam\n  lr: 1\n", "yaml"),
        ("{lr: 1, wd: 2}  # dead end: which?\n", "yaml"),
        ("seed: 3  # dead end: bad luck\n", "yaml"),
        ("lr: ${x}  # dead end: unknown\n", "yaml"),
        ("x = dict(lr=1, wd=2)  # dead end: which?\n", "python"),
    ],
)
def test_where_nobody_can_tell_what_is_meant_there_is_none(text: str, language: str) -> None:
    assert said_in(text, language) == []


def test_python_and_toml() -> None:
    assert [one.parameter.key for one in said_in("lr = 0.5  # dead end: hot\n", "python")] == ["lr"]
    assert [one.parameter.key for one in said_in("lr = 0.5  # dead end: hot\n", "toml")] == ["lr"]


def test_the_runs_that_it_matches() -> None:
    hot = {"optimizer.lr": 0.5, "depth": 4}
    found = offered(
        CONFIG,
        failed("less", {**hot, "width": 8}),
        failed("most", {**hot, "width": 64}),
        failed("said", hot, verdict="dead_end"),
        failed("cold", {**hot, "optimizer.lr": 0.1}),
        failed("other", hot, research_line="audio"),
        record("fine", {**hot, "width": 64}),
    )
    assert [(one.said.parameter.key, [run.id for run in one.runs]) for one in found] == [
        ("optimizer.lr", ["most", "less"]),
        ("depth", ["fine"]),
    ]


@pytest.mark.parametrize(
    ("reason", "about"),
    [
        ("plain too slow", {"diverged", "worse", "unknown"}),
        ("diverges without warmup", {"diverged", "unknown"}),
        ("did not help", {"diverged", "worse", "unknown"}),
        ("out of memory on the small card", {"out_of_memory", "unknown"}),
        ("a KeyError in the loader", {"code_error", "unknown"}),
        ("preempted each time", {"infrastructure", "unknown"}),
        ("killed", {"stopped", "unknown"}),
    ],
)
def test_a_run_that_ended_for_another_cause_is_not_meant(reason: str, about: set[str]) -> None:
    runs = [
        failed(cause, {"lr": 0.5, "depth": 4}, cause)
        for cause in ("diverged", "worse", "unknown", "out_of_memory", "code_error", "infrastructure", "stopped")
    ]
    (offer,) = offered(f"research_line: vision\nlr: 0.5  # dead end: {reason}\ndepth: 4\n", *runs)
    assert {run.id for run in offer.runs} == about


def test_what_is_about_no_run_is_told() -> None:
    parsed = parse(CONFIG, "yaml")
    (draft,) = drafts_of(parsed, CONFIG)
    said = conclusions_in(draft, parsed.comments, LineIndex(CONFIG))
    history = ParameterHistory.empty().updated((), [failed("hot", {"optimizer.lr": 0.5, "width": 64})])
    found = offers(draft, said, history, FindingSettings())
    assert [one.parameter.key for one in without_run(said, found)] == ["depth"]
    assert without_run([], []) == []


def test_without_a_run_there_is_no_offer() -> None:
    assert offered(CONFIG) == []
    assert offered(CONFIG, failed("cold", {"optimizer.lr": 0.1, "depth": 5})) == []
