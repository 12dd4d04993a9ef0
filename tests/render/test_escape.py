"""Text from data is shown as it is: a Markdown parser is the judge."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it.token import Token
from markdown_tokens import kinds, shown, tokens_of

from tried.render.document import Bullets, Code, Link, Paragraph, Strong, Table, Text, to_markdown, to_plain
from tried.render.escape import code_markdown, escape_markdown, plain, safe_url, shortened, width_of, without_links

WORDS = r"""
* ** _ __ ~~ ~ ` `` ``` [ ] ( ) ! < > & | \ # - + = . 1. 2) : :// www. @ &amp; &#x41; &copy <b> </b> <!-- -->
<https://a.b> [x](command:evil) ![i](http://a) [r]: [a][b] --- *** ___ === $x$ a b 1 é 漢 😋
"""
PIECES = [*WORDS.split(), " ", "\n", "\r\n", "\t"]
HOSTILE = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=3)), max_size=12).map("".join)


@given(HOSTILE)
@example("\\")
@example("a\\|b")
@example("1. a")
@example("1)")
@example("- ")
@example("--")
@example("# h")
@example("    code")
@example("[x](command:workbench.action.quit)")
@example("&lt;b&gt;")
def test_a_paragraph_shows_the_plain_text_and_nothing_else(text: str) -> None:
    markdown = escape_markdown(text)

    assert shown(markdown) == plain(text)
    assert kinds(markdown) <= {"paragraph_open", "inline", "paragraph_close", "text", "text_special"}


@given(HOSTILE)
@example("`")
@example("``a`")
@example("|")
@example("\\|")
def test_code_shows_the_plain_text(text: str) -> None:
    markdown = code_markdown(text)

    assert shown(markdown) == (plain(text) or "(empty)")
    assert kinds(markdown) <= {"paragraph_open", "inline", "paragraph_close", "code_inline", "text"}


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
@example("a]", "(b)", "[c", "d](e)")
def test_a_document_of_hostile_text_has_only_its_own_structure(one: str, two: str, three: str, four: str) -> None:
    line = (Text(one), Strong(two), Code(three), Link(four, "https://runs.example/1"))
    markdown = to_markdown([Paragraph(line), Bullets([line, line]), Table(("a", "b"), [(line, (Text(one),))])])
    tokens = tokens_of(markdown)

    assert {t.type for t in tokens} & {
        "html_inline",
        "html_block",
        "image",
        "heading_open",
        "s_open",
        "em_open",
    } == set()
    addresses = [t.attrs["href"] for t in tokens if t.type == "link_open"]
    assert addresses == ["https://runs.example/1"] * 4
    assert sum(t.type == "td_open" for t in tokens) == 2
    assert sum(t.type == "list_item_open" for t in tokens) == 2
    words = " ".join(part for part in (plain(one), plain(two), plain(three) or "(empty)", plain(four)) if part)
    cells = [shown_inline(t) for t in tokens if t.type == "inline"]
    assert [" ".join(cell.split()) for cell in cells] == [words, words, words, "a", "b", words, plain(one)]


def shown_inline(token: Token) -> str:
    return "".join(t.content for t in token.children or () if t.type in ("text", "text_special", "code_inline"))


@pytest.mark.parametrize(
    "text",
    [
        "batch_size 32: out of memory after 19 s (sacred/31); 8 fits",
        "lr 0.1 → 0.5",
        "loss < 3 & falling",
        "-0.5",
        "5 * 3",
    ],
)
def test_ordinary_words_are_written_without_backslashes(text: str) -> None:
    assert escape_markdown(text) == text


def test_invisible_reordering_and_control_characters_are_left_out() -> None:
    assert plain("a\u202eb\x1b[31mc\x00\u2028d\ud800e\u2066") == "ab[31mc de"
    assert plain("👨\u200d👩") == "👨\u200d👩"


def test_shortened_cuts_with_an_ellipsis() -> None:
    assert shortened("four", 4) == "four"
    assert shortened("fives", 4) == "fiv…"
    assert shortened("x" * 10_000_000, 4) == "xxx…"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mlflow.example/#/runs/1?a=b", "https://mlflow.example/#/runs/1?a=b"),
        ("https://a.example/(x) <y>", "https://a.example/%28x%29%20%3Cy%3E"),
        ("command:workbench.action.terminal.sendSequence", None),
        ("javascript:alert(1)", None),
        ("data:text/html,x", None),
        ("vscode://file/etc", None),
        ("https://a\nb", None),
        ("http://[", None),
        ("", None),
        (None, None),
    ],
)
def test_only_web_and_file_addresses_are_followed(url: str | None, expected: str | None) -> None:
    assert safe_url(url) == expected


@given(HOSTILE)
@example("[a](command:b)")
@example("[]([](")
def test_a_message_holds_no_link(text: str) -> None:
    assert "](" not in without_links(text)
    assert without_links(text).replace(" ", "") == text.replace(" ", "")


@given(HOSTILE)
def test_plain_documents_are_lines_of_plain_text(text: str) -> None:
    assert to_plain([Paragraph((Text(text), Code("x")))]).strip() == f"{plain(text)} x".strip()


def test_tables_are_aligned_in_columns_of_the_terminal() -> None:
    table = Table(("value", "runs"), [((Text("漢字"),), (Text("12"),)), ((Text("0.1"),), (Text("3"),))], frozenset({1}))

    assert width_of("漢字") == 4
    assert to_plain([table]) == "value  runs\n漢字     12\n0.1       3"
    assert to_markdown([table]) == "| value | runs |\n| ----- | ---: |\n| 漢字  |   12 |\n| 0.1   |    3 |"
