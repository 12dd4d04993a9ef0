"""Text for people and JSON for programs, on stdout; complaints on stderr. Colours only on a terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from tried.render.escape import plain


def prepare_streams() -> None:
    """What a terminal's encoding cannot show is replaced, not an error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def console(*, on_stderr: bool = False) -> Console:
    """Prints `rich.text.Text`: text of data is never markup, and lines are never wrapped. With NO_COLOR there is no
    escape sequence at all, bold and dim included."""
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True, color_system=colours, stderr=on_stderr)


def line_of(*parts: str | tuple[str, str]) -> Text:
    """One line of parts; a tuple is a part with its style. Control characters of data are left out."""
    return Text.assemble(*(part if isinstance(part, str) else (part[0], part[1]) for part in parts))


def write_json(document: Mapping[str, Any]) -> None:
    """Pure ASCII, so that no encoding on the way can harm it."""
    sys.stdout.write(json.dumps(document, indent=2, allow_nan=False) + "\n")


def complain(message: str) -> None:
    """One line on stderr."""
    sys.stderr.write(f"tried: {plain(message)}\n")
