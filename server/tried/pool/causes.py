"""Why a run ended badly, as its own words tell: a table of patterns, read from top to bottom.

The table is documented in docs/outcomes.md, which a test holds against this module.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tried.pool.record import Cause

TEXT_LIMIT: Final = 20_000
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
    def _expression(self) -> re.Pattern[str]:
        return re.compile(
            "|".join(rf"(?{'i' if each == each.lower() else '-i'}:\b(?:{each})\b)" for each in self.patterns)
        )

    def stand_in(self, text: str) -> bool:
        return self._expression.search(text) is not None


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
            r"cannot allocate memory",
            r"exce\w+ (?:the )?(?:\w+ ){0,2}(?:hbm|vram|memory)",
            r"exhaust\w+ (?:\w+ ){0,2}(?:hbm|vram|memory)",
            r"n(?:ot|['’]t) fit (?:\w+ ){0,3}(?:hbm|vram|memory)",
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
            r"compil\w+ (?:fail\w+|crash\w*)",
            r"fail(?:s|ed)? to compile",
            r"(?:shape|dtype|type|size) (?:mismatch|crash)",
            r"bugs?",
            r"(?:not|un)[ -]?defined",
            r"unused[- ]parameters?",
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


def cause_in(text: str, *, broken: bool) -> Cause | None:
    """The first cause of the table that the text names. `broken`: the run failed or crashed."""
    if len(text) > TEXT_LIMIT:
        text = f"{text[: TEXT_LIMIT // 2]}\n{text[-TEXT_LIMIT // 2 :]}"
    text = _DENIED.sub(" ", text)
    return next((row.cause for row in CAUSES if (broken or not row.broken_only) and row.stand_in(text)), None)
