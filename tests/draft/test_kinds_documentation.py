"""docs/warnings.md shows the names of kinds as the code has them. TRIED_UPDATE_DOCS=1 writes them there."""

from __future__ import annotations

import os
import re
from pathlib import Path

from tried.draft.parameter_kinds import kinds_markdown

PAGE = Path(__file__).parents[2] / "docs" / "warnings.md"
SECTION = re.compile(r"(<!-- kinds: [^\n]*-->\n)(.*?)(<!-- end of kinds -->)", re.DOTALL)


def test_the_page_has_the_names_of_the_code() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("TRIED_UPDATE_DOCS"):
        text = SECTION.sub(lambda match: f"{match[1]}{kinds_markdown()}\n{match[3]}", text)
        PAGE.write_text(text, encoding="utf-8")
    section = SECTION.search(text)
    assert section is not None
    assert section[2].strip() == kinds_markdown()
