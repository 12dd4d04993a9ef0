"""Precision of the findings by replay: python benchmarks/backtest.py POOL.jsonl [--all] [--wrong]

Each record of a line with at least ten is taken as the draft, the records before it as the pool. `--all` replays every
record whose end is known, not only those that carry a verdict; `--wrong` lists what stood on a draft that ended well.
The study's rules are run on the same drafts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from study_rules import study_flags
from tried.evaluation.backtest import Tally, backtest
from tried.pool.history.run import Run, run_of
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource


def read_pool(path: Path) -> list[ExperimentRecord]:
    """As the product reads them: with what follows from their recorded parents."""
    return list(Pool([JournalSource(path.absolute())]).refresh().records.values())


def study(records: list[ExperimentRecord], judged_only: bool) -> tuple[dict[str, Tally], Tally, int]:
    """(by kind, drafts flagged at all, dead ends) under the study's rules."""
    lines: dict[str | None, list[Run]] = {}
    for order, record in enumerate(records):
        lines.setdefault(record.research_line, []).append(run_of(record, order))
    by_kind: dict[str, Tally] = {}
    flagged, dead_ends = Tally(), 0
    for runs in lines.values():
        for place, run in enumerate(runs):
            known = run.judged if judged_only else run.judged or run.ending != "open"
            if len(runs) < 10 or place == 0 or not known or not run.values:
                continue
            bad = run.ending == "dead_end"
            dead_ends += bad
            kinds = study_flags(run, runs[:place])
            if kinds:
                flagged = flagged.plus(bad)
            for kind in kinds:
                by_kind[kind] = by_kind.get(kind, Tally()).plus(bad)
    return by_kind, flagged, dead_ends


def row(name: str, tally: Tally) -> str:
    return f"  {name:<24} {tally.flagged:>6} {tally.ended_badly:>6} {tally.precision:>7.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pool", type=Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--wrong", action="store_true")
    options = parser.parse_args()
    records = read_pool(options.pool)
    started = time.perf_counter()
    report = backtest(records, judged_only=not options.all)
    took = time.perf_counter() - started
    print(f"drafts {report.drafts.flagged}, base rate {report.drafts.precision:.3f}  ({took:.1f} s)")
    print(f"  {'evidence, severity':<24} {'drafts':>6} {'bad':>6} {'precision':>7}")
    for (evidence, severity), tally in sorted(report.by_kind.items()):
        print(row(f"{evidence}, {severity}", tally))
    print("by the loudest finding on a draft")
    for severity in ("warning", "information", "hover", "none"):
        print(row(severity, report.by_severity.get(severity, Tally())))
    print(f"dead ends preceded by a warning {report.preceded('warning'):.3f}", end=", ")
    print(f"by a warning or information {report.preceded('warning', 'information'):.3f}")
    by_kind, flagged, dead_ends = study(records, not options.all)
    print("the study's rules on the same drafts")
    for kind, tally in sorted(by_kind.items()):
        print(row(kind, tally))
    print(row("any", flagged), f" dead ends preceded {flagged.ended_badly / max(1, dead_ends):.3f}")
    if options.wrong:
        for draft, record, message in report.wrong:
            print(f"{draft}: {message} [{record}]")


if __name__ == "__main__":
    main()
