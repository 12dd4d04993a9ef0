"""What a hover shows: the reason first, then when, what differs, the run, and the breakdown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from markdown_tokens import kinds, tokens_of

from tried.draft.draft import Component
from tried.draft.entries import Entry
from tried.findings.finding import Difference, Finding
from tried.findings.key_history import BestResult, KeyHistory, TurnedTo, ValueHistory
from tried.pool.history.parameter_history import ParameterHistory
from tried.pool.pool import PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.ranking import ScoreComponents, ScoredRecord, Term
from tried.render import (
    breakdown_table,
    component_markdown,
    finding_blocks,
    finding_markdown,
    key_markdown,
    run_link,
    to_plain,
)
from tried.render.document import to_markdown
from tried.render.hover import untried_key_blocks
from tried.render.words import bar, counted, number, when
from tried.text import Span

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

FINDING = Finding(
    code="dead-end",
    evidence="move",
    severity="warning",
    span=Span(0, 3),
    message="lr 0.9: diverged (EXP-7)",
    record="EXP-7",
    records=("EXP-7", "EXP-3"),
    blamed=("lr",),
    cause="diverged",
    why=("The loss became NaN.", "Warm-up did not help."),
    differences=(Difference("depth", "4", "6"), Difference("dropout", "0.1", None), Difference("width", None, "64")),
    contradicted_by=(),
)
TERMS = (
    Term("lexical", 0.5, 1.0, 0.5),
    Term("structural", 0.0, None, 0.0, "the query has no architecture"),
    Term("recency", 0.125, 0.5, 0.25),
    Term("importance", 0.15, 0.6, 0.25),
)


def snapshot_of(*records: ExperimentRecord) -> PoolSnapshot:
    return PoolSnapshot(
        records={record.id: record for record in records}, history=ParameterHistory.empty().updated((), records)
    )


def record_of(**fields: object) -> ExperimentRecord:
    return ExperimentRecord.model_validate({"id": "EXP-7", "timestamp": "2026-11-09T08:00:00Z", **fields})


def scored(record: ExperimentRecord) -> ScoredRecord:
    return ScoredRecord(record, 0.775, ScoreComponents(), TERMS)


def test_a_finding_from_its_reason_to_its_breakdown() -> None:
    record = record_of(name="hot start", url="https://runs.example/7")

    assert finding_markdown(FINDING, snapshot_of(record), scored(record), now=NOW) == (
        "**The loss became NaN.**\n"
        "\n"
        "Warm-up did not help.\n"
        "\n"
        "`EXP-7` hot start · 3 weeks ago (2026-11-09) · diverged\n"
        "\n"
        "What differs:\n"
        "\n"
        "- `depth` `4` here, `6` there\n"
        "- `dropout` `0.1` here, not set there\n"
        "- `width` not set here, `64` there\n"
        "\n"
        "[Open the run](https://runs.example/7)\n"
        "\n"
        "|            |     value |                  | signal | weight |                               |\n"
        "| ---------- | --------: | ---------------- | -----: | -----: | ----------------------------- |\n"
        "| lexical    |     0.500 | ██████████       |  1.000 |  0.500 |                               |\n"
        "| structural |     0.000 |                  |      – |  0.000 | the query has no architecture |\n"
        "| recency    |     0.125 | ██▌              |  0.500 |  0.250 |                               |\n"
        "| importance |     0.150 | ███              |  0.600 |  0.250 |                               |\n"
        "| **score**  | **0.775** | ███████████████▌ |        |        |                               |\n"
        "\n"
        "Rests on 2 runs: `EXP-7`, `EXP-3`"
    )


def test_without_a_reason_the_message_comes_first() -> None:
    assert finding_markdown(replace(FINDING, why=()), snapshot_of()).startswith("**lr 0.9: diverged (EXP-7)**\n")


def test_a_record_that_left_the_pool_is_still_named() -> None:
    assert "`EXP-7` · diverged" in finding_markdown(FINDING, snapshot_of(), now=NOW)


def test_a_repeat_without_differences_says_so() -> None:
    repeat = replace(FINDING, code="repeat", evidence="repeat", differences=())

    assert "No compared parameter differs." in finding_markdown(repeat, snapshot_of())


def test_long_lists_are_cut_and_say_so() -> None:
    many = replace(
        FINDING,
        differences=tuple(Difference(f"k{number}", "1", "2") for number in range(11)),
        records=tuple(f"EXP-{number}" for number in range(9)),
        why=("x" * 5000,),
    )
    shown = finding_markdown(many, snapshot_of())

    assert "- … and 3 more" in shown
    assert "Rests on 9 runs: `EXP-0`, `EXP-1`, `EXP-2`, `EXP-3`, `EXP-4`, `EXP-5`, …" in shown
    assert len(shown) < 1000


def test_contradicting_runs_are_named() -> None:
    assert "No dead end in 1 run: `EXP-9`" in finding_markdown(
        replace(FINDING, contradicted_by=("EXP-9",)), snapshot_of()
    )


def test_a_client_without_markdown_gets_plain_text() -> None:
    text = to_plain(finding_blocks(FINDING, snapshot_of(record_of(url="https://runs.example/7")), now=NOW))

    assert text.startswith("The loss became NaN.\n\nWarm-up did not help.\n\nEXP-7 · 3 weeks ago (2026-11-09)")
    assert "- depth 4 here, 6 there\n" in text
    assert "Open the run (https://runs.example/7)" in text
    assert "**" not in text
    assert "`" not in text


class TestRunLink:
    def test_the_address_on_the_web_comes_first(self) -> None:
        link = run_link(record_of(url="https://runs.example/7", run_dir="runs/7"), Path("/w"))

        assert link is not None
        assert link.url == "https://runs.example/7"

    @pytest.mark.parametrize("url", ["command:x", "file:///etc/passwd", "javascript:x", "runs/7", ""])
    def test_other_addresses_are_not_followed(self, url: str) -> None:
        assert run_link(record_of(url=url), Path("/w")) is None

    def test_a_folder_in_the_workspace_is_linked(self) -> None:
        link = run_link(record_of(run_dir="runs/a b"), Path("/w"))

        assert link is not None
        assert (link.text, link.url) == ("Open runs/a b", "file:///w/runs/a%20b")

    @pytest.mark.parametrize("run_dir", ["/etc", "../other", "runs/../../x", "//server/share", "a\x00b"])
    def test_a_folder_elsewhere_is_not(self, run_dir: str) -> None:
        assert run_link(record_of(run_dir=run_dir), Path("/w")) is None


class TestKey:
    HISTORY = KeyHistory(
        key="optimizer.lr",
        draft="0.3",
        research_line="line",
        runs=5,
        values=(
            ValueHistory("0.1", False, 4, 1, 0, 3, BestResult("val_loss", 0.912361, "EXP-4"), ("EXP-5", "EXP-4")),
            ValueHistory("0.9", False, 1, 1, 0, 0, None, ("EXP-7",)),
        ),
        tried=False,
        turned=(TurnedTo("0.02", "worse, val_loss 0.91 → 0.95", "EXP-8"),),
    )

    def test_values_outcomes_and_the_best_objective(self) -> None:
        assert key_markdown(self.HISTORY) == (
            "`optimizer.lr` in `line` · 5 runs\n"
            "\n"
            "`0.3` **has never been tried.**\n"
            "\n"
            "| value | runs | worked | dead ends | best val_loss   | latest  |\n"
            "| ----- | ---: | -----: | --------: | --------------- | ------- |\n"
            "| `0.1` |    4 |      3 |         1 | 0.91236 `EXP-4` | `EXP-5` |\n"
            "| `0.9` |    1 |      0 |         1 |                 | `EXP-7` |\n"
            "\n"
            "From `0.3` turned to:\n"
            "\n"
            "- `0.02` worse, val_loss 0.91 → 0.95 · `EXP-8`"
        )

    def test_dead_ends_of_this_very_change_are_told_apart(self) -> None:
        value = replace(self.HISTORY.values[0], runs=7, dead_ends=5, by_this=1)

        assert "|    7 |      3 | 5 (1 by this change) |" in key_markdown(replace(self.HISTORY, values=(value,)))

    def test_long_ids_do_not_widen_the_table(self) -> None:
        table, row = "results-table:results.tsv:", self.HISTORY.values[0]
        value = replace(row, best=BestResult("bpb", 0.9, table + "fa14910"), records=(table + "0a1b2c3",))

        assert key_markdown(replace(self.HISTORY, values=(value,), turned=())).splitlines()[-1] == (
            "| `0.1` |    4 |      3 |         1 | 0.9 `…:fa14910` | `…:0a1b2c3` |"
        )

    def test_the_value_that_stands_here_is_marked(self) -> None:
        here = replace(self.HISTORY, tried=True, values=(replace(self.HISTORY.values[0], is_draft=True),))
        shown = key_markdown(here)

        assert "| `0.1` **← here** |" in shown
        assert "never been tried" not in shown

    def test_another_line_is_no_ground_to_say_never(self) -> None:
        shown = key_markdown(replace(self.HISTORY, own=False, missing_in="birds"))

        assert shown.startswith(
            "`optimizer.lr` in `line` · 5 runs\n\n"
            "No run of `birds` sets a key of this name.\n\n"
            "`0.3` was not tried there.\n"
        )
        assert "never" not in shown

    def test_many_values_are_cut(self) -> None:
        value = self.HISTORY.values[1]
        shown = key_markdown(replace(self.HISTORY, values=tuple(replace(value, text=f"{n}") for n in range(13))))

        assert shown.count("`EXP-7`") == 10
        assert "… and 3 other values" in shown

    def test_a_key_that_nobody_ever_set(self) -> None:
        assert to_markdown(untried_key_blocks("beta")) == "`beta` **has never been tried:** no run sets it."


class TestComponent:
    COMPONENT = Component("model", "ResNet", "filter:ResNet", Entry(("model",), "x", None, Span(0, 1)))

    def test_how_often_it_was_tried_and_how_that_ended(self) -> None:
        graph = {"nodes": {"a": "filter:ResNet"}, "edges": []}
        bad = record_of(architecture=graph, verdict="dead_end", conclusion={"headline": "too deep"})
        good = record_of(id="EXP-8", architecture=graph, verdict="works", timestamp=None)
        other = record_of(id="EXP-9", architecture={"nodes": {"a": "filter:Mamba"}, "edges": []})
        snapshot = snapshot_of(bad, good, other)

        assert component_markdown(self.COMPONENT, snapshot, map(scored, (other, good, bad)), now=NOW) == (
            "**ResNet** · `filter:ResNet`\n"
            "\n"
            "2 runs with it; 1 ended badly.\n"
            "\n"
            "- ✓ `EXP-8`\n"
            "- ✗ `EXP-7` · 3 weeks ago (2026-11-09) · too deep"
        )

    def test_one_that_was_never_tried(self) -> None:
        assert "No run with a recorded architecture has it." in component_markdown(self.COMPONENT, snapshot_of())


def test_a_breakdown_without_notes_has_no_column_for_them() -> None:
    table = breakdown_table((Term("lexical", 0.25, 0.5, 0.5), Term("decay_penalty", -0.05, None, None)), 0.2)

    assert table.splitlines()[2:] == [
        "| lexical       |     0.250 | █████ |  0.500 |  0.500 |",
        "| decay_penalty |    -0.050 | −█    |      – |      – |",
        "| **score**     | **0.200** | ████  |        |        |",
    ]


def test_terms_that_a_policy_turns_on_stand_behind_the_four() -> None:
    terms = (
        Term("lexical", 0.4, 1.0, 0.4),
        Term("structural", 0.0, None, 0.0, "the query has no architecture"),
        Term("lexical_bonus", 0.05, None, None),
        Term("hit_boost", 0.025, None, None),
        Term("decay_penalty", -0.0, None, None, "the record has no timestamp"),
    )
    table = breakdown_table(terms, 0.475)

    assert table.splitlines()[2:] == [
        "| lexical       |     0.400 | ████████   |  1.000 |  0.400 |                               |",
        "| structural    |     0.000 |            |      – |  0.000 | the query has no architecture |",
        "| lexical_bonus |     0.050 | █          |      – |      – |                               |",
        "| hit_boost     |     0.025 | ▌          |      – |      – |                               |",
        "| decay_penalty |     0.000 |            |      – |      – | the record has no timestamp   |",
        "| **score**     | **0.475** | █████████▌ |        |        |                               |",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [(None, "–"), (0.25, "0.250"), (-0.0, "0.000"), (-0.0004, "0.000"), (-0.05, "-0.050"), (1e300, "1e+300")],
)
def test_a_number_fits_into_a_column(value: float | None, expected: str) -> None:
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, ""),
        (1.0, "█" * 20),
        (0.05, "█"),
        (0.075, "█▌"),
        (0.00625, "▏"),
        (0.001, ""),
        (-0.05, "−█"),
        (7.0, "█" * 20),
    ],
)
def test_a_bar_is_twenty_cells_a_point(value: float, expected: str) -> None:
    assert bar(value) == expected


@pytest.mark.parametrize(
    ("ago", "expected"),
    [
        (timedelta(seconds=59), "just now (2026-11-30)"),
        (timedelta(minutes=1), "1 min ago (2026-11-30)"),
        (timedelta(minutes=5), "5 min ago (2026-11-30)"),
        (timedelta(hours=3), "3 h ago (2026-11-30)"),
        (timedelta(days=1, hours=1), "yesterday (2026-11-29)"),
        (timedelta(days=13), "13 days ago (2026-11-17)"),
        (timedelta(days=14), "2 weeks ago (2026-11-16)"),
        (timedelta(days=61), "2 months ago (2026-09-30)"),
        (timedelta(days=365), "12 months ago (2025-11-30)"),
        (timedelta(days=800), "2 years ago (2024-09-21)"),
        (timedelta(days=-2), "2026-12-02"),
    ],
)
def test_ages_are_in_the_units_that_people_use(ago: timedelta, expected: str) -> None:
    assert when(record_of(timestamp=(NOW - ago).isoformat()), NOW) == expected


def test_a_date_alone_has_no_hours() -> None:
    assert when(record_of(timestamp="2026-11-30"), NOW) == "today (2026-11-30)"
    assert when(record_of(timestamp="2026-11-30"), None) == "2026-11-30"
    assert when(record_of(timestamp="soon"), NOW) == ""


def test_numbers_and_counts() -> None:
    assert (number(None), number(0.12345), number(0.4, 1)) == ("–", "0.123", "0.4")
    assert (counted(1, "run"), counted(1234, "run"), counted(0, "dead end")) == ("1 run", "1,234 runs", "0 dead ends")


HOSTILE = "[x](command:evil) <img src=x onerror=alert(1)> `|` **b** \x1b[31m &lt; \u202e| end"


def test_nothing_from_data_becomes_markup() -> None:
    record = ExperimentRecord.model_validate(
        {"id": HOSTILE, "name": HOSTILE, "url": "command:evil", "conclusion": {"headline": HOSTILE}}
    )
    hostile = Finding(
        "dead-end",
        "near",
        "warning",
        Span(0, 1),
        HOSTILE,
        HOSTILE,
        (HOSTILE, HOSTILE),
        (HOSTILE,),
        why=(HOSTILE, HOSTILE),
        differences=(Difference(HOSTILE, HOSTILE, HOSTILE),),
        contradicted_by=(HOSTILE,),
    )
    history = KeyHistory(
        HOSTILE,
        HOSTILE,
        HOSTILE,
        1,
        (ValueHistory(HOSTILE, True, 1, 0, 0, 1, BestResult(HOSTILE, 1.0, HOSTILE), (HOSTILE,)),),
        False,
        (TurnedTo(HOSTILE, HOSTILE, HOSTILE),),
    )
    term = Term(HOSTILE, 0.1, 0.1, 1.0, HOSTILE)
    shown = [
        finding_markdown(hostile, snapshot_of(record), ScoredRecord(record, 0.1, ScoreComponents(), (term,)), now=NOW),
        key_markdown(history),
        component_markdown(
            Component("c", HOSTILE, HOSTILE, Entry((), "x", None, Span(0, 1))), snapshot_of(record), now=NOW
        ),
    ]

    for markdown in shown:
        assert not kinds(markdown) & {"link_open", "image", "html_inline", "html_block", "em_open", "s_open"}
        contents = " ".join(token.content for token in tokens_of(markdown) if token.type != "inline")
        assert "[x](command:evil) <img src=x onerror=alert(1)> `|` **b** [31m &lt; | end" in contents
        assert not {"\x1b", "\u202e"} & set(markdown)
