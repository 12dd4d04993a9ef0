"""A ranked list for the terminal: two lines a record, with a bar in which each term of the score has its own shade."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from rich.text import Text

from tried.cli.output import console, line_of
from tried.pool.headline import line_about
from tried.pool.history.run import Ending
from tried.pool.pool import PoolSnapshot
from tried.pool.sources.tables.results_table import KIND as RESULTS_TABLE
from tried.ranking.breakdown import ScoredRecord, Term
from tried.ranking.query import RetrievalQuery
from tried.ranking.tokenizer import tokenize
from tried.record_names import native_ids
from tried.render.escape import plain, shortened
from tried.render.words import CELLS_PER_POINT, MARKS, ending_of, when

SHADES = (
    ("lexical", "█", "cyan"),
    ("structural", "▓", "magenta"),
    ("recency", "▒", "blue"),
    ("importance", "░", "green"),
)
STYLES: dict[Ending, str] = {"dead_end": "bold red", "worked": "bold green", "open": "dim"}
NAME_LENGTH = 60
HEADLINE_LENGTH = 140


def how_ordered(query: RetrievalQuery, best: ScoredRecord) -> str | None:
    """What a list is that looks like an answer and is none: no record has any word of the query. None otherwise."""
    applied = {term.name for term in best.terms if term.signal is not None}
    if "lexical" in applied or not tokenize(query.text):
        return None
    orders = {"structural": "architecture", "importance": "importance", "recency": "age"}
    by = " and ".join(word for name, word in orders.items() if name in applied)
    return f"no record has these words; ordered by {by}" if by else "no record has these words"


def print_ranking(ranking: Sequence[ScoredRecord], snapshot: PoolSnapshot, now: datetime) -> None:
    """Rank, score, bar, how it ended, which record and when; then what was concluded, if the name does not say it.

    Rows of results tables are named by what the table calls them, where that is plain enough to find them again.
    """
    out = console()
    natives = native_ids(snapshot)
    for place, scored in enumerate(ranking, start=1):
        record = scored.record
        ending = ending_of(snapshot, record.id)
        told = plain(line_about(record) or record.hypothesis or record.notes or "")
        name = plain(record.name) if record.name != record.id else ""
        if told == name:
            # Said once: here if there is room, else below.
            name, told = (name, "") if len(name) <= NAME_LENGTH else ("", told)
        shown = natives.get(record.id, record.id) if record.source == RESULTS_TABLE else record.id
        name = f"  {shortened(name, NAME_LENGTH)}" if name and name != shown else ""
        date = when(record, now)
        out.print(
            Text.assemble(
                f"{place:>3}  {scored.score:.3f}  ",
                _bar(scored.terms),
                "  ",
                (MARKS[ending], STYLES[ending]),
                f" {plain(shown)}",
                (name, "bold"),
                (f"  {date}" if date else "", "dim"),
            )
        )
        if told:
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
