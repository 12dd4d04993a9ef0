"""How fast trackers' stores are read: each made large, read from nothing, then looked at again with nothing new.

    python benchmarks/sources.py [--only mlflow-database,…] [--scale 1.0] [--trackers PYTHON] [--json]

*load* is the time until every record of the store has been given, in batches that are dropped at once, as the pool
drops them; *memory* the peak of that process, of which Python and our own modules take the part in brackets; *nothing
new* the median and the longest of 40 further scans. The peer, where there is one, reads the very same store in the same
run. Every reading is done by a process of its own, with warm file caches.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from stores_of_hydra import make_hydra_outputs
from stores_of_mlflow import make_mlflow_database, make_mlflow_files
from stores_of_wandb import make_wandb_folders, make_wandb_logs

SCANS = 40

PEER = """
import json, resource, sys, time
from mlflow import MlflowClient
from mlflow.entities import ViewType
client = MlflowClient(tracking_uri=sys.argv[1])
start, count, token = time.perf_counter(), 0, None
runs = []
ids = [e.experiment_id for e in client.search_experiments(view_type=ViewType.ALL)]
while True:
    page = client.search_runs(ids, max_results=1000, page_token=token)
    runs.extend(page)
    token = page.token
    if not token:
        break
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"records": len(runs), "seconds": seconds, "megabytes": peak}))
"""


@dataclass(frozen=True)
class Store:
    """`make(folder, runs)` makes the store and gives its path; `runs` is the size at scale 1."""

    name: str
    runs: int
    make: Callable[[Path, int], Path]
    peer: str | None = None


def _database(folder: Path, runs: int) -> Path:
    make_mlflow_database(folder / "mlflow.db", runs, 60)
    return folder / "mlflow.db"


def _files(folder: Path, runs: int) -> Path:
    make_mlflow_files(folder / "mlruns", runs, 20)
    return folder / "mlruns"


def _hydra(folder: Path, runs: int) -> Path:
    make_hydra_outputs(folder, runs, 60)
    return folder


def _table(folder: Path, runs: int) -> Path:
    statuses = ("keep", "discard", "discard", "crash")
    with (folder / "results.tsv").open("w", encoding="utf-8") as file:
        file.write("commit\tval_bpb\tmemory_gb\tstatus\tdescription\n")
        for row in range(runs):
            value = 0.0 if row % 4 == 3 else 0.99 - (row % 997) * 1e-5
            status = statuses[row % 4]
            file.write(f"{row * 2654435761 % 2**28:07x}\t{value:.6f}\t{44 + row % 9}\t{status}\tLR {row % 50 / 1000}\n")
    return folder / "results.tsv"


STORES = (
    Store("mlflow-database", 10_000, _database, peer="sqlite:///{path}"),
    Store("mlflow-files", 10_000, _files),
    Store("wandb-folders", 5_000, lambda folder, runs: make_wandb_folders(folder, runs, 60)),
    Store("wandb-logs", 5_000, lambda folder, runs: make_wandb_logs(folder, runs, 60)),
    Store("hydra", 5_000, _hydra),
    Store("results-table", 100_000, _table),
)


def read(path: Path) -> dict[str, Any]:
    """In this process: everything, then nothing new."""
    from tried.pool.sources.discovery import discover

    folder = path if (path / "outputs").is_dir() else path.parent
    found = list(discover(folder).sources)
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    records = skipped = 0
    cursors: list[object] = []
    start = time.perf_counter()
    for source in found:
        cursor: object = None
        while True:
            delta = source.scan(cursor)
            cursor = delta.cursor
            records += len(delta.upserts)
            skipped += len(delta.skipped)
            if not delta.more:
                break
        cursors.append(cursor)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    quiet: list[float] = []
    told = 0
    for _ in range(SCANS):
        start = time.perf_counter()
        for place, source in enumerate(found):
            delta = source.scan(cursors[place])
            cursors[place] = delta.cursor
            told += len(delta.upserts)
        quiet.append((time.perf_counter() - start) * 1000)
    return {
        "records": records,
        "skipped": skipped,
        "seconds": seconds,
        "megabytes": peak,
        "idle_megabytes": idle,
        "nothing_new_ms": median(quiet),
        "nothing_new_longest_ms": max(quiet),
        "told_again": told,
    }


def aged(path: Path, days: float = 10) -> None:
    """Everything there was written so long ago, as in a store that has grown for a while: what is young is looked at
    more often."""
    then = time.time() - days * 86_400
    for place, _, files in os.walk(path, topdown=False):
        for name in files:
            os.utime(os.path.join(place, name), (then, then))  # noqa: PTH118 - hundreds of thousands of them
        os.utime(place, (then, then))
    os.utime(path, (then, then))


def in_process(arguments: list[str]) -> dict[str, Any]:
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{arguments[:3]} failed:\n{done.stderr[-3000:]}")
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="names of stores, with commas")
    parser.add_argument("--scale", type=float, default=1.0, help="times the usual number of runs")
    parser.add_argument("--trackers", type=Path, default=Path(".venv-trackers/bin/python"), help="Python with MLflow")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--read", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        print(json.dumps(read(options.read)))
        return
    chosen = [store for store in STORES if not options.only or store.name in options.only.split(",")]
    results: dict[str, dict[str, Any]] = {}
    for store in chosen:
        with tempfile.TemporaryDirectory(prefix="tried-sources-") as temporary:
            folder = Path(temporary) / store.name
            folder.mkdir()
            has_peer = store.peer is not None and options.trackers.exists()
            if has_peer:
                # The tracker wants tables of just its own version, so it makes them.
                in_process([str(options.trackers), "-c", PEER, _peer_address(store, folder)])
            path = store.make(folder, max(1, int(store.runs * options.scale)))
            aged(path)
            result = in_process([sys.executable, __file__, "--read", str(path)])
            if has_peer:
                result["peer"] = in_process([str(options.trackers), "-c", PEER, _peer_address(store, folder)])
            results[store.name] = result
        if not options.json:
            print(_line(store.name, results[store.name]), flush=True)
    if options.json:
        print(json.dumps(results, indent=1))


def _peer_address(store: Store, folder: Path) -> str:
    return (store.peer or "").format(path=folder / "mlflow.db")


def _line(name: str, result: dict[str, Any]) -> str:
    line = (
        f"{name:16} {result['records']:>7,} records  load {result['seconds']:6.2f} s"
        f"  memory {result['megabytes']:4.0f} MB ({result['idle_megabytes']:.0f})"
        f"  nothing new {result['nothing_new_ms']:6.1f} ms, longest {result['nothing_new_longest_ms']:.1f}"
    )
    if result["skipped"] or result["told_again"]:
        line += f"  skipped {result['skipped']}, told again {result['told_again']}"
    if peer := result.get("peer"):
        line += (
            f"\n{'  its client':16} {peer['records']:>7,} records  load {peer['seconds']:6.2f} s"
            f"  memory {peer['megabytes']:4.0f} MB  ({peer['seconds'] / result['seconds']:.0f} times as long)"
        )
    return line


if __name__ == "__main__":
    main()
