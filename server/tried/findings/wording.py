"""Findings in words: one short line for the editor's list, and the sentences of the hover. Plain text, not escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from statistics import fmean, stdev

from tried.draft.parameters import UNKNOWN, shown_value
from tried.findings.claim import Claim, reason_of, strongest
from tried.findings.comparison import number_of
from tried.findings.finding import Difference
from tried.findings.memory import is_size
from tried.findings.scope import Scope
from tried.pool.causes import without_cause
from tried.pool.headline import error_line, shown_duration, written_of
from tried.pool.history.run import Run
from tried.pool.outcome import moved_the_wrong_way

_HEADLINE_LENGTH = 72
_CHANGE_LENGTH = 100
_LONG_HEX = re.compile(r"[0-9a-f]{20,}\Z")
_HEX_SHOWN = 8
_ID_LENGTH = 100
_MESSAGE_LENGTH = 400
_MOST_DIFFERENCES = 24
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_SAYS_NO_MORE = frozenset(
    {"a", "after", "again", "an", "and", "at", "by", "during", "in", "is", "it", "its", "of", "on", "so", "the", "this"}
    | {
        "to",
        "was",
        "went",
        "when",
        "with",
        "run",
        "ran",
        "out",
        "ended",
        "error",
        "failed",
        "training",
        "model",
        "loss",
    }
    | {"cuda", "gpu", "memory", "allocate", "allocating", "tensor"}
)
"""Words that add nothing to a cause: "training diverged at lr 0.5", "CUDA out of memory"."""
_HAPPENED = {
    "out_of_memory": "out of memory",
    "diverged": "diverged",
    "code_error": "code error",
    "infrastructure": "infrastructure failure",
    "stopped": "stopped",
    "unknown": "failed",
}


def message_of(claim: Claim, scope: Scope) -> str:
    """The change, what happened, how often, in which record; one printable line."""
    last = told_run(claim)
    if claim.evidence == "repeat":
        return short(_repeat_message(claim, scope, last), _MESSAGE_LENGTH)
    change = short(claim.change, _CHANGE_LENGTH)
    if claim.evidence == "knob":
        times = len(claim.runs)
        runs = "the only run" if times == 1 else "both runs" if times == 2 else f"all {times} runs"
        latest = "last " if times > 1 else ""
        said = f"{change}: {runs} with it ended badly, {latest}{what_happened(last)} ({_id(last)})"
        return short(said, _MESSAGE_LENGTH)
    close = _closeness(claim, scope, last) if claim.evidence == "near" else ""
    contrast = f"; {claim.contrast}" if claim.contrast else ""
    if claim.contradicted_by:
        count = len(claim.contradicted_by)
        contrast = f"; worked in {count} other{'s' if count > 1 else ''}"
    said = f"{close}{change}: {what_happened(last)} ({_id(last)}{_like_it(claim, last)}){contrast}"
    return short(said, _MESSAGE_LENGTH)


def _closeness(claim: Claim, scope: Scope, run: Run) -> str:
    """How the draft stands to the run: "above" the sizes at which that ran out of memory, else merely close."""
    if run.cause != "out_of_memory":
        return "close to "
    sizes: list[tuple[float, float]] = []
    for key, parameter in scope.draft.values.items():
        if any(parameter.entry is blamed.entry for blamed in claim.blamed):
            ours = number_of(parameter.value) if is_size(parameter.shown) else None
            theirs = number_of(run.in_force[key].value) if key in run.in_force else None
            sizes += [(ours, theirs)] if ours is not None and theirs is not None else []
    if len(sizes) < len(claim.blamed) or not all(ours >= theirs for ours, theirs in sizes):
        return "close to "
    return "above " if all(ours > theirs for ours, theirs in sizes) else "at or above "


def _repeat_message(claim: Claim, scope: Scope, last: Run) -> str:
    but = _but(claim, scope, last)
    if claim.is_about_dead_ends and not claim.contradicted_by:
        return f"ran before{but}: {what_happened(last)} ({_id(last)}{_like_it(claim, last)})"
    runs = [*claim.runs, *claim.contradicted_by]
    if all(run.running for run in runs):
        return f"is running{but} ({_id(last)})"
    times = "once" if len(runs) == 1 else f"{len(runs)} times"
    result = f": {summary}" if (summary := objective_summary(runs)) else ""
    if not claim.contradicted_by:
        return f"ran {times}{but}{result} ({_id(last)})"
    return f"ran {times}{but}{result}; {len(claim.runs)} ended badly ({what_happened(last)}, {_id(last)})"


def _like_it(claim: Claim, told: Run) -> str:
    """How many ended so, for the same reason; the others are not counted with it."""
    same = sum(1 for run in claim.runs if reason_of(run) == reason_of(told))
    others = len(claim.runs) - same
    count = f", {same} runs" if same > 1 else ""
    return f"{count}, {others} more ended badly" if others else count


def _id(run: Run) -> str:
    """As people say it: of a long hexadecimal id the beginning, by which it is found too."""
    kind, colon, native = run.id.rpartition(":")
    return f"{kind}{colon}{native[:_HEX_SHOWN]}" if _LONG_HEX.match(native) else short(run.id, _ID_LENGTH)


def _but(claim: Claim, scope: Scope, run: Run) -> str:
    named = [f"{run.in_force[key].shown} {run.in_force[key].text}" for key in claim.budget if key in run.in_force]
    return f" with {short(', '.join(named[:3]), _CHANGE_LENGTH)}" if named else ""


def told_run(claim: Claim) -> Run:
    """The run that a message names: the latest of those with the strongest reason."""
    return strongest(claim.runs)


def what_happened(run: Run) -> str:
    """What came of a dead end, in few words: its cause and how long it took, and what somebody wrote of it."""
    reason = reason_of(run)
    record = run.record
    if reason in ("judged", "worse"):
        moved = _moved(run)
        quoted = "" if moved and _says_only_its_name(run) else _quoted(run, "dead end")
        if run.judged:
            return ", ".join(("dead end", *([quoted] if quoted else []), *([moved] if moved else [])))
        return f"worse, {moved}" if moved else "worse than its parent"
    said = _HAPPENED[reason] + _after(run)
    if quoted := _quoted(run, said):
        return f"{said}, {quoted}"
    error = short(error_line(record.error or "")) if reason not in ("out_of_memory", "diverged") else ""
    return f"{said}: {error}" if error else said


def _quoted(run: Run, said: str) -> str:
    """What somebody wrote of a run, in quotes; empty where it only repeats what is said: the cause, or the change."""
    written = written_of(run.record)
    known = _words(" ".join([said, *(f"{change.shown} {change.text}" for change in run.changes)]))
    cause = run.cause
    rest = without_cause(written, cause) if cause in ("out_of_memory", "diverged") else written
    beyond = _words(rest) - known - _SAYS_NO_MORE
    return f"“{short(written)}”" if beyond else ""


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))


def _says_only_its_name(run: Run) -> bool:
    """True where what is written is but the name, as in a table with one column of text."""
    return written_of(run.record).casefold().split() == run.record.name.casefold().split()


def _after(run: Run) -> str:
    duration = run.record.duration
    if duration is None or duration.secs <= 0:
        return ""
    return f" after {shown_duration(duration)}"


def _moved(run: Run) -> str:
    """What became of the metric that the run is judged by, else of one that is known to have moved the wrong way."""
    deltas = run.record.derivation.metric_delta if run.record.derivation else {}
    judged = run.objective[0] if run.objective else None
    for name in (judged, *(name for name in deltas if moved_the_wrong_way(run.record, name))):
        if name in deltas and (before := deltas[name].before) is not None and (after := deltas[name].after) is not None:
            digits = next((d for d in range(4, 17) if number(before, d) != number(after, d)), 4)
            return f"{short(name, 40)} {number(before, digits)} → {number(after, digits)}"
    return ""


def why_of(claim: Claim, scope: Scope) -> tuple[str, ...]:
    """The sentences of the hover, most important first."""
    last = told_run(claim)
    found: list[str] = []
    written, notes = written_of(last.record), " ".join((last.record.notes or "").split())
    moved = _moved(last) if last.ending == "dead_end" else ""
    if written:
        found.append(written)
    elif last.record.generated_headline and not (moved and last.record.generated_headline.startswith("finished")):
        found.append(last.record.generated_headline)
    if moved:
        found.append(f"{moved}, compared with what it came from.")
    has_headline = last.record.conclusion is not None and last.record.conclusion.headline
    if not has_headline and (rest := notes.removeprefix(written).strip()):
        found.append(short(rest, 300))
    if claim.budget:
        found.append("Equal but for " + ", ".join(_budget_difference(scope, key, last) for key in claim.budget) + ".")
    if claim.evidence == "knob":
        found.append(
            f"Of {len(claim.runs)} that had it, all ended badly; "
            f"{scope.line.worked} runs of this research line worked without it."
        )
    if claim.evidence == "near" and claim.contrast:
        found.append(f"{claim.contrast}.")
    if claim.evidence == "repeat" and claim.contrast:
        found.append(f"Worked with one knob otherwise: {short(claim.contrast, _CHANGE_LENGTH)}.")
    if claim.contradicted_by:
        found.append("Not warned of, since the same was in use elsewhere, worked, or is still open.")
    if not scope.own:
        share = f"{scope.comparison(last).similarity:.0%}"
        found.append(f"From another research line ({last.record.research_line}) with a similar setting: {share} equal.")
    return tuple(found)


def _budget_difference(scope: Scope, key: str, run: Run) -> str:
    parameter = scope.draft.values.get(key)
    theirs = run.in_force[key].text if key in run.in_force else "not set"
    return f"{parameter.shown if parameter else key} ({theirs} there)"


def differences_of(scope: Scope, run: Run) -> tuple[Difference, ...]:
    """In which comparable parameters draft and record differ, as both wrote them; none where the record logged none."""
    if not run.values:
        return ()
    found = scope.comparison(run)
    keys = (*found.differing, *found.budget, *found.run_budget, *found.unread, *found.draft_only, *found.run_only)
    return tuple(_difference(scope, run, key) for key in keys[:_MOST_DIFFERENCES])


def _difference(scope: Scope, run: Run, key: str) -> Difference:
    parameter, recorded = scope.draft.values.get(key), run.in_force.get(key)
    ours = "null" if key in scope.draft.nulls else None
    if parameter is not None:
        value = parameter.entry.value
        ours = "?" if value is UNKNOWN else shown_value(value)
    shown = parameter.shown if parameter is not None else recorded.shown if recorded is not None else key
    return Difference(shown, ours, recorded.text if recorded is not None else None)


def objective_summary(runs: Sequence[Run]) -> str:
    """`val_bpb 0.912 ± 0.004`: mean and sample standard deviation of the objective; empty without a finite one."""
    by_name: dict[str, list[float]] = {}
    for run in runs:
        if run.objective is not None and math.isfinite(run.objective[1]):
            by_name.setdefault(run.objective[0], []).append(run.objective[1])
    if not by_name:
        return ""
    name, values = max(by_name.items(), key=lambda item: len(item[1]))
    spread = f" ± {number(stdev(values), 2)}" if len(values) > 1 else ""
    return f"{name} {number(fmean(values))}{spread}"


def number(value: float, digits: int = 4) -> str:
    return f"{value:.{digits}g}"


def short(text: str, limit: int = _HEADLINE_LENGTH) -> str:
    """The text on one line, without control characters, cut at a word."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    if len(line) <= limit:
        return line
    cut = line[: limit - 1].rsplit(" ", 1)[0] if " " in line[:limit] else line[: limit - 1]
    return cut.rstrip(" ,;:.") + "…"
