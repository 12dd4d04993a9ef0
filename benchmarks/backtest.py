"""Precision of the findings by replay: python benchmarks/backtest.py POOL.jsonl [--all] [--wrong]

As `tried backtest` does: each run of a line with at least ten is taken as the draft, the runs before it as the pool.
`--all` replays every run whose end is known, not only those that carry a verdict; `--wrong` lists what stood on a draft
that ended well. The study's rules are run on the same drafts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from study_rules import study_flags
from tried.evaluation.backtest import Tally, backtest_of, lines_of
from tried.pool.history.run import run_of
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.sources.journal_source import JournalSource


def study(snapshot: PoolSnapshot, judged_only: bool) -> tuple[dict[str, Tally], Tally, int]:
    """(by kind, drafts flagged at all, dead ends) under the study's rules."""
    by_kind: dict[str, Tally] = {}
    flagged, dead_ends = Tally(), 0
    for line in lines_of(snapshot):
        records = (snapshot.records[run.id] for run in line.runs_in_time(line.runs.values()))
        runs = [run_of(record, order) for order, record in enumerate(records)]
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
    snapshot = Pool([JournalSource(options.pool.absolute())]).refresh()
    started = time.perf_counter()
    report = backtest_of(snapshot, judged_only=not options.all)
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
    by_kind, flagged, dead_ends = study(snapshot, not options.all)
    print("the study's rules on the same drafts")
    for kind, tally in sorted(by_kind.items()):
        print(row(kind, tally))
    print(row("any", flagged), f" dead ends preceded {flagged.ended_badly / max(1, dead_ends):.3f}")
    if options.wrong:
        for draft, record, message in report.wrong:
            print(f"{draft}: {message} [{record}]")


if __name__ == "__main__":
    main()
