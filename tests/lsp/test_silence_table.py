"""Silencing in tried.toml adds a table and changes nothing else."""

from __future__ import annotations

import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tried.lsp.silence_table import add_silence
from tried.storage.files import StorageError

ENTRY = {"path": "a.json", "key": "optimizer.lr", "code": "dead-end", "id": "", "reason": ""}


def test_a_file_is_made(tmp_path: Path) -> None:
    target = tmp_path / "tried.toml"
    add_silence(target, ENTRY)
    assert target.read_text() == '[[silence]]\npath = "a.json"\nkey = "optimizer.lr"\ncode = "dead-end"\n'


@pytest.mark.parametrize(
    "before", ["# note\nresearch_line = 'x'\n", "[pool]\nsources = []", '[[silence]]\nkey = "a"\n']
)
def test_what_stood_there_stays(tmp_path: Path, before: str) -> None:
    target = tmp_path / "tried.toml"
    target.write_text(before)
    add_silence(target, ENTRY)
    text = target.read_text()
    assert text.startswith(before)
    assert tomllib.loads(text)["silence"][-1] == {"path": "a.json", "key": "optimizer.lr", "code": "dead-end"}


def test_awkward_text_survives(tmp_path: Path) -> None:
    target = tmp_path / "tried.toml"
    reason = 'say "why"\n[[x]] \\ \x7f \x01 実験 😀'
    add_silence(target, {"path": "a.json", "reason": reason})
    assert tomllib.loads(target.read_text("utf-8"))["silence"] == [{"path": "a.json", "reason": reason}]


@pytest.mark.parametrize("before", ["silence = []\n", "[pool\n", "a = 1\na = 2\n"])
def test_a_file_that_cannot_be_extended_is_left_alone(tmp_path: Path, before: str) -> None:
    target = tmp_path / "tried.toml"
    target.write_text(before)
    with pytest.raises(ValueError, match="was left as it is"):
        add_silence(target, ENTRY)
    assert target.read_text() == before


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    target = tmp_path / "tried.toml"
    target.mkdir()
    with pytest.raises(StorageError, match="cannot be read"):
        add_silence(target, ENTRY)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(ValueError, match="not UTF-8"):
        add_silence(tmp_path / "latin.toml", ENTRY)


def test_nothing_else_is_left_in_the_folder(tmp_path: Path) -> None:
    target = tmp_path / "tried.toml"
    add_silence(target, ENTRY)
    target.write_text("silence = []\n")
    with pytest.raises(ValueError, match="was left as it is"):
        add_silence(target, ENTRY)
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_to_the_folder_has_the_same_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks = tmp_path / "locks"
    for folder in (locks, tmp_path / "real"):
        folder.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(tempfile, "tempdir", str(locks))
    for name in ("real", "link"):
        add_silence(tmp_path / name / "tried.toml", ENTRY)
    assert len(list(locks.iterdir())) == 1


def test_none_of_many_at_once_is_lost(tmp_path: Path) -> None:
    target = tmp_path / "tried.toml"
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: add_silence(target, {"path": f"{number}.json"}), range(40)))
    table = tomllib.loads(target.read_text("utf-8"))
    assert sorted(int(entry["path"].removesuffix(".json")) for entry in table["silence"]) == list(range(40))
    assert list(tmp_path.iterdir()) == [target]
