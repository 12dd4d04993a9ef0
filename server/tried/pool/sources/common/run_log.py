"""How a job's log ends, for trackers that keep no status or a wrong one.

What counts as a bad end is documented at `ending_in`.

Invariant: the result depends on the text alone, and reading costs time in proportion to the part that is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from tried.pool.sources.common.run_files import Unreadable, end_of

TAIL_LIMIT: Final = 64 * 1024
"""Bytes or characters of a log's end that are looked at."""

ENDING_LIMIT: Final = 4_000
"""Characters of an ending: its last ones, since an error is named at its end."""

LINES_AFTER: Final = 40
"""A job that wrote more lines than this after an error did not end with it."""

MESSAGE_LINES: Final = 8
"""Lines of a message that goes on after the line of the exception."""

_LINE_LIMIT: Final = 2_000
_NAME_LIMIT: Final = 300
"""Characters at the start of a line in which an error is named."""

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RANK = re.compile(r"\[rank\d+\]:(?: |$)")
_LOG_PREFIX = re.compile(
    r"(?:[\[(]?\d{4}-\d\d-\d\d[T ][\d:,.]+\S*[\])]?|\[[\w.,:/ -]{1,60}\]"
    r"|\b(?:ERROR|CRITICAL|FATAL)\b|root|__main__|[-:|]|\s)+"
)
_HEAD: Final = "Traceback (most recent call last)"
_CHAIN = re.compile(r"(?:During handling of the above exception|The above exception was the direct cause)")
_EXCEPTION = re.compile(r"(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit)(?:: |:?$)")
_ANY_EXCEPTION = re.compile(r"[A-Za-z_][\w.]*(?:: |:?$)")
_ENDED_WELL = re.compile(r"(?:SystemExit(?:: (?:0|None))?|SystemExit:)\s*$")
_FROM_OUTSIDE = re.compile(
    r"^Killed(?:: \d+)?$|\b\d+ (?:Killed|Terminated)\b|\bDUE TO (?:TIME LIMIT|PREEMPTION|NODE FAILURE|JOB REQUEUE)"
    r"|\bDetected KeyboardInterrupt\b|\bReceived SIGTERM\b"
    r"|\*\*\* (?:JOB|STEP) [\w.+]+ (?:ON \S+ )?CANCELLED"
    r"|^(?:srun|slurmstepd): error: .*(?:Killed|Terminated|memory limit)"
)
_MAY_BE_FROM_OUTSIDE = re.compile(r"Killed|Terminated|DUE TO|CANCELLED|memory limit|Detected Keyb|SIGTERM")
_HARMLESS = re.compile(r"Exception ignored in|--- Logging error ---")
_NO_MEMORY = re.compile(
    r"oom[-_ ]?kill|Exceeded (?:job|step) memory limit|Out of memory: Kill|OOM Killed|OutOfMemoryKilled", re.IGNORECASE
)
_CRASH = re.compile(
    r"^(?:.{0,200}\b)?(?:Segmentation fault|Bus error|Illegal instruction|Floating point exception"
    r"|Aborted)(?: \(core dumped\)|\s*$|: \d+)|^Fatal Python error: |^terminate called |^(?:CUDA out of memory\b)"
)
_MAY_BE_A_SIGN = re.compile(
    r"Traceback|Error|Exception|Interrupt|Exit|Kill|Terminated|CANCELLED|DUE TO|memory|[Oo][Oo][Mm]|fault|Bus error"
    r"|Illegal|Floating point|Aborted|terminate called|OutOfMemory|limit|SIGTERM"
)
"""A quick way out: every line with a sign of an error has one of these."""

_ERROR_LEVEL = re.compile(r"ERROR|CRITICAL|FATAL")
_PROGRESS = re.compile(
    r"(?<![\w/\\])(?:epochs?|steps?|iter(?:ation)?s?|batch|fold|trial|round|episode|update)\b[ #:=\[(/]{0,3}\d"
    r"|\b\w*(?:loss|acc|accuracy|f1|auc|score|reward|perplexity|ppl)\b\W{1,3}[-+]?\d",
    re.IGNORECASE,
)
_OF_AN_ERROR = re.compile(r"\b(?:error|critical|fail\w*|abort\w*|crash\w*)\b", re.IGNORECASE)
_DONE = re.compile(r"\b(?:finished|completed|done|succeeded|success|successfully)\b", re.IGNORECASE)
_NOT_DONE = re.compile(r"\b(?:exit code [1-9]|not|while|before|until)\b", re.IGNORECASE)
_BAR = re.compile(r"(\d{1,3})%\|")
_TRACKERS_LAST_WORDS = re.compile(r"(?:wandb|mlflow|comet|neptune|clearml)\b", re.IGNORECASE)
_FOLLOWS_FROM_ANOTHER = re.compile(
    r"ChildFailedError|ProcessRaisedException|ProcessExitedException|BrokenPipeError|EOFError|ConnectionResetError"
    r"|DistBackendError|DistNetworkError|NCCL|Gloo|DataLoader worker|CalledProcessError"
)


def ending_in(text: str) -> str | None:
    """How a log ends badly: the last traceback (with what it was caused by) or fatal error, None where it ends well.

    It is the end of the job, not something that was caught and logged, unless the job went on after it: a later line
    tells of progress (a step or epoch with its number, a metric with its value, a bar that moves on, "finished"), or
    more than LINES_AFTER lines follow at all. Last words of trackers and of a `finally` ("Output dir: …") do not count.
    A traceback that follows from the death of another process gives way to the one before it, and what the system
    says of memory or of a time limit goes before the tracebacks that came of it. `SystemExit: 0` ends well, and what
    the interpreter ignored as it shut down ("Exception ignored in") is no end.
    """
    if not _MAY_BE_A_SIGN.search(text, max(0, len(text) - TAIL_LIMIT)):
        return None
    lines = _lines_of(text)
    signs: list[_Sign] = []
    at = 0
    while at < len(lines):
        sign = _sign_at(lines, at)
        if sign is None:
            at += 1
            continue
        signs.append(sign)
        at = max(at + 1, sign.end)
    if not signs:
        return None
    went_on = _last_progress(lines, signs)
    signs = [sign for sign in signs if sign.start > went_on and not sign.harmless]
    if not signs or len(lines) - signs[-1].end > LINES_AFTER:
        return None
    sign = _telling(signs)
    if _ENDED_WELL.match(lines[sign.named]):
        return None
    return "\n".join(lines[sign.start : sign.end]).strip()[-ENDING_LIMIT:] or None


def is_stopped_from_outside(error: str) -> bool:
    """Whether an ending tells of a person or a scheduler that ended the job: a signal, a time limit, a preemption.

    Memory that ran out is not that.
    """
    if not _MAY_BE_FROM_OUTSIDE.search(error):
        return False
    lines = _lines_of(error)
    return any(_FROM_OUTSIDE.search(line) for line in lines) and not any(_NO_MEMORY.search(line) for line in lines)


def tail_of(path: Path, limit: int = TAIL_LIMIT) -> str:
    """The last `limit` bytes of a text file, "" where there is none that can be read. Follows no link, and never waits
    for a pipe."""
    try:
        data = end_of(path, limit) or b""
    except Unreadable:
        return ""
    if len(data) == limit:
        # What was cut is mostly half a line and perhaps half a character.
        data = data[data.find(b"\n") + 1 :]
    return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class _Sign:
    """Lines `start` to `end` (exclusive) tell of an error, line `named` names it. `weight`: 2 for memory that ran out,
    1 for what ended a job from outside, 0 for an error of its own. `follows`: it came of another process's end;
    `harmless`: the interpreter or the logging caught it."""

    start: int
    end: int
    named: int
    weight: int = 0
    follows: bool = False
    harmless: bool = False


def _lines_of(text: str) -> list[str]:
    """Without colours and ranks. A bar that is drawn over and over makes a line each time."""
    lines = []
    for line in text[-TAIL_LIMIT:].replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = line[:_LINE_LIMIT]
        if "\x1b" in line:
            line = _ANSI.sub("", line)
        if line.startswith("[rank"):
            line = _RANK.sub("", line, count=1)
        lines.append(line.rstrip())
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _sign_at(lines: Sequence[str], at: int) -> _Sign | None:
    line = lines[at]
    if not _MAY_BE_A_SIGN.search(line):
        return None
    if _HEAD in line:
        found = _traceback(lines, at)
        return replace(found, harmless=at > 0 and bool(_HARMLESS.match(lines[at - 1])))
    if _NO_MEMORY.search(line):
        return _Sign(at, at + 1, at, 2)
    if _FROM_OUTSIDE.search(line):
        return _Sign(at, at + 1, at, 1)
    start = line[:_NAME_LIMIT]
    if _CRASH.search(start) or _EXCEPTION.match(start):
        return _error(lines, at, at)
    prefix = _LOG_PREFIX.match(start)
    if prefix and _ERROR_LEVEL.search(prefix[0]):
        message = start[prefix.end() :]
        if _EXCEPTION.match(message) or _CRASH.search(message):
            return _error(lines, at, at)
    return None


def _error(lines: Sequence[str], start: int, named: int) -> _Sign:
    follows = bool(_FOLLOWS_FROM_ANOTHER.search(lines[named]))
    return _Sign(start, _end_of_message(lines, named), named, follows=follows)


def _traceback(lines: Sequence[str], start: int) -> _Sign:
    """A traceback and those that stand before it in its chain, with the message's further lines."""
    at = start + 1
    while True:
        while at < len(lines) and (not lines[at] or lines[at][0] in " \t│╭╰|+"):
            at += 1
        if at >= len(lines) or not _ANY_EXCEPTION.match(lines[at][:_NAME_LIMIT]):
            return _Sign(start, at, at - 1)
        named = at
        following = _end_of_message(lines, named)
        while following < len(lines) and not lines[following]:
            following += 1
        if following < len(lines) and _CHAIN.match(lines[following]):
            at = following + 1
            while at < len(lines) and not lines[at]:
                at += 1
            if at < len(lines) and _HEAD in lines[at]:
                at += 1
                continue
        return _error(lines, start, named)


def _end_of_message(lines: Sequence[str], named: int) -> int:
    """After the lines that go on with the message of line `named`: indented ones, and up to MESSAGE_LINES in all."""
    end = named + 1
    while end < min(len(lines), named + MESSAGE_LINES):
        line = lines[end]
        if line[:1] not in (" ", "\t") or _HEAD in line or _BAR.search(line):
            break
        end += 1
    return end


def _last_progress(lines: Sequence[str], signs: Sequence[_Sign]) -> int:
    """The last line that tells that the job was at work, -1 where none does."""
    told = {at for sign in signs for at in range(sign.start, sign.end)}
    bars: set[str] = set()
    for at in range(len(lines) - 1, signs[0].start, -1):
        line = lines[at]
        if at in told or _TRACKERS_LAST_WORDS.match(line) or _OF_AN_ERROR.search(line):
            continue
        if bar := _BAR.search(line):
            # A bar is drawn once more as it is closed, so only one that moves counts.
            bars.add(bar[1])
            if len(bars) > 1:
                return at
        elif _PROGRESS.search(line) or (_DONE.search(line) and not _NOT_DONE.search(line)):
            return at
    return -1


def _telling(signs: Sequence[_Sign]) -> _Sign:
    """The one that says why, of those after which nothing went on."""
    no_memory = [sign for sign in signs if sign.weight == 2]
    if no_memory:
        return no_memory[-1]
    own = [sign for sign in signs if sign.weight == 0]
    if signs[0].weight or not own:
        return signs[0]
    return next((sign for sign in reversed(own) if not sign.follows), own[-1])
