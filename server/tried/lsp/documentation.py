"""Where each code is explained: the one place that builds these addresses."""

from __future__ import annotations

PAGES = "https://github.com/tried-dev/tried/blob/main/docs"


def page_of(code: str) -> str:
    """The page of a diagnostic's code (`repeat`, `dead-end`, `settings`)."""
    return f"{PAGES}/settings.md" if code == "settings" else f"{PAGES}/warnings.md#{code}"
