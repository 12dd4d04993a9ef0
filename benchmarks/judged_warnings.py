"""Findings and ranked lists on judged configs, noise on others: python benchmarks/judged_warnings.py DATA [--show]

DATA holds judgements.jsonl, queries/, pool.jsonl and configs/. Each judged config is read once with the pool of its own
research line and once with the whole pool and no word of its line. `--show` lists every finding with its verdict.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

from backtest import read_pool
from tried.draft.config_files import is_config
from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.syntax import language_of, parse
from tried.evaluation.judgements import Judgement, pool_before, read_judgements
from tried.evaluation.metrics import ndcg_at, recall_at
from tried.findings import Finding, FindingSettings, find
from tried.findings.claim import LOUDNESS
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.record import ExperimentRecord
from tried.ranking.index import RankingIndex
from tried.ranking.policy import Policy, Weights
from tried.ranking.query import RetrievalQuery
from tried.ranking.rank import rank

NOW = datetime(2026, 11, 30, tzinfo=UTC)
WORDS_ALONE = Policy(weights=Weights(lexical=1.0, structural=0.0, recency=0.0, importance=0.0))


@dataclass
class Score:
    """Counts of squiggles over judged configs, and the measures of the ranked list for each."""

    squiggles: int = 0
    right: int = 0
    judged: int = 0
    too_loud: list[str] = field(default_factory=list)
    answered: list[str] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    ndcg: list[float] = field(default_factory=list)
    words_recall: list[float] = field(default_factory=list)
    words_ndcg: list[float] = field(default_factory=list)


def draft_of(path: Path, language: str | None = None) -> ExperimentDraft | None:
    text = path.read_text(encoding="utf-8", errors="replace")
    language = language_of(path.name, language)
    return None if language is None else drafts_of(parse(text, language), text)[0]


def ranked_ids(draft: ExperimentDraft, index: RankingIndex, policy: Policy) -> list[str]:
    query = RetrievalQuery(text=draft.query_text, architecture=draft.architecture)
    return [each.record.id for each in rank(query, index, now=NOW, limit=10, policy=policy)]


def judge(
    judgement: Judgement, draft: ExperimentDraft, records: list[ExperimentRecord], line: str | None, score: Score
) -> list[Finding]:
    history = ParameterHistory.empty().updated((), records)
    findings = list(find(draft, history, FindingSettings(research_line=line)))
    loud = [finding for finding in findings if LOUDNESS[finding.severity] > LOUDNESS["hover"]]
    if judgement.relevant:
        score.squiggles += len(loud)
        score.right += sum(judgement.is_right(finding) for finding in loud)
        score.judged += sum(judgement.is_judged(finding) for finding in loud)
        if any(judgement.is_right(finding) for finding in findings):
            score.answered.append(judgement.query)
        index = RankingIndex.empty().updated((), records)
        for policy, recalls, ndcgs in (
            (Policy(), score.recall, score.ndcg),
            (WORDS_ALONE, score.words_recall, score.words_ndcg),
        ):
            ids = ranked_ids(draft, index, policy)
            recalls.append(recall_at(ids, judgement.relevant, 10))
            ndcgs.append(ndcg_at(ids, {i: g for i, g in judgement.grades.items() if i in judgement.relevant}, 10))
    score.too_loud += [
        f"{judgement.query} expects {judgement.expect}: {finding.severity} {finding.message}"
        for finding in findings
        if judgement.is_too_loud(finding)
    ]
    return findings


def show(judgement: Judgement, findings: Iterable[Finding]) -> None:
    print(f"{judgement.query} {judgement.config} (expects {judgement.expect}, relevant {sorted(judgement.relevant)})")
    for finding in findings:
        verdict = "right" if judgement.is_right(finding) else "judged" if judgement.is_judged(finding) else "unjudged"
        print(f"    {verdict:<8} {finding.severity:<11} {finding.evidence:<6} {finding.message}  {finding.records[:4]}")


def report(name: str, score: Score, queries: int) -> None:
    strict = score.right / score.squiggles if score.squiggles else float("nan")
    judged = score.right / score.judged if score.judged else float("nan")
    print(f"{name}: {len(score.answered)} of {queries} configs answered by a right finding (hover included)")
    print(f"  squiggles {score.squiggles}, right {score.right}, judged {score.judged}", end="; ")
    print(f"precision over judged {judged:.2f}, strict {strict:.2f}; too loud {len(score.too_loud)}")
    for line in score.too_loud:
        print(f"    too loud: {line}")
    print(f"  ranked list  recall@10 {fmean(score.recall):.3f}  nDCG@10 {fmean(score.ndcg):.3f}")
    print(f"  BM25 alone   recall@10 {fmean(score.words_recall):.3f}  nDCG@10 {fmean(score.words_ndcg):.3f}")


def noise(configs: Path, records: Sequence[ExperimentRecord], verbose: bool) -> None:
    history = ParameterHistory.empty().updated((), records)
    files = squiggled = configs_found = 0
    times: list[float] = []
    for path in sorted(each for each in configs.rglob("*") if each.is_file()):
        language = language_of(path.name, None)
        if language is None or path == configs / "index.json":
            continue
        files += 1
        text = path.read_bytes().decode("utf-8", "replace")
        started = time.perf_counter()
        parsed = parse(text, language)
        if is_config(path.relative_to(configs), parsed):
            configs_found += 1
            found = [f for draft in drafts_of(parsed, text) for f in find(draft, history, FindingSettings())]
            loud = [finding for finding in found if LOUDNESS[finding.severity] > LOUDNESS["hover"]]
            squiggled += bool(loud)
            for finding in loud if verbose else ():
                print(f"    {path.relative_to(configs)}: {finding.severity} {finding.evidence} {finding.message}")
        times.append(time.perf_counter() - started)
    times.sort()
    print(
        f"noise: {squiggled} of {files} files with a squiggle ({squiggled / files:.4f}); {configs_found} are configs",
        end="; ",
    )
    print(f"parse and find p50 {times[len(times) // 2] * 1e3:.1f} ms, p95 {times[int(len(times) * 0.95)] * 1e3:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--skip-noise", action="store_true")
    options = parser.parse_args()
    records = read_pool(options.data / "pool.jsonl")
    judgements = read_judgements(options.data / "judgements.jsonl")
    answerable = sum(bool(judgement.relevant) for judgement in judgements)
    for name, scoped in (("own research line", True), ("whole pool", False)):
        score = Score()
        for judgement in judgements:
            draft = draft_of(options.data / judgement.config, judgement.language)
            if draft is None:
                print(f"{judgement.query}: {judgement.config} is of no known language")
                continue
            pool = list(pool_before(judgement, records))
            if scoped:
                pool = [record for record in pool if record.research_line == judgement.research_line]
            line = judgement.research_line if scoped else None
            findings = judge(judgement, draft, pool, line, score)
            if options.show:
                show(judgement, findings)
        report(name, score, answerable)
    if not options.skip_noise:
        noise(options.data / "configs", records, options.show)


if __name__ == "__main__":
    main()
