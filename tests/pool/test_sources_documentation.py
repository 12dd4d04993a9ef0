"""docs/sources.md speaks of every kind of source, its links lead somewhere, and its example is a sound source."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from tried.pool.sources.discovery import CHILD_LIMIT, DEPTH_LIMIT, FOLDER_LIMIT, SECONDS_LIMIT
from tried.pool.sources.kit import problems_of
from tried.pool.sources.registry import COMMITS, JOURNAL, NAMES, SourceKind
from tried.pool.sources.tracked_run import LABELS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "sources.md").read_text(encoding="utf-8")


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_kind_has_its_row() -> None:
    table = PAGE.split("\n\n")[2]
    for name in NAMES:
        if name not in (JOURNAL.name, COMMITS.name):
            assert f"`{name}:" in table, name


def test_links_lead_somewhere() -> None:
    anchors = {anchor_of(heading) for heading in re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)}
    targets = re.findall(r"\]\(([^)\s]+)\)", PAGE)
    assert len(targets) >= 20
    for target in targets:
        page, _, anchor = target.partition("#")
        if page:
            assert (DOCS / page).is_file(), target
        else:
            assert anchor in anchors, target


def test_the_bounds_of_the_search_are_those_of_the_code() -> None:
    assert (DEPTH_LIMIT, SECONDS_LIMIT, FOLDER_LIMIT, CHILD_LIMIT) == (6, 2.0, 5_000, 500)
    text = " ".join(PAGE.split())
    assert "six levels deep, for at most two seconds and 5,000 folders, of one folder at most 500 subfolders" in text


def test_the_names_that_work_everywhere_are_told() -> None:
    for label in LABELS:
        assert f"`tried.{label}`" in PAGE or label == "headline", label


def test_the_example_of_a_source_is_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = next(
        block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "class LogbookSource" in block
    )
    module = types.ModuleType("logbook_source")
    monkeypatch.setitem(sys.modules, "logbook_source", module)
    exec(compile(code, "logbook_source.py", "exec"), module.__dict__)
    assert isinstance(module.kind, SourceKind)
    store = tmp_path / "logbook"
    store.mkdir()
    (store / "1.txt").write_text("lr=0.1 -> fine")

    def grow(path: Path) -> None:
        (path / "2.txt").write_text("lr=0.5 -> diverged")

    assert module.kind.store_at(tmp_path, ["logbook"], []) == [store]
    assert problems_of(lambda path: module.kind.make(path, path.parent), store, grow) == []
