from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.draft import drafts_of
from tried.draft.syntax import LANGUAGES, parse
from tried.evaluation.perturbations import (
    EDIT_KINDS,
    MOST_OF_A_KIND,
    OTHER_WORDS,
    Edit,
    edits_of,
    nudged,
    reworded,
    spaced,
)

CONFIG = """\
# Why: the long warmup lost nothing last time
# tried: ignore[dead-end]
name: warm
optimizer:
  lr: 0.02  # high on purpose
  betas: [0.9, 0.95]
  steps: 300
"""


def texts(edits: list[Edit], kind: str) -> list[str]:
    return [edit.text for edit in edits if edit.kind == kind]


def changed(edit: Edit, before: str = CONFIG) -> list[tuple[str, str]]:
    pairs = zip(before.splitlines(), edit.text.splitlines(), strict=True)
    return [(one, other) for one, other in pairs if one != other]


def test_comments_are_reworded_and_directives_are_not() -> None:
    first, second = [edit for edit in edits_of(CONFIG, "yaml") if edit.kind == "comment reworded"]
    assert changed(first) == [
        ("# Why: the long warmup lost nothing last time", "# Why: again long warmup attempt nothing last roughly")
    ]
    assert changed(second) == [("  lr: 0.02  # high on purpose", "  lr: 0.02  # high again purpose")]
    assert (first.line, second.line) == (1, 5)


def test_notes_under_a_key_are_reworded() -> None:
    text = '{"hypothesis": "a longer warmup keeps it from diverging", "lr": "one two three"}'
    (edit,) = [edit for edit in edits_of(text, "json") if edit.kind == "comment reworded"]
    assert edit.text == text.replace("warmup keeps it from", "again keeps it attempt")


def test_values_are_nudged_in_their_notation() -> None:
    found = [changed(edit) for edit in edits_of(CONFIG, "yaml") if edit.kind == "value nudged"]
    assert found == [
        [("  lr: 0.02  # high on purpose", "  lr: 0.022  # high on purpose")],
        [("  steps: 300", "  steps: 330")],
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("8", "9"),
        ("300", "330"),
        ("0", "1"),
        ("-3", "-4"),
        ("0.02", "0.022"),
        ("1e-4", "1.1e-4"),
        ("2.5E6", "2.75E6"),
        (".5", "0.55"),
        ("0.0", "0.1"),
        ("adamw", None),
        ("1.2.3", None),
        ("9" * 5000, None),
        ("", None),
    ],
)
def test_a_number_goes_a_tenth_further(before: str, after: str | None) -> None:
    assert nudged(before) == after


def test_two_keys_side_by_side_change_places() -> None:
    # `name` has no scalar beside it, and a list is moved as a whole.
    assert texts(edits_of(CONFIG, "yaml"), "key moved") == [
        CONFIG.replace("lr: 0.02", "betas: [0.9, 0.95]", 1).replace(
            "  betas: [0.9, 0.95]\n  steps", "  lr: 0.02\n  steps"
        ),
        CONFIG.replace("  betas: [0.9, 0.95]\n  steps: 300", "  steps: 300\n  betas: [0.9, 0.95]"),
    ]
    text = '{\n  "lr": 0.1,\n  "steps": 3\n}\n'
    assert texts(edits_of(text, "json"), "key moved") == ['{\n  "steps": 3,\n  "lr": 0.1\n}\n']


def test_half_a_line_is_typed_where_a_key_stands() -> None:
    text = "lr: 0.001\n\n# note\nmodel:\n  dim: 256\n"
    assert texts(edits_of(text, "yaml"), "half a line typed") == [
        "lr: \n\n# note\nmodel:\n  dim: 256\n",
        "lr: 0.001\n\n# note\nmod\n  dim: 256\n",
        "lr: 0.001\n\n# note\nmodel:\n  dim:\n",
    ]


def test_edits_come_from_all_over_a_text() -> None:
    text = "".join(f"knob_{number}: {number}\n" for number in range(60))
    lines = [edit.line for edit in edits_of(text, "yaml", 4) if edit.kind == "value nudged"]
    assert lines == [1, 16, 31, 46]
    assert spaced("abcdefg", 3) == ["a", "c", "e"]
    assert spaced("ab", 3) == ["a", "b"]


def test_a_nudge_leaves_the_query_as_it_is() -> None:
    def asked(text: str) -> str:
        return drafts_of(parse(text, "yaml"), text)[0].query_text

    nudges = texts(edits_of(CONFIG, "yaml"), "value nudged")
    assert nudges
    assert {asked(text) for text in nudges} == {asked(CONFIG)}


@given(
    st.text(alphabet=st.sampled_from("ab:=# \n\"'{}[],-1.5e\t\r\\|>&*é𝄞"), max_size=120),
    st.sampled_from(sorted(LANGUAGES)),
)
def test_any_text_has_edits_that_change_it(text: str, language: str) -> None:
    edits = edits_of(text, language)
    assert edits == edits_of(text, language)
    assert all(edit.text != text for edit in edits)
    for kind in EDIT_KINDS:
        assert len(texts(edits, kind)) <= MOST_OF_A_KIND
    for moved in texts(edits, "key moved"):
        assert sorted(moved) == sorted(text)
    for typed in texts(edits, "half a line typed"):
        assert len(typed) < len(text)


def test_what_an_anchor_repeats_stands_in_one_place() -> None:
    text = "base: &base\n  lr: 0.1\n  steps: 3\nfirst:\n  <<: *base\nsecond:\n  <<: *base\n"
    moved = "base: &base\n  steps: 3\n  lr: 0.1\nfirst:\n  <<: *base\nsecond:\n  <<: *base\n"
    assert texts(edits_of(text, "yaml"), "key moved") == [moved]


@given(st.text(max_size=200))
def test_rewording_keeps_most_words(text: str) -> None:
    before, after = text.split(), reworded(text).split()
    assert len(before) == len(after)
    assert all(
        one == other or any(word in other for word in OTHER_WORDS) for one, other in zip(before, after, strict=True)
    )
