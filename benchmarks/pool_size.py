"""What a large pool costs: python benchmarks/pool_size.py [--records 100000] [--parameters 40] [--without-columns]

Invented records come from a source in batches, as a tracker's store gives them. Meanwhile another thread sleeps for a
millisecond again and again and notes how late it wakes: that is how long the server's event loop would have to wait.
Then one record changes. `--without-columns` leaves parameter history and ranking index out, to see the pool alone.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import BATCH, Delta
from tried.ranking.index import RankingIndex


@dataclass
class Invented:
    """A source of `count` records; after those, of whatever is put into `more`."""

    count: int
    parameters: int
    more: tuple[ExperimentRecord, ...] = ()
    kind: str = "invented"
    path: Path = Path("/invented")

    def record(self, number: int, revision: int = 0) -> ExperimentRecord:
        rng = random.Random(number)
        groups = ("model", "optimizer", "data", "trainer")
        params = {
            f"{groups[n % 4]}.option_{n}": rng.choice([0.1, 0.01, 0.001, 16, 32, 64, "adamw", "cosine", True, None])
            for n in range(self.parameters)
        }
        params["optimizer.lr"] = rng.random()
        fields: dict[str, Any] = {
            "id": f"invented:{number:032x}",
            "name": f"run-{number}",
            "params": params,
            "metrics": {"val_loss": rng.random() + revision, "val_f1": rng.random()},
            "timestamp": f"2026-{1 + number % 12:02}-{1 + number % 28:02}T{number % 24:02}:00:00Z",
            "research_line": f"line-{number % 20}",
            "tags": [f"tag-{number % 50}"],
            "conclusion": {"outcome": rng.choice(["completed", "completed", "failed"]), "derived": True},
            "run_dir": f"/work/outputs/2026-01-01/{number}",
            "source": "invented",
        }
        return ExperimentRecord.model_validate(fields)

    def scan(self, cursor: object | None) -> Delta:
        start = cursor if isinstance(cursor, int) else 0
        if start >= self.count:
            upserts, self.more = self.more, ()
            return Delta(upserts, cursor=start)
        end = min(start + BATCH, self.count)
        records = tuple(self.record(number) for number in range(start, end))
        return Delta(records, cursor=end, more=end < self.count, total=self.count)

    def line_of(self, record_id: str) -> int | None:
        return None


class Sleeper(threading.Thread):
    """Wakes every millisecond and notes how late it was, in milliseconds."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.late: list[float] = []
        self.asleep = True

    def run(self) -> None:
        while self.asleep:
            before = time.perf_counter()
            time.sleep(0.001)
            self.late.append((time.perf_counter() - before) * 1000 - 1)


def lateness(sleeper: Sleeper) -> dict[str, float]:
    late = sorted(sleeper.late)
    return {
        name: round(late[int((len(late) - 1) * share)], 1)
        for name, share in (("median", 0.5), ("p99", 0.99), ("most", 1))
    }


def memory() -> dict[str, float]:
    """Megabytes that the process has now, and the most that it had."""
    status = Path("/proc/self/status").read_text(encoding="ascii") if Path("/proc/self/status").exists() else ""
    now = next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), float("nan"))
    return {"now": round(now), "peak": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)}


def nothing_kept(columns: Any, removed: Iterable[str], upserts: Iterable[Any], records: object = None) -> Any:
    return columns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--parameters", type=int, default=40)
    parser.add_argument("--without-columns", action="store_true")
    options = parser.parse_args()
    if options.without_columns:
        for kind, name in ((ParameterHistory, "updated"), (RankingIndex, "updated")):
            setattr(kind, name, nothing_kept)
    source = Invented(options.records, options.parameters)
    report: dict[str, Any] = {"memory before": memory()}
    pool = Pool([source])
    idle = Sleeper()
    idle.start()
    time.sleep(1)
    idle.asleep = False
    report["late while idle ms"] = lateness(idle)
    sleeper = Sleeper()
    sleeper.start()
    published: list[float] = []
    started = time.perf_counter()
    pool.refresh(published=lambda snapshot: published.append(time.perf_counter() - started))
    report["seconds"] = round(time.perf_counter() - started, 1)
    sleeper.asleep = False
    report["first snapshot after s"] = round(published[0], 2) if published else None
    report["late while loading ms"] = lateness(sleeper)
    report["memory after"] = memory()
    report["spool MB"] = round(pool._assembly.spool.size / 1e6)
    changes = []
    for number in range(10):
        source.more = (source.record(options.records // 2 + number, revision=1),)
        started = time.perf_counter()
        pool.refresh()
        changes.append((time.perf_counter() - started) * 1000)
    report["one change ms"] = {"median": round(median(changes), 1), "most": round(max(changes), 1)}
    started = time.perf_counter()
    pool.refresh()
    report["no change ms"] = round((time.perf_counter() - started) * 1000, 2)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
