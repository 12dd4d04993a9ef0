"""Settings of the environment: dotenv files and shell scripts that set variables and start a command.

Both are called `env`. In a dotenv file a bare value runs to the end of its line; in a shell script it is one word, and
what follows is a command. Which it is shows in the text: every line of a dotenv file sets a variable, and no more.

Invariant: nothing is expanded or run; ``${LR:-0.1}`` stands for its default, every other ``$`` is unknown.
"""

from __future__ import annotations

from tried.draft.entries import ParsedConfig
from tried.draft.syntax.env_lines import is_dotenv, read_lines
from tried.draft.syntax.env_values import Settings
from tried.draft.syntax.nodes import MappingNode, entries_of
from tried.draft.syntax.shell_syntax import read_shell
from tried.text import Span


def read(text: str) -> ParsedConfig:
    settings = Settings(text)
    if is_dotenv(text):
        read_lines(settings)
    else:
        read_shell(settings)
    root = MappingNode(Span(0, len(text)), settings.pairs)
    entries = entries_of(root, settings.gathered, overrides_are_normal=True)
    comments = {comment.span: comment for comment in settings.gathered.comments}
    problems = sorted(settings.gathered.problems, key=lambda problem: problem.span)
    return ParsedConfig("env", tuple(entries), tuple(comments[span] for span in sorted(comments)), tuple(problems))
