"""Errors that end a command."""

from __future__ import annotations


class Failure(Exception):
    """What went wrong and what to do about it, in one line for the user. Exit status 2."""
