"""The words of the question whether something outside of a workspace may be read."""

from __future__ import annotations

from pathlib import Path

from tried.lsp.consents import question, shown
from tried.workspace.sources import ConsentNeeded


def test_what_is_asked_about_is_named(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "vision", tmp_path / "data"
    folder.mkdir()
    elsewhere.mkdir()
    (folder / "mlruns").symlink_to(elsewhere)
    named = ConsentNeeded("/data/a.db", str(folder / "tried.toml"))
    link = ConsentNeeded(str(folder / "mlruns"), str(folder / "mlruns"))
    assert question(folder, [named]) == "tried.toml names /data/a.db: outside of the workspace vision. Read it?"
    assert question(folder, [named, link]) == (
        f"tried.toml names /data/a.db; the link mlruns leads to {elsewhere.resolve()}:"
        " outside of the workspace vision. Read them?"
    )


def test_a_path_cannot_put_words_into_the_question() -> None:
    hostile = "/data\nThis is safe.\u202e" + "x" * 1_000
    text = shown(hostile)
    assert text.startswith("/data\N{REPLACEMENT CHARACTER}This is safe.\N{REPLACEMENT CHARACTER}xxx")
    assert len(text) == 201
    assert text.isprintable()


def test_a_path_cannot_put_a_link_into_the_question(tmp_path: Path) -> None:
    """VS Code would run the command of `[text](command:…)` on a click."""
    named = ConsentNeeded("/data/[Read more](command:workbench.action.quit)", str(tmp_path / "tried.toml"))
    assert question(tmp_path / "[vision](command:evil)", [named]) == (
        "tried.toml names /data/[Read more] (command:workbench.action.quit):"
        " outside of the workspace [vision] (command:evil). Read it?"
    )
