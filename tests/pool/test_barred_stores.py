"""Stores that nobody may look into, in whole or in part: no run of theirs is silently missing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tried.storage.paths import is_barred
from tried.workspace import Workspace

FILES = {
    "outputs/2026-01-01/10-00-00/.hydra/config.yaml": "lr: 0.2\n",
    "outputs/2026-01-01/10-00-00/train.log": "x\n",
    "multirun/2026-01-02/10-00-00/0/.hydra/config.yaml": "lr: 0.3\n",
    "sacred/1/run.json": '{"status": "COMPLETED", "experiment": {"name": "e"}}',
    "sacred/1/config.json": '{"a": 1}',
    "lightning_logs/version_0/hparams.yaml": "a: 1\n",
    "lightning_logs/version_0/metrics.csv": "epoch,step,loss\n0,1,2\n",
    "results.tsv": "commit\tval_loss\tstatus\tdescription\na1a1a1a\t1\tkeep\tx\n",
    "experiments.jsonl": '{"id": "j1", "params": {"a": 1}}\n',
    "optuna.log": '{"op_code":0,"worker_id":"x","study_name":"s","directions":[1]}\n'
    '{"op_code":4,"worker_id":"x","study_id":0,"datetime_start":"2026-01-01T00:00:00"}\n',
}
RUNS = 8
"""One each, and of Optuna the study and its trial."""
PLACES = sorted(
    {str(place) for name in FILES for place in (Path(name), *Path(name).parents[:-1])}
    - {
        "outputs/2026-01-01/10-00-00/train.log",
        "lightning_logs/version_0/metrics.csv",
        "lightning_logs/version_0/hparams.yaml",
        "sacred/1/config.json",
    }
)
"""All but the files without which a run is still there."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1_760_000_000, 1_760_000_000))
    return tmp_path


@pytest.fixture
def bar(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Lets nobody look into a file or folder, whoever runs this."""

    def bars(barred: Path) -> None:
        def but(call: Callable[..., Any], of_itself: bool) -> Callable[..., Any]:
            def called(path: Any, *arguments: Any, **named: Any) -> Any:
                if not isinstance(path, int):
                    place = Path(os.fspath(path))
                    if barred in place.parents or (of_itself and place == barred):
                        raise PermissionError(13, "Permission denied", str(place))
                return call(path, *arguments, **named)

            return called

        for name, of_itself in (("stat", False), ("lstat", False), ("scandir", True), ("open", True)):
            monkeypatch.setattr(os, name, but(getattr(os, name), of_itself))

    return bars


def told(workspace: Workspace) -> list[str]:
    skipped = [f"{each.where}: {each.why}" for source in workspace.snapshot.sources for each in source.skipped]
    return [*skipped, *(f"{note.where}: {note.why}" for note in workspace.notes)]


@pytest.mark.parametrize("place", PLACES)
def test_what_nobody_may_look_into_is_told(folder: Path, bar: Callable[[Path], None], place: str) -> None:
    known = Workspace(folder)
    assert (len(known.refresh().records), told(known)) == (RUNS, [])
    bar(folder / place)
    scratch = Workspace(folder)
    scratch.refresh()
    known.refresh()
    for workspace in (scratch, known):
        # What was read before may stay until its turn to be looked at comes.
        is_whole = workspace is known and len(known.snapshot.records) == RUNS
        assert is_whole or [line for line in told(workspace) if "permission denied" in line.lower()]


def test_what_is_barred(folder: Path, bar: Callable[[Path], None]) -> None:
    sacred = folder / "sacred"
    assert not is_barred(sacred)
    assert not is_barred(folder / "results.tsv")
    assert not is_barred(folder / "none")
    bar(sacred)
    assert is_barred(sacred)
    assert is_barred(sacred / "1" / "run.json")
    assert not is_barred(folder / "outputs")
