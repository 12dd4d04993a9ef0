"""What a user lets a workspace read outside of it: remembered for that workspace and that place alone."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tried.storage.consents import allow, consents_file, consents_of, is_allowed, place_of, withdraw
from tried.storage.files import StorageError
from tried.storage.user_folders import settings_folder, state_folder


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tried" / "consents.json"


def test_a_consent_is_for_one_workspace_and_one_place(tmp_path: Path, own: Path) -> None:
    one, other, data = tmp_path / "one", tmp_path / "other", tmp_path / "data"
    assert consents_of(one) == frozenset()
    assert allow(one, data / "mlruns") == str(data / "mlruns")
    allow(one, data / "b.tsv")
    assert consents_of(one) == {str(data / "mlruns"), str(data / "b.tsv")}
    assert consents_of(other) == frozenset()
    assert own.stat().st_mode & 0o077 == 0 or own.parent.stat().st_mode & 0o077 == 0
    assert withdraw(one, data / "b.tsv")
    assert not withdraw(one, data / "b.tsv")
    assert consents_of(one) == {str(data / "mlruns")}
    withdraw(one, data / "mlruns")
    assert json.loads(own.read_text()) == {"schema": "tried.consents/v1", "workspaces": {}}


def test_it_holds_for_what_lies_inside_and_for_nothing_beside(tmp_path: Path) -> None:
    allowed = {str(tmp_path / "data" / "mlruns")}
    assert is_allowed(tmp_path / "data" / "mlruns", allowed)
    assert is_allowed(tmp_path / "data" / "mlruns" / "1" / "meta.yaml", allowed)
    assert not is_allowed(tmp_path / "data" / "mlruns2", allowed)
    assert not is_allowed(tmp_path / "data", allowed)
    assert not is_allowed(tmp_path / "data" / "mlruns" / ".." / "secret", allowed)


def test_a_link_that_is_bent_elsewhere_has_none(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "first")
    allow(tmp_path, link)
    assert is_allowed(link, consents_of(tmp_path))
    link.unlink()
    link.symlink_to(tmp_path / "second")
    assert not is_allowed(link, consents_of(tmp_path))


def test_a_glob_is_a_place_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    glob = place_of(tmp_path / "link" / "*" / "mlflow.db")
    assert glob == str(tmp_path / "real" / "*" / "mlflow.db")
    assert is_allowed(tmp_path / "link" / "*" / "mlflow.db", {glob})
    assert not is_allowed(tmp_path / "real" / "*" / "other.db", {glob})


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"schema": "other", "workspaces": {"W": ["/"]}}', "[" * 100_000, '{"workspaces": 3}']
)
def test_a_file_that_is_none_of_ours_gives_no_consent(tmp_path: Path, own: Path, content: str) -> None:
    own.parent.mkdir(parents=True)
    own.write_text(content.replace("W", str(tmp_path)))
    assert consents_of(tmp_path) == frozenset()
    allow(tmp_path, "/data")
    assert consents_of(tmp_path) == {place_of("/data")}


def test_without_a_home_nothing_is_remembered_and_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert consents_file() is None
    assert consents_of(tmp_path) == frozenset()
    with pytest.raises(StorageError, match="set HOME or XDG_STATE_HOME"):
        allow(tmp_path, "/data")


def test_a_state_folder_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(StorageError, match="the folder cannot be made"):
        allow(tmp_path, "/data")


@pytest.mark.parametrize(
    ("environment", "platform", "state", "settings"),
    [
        ({"HOME": "/home/u"}, "linux", "/home/u/.local/state/tried", "/home/u/.config/tried"),
        ({"HOME": "/home/u", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}, "linux", "/s/tried", "/c/tried"),
        (
            {"HOME": "/h", "XDG_STATE_HOME": "rel", "XDG_CONFIG_HOME": ""},
            "linux",
            "/h/.local/state/tried",
            "/h/.config/tried",
        ),
        ({"HOME": "/Users/u"}, "darwin", *(["/Users/u/Library/Application Support/tried"] * 2)),
        ({"LOCALAPPDATA": "/l", "APPDATA": "/r"}, "win32", "/l/tried", "/r/tried"),
        ({"HOME": "rel"}, "linux", None, None),
    ],
)
def test_where_the_users_own_things_are(
    environment: dict[str, str], platform: str, state: str | None, settings: str | None
) -> None:
    assert state_folder(environment, platform) == (Path(state) if state else None)
    assert settings_folder(environment, platform) == (Path(settings) if settings else None)
