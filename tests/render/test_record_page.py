"""One record as JSON and as a page: what stands there, and that nothing of a hostile record is more than text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markdown_tokens import PARSER, kinds, shown

from tried.analysis import analyse, finding_settings, rank_of_in
from tried.related.record_view import RecordView, record_view
from tried.render.document import Block, Code, Heading, Paragraph, Text, to_markdown, to_plain
from tried.render.record_page import record_page
from tried.render.record_reports import record_view_report
from tried.workspace import Workspace

NOW = datetime(2026, 11, 30, tzinfo=UTC)
CONFIG = "lr: 0.05\ndepth: 4\n"
PARENT = {
    "id": "exp-1",
    "name": "baseline",
    "research_line": "vision",
    "params": {"lr": 0.01, "depth": 4},
    "metrics": {"val_acc": 0.9},
    "objective": "val_acc",
    "conclusion": {"outcome": "completed"},
    "timestamp": "2026-11-01T00:00:00Z",
}
CHILD = {
    "id": "exp-2",
    "name": "higher learning rate",
    "parent": "exp-1",
    "research_line": "vision",
    "params": {"lr": 0.1, "depth": 4, "seed": 1},
    "metrics": {"val_acc": 0.25, "epoch": 3},
    "objective": "val_acc",
    "timestamp": "2026-11-09T12:00:00Z",
    "duration": 90.5,
    "verdict": "dead_end",
    "tags": ["night", "gpu"],
    "url": "https://example.org/runs/2",
    "hypothesis": "faster",
    "notes": "first line\nsecond line",
    "conclusion": {"headline": "collapses after warmup", "outcome": "completed"},
}


def view(folder: Path, *records: dict[str, Any], of: str = "exp-2", config: str | None = CONFIG) -> RecordView:
    journal = folder / ".tried" / "pool.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    workspace = Workspace(folder)
    snapshot = workspace.refresh()
    record = snapshot.get(of)
    assert record is not None
    if config is None:
        return record_view(record, snapshot, finding_settings(workspace.settings))
    analysis = analyse(
        config, folder / "config" / "a.yaml", "yaml", NOW, snapshot=snapshot, settings=workspace.settings, folder=folder
    )
    assert analysis.query is not None
    ranked = rank_of_in(snapshot, analysis.query, NOW, workspace.settings, record.id)
    return record_view(record, snapshot, finding_settings(workspace.settings), analysis.drafts, ranked)


def test_the_report_of_a_record(tmp_path: Path) -> None:
    shown_view = view(tmp_path, PARENT, CHILD)
    report = record_view_report(shown_view, NOW, run_dir=tmp_path, document="file:///a.yaml", version=7)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    breakdown, plots, replicates = report.pop("breakdown"), report.pop("plots"), report.pop("replicates")
    metrics = report.pop("metrics")
    assert report == {
        "schema": "tried.record-view/v1",
        "id": "exp-2",
        "short": "exp-2",
        "aliases": [],
        "name": "higher learning rate",
        "headline": {"text": "collapses after warmup", "kind": "written"},
        "outcome": "dead_end",
        "verdict": "dead_end",
        "cause": "worse",
        "error": None,
        "hypothesis": "faster",
        "notes": "first line\nsecond line",
        "tags": ["night", "gpu"],
        "research_line": "vision",
        "time": "2026-11-09T12:00:00Z",
        "age": "2 weeks ago",
        "duration_seconds": 90.5,
        "url": "https://example.org/runs/2",
        "source": {"kind": "journal", "name": "journal"},
        "run_dir": tmp_path.as_uri(),
        "document": "file:///a.yaml",
        "version": 7,
        "parameters": [
            {"key": "lr", "record": "0.1", "draft": "0.05", "status": "differs"},
            {"key": "depth", "record": "4", "draft": "4", "status": "equal"},
            {"key": "seed", "record": "1", "draft": None, "status": "not_compared"},
        ],
        "parameters_total": 3,
        "change": {
            "summary": "lr 0.01 → 0.1; val_acc 0.9 → 0.25 (worse)",
            "changes": ["lr: 0.01 → 0.1"],
        },
        "lineage": {
            "ancestors": [{"id": "exp-1", "short": "exp-1", "outcome": "works", "headline": "baseline"}],
            "children": [],
            "children_total": 0,
        },
        "conclusion": {"prefill": "", "verdict": "dead_end"},
    }
    assert replicates == {
        "runs": 1,
        "result": {"metric": "val_acc", "direction": "max", "mean": 0.25, "spread": None, "count": 1, "text": "0.25"},
        "records": [{"id": "exp-2", "time": "2026-11-09T12:00:00Z", "value": 0.25}],
    }
    assert metrics[0] == {
        "name": "val_acc",
        "value": 0.25,
        "before": 0.9,
        "delta": 0.25 - 0.9,
        "direction": "max",
        "is_objective": True,
        "is_better": False,
    }
    assert plots == [
        {
            "key": "lr",
            "metric": "val_acc",
            "direction": "max",
            "scale": "log",
            "categories": None,
            "draft": 0.05,
            "draft_text": "0.05",
            "record": 0.1,
            "points": [
                {"record": "exp-1", "short": "exp-1", "x": 0.01, "y": 0.9, "outcome": "works", "is_this": False},
                {"record": "exp-2", "short": "exp-2", "x": 0.1, "y": 0.25, "outcome": "dead_end", "is_this": True},
            ],
        }
    ]
    assert breakdown["rank"] in (1, 2)
    assert breakdown["score"] == pytest.approx(sum(term["value"] for term in breakdown["terms"]))
    assert [term["name"] for term in breakdown["terms"]] == ["lexical", "structural", "recency", "importance"]


def test_numbers_that_json_lacks_are_words(tmp_path: Path) -> None:
    child = CHILD | {"metrics": {"val_acc": "nan", "val_loss": "inf"}}
    report = record_view_report(view(tmp_path, PARENT, child), NOW)
    assert [(row["name"], row["value"]) for row in report["metrics"]] == [("val_acc", "nan"), ("val_loss", "inf")]
    json.dumps(report, allow_nan=False)


def test_the_page_beside_a_config_begins_with_what_differs(tmp_path: Path) -> None:
    page = to_markdown(record_page(view(tmp_path, PARENT, CHILD), NOW, beside="a.yaml"))
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings[:7] == [
        "# ✗ exp-2",
        "## Beside `a.yaml`",
        "### Equal: 1 parameter",
        "### Not compared",
        "## Hypothesis",
        "## Notes",
        "## Metrics",
    ]
    assert "| `lr` | `0.05` | `0.1` |" in " ".join(page.split())
    assert "[Open the run](https://example.org/runs/2)" in page
    assert "- lr: 0.01 → 0.1" in page
    assert "dead end · higher learning rate · 2 weeks ago (2026-11-09) · in `vision` · night, gpu" in page


def test_the_page_alone_lists_the_parameters(tmp_path: Path) -> None:
    page = to_markdown(record_page(view(tmp_path, PARENT, CHILD, of="exp-1", config=None), NOW))
    assert page.startswith("# ✓ exp-1\n\n")
    assert "## Parameters" in page
    assert "Beside" not in page
    assert "- ✗ `exp-2` collapses after warmup" in page


def test_headings_hold_no_markup_and_do_not_end_early() -> None:
    blocks: list[Block] = [Heading((Text("# a *b*"), Code("c`d"), Text("e ##")), 2), Paragraph((Text("f"),))]
    markdown = to_markdown(blocks)
    assert shown(markdown) == "# a *b* c`d e ##f"
    assert kinds(markdown) <= ALLOWED
    assert to_plain(blocks) == "# a *b* c`d e ##\n\nf"


ATTACKS = [
    "[click](command:workbench.action.terminal.new)",
    "![x](https://evil.example/p.png)",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "<https://evil.example> https://evil.example www.evil.example a@evil.example",
    "\u202etxt.exe\u2066\u200b\u0007\x1b[31mred\x1b]8;;https://evil.example\x07",
    "# heading\n\n- item\n> quote\n```sh\nrm -rf ~\n```\n| a | b |\n|---|---|\n[x]: https://evil.example\n---\n",
    "**bold** _it_ ~~s~~ `code` &lt;b&gt; \\",
]
ALLOWED = {
    *("heading_open", "heading_close", "paragraph_open", "paragraph_close", "inline", "text", "text_special"),
    *("strong_open", "strong_close", "code_inline", "bullet_list_open", "bullet_list_close"),
    *("list_item_open", "list_item_close", "table_open", "table_close", "thead_open", "thead_close"),
    *("tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close", "td_open", "td_close"),
}


def hostile(attack: str, size: int) -> dict[str, Any]:
    """Every text that a record may hold."""
    text = (attack * (size // len(attack) + 1))[:size]
    return {
        "id": "exp-2",
        "name": text,
        "parent": "exp-1",
        "research_line": text[:5000],
        "params": {"lr": 0.1, text: text, "depth": text, **{f"k{number}{attack}": text for number in range(20)}},
        "metrics": {"val_acc": 0.2, text: 1.0},
        "objective": "val_acc",
        "timestamp": text,
        "tags": [text, attack] * 30,
        "url": f"command:{text}",
        "hypothesis": text,
        "notes": text,
        "error": text,
        "aliases": [text],
        "run_dir": text,
        "generated_headline": text,
        "conclusion": {"headline": text, "outcome": "failed"},
        "derivation": {
            "from": "exp-1",
            "summary": text,
            "changes": [
                {"change": "ParamChanged", "key": text, "from": text, "to": text},
                {"change": text, "reason": text},
                {"change": "Unspecified", "reason": text},
            ],
        },
        "git": {"commit": text},
    }


def strings_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from strings_in(item, f"{path}.{key}")
    elif isinstance(value, list):
        for item in value:
            yield from strings_in(item, path)
    elif isinstance(value, str):
        yield path, value


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("size", [400, 100_000])
def test_a_hostile_record_is_text_and_clipped(tmp_path: Path, attack: str, size: int) -> None:
    shown_view = view(tmp_path, PARENT, hostile(attack, size))
    report = record_view_report(shown_view, NOW)
    assert report["url"] is None
    for path, text in strings_in(report):
        assert len(text) <= (20_000 if path in (".notes", ".hypothesis", ".error") else 500), path
        bad = [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")]
        assert not bad, path
        assert "\n" not in text or path in (".notes", ".hypothesis", ".error"), path
    page = to_markdown(record_page(shown_view, NOW, beside=attack))
    assert len(page) < 200_000
    assert kinds(page) <= ALLOWED
    for token in PARSER.parse(page):
        for child in token.children or ():
            assert child.type not in ("link_open", "html_inline", "image"), child
    for character in page:
        assert character == "\n" or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Zl", "Zp")
