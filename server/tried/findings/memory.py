"""Out of memory is monotonic: what is as large as something that failed fails, unless something as large fitted."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np

from tried.draft.keys import words_of
from tried.findings.comparison import number_of
from tried.findings.scope import Scope
from tried.pool.history.run import Run

_SIZE_WORDS: Final = frozenset(
    {"batch", "size", "batchsize", "seq", "seqlen", "sequence", "length", "len", "context", "block", "tokens", "layers"}
    | {"layer", "depth", "width", "dim", "hidden", "heads", "head", "channels", "embd", "embed", "ff", "ffn", "mult"}
    | {"resolution", "image", "img", "res", "crop", "frames", "samples", "experts", "vocab", "units", "filters", "rank"}
)

_ENOUGH = 10


@lru_cache(maxsize=65536)
def is_size(shown: str) -> bool:
    """True for a key that says how large something is that lies in memory."""
    return not _SIZE_WORDS.isdisjoint(words_of(shown.rsplit(".", 1)[-1]))


def is_smaller_somewhere(scope: Scope, run: Run) -> bool:
    """True where the draft is smaller than the run in a size: it may fit although the run did not."""
    for key, parameter in scope.draft.values.items():
        recorded = run.in_force.get(key)
        if recorded is None or not is_size(recorded.shown):
            continue
        ours, theirs = number_of(parameter.value), number_of(recorded.value)
        if ours is not None and theirs is not None and ours < theirs:
            return True
    return False


def as_large_fitted(scope: Scope, key: str) -> list[Run]:
    """Runs that worked although they were as large as the draft in `key` and in every other size that both state.

    The first few of them: one is enough to contradict.
    """
    size = number_of(scope.draft.values[key].value)
    if size is None:
        return []
    columns = scope.line.columns
    fitted = columns.floats(columns.logged_by_key.get(key, ())) >= size
    fitted &= scope.line.has_worked & scope.admitted
    for other, parameter in scope.draft.values.items() if fitted.any() else ():
        ours = number_of(parameter.value)
        sizes = [held for held in columns.in_force(other) if is_size(held[0].shown)]
        if ours is not None and sizes:
            fitted &= ~(columns.floats(sizes) < ours)
    return [scope.line.run_at(row) for row in np.flatnonzero(fitted)[:_ENOUGH].tolist()]


def largest_fitting(scope: Scope, key: str, below: float) -> str:
    """The largest value of `key` under `below` with which a run worked, as it was written; empty if none did."""
    columns = scope.line.columns
    sizes = columns.floats(columns.logged_by_key.get(key, ()))
    fitting = (sizes < below) & scope.line.has_worked & scope.admitted
    if not fitting.any():
        return ""
    best = int(np.argmax(np.where(fitting, sizes, -np.inf)))
    return scope.line.run_at(best).values[key].text
