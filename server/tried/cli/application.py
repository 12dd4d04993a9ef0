"""The commands and their common options."""

from __future__ import annotations

from typing import Annotated

import typer

from tried.cli.allow import allow
from tried.cli.audit import audit
from tried.cli.backtest import backtest
from tried.cli.check import check
from tried.cli.conclude import conclude
from tried.cli.demo import demo
from tried.cli.diff import diff
from tried.cli.evaluate import evaluate
from tried.cli.explain import explain
from tried.cli.hits import hits
from tried.cli.import_source import import_source
from tried.cli.lineage import lineage
from tried.cli.policies import policies
from tried.cli.pool import pool
from tried.cli.rank import rank
from tried.cli.record import record
from tried.cli.replay import replay_trace
from tried.cli.serve import serve
from tried.cli.stability import stability
from tried.cli.triage import triage

application = typer.Typer(
    name="tried",
    help="What have I already tried that bears on this experiment?",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _command in (
    check,
    rank,
    explain,
    policies,
    pool,
    conclude,
    triage,
    record,
    audit,
    lineage,
    diff,
    hits,
    allow,
    serve,
    demo,
    evaluate,
    backtest,
    stability,
):
    application.command()(_command)
application.command("import")(import_source)
application.command("replay")(replay_trace)


def _version(asked: bool) -> None:
    if asked:
        from tried import __version__

        typer.echo(f"tried {__version__}")
        raise typer.Exit


@application.callback()
def _common(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", "-V", help="Show the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """What have I already tried that bears on this experiment?"""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
