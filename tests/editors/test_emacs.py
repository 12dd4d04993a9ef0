"""A real Emacs with eglot, in batch, with the configuration of docs/editors/emacs.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_neovim import EMOJI, FOLLOW_UP

from tried.storage.hits import hits_of

REPOSITORY = Path(__file__).parents[2]
SETUP = REPOSITORY / "docs" / "editors" / "emacs" / "tried.el"
SESSION = Path(__file__).with_name("session.el")


def emacs() -> str:
    found = shutil.which("emacs")
    if found is None:
        pytest.skip("Emacs is not installed (Debian: emacs-nox and, before Emacs 29, elpa-eglot)")
    probe = "(progn (package-initialize) (princ (if (require 'eglot nil t) 'yes 'no)))"
    done = subprocess.run(
        [found, "-q", "--batch", "--eval", probe], capture_output=True, text=True, timeout=60, check=False
    )
    if done.stdout.strip() != "yes":
        pytest.skip("this Emacs has no eglot: it comes with Emacs 29, before that with elpa-eglot")
    return found


def test_a_persons_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = emacs()
    workspace = tmp_path.resolve() / "ships"
    shutil.copytree(REPOSITORY / "fixtures" / "demo", workspace)
    (workspace / "configs" / "emoji.yaml").write_text(EMOJI, encoding="utf-8")
    (workspace / "configs" / "follow_up.yaml").write_text(FOLLOW_UP, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", str(workspace)], check=True, timeout=30)  # to Emacs 28, a project
    home = tmp_path / "home"
    home.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "LANG": "C.UTF-8",
        "TRIED_SETUP": str(SETUP),
        "TRIED_WORKSPACE": str(workspace),
    }
    done = subprocess.run(
        [editor, "-q", "--batch", "-l", str(SESSION)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = done.stdout + done.stderr
    print(said)
    assert done.returncode == 0, said
    assert done.stdout.endswith("done\n"), said
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert [dict(hit.ways) for hit in hits_of(workspace).hits.values()] == [{"used": 1}]


def test_the_page_shows_the_file_that_is_tested() -> None:
    page = (REPOSITORY / "docs" / "editors" / "emacs.md").read_text(encoding="utf-8")
    assert SETUP.read_text(encoding="utf-8") in page
