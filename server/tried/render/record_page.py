"""One record as a page of Markdown, for editors without a view of their own: where a link or a definition leads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from tried.related.outcome import Outcome
from tried.related.parameter_rows import ParameterRow
from tried.related.record_view import MetricRow, RecordView, Relative
from tried.render.document import Block, Bullets, Code, Heading, Inline, Line, Link, Paragraph, Strong, Table, Text
from tried.render.escape import plain, shortened
from tried.render.hover import breakdown_block
from tried.render.record_reports import LINE_LENGTH, line, prose, prose_end, web_address
from tried.render.words import counted, when

MOST_ROWS: Final = 200
"""Parameters of one kind that a page lists."""

MOST_METRICS: Final = 100
PROSE_LENGTH: Final = 8_000
VALUE_LENGTH: Final = 120

OUTCOME_WORDS: Final[dict[Outcome, str]] = {
    "dead_end": "dead end",
    "works": "works",
    "inconclusive": "inconclusive",
    "running": "running",
    "unknown": "outcome unknown",
}
OUTCOME_MARKS: Final[dict[Outcome, str]] = {
    "dead_end": "✗",
    "works": "✓",
    "inconclusive": "~",
    "running": "▸",
    "unknown": "·",
}


def record_page(view: RecordView, now: datetime, *, beside: str | None = None) -> list[Block]:
    """The page of a record. `beside` names the config that it is compared with: what differs then comes first."""
    blocks: list[Block] = [Heading((Text(OUTCOME_MARKS[view.outcome]), Text(line(view.record.id))), 1)]
    if view.headline:
        blocks.append(Paragraph((Strong(line(view.headline)),)))
    blocks.append(Paragraph(_facts(view, now)))
    if view.has_draft and beside is not None:
        blocks += _beside(view, beside)
    blocks += _said(view)
    blocks += _metrics(view.metrics)
    blocks += _change(view)
    if not (view.has_draft and beside is not None):
        blocks += _parameters("Parameters", view.parameters)
    blocks += _lineage(view)
    if view.scored is not None:
        title = "Why it ranks where it does" if view.rank is None else f"Why it ranks at place {view.rank:,}"
        blocks += [Heading((Text(title),)), breakdown_block(view.scored.terms, view.scored.score)]
    return blocks


def _facts(view: RecordView, now: datetime) -> list[Inline]:
    record = view.record
    groups: list[Line] = [(Text(OUTCOME_WORDS[view.outcome]),)]
    if record.name and record.name != record.id:
        groups.append((Text(line(record.name)),))
    if date := when(record, now):
        groups.append((Text(date),))
    if record.research_line:
        groups.append((Text("in"), Code(line(record.research_line))))
    if record.tags:
        groups.append((Text(line(", ".join(record.tags[:20]))),))
    result = view.replicates.result
    if result is not None:
        runs = f" ({counted(view.replicates.runs, 'run')})" if view.replicates.runs > 1 else ""
        groups.append((Code(line(result.metric)), Text(f"{result}{runs}")))
    if (url := web_address(record)) is not None:
        groups.append((Link("Open the run", url),))
    parts: list[Inline] = []
    for group in groups:
        parts += [Text("·"), *group] if parts else list(group)
    return parts


def _beside(view: RecordView, beside: str) -> list[Block]:
    """What differs from a config, then what is alike."""
    rows = view.parameters
    blocks: list[Block] = [Heading((Text("Beside"), Code(line(beside))))]
    differing = [row for row in rows if row.status in ("differs", "only_record", "only_draft")]
    equal = [row for row in rows if row.status == "equal"]
    aside = [row for row in rows if row.status == "not_compared"]
    if differing:
        blocks += [_table(differing), *_more(len(differing))]
    elif equal:
        blocks.append(Paragraph((Text("Nothing that makes another experiment differs."),)))
    else:
        blocks.append(Paragraph((Text("Nothing of it can be compared with this config."),)))
    if equal:
        title = f"Equal: {counted(len(equal), 'parameter')}"
        blocks += [Heading((Text(title),), 3), _table(equal), *_more(len(equal))]
    if aside:
        blocks += [Heading((Text("Not compared"),), 3), _table(aside), *_more(len(aside))]
    return blocks


def _parameters(title: str, rows: Sequence[ParameterRow]) -> list[Block]:
    """Those of the record alone."""
    own = [row for row in rows if row.record is not None]
    if not own:
        return []
    table = Table(("", "value"), [((Code(_short(row.key)),), (_value(row.record),)) for row in own[:MOST_ROWS]])
    return [Heading((Text(title),)), table, *_more(len(own))]


def _table(rows: Sequence[ParameterRow]) -> Table:
    cells = [((Code(_short(row.key)),), (_value(row.draft),), (_value(row.record),)) for row in rows[:MOST_ROWS]]
    return Table(("", "here", "there"), cells)


def _more(count: int) -> list[Block]:
    return [Paragraph((Text(f"… and {count - MOST_ROWS:,} more"),))] if count > MOST_ROWS else []


def _said(view: RecordView) -> list[Block]:
    record = view.record
    blocks: list[Block] = []
    for title, text in (
        ("Hypothesis", prose(record.hypothesis, PROSE_LENGTH)),
        ("Notes", prose(record.notes, PROSE_LENGTH)),
    ):
        if text:
            blocks += [Heading((Text(title),)), *_paragraphs(text)]
    if error := prose_end(record.error, PROSE_LENGTH):
        blocks += [Heading((Text("Error"),)), *_paragraphs(error)]
    return blocks


def _paragraphs(text: str) -> Iterable[Block]:
    """Each line on its own, for what it is made of is not read as Markdown."""
    return [Paragraph((Text(each),)) for each in text.split("\n") if plain(each)]


def _metrics(rows: Sequence[MetricRow]) -> list[Block]:
    if not rows:
        return []
    judged = {True: "better", False: "worse", None: ""}
    table = Table(
        ("", "value", "before", "change", ""),
        [
            (
                (Code(_short(row.name)), *((Strong("objective"),) if row.is_objective else ())),
                (Text(_number(row.value)),),
                (Text(_number(row.before)),),
                (Text(_signed(row.delta)),),
                (Text(judged[row.is_better]),),
            )
            for row in rows[:MOST_METRICS]
        ],
        frozenset({1, 2, 3}),
    )
    return [Heading((Text("Metrics"),)), table]


def _number(value: float | None) -> str:
    return "" if value is None else "NaN" if math.isnan(value) else f"{value:.6g}"


def _signed(delta: float | None) -> str:
    return f"{delta:+.4g}" if delta is not None and math.isfinite(delta) else ""


def _change(view: RecordView) -> list[Block]:
    if not view.changes and not view.change_summary:
        return []
    blocks: list[Block] = [Heading((Text("What it changed"),))]
    if view.change_summary:
        blocks.append(Paragraph((Text(line(view.change_summary)),)))
    if view.changes:
        blocks.append(Bullets([(Text(line(change)),) for change in view.changes]))
    return blocks


def _lineage(view: RecordView) -> list[Block]:
    blocks: list[Block] = []
    if view.ancestors:
        blocks += [Heading((Text("Came from"),)), Bullets([_relative(each) for each in view.ancestors])]
    if view.children:
        more = f" ({view.children_total:,})" if view.children_total > len(view.children) else ""
        blocks += [Heading((Text(f"Led to{more}"),)), Bullets([_relative(each) for each in view.children])]
    return blocks


def _relative(each: Relative) -> Line:
    return (
        Text(OUTCOME_MARKS[each.outcome]),
        Code(line(each.id)),
        *((Text(shortened(each.headline, LINE_LENGTH // 2)),) if each.headline else ()),
    )


def _value(value: str | None) -> Inline:
    return Text("not set") if value is None else Code(_short(value))


def _short(text: str) -> str:
    return shortened(text, VALUE_LENGTH)
