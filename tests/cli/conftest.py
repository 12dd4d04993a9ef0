from __future__ import annotations

from pathlib import Path

import pytest
from cli_runner import Runner


@pytest.fixture
def tried(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Runner:
    """The command `tried` in an empty folder."""
    return Runner(tmp_path, capsys, monkeypatch)
