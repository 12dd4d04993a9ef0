"""How fast records are indexed and ranked, beside a plain BM25 in the same run: medians and ratios.

    python benchmarks/ranking.py                        invented pools of 1,000, 10,000 and 100,000 records
    python benchmarks/ranking.py --pool FILE.jsonl      a journal of your own

The plain one is the textbook: dictionaries of postings and a loop, built over the same bags, words only. It is also
the check: both must name the same records, and where the ranking counts words alone their order must agree.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from tried.architecture import ArchitectureFingerprint
from tried.pool.record import ExperimentRecord
from tried.ranking import Policy, RankingIndex, RetrievalQuery, Weights, rank, tokenize
from tried.ranking.bag import bag_of

NOW = datetime(2026, 11, 1, tzinfo=UTC)
LIMIT = 20
Result = TypeVar("Result")
WORDS_ALONE = Policy(weights=Weights(lexical=1, structural=0, recency=0, importance=0))


class PlainBm25:
    """Okapi BM25, k1 = 1.2, b = 0.75, as the textbooks have it."""

    def __init__(self, ids: Sequence[str], bags: Sequence[Counter[str]]) -> None:
        self.ids = ids
        self.lengths = [sum(bag.values()) for bag in bags]
        self.average = sum(self.lengths) / len(bags)
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for place, bag in enumerate(bags):
            for term, count in bag.items():
                self.postings[term].append((place, count))

    def search(self, text: str, limit: int) -> list[tuple[str, float]]:
        scores: dict[int, float] = defaultdict(float)
        for term in tokenize(text):
            postings = self.postings.get(term, [])
            idf = math.log(1 + (len(self.ids) - len(postings) + 0.5) / (len(postings) + 0.5))
            for place, count in postings:
                norm = 1.2 * (0.25 + 0.75 * self.lengths[place] / self.average)
                scores[place] += idf * count * 2.2 / (count + norm)
        found = sorted(((-score, self.ids[place]) for place, score in scores.items()))
        return [(id, -score) for score, id in found[:limit]]


def invented(size: int) -> Iterator[ExperimentRecord]:
    """Records with words as frequent as in real logs (Zipf), a few architectures and ages of up to two years."""
    random_ = random.Random(7)
    vocabulary = [f"{random_.choice('bcdfgklmnprst')}{random_.choice('aeiou')}{n:x}" for n in range(20_000)]
    frequencies = [1 / (n + 1) for n in range(len(vocabulary))]
    shapes = [
        {str(n): f"filter:{random_.choice(vocabulary).title()}" for n in range(random_.randint(1, 12))}
        for _ in range(200)
    ]
    for number in range(size):
        words = random_.choices(vocabulary, frequencies, k=random_.randint(20, 120))
        yield ExperimentRecord(
            id=f"run-{number}",
            name=" ".join(words[:4]),
            hypothesis=" ".join(words[4:12]),
            notes=" ".join(words[12:]),
            params=dict.fromkeys(random_.sample(vocabulary[:80], 12), 1),
            tags=words[:2],
            timestamp=(NOW - timedelta(days=random_.uniform(0, 730))).isoformat(),
            architecture=ArchitectureFingerprint.of(random_.choice(shapes)) if number % 3 == 0 else None,
        )


def read(path: Path) -> list[ExperimentRecord]:
    records: dict[str, ExperimentRecord] = {}
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                record = ExperimentRecord.model_validate_json(line)
            except ValidationError as error:
                print(f"{path}:{number}: left out: {error.errors()[0]['msg']}", file=sys.stderr)
            else:
                records[record.id] = record
    return list(records.values())


def measure(records: Sequence[ExperimentRecord], rounds: int) -> None:
    bags, bag_seconds = timed(lambda: [bag_of(record) for record in records])
    index, index_seconds = timed(lambda: RankingIndex.of(records))
    plain, plain_seconds = timed(lambda: PlainBm25([record.id for record in records], bags))
    print(f"\n{len(records):,} records, {sum(map(len, bags)):,} postings")
    print(f"  tokenise into bags {bag_seconds:8.2f} s")
    print(f"  index, bags too    {index_seconds:8.2f} s   plain, without bags {plain_seconds:.2f} s")
    shape = next((record.architecture for record in records if record.architecture), None)
    words = [term for record in records[:: max(1, len(records) // 200)] for term in tokenize(record.name)]
    print("  median ms                 ranking     plain BM25     ratio")
    for count in (1, 10, 100, 300):
        text = " ".join(random.Random(count).choices(words, k=count))
        check(text, index, plain)
        ours, theirs = [], []
        for _ in range(rounds):  # in turn, so that whatever else the machine does strikes both
            query = RetrievalQuery(text, architecture=shape)
            ours.append(timed(partial(rank, query, index, now=NOW, limit=LIMIT))[1])
            theirs.append(timed(partial(plain.search, text, LIMIT))[1])
        report(f"query of {count} terms", ours, theirs)
    appends = []
    grown = index
    for number in range(max(rounds, 50)):
        new = records[number % len(records)].model_copy(update={"id": f"new-{number}"})
        grown, seconds = timed(partial(grown.updated, (), [new]))
        appends.append(seconds)
    report("append (plain: rebuild)", appends, [plain_seconds])


def check(text: str, index: RankingIndex, plain: PlainBm25) -> None:
    expected = plain.search(text, LIMIT)
    found = [
        (result.record.id, result.score)
        for result in rank(RetrievalQuery(text), index, now=NOW, limit=LIMIT, policy=WORDS_ALONE)
        if result.score > 0
    ]
    same = len(found) == len(expected) and all(
        math.isclose(score, raw / expected[0][1], rel_tol=1e-9)
        for (_, score), (_, raw) in zip(found, expected, strict=True)
    )
    if not same:
        sys.exit(f"the two disagree on {text[:60]!r}: {found[:3]} and {expected[:3]}")


def timed(action: Callable[[], Result]) -> tuple[Result, float]:
    start = time.perf_counter()
    result = action()
    return result, time.perf_counter() - start


def report(name: str, ours: Sequence[float], theirs: Sequence[float]) -> None:
    mine, other = statistics.median(ours) * 1e3, statistics.median(theirs) * 1e3
    print(f"  {name:24} {mine:8.2f} {other:14.2f} {other / mine:9.1f}x")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pool", type=Path, help="a journal to rank, instead of invented records")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000], help="invented records")
    parser.add_argument("--rounds", type=int, default=15, help="repetitions of each query")
    arguments = parser.parse_args()
    if arguments.pool:
        measure(read(arguments.pool), arguments.rounds)
    else:
        for size in arguments.sizes:
            measure(list(invented(size)), arguments.rounds)


if __name__ == "__main__":
    main()
