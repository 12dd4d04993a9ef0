"""Findings and ranked lists on judged configs, noise on others: python benchmarks/judged_warnings.py DATA [--show]

DATA holds judgements.jsonl, queries/, pool.jsonl and configs/. Each judged config is read once with the pool of its own
research line and once with the whole pool and no word of its line. `--show` lists every finding with its verdict.
"""

from __future__ import annotations

import argparse
import time
from datetime import UTC, datetime
from pathlib import Path

from tried.analysis import query_of
from tried.draft.config_files import is_config
from tried.draft.draft import drafts_of
from tried.draft.syntax import language_of, parse
from tried.evaluation.evaluate import Evaluation, JudgedConfig, Overall, evaluate, resolved
from tried.evaluation.judgements import Judgement, judgements_in
from tried.findings import FindingSettings, find
from tried.findings.claim import LOUDNESS
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.sources.journal_source import JournalSource
from tried.ranking.policy import DEFAULT_POLICY, Policy, Weights
from tried.ranking.query import RetrievalQuery
from tried.render.evaluation_reports import verdict_on

NOW = datetime(2026, 11, 30, tzinfo=UTC)
POLICIES = {
    "ranked list": DEFAULT_POLICY,
    "BM25 alone": Policy(weights=Weights(lexical=1.0, structural=0.0, recency=0.0, importance=0.0)),
}


def read(judgement: Judgement, data: Path, snapshot: PoolSnapshot) -> JudgedConfig | None:
    known, problems = resolved(judgement, snapshot)
    path = data / judgement.config
    language = language_of(path.name, judgement.language)
    if problems or language is None:
        print(f"{judgement.query}: {'; '.join(problems) or f'{judgement.config} is of no known language'}")
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    drafts = tuple(drafts_of(parse(text, language), text))
    return JudgedConfig(known, drafts, query_of(drafts) or RetrievalQuery())


def show(overall: Overall) -> None:
    for answer in overall.answers:
        judgement = answer.judgement
        print(f"{judgement.query} {judgement.config} (expects {judgement.expect}, {sorted(judgement.relevant)})")
        for finding in answer.findings:
            verdict = verdict_on(finding, judgement)
            print(f"    {verdict:<8} {finding.severity:<11} {finding.evidence:<6} {finding.message}", end="  ")
            print(finding.records[:4])


def report(name: str, overall: Overall, evaluation: Evaluation) -> None:
    print(
        f"{name}: {overall.answered} of {len(overall.answerable)} configs answered by a right finding (hover included)"
    )
    print(f"  squiggles {overall.squiggles}, right {overall.right}, judged {overall.judged}", end="; ")
    loud = [(answer, finding) for answer in overall.answers for finding in answer.too_loud]
    precision, strict = (
        float("nan") if each is None else each for each in (overall.finding_precision, overall.finding_precision_strict)
    )
    print(f"precision over judged {precision:.2f}, strict {strict:.2f}; too loud {len(loud)}")
    for answer, finding in loud:
        expected = f"{answer.judgement.query} expects {answer.judgement.expect}"
        print(f"    too loud: {expected}: {finding.severity} {finding.message}")
    for policy in evaluation.policies:
        recall, ndcg = overall.recall(policy, 10) or 0.0, overall.ndcg(policy, 10) or 0.0
        print(f"  {policy:<12} recall@10 {recall:.3f}  nDCG@10 {ndcg:.3f}")


def noise(configs: Path, snapshot: PoolSnapshot, verbose: bool) -> None:
    history = snapshot.history
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
    snapshot = Pool([JournalSource((options.data / "pool.jsonl").absolute())]).refresh()
    judgements, bad = judgements_in((options.data / "judgements.jsonl").read_text(encoding="utf-8"))
    for line in bad:
        print(f"line {line.line} of the judgements cannot be used: {line.why}")
    configs = [found for each in judgements if (found := read(each, options.data, snapshot)) is not None]
    evaluation = evaluate(configs, snapshot, POLICIES, now=NOW)
    for scope, overall in evaluation.scopes.items():
        if options.show:
            show(overall)
        report({"own_line": "own research line", "whole_pool": "whole pool"}[scope], overall, evaluation)
    if not options.skip_noise:
        noise(options.data / "configs", snapshot, options.show)


if __name__ == "__main__":
    main()
