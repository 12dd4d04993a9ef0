"""The JSON of `tried evaluate` and `tried backtest`: contracts like those in `reports`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, get_args

from tried.evaluation.backtest import BacktestReport, Tally
from tried.evaluation.calibration import Calibration, interval_of, trust_in
from tried.evaluation.evaluate import Answer, Comparison, Evaluation, Overall, compared
from tried.evaluation.gate import Held
from tried.evaluation.judgements import BadLine, Judgement
from tried.findings.finding import Evidence, Finding
from tried.pool.record import finite
from tried.render.reports import rfc3339

EVALUATION_SCHEMA: Final = "tried.evaluation/v1"
BACKTEST_SCHEMA: Final = "tried.backtest/v1"
SEVERITIES: Final = ("warning", "information", "hover")


def evaluation_report(
    judgements: str, records: int, evaluation: Evaluation, bad: Iterable[BadLine], gates: Iterable[Held]
) -> dict[str, Any]:
    """``tried.evaluation/v1``: `judgements` is the file's path as it was given, `records` the size of the pool.

    What is measured of nothing is null.
    """
    report: dict[str, Any] = {
        "schema": EVALUATION_SCHEMA,
        "now": rfc3339(evaluation.now),
        "judgements": judgements,
        "records": records,
        "k": evaluation.ks[0],
        "policies": [{"name": name, "policy_id": policy.policy_id} for name, policy in evaluation.policies.items()],
        **{str(scope): _scope(overall, evaluation) for scope, overall in evaluation.scopes.items()},
        "gate": [_held(each) for each in gates],
        "not_used": [{"line": each.line, "why": each.why} for each in bad],
    }
    data: dict[str, Any] = finite(report)
    return data


def _scope(overall: Overall, evaluation: Evaluation) -> dict[str, Any]:
    ks, names = evaluation.ks, list(evaluation.policies)
    ranking: dict[str, Any] = {
        name: {
            **{f"recall@{k}": overall.recall(name, k) for k in ks},
            **{f"ndcg@{k}": overall.ndcg(name, k) for k in ks},
        }
        for name in names
    }
    found: dict[str, Any] = {
        "queries_with_relevant": len(overall.answerable),
        "findings": {
            "squiggles": overall.squiggles,
            "right": overall.right,
            "judged": overall.judged,
            "finding_precision": overall.finding_precision,
            "finding_precision_strict": overall.finding_precision_strict,
            "answered": overall.answered,
            "coverage": overall.coverage,
            "too_loud": overall.too_loud,
            "silent_queries": len(overall.silent),
            "false_alarms": overall.false_alarms,
        },
        "ranking": ranking,
    }
    if len(names) == 2:
        found["difference"] = {
            f"{measure}@{k}": _difference(comparison)
            for k in ks
            for measure, comparison in comparisons_of(overall, names[0], names[1], k).items()
        }
    found["queries"] = [_answer(answer, ks) for answer in overall.answers]
    return found


def comparisons_of(overall: Overall, before: str, after: str, k: int) -> dict[str, Comparison]:
    """What the second policy changed of each measure of a list."""
    return {
        "recall": compared(overall, lambda listed: listed.recall[k], before, after),
        "ndcg": compared(overall, lambda listed: listed.ndcg[k], before, after),
    }


def _difference(comparison: Comparison) -> dict[str, Any]:
    return {
        "mean": comparison.mean,
        "better": comparison.better,
        "worse": comparison.worse,
        "equal": comparison.equal,
        "queries": dict(comparison.by_query),
    }


def _answer(answer: Answer, ks: Sequence[int]) -> dict[str, Any]:
    judgement = answer.judgement
    return {
        "query": judgement.query,
        "config": judgement.config,
        "expect": judgement.expect,
        "relevant": sorted(judgement.relevant),
        "answered": answer.is_answered if judgement.relevant else None,
        "ranking": {
            name: {
                "ids": list(listed.ids[: ks[0]]),
                **{f"recall@{k}": listed.recall.get(k) for k in ks},
                **{f"ndcg@{k}": listed.ndcg.get(k) for k in ks},
            }
            for name, listed in answer.listed.items()
        },
        "findings": [_finding(finding, judgement) for finding in answer.findings],
    }


def _finding(finding: Finding, judgement: Judgement) -> dict[str, Any]:
    return {
        "severity": finding.severity,
        "code": finding.code,
        "evidence": finding.evidence,
        "message": finding.message,
        "record": finding.record,
        "records": list(finding.records),
        "judged": verdict_on(finding, judgement),
        "too_loud": judgement.is_too_loud(finding),
    }


def verdict_on(finding: Finding, judgement: Judgement) -> str:
    """`right`, `wrong` or `unjudged`."""
    if judgement.is_right(finding):
        return "right"
    return "wrong" if judgement.is_judged(finding) else "unjudged"


def _held(one: Held) -> dict[str, Any]:
    return {
        "scope": one.limit.scope,
        "measure": one.limit.name,
        "policy": one.policy,
        "least": one.limit.value if one.limit.side == "least" else None,
        "most": one.limit.value if one.limit.side == "most" else None,
        "value": one.value,
        "short_by": 0.0 if one.holds else one.short_by,
        "over_by": one.over_by,
        "holds": one.holds,
    }


def backtest_report(
    report: BacktestReport, calibration: Calibration, *, research_line: str | None, smallest_line: int, judged: bool
) -> dict[str, Any]:
    """``tried.backtest/v1``: `precision` is null where nothing was counted, `interval` that of Wilson at 95 %, `trust`
    what plain counts of squiggles say."""
    data: dict[str, Any] = finite(
        {
            "schema": BACKTEST_SCHEMA,
            "research_line": research_line,
            "min_line": smallest_line,
            "judged_only": judged,
            "lines": report.lines,
            "drafts": _tally(report.drafts),
            "left_out": report.left_out,
            "evidence": {
                evidence: {
                    "squiggles": _tally(tally := report.squiggles.get(evidence, Tally())),
                    "trust": trust_in(tally),
                    "quiet_if_calibrated": evidence in calibration.quiet,
                    **{
                        severity: _tally(report.by_kind[evidence, severity])
                        for severity in SEVERITIES
                        if (evidence, severity) in report.by_kind
                    },
                }
                for evidence in get_args(Evidence)
            },
            "loudest": {
                severity: _tally(report.by_severity.get(severity, Tally())) for severity in (*SEVERITIES, "none")
            },
            "preceded": {
                "warning": _share(report.preceded("warning"), report),
                "squiggle": _share(report.preceded("warning", "information"), report),
            },
            "wrong": [
                {"draft": draft, "record": record, "message": message} for draft, record, message in report.wrong
            ],
        }
    )
    return data


def _share(value: float, report: BacktestReport) -> float | None:
    return value if report.drafts.ended_badly else None


def _tally(tally: Tally) -> Mapping[str, Any]:
    return {
        "drafts": tally.flagged,
        "ended_badly": tally.ended_badly,
        "precision": tally.precision if tally.flagged else None,
        "interval": list(interval_of(tally)) if tally.flagged else None,
    }
