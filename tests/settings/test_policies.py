"""Policies in settings: merged knob by knob, told of with their lines, and found by name."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tried.analysis import ranking_policy
from tried.ranking.policy import DEFAULT_POLICY, STEADY, PolicyError
from tried.settings import load_settings
from tried.settings.policies import policy_names, policy_of

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def written(folder: Path, text: str) -> Path:
    (folder / "tried.toml").write_text(text, encoding="utf-8")
    return folder


def messages(folder: Path) -> list[tuple[int, str]]:
    return [(problem.line, problem.message) for problem in load_settings(folder).problems]


def test_without_a_word_the_default_is_active(tmp_path: Path) -> None:
    settings = load_settings(tmp_path).settings
    assert ranking_policy(settings) == policy_of(settings) == DEFAULT_POLICY
    assert ranking_policy(settings).policy_id == DEFAULT_POLICY.policy_id
    assert policy_of(settings, "steady") == STEADY
    assert policy_names(settings) == ("default", "steady")


def test_a_policy_of_ones_own(tmp_path: Path) -> None:
    text = '[ranking]\npolicy = "fresh"\n[policies.fresh]\nhalf_life_days = 7\nweights.lexical = 0.5\n'
    loaded = load_settings(written(tmp_path, text + "[policies.fresh.hit_boost]\nenabled = true\n"))
    assert loaded.problems == ()
    policy = ranking_policy(loaded.settings)
    assert (policy.half_life_days, policy.weights.lexical, policy.weights.structural) == (7.0, 0.5, 0.25)
    assert policy.hit_boost.enabled
    assert not policy.lexical_bonus.enabled
    assert policy_names(loaded.settings) == ("default", "steady", "fresh")


def test_stronger_places_turn_single_knobs(tmp_path: Path) -> None:
    folder = written(tmp_path, "[policies.fresh]\nhalf_life_days = 7\nweights.lexical = 0.5\n")
    editor = {"tried": {"policies": {"fresh": {"halfLifeDays": 9, "hitBoost": {"tauDays": 3}}}}}
    loaded = load_settings(folder, editor, {"ranking": {"policy": "fresh"}})
    assert loaded.problems == ()
    policy = ranking_policy(loaded.settings)
    assert (policy.half_life_days, policy.weights.lexical, policy.hit_boost.tau_days) == (9.0, 0.5, 3.0)


def test_the_half_life_is_that_of_the_ranking_where_a_policy_says_nothing(tmp_path: Path) -> None:
    text = "[ranking]\nhalf_life_days = 90\n[policies.own]\nhalf_life_days = 7\n[policies.other]\nttl_days = 3\n"
    settings = load_settings(written(tmp_path, text)).settings
    found = {name: policy_of(settings, name).half_life_days for name in policy_names(settings)}
    assert found == {"default": 90.0, "steady": 90.0, "own": 7.0, "other": 90.0}
    assert policy_of(settings, "steady").policy_id != STEADY.policy_id
    assert policy_of(settings, "own", {"half_life_days": "1"}).half_life_days == 1.0


def test_a_policy_may_say_that_its_half_life_is_the_usual_one(tmp_path: Path) -> None:
    text = "[ranking]\nhalf_life_days = 90\n[policies.own]\nhalf_life_days = 30\n"
    assert policy_of(load_settings(written(tmp_path, text)).settings, "own").half_life_days == 30.0


def test_mistakes_are_told_with_knob_value_range_and_line(tmp_path: Path) -> None:
    text = (
        '[ranking]\npolicy = "frsh"\n'
        "[policies.fresh]\nhalf_life_days = nan\nhalf_live_days = 3\nttl_days = -1\n"
        "[policies.fresh.weights]\nlexical = -0.5\nrecency = inf\n"
        "[policies.fresh.lexical_bonus]\nmin_ratio = 2\nterm_cap = 0\nenabled = 1\n"
        "[policies.fresh.hit_boost]\nhalf_saturation = 0\ntau_days = -3\n"
        "[policies.fresh.decay_penalty]\ntau_days = 0\n"
        "[policies.steady]\nhalf_life_days = 3\n"
        "[policies]\nodd = 3\n"
    )
    assert messages(written(tmp_path, text)) == [
        (4, "policies.fresh.half_life_days: expected a number, got NaN; using 30"),
        (5, "policies.fresh.half_live_days: unknown setting, ignored; did you mean half_life_days?"),
        (6, "policies.fresh.ttl_days: expected a number of at least 0, got -1; using none"),
        (8, "policies.fresh.weights.lexical: expected a number from 0 to 1000000, got -0.5; using 0.4"),
        (9, "policies.fresh.weights.recency: expected a number from 0 to 1000000, got Infinity; using 0.15"),
        (11, "policies.fresh.lexical_bonus.min_ratio: expected a number from 0 to 1, got 2; using 0.3"),
        (12, "policies.fresh.lexical_bonus.term_cap: expected a whole number of at least 1, got 0; using 64"),
        (13, "policies.fresh.lexical_bonus.enabled: expected true or false, got 1; using false"),
        (15, "policies.fresh.hit_boost.half_saturation: expected a number above 0, got 0; using 8"),
        (16, "policies.fresh.hit_boost.tau_days: expected a number of at least 0, got -3; using 14"),
        (18, "policies.fresh.decay_penalty.tau_days: expected a number above 0, got 0; using 30"),
        (19, "policies.steady: ignored; steady comes with tried: give your policy another name"),
        (22, "policies.odd: expected a table of knobs, got 3; ignored"),
        (2, "ranking.policy: policy 'frsh': there is none of that name, so default is used; did you mean fresh?"),
    ]
    settings = load_settings(tmp_path).settings
    assert ranking_policy(settings) == DEFAULT_POLICY
    assert policy_of(settings, "fresh") == DEFAULT_POLICY


def test_a_policy_whose_weights_are_all_zero_is_remarked_upon(tmp_path: Path) -> None:
    zero = "weights = { lexical = 0, structural = 0, recency = 0, importance = 0 }\n"
    text = f"[policies.nothing]\n{zero}[policies.hits]\n{zero}hit_boost.enabled = true\n"
    assert messages(written(tmp_path, text)) == [
        (1, "policies.nothing: all weights are 0: every score is 0, and records are ordered by their ids")
    ]


def test_a_policy_may_be_named_in_one_place_and_written_in_another(tmp_path: Path) -> None:
    folder = written(tmp_path, '[ranking]\npolicy = "mine"\n')
    editor = {"policies": {"mine": {"ttlDays": 3}}}
    assert load_settings(folder, editor).problems == ()
    assert ranking_policy(load_settings(folder, editor).settings).ttl_days == 3.0


@pytest.mark.parametrize("spelled", ["Policies", "POLICIES", "policies"])
def test_another_spelling_is_the_same_setting(tmp_path: Path, spelled: str) -> None:
    text = f"[{spelled}.Fresh]\nhalfLifeDays = 7\n[Ranking]\nPolicy = 'Fresh'\n"
    loaded = load_settings(written(tmp_path, text))
    assert loaded.problems == ()
    assert ranking_policy(loaded.settings).half_life_days == 7.0
    assert load_settings(None, {spelled: {"Fresh": {"halfLifeDays": 7}}}).settings.policies["Fresh"].half_life_days == 7


def test_what_is_refused_is_as_if_it_had_not_been_written(tmp_path: Path) -> None:
    """The policy has the half-life of the ranking, as one that says nothing of it."""
    text = (
        "[ranking]\nhalf_life_days = 90\n[policies.wrong]\nhalf_life_days = nan\n[policies.same]\nhalf_life_days = 30\n"
    )
    settings = load_settings(written(tmp_path, text)).settings
    assert policy_of(settings, "wrong").half_life_days == 90.0
    assert policy_of(settings, "same").half_life_days == 30.0


def test_names_that_nobody_can_tell_apart_or_read(tmp_path: Path) -> None:
    long = "x" * 61
    text = '[policies."🦀"]\nttl_days = 1\n[policies."a.b"]\nttl_days = 1\n[policies.""]\nttl_days = 1\n'
    text += f"[policies.Steady]\nttl_days = 1\n[policies.{long}]\nttl_days = 1\n"
    assert [(line, message.partition(": ")[2]) for line, message in messages(written(tmp_path, text))] == [
        (5, "ignored; the name of a policy has at least 1 and at most 60 characters"),
        (7, "ignored; steady comes with tried: give your policy another name"),
        (9, "ignored; the name of a policy has at least 1 and at most 60 characters"),
    ]
    assert policy_names(load_settings(tmp_path).settings) == ("default", "steady", "a.b", "🦀")


def test_negative_zero_is_zero(tmp_path: Path) -> None:
    text = "[policies.one]\nweights.lexical = -0.0\n[policies.other]\nweights.lexical = 0\n"
    settings = load_settings(written(tmp_path, text)).settings
    assert policy_of(settings, "one").policy_id == policy_of(settings, "other").policy_id


def test_asking_for_what_there_is_not() -> None:
    settings = load_settings(None).settings
    with pytest.raises(PolicyError, match="policy 'stedy': there is none of that name; did you mean steady"):
        policy_of(settings, "stedy")
    with pytest.raises(PolicyError, match="policy 'zzz': there is none of that name; there are default, steady"):
        policy_of(settings, "zzz")
    with pytest.raises(PolicyError, match="half_live_days: no knob of a policy; did you mean half_life_days"):
        policy_of(settings, "steady", {"half_live_days": 3})
    with pytest.raises(PolicyError, match="there is none of that name"):
        policy_of(settings, "")


@pytest.mark.parametrize("wrong", ["policies = 3\n", 'policies = "x"\n', "policies = [1]\n"])
def test_policies_that_are_no_tables(tmp_path: Path, wrong: str) -> None:
    ((line, message),) = messages(written(tmp_path, wrong))
    assert line == 1
    assert message.startswith("policies: expected tables of knobs by name, got ")
