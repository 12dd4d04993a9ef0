"""Settings from files, editor and flags: who wins, and what is said about mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError
from settings_files import told, write

from tried.findings.settings import FindingSettings
from tried.settings import LoadedSettings, Settings, has_settings, load_settings
from tried.settings.reference import settings_markdown

REPOSITORY = Path(__file__).parents[2]


def test_without_any_file_the_defaults_hold(tmp_path: Path) -> None:
    loaded = load_settings(tmp_path)

    assert loaded.settings == Settings()
    assert loaded.problems == ()
    assert loaded.settings.ranking.half_life_days == 30.0
    assert loaded.settings.editor.debounce_ms == 200
    assert loaded.settings.editor.typing_pause_ms == 1500
    assert loaded.settings.pool.discover is True


def test_a_later_place_wins_and_leaves_the_rest_of_a_table(tmp_path: Path) -> None:
    write(tmp_path, "[tool.tried.ranking]\nlimit = 1\nhalf_life_days = 1\n", "pyproject.toml")
    write(tmp_path, "[ranking]\nlimit = 2\n[editor]\ndebounce_ms = 2\n")

    files_alone = load_settings(tmp_path).settings
    with_editor = load_settings(tmp_path, {"ranking": {"limit": 3}}).settings
    with_flags = load_settings(tmp_path, {"ranking": {"limit": 3}}, {"ranking": {"limit": 4}}).settings

    assert (files_alone.ranking.limit, files_alone.ranking.half_life_days, files_alone.editor.debounce_ms) == (2, 1, 2)
    assert (with_editor.ranking.limit, with_editor.ranking.half_life_days) == (3, 1)
    assert with_flags.ranking.limit == 4


def test_tables_are_merged_by_key_and_some_lists_add_up(tmp_path: Path) -> None:
    write(tmp_path, '[tool.tried]\nmetrics.directions = { a = "min", b = "min" }\n', "pyproject.toml")
    write(tmp_path, 'metrics.directions = { b = "max" }\nsilence = [{ path = "one" }]\nconfig.include = ["*.cfg"]\n')

    settings = load_settings(
        tmp_path, {"silence": [{"path": "two"}], "config": {"include": ["*.ini", "*.cfg"]}}
    ).settings

    assert dict(settings.metrics.directions) == {"a": "min", "b": "max"}
    assert [silence.path for silence in settings.silence] == ["one", "two"]
    assert settings.config.include == ("*.cfg", "*.ini")


@pytest.mark.parametrize(
    "editor",
    [
        {"editor": {"debounce_ms": 7}},
        {"tried": {"editor": {"debounce_ms": 7}}},
        {"tried.editor.debounceMs": 7},
        {"editor.debounce-ms": 7},
        {"tried": {"editor": {"debounceMs": 7, "typingPauseMs": None}, "trace": {"server": "off"}, "path": []}},
    ],
)
def test_editors_spell_settings_in_their_own_ways(editor: dict[str, Any]) -> None:
    loaded = load_settings(None, editor)

    assert loaded.settings.editor.debounce_ms == 7
    assert loaded.settings.editor.typing_pause_ms == 1500
    assert loaded.problems == ()


def test_what_an_empty_lua_table_becomes_is_no_mistake() -> None:
    loaded = load_settings(None, {"metrics": {"directions": []}, "ranking": []})

    assert loaded == LoadedSettings()


@pytest.mark.parametrize("editor", [None, 3, "x", [], [1], {"": 1, ".": 2, "a..b": 3}, {"ranking": {"limit": {}}}])
def test_nonsense_of_an_editor_never_raises(editor: Any) -> None:
    assert load_settings(None, editor).settings.ranking.limit == 20


def test_each_mistake_is_told_with_its_line_what_is_accepted_and_what_is_used(tmp_path: Path) -> None:
    write(
        tmp_path,
        """research_line = 3
[ranking]
# the list
limit = 0
half_life_days = "week"
lmit = 4
[pool]
discover = "yes"
exclude = "runs"
[metrics.directions]
accuracy = "up"
[rankng]
x = 1
[findings.severity]
"dead-end/worse" = "loud"
"dead-end/wrse" = "off"
""",
    )

    assert told(load_settings(tmp_path)) == [
        (1, "research_line: expected some text, got 3; using none"),
        (4, "ranking.limit: expected a whole number from 1 to 1000, got 0; using 20"),
        (5, 'ranking.half_life_days: expected a number from 0 to 36500, got "week"; using 30'),
        (6, "ranking.lmit: unknown setting, ignored; did you mean limit?"),
        (8, 'pool.discover: expected true or false, got "yes"; using true'),
        (9, 'pool.exclude: expected a list of text, got "runs"; ignored'),
        (11, 'metrics.directions.accuracy: expected one of "min", "max", got "up"; ignored'),
        (12, "rankng: unknown setting, ignored; did you mean ranking?"),
        (
            15,
            'findings.severity.dead-end/worse: expected one of "warning", "information", "hover", "off", got "loud";'
            " ignored",
        ),
        (
            16,
            "findings.severity.dead-end/wrse: unknown setting, ignored; did you mean dead-end/worse? keys are repeat,"
            " move, knob, near, dead-end, alone or with a reason behind a slash (judged, out_of_memory, diverged,"
            " worse, code_error, infrastructure, stopped, unknown)",
        ),
    ]


def test_a_severity_like_none_is_told_the_pattern_and_not_the_whole_list(tmp_path: Path) -> None:
    write(tmp_path, '[findings.severity]\n"xyz" = "off"\n')

    ((line, message),) = told(load_settings(tmp_path))

    assert line == 2
    assert message.startswith("findings.severity.xyz: unknown setting, ignored; keys are repeat, move, knob, near, ")
    assert len(message) < 250


def test_the_header_of_a_pyproject_is_told_to_go(tmp_path: Path) -> None:
    write(tmp_path, "# ours\n[tool.tried.ranking]\nlimit = 3\n")

    loaded = load_settings(tmp_path)

    assert loaded.settings.ranking.limit == 20
    assert told(loaded) == [
        (2, "tool: ignored; tried.toml has no header [tool.tried]: drop it, and `tool.tried.` before others")
    ]


def test_a_wrong_value_leaves_that_of_the_next_weaker_place(tmp_path: Path) -> None:
    write(tmp_path, "[ranking]\nlimit = 7\n")

    loaded = load_settings(tmp_path, {"ranking": {"limit": "many"}})

    assert loaded.settings.ranking.limit == 7
    assert told(loaded) == [
        (1, 'editor settings: ranking.limit: expected a whole number from 1 to 1000, got "many"; using 7')
    ]
    assert loaded.problems[0].path is None


@pytest.mark.parametrize(
    ("content", "line", "start"),
    [
        (b"a = 1\nb = \n", 2, "not TOML: "),
        (b"[pool\n", 1, "not TOML: "),
        (b"a = 1\n\xff\n", 2, "not UTF-8 text"),
        (b"x = " + b"[" * 20_000, 1, "nested too deeply"),
        (b"#" * 1_100_000, 1, "larger than 1048576 bytes"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_the_defaults_hold(
    tmp_path: Path, content: bytes, line: int, start: str
) -> None:
    (tmp_path / "tried.toml").write_bytes(content)

    loaded = load_settings(tmp_path)

    assert loaded.settings == Settings()
    assert [(problem.line, problem.message[: len(start)]) for problem in loaded.problems] == [(line, start)]


def test_a_folder_in_place_of_the_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "tried.toml").mkdir()

    assert told(load_settings(tmp_path)) == [(1, "expected a file here, and this is none; defaults are used")]


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    (tmp_path / "tried.toml").write_bytes(b"\xef\xbb\xbf[ranking]\r\nlimit = 3\r\nx = 1\r\n")

    loaded = load_settings(tmp_path)

    assert loaded.settings.ranking.limit == 3
    assert [problem.line for problem in loaded.problems] == [3]


def test_a_pyproject_without_a_word_about_tried_is_somebody_elses(tmp_path: Path) -> None:
    write(tmp_path, "[broken\n", "pyproject.toml")

    assert load_settings(tmp_path) == LoadedSettings()
    assert not has_settings(tmp_path)


def test_a_broken_pyproject_that_speaks_of_tried_is_told(tmp_path: Path) -> None:
    write(tmp_path, "[tool.tried]\nresearch_line = \n", "pyproject.toml")

    assert [problem.line for problem in load_settings(tmp_path).problems] == [2]
    assert has_settings(tmp_path)


def test_lines_are_those_of_pyproject_too(tmp_path: Path) -> None:
    write(tmp_path, "[project]\nname = 'x'\n[tool.tried.ranking]\nlimit = 'x'\n", "pyproject.toml")

    assert [(p.line, p.key) for p in load_settings(tmp_path).problems] == [(4, "ranking.limit")]


class TestSilence:
    def test_a_table_with_a_mistake_silences_nothing(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            '[[silence]]\npath = "a.json"\ncode = "repeat"\nreason = "on purpose"\n'
            '[[silence]]\npath = "b.json"\ncodes = "repeat"\n'
            '[[silence]]\nreason = "why not"\n'
            "[[silence]]\nkey = 3\n",
        )

        loaded = load_settings(tmp_path)

        assert [silence.path for silence in loaded.settings.silence] == ["a.json"]
        assert told(loaded) == [
            (7, "silence[1].codes: unknown setting, this table silences nothing; did you mean code?"),
            (8, "silence[2]: needs a path, key, code or id; this table silences nothing"),
            (11, "silence[3].key: expected some text, got 3; this table silences nothing"),
        ]

    @pytest.mark.parametrize(
        "code", ["repeat", "dead-end", "move", "knob", "near", "dead-end/near", "dead-end/diverged", "repeat/worse"]
    )
    def test_every_kind_of_finding_can_be_named(self, tmp_path: Path, code: str) -> None:
        write(tmp_path, f'[[silence]]\ncode = "{code}"\n')

        loaded = load_settings(tmp_path)

        assert ([silence.code for silence in loaded.settings.silence], loaded.problems) == ([code], ())

    @pytest.mark.parametrize(
        ("code", "hint"),
        [
            ("dead_end", "did you mean dead-end?"),
            ("nera", "did you mean near?"),
            ("E501", "write repeat, dead-end, or a kind such as dead-end/near"),
        ],
    )
    def test_a_code_that_does_not_exist_is_told(self, tmp_path: Path, code: str, hint: str) -> None:
        write(tmp_path, f'[[silence]]\npath = "a.json"\ncode = "{code}"\n')

        loaded = load_settings(tmp_path)

        assert loaded.settings.silence == ()
        assert told(loaded) == [(3, f'silence[0].code: "{code}" is no code, this table silences nothing; {hint}')]


def test_settings_are_immutable() -> None:
    settings = load_settings(None, {"metrics": {"directions": {"a": "min"}}}).settings

    with pytest.raises(ValidationError):
        settings.ranking.limit = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        settings.metrics.directions["a"] = "max"  # type: ignore[index]


def test_thresholds_default_to_those_of_the_rules() -> None:
    rules, settings = FindingSettings(), Settings().findings

    for name in type(settings).model_fields:
        if name not in ("enable", "severity", "calibrate"):
            assert getattr(settings, name) == getattr(rules, name), name


def test_every_setting_is_described() -> None:
    text = settings_markdown()

    for name, info in Settings.model_fields.items():
        group = info.annotation
        members = getattr(group, "model_fields", None)
        for key, member in (members or {name: info}).items():
            assert member.description, key
            assert f"### `{name}.{key}`" in text or f"### `{key}`" in text


def test_the_documentation_is_that_of_the_model() -> None:
    documented = (REPOSITORY / "docs" / "settings.md").read_text(encoding="utf-8")

    assert documented == settings_markdown(), "run: python -m tried.settings.reference --write"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


KEYS = st.sampled_from(["pool", "ranking", "silence", "findings", "metrics", "editor", "config", "research_line", "x"])


@example({"editor": {"pool": {"\n": False}}})
@example({"metrics": {"directions": {"a\r\x1b[31m\u2028\ud800": "up"}}})
@example({"x" * 10_000: 1, "": {"\0": []}})
@given(st.dictionaries(KEYS, JSON | st.dictionaries(st.sampled_from(["sources", "limit", "severity", "path"]), JSON)))
def test_any_json_gives_valid_settings(editor: dict[str, Any]) -> None:
    loaded = load_settings(None, editor)

    assert Settings.model_validate(dict(loaded.settings)) == loaded.settings
    assert all(problem.message.isprintable() and len(problem.message) < 2_000 for problem in loaded.problems)


def test_a_key_that_cannot_be_printed_is_told_by_its_escapes() -> None:
    (problem,) = load_settings(None, {"ranking": {"a\nb\x1b": 1}}).problems

    assert problem.message.startswith(r"editor settings: ranking.a\nb\x1b: unknown setting, ignored; ")


def test_a_whole_number_may_be_written_as_1_0() -> None:
    """Lua and TOML have 300.0 where people mean 300; a schema lets it pass."""
    loaded = load_settings(None, {"editor": {"debounce_ms": 300.0}, "ranking": {"limit": 7.5}})
    assert loaded.settings.editor.debounce_ms == 300
    assert [problem.message for problem in loaded.problems] == [
        "editor settings: ranking.limit: expected a whole number from 1 to 1000, got 7.5; using 20"
    ]


def test_a_project_cannot_say_how_much_of_the_users_folder_traces_take_nor_that_they_hold_text(tmp_path: Path) -> None:
    """A clone with `max_mb = 1` would delete the traces of all other workspaces."""
    write(tmp_path, "[trace]\nenabled = true\ncandidates = 9\nmax_mb = 1\ninclude_text = true\n")

    loaded = load_settings(tmp_path)
    trace = loaded.settings.trace
    assert (trace.enabled, trace.candidates, trace.max_mb, trace.include_text) == (True, 500, 64, False)
    assert [(problem.line, problem.key) for problem in loaded.problems] == [
        (3, "trace.candidates"),
        (4, "trace.max_mb"),
        (5, "trace.include_text"),
    ]
    assert all("refused: no project may say so; put it into " in problem.message for problem in loaded.problems)

    by_the_user = load_settings(tmp_path, {"trace": {"maxMb": 7}}).settings.trace
    assert (by_the_user.max_mb, by_the_user.enabled) == (7, True)
