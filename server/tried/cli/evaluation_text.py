"""An evaluation on a terminal: what it comes to first, then query by query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tried.cli.output import console, line_of
from tried.evaluation.evaluate import Answer, Comparison, Evaluation, Overall, Scope
from tried.render.escape import plain
from tried.render.evaluation_reports import comparisons_of, verdict_on
from tried.render.words import counted

TITLES: Final[dict[Scope, str]] = {
    "own_line": "each config beside its own research line",
    "whole_pool": "each config beside the whole pool, its line not told",
}
WIDTH: Final = 40


def print_evaluation(evaluation: Evaluation, records: int) -> None:
    out = console()
    queries = len(next(iter(evaluation.scopes.values())).answers)
    names = ", ".join(f"{plain(name)} ({policy.policy_id})" for name, policy in evaluation.policies.items())
    out.print(
        line_of(
            f"{counted(queries, 'judged config')}, {counted(records, 'record')}; the first {evaluation.ks[0]} places"
            f" of a list count; policy {names}"
        )
    )
    for scope, overall in evaluation.scopes.items():
        out.print(line_of((f"\n{TITLES[scope]}", "bold")))
        _print_findings(overall)
        _print_lists(overall, evaluation)
        _print_queries(overall, evaluation)


def _print_findings(overall: Overall) -> None:
    out = console()
    answerable = len(overall.answerable)
    if answerable:
        out.print(
            line_of(
                f"  coverage {_number(overall.coverage)}: {overall.answered} of {counted(answerable, 'config')} with"
                " something to be seen answered by a right finding, the hover included"
            )
        )
        out.print(
            line_of(
                f"  finding precision {_number(overall.finding_precision)}: {overall.right} of"
                f" {counted(overall.judged, 'judged squiggle')} right; strict"
                f" {_number(overall.finding_precision_strict)} of {overall.squiggles}"
            )
        )
    silent = len(overall.silent)
    noise = counted(overall.false_alarms, "squiggle")
    out.print(
        line_of(f"  noise: {noise} on {counted(silent, 'config')} where none is right; {overall.too_loud} too loud")
    )


def _print_lists(overall: Overall, evaluation: Evaluation) -> None:
    out, names = console(), list(evaluation.policies)
    if not overall.answerable:
        return
    width = min(WIDTH, max(len("difference"), *(len(plain(name)) for name in names)))
    for k in evaluation.ks:
        out.print(line_of((f"  {'policy':<{width}}  {f'recall@{k}':>10}  {f'nDCG@{k}':>10}", "dim")))
        for name in names:
            recall, ndcg = _number(overall.recall(name, k)), _number(overall.ndcg(name, k))
            out.print(line_of(f"  {plain(name)[:width]:<{width}}  {recall:>10}  {ndcg:>10}"))
        if len(names) == 2:
            changes = comparisons_of(overall, names[0], names[1], k)
            recall, ndcg = _signed(changes["recall"].mean), _signed(changes["ndcg"].mean)
            out.print(line_of(f"  {'difference':<{width}}  {recall:>10}  {ndcg:>10}"))
            told = f"recall {_counts(changes['recall'])}; nDCG {_counts(changes['ndcg'])}"
            out.print(line_of(f"  queries under {plain(names[1])}: {told}"))


def _counts(change: Comparison) -> str:
    return f"{change.better} better, {change.worse} worse, {change.equal} equal"


def _print_queries(overall: Overall, evaluation: Evaluation) -> None:
    out, k = console(), evaluation.ks[0]
    width = min(WIDTH, max(len("query"), *(len(plain(answer.judgement.query)) for answer in overall.answers)))
    places = 13 if len(evaluation.policies) == 2 else 9
    head = f"  {'query':<{width}}  {'expects':<7}  {f'recall@{k}':>{places}}  {f'nDCG@{k}':>{places}}  findings"
    out.print(line_of((head, "dim")))
    for answer in overall.answers:
        recall = _by_policy(listed.recall.get(k) for listed in answer.listed.values())
        ndcg = _by_policy(listed.ndcg.get(k) for listed in answer.listed.values())
        first = f"  {plain(answer.judgement.query)[:width]:<{width}}  {answer.judgement.expect:<7}"
        out.print(line_of(f"{first}  {recall:>{places}}  {ndcg:>{places}}  {_findings(answer)}"))


def _by_policy(values: Iterable[float | None]) -> str:
    """ "0.500", of two policies "0.500 → 0.750"."""
    return " → ".join(map(_number, values))


def _findings(answer: Answer) -> str:
    """ "1 warning (right), 2 in the hover (1 right, 1 unjudged)"; "none"."""
    told: list[str] = []
    for severity in ("warning", "information", "hover"):
        found = [verdict_on(one, answer.judgement) for one in answer.findings if one.severity == severity]
        if found:
            verdicts = ", ".join(f"{found.count(one)} {one}" for one in ("right", "wrong", "unjudged") if one in found)
            told.append(f"{severity}: {verdicts}")
    return "; ".join(told) or "none"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"
