from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.directives import (
    CODES,
    Action,
    Directive,
    directive_text,
    directives_of,
    plain_reason,
    without_directives,
)
from tried.draft.entries import Comment, Entry, Problem, Special
from tried.findings.finding import Code
from tried.text import LineIndex, Span

TEXT = """\
model:
  depth: 8  # tried: ignore
# a note
optimizer:
  lr: 0.5
"""


def entry(*path: str | int, key: tuple[int, int] | None, span: tuple[int, int], value: Special | int = 1) -> Entry:
    return Entry(path, value, Span(*key) if key else None, Span(*span))


def read(body: str, *, own_line: bool = True) -> tuple[tuple[Directive, ...], tuple[Problem, ...]]:
    """The directives of one comment above `lr: 1`."""
    text = f"# {body}\nlr: 1\n"
    start = len(body) + 3
    comment = Comment(body, Span(0, len(body) + 2), own_line)
    return directives_of([comment], [entry("lr", key=(start, start + 2), span=(start + 4, start + 5))], LineIndex(text))


def one(body: str) -> Directive:
    directives, problems = read(body)
    assert problems == ()
    assert len(directives) == 1
    return directives[0]


@pytest.mark.parametrize(
    ("body", "action", "code", "record", "reason"),
    [
        ("tried: ignore", "ignore", None, None, None),
        ("TRIED :  Ignore", "ignore", None, None, None),
        ("tried:ignore", "ignore", None, None, None),
        ("# tried: ignore", "ignore", None, None, None),
        ("tried: ignore[dead-end]", "ignore", "dead-end", None, None),
        ("tried: ignore [ Dead_End ]", "ignore", "dead-end", None, None),
        (
            "tried: ignore[dead-end] warmup is longer now",
            "ignore",
            "dead-end",
            None,
            "warmup is longer now",
        ),
        ("tried: ignore[repeat]: another seed", "ignore", "repeat", None, "another seed"),
        ("tried: ignore — we know", "ignore", None, None, "we know"),
        ("tried: ignore because of the new data", "ignore", None, None, "of the new data"),
        ("tried: ignore - file format differs", "ignore", None, None, "file format differs"),
        ("tried: ignore-file", "ignore-file", None, None, None),
        ("tried: ignore_file generated", "ignore-file", None, None, "generated"),
        ("tried: ignore-file[repeat]", "ignore-file", "repeat", None, None),
        ("tried: retry exp-7 because the cache was stale", "retry", None, "exp-7", "the cache was stale"),
        ("tried: Retry sacred:31, because of a fix", "retry", None, "sacred:31", "of a fix"),
        ("tried: retry exp-7: new data", "retry", None, "exp-7", "new data"),
        ("tried: retry exp-7", "retry", None, "exp-7", None),
        ('tried: retry "my run" because why not', "retry", None, "my run", "why not"),
        ("tried: retry 実験/4 because 再試行", "retry", None, "実験/4", "再試行"),
        ("as in the paper  # tried: ignore", "ignore", None, None, None),
        ("as in the paper  // tried: ignore", "ignore", None, None, None),
    ],
)
def test_what_a_directive_says(
    body: str, action: str, code: str | None, record: str | None, reason: str | None
) -> None:
    directive = one(body)
    assert (directive.action, directive.code, directive.record, directive.reason) == (action, code, record, reason)


def test_two_codes_are_two_directives_with_one_reason() -> None:
    directives, problems = read("tried: ignore[dead-end, repeat] on purpose")
    assert problems == ()
    assert [(d.code, d.reason) for d in directives] == [("dead-end", "on purpose"), ("repeat", "on purpose")]


def test_a_comment_may_hold_two_directives() -> None:
    directives, problems = read("tried: ignore[repeat] once # tried: retry exp-2 because twice")
    assert problems == ()
    assert [(d.action, d.code, d.record, d.reason) for d in directives] == [
        ("ignore", "repeat", None, "once"),
        ("retry", None, "exp-2", "twice"),
    ]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("tried: skip", "`tried: skip` is no directive"),
        ("tried: ignored", "`tried: ignored` is no directive"),
        ("tried: lr 0.5, diverged", "`tried: lr` is no directive"),
        ("tried:", "`tried:` says not what to do"),
        ("tried: ignore[deadend-move]", "`deadend-move` is no finding code"),
        ("tried: ignore[]", "`` is no finding code"),
        ("tried: ignore[dead-end", "`tried: ignore[` lacks its `]`"),
        ("tried: retry", "`tried: retry` names no record"),
        ("tried: retry because I say so", "`tried: retry` names no record"),
        ('tried: retry "half because', "`tried: retry` names no record"),
    ],
)
def test_what_cannot_be_read_is_said_with_what_is_accepted(body: str, said: str) -> None:
    directives, problems = read(body)
    assert directives == ()
    assert len(problems) == 1
    assert problems[0].message.startswith(f"{said}: write `tried: ignore`, ")
    assert problems[0].message.endswith("`tried: retry EXP-ID because …` or `tried: ignore-file`")
    assert problems[0].span == Span(0, len(body) + 2)


def test_of_two_codes_the_known_one_still_holds() -> None:
    directives, problems = read("tried: ignore[repeat, nonsense]")
    assert [d.code for d in directives] == ["repeat"]
    assert [p.message.split(":")[0] for p in problems] == ["`nonsense` is no finding code"]


@pytest.mark.parametrize("body", ["we tried: everything", "untried: ignore", "tried ignore", "a note", "see #tried"])
def test_a_note_is_no_directive(body: str) -> None:
    assert read(body) == ((), ())


def test_a_trailing_comment_is_about_its_line() -> None:
    depth = TEXT.index("depth")
    comment_start = TEXT.index("# tried")
    comment = Comment("tried: ignore", Span(comment_start, comment_start + 15), own_line=False)
    entries = [entry("model", "depth", key=(depth, depth + 5), span=(depth + 7, depth + 8))]
    (directive,), problems = directives_of([comment], entries, LineIndex(TEXT))
    assert problems == ()
    assert directive.target.of(TEXT) == "  depth: 8  # tried: ignore"
    assert directive.span == comment.span


def test_a_comment_on_its_own_line_is_about_the_next_entry_with_all_that_it_holds() -> None:
    note, optimizer, rate = TEXT.index("# a note"), TEXT.index("optimizer"), TEXT.index("lr")
    comment = Comment("tried: ignore", Span(note, note + 8), own_line=True)
    entries = [
        entry("optimizer", key=(optimizer, optimizer + 9), span=(rate, rate + 7), value=Special.MAPPING),
        entry("optimizer", "lr", key=(rate, rate + 2), span=(rate + 4, rate + 7)),
    ]
    (directive,), _ = directives_of([comment], entries, LineIndex(TEXT))
    assert directive.target.of(TEXT) == "optimizer:\n  lr: 0.5"


def test_above_a_list_item_it_is_about_the_whole_item() -> None:
    text = "layers:\n  # tried: ignore\n  - type: Conv\n    units: 8\n"
    comment_start, item, end = text.index("#"), text.index("type"), len(text) - 1
    comment = Comment("tried: ignore", Span(comment_start, comment_start + 15), own_line=True)
    units = text.index("units")
    entries = [
        entry("layers", 0, "type", key=(item, item + 4), span=(item + 6, item + 10)),
        entry("layers", 0, key=None, span=(item, end), value=Special.MAPPING),
        entry("layers", 0, "units", key=(units, units + 5), span=(units + 7, end)),
    ]
    (directive,), _ = directives_of([comment], entries, LineIndex(text))
    assert directive.target.of(text) == "type: Conv\n    units: 8"


def test_ignore_file_is_about_the_whole_text() -> None:
    assert one("tried: ignore-file").target == Span(0, len("# tried: ignore-file\nlr: 1\n"))


def test_one_with_nothing_after_it_is_said() -> None:
    text = "lr: 1\n# tried: ignore\n"
    comment = Comment("tried: ignore", Span(6, 21), own_line=True)
    directives, problems = directives_of([comment], [entry("lr", key=(0, 2), span=(4, 5))], LineIndex(text))
    assert directives == ()
    assert [p.message for p in problems] == [
        "`tried: ignore` has no entry after it: put it above an entry or at the end of its line"
    ]


def test_the_codes_are_those_of_findings() -> None:
    assert get_args(Code) == CODES


@pytest.mark.parametrize(
    ("comment", "rest"),
    [
        ("tried: ignore", ""),
        ("as in the paper  # tried: ignore[repeat] x", "as in the paper"),
        ("tried: lr 0.5, diverged", "tried: lr 0.5, diverged"),
        ("a plain note", "a plain note"),
    ],
)
def test_a_directive_is_cut_from_the_note_before_it(comment: str, rest: str) -> None:
    assert without_directives(comment) == rest


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (directive_text("ignore"), "tried: ignore"),
        (directive_text("ignore", "dead-end"), "tried: ignore[dead-end]"),
        (directive_text("ignore", "repeat", reason="warmup is\n longer"), "tried: ignore[repeat] warmup is longer"),
        (directive_text("ignore", reason="[x] marks it"), "tried: ignore because [x] marks it"),
        (directive_text("ignore-file", reason="made by a script"), "tried: ignore-file made by a script"),
        (directive_text("retry", record="a/b:1", reason="of x"), "tried: retry a/b:1 because of x"),
        (directive_text("retry", record="a b"), 'tried: retry "a b"'),
        (directive_text("retry", record="a\nb"), 'tried: retry "a\\nb"'),
        (directive_text("retry", record='x"y'), 'tried: retry "x\\"y"'),
        (directive_text("retry", record="x # tried: ignore-file"), 'tried: retry "x \\u0023 tried: ignore-file"'),
    ],
)
def test_the_text_of_a_new_directive(written: str, text: str) -> None:
    assert written == text


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(ValueError, match="no such finding code: all"):
        directive_text("ignore", "all")
    with pytest.raises(ValueError, match="a retry names its record"):
        directive_text("retry")
    with pytest.raises(ValueError, match="no such directive: mute"):
        directive_text(cast("Action", "mute"))


HOSTILE = st.text(max_size=30) | st.lists(
    st.sampled_from(
        ["# tried: ignore-file", "tried:", "because ", "]", "[", '"', "\n", "\r", "\u2028", "*/", "//", "#", ": ", "x"]
    ),
    max_size=8,
).map("".join)


@given(code=st.sampled_from([None, *CODES]), action=st.sampled_from(["ignore", "ignore-file"]), reason=HOSTILE)
def test_an_ignore_is_read_back_as_written(code: str | None, action: str, reason: str) -> None:
    written = directive_text("ignore" if action == "ignore" else "ignore-file", code, reason=reason)
    assert len(written.splitlines()) == 1
    directive = one(written)
    assert (directive.action, directive.code) == (action, code)
    assert directive.reason == (plain_reason(reason) or None)


@given(record=HOSTILE.filter(bool), reason=HOSTILE)
def test_a_retry_is_read_back_with_the_very_id(record: str, reason: str) -> None:
    written = directive_text("retry", record=record, reason=reason)
    assert len(written.splitlines()) == 1
    directive = one(written)
    assert (directive.action, directive.record) == ("retry", record)
    assert directive.reason == (plain_reason(reason) or None)


@given(st.text())
def test_no_comment_raises(text: str) -> None:
    body = " ".join(text.split())
    directives, problems = read(f"tried: {body}")
    assert directives or problems
