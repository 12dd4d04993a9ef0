"""The policy of one request: the active one, another by its name, or one with other values of single knobs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tried.ranking.policy import Policy, PolicyError
from tried.ranking.policy_remarks import remarks_on
from tried.settings.model import Settings
from tried.settings.policies import policy_names, policy_of

MOST_OVERRIDES: Final = 100
"""More than there are knobs: whoever sends more of them sends something else."""


@dataclass(frozen=True, slots=True)
class RequestedPolicy:
    """`name` is that of the policy it is or began with. `is_requested`: somebody asked for it, and is told its knobs;
    `has_overrides`: of which some were set for this request. `remarks`: what of it nobody can want."""

    name: str
    policy: Policy
    is_requested: bool = False
    has_overrides: bool = False
    remarks: tuple[str, ...] = ()


def requested_policy(
    settings: Settings, name: str | None = None, overrides: Mapping[str, Any] | None = None
) -> RequestedPolicy:
    """The settings stay as they are. Raises PolicyError for a name or a knob that is not known, and for what a knob
    does not take."""
    if overrides is not None and len(overrides) > MOST_OVERRIDES:
        raise PolicyError(f"{len(overrides):,} knobs are set; at most {MOST_OVERRIDES} are taken")
    began_with = active_name(settings) if name is None else name
    policy = policy_of(settings, began_with, overrides or None)
    is_requested, remarks = name is not None or bool(overrides), remarks_on(policy, overrides or ())
    return RequestedPolicy(began_with, policy, is_requested, bool(overrides), remarks)


def active_name(settings: Settings) -> str:
    """The policy that is ranked by where nobody asks for another; "default" where the settings name none that is
    known."""
    name = settings.ranking.policy
    return name if name in policy_names(settings) else "default"


def overrides_from(written: Iterable[str]) -> dict[str, str]:
    """Of `knob=value`, as on a command line; of a knob that is set twice the last value. Raises PolicyError."""
    overrides: dict[str, str] = {}
    for each in written:
        knob, equals, value = each.partition("=")
        if not equals or not knob.strip():
            shown = each if len(each) <= 60 else f"{each[:59]}…"
            raise PolicyError(f"{shown}: expected KNOB=VALUE, as in half_life_days=90")
        overrides[knob.strip()] = value.strip()
    return overrides
