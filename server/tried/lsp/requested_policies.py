"""The policy that a request asks for, in its params `policy` and `set`; the active one stays what it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pygls.exceptions import JsonRpcInvalidParams

from tried.ranking.policy import PolicyError
from tried.settings import Settings
from tried.settings.requested_policy import RequestedPolicy, requested_policy

KNOBS_EXAMPLE: Final = '{"half_life_days": 90}'


def policy_asked_for(settings: Settings, name: str | None, overrides: Mapping[str, Any] | None) -> RequestedPolicy:
    """Raises JsonRpcInvalidParams that says which policy or knob is not known, or what a knob takes."""
    try:
        return requested_policy(settings, name, overrides)
    except PolicyError as error:
        raise JsonRpcInvalidParams(str(error)) from error


def remarks_of(asked: RequestedPolicy) -> dict[str, list[str]]:
    """What an answer says of a policy that nobody can want; nothing of others."""
    return {"remarks": list(asked.remarks)} if asked.remarks else {}
