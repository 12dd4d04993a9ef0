"""Policies on the command line: listed, tried out for one request, and what is said of mistakes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from cli_runner import Runner

from tried.ranking.policy import DEFAULT_POLICY, STEADY, knobs, policy_json, with_overrides
from tried.storage.hits import record_hit

NOW = "2026-11-30T00:00:00Z"
PARAMS = {"lr": 0.1, "depth": 4, "width": 64, "dropout": 0.0}
CONFIG = "# focal loss\nlr: 0.1\ndepth: 4\nwidth: 64\ndropout: 0.0\n"


def run(record_id: str, name: str, date: str | None) -> dict[str, Any]:
    return {"id": record_id, "name": name, "params": PARAMS, "timestamp": f"{date}T00:00:00Z" if date else None}


POOL = (run("EXP-1", "focal loss", "2026-01-01"), run("EXP-2", "mixup", "2026-11-29"), run("EXP-3", "mixup", None))
"""EXP-1 is 333 days old and has the config's words; EXP-2 is a day old; EXP-3 has no age."""


@pytest.fixture
def config(tried: Runner) -> Path:
    tried.journal(*POOL)
    tried.write("tried.toml", "[policies.recent]\nhalf_life_days = 7\nweights.recency = 0.9\n")
    return tried.write("config.yaml", CONFIG)


class TestPolicies:
    def test_the_list_says_which_is_active_and_what_each_changes(self, tried: Runner, config: Path) -> None:
        lines = tried("policies").lines
        assert lines[0] == f"* default  {DEFAULT_POLICY.policy_id}  as tried comes"
        assert lines[1] == (
            f"  steady   {STEADY.policy_id}"
            "  lexical_bonus.enabled true, hit_boost.enabled true, decay_penalty.enabled true"
        )
        assert lines[2].split()[0] == "recent"
        assert lines[2].endswith("  weights.recency 0.9, half_life_days 7")

    @pytest.mark.parametrize(
        ("ranking", "active", "told"),
        [
            ("", "default", "* is active: the settings name no other (ranking.policy); "),
            ('policy = "recent"', "recent", "* is active: the settings name it (ranking.policy); "),
            ('policy = "recnt"', "default", "* is active, since there is no recnt (ranking.policy); "),
        ],
    )
    def test_it_says_why_one_is_active(self, tried: Runner, config: Path, ranking: str, active: str, told: str) -> None:
        tried.write("tried.toml", f"[ranking]\n{ranking}\n[policies.recent]\nhalf_life_days = 7\n")
        lines = tried("policies").lines
        assert [line.split()[1] for line in lines if line.startswith("* ")] == [active, "is"]
        assert lines[-1] == f"{told}`tried policies NAME` shows all knobs"

    def test_knobs_of_terms_that_are_off_are_remarked_upon(self, tried: Runner, config: Path) -> None:
        tried.write(
            "tried.toml",
            "[policies.idle]\nhit_boost = { tau_days = 3, weight = 0.2 }\n"
            "[policies.kept]\nhit_boost = { tau_days = 3, enabled = false }\n"
            "[policies.used]\nhit_boost = { tau_days = 3, enabled = true }\n",
        )
        assert tried("policies", "idle").err == (
            "tried: policy idle: hit_boost.tau_days and hit_boost.weight are set, but hit_boost is off:"
            " hit_boost.enabled=true turns it on\n"
        )
        for quiet in (["policies", "kept"], ["policies", "used"], ["policies", "steady"], ["policies"]):
            assert tried(*quiet).err == ""

    def test_one_with_every_knob(self, tried: Runner, config: Path) -> None:
        out = tried("policies", "recent").lines
        assert out[0].startswith("recent  ")
        told = {line.split()[0]: line.split()[1] for line in out[1:]}
        assert set(told) == set(knobs())
        assert told["half_life_days"] == "7"
        assert told["weights.recency"] == "0.9"
        assert told["weights.lexical"] == "0.4"
        assert told["hit_boost.enabled"] == "false"
        assert told["ttl_days"] == "none"
        assert next(line for line in out if "half_life_days" in line).endswith("(default 30)")
        assert "(default" not in next(line for line in out if "weights.lexical" in line)

    def test_json(self, tried: Runner, config: Path) -> None:
        report = tried("policies", "--json").json
        assert list(report) == ["schema", "active", "policies"]
        assert (report["schema"], report["active"]) == ("tried.policies/v1", "default")
        assert [each["name"] for each in report["policies"]] == ["default", "steady", "recent"]
        assert [each["is_active"] for each in report["policies"]] == [True, False, False]
        assert [each["is_preset"] for each in report["policies"]] == [True, True, False]
        assert [each["policy_id"] for each in report["policies"][:2]] == [DEFAULT_POLICY.policy_id, STEADY.policy_id]
        assert report["policies"][1]["policy"] == policy_json(STEADY)
        assert report["policies"][2]["policy"]["half_life_days"] == 7.0

    def test_the_active_one_is_that_of_the_settings(self, tried: Runner, config: Path) -> None:
        tried.write("tried.toml", '[ranking]\npolicy = "steady"\n')
        assert tried("policies", "--json").json["active"] == "steady"
        assert tried("rank", config, "--now", NOW, "--json").json["policy_id"] == STEADY.policy_id

    def test_one_that_there_is_not(self, tried: Runner, config: Path) -> None:
        result = tried("policies", "stedy")
        assert (result.status, result.out) == (2, "")
        assert "stedy" in result.err
        assert "did you mean steady?" in result.err


class TestRank:
    def test_by_another_policy_which_is_told_in_full(self, tried: Runner, config: Path) -> None:
        report = tried("rank", config, "--now", NOW, "--policy", "steady", "--json").json
        assert list(report) == ["schema", "now", "policy_id", "policy", "query", "results"]
        assert report["policy_id"] == STEADY.policy_id
        assert report["policy"] == {"name": "steady", "policy_id": STEADY.policy_id, **policy_json(STEADY)}
        names = [term["name"] for term in report["results"][0]["terms"]]
        assert names == [
            "lexical",
            "structural",
            "recency",
            "importance",
            "lexical_bonus",
            "hit_boost",
            "decay_penalty",
        ]
        for result in report["results"]:
            total = 0.0
            for term in result["terms"]:
                total += term["value"]
            assert result["score"] == total
            assert {(term["signal"], term["weight"]) for term in result["terms"][4:]} == {(None, None)}

    def test_nothing_of_it_stays(self, tried: Runner, config: Path) -> None:
        before = tried("rank", config, "--now", NOW, "--json").out
        tried("rank", config, "--now", NOW, "--policy", "steady", "--set", "half_life_days=90", "--json")
        assert tried("rank", config, "--now", NOW, "--json").out == before
        assert tried("policies", "--json").json["active"] == "default"

    def test_single_knobs_are_set_for_once(self, tried: Runner, config: Path) -> None:
        """Recency alone counts, halved each day: 1/2 after one, 2⁻³³³ after 333 days; without a time there is none."""
        only = ["--set", "weights.lexical=0", "--set", "weights.importance=0", "--set", "weights.structural=0"]
        report = tried("rank", config, "--now", NOW, *only, "--set", "half_life_days=1", "--json").json
        wanted = {"weights.lexical": 0, "weights.importance": 0, "weights.structural": 0, "half_life_days": 1}
        assert report["policy_id"] == with_overrides(DEFAULT_POLICY, wanted).policy_id
        assert report["policy"]["name"] == "default"
        assert report["policy"]["weights"] == {"lexical": 0.0, "structural": 0.0, "recency": 0.15, "importance": 0.0}
        scores = {result["id"]: result["score"] for result in report["results"]}
        assert scores == pytest.approx({"EXP-1": 2.0**-333, "EXP-2": 0.5, "EXP-3": 0.0})

    def test_of_a_knob_that_is_set_twice_the_last_value_holds(self, tried: Runner, config: Path) -> None:
        twice = ["--set", "half_life_days=1", "--set", "half_life_days=90"]
        report = tried("rank", config, "--now", NOW, *twice, "--json").json
        assert report["policy"]["half_life_days"] == 90.0

    def test_overrides_come_on_top_of_the_policy_that_is_named(self, tried: Runner, config: Path) -> None:
        report = tried("rank", config, "--policy", "steady", "--set", "hit_boost.tau_days=7", "--json").json
        assert report["policy"]["hit_boost"]["tau_days"] == 7.0
        assert report["policy"]["decay_penalty"]["enabled"] is True
        assert report["policy"]["name"] == "steady"

    def test_what_is_older_than_the_time_to_live_is_left_out(self, tried: Runner, config: Path) -> None:
        """333 days are more than 90; what has no age stays."""
        report = tried("rank", config, "--now", NOW, "--set", "ttl_days=90", "--json").json
        assert {result["id"] for result in report["results"]} == {"EXP-2", "EXP-3"}

    def test_all_weights_zero_ranks_by_id(self, tried: Runner, config: Path) -> None:
        names = ("lexical", "structural", "recency", "importance")
        zero = [part for name in names for part in ("--set", f"weights.{name}=0")]
        report = tried("rank", config, "--now", NOW, *zero, "--json").json
        assert [(result["id"], result["score"]) for result in report["results"]] == [
            ("EXP-1", 0.0),
            ("EXP-2", 0.0),
            ("EXP-3", 0.0),
        ]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["--policy", "recnt"], ["recnt", "did you mean recent?"]),
            (["--policy", "zzz"], ["zzz", "default, steady, recent"]),
            (["--policy", "STEADY"], ["STEADY", "did you mean steady?"]),
            (["--policy", "Recent"], ["Recent", "did you mean recent?"]),
            (["--policy", "pol.toml"], ["pol.toml", "[policies.NAME]", "`tried replay`"]),
            (["--set", "hit_boost=true"], ["did you mean hit_boost.enabled?"]),
            (["--set", "decay_penalty=0.1"], ["did you mean decay_penalty.enabled?"]),
            (["--set", "half_life"], ["half_life", "expected KNOB=VALUE"]),
            (["--set", "=5"], ["expected KNOB=VALUE"]),
            (["--set", "half_lfe_days=5"], ["half_lfe_days", "did you mean half_life_days?"]),
            (["--set", "lexical=5"], ["did you mean weights.lexical?"]),
            (["--set", "weights.lexical=nan"], ["weights.lexical", "NaN", "a finite number from 0"]),
            (["--set", "weights.lexical=inf"], ["weights.lexical", "Infinity", "a finite number from 0"]),
            (["--set", "weights.lexical=-1"], ["weights.lexical", "-1", "a finite number from 0"]),
            (["--set", "lexical_bonus.min_ratio=1.5"], ["lexical_bonus.min_ratio", "1.5", "from 0 to 1"]),
            (["--set", "hit_boost.half_saturation=0"], ["hit_boost.half_saturation", "above 0"]),
            (["--set", "decay_penalty.tau_days=0"], ["decay_penalty.tau_days", "above 0"]),
            (["--set", "lexical_bonus.term_cap=0"], ["lexical_bonus.term_cap", "at least 1"]),
            (["--set", "hit_boost.enabled=maybe"], ["hit_boost.enabled", "maybe", "true or false"]),
            (["--set", "ttl_days=-3"], ["ttl_days", "-3", "at least 0"]),
            (["--set", "half_life_days="], ["half_life_days", "a finite number"]),
            (["--set", "weights=1"], ["weights"]),
        ],
    )
    def test_a_mistake_is_one_line_that_says_what_is_wrong(
        self, tried: Runner, config: Path, arguments: list[str], told: list[str]
    ) -> None:
        result = tried("rank", config, *arguments)
        assert (result.status, result.out) == (2, "")
        assert len(result.err.splitlines()) == 1
        assert all(part in result.err for part in told), result.err

    def test_the_bar_is_as_long_as_the_score_with_terms_that_add_and_take(self, tried: Runner, config: Path) -> None:
        result = tried("rank", config, "--now", NOW, "--policy", "steady")
        rows = [line for line in result.lines if line[:5].strip().isdigit()]
        assert len(rows) == 3
        for row in rows:
            score, bar = float(row.split()[1]), "".join(sign for sign in row if sign in "█▓▒░▚▀")
            assert len(bar) == round(score * 20)
        legend = result.lines[-2]
        assert "▚▚ lexical_bonus" in legend
        assert "shorter by decay_penalty" in legend
        assert "hit_boost" not in legend  # nobody opened anything

    def test_under_the_default_policy_there_is_no_word_of_other_terms(self, tried: Runner, config: Path) -> None:
        out = tried("rank", config, "--now", NOW).out
        assert not {"lexical_bonus", "hit_boost", "decay_penalty"} & set(out.split())

    def test_a_score_above_1_and_one_below_0_fit_into_the_column(self, tried: Runner, config: Path) -> None:
        heavy = ["--set", "lexical_bonus.enabled=true", "--set", "lexical_bonus.weight=3"]
        rows = tried("rank", config, "--now", NOW, *heavy).lines
        bars = ["".join(sign for sign in row if sign in "█▓▒░▚▀") for row in rows if row[:5].strip().isdigit()]
        assert len(bars[0]) == 20  # the best fills the column
        assert bars[0].endswith("▚" * 14)
        lossy = ["--set", "decay_penalty.enabled=true", "--set", "decay_penalty.weight=5"]
        last = next(row for row in tried("rank", config, "--now", NOW, *lossy).lines if "EXP-1" in row)
        assert last.split()[1].startswith("-4.")
        assert not set(last) & set("█▓▒░▚▀")

    @pytest.mark.parametrize("command", [["rank", "config.yaml"], ["explain", "config.yaml", "EXP-1"]])
    def test_what_nobody_can_want_is_remarked_upon(self, tried: Runner, config: Path, command: list[str]) -> None:
        names = ("lexical", "structural", "recency", "importance")
        zero = [part for name in names for part in ("--set", f"weights.{name}=0")]
        flat = tried(*command, *zero)
        assert (flat.status, flat.err) == (
            0,
            "tried: policy default: all weights are 0: every score is 0, and records are ordered by their ids\n",
        )
        assert tried(*command, *zero, "--set", "hit_boost.enabled=true").err == ""
        idle = tried(*command, "--set", "hit_boost.weight=0.2", "--json")
        told = "hit_boost.weight is set, but hit_boost is off: hit_boost.enabled=true turns it on"
        assert (idle.status, idle.err) == (0, f"tried: policy default: {told}\n")
        assert tried(*command, "--set", "hit_boost.weight=0.2", "--policy", "steady").err == ""
        timeless = tried(*command, "--set", "weights.recency=0", "--set", "half_life_days=7")
        assert timeless.err.startswith("tried: policy default: half_life_days is set, but weights.recency is 0: ")

    def test_what_the_settings_were_told_of_is_not_told_again(self, tried: Runner, config: Path) -> None:
        none = "{ lexical = 0, structural = 0, recency = 0, importance = 0 }"
        tried.write("tried.toml", f"[policies.flat]\nweights = {none}\n")
        assert tried("rank", config, "--policy", "flat").err.count("all weights are 0") == 1

    def test_the_list_ends_with_what_is_not_plain_from_it(self, tried: Runner, config: Path) -> None:
        recent = tried("policies", "--json").json["policies"][2]["policy_id"]
        assert "neither" in tried("rank", config, "--now", NOW).lines[-1]
        by_name = tried("rank", config, "--now", NOW, "--policy", "recent", "--limit", 2).lines[-1]
        assert by_name == f"     2 of 3 · policy recent {recent}"
        wanted = with_overrides(DEFAULT_POLICY, {"ttl_days": 90}).policy_id
        aged = tried("rank", config, "--now", NOW, "--set", "ttl_days=90", "--limit", 1).lines[-1]
        assert aged == f"     1 of 2 · policy default with other knobs {wanted} · 1 older than 90 days left out"
        tried.write("tried.toml", '[ranking]\npolicy = "short"\n[policies.short]\nttl_days = 90\n')
        assert tried("rank", config, "--now", NOW).lines[-1].endswith(" · 1 older than 90 days left out")

    def test_where_all_are_too_old_that_is_said(self, tried: Runner, config: Path) -> None:
        tried.journal(*POOL[:2])
        gone = tried("rank", config, "--now", NOW, "--set", "ttl_days=0.5")
        assert gone.lines == ["nothing is listed: all 2 records are older than 0.5 days (ttl_days of the policy)"]
        filtered = tried("rank", config, "--now", NOW, "--set", "ttl_days=0.5", "--tag", "night")
        assert filtered.lines == ["no record passes these filters; `tried pool` shows what there is"]

    def test_the_legend_has_the_terms_that_occur_and_all_marks(self, tried: Runner, config: Path) -> None:
        legend = tried("rank", config, "--now", NOW).lines[-1]
        assert legend.split("  ")[-3:] == ["✗ dead end", "✓ worked", "· neither"]
        assert "structural" not in legend  # the config has no architecture
        assert "██ lexical" in legend


class TestExplain:
    def test_it_agrees_with_the_list(self, tried: Runner, config: Path) -> None:
        listed = tried("rank", config, "--now", NOW, "--policy", "steady", "--json").json
        for result in listed["results"]:
            report = tried("explain", config, result["id"], "--now", NOW, "--policy", "steady", "--json").json
            assert report["schema"] == "tried.explain/v2"
            assert (report["record"], report["rank"], report["of"]) == (result["id"], result["rank"], 3)
            assert report["final_score"] == result["score"]
            assert report["breakdown"] == result["terms"]
            assert report["dropped_by"] is None
            assert report["policy"] == listed["policy"]

    def test_it_has_these_keys(self, tried: Runner, config: Path) -> None:
        report = tried("explain", config, "EXP-1", "--now", NOW, "--json").json
        assert list(report) == [
            "schema",
            "record",
            "policy_id",
            "rank",
            "of",
            "final_score",
            "breakdown",
            "dropped_by",
            "answer",
        ]
        assert report["policy_id"] == DEFAULT_POLICY.policy_id
        assert {"inputs"}.isdisjoint(key for term in report["breakdown"] for key in term)

    def test_below_the_cut(self, tried: Runner, config: Path) -> None:
        report = tried("explain", config, "EXP-3", "--now", NOW, "--limit", "1", "--json").json
        assert (report["dropped_by"], report["rank"]) == ("cut", 3)
        assert report["answer"].startswith("It is number 3 of 3, and only the first is listed. It has ")

    def test_too_old(self, tried: Runner, config: Path) -> None:
        report = tried("explain", config, "EXP-1", "--now", NOW, "--set", "ttl_days=90", "--json").json
        assert (report["dropped_by"], report["rank"], report["of"]) == ("ttl", None, 2)
        assert (report["final_score"], report["breakdown"]) == (None, [])
        assert report["answer"] == "It is 333 days old, and what is older than 90 days is left out (ttl_days)."

    def test_filtered(self, tried: Runner, config: Path) -> None:
        report = tried("explain", config, "EXP-1", "--tag", "night", "--now", NOW, "--json").json
        assert (report["dropped_by"], report["of"]) == ("filter", 0)
        assert report["answer"] == "The list is narrowed to the tag night, and this one has no tag."

    def test_for_people(self, tried: Runner, config: Path) -> None:
        lines = tried("explain", config, "EXP-1", "--now", NOW, "--policy", "steady").lines
        assert lines[0] == f"EXP-1  by the policy steady ({STEADY.policy_id})"
        assert lines[1].startswith("It is in the list, as number ")
        assert [line.split()[0] for line in lines[4:12]] == [
            "lexical",
            "structural",
            "recency",
            "importance",
            "lexical_bonus",
            "hit_boost",
            "decay_penalty",
            "score",
        ]
        penalty = next(line for line in lines if line.startswith("decay_penalty")).split()
        assert penalty[1] == "-0.050"  # 333 days at a tau of 30 take 0.99998 of it
        assert penalty[2].startswith("−")

    def test_it_says_what_the_terms_rest_on(self, tried: Runner, config: Path) -> None:
        """The file's words are focal, loss and the names of its knobs; the record's name has the first two, and its
        keys are words of it, too."""
        record_hit(tried.folder, ["EXP-1", "EXP-1"], "opened", datetime(2026, 11, 27, tzinfo=UTC))
        out = tried("explain", config, "EXP-1", "--now", NOW, "--policy", "steady").lines
        told = {line.split()[0]: line.split(maxsplit=1)[1] for line in out[13:] if line}
        assert told["lexical"].startswith("6 of the 6 different words of the file (100%): focal, loss, ")
        assert told["recency"] == told["decay_penalty"] == "333 days old"
        assert told["importance"] == "no conclusion, no hypothesis or notes, no derivation, no stated improvement"
        assert told["lexical_bonus"] == "100% of the words; it begins at 30%"
        assert told["hit_boost"] == "2 hits, the last 3 days ago"
        untimed = tried("explain", config, "EXP-3", "--now", NOW, "--policy", "steady").out
        assert "days old" not in untimed
        assert "no hit" in untimed

    def test_what_is_told_of_importance_and_of_many_words(self, tried: Runner) -> None:
        words = "alpha bravo charlie delta echo foxtrot golf hotel india juliett"
        tried.journal(
            {**run("EXP-4", "quiet", "2026-11-29"), "notes": words, "conclusion": {"headline": "diverged"}},
            {**run("EXP-5", "loud", None), "verdict": "dead_end", "hypothesis": "it may work"},
        )
        config = tried.write("config.yaml", f"# {words} kilo lima\nlr: 0.1\ndepth: 4\nwidth: 64\n")
        out = tried("explain", config, "EXP-4", "--now", NOW).out
        assert "(" in out
        assert ": alpha, bravo, charlie, delta, echo, foxtrot, golf, hotel, … and " in out
        assert "importance  a conclusion, a hypothesis or notes; no derivation, no stated improvement\n" in out
        out = tried("explain", config, "EXP-5", "--now", NOW).out
        assert "a hypothesis or notes, a dead end; " in out

    def test_a_record_that_there_is_not(self, tried: Runner, config: Path) -> None:
        result = tried("explain", config, "EXP-9")
        assert (result.status, result.out) == (2, "")
        assert "EXP-9" in result.err
        answered = tried("explain", config, "EXP-9", "--json")
        assert answered.status == 2
        assert (answered.json["record"], answered.json["dropped_by"], answered.json["of"]) == (None, "unknown", 3)
        assert answered.err == result.err

    def test_without_a_pool_it_is_as_with_the_list(self, tried: Runner) -> None:
        config = tried.write("config.yaml", CONFIG)
        listed, explained = tried("rank", config), tried("explain", config, "EXP-1")
        assert (explained.status, explained.out, explained.err) == (listed.status, "", listed.err)
        assert listed.status == 0
        assert explained.err.startswith("tried: no past experiments found in ")
        answered = tried("explain", config, "EXP-1", "--json")
        assert (answered.status, answered.json["dropped_by"], answered.json["of"]) == (0, "unknown", 0)

    @pytest.mark.parametrize(
        ("file", "told"),
        [
            ("nothing.yaml", "there is no such file"),
            ("notes.md", "`tried rank --text` ranks by free text"),
            (".", "it is a folder"),
        ],
    )
    def test_what_is_no_config(self, tried: Runner, config: Path, file: str, told: str) -> None:
        tried.write("notes.md", "focal loss\n")
        result = tried("explain", file, "EXP-1")
        assert (result.status, result.out) == (2, "")
        assert told in result.err
