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


@cache
def page_of(code: str) -> t.CodeDescription | None:
    """The page of a code (`repeat`, `dead-end`, `directive`, `settings`); None if the installation lacks it."""
    page = "settings.md" if code == "settings" else "warnings.md"
    found = next((place / page for place in _PLACES if (place / page).is_file()), None)
    return t.CodeDescription(href=found.as_uri()) if found else None
