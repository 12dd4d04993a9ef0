"""Conclusions that people wrote into a config: ``lr: 0.5  # dead end: diverges, warmup did not help``.

A trailing comment that begins with a verdict and a colon is about the one value on its line, and so about the runs of
the same research line that had this value, ended as the verdict says, for no other cause than the comment does, and of
which nobody wrote why.

Invariant: the same text and history give the same offers; a comment that is no such conclusion gives none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tried.draft.directives import without_directives
from tried.draft.draft import ExperimentDraft
from tried.draft.entries import Comment
from tried.draft.parameters import COMPARED_KINDS, Parameter, is_known
from tried.findings.find import scopes
from tried.findings.settings import FindingSettings
from tried.pool.causes import cause_in
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.history.run import Ending, Run
from tried.pool.record import Cause, Verdict
from tried.review.runs import is_concluded
from tried.text import LineIndex, Span

VERDICTS: Final[Mapping[str, Verdict]] = {
    "dead end": "dead_end",
    "deadend": "dead_end",
    "works": "works",
    "worked": "works",
    "inconclusive": "inconclusive",
}
_SAID: Final = re.compile(
    r"(?:\A|(?<=\s)(?:#+|//+))\s*(dead[ _-]?end|works|worked|inconclusive)\s*:\s*(\S.*)", re.IGNORECASE | re.DOTALL
)
_ENDINGS: Final[Mapping[Verdict, tuple[Ending, ...]]] = {
    "dead_end": ("dead_end",),
    "works": ("worked",),
    "inconclusive": ("dead_end", "worked", "open"),
}
_OF_THE_RESULT: Final[tuple[Cause, ...]] = ("diverged", "worse", "unknown")
"""Causes of which a comment can be that names none ("too slow"): what broke, ran out of memory or was stopped says
nothing of the idea, so a comment must name that to be about it."""
LONGEST: Final = 1_000
"""Characters of a reason; what is longer is no conclusion."""


@dataclass(frozen=True, slots=True)
class CommentConclusion:
    """What a comment concludes about a parameter; `line` is the span of the line that both stand on."""

    parameter: Parameter
    verdict: Verdict
    reason: str
    line: Span


@dataclass(frozen=True, slots=True)
class Offer:
    """A comment, and the runs whose conclusion it can become, the most similar to the draft first."""

    said: CommentConclusion
    runs: tuple[Run, ...]


def may_conclude(text: str) -> bool:
    """A quick look: False where a text holds no such comment."""
    lower = text.lower()
    return any(word in lower for word in ("dead", "work", "inconclusive"))


def conclusions_in(draft: ExperimentDraft, comments: Sequence[Comment], lines: LineIndex) -> list[CommentConclusion]:
    """The conclusions among the comments of a document, in the order of the text.

    A line with several values tells not which one is meant, and is left out.
    """
    by_line: dict[int, list[Parameter]] = {}
    for parameter in draft.parameters:
        by_line.setdefault(lines.line_of(parameter.entry.span.start), []).append(parameter)
    found: list[CommentConclusion] = []
    for comment in comments:
        if comment.own_line or not (read := read_comment(comment.text)):
            continue
        number = lines.line_of(comment.span.start)
        beside = [one for one in by_line.get(number, ()) if one.entry.span.end <= comment.span.start]
        if len(beside) == 1 and beside[0].kind in COMPARED_KINDS and is_known(beside[0].value):
            found.append(CommentConclusion(beside[0], *read, lines.line_span(number)))
    return found


def read_comment(comment: str) -> tuple[Verdict, str] | None:
    """(verdict, reason) of a comment that is a conclusion."""
    match = _SAID.search(without_directives(comment))
    if match is None:
        return None
    word = " ".join(re.split(r"[\s_-]+", match[1].lower()))
    reason = " ".join(match[2].split())
    return (VERDICTS[word], reason) if len(reason) <= LONGEST else None


def offers(
    draft: ExperimentDraft,
    said: Sequence[CommentConclusion],
    history: ParameterHistory,
    settings: FindingSettings,
) -> list[Offer]:
    """For each conclusion that fits any run. `without_run` tells of the others."""
    if not said:
        return []
    every = list(scopes(draft, history, settings))
    wanted = [scope for scope in every if scope.own] or every
    found: list[Offer] = []
    for one in said:
        runs: list[tuple[float, int, Run]] = []
        for scope in wanted:
            keys = [key for key, mine in scope.draft.values.items() if mine.entry is one.parameter.entry]
            for key in keys:
                for run in _runs_with(scope.line.runs.values(), key, one):
                    runs.append((-scope.comparison(run).similarity, -run.order, run))
        if runs:
            found.append(Offer(one, tuple(run for *_, run in sorted(runs, key=lambda each: each[:2]))))
    return found


def without_run(said: Sequence[CommentConclusion], found: Sequence[Offer]) -> list[CommentConclusion]:
    """The conclusions that are about no run."""
    offered = {id(offer.said) for offer in found}
    return [one for one in said if id(one) not in offered]


def may_be_about(reason: str, cause: Cause | None) -> bool:
    """False where a run is known to have ended for another cause than a reason says."""
    said = cause_in(reason, broken=True)
    if cause is None or cause == said:
        return True
    return cause in _OF_THE_RESULT and (said in (None, "worse") or cause == "unknown")


def _runs_with(runs: Iterable[Run], key: str, said: CommentConclusion) -> Iterator[Run]:
    for run in runs:
        if run.ending not in _ENDINGS[said.verdict] or not may_be_about(said.reason, run.cause):
            continue
        recorded = run.in_force.get(key)
        if recorded is not None and recorded.value == said.parameter.value and not is_concluded(run.record):
            yield run
