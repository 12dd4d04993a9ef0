"""`tried policies`: the ways of ranking that there are, and the knobs of one."""

from __future__ import annotations

from typing import Annotated

import typer

from tried.cli.failure import Failure
from tried.cli.options import AsJson, folder_of_here
from tried.cli.output import complain, console, line_of, write_json
from tried.cli.policy_options import tell_remarks
from tried.ranking.policy import DEFAULT_POLICY, PRESETS, Policy, PolicyError, knobs
from tried.ranking.policy_remarks import knobs_set, remarks_on
from tried.render.escape import plain
from tried.render.explanations import changed_knobs, knob_of, knob_text, policies_report
from tried.settings.model import Settings
from tried.settings.policies import policy_names, policy_of
from tried.settings.requested_policy import active_name
from tried.workspace import Workspace


def policies(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", show_default=False, help="Show every knob of this policy.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the policies that records can be ranked by, or the knobs of one."""
    workspace = Workspace(folder_of_here())
    for problem in workspace.settings_problems:
        complain(str(problem))
    settings, active = workspace.settings, active_name(workspace.settings)
    try:
        shown = [(each, policy_of(settings, each)) for each in ([name] if name else policy_names(settings))]
    except PolicyError as error:
        raise Failure(str(error)) from error
    if as_json:
        write_json(policies_report(active, shown))
    elif name:
        _print_knobs(name, shown[0][1], is_active=name == active)
    else:
        _print_list(shown, active, settings.ranking.policy)
    if name and (own := settings.policies.get(name)) is not None:
        tell_remarks(name, remarks_on(own, knobs_set(own)), workspace.settings_problems)


def _print_list(shown: list[tuple[str, Policy]], active: str, named: str) -> None:
    """`named` is the policy that the settings name, which is the active one if there is such a one."""
    out = console()
    width = max(len(plain(name)) for name, _ in shown)
    for name, policy in shown:
        changes = ", ".join(f"{knob} {knob_text(value)}" for knob, value in changed_knobs(policy))
        mark = "*" if name == active else " "
        out.print(
            line_of(
                f"{mark} ",
                (f"{plain(name):<{width}}", "bold" if name == active else ""),
                (f"  {policy.policy_id}", "dim"),
                f"  {changes or 'as tried comes'}",
            )
        )
    out.print(line_of((f"* is active{_why_active(active, named)}; `tried policies NAME` shows all knobs", "dim")))


def _why_active(active: str, named: str) -> str:
    """The default one is so without a word about it."""
    if active != named:
        return f", since there is no {plain(named)} (ranking.policy)"
    is_named = active != Settings().ranking.policy
    return ": the settings name it (ranking.policy)" if is_named else ": the settings name no other (ranking.policy)"


def _print_knobs(name: str, policy: Policy, *, is_active: bool) -> None:
    out = console()
    facts = [policy.policy_id, *(["preset"] if name in PRESETS else []), *(["active"] if is_active else [])]
    out.print(line_of((plain(name), "bold"), (f"  {', '.join(facts)}", "dim")))
    known = knobs()
    values = {knob: knob_text(knob_of(policy, knob)) for knob in known}
    name_width, value_width = max(map(len, values)), max(map(len, values.values()))
    for knob, value in values.items():
        default = knob_text(knob_of(DEFAULT_POLICY, knob))
        changed = f"  (default {default})" if value != default else ""
        out.print(
            line_of(
                f"  {knob:<{name_width}}  ",
                (f"{value:>{value_width}}", "bold" if changed else ""),
                (f"  {known[knob].description}", "dim"),
                (changed, "dim"),
            )
        )
