"""Why a record ranks where it does, and by which policy, as JSON: contracts like those in `reports`.

Invariant: terms become JSON here and nowhere else; their order and their values are those of the scorer.
Invariant: `final_score` is the left-to-right sum of the values of `breakdown`, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from tried.pool.record import finite
from tried.ranking.breakdown import Term
from tried.ranking.policy import DEFAULT_POLICY, PRESETS, Policy, knobs, policy_json
from tried.render.escape import shortened

if TYPE_CHECKING:
    from tried.related.explain import Explanation
    from tried.settings.requested_policy import RequestedPolicy

EXPLAIN_SCHEMA: Final = "tried.explain/v2"
POLICIES_SCHEMA: Final = "tried.policies/v1"

ANSWER_LENGTH: Final = 1_000
_ID_LENGTH: Final = 500


def term_json(term: Term, *, with_inputs: bool = False) -> dict[str, Any]:
    """``{name, value, signal, weight, note?, inputs?}``; signal and weight are null where a term has none."""
    data: dict[str, Any] = {"name": term.name, "value": term.value, "signal": term.signal, "weight": term.weight}
    if term.note is not None:
        data["note"] = term.note
    if with_inputs and term.inputs is not None:
        data["inputs"] = dict(term.inputs)
    return data


def breakdown_json(terms: Iterable[Term], *, with_inputs: bool = False) -> list[dict[str, Any]]:
    """The terms of a score, in the order in which their values are added up."""
    return [term_json(term, with_inputs=with_inputs) for term in terms]


def requested_policy_json(requested: RequestedPolicy) -> dict[str, Any]:
    """What an answer says of the policy it was asked for with: its name, its id and every knob."""
    return {"name": shortened(requested.name, 200), **_policy_json(requested.policy)}


def explanation_report(explanation: Explanation, requested: RequestedPolicy) -> dict[str, Any]:
    """``tried.explain/v2``, without inputs: those are in traces. `policy` is given where somebody asked for one."""
    scored = explanation.scored
    report: dict[str, Any] = {
        "schema": EXPLAIN_SCHEMA,
        "record": explanation.record[:_ID_LENGTH] if explanation.record is not None else None,
        "policy_id": requested.policy.policy_id,
        **({"policy": requested_policy_json(requested)} if requested.is_requested else {}),
        "rank": explanation.rank,
        "of": explanation.of,
        "final_score": scored.score if scored is not None else None,
        "breakdown": breakdown_json(scored.terms) if scored is not None else [],
        "dropped_by": explanation.dropped_by,
        "answer": shortened(explanation.answer, ANSWER_LENGTH),
    }
    data: dict[str, Any] = finite(report)
    return data


def policies_report(active: str, policies: Iterable[tuple[str, Policy]]) -> dict[str, Any]:
    """``tried.policies/v1``: the policies that a workspace knows by name."""
    return {
        "schema": POLICIES_SCHEMA,
        "active": shortened(active, 200),
        "policies": [
            {
                "name": shortened(name, 200),
                "policy_id": policy.policy_id,
                "is_active": name == active,
                "is_preset": name in PRESETS,
                "policy": policy_json(policy),
            }
            for name, policy in policies
        ],
    }


def changed_knobs(policy: Policy, other: Policy = DEFAULT_POLICY) -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of each knob that has another value in `other`; in the order of the knobs."""
    for name in knobs():
        value = knob_of(policy, name)
        if value != knob_of(other, name):
            yield name, value


def knob_of(policy: Policy, name: str) -> Any:
    """The value of a knob by its dotted name."""
    value: Any = policy
    for part in name.split("."):
        value = getattr(value, part)
    return value


def knob_text(value: object) -> str:
    """As it is written on a command line: 0.4, 64, true, none."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)


def _policy_json(policy: Policy) -> dict[str, Any]:
    return {"policy_id": policy.policy_id, **policy_json(policy)}
