"""The settings of what an editor shows, each feature with its switch, and of how the server behaves while you type."""

from __future__ import annotations

from pydantic import Field

from tried.settings.group import Group


class HoverSettings(Group):
    """What is shown when the pointer rests on a place."""

    enable: bool = Field(
        default=True, description="Tell of findings, keys and components when the pointer rests there."
    )


class CodeActionSettings(Group):
    """What is offered at a finding."""

    enable: bool = Field(
        default=True, description="Offer to silence a finding, to retry on purpose, and to mark or open its record."
    )


class CodeLensSettings(Group):
    """The line above the first entry that says where the config stands."""

    enable: bool = Field(
        default=True,
        description="Say above the first entry whether this was run before, what is nearest, what ended badly nearby.",
    )


class InlayHintSettings(Group):
    """What stands beside values that were tried."""

    enable: bool = Field(
        default=False, description="Say beside each value how many runs had it, the best of them, and the dead ends."
    )


class CompletionSettings(Group):
    """Values to choose from while one is typed."""

    enable: bool = Field(
        default=True, description="Offer the values that were tried for a key, the best first, with how they ended."
    )


class LinkSettings(Group):
    """Ids of records in a config."""

    enable: bool = Field(
        default=True, description="Make links of the ids of records in comments and values, and open their records."
    )


class SymbolSettings(Group):
    """The editor's search for symbols of the workspace."""

    enable: bool = Field(
        default=True, description="Find past experiments in the editor's search for workspace symbols."
    )


class EditorSettings(Group):
    """How the language server behaves while you type."""

    debounce_ms: int = Field(
        default=200,
        ge=0,
        le=10_000,
        description="Milliseconds without an edit before the related experiments are ranked and findings are told.",
    )
    typing_pause_ms: int = Field(
        default=1500,
        ge=0,
        le=60_000,
        description=(
            "Milliseconds without an edit before a new finding appears on the line that is being typed. A finding"
            " that no longer holds goes at once."
        ),
    )
    max_file_bytes: int = Field(
        default=1_048_576,
        ge=1024,
        le=104_857_600,
        description="Larger files are left alone, with a line in the log.",
    )
