"""Draws docs/images/demo.svg from what `tried demo` prints: python docs/images/draw_demo.py"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

LEFT_OUT = re.compile(r"(?ms)^(?:\x1b\[[\d;]*m)*configs/bigger_batch\.yaml.*?(?=^(?:\x1b\[[\d;]*m)*Pointing at)")
"""Of the files that are shown the first ones are enough for a picture."""

LAST_LINE = "What else was tried"
COLUMNS = 118
FETCHED_FONT = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
"""A picture fetches nothing."""


def main() -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS)}
    done = subprocess.run(
        [sys.executable, "-m", "tried", "demo"], env=environment, capture_output=True, text=True, check=True
    )
    shown = done.stdout.split("\n", 2)[2].split(LAST_LINE)[0].split("\x1b[1mWhat else")[0].rstrip()
    shown = LEFT_OUT.sub("", shown)
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi(shown))
    picture = FETCHED_FONT.sub("", console.export_svg(title="tried")).replace("Fira Code", "ui-monospace")
    Path(__file__).with_name("demo.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
