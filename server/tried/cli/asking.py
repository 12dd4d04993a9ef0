"""Questions on a terminal, answered by a line of plain text: a person's, or a test's."""

from __future__ import annotations

import sys

from tried.cli.failure import Failure
from tried.render.escape import plain


def ask(question: str, *, on_stderr: bool = False) -> str | None:
    """The line that was typed, without outer space; None at the end of the input (Ctrl-D)."""
    stream = sys.stderr if on_stderr else sys.stdout
    indent = " " * (len(question) - len(question.lstrip(" ")))
    stream.write(f"{indent}{plain(question)} ")
    stream.flush()
    try:
        line = sys.stdin.readline() if sys.stdin is not None else ""
    except OSError:
        line = ""  # closed
    if not line:
        stream.write("\n")
        return None
    return line.strip()


def must_agree(question: str, *, on_stderr: bool = False) -> None:
    """Raises Failure unless the answer is yes: nothing is written before the person says so."""
    answer = ask(f"{question} [y/N]", on_stderr=on_stderr)
    if answer is None:
        raise Failure("nothing was written: nobody answered; --yes agrees beforehand")
    if answer.casefold() not in ("y", "yes"):
        raise Failure("nothing was written")
