"""Where a draft stands and what was tried for its keys, in one line each: for lenses, hints and menus. Plain text."""

from __future__ import annotations

from typing import Final

from tried.findings.wording import what_happened
from tried.pool.history.run import Run
from tried.record_names import is_made_up, short_id
from tried.related.result import Result
from tried.related.standing import Nearest, Ran, Standing
from tried.related.tried_values import TriedKey, TriedValue
from tried.render.document import Block, Code, Inline, Paragraph, Strong, Text
from tried.render.escape import plain, shortened
from tried.render.words import counted

MOST_KEYS: Final = 3
_NAME_LENGTH: Final = 40
_HAPPENED_LENGTH: Final = 80


def standing_line(standing: Standing) -> str:
    """ "ran 5 times: val_f1 0.912 ± 0.004", or "never run · nearest: EXP-7 (val_f1 0.9), differs in lr · 3 dead ends
    nearby"."""
    if standing.ran is not None:
        return _ran(standing.ran)
    if standing.nearest is None:
        return f"never run · nothing comparable among {counted(standing.pool, 'run')}"
    parts = ["never run", _nearest(standing.nearest)]
    if standing.dead_ends:
        parts.append(f"{counted(standing.dead_ends, 'dead end')} nearby")
    return " · ".join(parts)


def _ran(ran: Ran) -> str:
    count = len(ran.runs)
    times = "once" if count == 1 else f"{count} times"
    where = f" in {_name(ran.research_line)}" if ran.research_line else ""
    where += f" if {_names(ran.unread)} {'is' if len(ran.unread) == 1 else 'are'} the same" if ran.unread else ""
    if all(run.running for run in ran.runs):
        return f"is running{where}" if count == 1 else f"{count} runs of this are running{where}"
    if ran.dead_ends == count:
        happened = shortened(plain(what_happened(ran.runs[-1])), _HAPPENED_LENGTH)
        happened += "”" * (happened.count("“") - happened.count("”"))
        last = "" if count == 1 else f"{'both' if count == 2 else 'all'} dead ends, last "
        return f"ran {times}{where}: {last}{happened}"
    told = f": {result_text(ran.result)}" if ran.result is not None else ""
    bad = f" · {counted(ran.dead_ends, 'dead end')}" if ran.dead_ends else ""
    return f"ran {times}{where}{told}{bad}"


def _nearest(nearest: Nearest) -> str:
    name = _run_name(nearest.run)
    said = [result_text(nearest.result)] if nearest.result is not None else []
    said += ["dead end"] if nearest.run.ending == "dead_end" else ["running"] if nearest.run.running else []
    told = f" ({', '.join(said)})" if said else ""
    where = f" in {_name(nearest.research_line)}" if nearest.research_line else ""
    return f"nearest: {name}{where}{told}, {_differs(nearest.keys)}"


def _run_name(run: Run) -> str:
    """Its name, where its id is a number that a tracker made up."""
    name = _name(run.record.name) if is_made_up(run.id) else ""
    return name or plain(short_id(run.id))


def _differs(keys: tuple[str, ...]) -> str:
    if not keys:
        return "nothing compared differs"
    return f"differs in {_names(keys)}"


def _names(keys: tuple[str, ...]) -> str:
    more = f" +{len(keys) - MOST_KEYS}" if len(keys) > MOST_KEYS else ""
    return ", ".join(_name(key) for key in keys[:MOST_KEYS]) + more


def result_text(result: Result) -> str:
    """ "val_f1 0.912 ± 0.004" """
    return f"{_name(result.metric)} {result}"


def _name(text: str | None) -> str:
    return shortened(plain(text or ""), _NAME_LENGTH)


def tried_line(tried: TriedValue, *, with_metric: bool) -> str:
    """ "4 runs · best val_f1 0.912 · 1 dead end" """
    parts = [counted(tried.runs, "run")]
    if tried.best is not None:
        metric = f"{_name(tried.best.metric)} " if with_metric else ""
        parts.append(f"{'best ' if tried.runs > 1 else ''}{metric}{tried.best.value:.4g}")
    if tried.is_dead_end:
        parts = [f"{counted(tried.runs, 'run')}, {'a dead end' if tried.runs == 1 else 'all dead ends'}"]
    elif tried.dead_ends:
        parts.append(counted(tried.dead_ends, "dead end"))
    return " · ".join(parts)


def use_title(tried: TriedValue) -> str:
    """ "Use 0.01: best of 4 runs (val_f1 0.912)", and how many of them were dead ends: one lucky run is no advice."""
    best = tried.best
    result = f" ({_name(best.metric)} {best.value:.4g})" if best is not None else ""
    runs = "1 run" if tried.runs == 1 else f"best of {tried.runs:,} runs"
    bad = f", {counted(tried.dead_ends, 'dead end')}" if tried.dead_ends else ""
    return f"Use {_name(tried.text)}: {runs}{result}{bad}"


def tried_blocks(key: str, tried: TriedValue, where: TriedKey | None = None) -> list[Block]:
    """Which runs had a value, how they ended, and which was the best by what metric."""
    line: list[Inline] = []
    if where is not None and not where.own and where.research_line:
        line = [Text("in"), Code(_name(where.research_line))]
    if where is not None and not where.is_evidence:
        line.append(Text("in any context"))
    blocks: list[Block] = [
        Paragraph((Code(_name(key)), Code(_name(tried.text)), *line, Text(f"· {counted(tried.runs, 'run')}")))
    ]
    if tried.best is not None:
        best = f"{_name(tried.best.metric)} {tried.best.value:.5g}"
        blocks.append(Paragraph((Text("Best:"), Strong(best), Text("in"), Code(short_id(tried.best.record)))))
    ended = [counted(tried.worked, "worked", "worked")] if tried.worked else []
    ended += [counted(tried.dead_ends, "dead end")] if tried.dead_ends else []
    if ended:
        records = _records(tried.dead_records)
        blocks.append(Paragraph((Text(", ".join(ended) + (":" if records else ".")), *records)))
    blocks.append(Paragraph((Text("Latest:"), *_records(tried.records))))
    return blocks


def _records(ids: tuple[str, ...]) -> list[Inline]:
    parts: list[Inline] = []
    for place, record in enumerate(ids):
        parts += [Text(","), Code(short_id(record))] if place else [Code(short_id(record))]
    return parts
