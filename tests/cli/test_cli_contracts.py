"""The three JSON contracts: every key, and values worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from tried.ranking import tokenize
from tried.ranking.policy import DEFAULT_POLICY

PARAMS = {"lr": 0.1, "depth": 4, "width": 64, "dropout": 0.0}
NOW = "2026-11-30T00:00:00Z"


def dead_end(record_id: str = "hot", lr: float = 0.9) -> dict[str, Any]:
    return {
        "id": record_id,
        "name": "hot start",
        "params": {**PARAMS, "lr": lr},
        "parent": "base",
        "timestamp": "2026-10-31T00:00:00Z",
        "derivation": {"from": "base", "changes": [{"change": "ParamChanged", "key": "lr", "from": 0.1, "to": lr}]},
        "metrics": {"loss": math.nan},
        "conclusion": {"outcome": "failed", "headline": "diverged"},
        "verdict": "dead_end",
    }


def base() -> dict[str, Any]:
    return {"id": "base", "name": "baseline", "params": PARAMS, "conclusion": {"outcome": "completed"}}


CONFIG = "# 😋 hot start\nlr: 0.9\ndepth: 4\nwidth: 64\ndropout: 0.0\n"


class TestRanking:
    def test_it_has_these_keys_and_no_others(self, tried: Runner) -> None:
        tried.journal(base(), dead_end())
        path = tried.write("config.yaml", CONFIG)

        report = tried("rank", path, "--now", NOW, "--json").json

        assert list(report) == ["schema", "now", "policy_id", "query", "results"]
        assert report["schema"] == "tried.ranking/v1"
        assert report["now"] == NOW
        assert report["policy_id"] == DEFAULT_POLICY.policy_id
        assert list(report["query"]) == ["text", "terms", "architecture"]
        assert report["query"]["terms"][:2] == ["hot", "start"]
        assert " ".join(report["query"]["terms"]) == " ".join(tokenize(report["query"]["text"]))
        assert report["query"]["architecture"] is None
        assert [list(result) for result in report["results"]] == [
            ["rank", "id", "name", "score", "dead_end", "terms"]
        ] * 2
        assert [(result["rank"], result["id"], result["dead_end"]) for result in report["results"]] == [
            (1, "hot", True),
            (2, "base", False),
        ]
        names = [[term["name"] for term in result["terms"]] for result in report["results"]]
        assert names == [["lexical", "structural", "recency", "importance"]] * 2
        assert all(
            set(t) <= {"name", "value", "signal", "weight", "note"} for r in report["results"] for t in r["terms"]
        )

    def test_values_are_those_of_the_formula(self, tried: Runner) -> None:
        """Structure does not apply: its 0.25 goes to the others in proportion. The record is one half-life old and
        the best match; importance is 0.3 + 0.2 for its conclusion + 0.1 for its derivation, raised to 0.6 or more."""
        tried.journal(base(), dead_end())

        result = tried("rank", "--text", "hot", "--now", NOW, "--json").json["results"][0]

        lexical, structural, recency, importance = result["terms"]
        assert lexical == {
            "name": "lexical",
            "signal": 1.0,
            "weight": pytest.approx(0.40 / 0.75, abs=1e-15),
            "value": pytest.approx(0.40 / 0.75, abs=1e-15),
        }
        assert structural == {
            "name": "structural",
            "value": 0.0,
            "signal": None,
            "weight": 0.0,
            "note": "the query has no architecture",
        }
        assert recency["signal"] == pytest.approx(0.5, abs=1e-12)
        assert importance["signal"] == pytest.approx(0.6, abs=1e-12)
        assert result["score"] == lexical["value"] + structural["value"] + recency["value"] + importance["value"]

    def test_floats_lose_nothing_on_the_way(self, tried: Runner) -> None:
        tried.journal({**base(), "timestamp": "2026-11-29T00:00:00Z"})

        result = tried("rank", "--text", "x", "--now", NOW, "--json").json["results"][0]

        assert result["terms"][2]["signal"] == math.exp(-math.log(2) * 1 / 30)

    def test_an_architecture_is_given_by_its_digest(self, tried: Runner) -> None:
        graph = {"digest": "abc", "nodes": {"a": "filter:ResNet"}, "edges": []}
        tried.journal({**base(), "architecture": graph})
        path = tried.write("fingerprint.json", json.dumps(graph))

        report = tried("rank", "--text", "x", "--architecture", path, "--now", NOW, "--json").json

        assert report["query"]["architecture"] == "abc"
        assert report["results"][0]["terms"][1]["signal"] == 1.0

    def test_filters_restrict_the_candidates(self, tried: Runner) -> None:
        tried.journal(
            {"id": "a", "research_line": "one", "tags": ["x", "y"], "source": "lab"},
            {"id": "b", "research_line": "two", "tags": ["x"], "source": "lab"},
            {"id": "c", "research_line": "one", "tags": ["y"]},
        )

        def ids(*options: str) -> list[str]:
            return [result["id"] for result in tried("rank", "--text", "a", "--json", *options).json["results"]]

        assert ids() == ["a", "b", "c"]
        assert ids("--limit", "1") == ["a"]
        assert ids("--research-line", "one") == ["a", "c"]
        assert ids("--tag", "x") == ["a", "b"]
        assert ids("--tag", "x", "--tag", "y") == ["a"]
        assert ids("--source", "lab") == ["a", "b"]
        assert ids("--source", "lab", "--research-line", "two") == ["b"]

    def test_the_same_input_gives_the_same_bytes(self, tried: Runner) -> None:
        tried.journal(base(), dead_end())
        path = tried.write("config.yaml", CONFIG)
        arguments = ("rank", path, "--now", NOW, "--json")

        assert tried(*arguments).out == tried(*arguments).out


class TestCheck:
    def test_it_has_these_keys_and_no_others(self, tried: Runner) -> None:
        tried.journal(base(), dead_end())
        tried.write("config.yaml", CONFIG)
        tried.write("package.json", '{"name": "x", "version": "1.0.0"}')

        result = tried("check", "config.yaml", "package.json", "--json")

        assert result.status == 1
        assert result.json == {
            "schema": "tried.check/v1",
            "files": [
                {
                    "path": "config.yaml",
                    "config": True,
                    "findings": [
                        {
                            "code": "repeat",
                            "evidence": "repeat",
                            "severity": "warning",
                            "line": 2,
                            "column": 5,
                            "end_line": 2,
                            "end_column": 8,
                            "message": "ran before: diverged (hot)",
                            "record": "hot",
                            "records": ["hot"],
                            "blamed": ["lr"],
                        }
                    ],
                },
                {"path": "package.json", "config": False, "findings": []},
            ],
        }

    def test_columns_count_characters_whatever_their_bytes(self, tried: Runner) -> None:
        tried.journal({**base(), "params": {**PARAMS, "😋漢": 1}}, dead_end())
        tried.write("config.json", '{"😋漢": 1, "lr": 0.9, "depth": 4, "width": 64, "dropout": 0.0}')

        finding = tried("check", "config.json", "--json").json["files"][0]["findings"][0]

        # Before the value stand {"😋漢": 1, "lr": and a space: 16 characters.
        assert (finding["line"], finding["column"], finding["end_column"]) == (1, 17, 20)

    def test_several_files_keep_their_order(self, tried: Runner) -> None:
        tried.journal(base())
        for name in ("b.yaml", "a.yaml"):
            tried.write(name, CONFIG)

        files = tried("check", "b.yaml", "a.yaml", "--json").json["files"]

        assert [file["path"] for file in files] == ["b.yaml", "a.yaml"]


class TestPool:
    def test_it_has_these_keys_and_no_others(self, tried: Runner) -> None:
        path = tried.journal(base(), dead_end())
        with path.open("a") as file:
            file.write("{broken\n")

        report = tried("pool", "--json").json

        (source,) = report["sources"]
        assert report == {
            "schema": "tried.pool/v1",
            "sources": [
                {
                    "path": str(path),
                    "name": ".tried/pool.jsonl",
                    "kind": "journal",
                    "records": 2,
                    "dead_ends": 1,
                    "merged": 0,
                    "amendments": 0,
                    "roles": {},
                    "research_line": None,
                    "skipped": [{"where": "line 3", "why": source["skipped"][0]["why"]}],
                    "coverage": {"conclusion": 1.0, "lineage": 0.5, "architecture": 0.0, "timestamp": 0.5},
                    "newest": "2026-10-31T00:00:00Z",
                    "seconds": source["seconds"],
                    "expected": None,
                }
            ],
            "notes": [],
            "consents": [],
            "totals": {
                "records": 2,
                "dead_ends": 1,
                "coverage": {"conclusion": 1.0, "lineage": 0.5, "architecture": 0.0, "timestamp": 0.5},
            },
        }
        assert 0 <= source["seconds"] < 60
        assert report["sources"][0]["skipped"][0]["why"].startswith("not valid JSON")

    def test_an_empty_pool_is_a_report_too(self, tried: Runner) -> None:
        report = tried("pool", "--json").json

        assert report["sources"] == []
        assert report["totals"]["records"] == 0


def test_what_conclude_wrote_has_these_keys_and_no_others(tried: Runner) -> None:
    path = tried.journal(base(), dead_end())

    report = tried("conclude", "hot", "  too   hot ", "--dead-end", "--json").json
    written = json.loads(path.read_text().splitlines()[-1])

    assert report == {
        "schema": "tried.conclude/v1",
        "path": str(path),
        "id": written["id"],
        "amends": "hot",
        "verdict": "dead_end",
        "headline": "too hot",
        "timestamp": written["timestamp"],
    }
    bare = tried("conclude", "hot", "--works", "--json").json
    assert (bare["verdict"], bare["headline"]) == ("works", None)
    assert tried("conclude", "hot", "why", "--json").json["verdict"] is None


def test_non_finite_numbers_are_text(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    from tried.pool.record import ExperimentRecord
    from tried.ranking import ScoreComponents, ScoredRecord, Term
    from tried.render.reports import ranking_report
    from tried.settings.requested_policy import RequestedPolicy

    terms = (Term("lexical", math.nan, math.inf, -math.inf),)
    scored = ScoredRecord(ExperimentRecord(id="a"), math.nan, ScoreComponents(), terms)

    requested = RequestedPolicy("default", DEFAULT_POLICY)
    report = ranking_report(None, [scored], datetime(2026, 1, 1, tzinfo=UTC), requested=requested)

    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["results"][0]["score"] == "nan"
    assert report["results"][0]["terms"] == [{"name": "lexical", "value": "nan", "signal": "inf", "weight": "-inf"}]
    assert report["query"] == {"text": "", "terms": [], "architecture": None}
