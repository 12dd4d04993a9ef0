"""What a hover shows about a finding, a key or a component, as blocks; the reason comes first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from tried.draft.draft import Component
from tried.findings.finding import Difference, Finding
from tried.findings.key_history import KeyHistory, ValueHistory
from tried.pool.headline import line_about
from tried.pool.pool import PoolSnapshot
from tried.pool.record import Cause, ExperimentRecord
from tried.ranking.breakdown import ScoredRecord, Term
from tried.record_names import short_id
from tried.render.document import Block, Bullets, Code, Inline, Line, Link, Paragraph, Strong, Table, Text
from tried.render.escape import shortened
from tried.render.words import MARKS, bar, counted, ending_of, number, when

MOST_DIFFERENCES: Final = 8
MOST_RECORDS: Final = 6
MOST_VALUES: Final = 10
MOST_RELATED: Final = 5
SENTENCE_LENGTH: Final = 400
VALUE_LENGTH: Final = 60

CAUSES: Final[dict[Cause, str]] = {
    "out_of_memory": "out of memory",
    "diverged": "diverged",
    "worse": "worse than before",
    "code_error": "an error in the code",
    "infrastructure": "the infrastructure failed",
    "stopped": "stopped",
    "unknown": "no cause known",
}


def finding_blocks(
    finding: Finding,
    snapshot: PoolSnapshot,
    ranked: ScoredRecord | None = None,
    *,
    now: datetime | None = None,
    folder: Path | None = None,
) -> list[Block]:
    """Why, when, what differs, the run, and why it ranks where it does.

    `ranked` is the record of the finding with its score, `folder` the workspace in which a relative `run_dir` lies.
    """
    record = snapshot.get(finding.record)
    reasons = [shortened(sentence, SENTENCE_LENGTH) for sentence in finding.why] or [finding.message]
    blocks: list[Block] = [Paragraph((Strong(reasons[0]),))]
    blocks += [Paragraph((Text(sentence),)) for sentence in reasons[1:]]
    blocks.append(Paragraph(_facts(finding, record, now)))
    blocks += _differences(finding)
    if record is not None and (link := run_link(record, folder)):
        blocks.append(Paragraph((link,)))
    if ranked is not None:
        blocks.append(breakdown_block(ranked.terms, ranked.score))
    if len(finding.records) > 1:
        blocks.append(Paragraph((Text("Rests on"), *_records(finding.records))))
    if finding.contradicted_by:
        blocks.append(Paragraph((Text("No dead end in"), *_records(finding.contradicted_by))))
    return blocks


def _facts(finding: Finding, record: ExperimentRecord | None, now: datetime | None) -> Line:
    facts: list[list[Inline]] = [[Code(finding.record)]]
    if record is not None:
        if record.name and record.name not in finding.record:
            facts[0].append(Text(shortened(record.name, VALUE_LENGTH)))
        if date := when(record, now):
            facts.append([Text(date)])
    if finding.cause and finding.cause != "unknown":
        facts.append([Text(CAUSES[finding.cause])])
    return _separated(facts)


def _separated(groups: Iterable[Sequence[Inline]]) -> list[Inline]:
    parts: list[Inline] = []
    for group in groups:
        if parts:
            parts.append(Text("·"))
        parts.extend(group)
    return parts


def _differences(finding: Finding) -> list[Block]:
    differences = finding.differences
    if not differences:
        return [Paragraph((Text("No compared parameter differs."),))] if finding.evidence == "repeat" else []
    shown = [_difference(one) for one in differences[:MOST_DIFFERENCES]]
    if len(differences) > MOST_DIFFERENCES:
        shown.append((Text(f"… and {len(differences) - MOST_DIFFERENCES} more"),))
    return [Paragraph((Text("What differs:"),)), Bullets(shown)]


def _difference(difference: Difference) -> Line:
    return (
        Code(shortened(difference.key, VALUE_LENGTH)),
        _stated(difference.draft),
        Text("here,"),
        _stated(difference.record),
        Text("there"),
    )


def _stated(value: str | None) -> Inline:
    return Code(shortened(value, VALUE_LENGTH)) if value is not None else Text("not set")


def _records(ids: Sequence[str]) -> list[Inline]:
    parts: list[Inline] = [Text(counted(len(ids), "run") + ":")]
    for number_of, one in enumerate(ids[:MOST_RECORDS]):
        parts += [Text(","), Code(one)] if number_of else [Code(one)]
    if len(ids) > MOST_RECORDS:
        parts.append(Text(", …"))
    return parts


def run_link(record: ExperimentRecord, folder: Path | None = None) -> Link | None:
    """Where the run can be seen: its address on the web, else its folder if that lies in the workspace."""
    if record.url and record.url.strip().lower().startswith(("http://", "https://")):
        return Link("Open the run", record.url)
    if record.run_dir and folder is not None and not any(ord(character) < 32 for character in record.run_dir):
        place = folder / record.run_dir
        if place.is_relative_to(folder) and ".." not in place.parts:
            return Link(f"Open {shortened(record.run_dir, VALUE_LENGTH)}", place.as_uri())
    return None


def breakdown_block(terms: Sequence[Term], score: float) -> Table:
    """The terms of a score: value as number and bar, and the signal and weight that it is made of."""
    rows: list[Sequence[Line]] = []
    has_notes = any(term.note for term in terms)
    for term in terms:
        row: list[Line] = [
            (Text(term.name),),
            (Text(number(term.value)),),
            (Text(bar(term.value)),),
            (Text(number(term.signal)),),
            (Text(number(term.weight)),),
        ]
        rows.append([*row, (Text(term.note or ""),)] if has_notes else row)
    total: list[Line] = [(Strong("score"),), (Strong(number(score)),), (Text(bar(score)),), (), ()]
    rows.append([*total, ()] if has_notes else total)
    header = ["", "value", "", "signal", "weight"]
    return Table([*header, ""] if has_notes else header, rows, frozenset({1, 3, 4}))


def key_blocks(history: KeyHistory) -> list[Block]:
    """What was tried for a key: values, runs, outcomes, the best objective, and what has never been tried.

    Of dead ends it is told how many came of this very change: the others may have died of something else.
    """
    line: Line = (Text("in"), Code(history.research_line)) if history.research_line else ()
    blocks: list[Block] = [Paragraph((Code(history.key), *line, Text("·"), Text(counted(history.runs, "run"))))]
    if history.missing_in is not None:
        missing_in = Code(shortened(history.missing_in, VALUE_LENGTH))
        blocks.append(Paragraph((Text("No run of"), missing_in, Text("sets a key of this name."))))
    if not history.tried:
        # What another research line lacks may well have been tried in the draft's own, under another name.
        said: Inline = Strong("has never been tried.") if history.own else Text("was not tried there.")
        blocks.append(Paragraph((Code(shortened(history.draft, VALUE_LENGTH)), said)))
    metric = next((value.best.metric for value in history.values if value.best), None)
    header = ["value", "runs", "worked", "dead ends", *([f"best {metric}"] if metric else []), "latest"]
    rows = [_value_row(value, metric) for value in history.values[:MOST_VALUES]]
    blocks.append(Table(header, rows, frozenset({1, 2, 3})))
    if len(history.values) > MOST_VALUES:
        blocks.append(Paragraph((Text(f"… and {counted(len(history.values) - MOST_VALUES, 'other value')}"),)))
    if history.turned:
        blocks.append(Paragraph((Text("From"), Code(shortened(history.draft, VALUE_LENGTH)), Text("turned to:"))))
        blocks.append(
            Bullets(
                [
                    (Code(shortened(step.text, VALUE_LENGTH)), Text(f"{step.happened} ·"), Code(step.record))
                    for step in history.turned[:MOST_RELATED]
                ]
            )
        )
    return blocks


def _value_row(value: ValueHistory, metric: str | None) -> list[Line]:
    row: list[Line] = [
        (Code(shortened(value.text, VALUE_LENGTH)), Strong("← here")) if value.is_draft else (Code(value.text[:500]),),
        (Text(str(value.runs)),),
        (Text(str(value.worked)),),
        (Text(f"{value.dead_ends} ({value.by_this} by this change)" if value.by_this else str(value.dead_ends)),),
    ]
    if metric:
        best = value.best
        name = f" {best.metric}" if best and best.metric != metric else ""
        row.append((Text(f"{best.value:.5g}{name}"), Code(short_id(best.record))) if best else ())
    row.append((Code(short_id(value.records[0])),) if value.records else ())
    return row


def untried_key_blocks(key: str) -> list[Block]:
    """A key of which the pool knows nothing."""
    return [Paragraph((Code(shortened(key, VALUE_LENGTH)), Strong("has never been tried:"), Text("no run sets it.")))]


def component_blocks(
    component: Component, snapshot: PoolSnapshot, ranking: Iterable[ScoredRecord] = (), *, now: datetime | None = None
) -> list[Block]:
    """How often a component was part of a run, how that ended, and which of those runs bear most on this config."""
    title = Paragraph((Strong(component.name), Text("·"), Code(component.token)))
    runs = [record_id for record_id, facts in snapshot.facts() if component.token in facts.components]
    if not runs:
        return [title, Paragraph((Text("No run with a recorded architecture has it."),))]
    bad = sum(ending_of(snapshot, record_id) == "dead_end" for record_id in runs)
    ended = "none was a dead end" if not bad else f"{bad} ended badly" if bad < len(runs) else "all ended badly"
    known = set(runs)
    related = [scored for scored in ranking if scored.record.id in known][:MOST_RELATED]
    blocks: list[Block] = [title, Paragraph((Text(f"{counted(len(runs), 'run')} with it; {ended}."),))]
    if related:
        blocks.append(Bullets([related_line(scored.record, snapshot, now) for scored in related]))
    return blocks


def related_line(record: ExperimentRecord, snapshot: PoolSnapshot, now: datetime | None = None) -> Line:
    """One record on one line: how it ended, which, when, and what was concluded."""
    groups: list[Sequence[Inline]] = [(Text(MARKS[ending_of(snapshot, record.id)]), Code(record.id))]
    if date := when(record, now):
        groups.append((Text(date),))
    if told := line_about(record) or record.name:
        groups.append((Text(shortened(told, 160)),))
    return _separated(groups)
