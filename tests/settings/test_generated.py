"""What is made from the models of the settings is what the repository holds, and says the same as the server does.

TRIED_UPDATE_DOCS=1 writes docs/settings.md, docs/tried.schema.json and the settings in vscode-client/package.json.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator
from pydantic.fields import FieldInfo

from tried.ranking.policy import Weights
from tried.settings import RemoteSettings, Settings, Silence, SourceSettings, load_settings
from tried.settings.extension_manifest import (
    CATEGORIES,
    RESTRICTED,
    configuration,
    editor_name,
    manifest_with_settings,
)
from tried.settings.extension_model import ExtensionSettings
from tried.settings.finding_names import SEVERITY_KEY_PATTERN, SEVERITY_KEYS
from tried.settings.json_schema import group_of, toml_schema, value_schema
from tried.settings.reference import MANIFEST, SCHEMA, generated, main, write

REPOSITORY = Path(__file__).parents[2]


@pytest.mark.parametrize("name", generated(), ids=str)
def test_what_is_generated_is_up_to_date(name: Path) -> None:
    path = REPOSITORY / name
    if name == MANIFEST and not path.exists():
        pytest.skip("there is no vscode-client here: the package of Python comes without it")
    if os.environ.get("TRIED_UPDATE_DOCS"):
        write(REPOSITORY)
    held = path.read_text(encoding="utf-8")
    assert held == generated()[name](held), "run: python -m tried.settings.reference --write"


class TestSchemaOfTriedToml:
    """Draft-07, checked by another implementation than ours."""

    @pytest.fixture
    def schema(self) -> Any:
        return json.loads((REPOSITORY / SCHEMA).read_text(encoding="utf-8"))

    def test_it_is_a_schema(self, schema: Any) -> None:
        Draft7Validator.check_schema(schema)
        assert schema["$schema"] == "http://json-schema.org/draft-07/schema#"

    def test_every_table_is_closed_and_everything_is_described(self, schema: Any) -> None:
        tables = [one for one in objects(schema) if one.get("type") == "object" and "properties" in one]
        assert len(tables) == 23  # the whole, 14 groups, a policy with its 4, [[pool.sources]], [[remote]], [[silence]]
        for table in tables:
            assert table["additionalProperties"] is False
            assert all(len(one["description"]) > 15 for one in table["properties"].values())

    @pytest.mark.parametrize(
        "text",
        [
            "",
            'research_line = "tiny-vision"\n',
            '[pool]\nsources = ["logs/*.jsonl", { path = "mlflow.db", experiments = ["vision-*"], max_age_days = 9 }]\n'
            'disable = ["wandb"]\n',
            '[[pool.sources]]\npath = "a"\nstatuses = ["failed", "crashed"]\nmax_age_days = 0.5\n',
            '[metrics]\ndirections = { tokens_per_second = "max", "val/loss" = "min" }\n',
            '[findings.severity]\n"near/out_of_memory" = "hover"\nknob = "off"\n[findings]\nminimum_similarity = 1\n',
            '[[silence]]\npath = "configs/baseline.json"\ncode = "dead-end"\nreason = "kept"\n[[silence]]\nid = "x"\n',
            "inlay_hints.enable = true\n[editor]\ndebounce_ms = 0\nmax_file_bytes = 104857600\n",
            '[[remote]]\nkind = "mlflow"\naddress = "https://mlflow.example.org"\ninterval_seconds = 5\n',
            '[[remote]]\nkind = "wandb"\nprojects = ["team/vision"]\n',
            '[ranking]\npolicy = "late"\n[policies.late]\nhalf_life_days = -1\nweights = { lexical = 0 }\n',
            "[policies.mine.hit_boost]\nenabled = true\nhalf_saturation = 0.5\n[trace]\nenabled = true\n",
        ],
    )
    def test_what_is_right_is_valid(self, schema: Any, text: str) -> None:
        document = tomllib.loads(text)
        assert list(Draft7Validator(schema).iter_errors(document)) == []
        assert load_settings(None, document).problems == ()

    @pytest.mark.parametrize(
        "text",
        [
            "research_line = 3\n",
            'research_line = ""\n',
            "[ranking]\nlimit = 0\n",
            "[ranking]\nlimit = 1001\n",
            "[ranking]\nlmit = 4\n",
            "rankng = { }\n",
            '[ranking]\nhalf_life_days = "week"\n',
            '[pool]\nexclude = "runs"\n',
            "[pool]\nsources = [3]\n",
            '[pool]\nsources = [""]\n',
            '[[pool.sources]]\nresearch_line = "no path"\n',
            '[[pool.sources]]\npath = "a"\nstatuses = ["fine"]\n',
            '[[pool.sources]]\npath = "a"\nmax_age_days = 0\n',
            '[[pool.sources]]\npath = "a"\nextra = 1\n',
            '[metrics.directions]\naccuracy = "up"\n',
            '[findings.severity]\n"dead-end/wrse" = "off"\n',
            '[findings.severity]\nnear = "loud"\n',
            '[[silence]]\nreason = "nothing to match"\n',
            '[[silence]]\ncode = "deadend"\n',
            '[[remote]]\naddress = "https://mlflow.example.org"\n',
            '[[remote]]\nkind = "mlflow"\n',
            '[[remote]]\nkind = "wandb"\nprojects = []\n',
            '[[remote]]\nkind = "mlflow"\naddress = "https://a.example"\ninterval_seconds = 1\n',
            'path = ["/opt/tools/bin/tried"]\n',
            "[policies.steady]\nhalf_life_days = 3\n",
            "[policies.mine]\nhalf_live_days = 3\n",
            "[policies.mine.weights]\nlexical = -0.5\n",
            "[policies.mine.lexical_bonus]\nmin_ratio = 1.5\n",
            "[policies.mine.lexical_bonus]\nterm_cap = 0\n",
            "[policies.mine.hit_boost]\nhalf_saturation = 0\n",
            "[policies]\nmine = 3\n",
            '[trace]\nserver = "off"\n',
            "[policies.Default]\nhalf_life_days = 3\n",
            '[policies.""]\nhalf_life_days = 3\n',
        ],
    )
    def test_what_is_wrong_is_not(self, schema: Any, text: str) -> None:
        document = tomllib.loads(text)
        assert not Draft7Validator(schema).is_valid(document)

    def test_the_keys_of_severities_are_those_of_the_pattern(self) -> None:
        heads = ("repeat", "move", "knob", "near", "dead-end")
        reasons = ("", "/judged", "/out_of_memory", "/diverged", "/worse", "/code_error", "/infrastructure", "/stopped")
        every = {f"{head}{reason}" for head in heads for reason in (*reasons, "/unknown")}
        assert set(SEVERITY_KEYS) == every
        assert all(re.search(SEVERITY_KEY_PATTERN, key) for key in every)
        assert not any(
            re.search(SEVERITY_KEY_PATTERN, key) for key in ("", "nea", "near/", "near/x", "xnear", "/worse")
        )


LEAVES = (
    st.integers(-1, 1_001)
    | st.sampled_from([0.5, 1.0, -0.5, 1e9])
    | st.booleans()
    | st.sampled_from(["", "x", "off", "hover", "max", "mlflow", "wandb", "failed", "repeat", "dead-end", "*.tsv"])
)
ANYTHING = LEAVES | st.lists(LEAVES, max_size=2) | st.dictionaries(st.sampled_from(["path", "x"]), LEAVES, max_size=1)


def likely(info: FieldInfo) -> st.SearchStrategy[Any]:
    """Values of which many are right."""
    schema = value_schema(info)
    kind = schema["type"]
    if "patternProperties" in schema:
        keys = st.sampled_from([*SEVERITY_KEYS, "nearly"])
        return st.dictionaries(keys, st.sampled_from(["off", "warning", "loud"]), max_size=2)
    if kind == "array" and (table := next(filter(is_table, options_of(schema["items"])), None)) is not None:
        models = {frozenset(one.model_fields): one for one in (SourceSettings, RemoteSettings, Silence)}
        fields = models[frozenset(table["properties"])].model_fields
        return st.lists(table_of(fields) | LEAVES, max_size=2)
    if "propertyNames" in schema:
        return st.dictionaries(
            st.sampled_from(["mine", "late", "steady", "Steady", "steadyer", ""]), POLICY_TABLES | LEAVES, max_size=2
        )
    likely_ones: dict[str, st.SearchStrategy[Any]] = {
        "boolean": st.booleans(),
        "integer": st.sampled_from([0, 1, 5, 1000, 1001, 2048, 1.5]),
        "number": st.sampled_from([0, 0.0, 0.5, 1, 1.5, 5, 36_500, 36_501]),
        "string": st.sampled_from(schema.get("enum", ["some text", "", "https://a.example"])),
        "array": st.lists(st.sampled_from(schema.get("items", {}).get("enum", ["a", "b/*"])), max_size=2),
        "object": st.dictionaries(st.sampled_from(["loss", "acc"]), st.sampled_from(["min", "max", "up"]), max_size=2),
    }
    return likely_ones[kind]


WEIGHTS = st.dictionaries(st.sampled_from([*Weights.model_fields, "x"]), st.sampled_from([0, 0.5, 2, -1]), max_size=2)
POLICY_TABLES = st.fixed_dictionaries(
    {}, optional={"weights": WEIGHTS | LEAVES, "half_life_days": LEAVES, "ttl_days": LEAVES, "hit_boost": WEIGHTS}
)


def options_of(items: dict[str, Any]) -> list[dict[str, Any]]:
    return list(items.get("anyOf", [items])) if items.get("type") != "object" else [items]


def is_table(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object"


def table_of(fields: Mapping[str, FieldInfo]) -> st.SearchStrategy[dict[str, Any]]:
    """Some fields with likely values, rarely one with any value or a name that nobody knows."""
    right = st.fixed_dictionaries(
        {name: likely(info) for name, info in fields.items() if info.is_required()},
        optional={name: likely(info) for name, info in fields.items() if not info.is_required()},
    )
    odd = st.dictionaries(st.sampled_from([*fields, "x"]), ANYTHING, max_size=1)
    return st.builds(lambda one, other, mixed: {**one, **other} if mixed else one, right, odd, st.booleans())


PARTS = {
    name: table_of(group.model_fields) if (group := group_of(info)) else likely(info)
    for name, info in Settings.model_fields.items()
}
DOCUMENTS = st.lists(st.sampled_from(sorted(PARTS)), max_size=2, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: PARTS[name] for name in names})
)


UNKNOWN = re.compile("is no kind of source|there is none of that name|all weights are 0")


@settings(max_examples=400)
@given(DOCUMENTS)
def test_the_schema_and_the_server_take_the_same(document: dict[str, Any]) -> None:
    """Kinds of sources that nobody knows may be those of a plug-in, and policies are named in other places.
    An empty list in the place of a table is what Lua
    makes of an empty one, and forgiven."""
    forgiven = {name: value for name, value in document.items() if value != []}
    valid = Draft7Validator(toml_schema()).is_valid(_without_empty_lists_for_tables(forgiven))
    problems = [one for one in load_settings(None, forgiven).problems if not UNKNOWN.search(one.message)]
    assert valid == (problems == []), problems


def _without_empty_lists_for_tables(document: dict[str, Any]) -> dict[str, Any]:
    """Also of the two tables inside of tables."""
    cleaned = json.loads(json.dumps(document))
    for group, name in (("metrics", "directions"), ("findings", "severity")):
        if isinstance(cleaned.get(group), dict) and cleaned[group].get(name) == []:
            del cleaned[group][name]
    return dict(cleaned)


class TestManifest:
    """The settings as VS Code lists them."""

    def properties(self) -> dict[str, Any]:
        return {name: one for category in configuration() for name, one in category["properties"].items()}

    def test_every_setting_is_in_one_category(self) -> None:
        placed = [name for _, groups in CATEGORIES for name in groups]
        assert sorted(placed) == sorted(Settings.model_fields)
        assert [category["order"] for category in configuration()] == [1, 2, 3, 4, 5, 6]
        assert len(self.properties()) == sum(len(category["properties"]) for category in configuration())

    def test_names_are_those_of_vscode(self) -> None:
        assert editor_name(("ranking", "half_life_days")) == "tried.ranking.halfLifeDays"
        assert {
            "tried.path",
            "tried.interpreter",
            "tried.importStrategy",
            "tried.logLevel",
            "tried.trace.server",
            "tried.researchLine",
            "tried.inlayHints.enable",
            "tried.codeLens.enable",
            "tried.editor.debounceMs",
            "tried.pool.sources",
            "tried.remote",
            "tried.silence",
        } <= set(self.properties())

    def test_what_names_servers_places_or_programs_is_not_for_a_workspace(self) -> None:
        scopes = {name: one["scope"] for name, one in self.properties().items()}
        assert {name for name, scope in scopes.items() if scope == "machine"} == {
            "tried.remote",
            "tried.pool.sources",
            "tried.trace.candidates",
            "tried.trace.includeText",
            "tried.trace.maxMb",
        }
        assert {name for name, scope in scopes.items() if scope == "machine-overridable"} == {
            "tried.path",
            "tried.interpreter",
        }
        assert {name for name, scope in scopes.items() if scope == "window"} == {
            "tried.importStrategy",
            "tried.logLevel",
            "tried.trace.server",
        }
        assert set(scopes.values()) == {"machine", "machine-overridable", "window", "resource"}
        assert set(RESTRICTED) <= set(scopes)

    def test_every_setting_is_described_has_a_default_that_fits_and_a_place(self) -> None:
        for category in configuration():
            assert [one["order"] for one in category["properties"].values()] == [
                *range(1, len(category["properties"]) + 1)
            ]
        for name, one in self.properties().items():
            Draft7Validator.check_schema(one)
            assert len(one["markdownDescription"]) > 15, name
            assert Draft7Validator(one).is_valid(one["default"]), name

    def test_limits_and_choices_are_those_of_the_server(self) -> None:
        properties = self.properties()
        assert properties["tried.ranking.limit"] | {"markdownDescription": "", "order": 0} == {
            "type": "integer",
            "scope": "resource",
            "default": 20,
            "markdownDescription": "",
            "minimum": 1,
            "maximum": 1000,
            "order": 0,
        }
        severity = properties["tried.findings.severity"]
        (values,) = severity["patternProperties"].values()
        assert values["enum"] == ["warning", "information", "hover", "off"]
        assert len(values["enumDescriptions"]) == 4
        source = properties["tried.pool.sources"]["items"]["anyOf"][1]
        assert "researchLine" in source["properties"]
        assert properties["tried.inlayHints.enable"]["default"] is False
        assert properties["tried.researchLine"]["type"] == ["string", "null"]

    def test_the_server_takes_what_vscode_writes(self) -> None:
        """The names of the editor, at every depth."""
        told = {
            "tried.ranking.halfLifeDays": 7,
            "tried.inlayHints.enable": True,
            "tried.pool.sources": ["a.jsonl", {"path": "/b", "researchLine": "x", "maxAgeDays": 3}],
            "tried.metrics.directions": {"valLoss": "min"},
            "tried.remote": [{"kind": "wandb", "projects": ["a/b"], "intervalSeconds": 30}],
        }
        for name, value in told.items():
            assert Draft7Validator(self.properties()[name]).is_valid(value), name

        loaded = load_settings(Path("/work"), told)

        assert loaded.problems == ()
        assert loaded.settings.ranking.half_life_days == 7
        assert loaded.settings.inlay_hints.enable
        assert [source.research_line for source in loaded.settings.pool.sources] == [None, "x"]
        assert dict(loaded.settings.metrics.directions) == {"valLoss": "min"}
        assert loaded.settings.remote[0].interval_seconds == 30

    def test_nothing_else_of_the_manifest_changes(self) -> None:
        before = (
            '{\n  "name": "x",   "odd": [1,2 ],\n'
            '  "capabilities": {"untrustedWorkspaces": {"restrictedConfigurations": ["a"], "supported": "limited"}},\n'
            '  "contributes": {\n    "configuration": [],\n    "é": "\\u00e9"\n  }\n}\n'
        )

        after = manifest_with_settings(before)

        start, end = before.split('"configuration": []')
        assert after.endswith(end)
        assert after.startswith(start.split('["a"]')[0])
        assert start.split('["a"]')[1] in after
        assert json.loads(after)["contributes"]["configuration"] == configuration()
        assert manifest_with_settings(after) == after

    @pytest.mark.parametrize("text", ["{}", '{"contributes": {}}', "", "[]"])
    def test_a_manifest_without_a_place_for_settings_is_refused(self, text: str) -> None:
        with pytest.raises(ValueError, match=re.escape("there is no contributes.configuration in it")):
            manifest_with_settings(text)


def test_one_command_writes_all_that_has_changed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "vscode-client").mkdir()
    manifest = tmp_path / MANIFEST
    manifest.write_text(
        '{"contributes": {"configuration": 1}, "capabilities":'
        ' {"untrustedWorkspaces": {"restrictedConfigurations": []}}}'
    )

    assert write(tmp_path) == [tmp_path / name for name in generated()]
    assert write(tmp_path) == []
    manifest.unlink()
    (tmp_path / SCHEMA).write_text("{}")
    assert write(tmp_path) == [tmp_path / SCHEMA]


def test_the_command_says_how_it_is_used(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--wite"]) == 2
    assert capsys.readouterr().err == "usage: python -m tried.settings.reference [--write]\n"
    done = subprocess.run([sys.executable, "-m", "tried.settings.reference"], capture_output=True, check=True)
    assert done.stdout.decode().startswith("# Settings\n")


def test_settings_of_an_extension_are_no_mistake_where_an_editor_sends_them() -> None:
    """Not only from VS Code: whoever copies its settings into the configuration of another editor sends them, too."""
    own = {"path": ["tried"], "interpreter": [], "importStrategy": "useBundled", "logLevel": "off", "trace": {}}
    assert {editor_name((name,)) for name in ExtensionSettings.model_fields} == {f"tried.{name}" for name in own}
    nested = {**own, "trace": {"server": "verbose"}, "editor": {"debounceMs": 7}}
    dotted = {f"tried.{name}": value for name, value in own.items()} | {"tried.trace.server": "off"}

    for sent in (own, nested, {"tried": nested}, dotted):
        assert load_settings(None, sent).problems == (), sent


def test_in_a_file_they_are_told_where_they_belong(tmp_path: Path) -> None:
    (tmp_path / "tried.toml").write_text('importStrategy = "useBundled"\n[trace]\nserver = "off"\n')

    assert [(problem.line, problem.message) for problem in load_settings(tmp_path).problems] == [
        (1, "importStrategy: ignored; only an editor has this setting, put it into the editor's settings"),
        (3, "trace.server: ignored; only an editor has this setting, put it into the editor's settings"),
    ]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(inner)
