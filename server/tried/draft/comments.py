"""What people said in comments: prose, told apart from directives, code that was commented out, and decoration.

No language is parsed here; a line is judged by its looks, and what is no clear code counts as prose:

- `batch_size: 16`, `lr = 0.1`, `export X=1`, `self.foo()`, `- path: x`, `{`, `python train.py --lr 1` are code;
- `lr = 0.1 diverged at once`, `NOTE: use bf16`, `Decoder: GRU + beam search` are prose, for words follow words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from tried.draft.directives import without_directives
from tried.draft.entries import Comment
from tried.draft.word_tables import word_set
from tried.text import LineIndex

LONGEST_COMMENT = 2000
"""Characters of a paragraph that are kept; what is longer is no note."""

_DECORATION = " \t#=*~_─━═│┃║+|<>/\\-–—.:"
_LETTER = re.compile(r"[^\W\d_]")
_URL = re.compile(r"(?<![\w+.-])[a-zA-Z][\w+.-]*://\S*|\bwww\.\S+")
_TOOL_LINE = re.compile(
    r"""!.*/ | -\*-.*-\*- | (?:vim?|ex)\s*: | coding\s*[:=]\s*[\w-]+ | @package\b | yaml-language-server\s*:
    | (?:noqa|nosec|nolint|fmt|isort|ruff|mypy|pyright|pylint|flake8|yamllint|shellcheck|eslint|prettier|pragma
        |type|region|endregion|codespell|cspell|spellchecker)\b\s*(?:[:=-]|\Z) | %% | authors?\s*:
    | (?:eslint|prettier|tslint)-\w+ | \$schema\b""",
    re.IGNORECASE | re.VERBOSE,
)
_LICENCE = re.compile(
    r"""spdx-|copyright\s*(?:\(c\)|©|\d)|©\s*\d|all\s+rights\s+reserved|licen[cs]ed\s+under|apache\s+license
    |permission\s+is\s+hereby\s+granted|without\s+warrant|required\s+by\s+applicable\s+law|licen[cs]e\s+file
    |obtain\s+a\s+copy\s+of\s+the\s+license|redistribution\s+and\s+use\s+in\s+source""",
    re.IGNORECASE | re.VERBOSE,
)
_KEY = r"[\"']?(?P<key>[A-Za-z_][\w.\-/]*(?:\[[^\]\s]*\])?)[\"']?"
_KEY_VALUE = re.compile(rf"(?:-\s+)*{_KEY}\s*(?P<sign>\+=|-=|\|=|=|:(?=\s|\Z))(?!=)\s*(?P<value>.*)\Z", re.DOTALL)
_EXPORT = re.compile(r"(?:export|set|local|declare)\s+[A-Za-z_]\w*=|[A-Z_][A-Z0-9_]*=\S*\s+\S")
_STATEMENT = re.compile(
    r"""import\s+[\w.]+(?:\s+as\s+\w+|\s*,\s*[\w.]+)*\s*;?\Z | from\s+[\w.]+\s+import\b | (?:async\s+)?def\s+\w+\s*\(
    | class\s+[A-Z_]\w*\s*(?:\(.*\))?\s*:\Z | (?:else|try|finally)\s*:\Z | (?:pass|break|continue|return)\Z
    | @[\w.]+(?:\(.*)?\Z | (?:\$|>>>|%|\.\.\.)\s | <<\s*: | [!&*][\w:./-]+(?:\s|\Z)
    | (?:return|yield|raise|assert|del|await|print|global)\s+[^\s]+\Z
    | (?:python3?|pip3?|bash|sh|torchrun|accelerate|sbatch|srun|sudo|conda|poetry|docker|git|curl|wget|make|tune|uv|cd
        |llamafactory-cli|source|mkdir|npm|node)\s+(?:-|\S*[/=_]|\S+\.\w+\b|(?:run|install|clone|pull|launch|train)\s)""",
    re.VERBOSE | re.DOTALL,
)
_WORDLESS_STATEMENT = re.compile(
    r"(?:if|elif|for|while|with|except)\b.*:\Z|[A-Za-z0-9_.\[\]]+\(.*\)?[;,]?\Z|[(\[].*[)\]],?\Z", re.DOTALL
)
"""Code only if no two plain words follow each other in it: `if x > 0:`, but not `if this diverges again:`."""

_OPTION = re.compile(r"(?:\A|\s)--[a-z][\w-]*")
_LITERAL = re.compile(
    r"""(?:[-+]?[\d.][\w.+-]*%?|true|false|null|none|yes|no|on|off|auto|~|\?\?\?|\.\.\.)[,;]?\Z""",
    re.IGNORECASE | re.VERBOSE,
)
_SIGNAL_WORDS = word_set(
    """
    note notes todo fixme xxx hack warning warn caution important hint tip nb ps caveat idea why because
    reason result results finding findings conclusion observation hypothesis goal summary update edit remark
    attention example tried question answer
    """
)
_OPERATOR_WORDS = word_set("if elif else for while with except in and or not is lambda await as")
_TWO_WORDS = re.compile(r"(?<![\w.'’%-])([\w.'’%-]*[\w%)\]])[ \t]+\(?(?=([\w'’-]+))")
_ARROW = re.compile(r"→|—|–|\s-+>\s")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`")


def paragraphs_of(comments: Iterable[Comment], lines: LineIndex) -> tuple[str, ...]:
    """The prose of comments: one text for each run of comment lines, and one for each trailing comment."""
    found: list[str] = []
    paragraph: list[str] = []
    last_line = -2

    def close() -> None:
        text = "\n".join(paragraph)
        if text and len(text) <= LONGEST_COMMENT and not _LICENCE.search(text):
            found.append(text)
        paragraph.clear()

    for comment in comments:
        line = lines.line_of(comment.span.start)
        if not comment.own_line or line != last_line + 1:
            close()
        for part in without_directives(comment.text).splitlines() or [""]:
            said = prose_of(part)
            if said is None:
                close()  # an empty line, a rule or code parts paragraphs
            else:
                paragraph.append(said)
        if not comment.own_line:
            close()
        last_line = lines.line_of(max(comment.span.start, comment.span.end - 1)) if comment.own_line else -2
    close()
    return tuple(found)


@lru_cache(maxsize=8192)
def prose_of(line: str) -> str | None:
    """The prose of one line of a comment without its decoration; None if it is none."""
    plain = line.strip()
    if not _LETTER.search(plain) or _TOOL_LINE.match(plain) or len(plain) > LONGEST_COMMENT:
        return None
    bare = plain.lstrip("#/*; \t")
    if looks_like_code(bare):
        return None
    said = bare.rstrip(_DECORATION[:-2]).lstrip(_DECORATION)
    return said if _LETTER.search(_URL.sub("", said)) else None


def looks_like_code(line: str) -> bool:
    """Whether a comment's line is code, data or a command rather than words about them."""
    if not line or line[0] in "{}])," or line.endswith(("\\", "{", "= [", ": [", " |", " |-", " >-")):
        return True
    if _EXPORT.match(line) or _STATEMENT.match(line) or _OPTION.search(line):
        return True
    if _WORDLESS_STATEMENT.match(line) and not _has_words(line):
        return True
    pair = _KEY_VALUE.match(line)
    if pair:
        return _is_setting(pair["key"], pair["sign"], pair["value"])
    token = line.removeprefix("- ").strip(",;\"'")
    return not re.search(r"\s", token) and bool(re.search(r"[_=/\\{}<>$]|\w\.\w|\w\(", token))


def _is_setting(key: str, sign: str, value: str) -> bool:
    value = value.split(" #", 1)[0].split(" //", 1)[0].strip()
    if sign != ":":
        return not _has_words(value)
    if key.casefold() in _SIGNAL_WORDS:
        return False
    if not value:  # `optimizer:` heads a mapping that was commented out, `This run:` had two words
        return key[0].islower() or "_" in key
    if value[0] in "\"'[{&*!$<" or _LITERAL.match(value):
        return True
    named_like_a_key = key[0].islower() or "_" in key or key.isupper()
    return named_like_a_key and not _has_words(value, operators=frozenset())


def _has_words(text: str, operators: frozenset[str] = _OPERATOR_WORDS) -> bool:
    """Whether a plain word follows another word with nothing but a space between, outside of quotes."""
    for match in _TWO_WORDS.finditer(_QUOTED.sub("''", text)):
        left, right = match[1].lower(), match[2].lower()
        if left not in operators and right not in operators and _LETTER.search(right):
            return True
    return bool(_ARROW.search(text))
