"""The trackers themselves live in an environment of their own (`make test-trackers` makes it): tried is proved to read
what they write without importing them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
SECONDS = 180


def _interpreter() -> Path:
    named = os.environ.get("TRIED_TRACKERS_PYTHON")
    return Path(named) if named else ROOT / ".venv-trackers" / "bin" / "python"


@pytest.fixture(scope="session")
def trackers_python() -> Path:
    """The interpreter that has the trackers."""
    found = _interpreter()
    if not found.exists():
        pytest.skip(f"the trackers are not installed ({found} is missing): run `make test-trackers`")
    return found


Writer = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def write_with_tracker(trackers_python: Path) -> Writer:
    """`write("write_mlflow.py", folder, *arguments)`: lets a script beside this file write runs below a folder.

    It runs there with a home of its own and sends nothing anywhere; the test fails with its output if it fails.
    """

    def write(
        script: str, folder: Path, *arguments: str, codes: Sequence[int] = (0,)
    ) -> subprocess.CompletedProcess[str]:
        home = folder / ".home"
        home.mkdir(parents=True, exist_ok=True)
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
        quiet = {
            "HOME": str(home),
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "DO_NOT_TRACK": "true",
            "WANDB_MODE": "offline",
            "WANDB_SILENT": "true",
            "DVC_NO_ANALYTICS": "1",
            "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
            "PYTHONUTF8": "1",
        }
        done = subprocess.run(
            [str(trackers_python), str(HERE / script), *arguments],
            cwd=folder,
            env={**kept, **quiet},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode in codes, f"{script} {arguments}: {done.stdout[-4000:]}\n{done.stderr[-8000:]}"
        return done

    return write
