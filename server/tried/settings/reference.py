"""What is made from the models of the settings, so that they cannot drift apart: docs/settings.md, the schema of
tried.toml, and the settings in the manifest of the extension for VS Code.

``python -m tried.settings.reference --write`` writes all three in a clone; without a flag the page goes to stdout.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from pydantic.fields import FieldInfo

from tried.ranking.policy import Policy, knobs
from tried.settings.accepts import accepted, adapter_of
from tried.settings.extension_manifest import camel, manifest_with_settings
from tried.settings.extension_model import ExtensionSettings, ServerTraceSettings
from tried.settings.json_schema import extra_of, group_of, plain_default, toml_schema, written
from tried.settings.model import RemoteSettings, Settings, Silence, SourceSettings
from tried.storage.files import replace_file

PAGE = Path("docs", "settings.md")
SCHEMA = Path("docs", "tried.schema.json")
MANIFEST = Path("vscode-client", "package.json")

_HEAD = """# Settings

<!-- Generated from server/tried/settings/model.py by `python -m tried.settings.reference --write`; edit it there. -->

Settings are read from these places; a later one wins:

1. the defaults below;
2. your own file: `~/.config/tried/tried.toml` (macOS: `~/Library/Application Support/tried/tried.toml`, Windows:
   `%APPDATA%\\tried\\tried.toml`; `XDG_CONFIG_HOME` is followed);
3. `pyproject.toml`, table `[tool.tried]`;
4. `tried.toml` in the workspace folder;
5. the editor's settings (section `tried`; `debounceMs` and `debounce-ms` are read as `debounce_ms`). In VS Code
   `editor.debounce_ms` is `tried.editor.debounceMs`;
6. flags of the command line.

Tables are merged key by key. A list replaces that of the weaker places, but for those marked *adds up*: there each
place adds its items. A mistake never stops tried: it is reported with its file and line, and the value of the next
weaker place is used.

A file of the workspace comes with the project, so it cannot make tried talk to a server, nor read files elsewhere
without your consent: only your own file, the editor's settings and flags can. What you consent to is remembered on your
machine, for that workspace and that place alone; `tried allow` shows it, gives it and takes it back.

```toml
# tried.toml
research_line = "tiny-vision"

[pool]
sources = ["logs/*.jsonl", { path = "mlflow.db", experiments = ["vision-*"], max_age_days = 365 }]
disable = ["wandb"]

[metrics]
directions = { tokens_per_second = "max" }

[[silence]]
path = "configs/baseline.json"
code = "dead-end"
reason = "kept to show the failure"
```

## Help while you write a tried.toml

[tried.schema.json](tried.schema.json) describes a `tried.toml` as a JSON schema. An editor with
[Taplo](https://taplo.tamasfe.dev), such as VS Code with Even Better TOML, completes and checks the file by it if the
first line names it, by an address or a path relative to the file (run with Taplo 0.9.0):

```toml
#:schema ../tried/docs/tried.schema.json
```

For all files of that name, without such a line, in the `settings.json` of VS Code:

```json
"evenBetterToml.schema.associations": { "tried\\\\.toml$": "file:///home/me/tried/docs/tried.schema.json" }
```

The server checks the file as well, whatever the editor: a mistake is a diagnostic in it.
"""

_EXTENSION = """These belong to the extension alone: the server ignores them where an editor sends them along. A
workspace that you do not trust can set none of those that name a program. `tried.remote` and `tried.pool.sources` are
read from your own settings only, never from a workspace's `.vscode/settings.json`; all other settings can be set in
both.
"""


def settings_markdown() -> str:
    """The whole of docs/settings.md."""
    parts = [_HEAD]
    top = {name: info for name, info in Settings.model_fields.items() if group_of(info) is None}
    parts.append(_section("Top level", None, top, ""))
    for name, info in Settings.model_fields.items():
        if group := group_of(info):
            parts.append(_section(f"`[{name}]`", group.__doc__, group.model_fields, f"{name}."))
    parts.append(_section("`[policies.NAME]`", Policy.__doc__, knobs(), "policies.NAME."))
    for name, table in (("pool.sources", SourceSettings), ("remote", RemoteSettings), ("silence", Silence)):
        parts.append(_section(f"`[[{name}]]`", table.__doc__, table.model_fields, f"{name}[]."))
    own = {camel(name): info for name, info in ExtensionSettings.model_fields.items() if group_of(info) is None}
    parts += [f"## Only in VS Code\n\n{_EXTENSION}", *_settings(own, "tried.")]
    parts += _settings(ServerTraceSettings.model_fields, "tried.trace.")
    return "\n".join(parts)


def _section(title: str, about: str | None, fields: Mapping[str, FieldInfo], prefix: str) -> str:
    lines = [f"## {title}", ""]
    if about:
        lines += [" ".join(about.split()), ""]
    return "\n".join([*lines, *_settings(fields, prefix)])


def _settings(fields: Mapping[str, FieldInfo], prefix: str) -> Iterator[str]:
    for name, info in fields.items():
        yield from (f"### `{prefix}{name}`", "", info.description or "", "", f"- accepts: {_accepted(info)}")
        yield "- needed" if info.is_required() else f"- default: {_default(info)}"
        if extra_of(info).get("adds_up"):
            yield "- adds up"
        yield ""


def _accepted(info: FieldInfo) -> str:
    extra = extra_of(info)
    return str(extra["accepts"]) if "accepts" in extra else accepted(adapter_of(info).json_schema())


def _default(info: FieldInfo) -> str:
    return "none" if info.default is None else f"`{json.dumps(plain_default(info))}`"


def generated() -> dict[Path, Callable[[str], str]]:
    """The files of a clone that are made from the models, relative to it: what each holds now → what it must hold."""
    return {
        PAGE: lambda _: settings_markdown(),
        SCHEMA: lambda _: written(toml_schema()),
        MANIFEST: manifest_with_settings,
    }


def write(clone: Path) -> list[Path]:
    """Writes what is made from the models; the files that are other ones now. What somebody else writes into a file in
    the same moment is not lost: it is read again. Raises ValueError where the manifest has no place for settings."""
    changed: list[Path] = []
    for name, make in generated().items():
        path = clone / name
        if name == MANIFEST and not path.exists():
            continue  # not in what is published as a package of Python
        while True:
            before = path.read_text(encoding="utf-8") if path.exists() else ""
            after = make(before)
            if path.exists() and path.read_text(encoding="utf-8") != before:
                continue
            if after != before:
                replace_file(path, after.encode())
                changed.append(path)
            break
    return changed


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--write"]):
        sys.stderr.write("usage: python -m tried.settings.reference [--write]\n")
        return 2
    if not arguments:
        sys.stdout.write(settings_markdown())
        return 0
    clone = Path(__file__).parents[3]
    if not (clone / "docs").is_dir():
        sys.stderr.write(f"{clone} is no clone of tried: there is no folder docs in it\n")
        return 1
    for path in write(clone):
        sys.stdout.write(f"{path.relative_to(clone)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
