"""Options of the commands that rank: by which policy, for this once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.output import complain
from tried.ranking.policy import PolicyError
from tried.settings.requested_policy import RequestedPolicy, overrides_from, requested_policy
from tried.settings.sources import SettingsProblem
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


def requested(workspace: Workspace, name: str | None, overrides: Iterable[str] | None) -> RequestedPolicy:
    """The policy that somebody asked for, else the active one; what of it nobody can want is told on stderr. Raises
    Failure."""
    settings = workspace.settings
    try:
        asked = requested_policy(settings, name)
    except PolicyError as error:
        raise Failure(str(error)) from error
    try:
        asked = requested_policy(settings, name, overrides_from(overrides)) if overrides else asked
    except PolicyError as error:
        raise Failure("; ".join(f"--set {problem}" for problem in error.problems)) from error
    tell_remarks(asked.name, asked.remarks, workspace.settings_problems)
    return asked


def tell_remarks(name: str, remarks: Iterable[str], problems: Iterable[SettingsProblem] = ()) -> None:
    """On stderr what of a policy nobody can want, but for what was told as one of the `problems` of settings."""
    told = [str(problem) for problem in problems]
    for remark in remarks:
        if not any(remark in each for each in told):
            complain(f"policy {name}: {remark}")
