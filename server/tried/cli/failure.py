"""Errors that end a command."""

from __future__ import annotations


class Failure(Exception):
    """What went wrong and what to do about it, in one line for the user. Exit status 2.

    `picture` shows the place in what the user typed, on lines of its own.
    """

    def __init__(self, message: str, picture: str = "") -> None:
        super().__init__(message)
        self.picture = picture
