"""`tried demo`: the main job on a workspace of our own, by a real server, as an editor would show it."""

from __future__ import annotations

import shutil
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markdown import Markdown
from rich.text import Text

import tried
from tried.cli.demo_client import DemoClient
from tried.cli.failure import Failure
from tried.cli.output import console, line_of
from tried.render.escape import plain, shortened
from tried.render.words import counted

SPEAKING = (
    "configs/hot_start.py",
    "configs/fast_conformer.toml",
    "configs/wide_conformer.yaml",
    "configs/bigger_batch.yaml",
    "configs/focal.json",
    "autoresearch/train.py",
)
SILENT = "configs/transformer.yaml"
FIXED_LINE = ('"lr": 1e-2', '"lr": 3e-3')
LANGUAGES = {".py": "python", ".yaml": "yaml", ".json": "json", ".toml": "toml"}
SEVERITIES = {1: ("error", "bold red"), 2: ("warning", "bold yellow"), 3: ("information", "bold blue")}
LINE_LENGTH = 110
HOVER_WIDTH = 90
MOST_RELATED = 3


def demo(
    folder: Annotated[
        Path | None,
        typer.Argument(metavar="FOLDER", show_default=False, help="Make the workspace here, to keep it."),
    ] = None,
) -> None:
    """See it work: a small invented project, a real server, and what an editor would show."""
    if folder is not None and folder.exists():
        raise Failure(f"{folder}: is there already; give the path of a folder that is to be made")
    with tempfile.TemporaryDirectory(prefix="tried-demo-") as temporary:
        workspace = folder.absolute() if folder else Path(temporary).resolve() / "ships"
        try:
            shutil.copytree(_fixture(), workspace)
        except OSError as error:
            raise Failure(f"{workspace}: cannot be made ({(error.strerror or str(error)).lower()})") from error
        with DemoClient(workspace, Path(temporary) / "server.log") as client:
            _show(client, workspace)
    _say_how_to_go_on(folder)


def _fixture() -> Path:
    """The demo workspace: beside the sources in a clone, inside the package where it is installed."""
    package = Path(tried.__file__).parent
    for place in (package / "demo_workspace", package.parents[1] / "fixtures" / "demo"):
        if (place / "tried.toml").is_file():
            return place
    raise Failure("the demo's files are missing from this installation; install tried again, or run it from a clone")


def _show(client: DemoClient, workspace: Path) -> None:
    out = console()
    out.print(line_of("A server was started; an editor now opens these files of an invented project.\n"))
    first = SPEAKING[0]
    _open(client, workspace / first)
    shown = {first: client.diagnostics((workspace / first).as_uri(), 1, some=True)}
    _pool(client, workspace)
    for name in (*SPEAKING, SILENT):
        if name not in shown:
            _open(client, workspace / name)
        if name == SILENT:
            # Silence says nothing until it is known that the file was judged.
            client.request("tried/related", {"textDocument": {"uri": (workspace / name).as_uri()}})
        if name not in shown:
            shown[name] = client.diagnostics((workspace / name).as_uri(), 1, some=name != SILENT)
        _print_file(name, (workspace / name).read_text(encoding="utf-8"), shown[name])
    _hover(client, workspace / first, shown[first][0])
    _related(client, workspace / first)
    _edit(client, workspace / first)


def _pool(client: DemoClient, workspace: Path) -> None:
    """Where the past experiments lie: nobody had to move any."""
    out = console()
    out.print(line_of(("What was tried lies where it was written:\n", "bold")))
    status = client.request("tried/status", {})
    for source in (source for folder in (status or {}).get("folders", ()) for source in folder["sources"]):
        place = Path(source["path"]).relative_to(workspace).as_posix()
        counts = f"{counted(source['records'], 'run'):>7}, {counted(source['dead_ends'], 'dead end')}"
        out.print(line_of(f"     {place:<26} {source['kind']:<14} {counts}"))
    out.print()


def _open(client: DemoClient, path: Path) -> None:
    document = {
        "uri": path.as_uri(),
        "languageId": LANGUAGES[path.suffix],
        "version": 1,
        "text": path.read_text(encoding="utf-8"),
    }
    client.notify("textDocument/didOpen", {"textDocument": document})


def _print_file(name: str, text: str, diagnostics: list[dict[str, Any]]) -> None:
    """Each diagnostic under its line of the source, as a squiggle."""
    out = console()
    out.print(line_of((name, "bold underline")))
    if not diagnostics:
        out.print(line_of(("     nothing to say: no value here repeats a dead end\n", "dim")))
        return
    lines = text.split("\n")
    for diagnostic in diagnostics:
        start, end = diagnostic["range"]["start"], diagnostic["range"]["end"]
        source = lines[start["line"]]
        width = (end["character"] if end["line"] == start["line"] else len(source)) - start["character"]
        severity, style = SEVERITIES[diagnostic["severity"]]
        out.print(line_of((f"{start['line'] + 1:>4} │ ", "dim"), source[:LINE_LENGTH]))
        out.print(line_of(("     │ ", "dim"), " " * start["character"], ("~" * max(1, width), style)))
        message = f" {diagnostic['code']}: {plain(diagnostic['message'])}"
        out.print(line_of(("     │ ", "dim"), (severity, style), message, "\n"))


def _hover(client: DemoClient, path: Path, diagnostic: dict[str, Any]) -> None:
    out = console()
    params = {"textDocument": {"uri": path.as_uri()}, "position": diagnostic["range"]["start"]}
    answer = client.request("textDocument/hover", params)
    if not answer:
        raise Failure("the server had nothing to show for a diagnostic of its own; please report it")
    out.print(line_of(("Pointing at the first of them shows why:\n", "bold")))
    with out.capture() as captured:
        out.print(Markdown(answer["contents"]["value"], hyperlinks=False), width=HOVER_WIDTH, soft_wrap=False)
    for line in captured.get().rstrip().splitlines():
        out.print(Text.assemble(("     │ ", "dim"), Text.from_ansi(line.rstrip())))
    out.print()


def _related(client: DemoClient, path: Path) -> None:
    answer = client.request("tried/related", {"textDocument": {"uri": path.as_uri()}})
    results = (answer or {}).get("results", ())
    out = console()
    out.print(line_of(("What else was tried that bears on this file:\n", "bold")))
    for result in results[:MOST_RELATED]:
        mark = Text("✗", "bold red") if result["dead_end"] else Text("·")
        name = f" {plain(result['id'])}  {shortened(result['name'], 60)}"
        out.print(Text.assemble(f"{result['rank']:>4}  {result['score']:.3f} ", mark, name))
    out.print()


def _edit(client: DemoClient, path: Path) -> None:
    """What a person would do next: another value. The finding goes as soon as it no longer holds."""
    text = path.read_text(encoding="utf-8").replace(*FIXED_LINE)
    start = time.monotonic()
    client.notify(
        "textDocument/didChange",
        {"textDocument": {"uri": path.as_uri(), "version": 2}, "contentChanges": [{"text": text}]},
    )
    client.diagnostics(path.as_uri(), 2, some=False)
    milliseconds = (time.monotonic() - start) * 1000
    console().print(
        line_of(f"Changing {FIXED_LINE[0]} to {FIXED_LINE[1]}: the finding is gone {milliseconds:.0f} ms later.\n")
    )


def _say_how_to_go_on(folder: Path | None) -> None:
    out = console()
    if folder is None:
        out.print(line_of("To try it in your own editor, keep the workspace:  tried demo ./ships"))
        out.print(line_of("then open ./ships/configs/hot_start.py there. The server's command is `tried serve`;"))
    else:
        out.print(line_of(f"The workspace is {folder}: open {folder / SPEAKING[0]} in your editor."))
        out.print(line_of("The server's command is `tried serve`;"))
    out.print(line_of("docs/editors/ says how to set up yours."))
