"""Out of memory is monotonic: what is as large as something that failed fails, unless something as large fitted."""

from __future__ import annotations

from tried.findings.scope import Scope, number_of
from tried.pool.history import Run


def as_large_fitted(scope: Scope, key: str, value: object) -> list[Run]:
    """Runs that did not run out of memory although `key` was at least `value`, in the order of the pool."""
    size = number_of(value)
    if size is None:
        return []
    found = [
        run
        for run in scope.line.by_key[key].values()
        if run.ending == "worked"
        and (theirs := number_of(run.values[key].value)) is not None
        and theirs >= size
        and scope.admits(run)
    ]
    return sorted(found, key=lambda run: run.order)


def largest_fitting(scope: Scope, key: str, below: object) -> str:
    """The largest value of `key` under `below` with which a run worked, as it was written; empty if none did."""
    limit = number_of(below)
    best: tuple[float, str] | None = None
    for run in scope.line.by_key[key].values():
        size = number_of(run.values[key].value)
        if run.ending != "worked" or size is None or limit is None or size >= limit or not scope.admits(run):
            continue
        if best is None or size > best[0]:
            best = (size, run.values[key].text)
    return best[1] if best else ""
