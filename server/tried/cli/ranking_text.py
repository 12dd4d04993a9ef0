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
from tried.ranking.breakdown import ScoredRecord
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import passing
from tried.ranking.tokenizer import tokenize
from tried.record_names import native_ids
from tried.render.escape import plain, shortened
from tried.render.words import CELLS_PER_POINT, MARKS, ending_of, number, when
from tried.settings.requested_policy import RequestedPolicy

SHADES = (
    ("lexical", "█", "cyan"),
    ("structural", "▓", "magenta"),
    ("recency", "▒", "blue"),
    ("importance", "░", "green"),
)
OPTIONAL_SHADES = (("lexical_bonus", "▚", "bright_cyan"), ("hit_boost", "▀", "yellow"))
"""Of terms that a policy may turn on; one that takes from the score has no shade, it makes the bar shorter."""

STYLES: dict[Ending, str] = {"dead_end": "bold red", "worked": "bold green", "open": "dim"}
PENALTY = "decay_penalty"
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
    scores = [number(scored.score) for scored in ranking]
    width = max(map(len, scores), default=0)
    point = CELLS_PER_POINT / max(1.0, *(scored.score for scored in ranking))
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
                f"{place:>3}  {scores[place - 1]:>{width}}  ",
                bar_of(scored, point),
                "  ",
                (MARKS[ending], STYLES[ending]),
                f" {plain(shown)}",
                (name, "bold"),
                (f"  {date}" if date else "", "dim"),
            )
        )
        if told:
            out.print(line_of(" " * (9 + width + CELLS_PER_POINT), shortened(told, HEADLINE_LENGTH)))
    out.print(_legend(ranking), style="dim")


def _legend(ranking: Sequence[ScoredRecord]) -> Text:
    """The terms that occur in these scores, and the marks."""
    occurring = {term.name for scored in ranking for term in scored.terms if term.value}
    legend = Text("     ")
    for name, block, style in (*SHADES, *OPTIONAL_SHADES):
        if name in occurring:
            legend.append(f"{block * 2} ", style)
            legend.append(f"{name}  ")
    if PENALTY in occurring:
        legend.append(f"shorter by {PENALTY}  ")
    legend.append(f"{MARKS['dead_end']} dead end  {MARKS['worked']} worked  {MARKS['open']} neither")
    return legend


def what_is_listed(
    listed: int, query: RetrievalQuery, index: RankingIndex, now: datetime, asked: RequestedPolicy
) -> str | None:
    """How many there are if more than are `listed`, by which policy if by another than the default one, and what was
    left out for its age; None where there is nothing of that."""
    policy, parts = asked.policy, []
    of = len(passing(query, index, now=now, policy=policy))
    if of > listed:
        parts.append(f"{listed:,} of {of:,}")
    if asked.name != "default" or asked.has_overrides:
        changed = " with other knobs" if asked.has_overrides else ""
        parts.append(f"policy {plain(asked.name)}{changed} {policy.policy_id}")
    if old := too_old(query, index, now, policy):
        parts.append(f"{old:,} older than {_ttl(policy)} left out")
    return " · ".join(parts) or None


def too_old(query: RetrievalQuery, index: RankingIndex, now: datetime, policy: Policy) -> int:
    """How many records pass the filters and are left out for their age alone."""
    if policy.ttl_days is None:
        return 0
    lasting = policy.model_copy(update={"ttl_days": None})
    return len(passing(query, index, now=now, policy=lasting)) - len(passing(query, index, now=now, policy=policy))


def nothing_left(old: int, policy: Policy) -> str:
    """Of a list without a record, though there is a pool."""
    if not old:
        return "no record passes these filters; `tried pool` shows what there is"
    all_of_them = "the one record is" if old == 1 else f"all {old:,} records are"
    return f"nothing is listed: {all_of_them} older than {_ttl(policy)} (ttl_days of the policy)"


def _ttl(policy: Policy) -> str:
    days = policy.ttl_days or 0.0
    return f"{days:,g} day{'' if days == 1 else 's'}"


def bar_of(scored: ScoredRecord, point: float = CELLS_PER_POINT) -> Text:
    """The whole bar is as long as the score says, of which one point takes so many cells; a term's share of it is
    rounded so that the length stays right. What a term takes from the score is cut off at the end."""
    bar = Text()
    total = 0.0
    end = round(max(0.0, scored.score) * point)
    values = {term.name: max(0.0, term.value) for term in scored.terms}
    for name, block, style in (*SHADES, *OPTIONAL_SHADES):
        before = min(end, round(total * point))
        total += values.get(name, 0.0)
        bar.append(block * (min(end, round(total * point)) - before), style)
    bar.append(" " * max(0, CELLS_PER_POINT - len(bar)))
    return bar
