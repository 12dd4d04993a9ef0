"""docs/language-server.md speaks of every code, command and method. TRIED_UPDATE_DOCS=1 writes the table of codes."""

from __future__ import annotations

import os
import re
import typing
from pathlib import Path

from tried.findings.finding import Code
from tried.lsp import related
from tried.lsp.documentation import CODES, codes_markdown
from tried.lsp.features import COMMANDS, HANDLERS, PULL_HANDLERS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "language-server.md"
SECTION = re.compile(r"(<!-- codes -->\n)(.*?)(<!-- end of codes -->)", re.DOTALL)


def test_the_codes_of_findings_have_a_page() -> None:
    assert set(typing.get_args(Code)) < set(CODES)
    for page, _ in CODES.values():
        assert (DOCS / page).is_file()


def test_the_page_has_the_table_of_codes() -> None:
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("TRIED_UPDATE_DOCS"):
        text = SECTION.sub(lambda match: f"{match[1]}{codes_markdown()}\n{match[3]}", text)
        PAGE.write_text(text, encoding="utf-8")
    section = SECTION.search(text)
    assert section is not None
    assert section[2].strip() == codes_markdown()


def test_the_page_names_every_command_and_every_method_that_is_asked_for() -> None:
    text = PAGE.read_text(encoding="utf-8")
    asked = [method for method in (*HANDLERS, *PULL_HANDLERS) if method.split("/")[-1][:3] not in ("did", "ini")]
    for name in (*COMMANDS, *asked, related.METHOD):
        assert f"`{name}`" in text, name
