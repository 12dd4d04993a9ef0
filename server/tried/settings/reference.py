"""docs/settings.md, made from the model, so that the two cannot drift apart."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from tried.settings.accepts import accepted, adapter_of
from tried.settings.model import Settings, Silence

_HEAD = """# Settings

<!-- Generated from server/tried/settings/model.py by `python -m tried.settings.reference`; edit it there. -->

Settings are read from these places; a later one wins:

1. the defaults below;
2. `pyproject.toml`, table `[tool.tried]`;
3. `tried.toml` in the workspace folder;
4. the editor's settings (section `tried`; `debounceMs` and `debounce-ms` are read as `debounce_ms`);
5. flags of the command line.

Tables are merged key by key. A list replaces that of the weaker places, but for those marked *adds up*: there each
place adds its items. A mistake never stops tried: it is reported with its file and line, and the value of the next
weaker place is used.

A file of the workspace comes with the project, so it cannot make tried read files elsewhere: only the editor's
settings and flags can.

```toml
# tried.toml
research_line = "tiny-vision"

[pool]
sources = ["logs/*.jsonl"]

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
    parts.append(_section("`[[silence]]`", Silence.__doc__, Silence.model_fields, "silence[]."))
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
            f"- accepts: {accepted(adapter_of(info).json_schema())}",
        ]
        lines.append(f"- default: {_default(info.default)}")
        if isinstance(info.json_schema_extra, dict) and info.json_schema_extra.get("adds_up"):
            lines.append("- adds up")
        lines.append("")
    return "\n".join(lines)


def _default(value: Any) -> str:
    if value is None:
        return "none"
    plain = dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
    return f"`{json.dumps(plain)}`"


if __name__ == "__main__":
    import sys

    sys.stdout.write(settings_markdown())
