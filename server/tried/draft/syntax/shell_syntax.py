"""Shell scripts, read with tree-sitter: the variables that they set, exported, defaulted or before a command.

Functions and command substitutions are left out: what they set is set when they run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from tried.draft.entries import Special
from tried.draft.syntax.env_values import Settings, expanded, typed
from tried.draft.syntax.grammar import Allowance, clean_tree, image
from tried.draft.syntax.nodes import ListNode, Node, ScalarNode, ScalarValue
from tried.text import Span

_CLOSED_OFF = frozenset({"function_definition", "command_substitution", "process_substitution", "heredoc_body"})
_DEFAULTING = frozenset({":-", "-", ":=", "="})
# The grammar takes quadratic time on some texts without errors too: 25 kB of "<[[ `" take it 2.4 s.
_CHUNK = 2_000
_LARGEST_CHUNK = 6_000
_EFFORT = 24
_LINE = re.compile(rb"[^\n]*\n?")
_ASSIGNS = re.compile(rb"[ \t]*+(?:export[ \t]++)?[A-Za-z_]\w*+=")
_CONTINUED = re.compile(rb"\\[ \t\r\n]*\Z")
_EXPORT = re.compile(r"[ \t]*+(?:export|declare(?:[ \t]++-\w++)*+|readonly)[ \t]++")
_PAIR = re.compile(r"""[ \t]*+([A-Za-z_]\w*+)=(?:("(?:[^"\\]|\\.)*+"|'[^']*+'|[^\s"';&|()<>`#]*+)(?=[\s;&]|\Z))?""")
_WORD_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_OUTERMOST = re.compile(rb"(?!(?:fi|done|esac|elif|else|then|do)\b)[^\s#)}]")
_HEREDOC = re.compile(rb"<<-?[ \t]*\\?['\"]?(\w+)")
_QUOTE = re.compile(rb"""\\.|["']|(?<![^\s;])\#|=\(|\)""", re.DOTALL)


def read_shell(settings: Settings) -> None:
    source = image(settings.text)
    allowance = Allowance()
    for lines in _chunks(source):
        start, end = lines[0][0], lines[-1][1]
        if end - start <= _LARGEST_CHUNK:
            tree = clean_tree("bash", source[start:end], allowance)
            if tree is not None:
                _Reader(settings, start).read(tree)
                continue
        for line_start, line_end in lines:
            _read_line(settings, source, line_start, line_end, allowance)


def _read_line(settings: Settings, source: bytes, start: int, end: int, allowance: Allowance) -> None:
    """A line of a chunk that cannot be read whole."""
    line = _CONTINUED.sub(b"", source[start:end])
    tree = clean_tree("bash", line, allowance) if len(line) <= _LARGEST_CHUNK else None
    if tree is not None:
        _Reader(settings, start).read(tree)
    else:
        _read_pairs(settings, start, start + len(line.split(b"\n")[0].rstrip()))


def _read_pairs(settings: Settings, start: int, end: int) -> None:
    """The variables that a broken line sets before it breaks."""
    exporting = _EXPORT.match(settings.text, start, end)
    position = exporting.end() if exporting else start
    while pair := _PAIR.match(settings.text, position, end):
        place = Span(pair.start(1), pair.end(1))
        written = pair[2]
        if written is None:
            settings.gathered.problem(f"the value of `{pair[1]}` cannot be read", Span(place.start, end))
            settings.add(place, ScalarNode(Special.UNKNOWN, Span(pair.end(), end)))
            break
        value = typed(written[1:-1]) if written[:1] == "'" else expanded(written.removeprefix('"').removesuffix('"'))
        settings.add(place, ScalarNode(value, Span(pair.start(2), pair.end(2))))
        position = pair.end()


def _chunks(source: bytes) -> Iterator[list[tuple[int, int]]]:
    """Lines in groups that a command of the outermost level starts."""
    chunk: list[tuple[int, int]] = []
    for start, end in _logical_lines(source):
        if chunk and start - chunk[0][0] > _CHUNK and _OUTERMOST.match(source, start):
            yield chunk
            chunk = []
        chunk.append((start, end))
    if chunk:
        yield chunk


def _logical_lines(source: bytes) -> Iterator[tuple[int, int]]:
    """Ranges of lines, with those that continue them: after a backslash, in quotes, in a here-document."""
    offset = 0
    budget = _EFFORT * len(source) + 10_000
    while offset < len(source):
        line = _LINE.match(source, offset)
        assert line is not None
        first_end = end = line.end()
        quote = _open_quote(line[0], b"")
        while end < len(source) and budget > 0 and (quote or source[offset:end].rstrip(b"\r\n").endswith(b"\\")):
            following = _LINE.match(source, end)
            assert following is not None
            budget -= following.end() - offset
            if quote and _ASSIGNS.match(following[0]):
                break
            quote = _open_quote(following[0], quote)
            end = following.end()
        if quote:  # never closed
            end = first_end
        marks = _HEREDOC.findall(source, offset, end)
        if marks and budget > 0:
            terminator = re.compile(rb"^\t*" + re.escape(marks[-1]) + rb"[ \t\r]*$\n?", re.MULTILINE)
            found = terminator.search(source, end)
            budget -= len(source) - end if found is None else found.end() - end
            end = end if found is None else found.end()
        yield offset, end
        offset = end


def _open_quote(line: bytes, quote: bytes) -> bytes:
    """The quote open at the end of a line, from that open at its start; ``=(``, an array, counts as one."""
    for match in _QUOTE.finditer(line):
        mark = match[0]
        if mark == b"#" and not quote:
            break
        if not quote and mark in {b'"', b"'", b"=("}:
            quote = mark
        elif quote and mark == (b")" if quote == b"=(" else quote):
            quote = b""
    return quote


class _Reader:
    """Reads error-free trees of the text from offset `base` on."""

    def __init__(self, settings: Settings, base: int) -> None:
        self.settings = settings
        self.base = base

    def span(self, syntax: tree_sitter.Node) -> Span:
        return Span(self.base + syntax.start_byte, self.base + syntax.end_byte)

    def written(self, syntax: tree_sitter.Node) -> str:
        return self.settings.text[self.base + syntax.start_byte : self.base + syntax.end_byte]

    def read(self, tree: tree_sitter.Tree) -> None:
        pending = [tree.root_node]
        while pending:
            syntax = pending.pop()
            if syntax.type == "comment":
                self.settings.comment(self.base + syntax.start_byte, self.base + syntax.end_byte)
            elif syntax.type == "variable_assignment":
                self._assign(syntax)
            elif syntax.type not in _CLOSED_OFF:
                if syntax.type == "command":
                    self._read_command(syntax)
                pending += reversed(syntax.named_children)

    def _assign(self, syntax: tree_sitter.Node) -> None:
        name = syntax.child_by_field_name("name")
        if name is None or name.type != "variable_name":
            return
        value = syntax.child_by_field_name("value")
        if any(child.type == "+=" for child in syntax.children):
            node: Node = ScalarNode(Special.UNKNOWN, self.span(value or name))
        elif value is None:
            end = self.base + syntax.end_byte
            node = ScalarNode("", Span(end, end))
        else:
            node = self._value(value)
        self.settings.add(self.span(name), node)

    def _read_command(self, syntax: tree_sitter.Node) -> None:
        """``env LR=0.1 python …`` sets LR, ``: "${LR:=0.1}"`` sets it too."""
        name = syntax.child_by_field_name("name")
        command = self.written(name) if name is not None else ""
        if command == "env":
            for word in syntax.children_by_field_name("argument"):
                match = _WORD_ASSIGNMENT.fullmatch(self.written(word))
                if match is None:
                    break
                start = self.base + word.start_byte
                value = expanded(match[2].strip("\"'"))
                place = Span(start, start + match.end(1))
                self.settings.add(place, ScalarNode(value, Span(start + match.start(2), start + match.end(2))))
        elif command == ":":
            for word in syntax.children_by_field_name("argument"):
                expansion = self._only_expansion(word)
                children = expansion.children if expansion is not None else []
                variable = next((child for child in children if child.type == "variable_name"), None)
                if expansion is not None and variable is not None:
                    self.settings.add(self.span(variable), self._value(expansion))

    def _only_expansion(self, syntax: tree_sitter.Node) -> tree_sitter.Node | None:
        if syntax.type == "string" and syntax.named_child_count == 1:
            inner = syntax.named_children[0]
            return inner if inner.type == "expansion" else None
        return syntax if syntax.type == "expansion" else None

    def _value(self, syntax: tree_sitter.Node) -> Node:
        if syntax.type == "array":
            return ListNode(self.span(syntax), [self._value(item) for item in syntax.named_children])
        expansion = self._only_expansion(syntax)
        if expansion is not None:
            return self._default(expansion)
        text = self._text(syntax)
        value: ScalarValue = Special.UNKNOWN if text is None else typed(text)
        return ScalarNode(value, self.span(syntax))

    def _default(self, expansion: tree_sitter.Node) -> Node:
        """What stands after ``:-`` in an expansion, if it is all that does, and a constant."""
        children = [child for child in expansion.children if child.type not in {"${", "}"}]
        if len(children) in {2, 3} and children[0].type == "variable_name" and children[1].type in _DEFAULTING:
            if len(children) == 2:
                end = self.base + children[1].end_byte
                return ScalarNode("", Span(end, end))
            text = self._text(children[2])
            if text is not None:
                return ScalarNode(typed(text), self.span(children[2]))
        return ScalarNode(Special.UNKNOWN, self.span(expansion))

    def _text(self, syntax: tree_sitter.Node) -> str | None:
        """The constant text of a word; None if the shell would put something in."""
        match syntax.type:
            case "word" | "number":
                return re.sub(r"\\(.)", r"\1", self.written(syntax))
            case "raw_string":
                return self.written(syntax)[1:-1]
            case "ansi_c_string":
                return self.written(syntax)[2:-1]
            case "string":
                if any(child.type != "string_content" for child in syntax.named_children):
                    return None
                return re.sub(r'\\([\\"$`\n])', r"\1", self.written(syntax)[1:-1])
            case "concatenation":
                parts = [self._text(child) for child in syntax.children if child.type != "concatenation"]
                return None if None in parts else "".join(part for part in parts if part is not None)
        return None
