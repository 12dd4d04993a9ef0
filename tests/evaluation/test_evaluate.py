"""Measures of judged configs, worked out by hand on a pool of seven runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tried.analysis import query_of
from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.evaluation.evaluate import Evaluation, JudgedConfig, Overall, compared, evaluate, resolved
from tried.evaluation.gate import GateError, Held, held, maximum_of, minimum_of
from tried.evaluation.judgements import Expectation, Judgement
from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.sources.journal_source import JournalSource
from tried.ranking.policy import Policy, Weights
from tried.ranking.query import RetrievalQuery

NOW = datetime(2026, 6, 30, tzinfo=UTC)
NEWEST = Policy(weights=Weights(lexical=0, structural=0, recency=1, importance=0))
"""Ranks by time alone."""
WORDS = Policy(weights=Weights(lexical=1, structural=0, recency=0, importance=0))
POLICIES = {"newest": NEWEST, "words": WORDS}
BASE = {"lr": 0.01, "depth": 4, "width": 128, "warmup": 100, "dropout": 0.1}


def run(record_id: str, day: int, line: str, verdict: str = "works", **changed: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": record_id,
        "name": changed.pop("name", ""),
        "params": {**BASE, **changed},
        "timestamp": f"2026-06-{day:02}T00:00:00Z",
        "research_line": line,
        "verdict": verdict,
    }
    if verdict == "dead_end":
        [(key, value)] = changed.items()
        change = {"change": "ParamChanged", "key": key, "from": BASE[key], "to": value}
        record["derivation"] = {"from": "a1", "changes": [change]}
    return record


RUNS = (
    run("a1", 1, "a", name="cosine"),
    run("a2", 2, "a", "dead_end", lr=0.5),
    run("a3", 3, "a", depth=8),
    run("a4", 4, "a", depth=6, name="cosine"),
    run("b1", 5, "b", depth=3, name="cosine"),
    run("b2", 6, "b", depth=2),
    run("b3", 7, "b", width=64),
)


@pytest.fixture
def snapshot(tmp_path: Path) -> PoolSnapshot:
    path = tmp_path / "pool.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in RUNS), encoding="utf-8")
    return Pool([JournalSource(path)]).refresh()


def judged(
    text: str, grades: Mapping[str, int], *, name: str = "q", line: str | None = "a", **more: Any
) -> JudgedConfig:
    expect: Expectation = more.pop("expect", "warn")
    judgement = Judgement(
        query=name,
        config="q.yaml",
        language="yaml",
        research_line=line,
        expect=expect,
        grades=dict(grades),
        do_not_warn=frozenset(more.pop("do_not_warn", ())),
        self_id=more.pop("self_id", None),
    )
    drafts = tuple(drafts_of(parse(text, "yaml"), text))
    return JudgedConfig(judgement, drafts, query_of(drafts) or RetrievalQuery())


HOT = "name: cosine\nlr: 0.5\ndepth: 5\nwidth: 128\nwarmup: 100\ndropout: 0.1\n"
"""Its learning rate is that of a2, a dead end."""
MILD = HOT.replace("0.5", "0.01")


def own(evaluation: Evaluation) -> Overall:
    return evaluation.scopes["own_line"]


def test_a_list_is_measured_in_its_line_and_in_the_whole_pool(snapshot: PoolSnapshot) -> None:
    config = judged(MILD, {"a1": 3, "a3": 2, "a4": 1})
    found = evaluate([config], snapshot, {"newest": NEWEST}, now=NOW, ks=(2, 4))

    (answer,) = own(found).answers
    assert answer.listed["newest"].ids == ("a4", "a3", "a2", "a1")
    # Relevant are a1 and a3, of gains 7 and 3; a4 (grade 1) is neither. Among the first two: a3, in the second place.
    assert answer.listed["newest"].recall == {2: 0.5, 4: 1.0}
    ideal = 7 + 3 / math.log2(3)
    assert answer.listed["newest"].ndcg[2] == pytest.approx(3 / math.log2(3) / ideal, abs=1e-15)
    assert answer.listed["newest"].ndcg[4] == pytest.approx((3 / math.log2(3) + 7 / math.log2(5)) / ideal, abs=1e-15)
    # The whole pool: b3, b2, b1, a4, a3, …
    (whole,) = found.scopes["whole_pool"].answers
    assert whole.listed["newest"].ids == ("b3", "b2", "b1", "a4")
    assert whole.listed["newest"].recall == {2: 0.0, 4: 0.0}
    assert own(found).recall("newest", 2) == 0.5


def test_what_was_not_there_yet_is_not_seen(snapshot: PoolSnapshot) -> None:
    """Its own record and what stands below it in its line; other lines are there whole."""
    config = judged(MILD, {"a1": 3}, self_id="a3")
    found = evaluate([config], snapshot, {"newest": NEWEST}, now=NOW)

    assert own(found).answers[0].listed["newest"].ids == ("a2", "a1")
    assert found.scopes["whole_pool"].answers[0].listed["newest"].ids == ("b3", "b2", "b1", "a2", "a1")


def test_without_a_word_of_its_line_it_sees_no_more(snapshot: PoolSnapshot) -> None:
    """Its own record tells the line of which what is later is left out."""
    found = evaluate([judged(HOT, {"a1": 2}, line=None, self_id="a2")], snapshot, {"newest": NEWEST}, now=NOW)

    for overall in found.scopes.values():
        assert overall.answers[0].listed["newest"].ids == ("b3", "b2", "b1", "a1")
        assert overall.answers[0].squiggles == []


def test_a_pool_with_the_newest_first_is_the_same(snapshot: PoolSnapshot, tmp_path: Path) -> None:
    path = tmp_path / "reversed.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in reversed(RUNS)), encoding="utf-8")
    newest_first = Pool([JournalSource(path)]).refresh()
    configs = [judged(HOT, {"a1": 2}, self_id="a2"), judged(HOT, {"a2": 3}, name="r", self_id="a3")]

    assert resolved(configs[1].judgement, newest_first)[1] == []
    for one in configs:
        there, here = (own(evaluate([one], pool, POLICIES, now=NOW)).answers[0] for pool in (snapshot, newest_first))
        assert there.listed == here.listed
        assert [each.record for each in there.findings] == [each.record for each in here.findings]


def test_findings_stand_on_what_was_there_alone(snapshot: PoolSnapshot) -> None:
    before, after = judged(HOT, {"a1": 2}, self_id="a2"), judged(HOT, {"a2": 3}, name="r", self_id="a3")
    found = evaluate([before, after], snapshot, {"newest": NEWEST}, now=NOW)

    for overall in found.scopes.values():
        assert [[one.record for one in answer.squiggles] for answer in overall.answers] == [[], ["a2"]]


def test_precision_and_coverage_by_hand(snapshot: PoolSnapshot) -> None:
    """Four configs have the squiggle on a2: one is right, one judged and wrong, one unjudged, one a false alarm."""
    configs = [
        judged(HOT, {"a2": 3}, name="right"),
        judged(HOT, {"a3": 2, "a2": 1}, name="wrong", expect="inform"),
        judged(HOT, {"a3": 2}, name="unjudged"),
        judged(HOT, {}, name="silent", expect="silent", do_not_warn=["a2"]),
        judged(MILD, {"a3": 2}, name="nothing"),
    ]
    overall = own(evaluate(configs, snapshot, {"newest": NEWEST}, now=NOW))

    assert (overall.squiggles, overall.judged, overall.right) == (3, 2, 1)
    assert overall.finding_precision == 1 / 2
    assert overall.finding_precision_strict == 1 / 3
    assert (overall.answered, overall.coverage) == (1, 1 / 4)
    assert (len(overall.silent), overall.false_alarms) == (1, 1)
    assert [answer.judgement.query for answer in overall.answers if answer.too_loud] == ["wrong", "silent"]


def test_without_anything_to_measure_there_is_no_measure(snapshot: PoolSnapshot) -> None:
    overall = own(evaluate([judged(MILD, {})], snapshot, POLICIES, now=NOW))

    assert overall.finding_precision is overall.finding_precision_strict is overall.coverage is None
    assert overall.recall("words", 10) is overall.ndcg("newest", 10) is None
    assert overall.answers[0].listed["newest"].recall == {}


def test_a_config_without_a_line_sees_the_whole_pool_in_both(snapshot: PoolSnapshot) -> None:
    found = evaluate([judged(MILD, {"b3": 2}, line=None)], snapshot, {"newest": NEWEST}, now=NOW)

    ids = {overall.answers[0].listed["newest"].ids for overall in found.scopes.values()}
    assert ids == {("b3", "b2", "b1", "a4", "a3", "a2", "a1")}


def test_two_policies_are_compared_query_by_query(snapshot: PoolSnapshot) -> None:
    """Words put a1 and a4 (cosine) first, by id; time has a4 first and a1 last."""
    configs = [
        judged(MILD, {"a1": 2}, name="better"),
        judged(MILD, {"a4": 2}, name="worse"),
        judged(MILD, {"a2": 2}, name="equal"),
        judged(MILD, {}, name="left out"),
    ]
    overall = own(evaluate(configs, snapshot, POLICIES, now=NOW, ks=(1,)))
    change = compared(overall, lambda listed: listed.recall[1], "newest", "words")

    assert change.by_query == {"better": 1.0, "worse": -1.0, "equal": 0.0}
    assert (change.better, change.worse, change.equal, change.mean) == (1, 1, 1, 0.0)
    assert compared(Overall(()), lambda listed: listed.recall[1], "newest", "words").mean is None


@pytest.mark.parametrize("ks", [(), (0,), (5, -1)])
def test_a_list_of_no_places_is_refused(snapshot: PoolSnapshot, ks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least"):
        evaluate([], snapshot, POLICIES, now=NOW, ks=ks)


class TestResolved:
    def test_ids_may_be_aliases(self, tmp_path: Path) -> None:
        path = tmp_path / "pool.jsonl"
        path.write_text(json.dumps({**RUNS[0], "aliases": ["old-name"]}), encoding="utf-8")
        pool = Pool([JournalSource(path)]).refresh()
        known, problems = resolved(judged(MILD, {"old-name": 1}, do_not_warn=["old-name"]).judgement, pool)
        assert problems == []
        assert known.grades == {"a1": 1}
        assert known.do_not_warn == frozenset({"a1"})

    @pytest.mark.parametrize(
        ("grades", "more", "said"),
        [
            ({"B1": 3, "a1": 1}, {}, 'relevant: "a1" is "B1", and is graded twice; keep one of them'),
            (
                {"B1": 3},
                {"do_not_warn": ["a1"]},
                'do_not_warn: "a1" is "B1", and is graded 3 as well; take it out of one of them',
            ),
            (
                {"B1": 3},
                {"self_id": "a1"},
                'relevant: "B1" is "a1", the config\'s own record (self_id), which it cannot be shown',
            ),
        ],
    )
    def test_two_names_of_one_record_are_one(
        self, tmp_path: Path, grades: dict[str, int], more: dict[str, Any], said: str
    ) -> None:
        path = tmp_path / "pool.jsonl"
        path.write_text(json.dumps({**RUNS[0], "aliases": ["B1"]}), encoding="utf-8")
        pool = Pool([JournalSource(path)]).refresh()
        assert resolved(judged(MILD, grades, **more).judgement, pool)[1] == [said]

    def test_the_line_is_that_of_its_own_record(self, snapshot: PoolSnapshot) -> None:
        judgement = judged(MILD, {"a1": 3}, line="b", self_id="a3").judgement
        said = 'research_line: that of the config\'s own record (self_id) is "a", not "b"'
        assert resolved(judgement, snapshot)[1] == [said]

    def test_what_the_pool_lacks_is_told(self, snapshot: PoolSnapshot) -> None:
        judgement = judged(MILD, {"a9": 3}, line="z", do_not_warn=["b9"], self_id="c9").judgement
        assert resolved(judgement, snapshot)[1] == [
            'research_line: no record of the pool has "z"',
            'relevant: no record of the pool has the id "a9"',
            'do_not_warn: no record of the pool has the id "b9"',
            'self_id: no record of the pool has the id "c9"',
        ]

    def test_what_came_later_cannot_be_asked_for(self, snapshot: PoolSnapshot) -> None:
        judgement = judged(MILD, {"a4": 3, "a1": 2, "b3": 2}, self_id="a2").judgement
        (problem,) = resolved(judgement, snapshot)[1]
        assert problem.startswith('relevant: "a4" is later than the config\'s own record (self_id)')


class TestGate:
    def test_each_policy_has_to_reach_it(self, snapshot: PoolSnapshot) -> None:
        found = evaluate([judged(HOT, {"a1": 2, "a2": 2})], snapshot, POLICIES, now=NOW, ks=(10, 1))
        texts = ("recall@1=0.5", "whole_pool.recall@1=0.5", "coverage=1", "finding_precision_strict = 1.0")
        gates = held(found, map(minimum_of, texts))

        assert [(one.policy, one.value, one.holds, one.short_by) for one in gates] == [
            ("newest", 0.0, False, 0.5),  # a4 is the newest, and not asked for
            ("words", 0.5, True, 0.0),
            ("newest", 0.0, False, 0.5),
            ("words", 0.5, True, 0.0),
            (None, 1.0, True, 0.0),
            (None, 1.0, True, 0.0),
        ]

    def test_what_cannot_be_measured_falls_short(self, snapshot: PoolSnapshot) -> None:
        found = evaluate([judged(MILD, {"a1": 2})], snapshot, {"words": WORDS}, now=NOW)
        minimum = minimum_of("finding_precision=0.9")
        assert held(found, [minimum]) == [Held(minimum, None, None)]
        assert not held(found, [minimum])[0].holds

    def test_alarms_are_held_from_above(self, snapshot: PoolSnapshot) -> None:
        """The squiggle on a2 is right for the first, a false alarm on the second, and too loud for the third, too."""
        configs = [
            judged(HOT, {"a2": 3}),
            judged(HOT, {}, name="silent", expect="silent"),
            judged(HOT, {"a2": 3}, name="inform", expect="inform"),
        ]
        found = evaluate(configs, snapshot, {"words": WORDS}, now=NOW)
        texts = ("false_alarms=0", "false_alarms = 1", "too_loud=1", "whole_pool.too_loud=2")
        gates = held(found, map(maximum_of, texts))

        assert [(one.limit.scope, one.policy, one.value, one.holds, one.over_by, one.short_by) for one in gates] == [
            ("own_line", None, 1, False, 1, 0),
            ("own_line", None, 1, True, 0, 0),
            ("own_line", None, 2, False, 1, 0),
            ("whole_pool", None, 2, True, 0, 0),
        ]

    def test_no_alarm_where_none_would_be_false_is_no_pass(self, snapshot: PoolSnapshot) -> None:
        """With the last config that expects silence gone, the gate would measure nothing for ever."""
        found = evaluate([judged(HOT, {"a2": 3})], snapshot, {"words": WORDS}, now=NOW)
        gates = held(found, map(maximum_of, ("false_alarms=0", "too_loud=0")))
        assert [(one.value, one.holds) for one in gates] == [(None, False), (None, False)]

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("false_alarms", "expected MEASURE=VALUE, as in false_alarms=0"),
            ("false_alarm=0", "false_alarm: no measure; did you mean false_alarms?"),
            ("zzz=0", "there are false_alarms and too_loud"),
            ("too_loud=-1", "too_loud: expected a whole number from 0, got -1"),
            ("too_loud=0.5", "a whole number from 0, got 0.5"),
            ("too_loud=", "a whole number from 0, got nothing"),
            ("too_loud=nan", "a whole number from 0, got nan"),
            ("recall@10=0.5", "recall@10: the more the better; --min recall@10=0.5 holds it"),
            ("coverage=", "--min coverage=1 holds it"),
            ("other.too_loud=0", "other.too_loud: no measure"),
        ],
    )
    def test_a_mistaken_maximum_is_told(self, text: str, said: str) -> None:
        with pytest.raises(GateError) as caught:
            maximum_of(text)
        assert said in str(caught.value)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("whole_pool.false_alarms=0", "false_alarms: the fewer the better; --max false_alarms=0 holds it"),
            ("recall@10", "expected MEASURE=VALUE"),
            ("recal@10=0.5", "did you mean recall@10?"),
            ("recall=0.5", "did you mean recall@10?"),
            ("recall@0=0.5", "places from 1"),
            ("precision=0.5", "did you mean finding_precision?"),
            ("zzz=0.5", "there are recall@K, ndcg@K"),
            ("coverage=1.1", "a number from 0 to 1, got 1.1"),
            ("coverage=nan", "a number from 0 to 1, got nan"),
            ("coverage=", "a number from 0 to 1, got nothing"),
            ("other.coverage=0.5", "other.coverage: no measure"),
        ],
    )
    def test_a_mistake_is_told(self, text: str, said: str) -> None:
        with pytest.raises(GateError) as caught:
            minimum_of(text)
        assert said in str(caught.value)
