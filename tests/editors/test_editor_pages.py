"""The pages of docs/editors: what they show can be read, is right for the server, and says where it was run."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tried.settings import load_settings

EDITORS = Path(__file__).parents[2] / "docs" / "editors"
PAGES = ("neovim", "helix", "emacs", "zed", "sublime", "kate")
RUN = ("neovim", "emacs", "kate")
"""Where a test of this folder drives the editor itself."""


def text_of(page: str) -> str:
    return (EDITORS / f"{page}.md").read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text_of(page), re.DOTALL)


def without_comments(jsonc: str) -> Any:
    return json.loads(re.sub(r"^\s*//.*$", "", jsonc, flags=re.MULTILINE))


def problems(settings: Any) -> list[str]:
    return [str(problem) for problem in load_settings(None, settings).problems]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_says_where_it_was_run_or_that_it_was_not(page: str) -> None:
    start = " ".join(text_of(page).split("\n1. ")[0].split())
    if page in RUN:
        assert re.search(r"(tested|run) in (Neovim|Emacs|Kate) \d+\.\d+", start, re.IGNORECASE)
    else:
        assert re.search(r"(was not|nor the configuration was|neither the .* was) run in", start)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_begins_with_the_installation_and_ends_with_what_to_do_when_it_does_not_work(page: str) -> None:
    text = text_of(page)
    assert "1. Install tried so that `tried` is on your PATH" in text
    assert [line for line in text.splitlines() if line.startswith("## ")][-1] == "## When something is off"
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (EDITORS / target).exists(), target


def test_helix_is_given_what_it_reads() -> None:
    (block,) = blocks("helix", "toml")
    told = tomllib.loads(block)
    assert told["language-server"]["tried"] == {"command": "tried", "args": ["serve"]}
    assert all("tried" in language["language-servers"] for language in told["language"])
    (line,) = re.findall(r"^# (config = .*)$", block, re.MULTILINE)
    config = tomllib.loads(line)["config"]
    assert problems(config) == []
    assert load_settings(None, config).settings.editor.debounce_ms == 300


def test_sublime_is_given_what_it_reads() -> None:
    (block,) = blocks("sublime", "jsonc")
    tried = without_comments(block)["clients"]["tried"]
    assert tried["command"] == ["tried", "serve"]
    assert problems(tried["settings"]) == []
    assert load_settings(None, tried["settings"]).settings.editor.debounce_ms == 300


def test_zed_is_given_what_it_reads() -> None:
    (block,) = blocks("zed", "jsonc")
    tried = without_comments(block)["lsp"]["tried"]
    assert problems(tried["settings"]) == []
    extension = tomllib.loads((EDITORS / "zed" / "extension.toml").read_text(encoding="utf-8"))
    assert extension["language_servers"]["tried"]["name"] == "tried"
    cargo = tomllib.loads((EDITORS / "zed" / "Cargo.toml").read_text(encoding="utf-8"))
    assert cargo["lib"]["crate-type"] == ["cdylib"]
