"""Out of memory is monotonic: what is as large as something that failed fails, unless something as large fitted."""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import Final

from tried.draft.keys import words_of
from tried.findings.comparison import number_of
from tried.findings.scope import Scope
from tried.pool.run import Run

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


def is_smaller_somewhere(scope: Scope, run: Run, apart_from: str = "") -> bool:
    """True where the draft is smaller than the run in a size: it may fit although the run did not."""
    for key, parameter in scope.draft.values.items():
        recorded = run.in_force.get(key)
        if recorded is None or key == apart_from or not is_size(recorded.shown):
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
    fitted = (
        run
        for run in scope.line.by_key[key].values()
        if run.ending == "worked"
        and (theirs := number_of(run.values[key].value)) is not None
        and theirs >= size
        and not _is_larger_somewhere(scope, run)
        and scope.admits(run)
    )
    return list(islice(fitted, _ENOUGH))


def _is_larger_somewhere(scope: Scope, run: Run) -> bool:
    for key, parameter in scope.draft.values.items():
        recorded = run.in_force.get(key)
        if recorded is None or not is_size(recorded.shown):
            continue
        ours, theirs = number_of(parameter.value), number_of(recorded.value)
        if ours is not None and theirs is not None and ours > theirs:
            return True
    return False


def largest_fitting(scope: Scope, key: str, below: float) -> str:
    """The largest value of `key` under `below` with which a run worked, as it was written; empty if none did."""
    best: tuple[float, str] | None = None
    for run in scope.line.by_key[key].values():
        size = number_of(run.values[key].value)
        if run.ending != "worked" or size is None or size >= below:
            continue
        if (best is None or size > best[0]) and scope.admits(run):
            best = (size, run.values[key].text)
    return best[1] if best else ""
