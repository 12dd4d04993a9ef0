"""`tried serve`: the language server."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from tried.cli.failure import Failure

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
    "off": logging.CRITICAL + 1,
}


def serve(
    stdio: Annotated[bool, typer.Option("--stdio", help="Talk on stdin and stdout; the default.")] = False,
    tcp: Annotated[
        str | None,
        typer.Option("--tcp", metavar="[HOST:]PORT", show_default=False, help="Listen here, for one client, instead."),
    ] = None,
    log_file: Annotated[
        Path | None, typer.Option("--log-file", metavar="FILE", help="Write the log here.", show_default="stderr")
    ] = None,
    log_level: Annotated[
        str, typer.Option("--log-level", metavar="LEVEL", help=f"One of {', '.join(LEVELS)}.")
    ] = "warning",
    pools: Annotated[
        list[Path] | None,
        typer.Option(
            "--pool",
            metavar="FILE",
            show_default=False,
            help="Read this too, beside what is found. Can be given again.",
        ),
    ] = None,
) -> None:
    """Run the language server; editors do this."""
    if stdio and tcp:
        raise Failure("give --stdio or --tcp, not both")
    if log_level.lower() not in LEVELS:
        raise Failure(f"--log-level {log_level}: expected one of {', '.join(LEVELS)}")
    address = _address(tcp) if tcp else None
    from tried.lsp.server import CannotServe
    from tried.lsp.server import serve as serve_client

    try:
        serve_client(tcp=address, log_file=log_file, log_level=LEVELS[log_level.lower()], pools=pools or ())
    except CannotServe as error:
        raise Failure(str(error)) from error


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        raise Failure(f"--tcp {text}: expected a port from 0 to 65535, as in --tcp 127.0.0.1:7777")
    return host.strip("[]") or "127.0.0.1", int(port)
