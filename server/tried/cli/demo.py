"""`tried demo`."""

from __future__ import annotations


def demo() -> None:
    """Show the main job on a workspace of our own."""
