"""A ranked list for the terminal: two lines a record, with a bar in which each term of the score has its own shade."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from tried.cli.output import console, line_of
from tried.pool.history import Ending
from tried.pool.pool import PoolSnapshot
from tried.ranking.breakdown import ScoredRecord, Term
from tried.render.escape import plain, shortened
from tried.render.words import CELLS_PER_POINT, MARKS, ending_of, when

SHADES = (
    ("lexical", "█", "cyan"),
    ("structural", "▓", "magenta"),
    ("recency", "▒", "blue"),
    ("importance", "░", "green"),
)
STYLES: dict[Ending, str] = {"dead_end": "bold red", "worked": "bold green", "open": "dim"}
HEADLINE_LENGTH = 140


def print_ranking(ranking: Sequence[ScoredRecord], snapshot: PoolSnapshot, now: datetime) -> None:
    """Rank, score, bar, how it ended, which record and when; then what was concluded."""
    out = console()
    for place, scored in enumerate(ranking, start=1):
        record = scored.record
        ending = ending_of(snapshot, record.id)
        name = f"  {shortened(record.name, 60)}" if record.name and record.name != record.id else ""
        date = when(record, now)
        out.print(
            Text.assemble(
                f"{place:>3}  {scored.score:.3f}  ",
                _bar(scored.terms),
                "  ",
                (MARKS[ending], STYLES[ending]),
                f" {plain(record.id)}",
                (name, "bold"),
                (f"  {date}" if date else "", "dim"),
            )
        )
        if told := record.headline or record.hypothesis or record.notes:
            out.print(line_of(" " * (14 + CELLS_PER_POINT), shortened(told, HEADLINE_LENGTH)))
    legend = Text("     ")
    for name, block, style in SHADES:
        legend.append(f"{block * 2} ", style)
        legend.append(f"{name}  ")
    legend.append(f"{MARKS['dead_end']} dead end  {MARKS['worked']} worked")
    out.print(legend, style="dim")


def _bar(terms: Sequence[Term]) -> Text:
    """The whole bar is as long as the score says; a term's share of it is rounded so that the length stays right."""
    bar = Text()
    total = 0.0
    values = {term.name: max(0.0, term.value) for term in terms}
    for name, block, style in SHADES:
        before = round(total * CELLS_PER_POINT)
        total += values.get(name, 0.0)
        bar.append(block * (round(total * CELLS_PER_POINT) - before), style)
    bar.append(" " * max(0, CELLS_PER_POINT - len(bar)))
    return bar
