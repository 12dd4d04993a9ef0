"""The command line: one file a command. These are the only rooms that import typer or rich.

Exit status: 0; 1 if `tried check` found a warning; 2 on an error.

Invariant: an error is one line on stderr that says what to do, never a traceback. Below it may stand what the user
typed, with a caret at the mistake.
Invariant: with ``--json`` stdout holds one JSON document and nothing else.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

ERROR_STATUS = 2


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit status of a command line (default: that of this process)."""
    from tried.cli.application import application
    from tried.cli.output import complain, prepare_streams

    prepare_streams()
    try:
        status = application(
            args=None if arguments is None else list(arguments), prog_name="tried", standalone_mode=False
        )
        sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        complain(_in_one_line(error))
        if picture := getattr(error, "picture", ""):
            sys.stderr.write(f"{picture}\n")
        return ERROR_STATUS


def _in_one_line(error: Exception) -> str:
    from tried.cli.failure import Failure
    from tried.storage.files import StorageError

    if isinstance(error, Failure | StorageError):
        return str(error)
    usage = getattr(error, "format_message", None)  # of the command line's own errors, whichever library raised them
    if usage is not None:
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "tried"
        said = str(usage()).rstrip(".")
        return f"{said}{'' if said.endswith('?') else '.'} Try `{command} --help`."
    if os.environ.get("TRIED_TRACEBACK"):
        raise error
    return (
        f"something went wrong that should not: {type(error).__name__}: {error}."
        " Please report it; TRIED_TRACEBACK=1 shows where it happened."
    )
