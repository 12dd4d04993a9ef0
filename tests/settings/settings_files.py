"""Settings as tests write them, and what is said about them."""

from __future__ import annotations

from pathlib import Path

from tried.settings import LoadedSettings


def write(folder: Path, text: str, name: str = "tried.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def told(loaded: LoadedSettings) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in loaded.problems]
