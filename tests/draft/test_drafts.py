import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stopwatch import least_seconds
from tried.draft.draft import ExperimentDraft, drafts_of
from tried.draft.entries import Comment, ParsedConfig
from tried.draft.syntax import parse
from tried.text import Span

TEXT = """\
# Wider blocks, since depth alone did not help.
name: wide-net
project: speech
tags: [ablation, width]
notes: the last run overfitted
model:
  _target_: my.nets.ConvNet
  width: 64  # as in the paper
  encoder:
    _target_: my.nets.Stem
# tried: retry exp-7 because the data was fixed
optimizer:
  name: AdamW
  lr: 0.1  # tried: ignore[dead-end] warmup is longer now
# batch_size: 64
batch_size: 32
data: {name: librispeech, root: /data/libri}
"""


def drafts(text: str, language: str = "yaml") -> tuple[ExperimentDraft, ...]:
    return drafts_of(parse(text, language), text)


def test_all_that_a_draft_holds() -> None:
    (draft,) = drafts(TEXT)
    assert draft.span == Span(0, len(TEXT))
    assert draft.name == "wide-net"
    assert draft.name_entry is not None
    assert draft.name_entry.span.of(TEXT) == "wide-net"
    assert draft.research_line == "speech"
    assert draft.tags == ("ablation", "width")
    assert draft.prose == (
        "Wider blocks, since depth alone did not help.",
        "as in the paper",
        "the last run overfitted",
    )
    assert [(c.id, c.name, c.token) for c in draft.components] == [
        ("model", "ConvNet", "filter:ConvNet"),
        ("model.encoder", "Stem", "filter:Stem"),
    ]
    assert draft.architecture is not None
    assert [(e.source, e.target, e.kind) for e in draft.architecture.edges] == [("model", "model.encoder", "control")]
    assert {parameter.key for parameter in draft.parameters} >= {"optimizer.lr", "batchsize", "model.width"}
    assert (draft.problems, draft.mistaken_directives) == ((), ())
    assert draft.query_text == "\n".join(
        (
            *("Wider blocks, since depth alone did not help.", "as in the paper", "the last run overfitted"),
            *("wide-net", "ablation", "width", "ConvNet", "Stem", "AdamW", "librispeech"),
            *("width", "lr", "batch_size"),
        )
    )


def test_a_name_in_a_container_is_said_once() -> None:
    (draft,) = drafts("experiment:\n  name: wide\nlr: 0.1\n")
    assert draft.query_text.split("\n").count("wide") == 1


def test_its_directives_and_what_they_are_about() -> None:
    (draft,) = drafts(TEXT)
    retry, ignore = draft.directives
    assert (retry.action, retry.record, retry.reason) == ("retry", "exp-7", "the data was fixed")
    assert retry.target.of(TEXT).startswith("optimizer:\n  name: AdamW\n  lr: 0.1")
    assert "batch_size" not in retry.target.of(TEXT)
    assert (ignore.action, ignore.code, ignore.reason) == ("ignore", "dead-end", "warmup is longer now")
    assert ignore.target.of(TEXT) == "  lr: 0.1  # tried: ignore[dead-end] warmup is longer now"


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("toml", "# tried: ignore\n[optimizer]\nlr = 0.1 # tried: ignore[repeat] yes\n"),
        ("json", '{\n  // tried: ignore\n  "optimizer": {\n    "lr": 0.1 // tried: ignore[repeat] yes\n  }\n}\n'),
        ("python", "# tried: ignore\nOPTIMIZER = 'x'\nLR = 0.1  # tried: ignore[repeat] yes\n"),
        ("env", "# tried: ignore\nOPTIMIZER=x\nLR=0.1 # tried: ignore[repeat] yes\n"),
    ],
)
def test_directives_in_every_language(language: str, text: str) -> None:
    (draft,) = drafts(text, language)
    above, trailing = draft.directives
    assert above.code is None
    assert above.target.of(text).strip('["').lower().startswith("optimizer")
    assert (trailing.code, trailing.reason) == ("repeat", "yes")
    assert trailing.target.of(text).strip() == next(line.strip() for line in text.splitlines() if "yes" in line)
    assert (draft.problems, draft.mistaken_directives) == ((), ())


def test_a_directive_that_cannot_be_read_is_a_problem_of_the_draft() -> None:
    (draft,) = drafts("lr: 0.1  # tried: mute\n")
    assert [problem.message.split(":")[0] for problem in draft.mistaken_directives] == ["`tried"]
    assert "`tried: mute` is no directive" in draft.mistaken_directives[0].message


def test_scalars_alone_have_no_architecture() -> None:
    (draft,) = drafts("lr: 0.1\nmodel: resnet50\nlayers: [64, 64]\n")
    assert draft.architecture is None
    assert draft.components == ()


@pytest.mark.parametrize("language", ["yaml", "json", "toml", "python", "env"])
@pytest.mark.parametrize("text", ["", "\n\n", "\ufeff"])
def test_an_empty_text_gives_one_empty_draft(language: str, text: str) -> None:
    (draft,) = drafts(text, language)
    assert draft.span == Span(0, len(text))
    assert (draft.parameters, draft.components, draft.prose, draft.query_text) == ((), (), (), "")


DOCUMENTS = """\
# first
lr: 0.1
---
# second
name: b
lr: 0.2 # tried: ignore-file on purpose
---

# third
lr: 0.3
"""


def test_each_document_is_a_draft_of_its_own() -> None:
    first, second, third = drafts(DOCUMENTS)
    assert [draft.span.of(DOCUMENTS) for draft in (first, second, third)] == [
        "# first\nlr: 0.1\n",
        "---\n# second\nname: b\nlr: 0.2 # tried: ignore-file on purpose\n",
        "---\n\n# third\nlr: 0.3\n",
    ]
    assert [draft.prose for draft in (first, second, third)] == [("first",), ("second",), ("third",)]
    assert [draft.name for draft in (first, second, third)] == [None, "b", None]
    assert [[p.value for p in draft.parameters if p.key == "lr"] for draft in (first, second, third)] == [
        [0.1],
        [0.2],
        [0.3],
    ]


def test_a_file_is_ignored_in_all_its_documents() -> None:
    for draft in drafts(DOCUMENTS):
        assert [(d.action, d.target, d.reason) for d in draft.directives] == [
            ("ignore-file", Span(0, len(DOCUMENTS)), "on purpose")
        ]


def test_an_entry_of_the_next_document_is_not_the_next_entry() -> None:
    first, second = drafts("lr: 0.1\n# tried: ignore\n---\nlr: 0.2\n")
    assert first.directives == second.directives == ()
    assert [problem.message.split(":")[0] for problem in first.mistaken_directives] == ["`tried"]
    assert second.mistaken_directives == ()


def test_a_rule_within_a_block_of_text_parts_no_documents() -> None:
    text = "notes: |\n  one\n  ---\n  two\n---\nlr: 1\n"
    first, second = drafts(text)
    assert first.span.of(text) == "notes: |\n  one\n  ---\n  two\n"
    assert second.span.of(text) == "---\nlr: 1\n"


def test_comments_in_any_order_are_read() -> None:
    text = "# one\n\n# two\n"
    comments = (Comment("two", Span(7, 12), True), Comment("one", Span(0, 5), True))
    (draft,) = drafts_of(ParsedConfig("yaml", comments=comments), text)
    assert draft.prose == ("one", "two")


LINES = st.sampled_from(
    [
        "a: 1",
        "model:",
        "  type: Net",
        "  - type: Net",
        "---",
        "# tried: ignore",
        "# tried: ignore-file",
        "b: 2 # tried: retry x",
        "# words here",
        "notes: [a, b]",
        "x: &y {type: z}",
        "w: *y",
        "{",
        "...",
        "",
    ]
)


@given(st.lists(LINES, max_size=12).map("\n".join))
def test_drafts_cover_the_text_and_keep_every_entry(text: str) -> None:
    parsed = parse(text, "yaml")
    found = drafts_of(parsed, text)
    assert [draft.span.start for draft in found[1:]] == [draft.span.end for draft in found[:-1]]
    assert (found[0].span.start, found[-1].span.end) == (0, len(text))
    assert sum(len(draft.entries) for draft in found) == len(parsed.entries)
    assert found == drafts_of(parsed, text)


@settings(deadline=None)
@given(st.text(max_size=80), st.sampled_from(["yaml", "json", "toml", "python", "env"]))
def test_no_text_raises(text: str, language: str) -> None:
    assert drafts(text, language)


def large_config(sections: int) -> str:
    return "".join(
        f"# section {number} widens the block, since it helped before\n"
        f"block_{number}:\n  _target_: my.nets.Block{number}\n  width: {number}\n  rate: 0.{number}\n"
        f"  activation: relu{number}  # as in the paper\n  # dropout: 0.1\n  layers: [conv, relu]\n"
        f"  inputs: block_{number - 1}\n  # tried: ignore[repeat] on purpose\n  size: [3, 3]\n"
        for number in range(sections)
    )


def seconds_for(sections: int) -> float:
    text = large_config(sections)
    parsed = parse(text, "yaml")
    return least_seconds(lambda: drafts_of(parsed, text))


def test_a_draft_of_5000_lines_is_quick_and_time_grows_with_length() -> None:
    small, large = seconds_for(250), seconds_for(1000)
    assert large < 8 * small + 0.02
    assert seconds_for(500) < 0.25  # 5,000 lines; several times what it takes, for a busy machine


@pytest.mark.parametrize(
    "line",
    [
        "1 # " + "a" * 1900,
        "1 # " + "a." * 950,
        "1 # " + "x=" * 950,
        "1 # " + "- " * 950,
        "1 # " + "a(" * 950,
        "1 # " + "# tried:" * 200,
        "1 # " + "'" * 901 + '"' * 901,
        "{type: Net, name: same, inputs: same}",
    ],
    ids=["a word", "dots", "assignments", "dashes", "calls", "markers", "quotes", "aliases"],
)
def test_hostile_lines_take_time_in_proportion(line: str) -> None:
    text = "".join(f"key{number}: {line}\n" for number in range(400))
    parsed = parse(text, "yaml")
    assert len(parsed.entries) >= 400
    assert least_seconds(lambda: drafts_of(parsed, text), 2.0) < 2.0


def test_deep_nesting_is_no_architecture_and_takes_no_time() -> None:
    text = "{model: " * 200 + "[" + "{type: Net}, " * 2000 + "]" + "}" * 200
    parsed = parse(text, "yaml")
    assert least_seconds(lambda: drafts_of(parsed, text), 2.0) < 2.0
    (draft,) = drafts_of(parsed, text)
    assert draft.architecture is None
