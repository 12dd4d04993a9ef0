"""One line about a run: what somebody wrote of it, else what the run itself shows, and nothing that somebody would have
to conclude.

Invariant: what a program made is never taken for what somebody wrote.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping
from typing import Final

from tried.pool.outcome import Directions, cause_of, is_dead_end, objective_of
from tried.pool.record import Duration, ExperimentRecord

ERROR_CHARACTERS: Final = 160
_LOOKED_AT: Final = 20_000

NOTED_AFTERWARDS: Final = frozenset({"mlflow", "wandb", "soma"})
"""Trackers in which notes are written on the page of a run, when it is known what came of it."""

_MARKUP = re.compile(r"(?:#{1,6}|[-*+>])\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?![a-z])|(?<=[。！？])")

_LAST_ERROR = re.compile(r"^(?:[\w.]+\.)?[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Failure)\b.*$", re.MULTILINE)


def written_of(record: ExperimentRecord) -> str:
    """What somebody wrote of it, on one line: the headline, else the first sentence of notes that were written when it
    was over; else nothing."""
    conclusion = record.conclusion
    if conclusion is not None and (headline := _on_one_line(conclusion.headline or "")):
        return headline
    return first_sentence(record.notes or "") if is_noted_afterwards(record) else ""


def line_about(record: ExperimentRecord) -> str:
    """What somebody wrote of it, else the generated headline, else nothing."""
    return written_of(record) or record.generated_headline or ""


def is_noted_afterwards(record: ExperimentRecord) -> bool:
    """True where its notes say what came of it: elsewhere they may as well say what the run is meant to show."""
    kinds = (record.source, *(name.partition(":")[0] for name in (record.id, *record.aliases)))
    return not NOTED_AFTERWARDS.isdisjoint(kinds)


def first_sentence(text: str) -> str:
    """On one line, without the mark of a list, behind a heading. "i.e. so", "0.5" and "v1.2" end no sentence."""
    lines = [line.strip() for line in text[:_LOOKED_AT].strip().splitlines()]
    said = list(itertools.dropwhile(lambda line: not line or line.startswith("#"), lines)) or lines
    paragraph = " ".join(itertools.takewhile(bool, (_MARKUP.sub("", line, count=1) for line in said)))
    return _on_one_line(_SENTENCE_END.split(paragraph, maxsplit=1)[0])


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def headline_of(
    record: ExperimentRecord, nonfinite: Mapping[str, int | None] | None = None, directions: Directions | None = None
) -> str:
    """Such as "failed after 12 s: shape mismatch …", "diverged: val_loss is NaN at step 400", "finished, val_f1 0.912".

    `nonfinite`: by metric, the step at which it first was no finite number, None where nobody knows. Empty for a run
    of which nothing is known.
    """
    outcome = (record.outcome or "").lower()
    after = f" after {shown_duration(record.duration)}" if record.duration is not None else ""
    cause = cause_of(record, directions)
    if cause == "diverged":
        return f"diverged{_where(record, nonfinite or {}, directions)}" if outcome else "diverged"
    if outcome in ("failed", "crashed") or (is_dead_end(record, directions) and record.error):
        what = "out of memory" if cause == "out_of_memory" else "failed"
        error = error_line(record.error or "")
        if cause == "out_of_memory" or not error:
            return f"{what}{after}"
        return f"{what}{after}: {error}"
    if outcome == "stopped":
        return f"stopped{after}"
    if outcome == "running":
        return "running"
    if outcome == "pruned":
        return f"pruned{_objective(record, directions)}"
    if outcome == "completed":
        return finished_headline(record, directions)
    return _objective(record, directions).removeprefix(", ")


def finished_headline(record: ExperimentRecord, directions: Directions | None = None) -> str:
    """What is said of a run that ran its course: "finished, val_f1 0.912"."""
    return f"finished{_objective(record, directions)}"


def error_line(text: str) -> str:
    """The line of a traceback or a log that names the error: the last exception, else the last line with words."""
    text = text[-_LOOKED_AT:]
    found = _LAST_ERROR.findall(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    line = found[-1].strip() if found else (lines[-1] if lines else "")
    return line if len(line) <= ERROR_CHARACTERS else f"{line[: ERROR_CHARACTERS - 1]}…"


def shown_duration(duration: Duration) -> str:
    """In the largest unit that leaves it at least two: "90 s", "5 min", "3 h"."""
    if duration.secs < 120:
        return f"{duration.secs} s"
    if duration.secs < 7200:
        return f"{duration.secs // 60} min"
    return f"{duration.secs // 3600} h"


def shown_number(value: float) -> str:
    """Four significant digits, without zeros that say nothing; NaN and infinities by name."""
    if math.isnan(value):
        return "NaN"
    return f"{value:.4g}"


def _objective(record: ExperimentRecord, directions: Directions | None) -> str:
    judged = objective_of(record, directions)
    return f", {judged[0]} {shown_number(judged[1])}" if judged is not None else ""


def _where(record: ExperimentRecord, nonfinite: Mapping[str, int | None], directions: Directions | None) -> str:
    named = {name: step for name, step in nonfinite.items() if name in record.metrics}
    judged = objective_of(record, directions)
    bad = [name for name, value in record.numbers.items() if not math.isfinite(value)]
    if judged is not None and (judged[0] in named or judged[0] in bad):
        name = judged[0]
    elif named or bad:
        name = next(iter([*named, *bad]))
    else:
        error = error_line(record.error or "")
        return f": {error}" if error else ""
    value = record.numbers.get(name, math.nan)
    step = named.get(name)
    shown = "NaN" if math.isnan(value) or math.isfinite(value) else f"{value:g}"
    return f": {name} is {shown}" + (f" at step {step}" if step is not None else "")
