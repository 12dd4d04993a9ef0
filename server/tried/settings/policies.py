"""The policies that there are in a workspace: the presets, and those that settings name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from tried.ranking.policy import PRESETS, Policy, PolicyError, with_overrides

if TYPE_CHECKING:
    from tried.settings.model import Settings


_SHOWN: Final = 10


def policy_names(settings: Settings) -> tuple[str, ...]:
    """The presets, then the user's own in the order of their names."""
    return (*PRESETS, *sorted(settings.policies))


def policy_of(settings: Settings, name: str | None = None, overrides: Mapping[str, Any] | None = None) -> Policy:
    """A policy by its name, or the active one, with other values of single knobs.

    A policy that does not set its own half-life has that of `ranking.half_life_days`. Raises PolicyError for a name or
    a knob that there is not, and for a value out of range.
    """
    name = settings.ranking.policy if name is None else name
    policy = PRESETS.get(name) or settings.policies.get(name)
    if policy is None:
        raise PolicyError(unknown_policy(name, policy_names(settings)))
    if "half_life_days" not in policy.model_fields_set:
        policy = policy.model_copy(update={"half_life_days": settings.ranking.half_life_days})
    return with_overrides(policy, overrides) if overrides else policy


def active_policy(settings: Settings) -> Policy:
    """The one that the settings name; the default one if there is none of that name, which is a problem of settings."""
    try:
        return policy_of(settings)
    except PolicyError:
        return policy_of(settings, "default")


def unknown_policy(name: str, known: tuple[str, ...], effect: str = "") -> str:
    """`effect` is what comes of it."""
    near = difflib.get_close_matches(name.casefold(), [one.casefold() for one in known], n=1)
    meant = next((one for one in known if one.casefold() in near), None)
    if meant is not None:
        hint = f"did you mean {meant}?"
    elif name.lower().endswith((".toml", ".json")):
        hint = "a policy is named in tried.toml ([policies.NAME]), and a file of one is read by `tried replay` alone"
    else:
        more = f" and {len(known) - _SHOWN} more" if len(known) > _SHOWN else ""
        hint = f"there are {', '.join(known[:_SHOWN])}{more}"
    return f"policy {name[:60]!r}: there is none of that name{effect}; {hint}"
