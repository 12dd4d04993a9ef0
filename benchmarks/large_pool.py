"""A pool of many runs in one research line: what it costs in time and memory, beside a plain scan in the same run.

    python benchmarks/large_pool.py [--sizes 10000 100000] [--rounds 15] [--parameters 40]

Runs are invented as searches make them: most parameters the same within a sweep, a few drawn from short lists, one or
two from a range, seeds; a few metrics, now and then notes. They come in batches of 2,000, as from a big store, and no
record is held: one is made again when it is asked for. The peer holds dictionaries of parameters and looks at every one
of them: differing keys of each run for the findings, shared words of each for the ranking. Times are those of the
processor, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from tried.draft.draft import ExperimentDraft
from tried.draft.entries import Entry
from tried.draft.parameters import Parameter, flatten
from tried.findings import FindingSettings, find
from tried.findings.key_history import key_history
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.ranking import RankingIndex, RetrievalQuery, rank, tokenize
from tried.ranking.bag import bag_of
from tried.text import Span

NOW: Final = datetime(2026, 11, 1, tzinfo=UTC)
BATCH: Final = 2_000
LINE: Final = "language-model"
WORDS: Final = (
    *("warmup", "longer", "wider", "deeper", "rotary", "gated", "mixture"),
    *("dropout", "schedule", "cosine", "clipping", "momentum", "router"),
)
Result = TypeVar("Result")


def parameters_of(number: int, count: int) -> dict[str, Any]:
    """The parameters of run `number`: fifty runs are a sweep around a base of its own."""
    base = random.Random(number // 50)
    draw = random.Random(number)
    values: dict[str, Any] = {
        "model.depth": base.choice([6, 8, 12, 16]),
        "model.width": base.choice([256, 384, 512, 768]),
        "model.heads": base.choice([4, 8, 12]),
        "optimizer.name": base.choice(["adamw", "muon", "lion"]),
        "optimizer.lr": round(10 ** draw.uniform(-4, -1.5), 6),
        "optimizer.weight_decay": draw.choice([0.0, 0.01, 0.05, 0.1]),
        "optimizer.beta2": draw.choice([0.95, 0.98, 0.99, 0.999]),
        "schedule.warmup_steps": draw.choice([0, 100, 200, 500]),
        "schedule.decay": base.choice(["cosine", "linear", "constant"]),
        "data.name": base.choice(["fineweb", "openweb"]),
        "data.mixture": base.choice(["plain", "code", "math"]),
        "train.batch_size": draw.choice([16, 32, 64, 128]),
        "train.max_steps": base.choice([2000, 5000]),
        "train.clip": draw.choice([0.5, 1.0]),
        "train.dropout": draw.choice([0.0, 0.1, 0.2]),
        "model.activation": base.choice(["gelu", "swiglu", "relu2"]),
        "model.norm": base.choice(["rms", "layer"]),
        "tokenizer.name": "bpe-32k",
        "seed": number,
        "output_dir": f"/runs/{number:06}",
        "gpu": base.choice(["A100", "H100"]),
    }
    for place in range(max(0, count - len(values))):
        values[f"options.group{place % 5}.flag_{place}"] = base.randrange(3) if place % 4 else "default"
    return values


def record_of(number: int, count: int) -> ExperimentRecord:
    draw = random.Random(-number)
    failed = draw.random() < 0.15
    cause = draw.choice(["out_of_memory", "diverged", "code_error"]) if failed else None
    conclusion: dict[str, Any] = {"outcome": "crashed" if failed else "completed", "derived": True}
    data: dict[str, Any] = {
        "id": f"mlflow:{number:032x}",
        "name": f"{draw.choice(WORDS)}-{draw.choice(WORDS)}-{number}",
        "params": parameters_of(number, count),
        "metrics": {"val_loss": round(draw.uniform(2, 4), 4), "train_loss": round(draw.uniform(2, 4), 4), "epoch": 3},
        "timestamp": (NOW - timedelta(minutes=400_000 - number)).isoformat(),
        "research_line": LINE,
        "sweep": f"sweep-{number // 50}",
        "tags": [draw.choice(WORDS)],
        "conclusion": conclusion,
        "cause": cause,
        "source": "mlflow",
    }
    if draw.random() < 0.05:
        data["notes"] = " ".join(draw.choices(WORDS, k=20))
        data["verdict"] = "dead_end" if failed else "works"
    if number % 10 == 9:
        lr = data["params"]["optimizer.lr"]
        changes = [{"change": "ParamChanged", "key": "optimizer.lr", "from": 0.003, "to": lr}]
        data["derivation"] = {"from": f"mlflow:{number - 1:032x}", "changes": changes}
    return ExperimentRecord.model_validate(data)


def draft_of(params: dict[str, Any]) -> ExperimentDraft:
    found = enumerate(flatten(params).items())
    parameters = tuple(
        Parameter(key, value.shown, value.value, value.kind, Entry((value.shown,), value.text, None, Span(i, i)))
        for i, (key, value) in found
    )
    return ExperimentDraft(Span(0, len(parameters)), research_line=LINE, parameters=parameters)


def drafts(size: int, count: int, rounds: int) -> Iterator[ExperimentDraft]:
    """Configs that somebody edits: a run of the pool with one or two knobs turned."""
    draw = random.Random(size)
    for _ in range(rounds):
        params = parameters_of(draw.randrange(size), count)
        params["optimizer.lr"] = draw.choice([params["optimizer.lr"], 0.003, 0.01])
        params["train.batch_size"] = draw.choice([64, 128, 256])
        params["seed"] = -1
        yield draft_of(params)


@dataclass
class Peer:
    """Dictionaries of comparable values and bags of words: looked through from the first to the last."""

    runs: list[dict[str, object]] = field(default_factory=list)
    bags: list[dict[str, int]] = field(default_factory=list)

    def add(self, record: ExperimentRecord) -> None:
        self.runs.append({key: recorded.value for key, recorded in flatten(record.params).items()})
        self.bags.append(bag_of(record))

    def find(self, draft: ExperimentDraft) -> list[int]:
        ours = {parameter.key: parameter.value for parameter in draft.parameters}
        near = []
        for number, theirs in enumerate(self.runs):
            if sum(theirs.get(key) != value for key, value in ours.items()) <= 4:
                near.append(number)
        return near

    def rank(self, text: str) -> list[int]:
        terms = tokenize(text)
        scores = [sum(bag.get(term, 0) for term in terms) for bag in self.bags]
        return sorted(range(len(scores)), key=lambda number: (-scores[number], number))[:20]


def memory() -> float:
    """Resident memory of this process in megabytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def timed(action: Callable[[], Result]) -> tuple[Result, float]:
    started = time.process_time()
    result = action()
    return result, time.process_time() - started


def spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered) * 1e3:9.1f} {p95 * 1e3:9.1f}"


def measure(size: int, count: int, rounds: int) -> None:
    def reader(record_id: str) -> ExperimentRecord:
        return record_of(int(record_id.removeprefix("mlflow:"), 16), count)

    gc.collect()
    before = memory()
    history, index = ParameterHistory.empty(), RankingIndex.empty()
    building: list[tuple[float, float]] = []
    for start in range(0, size, BATCH):
        batch = [record_of(number, count) for number in range(start, min(start + BATCH, size))]
        gc.disable()
        history, history_seconds = timed(partial(history.updated, (), batch, reader))
        index, index_seconds = timed(partial(index.updated, (), batch, reader))
        gc.enable()
        building.append((history_seconds, index_seconds))
        del batch
    gc.collect()
    held = memory()
    print(f"\n{size:,} runs in one research line, {count} parameters each")
    for name, seconds in zip(("history", "index"), zip(*building, strict=True), strict=True):
        first, last = (statistics.median(part) for part in (seconds[:5], seconds[-5:]))
        print(f"  build {name:8} {sum(seconds):7.2f} s; a batch of {BATCH:,}: first {first:.3f} s, last {last:.3f} s")
    each = (held - before) * 2**20 / size
    print(f"  memory {held:.0f} MB in all, {held - before:.0f} MB of it ours: {each:.0f} bytes a run")
    few = max(3, rounds // 5)
    appends: list[float] = []
    ready: list[float] = []
    finds: list[float] = []
    for draft in drafts(size, count, rounds):  # a run lands, then a config is edited
        record = record_of(size + len(appends), count)
        history, first_half = timed(partial(history.updated, (), [record], reader))
        index, second_half = timed(partial(index.updated, (), [record], reader))
        _, first_find = timed(partial(find, draft, history, FindingSettings()))
        _, again = timed(partial(find, draft, history, FindingSettings()))
        appends.append(first_half + second_half)
        ready.append(first_find)
        finds.append(again)
    hovers: list[float] = []
    for draft in drafts(size, count, few):
        for parameter in draft.parameters[: 2 * few]:
            hovers.append(timed(partial(key_history, draft, parameter, history, FindingSettings()))[1])
    queries = [f"{WORDS[n % len(WORDS)]} {WORDS[(n * 5) % len(WORDS)]} muon rotary {n}" for n in range(rounds)]
    ranks = [timed(partial(rank, RetrievalQuery(text), index, now=NOW, limit=20))[1] for text in queries]
    peer = Peer()
    for number in range(size):
        peer.add(record_of(number, count))
    peer_finds = [timed(partial(peer.find, draft))[1] for draft in drafts(size, count, few)]
    peer_ranks = [timed(partial(peer.rank, text))[1] for text in queries[:few]]
    print(f"  {'milliseconds':34}{'p50':>10}{'p95':>10}")
    print(f"  {'one run lands (history and index)':34}{spread(appends)}")
    print(f"  {'first findings after that':34}{spread(ready)}")
    print(f"  {'findings':34}{spread(finds)}")
    print(f"  {'findings, plain scan':34}{spread(peer_finds)}")
    print(f"  {'history of a key':34}{spread(hovers)}")
    print(f"  {'ranking':34}{spread(ranks)}")
    print(f"  {'ranking, plain scan':34}{spread(peer_ranks)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--parameters", type=int, default=40)
    options = parser.parse_args()
    for size in options.sizes:
        measure(size, options.parameters, options.rounds)


if __name__ == "__main__":
    main()
