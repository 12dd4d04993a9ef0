"""The JSON of `tried stability`: a contract like those in `reports`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from tried.evaluation.stability import TOP, Observed, StabilityRun, by_change, churn_of, difference, summary
from tried.pool.record import finite
from tried.render.reports import rfc3339

STABILITY_SCHEMA: Final = "tried.stability/v1"


def stability_report(
    runs: Sequence[StabilityRun],
    *,
    now: datetime,
    k: int,
    records: int,
    drafts: Sequence[str],
    of_records: bool,
    found: int,
    notes: Iterable[str],
) -> dict[str, Any]:
    """``tried.stability/v1``: `drafts` are the names of those that were edited, of `found`; each run after the first is
    held against the first."""
    report: dict[str, Any] = {
        "schema": STABILITY_SCHEMA,
        "now": rfc3339(now),
        "k": k,
        "top": TOP,
        "records": records,
        "drafts": {"are": "records" if of_records else "configs", "names": list(drafts), "found": found},
        "notes": list(notes),
        "runs": [_run(run, runs[0]) for run in runs],
    }
    data: dict[str, Any] = finite(report)
    return data


def _run(run: StabilityRun, first: StabilityRun) -> dict[str, Any]:
    told = difference(churn_of(first.observed), churn_of(run.observed)) if run is not first else None
    return {
        "policy": run.policy,
        "policy_id": run.policy_id,
        "opened": run.use.opened,
        "overall": _measures(run.observed),
        "changes": [{"change": change, **_measures(steps)} for change, steps in by_change(run.observed).items()],
        "drafts": [{"draft": name, "positional_churn": churn} for name, churn in churn_of(run.observed).items()],
        "against_first": told
        and {
            "lower": told.lower,
            "equal": told.equal,
            "higher": told.higher,
            "mean": told.mean,
            "chance": told.chance,
        },
    }


def _measures(observed: Iterable[Observed]) -> dict[str, Any]:
    told = summary(observed)
    return {
        "steps": told.steps,
        "moved": told.moved,
        "positional_churn": told.positional_churn,
        "set_churn": told.set_churn,
        "retention": told.retention,
    }
