"""Options of the commands that rank: by which policy, for this once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.ranking.policy import Policy, PolicyError
from tried.settings.requested_policy import RequestedPolicy, overrides_from, requested_policy
from tried.workspace import Workspace

PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME",
        help="Rank by this policy, for this once; `tried policies` lists them.",
        show_default="ranking.policy",
    ),
]
Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KNOB=VALUE",
        help="Another value of one knob of the policy, as in half_life_days=90. Can be given again.",
        show_default=False,
    ),
]


def chosen_policy(workspace: Workspace, name: str | None, overrides: Iterable[str] | None) -> Policy:
    """The policy that somebody asked for, else the active one. Raises Failure."""
    return requested(workspace, name, overrides).policy


def requested(workspace: Workspace, name: str | None, overrides: Iterable[str] | None) -> RequestedPolicy:
    """The same with its name. Raises Failure."""
    settings = workspace.settings
    try:
        asked = requested_policy(settings, name)
    except PolicyError as error:
        raise Failure(str(error)) from error
    try:
        return requested_policy(settings, name, overrides_from(overrides)) if overrides else asked
    except PolicyError as error:
        raise Failure("; ".join(f"--set {problem}" for problem in error.problems)) from error
