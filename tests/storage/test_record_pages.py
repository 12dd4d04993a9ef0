"""Pages in the user's cache folder: their names, that they are read-only, how many are kept, and where never."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.storage import record_pages
from tried.storage.files import StorageError
from tried.storage.record_pages import page_name, page_path, pages_folder, write_page


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def test_a_page_is_written_once_and_read_only(home: dict[str, str], tmp_path: Path) -> None:
    path = write_page("exp-7", "# one\n", [tmp_path / "w"], environment=home)
    assert path == page_path("exp-7", [tmp_path / "w"], environment=home)
    assert path.parent == (tmp_path / "cache" / "tried" / "records").resolve()
    assert path.read_text() == "# one\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    before = path.stat().st_ino
    assert write_page("exp-7", "# one\n", [], environment=home) == path
    assert path.stat().st_ino == before
    write_page("exp-7", "# two ✗\n", [], environment=home)
    assert path.read_text(encoding="utf-8") == "# two ✗\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o444
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_pages_about_other_things_are_others(home: dict[str, str]) -> None:
    names = {page_name("exp-7"), page_name("exp-7", "beside a.yaml"), page_name("exp/7"), page_name("EXP-7")}
    assert len(names) == 4


@given(st.text(max_size=400))
def test_every_id_makes_a_name_that_every_system_takes(record_id: str) -> None:
    name = page_name(record_id)
    assert record_pages._PAGE.match(name)
    assert len(name) <= 90
    assert Path(name).name == name


@pytest.mark.parametrize(
    "record_id", ["../../etc/passwd", "a\0b", "con", "..", "", "\u202egpj.exe", "x" * 100_000, "\ud800"]
)
def test_a_hostile_id_stays_in_the_folder(home: dict[str, str], record_id: str) -> None:
    path = write_page(record_id, "text \ud800", [], environment=home)
    assert path.parent == pages_folder([], home)
    assert path.read_text() == "text ?"


def test_the_oldest_beyond_the_limit_go(home: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_pages, "MOST_PAGES", 3)
    paths = []
    for number in range(5):
        paths.append(write_page(f"exp-{number}", "text", [], environment=home))
        os.utime(paths[-1], (1000 + number, 1000 + number))
    other = paths[0].parent / "mine.md"
    other.write_text("kept: not ours")
    write_page("exp-2", "text", [], environment=home)  # looked at again: now the newest
    last = write_page("exp-5", "text", [], environment=home)
    assert sorted(path.name for path in last.parent.iterdir()) == sorted(
        [paths[2].name, paths[4].name, last.name, other.name]
    )


def test_never_inside_a_workspace(home: dict[str, str], tmp_path: Path) -> None:
    temporary = Path(tempfile.gettempdir()).resolve()
    assert pages_folder([tmp_path], home) == temporary / f"tried-{os.getuid()}" / "records"
    with pytest.raises(StorageError, match="lies in a workspace"):
        pages_folder([Path("/")], home)


def test_a_workspace_behind_a_link_is_one_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    home = {"XDG_CACHE_HOME": str(tmp_path / "real" / "cache")}
    assert not pages_folder([tmp_path / "link"], home).is_relative_to((tmp_path / "real").resolve())


def test_a_link_in_place_of_a_page_is_replaced_and_not_followed(home: dict[str, str], tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    path = page_path("exp-7", [], environment=home)
    path.parent.mkdir(parents=True)
    path.symlink_to(target)
    assert write_page("exp-7", "page", [], environment=home) == path
    assert not path.is_symlink()
    assert target.read_text() == "precious"


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file, no folder")
    with pytest.raises(StorageError, match="the page was not written: not a directory"):
        write_page("exp-7", "text", [], environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
