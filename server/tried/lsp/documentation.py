"""Where each code is explained: the one place that builds these addresses.

The pages come with the package, so they are those of this version and are read without a network.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lsprotocol import types as t

_PACKAGE = Path(__file__).parents[1]
_PLACES = (_PACKAGE / "docs", _PACKAGE.parents[1] / "docs")
"""As it is installed, and in a clone."""


REPEAT, DEAD_END, DIRECTIVE, SETTINGS = "repeat", "dead-end", "directive", "settings"

CODES: dict[str, tuple[str, str]] = {
    REPEAT: ("warnings.md", "what the config describes was run before"),
    DEAD_END: ("warnings.md", "a value that a dead end came from"),
    DIRECTIVE: ("warnings.md", "a comment that was to silence something and does not"),
    SETTINGS: ("settings.md", "a mistake in `tried.toml` or `pyproject.toml`"),
}
"""Every diagnostic code: the page that explains it, and what it says."""


@cache
def page_of(code: str) -> t.CodeDescription | None:
    """The page of a code; None if the installation lacks it."""
    page, _ = CODES[code]
    found = next((place / page for place in _PLACES if (place / page).is_file()), None)
    return t.CodeDescription(href=found.as_uri()) if found else None


def codes_markdown() -> str:
    """The table of codes for docs/language-server.md."""
    rows = [f"| `{code}` | {meaning} | [{page}]({page}) |" for code, (page, meaning) in CODES.items()]
    return "\n".join(("| code | says | explained in |", "|---|---|---|", *rows))
