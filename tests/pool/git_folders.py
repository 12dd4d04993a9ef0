"""Real repositories for tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


class GitFolder:
    """A repository that a test works in, as a person would."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seconds = 1_700_000_000
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, check: bool = True) -> str:
        self.seconds += 60
        moment = f"{self.seconds} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.path),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
        }
        named = (
            "-c",
            "user.name=Somebody",
            "-c",
            "user.email=somebody@example.org",
            "-c",
            "protocol.file.allow=always",
        )
        done = subprocess.run(
            ["git", *named, *arguments], cwd=self.path, env=environment, check=check, capture_output=True, text=True
        )
        return done.stdout.strip()

    def write(self, name: str, text: str) -> None:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def commit(self, message: str) -> str:
        """The whole hash of a commit of everything."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def forget(self) -> None:
        """Lets git drop what no branch holds any more."""
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
