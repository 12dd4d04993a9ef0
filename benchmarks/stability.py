"""How far rankings move under small changes, and how good they are: python benchmarks/stability.py DATA [--curve]

DATA holds judgements.jsonl, queries/ and pool.jsonl. Each judged config is edited, its pool grows, a day passes, and
vectors get noisy; every step is held against the first run, in the config's own research line and in the whole pool,
with and without hits. Ages count from when a config was written, with `--late` from a day when all records are old.
`--curve` tries each optional term alone with several weights, and `--steady` all three together. `--records N` does the
same to N records of the whole pool as drafts, for which nobody judged what is relevant. docs/stability.md tells what is
measured; the tables are in its Markdown.
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
from tried.evaluation.judgements import Judgement, judgements_in
from tried.evaluation.noisy_vectors import with_vectors
from tried.evaluation.perturbations import spaced
from tried.evaluation.record_configs import LANGUAGE, config_of_record
from tried.evaluation.stability import (
    NO_USE,
    Difference,
    Observed,
    Use,
    by_change,
    churn_of,
    difference,
    observe,
    ranking_by,
    summary,
)
from tried.evaluation.stability_drafts import drafts_of_records
from tried.evaluation.stability_sessions import CHANGES, Ask, moments_in
from tried.pool.pool import Pool
from tried.pool.record import ExperimentRecord
from tried.pool.sources.journal_source import JournalSource
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


def asking(language: str) -> Ask:
    return lambda text: query_of(drafts_of(parse(text, language), text)) or RetrievalQuery()


def config_of(judgement: Judgement, data: Path) -> EditedConfig:
    path = data / judgement.config
    language = language_of(path.name, judgement.language) or ""
    return EditedConfig(judgement, path.read_text(encoding="utf-8", errors="replace"), language, asking(language))


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
            _difference(churn),
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


def _difference(told: Difference) -> str:
    return f"{told.mean:+.3f} ({told.lower} / {told.higher}, p {told.chance:.2g})"


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
    parser.add_argument("--records", type=int, metavar="N", default=0)
    options = parser.parse_args()
    started = time.perf_counter()
    pool = Pool([JournalSource((options.data / "pool.jsonl").absolute())]).refresh()
    records = list(pool.records.values())
    index = RankingIndex.of(with_vectors(records))
    if options.records:
        of_records(records, index, options.records)
        return
    judgements, bad = judgements_in((options.data / "judgements.jsonl").read_text(encoding="utf-8"))
    for line in bad:
        print(f"line {line.line} of the judgements cannot be used: {line.why}")
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


def of_records(records: Sequence[ExperimentRecord], index: RankingIndex, count: int) -> None:
    """Churn alone, draft by draft and research line by research line."""
    moments, by_id = moments_in(index), {record.id: record for record in records}
    written = [by_id[each] for each in moments if config_of_record(by_id[each]) is not None]
    drafts = list(drafts_of_records(spaced(written, count), moments, asking(LANGUAGE), LATE))
    lines = {draft.name: by_id[draft.name].research_line or "" for draft in drafts}
    sessions = [session for draft in drafts for session in (draft.editing, draft.noisy)]

    def observed(policy: Policy, use: Use) -> list[Observed]:
        return [step for session in sessions for step in observe(session, ranking_by(policy, index, K), K, use)]

    before = observed(DEFAULT_POLICY, NO_USE)
    print(f"{len(drafts)} records of {len(set(lines.values()))} research lines, {len(before)} steps\n")
    print(header("policy", "hits", *MEASURES[:4], "by research line"))
    terms = {term: with_terms(term, 0.05) for term in TERMS}
    for name, policy in ({"default": DEFAULT_POLICY} | terms | dict(POLICIES)).items():
        for use in ("none", "session") if policy.hit_boost.enabled else ("none",):
            found = before if policy is DEFAULT_POLICY else observed(policy, USES[use])
            told, churn = summary(found), difference(churn_of(before), churn_of(found))
            by_line = difference(mean_by(lines, churn_of(before)), mean_by(lines, churn_of(found)))
            cells = (
                name,
                use,
                f"{told.positional_churn:.3f}",
                _difference(churn),
                f"{told.set_churn:.3f}",
                f"{told.retention:.3f}",
                _difference(by_line),
            )
            print(f"| {' | '.join(cells)} |", flush=True)


def mean_by(groups: Mapping[str, str], values: Mapping[str, float]) -> dict[str, float]:
    found: dict[str, list[float]] = {}
    for name, value in values.items():
        found.setdefault(groups[name], []).append(value)
    return {group: fmean(each) for group, each in found.items()}


def with_terms(term: str, weight: float) -> Policy:
    """The default policy and one optional term, or `all` of them, of this weight."""
    terms = TERMS if term == "all" else (term,)
    return with_overrides(
        DEFAULT_POLICY,
        {f"{each}.{knob}": value for each in terms for knob, value in (("enabled", True), ("weight", weight))},
    )


if __name__ == "__main__":
    main()
