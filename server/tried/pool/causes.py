"""Why a run ended badly, as its own words tell: a table of patterns, read from top to bottom.

The table is documented in docs/outcomes.md, which a test holds against this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tried.pool.record import Cause

TEXT_LIMIT: Final = 4_000
"""Characters of a text that are searched. A traceback says it at its end, a write-up at its start: half of each."""


@dataclass(frozen=True)
class CauseWords:
    """What names a cause. `broken_only`: said in passing by many texts, so it counts only if the run failed or crashed.

    The patterns are regular expressions for whole words; lower-case ones match in any case.
    """

    cause: Cause
    patterns: tuple[str, ...]
    example: str
    broken_only: bool = False

    @cached_property
    def _expressions(self) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
        """(for the lower-cased text, for the text as it stands)"""
        lower = [each for each in self.patterns if each == each.lower()]
        exact = [each for each in self.patterns if each != each.lower()]
        return _any_of(lower), _any_of(exact)

    def stand_in(self, text: str, lower: str) -> bool:
        """Whether one of the patterns stands in a text, which is given in lower case too."""
        in_lower, in_exact = self._expressions
        return bool((in_lower and in_lower.search(lower)) or (in_exact and in_exact.search(text)))

    def taken_out_of(self, text: str) -> str:
        """What is left of a text, in lower case, without what names the cause."""
        in_lower, in_exact = self._expressions
        text = in_exact.sub(" ", text) if in_exact else text
        return in_lower.sub(" ", text.lower()) if in_lower else text.lower()


def _any_of(patterns: list[str]) -> re.Pattern[str] | None:
    return re.compile(rf"\b(?:{'|'.join(patterns)})\b") if patterns else None


CAUSES: Final = (
    CauseWords(
        "out_of_memory",
        (
            r"oom(?:s|ed|ing|-ed|-ing)?",
            r"oom[- ]?kill(?:ed|er)",
            r"out[ -]of[ -](?:\w+ ){0,2}memory(?:error)?",
            r"outofmemory(?:error)?",
            r"resource_?exhausted(?:error)?",
            r"memoryerror",
            r"bad_alloc",
            r"(?:cannot|could not|unable to|failed to) allocate",
            r"exce\w+ (?:[\w-]+ ){0,3}(?:hbm|vram|memory)(?: capacity| by)?",
            r"exhaust\w+ (?:[\w-]+ ){0,2}(?:hbm|vram|memory)",
            r"n(?:ot|['’]t) fit (?:[\w-]+ ){0,3}(?:hbm|vram|memory)",
        ),
        "CUDA out of memory; OOM at batch 64; exceeded HBM capacity",
    ),
    CauseWords(
        "diverged",
        (
            r"diverg(?:e|es|ed|ing)",
            r"nans?",
            r"(?:explod(?:e|es|ed|ing)|blew up|blows? up)",
            r"loss (?:\w+ )?spik(?:e|es|ed|ing)",
            r"loss ?(?:=|is|became|went to) ?inf(?:inity)?",
            r"training (?:\w+ )?instabilit(?:y|ies)",
            r"unstable",
        ),
        "loss went to NaN; diverged after 14k steps",
    ),
    CauseWords(
        "infrastructure",
        (
            r"preempt(?:ed|ion|ions)?",
            r"(?:node|pod|machine|instance|worker) (?:fail\w*|died|lost|vanished|terminated|crashed)",
            r"terminated the pod",
            r"nccl",
            r"ecc error",
            r"xid \d+",
            r"no space left",
            r"disk (?:quota|is full|full)",
            r"connection (?:reset|refused|error|lost|aborted|timed out)",
            r"connectionerror",
            r"network (?:error|failure|unreachable|is unreachable)",
            r"slurm",
            r"(?:cuda|gpu|nvidia) driver",
            r"cuda (?:is )?(?:required|unavailable|not available)",
            r"hardware (?:failure|error|fault)",
            r"bus error",
            r"sigbus",
            r"read-only file system",
            r"remote training failed",
            r"http ?(?:429|5\d\d)",
        ),
        "NCCL timeout; pod vanished; no space left on device",
        broken_only=True,
    ),
    CauseWords(
        "stopped",
        (
            r"keyboardinterrupt",
            r"killed",
            r"cancell?ed",
            r"interrupted",
            r"aborted",
            r"sig(?:int|term|kill)",
            r"stopped (?:by|manually|this|the|it|early by)",
            r"time ?limit",
            r"time[d ]? ?out",
            r"ctrl[- ]?c",
            r"(?:return ?code|exit code|signal)[ =:]*(?:-9|-15|9|15|137|143)",
        ),
        "killed by the user; hit the time limit",
        broken_only=True,
    ),
    CauseWords(
        "code_error",
        (
            r"[A-Z]\w*(?:Error|Exception)",
            r"Traceback",
            r"(?:syntax|import|type|assertion|runtime|compile|compilation|compiler) errors?",
            r"seg(?:mentation )?fault(?:ed|s)?",
            r"compil\w+ (?:fail\w+|crash\w*|abort\w*)",
            r"fail(?:s|ed)? to compile",
            r"(?:shape|dtype|type|size) (?:mismatch|crash)",
            r"bugs?",
            r"(?:not|un)[ -]?defined",
            r"unused[- ]param(?:eter)?s?",
            r"incompatib\w+",
            r"exit code [1-9]\d*",
            r"broke tracing",
            r"missing final metric",
        ),
        "TypeError: …; shape mismatch; compilation failed",
        broken_only=True,
    ),
    CauseWords(
        "worse",
        (
            r"worse(?:n|ns|ned|ning)?",
            r"regress(?:es|ed|ion|ions|ing)?",
            r"degrad(?:e|es|ed|ing|ation)",
            r"hurts?",
            r"harm(?:s|ed|ful)?",
            r"no (?:improvement|gain)",
            r"(?:did|does|do)(?:n['’]t| not) (?:help|improve)",
            r"slower",
            r"underperform(?:s|ed|ing)?",
            r"overfit(?:s|ted|ting)?",
            r"not better",
        ),
        "worse than the baseline; regressed; did not help",
    ),
)

# What is said to be absent is no cause: "no OOM", "without diverging", "avoids the OOM".
_DENIED = re.compile(
    r"(?i)\b(?:no|non|not|never|without|avoid\w*|prevent\w*|instead of|fix\w*|rather than)\b[^.;:\n]{0,20}?"
    r"\b(?:oom\w*|out[ -]of[ -]memory|nans?|diverg\w+|unstable|explod\w+|crash\w*|bugs?|worse|hurts?)\b"
)


def cause_in(text: str, *, broken: bool, in_passing: bool = False) -> Cause | None:
    """The first cause of the table that the text names.

    `broken`: the run failed or crashed. `in_passing`: the text is no headline but notes, which mention many things; of
    a run that was not broken they can only tell that it was worse.
    """
    if len(text) > TEXT_LIMIT:
        text = f"{text[: TEXT_LIMIT // 2]}\n{text[-TEXT_LIMIT // 2 :]}"
    text = _DENIED.sub(" ", text)
    lower = text.lower()
    for row in CAUSES:
        counts = broken or row.cause == "worse" or not (row.broken_only or in_passing)
        if counts and row.stand_in(text, lower):
            return row.cause
    return None


def without_cause(text: str, cause: Cause) -> str:
    """What the beginning of a text says beyond the cause, in lower case."""
    text = text[:TEXT_LIMIT]
    for row in CAUSES:
        if row.cause == cause:
            text = row.taken_out_of(text)
    return text
