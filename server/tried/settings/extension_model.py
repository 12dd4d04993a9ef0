"""The settings that only the extension for VS Code has: how the server is found, and how much it says.

The server ignores them wherever an editor sends them along. docs/settings.md and the extension's manifest are made from
this table as from `model.py`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from tried.settings.group import MACHINE_OVERRIDABLE, WINDOW, Group


class ServerTraceSettings(Group):
    """What is written down of the talk between editor and server."""

    server: Literal["off", "messages", "verbose"] = Field(
        default="off",
        json_schema_extra=WINDOW
        | {
            "enum_descriptions": {
                "off": "Nothing.",
                "messages": "The name of each message.",
                "verbose": "Each message in full.",
            }
        },
        description="What is written to the output channel of the messages between VS Code and the server.",
    )


class ExtensionSettings(Group):
    """How VS Code finds the server and what the server logs. Other editors name the command in their own way."""

    path: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=MACHINE_OVERRIDABLE,
        description=(
            'The command of the server, a program and its arguments, such as `["/opt/tools/bin/tried"]` or'
            ' `["uv", "run", "tried"]`; `serve` is added. It goes before every other way to find a server. `~`,'
            " `${workspaceFolder}` and `${env:NAME}` are filled in. Not used in a workspace that you do not trust."
        ),
    )
    interpreter: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=MACHINE_OVERRIDABLE,
        description=(
            "The Python in whose environment the server is installed, a program and its arguments, such as"
            ' `["${workspaceFolder}/.venv/bin/python"]`. Without it, the one that the Python extension has chosen. Not'
            " used in a workspace that you do not trust."
        ),
    )
    import_strategy: Literal["fromEnvironment", "useBundled"] = Field(
        default="fromEnvironment",
        json_schema_extra=WINDOW
        | {
            "enum_descriptions": {
                "fromEnvironment": "The server of the chosen interpreter, else the one on the PATH, else the one that"
                " was installed for the extension or came with it.",
                "useBundled": "The server that came with the extension; if there is none, as from the environment.",
            }
        },
        description="Where the server is taken from, if no command is named.",
    )
    log_level: Literal["off", "error", "warning", "info", "debug"] = Field(
        default="warning",
        json_schema_extra=WINDOW,
        description="How much the server writes into the output channel.",
    )
    trace: ServerTraceSettings = Field(default_factory=ServerTraceSettings)
