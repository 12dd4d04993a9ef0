"""Draft and history in, findings out: the one place where rules are asked, weighed and put into words.

Invariant: no I/O, no clock, no random numbers; the same draft, history and settings give the same findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from tried.draft.alignment import AlignedDraft, align
from tried.draft.draft import ExperimentDraft
from tried.draft.parameters import ParameterKind, is_known
from tried.findings.claim import LOUDNESS, Claim, severity_of
from tried.findings.finding import Finding, Severity
from tried.findings.knob import knob_claims, seldom_set_claims
from tried.findings.move import move_claims, runs_with
from tried.findings.near import near_claims
from tried.findings.recent_scopes import RecentScopes, Remembered
from tried.findings.repeat import repeat_claims, repeats
from tried.findings.scope import Scope
from tried.findings.settings import CODE_OF, FindingSettings
from tried.findings.silence import unsilenced
from tried.findings.wording import differences_of, message_of, told_run, why_of
from tried.pool.history.key_names import item_hash
from tried.pool.history.parameter_history import LineHistory, ParameterHistory
from tried.pool.history.run import Run
from tried.pool.history.run_row import NO_TIME, microseconds
from tried.text import Span

RULES: tuple[Callable[[Scope], list[Claim]], ...] = (
    repeat_claims,
    move_claims,
    knob_claims,
    near_claims,
    seldom_set_claims,
)
"""In the order in which a record is told of: the first rule that rests on it wins."""

_DEFAULTS = FindingSettings()
_RECENT = RecentScopes()


def find(
    draft: ExperimentDraft,
    history: ParameterHistory,
    settings: FindingSettings = _DEFAULTS,
    saved_at: datetime | None = None,
) -> tuple[Finding, ...]:
    """Everything to tell about a draft, by place; hover-only findings are among them, silenced ones are not.

    `saved_at` is when the file last changed, if what is open is what is saved: the runs that it started since then are
    not held against it.
    """
    findings: list[Finding] = []
    told: set[str] = set()
    every = list(scopes(draft, history, settings, saved_at))
    for scope in every:
        for rule in RULES:
            made: list[Claim] = []
            for whole in rule(scope):
                claim = _untold(whole, told, settings)
                if claim is None:
                    continue
                claim = replace(claim, runs=tuple(scope.line.runs_in_time(claim.runs)))
                claim, severity = _weighed(claim, scope, every)
                if severity != "off":
                    findings.append(_finding(claim, scope, severity, draft))
                    made.append(claim)
            told.update(run.id for claim in made for run in claim.runs)
    return unsilenced(draft, _one_squiggle_a_place(_merged(findings)))


def scopes(
    draft: ExperimentDraft, history: ParameterHistory, settings: FindingSettings, saved_at: datetime | None = None
) -> Remembered:
    """The draft beside its own research line, then beside every line that may have a similar setting; made as somebody
    looks at them, and once for all who ask about the same draft one after the other."""

    def make() -> Iterator[Scope]:
        own = own_line(draft, history, settings)
        others = [line for line in history.lines.values() if line is not own]
        return _scopes(draft, own, others, settings, saved_at)

    return _RECENT.of(history, (draft, settings, saved_at), make)


def _scopes(
    draft: ExperimentDraft,
    own: LineHistory | None,
    others: Sequence[LineHistory],
    settings: FindingSettings,
    saved_at: datetime | None,
) -> Iterator[Scope]:
    leaves = {
        (p.key.rsplit(".", 1)[-1], p.value)
        for p in draft.parameters
        if p.kind is not ParameterKind.VOLATILE and is_known(p.value)
    }
    hashes = frozenset(item_hash(*leaf) for leaf in leaves)
    machine = {p.key.rsplit(".", 1)[-1]: p.value for p in draft.parameters if p.kind is ParameterKind.HARDWARE}
    for line in [own, *others] if own is not None else others:
        if line is not own and not line.may_have_in_common(leaves, hashes, settings.minimum_compared):
            continue
        aligned = align(draft.parameters, line.keys, line.keys_by_suffix)
        if aligned.values and (line is own or _may_be_similar(aligned, line, settings)):
            started = _started_by(draft, line, aligned, saved_at) if saved_at is not None else frozenset()
            yield Scope(line, line is own, aligned, settings, started, machine)


def _may_be_similar(draft: AlignedDraft, line: LineHistory, settings: FindingSettings) -> bool:
    """Whether any run of the line can have as much in common with the draft as is needed there."""
    known = sum(is_known(p.value) and line.columns.may_hold(key, p.value) for key, p in draft.values.items())
    return known >= max(settings.minimum_compared, settings.minimum_similarity * (len(draft.values) + len(draft.new)))


def own_line(draft: ExperimentDraft, history: ParameterHistory, settings: FindingSettings) -> LineHistory | None:
    """The line that the draft names, else the settings, else the pool's only one; None where nobody knows."""
    for name in (draft.research_line, settings.research_line):
        if name is None:
            continue
        if name in history.lines:
            return history.lines[name]
        folded = [line for known, line in history.lines.items() if known and known.casefold() == name.casefold()]
        if len(folded) == 1:
            return folded[0]
    return next(iter(history.lines.values())) if len(history.lines) == 1 else None


def _started_by(draft: ExperimentDraft, line: LineHistory, aligned: AlignedDraft, saved_at: datetime) -> frozenset[str]:
    """The runs since the file was saved that are it to the letter: every parameter that both state, a seed among them.

    Without a seed, a run name or the like that both state nobody can tell them from somebody else's run of the same.
    """
    stated = {p.key: p.value for p in draft.parameters if p.kind in (ParameterKind.VOLATILE, ParameterKind.HARDWARE)}
    if not stated:
        return frozenset()
    columns = line.columns
    since = columns.facts["time"] >= max(microseconds(saved_at), NO_TIME + 1)
    for key, parameter in aligned.values.items() if since.any() else ():
        since &= ~columns.logs(key) | columns.holds_logged(key, parameter.value)
    found: set[str] = set()
    for run in line.runs_in(since):
        same = [stated[key] == recorded.value for key, recorded in run.volatile.items() if key in stated]
        if same and all(same):
            found.add(run.id)
    return frozenset(found)


def _untold(claim: Claim, told: set[str], settings: FindingSettings) -> Claim | None:
    """The claim without the runs that something else has told of; none if too little is left of it."""
    runs = tuple(run for run in claim.runs if run.id not in told)
    if claim.evidence == "knob" and claim.at_most != "hover" and len(runs) < settings.knob_dead_ends:
        return None
    return replace(claim, runs=runs) if runs else None


def _weighed(claim: Claim, scope: Scope, every: Iterable[Scope]) -> tuple[Claim, Severity]:
    """The claim and how loud it is, after what other lines hold against it: asked only of what would be a squiggle."""
    severity = severity_of(claim, scope.settings, scope.line)
    if LOUDNESS[severity] > LOUDNESS["hover"] and (against := _against(claim, scope, every)):
        claim = replace(claim, contradicted_by=against)
        severity = severity_of(claim, scope.settings, scope.line)
    return claim, severity


def _against(claim: Claim, own: Scope, every: Iterable[Scope]) -> tuple[Run, ...]:
    """What other research lines hold against a claim: the same experiment, or the same values, worked."""
    against: list[Run] = []
    for scope in every:
        if scope is own:
            continue
        if claim.evidence == "repeat":
            exact, but_budget = repeats(scope)
            against += [run for run in exact or but_budget if run.ending != "dead_end"]
        elif claim.evidence == "move":
            against += runs_with(scope, claim.blamed)
    return tuple(against)


def _finding(claim: Claim, scope: Scope, severity: Severity, draft: ExperimentDraft) -> Finding:
    last: Run = told_run(claim)
    named = draft.name_entry if claim.whole else None
    place = named.span if named is not None else claim.blamed[0].entry.span
    return Finding(
        code=CODE_OF[claim.evidence],
        evidence=claim.evidence,
        severity=severity,
        span=place,
        message=message_of(claim, scope),
        record=last.id,
        records=(last.id, *(run.id for run in reversed(claim.runs) if run.id != last.id)),
        blamed=tuple(parameter.shown for parameter in claim.blamed),
        cause=last.cause,
        why=why_of(claim, scope),
        differences=differences_of(scope, last),
        contradicted_by=tuple(run.id for run in claim.contradicted_by),
    )


def _merged(findings: list[Finding]) -> list[Finding]:
    """Findings with the same place and evidence are one: the loudest speaks, with the records of all.

    Dead ends are not counted together with what worked.
    """
    groups: dict[tuple[Span, str, bool, bool], list[Finding]] = {}
    for finding in findings:
        kind = finding.cause is None, bool(finding.contradicted_by)
        groups.setdefault((finding.span, finding.evidence, *kind), []).append(finding)
    merged: list[Finding] = []
    for group in groups.values():
        first = max(group, key=lambda finding: LOUDNESS[finding.severity])
        records = tuple(dict.fromkeys([*first.records, *(record for each in group for record in each.records)]))
        more = len(records) - len(first.records)
        message = f"{first.message}; {more} more like it" if more else first.message
        merged.append(replace(first, records=records, message=message))
    return merged


def _one_squiggle_a_place(findings: list[Finding]) -> list[Finding]:
    """Where something louder stands at a place, the softer is for the hover."""
    loudest: dict[Span, int] = {}
    for finding in findings:
        loudest[finding.span] = max(loudest.get(finding.span, 0), LOUDNESS[finding.severity])
    quiet = [replace(f, severity="hover") if LOUDNESS[f.severity] < loudest[f.span] else f for f in findings]
    return sorted(quiet, key=lambda f: (f.span, -LOUDNESS[f.severity], f.evidence, f.record))
