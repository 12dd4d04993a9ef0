"""What a policy does that nobody wants, and what somebody set that does nothing: allowed, and worth a word."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tried.ranking.policy import Knobs, Policy, remark_on
from tried.ranking.scoring import OPTIONAL_TERMS


def remarks_on(policy: Policy, names: Iterable[str] = ()) -> tuple[str, ...]:
    """`names` are the knobs that somebody set (`hit_boost.weight`); each remark is a sentence without its full stop."""
    remark = remark_on(policy)
    return (*([remark] if remark is not None else []), *_without_effect(policy, set(names)))


def knobs_set(policy: Knobs, prefix: str = "") -> Iterator[str]:
    """The dotted names of the knobs that were given a value where the policy was written down."""
    for name in type(policy).model_fields:
        value = getattr(policy, name)
        if isinstance(value, Knobs):
            yield from knobs_set(value, f"{prefix}{name}.")
        elif name in policy.model_fields_set:
            yield f"{prefix}{name}"


def _without_effect(policy: Policy, names: set[str]) -> Iterator[str]:
    """Knobs of a term that is off, unless one of them says that it is to be; the half-life of what does not count."""
    for term in OPTIONAL_TERMS:
        knobs = [name for name in sorted(names) if name.startswith(f"{term}.")]
        if knobs and f"{term}.enabled" not in names and not getattr(policy, term).enabled:
            yield f"{_are_set(knobs)}, but {term} is off: {term}.enabled=true turns it on"
    if "half_life_days" in names and not policy.weights.recency and any(_weights(policy)):
        yield f"{_are_set(['half_life_days'])}, but weights.recency is 0: how old a record is does not count"


def _are_set(names: list[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last} are set" if others else f"{last} is set"


def _weights(policy: Policy) -> tuple[float, ...]:
    weights = policy.weights
    return weights.lexical, weights.structural, weights.recency, weights.importance
