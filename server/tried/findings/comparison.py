"""How a run compares with a draft, key by key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tried.draft.alignment import AlignedDraft
from tried.draft.parameters import TRUNCATED, UNKNOWN, ParameterKind
from tried.pool.history.run import Run
from tried.pool.history.vocabulary import number_of

__all__ = ["Comparison", "compare", "is_item_of_a_list_in", "list_prefix", "number_of"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The keys of both, by the pool's names. Truncated values are in none of these.

    `equal` are knobs and contexts, `equal_budget` budgets; `budget` are budgets in which they differ, `run_budget`
    those that only the run states; `unread` knobs that the run sets and whose value in the draft cannot be read.
    `similarity` is the share of equal parameters in the union of both, in [0, 1]; `agreement` the same without the
    draft's knobs that no record ever set, which nobody can compare.
    """

    equal: tuple[str, ...]
    equal_budget: tuple[str, ...]
    differing: tuple[str, ...]
    budget: tuple[str, ...]
    run_budget: tuple[str, ...]
    unread: tuple[str, ...]
    draft_only: tuple[str, ...]
    run_only: tuple[str, ...]
    context_differs: bool
    similarity: float
    agreement: float


def compare(draft: AlignedDraft, run: Run) -> Comparison:
    equal: list[str] = []
    equal_budget: list[str] = []
    differing: list[str] = []
    budget: list[str] = []
    run_budget: list[str] = []
    unread: list[str] = []
    draft_only: list[str] = []
    run_only: list[str] = []
    context_differs = False
    union = 0
    theirs = run.in_force
    for key, parameter in draft.values.items():
        recorded = theirs.get(key)
        kind = parameter.kind
        if recorded is None:
            union += 1
            if kind is ParameterKind.KNOB:
                draft_only.append(key)
            elif kind is ParameterKind.CONTEXT and is_item_of_a_list_in(key, theirs):
                context_differs = True
        elif parameter.value is UNKNOWN or recorded.value is UNKNOWN:
            if kind is not ParameterKind.BUDGET:
                unread.append(key)
        elif parameter.value is not TRUNCATED and recorded.value is not TRUNCATED:
            union += 1
            if parameter.value == recorded.value:
                (equal_budget if kind is ParameterKind.BUDGET else equal).append(key)
            elif ParameterKind.BUDGET in (kind, recorded.kind):
                budget.append(key)
            else:
                differing.append(key)
                context_differs |= ParameterKind.CONTEXT in (kind, recorded.kind)
    for key, recorded in theirs.items():
        if key in draft.values:
            continue
        union += 1
        if key in draft.ambiguous:
            unread.append(key)
        elif recorded.kind is ParameterKind.BUDGET:
            run_budget.append(key)
        elif key in draft.nulls or is_item_of_a_list_in(key, draft.values):
            differing.append(key)
            context_differs |= recorded.kind is ParameterKind.CONTEXT
        elif recorded.kind is ParameterKind.KNOB:
            run_only.append(key)
    known_equal = len(equal) + len(equal_budget)
    return Comparison(
        equal=tuple(equal),
        equal_budget=tuple(equal_budget),
        differing=tuple(differing),
        budget=tuple(budget),
        run_budget=tuple(run_budget),
        unread=tuple(unread),
        draft_only=tuple(draft_only),
        run_only=tuple(run_only),
        context_differs=context_differs,
        similarity=known_equal / (union + len(draft.new)) if union else 0.0,
        agreement=known_equal / union if union else 0.0,
    )


def is_item_of_a_list_in(key: str, others: Iterable[str]) -> bool:
    """True for `layers.1.units` where the other side has `layers.0.…`: its list is shorter, not silent about it."""
    prefix = list_prefix(key)
    return prefix is not None and any(other.startswith(prefix) for other in others)


def list_prefix(key: str) -> str | None:
    """`layers.` of `layers.1.units`: what the keys of all items of the list begin with; None outside of lists."""
    if "." not in key:
        return None
    segments = key.split(".")
    place = next((index for index, segment in enumerate(segments) if segment.isdigit()), None)
    return None if place is None else ".".join(segments[:place]) + "."
