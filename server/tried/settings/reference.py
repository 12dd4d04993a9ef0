"""docs/settings.md, made from the model, so that the two cannot drift apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tried.settings.accepts import accepted, adapter_of
from tried.settings.model import RemoteSettings, Settings, Silence, SourceSettings

_HEAD = """# Settings

<!-- Generated from server/tried/settings/model.py by `python -m tried.settings.reference`; edit it there. -->

Settings are read from these places; a later one wins:

1. the defaults below;
2. your own file: `~/.config/tried/tried.toml` (macOS: `~/Library/Application Support/tried/tried.toml`, Windows:
   `%APPDATA%\\tried\\tried.toml`; `XDG_CONFIG_HOME` is followed);
3. `pyproject.toml`, table `[tool.tried]`;
4. `tried.toml` in the workspace folder;
5. the editor's settings (section `tried`; `debounceMs` and `debounce-ms` are read as `debounce_ms`);
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
"""


def settings_markdown() -> str:
    """The whole of docs/settings.md."""
    parts = [_HEAD]
    top = {name: info for name, info in Settings.model_fields.items() if _group(info) is None}
    parts.append(_section("Top level", None, top, ""))
    for name, info in Settings.model_fields.items():
        if group := _group(info):
            parts.append(_section(f"`[{name}]`", group.__doc__, group.model_fields, f"{name}."))
    for name, table in (("pool.sources", SourceSettings), ("remote", RemoteSettings), ("silence", Silence)):
        parts.append(_section(f"`[[{name}]]`", table.__doc__, table.model_fields, f"{name}[]."))
    return "\n".join(parts)


def _group(info: FieldInfo) -> type[BaseModel] | None:
    kind = info.annotation
    return kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None


def _section(title: str, about: str | None, fields: Mapping[str, FieldInfo], prefix: str) -> str:
    lines = [f"## {title}", ""]
    if about:
        lines += [" ".join(about.split()), ""]
    for name, info in fields.items():
        lines += [
            f"### `{prefix}{name}`",
            "",
            info.description or "",
            "",
            f"- accepts: {_accepted(info)}",
        ]
        lines.append("- needed" if info.is_required() else f"- default: {_default(info.default)}")
        if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("adds_up"):
            lines.append("- adds up")
        lines.append("")
    return "\n".join(lines)


def _accepted(info: FieldInfo) -> str:
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
    return str(extra["accepts"]) if "accepts" in extra else accepted(adapter_of(info).json_schema())


def _default(value: Any) -> str:
    if value is None:
        return "none"
    plain = dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
    return f"`{json.dumps(plain)}`"


if __name__ == "__main__":
    import sys

    sys.stdout.write(settings_markdown())
