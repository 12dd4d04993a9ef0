"""The invariants of docs/architecture.md about what may know what, held against the code."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "server" / "tried"
CORE = ("text", "architecture", "pool", "draft", "ranking", "findings", "evaluation", "review", "related")
SHELL = {"pygls", "lsprotocol", "typer", "rich", "watchfiles"}
MAY_IMPORT = {
    "text": set(),
    "architecture": set(),
    "storage": set(),
    "draft": {"text", "architecture"},
    "pool": {"text", "architecture", "draft", "ranking", "storage"},
    "ranking": {"architecture", "pool"},
    "findings": {"text", "draft", "pool"},
    "review": {"text", "draft", "pool", "findings"},
    "related": {"text", "architecture", "draft", "pool", "ranking", "findings", "record_names", "analysis"},
    "evaluation": {"text", "draft", "pool", "ranking", "findings"},
}


def modules(room: str) -> list[Path]:
    single = PACKAGE / f"{room}.py"
    return [single] if single.exists() else sorted((PACKAGE / room).rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("room", CORE)
def test_the_core_knows_no_protocol_and_no_terminal(room: str) -> None:
    assert modules(room)
    for path in modules(room):
        assert SHELL.isdisjoint(name.split(".")[0] for name in imports_of(path)), path


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_rooms_import_in_one_direction(room: str) -> None:
    for path in modules(room):
        known = {parts[1] for name in imports_of(path) if len(parts := name.split(".")) > 1 and parts[0] == "tried"}
        assert known <= MAY_IMPORT[room] | {room}, path


@pytest.mark.parametrize("room", ["draft", "ranking", "findings", "review", "related", "architecture", "text"])
def test_nothing_there_reads_a_clock_a_file_or_random_numbers(room: str) -> None:
    forbidden = {"random", "time", "secrets", "socket", "subprocess", "urllib", "http", "os"}
    calls = {"open", "now", "today", "utcnow", "read_text", "read_bytes", "eval", "exec", "__import__"}
    for path in modules(room):
        assert forbidden.isdisjoint(name.split(".")[0] for name in imports_of(path)), path
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
                assert name not in calls, f"{path}:{node.lineno} calls {name}"


def test_nothing_unpickles_or_loads_code() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        imported = {name.split(".")[0] for name in imports_of(path)}
        assert {"pickle", "shelve", "marshal", "dill", "joblib", "torch"}.isdisjoint(imported), path
        assert "yaml" not in imported or path.name == "yaml_text.py", path


def test_only_their_rooms_import_pygls_and_typer() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        room = path.relative_to(PACKAGE).parts[0]
        names = {name.split(".")[0] for name in imports_of(path)}
        assert room == "lsp" or names.isdisjoint({"pygls", "lsprotocol"}), path
        assert room == "cli" or names.isdisjoint({"typer", "rich"}), path


def test_importing_the_core_costs_no_protocol() -> None:
    rooms = ", ".join(f"tried.{room}" for room in ("findings", "ranking", "pool.pool", "draft.draft", "workspace"))
    code = f"import sys, {rooms}; print(sorted({{'lsprotocol', 'pygls', 'typer', 'rich'}} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "[]"


def test_every_invariant_of_the_page_is_one_of_the_code_or_of_this_file() -> None:
    page = (PACKAGE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = [line for line in page.splitlines() if line.startswith("- **Invariant:**")]
    assert len(named) >= 8
    for path in sorted(PACKAGE.glob("*")):
        if path.suffix == ".py" or (path.is_dir() and (path / "__init__.py").exists()):
            assert path.name in page or path.name.startswith("__"), (
                f"docs/architecture.md does not speak of {path.name}"
            )


def test_only_one_room_speaks_to_servers_and_only_one_starts_programs() -> None:
    """But for the editors that connect to us."""
    network = {"http", "socket", "ssl", "requests", "httpx", "aiohttp"}
    for path in sorted(PACKAGE.rglob("*.py")):
        imported = set(imports_of(path))
        tops = {name.split(".")[0] for name in imported}
        if path.parent != PACKAGE / "pool" / "sources" / "remote":
            assert tops.isdisjoint(network) or path.parent == PACKAGE / "lsp", path
            assert imported.isdisjoint({"urllib", "urllib.request"}), path
        if path.name not in ("git_objects.py", "demo_client.py"):
            assert "subprocess" not in tops, path
