"""How far rankings move under small changes, and how good they are: python benchmarks/stability.py DATA [--curve]

DATA holds judgements.jsonl, queries/ and pool.jsonl. Each judged config is edited, its pool grows, a day passes, and
vectors get noisy; every step is held against the first run, in the config's own research line and in the whole pool,
with and without hits. Ages count from when a config was written, with `--late` from a day when all records are old.
`--curve` tries each optional term alone with several weights, and `--steady` all three together. docs/stability.md
tells what is measured; the tables are in its Markdown.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean

from backtest import read_pool
from tried.analysis import query_of
from tried.draft.draft import drafts_of
from tried.draft.syntax import language_of, parse
from tried.evaluation.judged_stability import (
    EditedConfig,
    JudgedRun,
    JudgedSessions,
    judged_run,
    sessions_on,
    written_at,
)
from tried.evaluation.judgements import Judgement, read_judgements
from tried.evaluation.noisy_vectors import with_vectors
from tried.evaluation.stability import NO_USE, Use, by_change, churn_of, difference, ranking_by, summary
from tried.evaluation.stability_sessions import CHANGES
from tried.ranking.index import RankingIndex
from tried.ranking.policy import DEFAULT_POLICY, STEADY, Policy, with_overrides
from tried.ranking.query import RetrievalQuery

LATE = datetime(2026, 11, 30, tzinfo=UTC)
K = 10
DURING = Use(opened=5)
BEFORE = Use(opened=5, earlier_days=5)
USES = {"none": NO_USE, "session": DURING, "days before": BEFORE}
TERMS: Mapping[str, tuple[str, ...]] = {
    "lexical_bonus": ("none",),
    "decay_penalty": ("none",),
    "hit_boost": ("session", "days before"),
}
"""Each optional term with the uses under which it does anything."""
WEIGHTS = (0.02, 0.05, 0.1, 0.2)
POLICIES: Mapping[str, Policy] = {
    "steady": STEADY,
    "steady, weights of 0.1": with_overrides(STEADY, {f"{term}.weight": 0.1 for term in TERMS}),
    "default, weights.lexical 0.5": with_overrides(DEFAULT_POLICY, {"weights.lexical": 0.5}),
    "default, weights.lexical 0": with_overrides(DEFAULT_POLICY, {"weights.lexical": 0.0}),
}


def config_of(judgement: Judgement, data: Path) -> EditedConfig:
    path = data / judgement.config
    language = language_of(path.name, judgement.language) or ""

    def ask(text: str) -> RetrievalQuery:
        return query_of(drafts_of(parse(text, language), text)) or RetrievalQuery()

    return EditedConfig(judgement, path.read_text(encoding="utf-8", errors="replace"), language, ask)


@dataclass(frozen=True)
class Bench:
    """All judged configs in one pool; other policies are held against the default one there."""

    judged: Sequence[JudgedSessions]
    index: RankingIndex

    def measured(self, policy: Policy, use: Use) -> JudgedRun:
        return judged_run(self.judged, ranking_by(policy, self.index, K), K, use)

    @cached_property
    def default(self) -> JudgedRun:
        """Whatever the use: hits are nothing to it."""
        return self.measured(DEFAULT_POLICY, NO_USE)

    def row(self, *names: str, policy: Policy, use: str) -> str:
        found = self.default if policy is DEFAULT_POLICY else self.measured(policy, USES[use])
        told, churn = summary(found.observed), difference(churn_of(self.default.observed), churn_of(found.observed))
        cells = [
            *names,
            f"{told.positional_churn:.3f}",
            f"{churn.mean:+.3f} ({churn.lower} / {churn.higher}, p {churn.chance:.2f})",
            f"{told.set_churn:.3f}",
            f"{told.retention:.3f}",
            _quality(self.default.ndcg, found.ndcg),
            _quality(self.default.recall, found.recall),
        ]
        return f"| {' | '.join(cells)} |"

    def by_change(self) -> Iterator[str]:
        found = {
            "default": self.default,
            "steady": self.measured(STEADY, NO_USE),
            "hits": self.measured(STEADY, DURING),
        }
        steps = {name: by_change(each.observed) for name, each in found.items()}
        for change in CHANGES:
            told = [summary(each[change]) for each in steps.values()]
            cells = [change, str(told[0].steps)]
            cells += [
                f"{each.moved} ({each.positional_churn:.3f}, {each.set_churn:.3f}, {each.retention:.3f})"
                for each in told
            ]
            yield f"| {' | '.join(cells)} |"


def _quality(before: Mapping[str, float], after: Mapping[str, float]) -> str:
    """A mean over queries, and in how many it is better and worse than under the default policy."""
    told = difference(before, after)
    return f"{fmean(after.values()):.3f} ({told.higher} / {told.lower})"


def header(*names: str) -> str:
    return f"| {' | '.join(names)} |\n|{'---|' * len(names)}"


MEASURES = (
    "churn by place",
    "to the default (lower / higher)",
    "set churn",
    "top 3 kept",
    "nDCG@10 (better / worse)",
    "recall@10",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--late", action="store_true")
    options = parser.parse_args()
    started = time.perf_counter()
    records = read_pool(options.data / "pool.jsonl")
    index = RankingIndex.of(with_vectors(records))
    judgements = read_judgements(options.data / "judgements.jsonl")
    for name, whole in (("own research line", False), ("whole pool", True)):
        judged = [
            sessions_on(
                config_of(each, options.data),
                records,
                LATE if options.late else written_at(each, records) or LATE,
                whole_pool=whole,
            )
            for each in judgements
        ]
        bench = Bench(judged, index)
        print(f"\n**{name}**: {len(judged)} configs, {len(bench.default.observed)} steps\n")
        print(header("policy", "hits", *MEASURES))
        print(bench.row("default", "any", policy=DEFAULT_POLICY, use="none"))
        for label, policy in POLICIES.items():
            for use in USES if policy.hit_boost.enabled else ("none",):
                print(bench.row(label, use, policy=policy, use=use), flush=True)
        print(
            "\n" + header("change", "steps", *(f"{each}: moved; means" for each in ("default", "steady", "with hits")))
        )
        print("\n".join(bench.by_change()))
        for told, weights, curve in (
            ("one term alone", options.curve, TERMS),
            ("all three", options.steady, {"all": tuple(USES)}),
        ):
            if weights:
                print("\n" + header(told, "weight", "hits", *MEASURES))
                for term, uses in curve.items():
                    for use, weight in product(uses, WEIGHTS):
                        print(bench.row(term, f"{weight}", use, policy=with_terms(term, weight), use=use), flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


def with_terms(term: str, weight: float) -> Policy:
    """The default policy and one optional term, or `all` of them, of this weight."""
    terms = TERMS if term == "all" else (term,)
    return with_overrides(
        DEFAULT_POLICY,
        {f"{each}.{knob}": value for each in terms for knob, value in (("enabled", True), ("weight", weight))},
    )


if __name__ == "__main__":
    main()
