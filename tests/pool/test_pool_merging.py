"""One run in several sources is one record, however the sources came to say it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from pool_records import record

from tried.pool.pool import Pool, PoolSnapshot
from tried.pool.record import ExperimentRecord
from tried.pool.sources.source import Delta
from tried.pool.uniting import united


@dataclass
class Telling:
    """A source that says what it is told to say, in one delta or in several."""

    name: str
    deltas: list[Delta] = field(default_factory=list)
    kind: str = "telling"

    @property
    def path(self) -> Path:
        return Path("/") / self.name

    def says(self, *records: ExperimentRecord, removed: Sequence[str] = (), reset: bool = False) -> "Telling":
        self.deltas.append(Delta(records, tuple(removed), reset=reset))
        return self

    def scan(self, cursor: object | None) -> Delta:
        return self.deltas.pop(0) if self.deltas else Delta(cursor=cursor)

    def line_of(self, record_id: str) -> int | None:
        return None


def pool_of(*sources: Sequence[ExperimentRecord]) -> PoolSnapshot:
    return Pool([Telling(f"source-{n}").says(*records) for n, records in enumerate(sources)]).refresh()


def ids(snapshot: PoolSnapshot) -> list[str]:
    return list(snapshot.records)


def test_records_are_one_run_by_id_by_alias_and_by_output_folder() -> None:
    by_id = pool_of([record("mlflow:1")], [record("mlflow:1")])
    by_alias = pool_of([record("ours", aliases=["mlflow:1"])], [record("mlflow:1")])
    by_alias_of_the_later = pool_of([record("ours")], [record("mlflow:1", aliases=["ours"])])
    by_common_alias = pool_of([record("ours", aliases=["7f"])], [record("mlflow:1", aliases=["7f"])])
    by_folder = pool_of([record("ours", run_dir="/runs/a/")], [record("mlflow:1", run_dir="/runs/a")])
    assert ids(by_id) == ["mlflow:1"]
    for snapshot in (by_alias, by_alias_of_the_later, by_common_alias, by_folder):
        assert ids(snapshot) == ["ours"]
        assert snapshot.get("mlflow:1") is snapshot.records["ours"]
        assert [report.merged for report in snapshot.sources] == [1, 1]
    assert by_common_alias.records["ours"].aliases == ["7f", "mlflow:1"]


def test_what_is_linked_through_a_third_is_one_run() -> None:
    snapshot = pool_of(
        [record("a", aliases=["x"])], [record("b", run_dir="/f")], [record("c", aliases=["x"], run_dir="/f")]
    )
    assert ids(snapshot) == ["a"]
    assert snapshot.records["a"].aliases == ["x", "b", "c"]


def test_a_relative_folder_and_a_folder_of_several_steps_join_nothing() -> None:
    assert ids(pool_of([record("a", run_dir="out")], [record("b", run_dir="out")])) == ["a", "b"]
    steps = [record("b", run_dir="/job"), record("c", run_dir="/job")]
    assert ids(pool_of([record("a", run_dir="/job")], steps)) == ["a", "b", "c"]


def test_two_records_of_one_source_are_never_one_run() -> None:
    """A resumed run that names both of its halves is the first; the second stays what it is."""
    snapshot = pool_of([record("ours", aliases=["h:1", "h:2"])], [record("h:1"), record("h:2")])
    assert ids(snapshot) == ["ours", "h:2"]
    assert snapshot.get("h:2") is snapshot.records["h:2"]
    same = pool_of([record("a", aliases=["x"]), record("b", aliases=["x"])], [record("x")])
    assert ids(same) == ["a", "b", "x"], "a name that two records of a source state says nothing"


def test_when_one_source_takes_its_record_back_the_other_stands_alone() -> None:
    ours, theirs = Telling("ours").says(record("ours", aliases=["h:1"], notes="kept")), Telling("theirs")
    pool = Pool([ours, theirs.says(record("h:0"), record("h:1", tags=["x"]))])
    first = pool.refresh()
    assert (ids(first), first.records["ours"].tags) == (["ours", "h:0"], ["x"])
    ours.says(removed=["ours"])
    second = pool.refresh()
    assert (ids(second), second.records["h:1"].notes, second.aliases) == (["h:0", "h:1"], None, {})
    assert [report.merged for report in second.sources] == [0, 0]
    assert first.records["ours"].tags == ["x"], "who holds the old snapshot sees the old record"
    assert second.history.run("ours") is None
    assert {run.id for run in second.index} == {"h:0", "h:1"}


def test_an_amendment_to_any_of_its_ids_reaches_the_run() -> None:
    ours = Telling("ours").says(
        record("am", kind="amendment", amends="mlflow:1", conclusion={"headline": "too hot"}),
        record("hydra:out", run_dir="/out"),
    )
    snapshot = Pool([ours, Telling("theirs").says(record("mlflow:1", run_dir="/out"))]).refresh()
    assert ids(snapshot) == ["hydra:out"]
    assert snapshot.records["hydra:out"].headline == "too hot"
    assert snapshot.sources[0].waiting_amendments == 0


def test_an_amendment_follows_an_alias_to_the_run_that_has_it_now() -> None:
    """Their `a`, known as `d`, is a part of `b` until the first source has an `a` of its own."""
    one, two = Telling("one").says(record("b", aliases=["a"])), Telling("two").says(record("a", aliases=["d"]))
    amending = Telling("three").says(record("am", kind="amendment", amends="d", hypothesis="deeper"))
    pool = Pool([one, two, amending])
    before = pool.refresh()
    assert (ids(before), before.records["b"].hypothesis) == (["b"], "deeper")
    one.says(record("a"))
    after = pool.refresh()
    assert ids(after) == ["b", "a"]
    assert (after.records["a"].hypothesis, after.records["b"].hypothesis) == ("deeper", None)


def test_the_order_of_the_sources_decides_who_has_the_id() -> None:
    one, two = Telling("one").says(record("a", aliases=["b"])), Telling("two").says(record("b"))
    pool = Pool([one, two])
    assert ids(pool.refresh()) == ["a"]
    pool.use([two, one])
    assert ids(pool.refresh()) == ["b"]
    assert pool.snapshot.aliases == {"a": "b"}
    pool.use([two])
    assert (ids(pool.refresh()), dict(pool.snapshot.aliases)) == (["b"], {})


def test_what_is_empty_is_filled_and_what_is_many_unites() -> None:
    ours = record("ours", tags=["a"], notes="slow", params={"lr": 0.1}, metrics={"loss": 2.0}, places=["/1"])
    theirs = record(
        "m:1",
        tags=["b", "a"],
        notes="slow start",
        params={"lr": 0.2, "depth": 3},
        metrics={"loss": 1.0, "f1": 0.5},
        places=["/2", "/1"],
        url="https://runs.example/1",
        git={"sha": "abc"},
        timestamp="2026-01-01",
    )
    run = united([ours, theirs])
    assert (run.id, run.aliases, run.tags, run.places) == ("ours", ["m:1"], ["a", "b"], ["/1", "/2"])
    assert run.notes == "slow\n\nslow start"
    assert run.params == {"lr": 0.1, "depth": 3}
    assert run.metrics == {"loss": 2.0, "f1": 0.5}
    assert (run.url, run.git, run.timestamp) == ("https://runs.example/1", {"sha": "abc"}, "2026-01-01")


def test_a_parameter_that_one_cut_short_is_taken_from_another() -> None:
    cut = record("a", params={"prompt": "x" * 499 + "...", "optimizer/lr": "0.1"})
    whole = record("b", params={"prompt": "x" * 600, "optimizer.lr": 0.1, "config.optimizer.lr": 0.1, "seed": 1})
    run = united([cut, whole])
    assert "optimizer.lr" not in run.params, "the same key in another spelling"
    assert "config.optimizer.lr" not in run.params, "the same key in a container, with the same value"
    assert run.params["seed"] == 1
    assert len(run.params["prompt"]) == 600


def test_a_name_that_a_tracker_made_up_gives_way_to_one_that_tells() -> None:
    hydra = record("hydra:outputs/1", name="train lr=0.003")

    def name(record_id: str, name: str, *others: ExperimentRecord, **fields: Any) -> str:
        return united([record(record_id, name=name, **fields), *(others or (hydra,))]).name

    assert name("mlflow:1", "trusting-sow-140") == "train lr=0.003"
    assert name("wandb:9f2c", "dainty-sunset-12") == "train lr=0.003"
    assert name("wandb:9f2c", "9f2c", run_id="9f2c") == "train lr=0.003"
    assert name("mlflow:1", "") == "train lr=0.003"
    assert name("mlflow:1", "brave-owl") == "brave-owl", "nobody's invention, as far as one can see"
    assert name("EXP-1", "small-net-3") == "small-net-3", "a journal is written by people"
    assert name("mlflow:1", "trusting-sow-140", record("wandb:2", name="dainty-sunset-12")) == "trusting-sow-140"


def test_a_research_line_that_somebody_names_goes_before_the_group_in_a_tracker() -> None:
    def line(*told: tuple[str | None, str | None]) -> str | None:
        return united(
            [record(f"r:{n}", research_line=at[0], experiment=at[1]) for n, at in enumerate(told)]
        ).research_line

    group = ("hydra-mlflow", "hydra-mlflow")
    assert line(group, ("hydra_birds", "train")) == "hydra_birds", "a key of the config"
    assert line(group, ("train", "train")) == "hydra-mlflow", "nobody names one"
    assert line(("vision", "hydra-mlflow"), ("hydra_birds", "train")) == "vision", "both do: the first"
    assert line(("vision", None), ("hydra_birds", "train")) == "vision", "the journal's word"
    assert line((None, None), group, ("train", "train"), ("hydra_birds", "train")) == "hydra_birds"
    assert line(group, ("runs", None)) == "hydra-mlflow", "a table's folder is no statement"
    assert line((None, None), (None, "x")) is None


def derived(outcome: str, **fields: Any) -> dict[str, Any]:
    return {"conclusion": {"outcome": outcome, "derived": True}, **fields}


def test_who_saw_the_end_tells_of_it() -> None:
    tracker = record("mlflow:1", **derived("completed", generated_headline="finished"))
    log = record(
        "hydra:1", **derived("failed", cause="code_error", error="KeyError: 'x'", generated_headline="failed: KeyError")
    )
    run = united([tracker, log])
    assert (run.outcome, run.cause, run.error, run.headline) == (
        "failed",
        "code_error",
        "KeyError: 'x'",
        "failed: KeyError",
    )
    live = record("wandb:1", **derived("running", metrics={"loss": 9.0}))
    ended = record("mlflow:1", **derived("completed", metrics={"loss": 1.0}))
    run = united([live, ended])
    assert (run.outcome, run.metrics) == ("completed", {"loss": 1.0})
    person = record("ours", conclusion={"headline": "worth another try", "outcome": "completed"})
    run = united([person, log])
    assert (run.headline, run.outcome, run.conclusion and run.conclusion.derived) == (
        "worth another try",
        "completed",
        False,
    )
    reason = record("ours", conclusion={"headline": "wrong split"})
    assert (united([reason, log]).headline, united([reason, log]).outcome) == ("wrong split", "failed")


IDS = ("a", "b", "c", "d")
RECORDS = st.builds(
    lambda record_id, alias, folder, parent, note, outcome: record(
        record_id,
        aliases=[alias] if alias else [],
        run_dir=folder,
        parent=parent,
        notes=note,
        params={"lr": len(note or ""), "depth": 2},
        metrics={"loss": float(len(note or ""))},
        **({"conclusion": {"outcome": outcome}} if outcome else {}),
    ),
    st.sampled_from(IDS),
    st.sampled_from([None, None, *IDS, "x"]),
    st.sampled_from([None, None, "/f", "/g"]),
    st.sampled_from([None, *IDS, "x"]),
    st.sampled_from([None, "n", "nn"]),
    st.sampled_from([None, "completed", "failed"]),
)
EVENTS = st.lists(
    st.tuples(st.sampled_from(["say", "say", "say", "remove", "amend", "reset", "swap"]), st.integers(0, 2), RECORDS),
    max_size=14,
)


@settings(max_examples=150, deadline=None)
@example(
    [("say", 0, record("a", aliases=["b"])), ("say", 1, record("b")), ("say", 1, record("a")), ("swap", 0, record("a"))]
)
@given(EVENTS)
def test_however_it_came_about_runs_are_joined_as_if_all_was_said_at_once(
    events: list[tuple[str, int, ExperimentRecord]],
) -> None:
    names = ["one", "two", "three"]
    sources = {name: Telling(name) for name in names}
    said: dict[str, dict[str, ExperimentRecord]] = {name: {} for name in names}
    amended: dict[str, list[ExperimentRecord]] = {name: [] for name in names}
    pool = Pool(sources.values())
    for number, (event, place, run) in enumerate(events):
        name = names[place]
        if event == "say":
            said[name][run.id] = run
            sources[name].says(run)
        elif event == "remove":
            said[name].pop(run.id, None)
            sources[name].says(removed=[run.id])
        elif event == "amend":
            fields = {"kind": "amendment", "amends": run.id, "hypothesis": f"h{number}", "aliases": run.aliases}
            amended[name].append(record(f"am{number}", **fields))
            sources[name].says(amended[name][-1])
        elif event == "reset":
            said[name], amended[name] = {run.id: run}, []
            sources[name].says(run, reset=True)
        else:
            names = [*names[1:], names[0]]
            pool.use([sources[each] for each in names])
        pool.refresh()
    now = pool.refresh()
    fresh = Pool([Telling(name).says(*said[name].values(), *amended[name]) for name in names]).refresh()
    assert [json.loads(run.to_json()) for run in now.records.values()] == [
        json.loads(run.to_json()) for run in fresh.records.values()
    ]
    assert now.aliases == fresh.aliases
    assert now.sources == fresh.sources
    assert (now.totals, now.research_lines) == (fresh.totals, fresh.research_lines)
    assert {key: set(found) for key, found in now.children.items()} == {
        key: set(found) for key, found in fresh.children.items()
    }
    assert dict(now.facts()) == dict(fresh.facts())
    assert {run.id: run.to_json() for run in now.index} == {key: run.to_json() for key, run in now.records.items()}
    assert sum(report.records for report in now.sources) == sum(map(len, said.values()))
