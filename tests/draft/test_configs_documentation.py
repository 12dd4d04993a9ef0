"""docs/configs.md says what the code takes for configs. TRIED_UPDATE_DOCS=1 writes the lists that it shows."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path, PurePath

import pytest

from tried.draft.config_files import (
    CONFIG_FOLDERS,
    FRAMEWORK_KEYS,
    OUTER_FRAMEWORK_KEYS,
    SILENT_GLOBS,
    decided_by_name,
    is_config,
    matches,
)
from tried.draft.entries import Special
from tried.draft.syntax import language_of, parse
from tried.draft.syntax.languages import names_of_languages
from tried.settings.model import ConfigSettings

PAGE = Path(__file__).parents[2] / "docs" / "configs.md"
TITLES = {"yaml": "YAML", "json": "JSON", "toml": "TOML", "python": "Python", "env": "dotenv, shell"}


def code(words: Iterable[str]) -> str:
    return " ".join(f"`{word}`" for word in words)


def languages() -> str:
    rows = [f"| {TITLES[language]} | {code(names)} |" for language, names in names_of_languages().items()]
    return "\n".join(["| language | files |", "|---|---|", *rows])


def marks() -> str:
    rows = [
        ("keys of frameworks, anywhere", FRAMEWORK_KEYS),
        ("keys of frameworks, at the root or one level below it", OUTER_FRAMEWORK_KEYS),
        ("folders in which configs are expected", CONFIG_FOLDERS),
    ]
    return "\n".join(
        ["| what | names |", "|---|---|", *(f"| {what} | {code(sorted(names))} |" for what, names in rows)]
    )


def silent() -> str:
    return code(SILENT_GLOBS)


SECTIONS = {"languages": languages, "marks": marks, "silent": silent}


@pytest.mark.parametrize("name", SECTIONS)
def test_the_page_has_the_names_of_the_code(name: str) -> None:
    section = re.compile(rf"(<!-- {name}: [^\n]*-->\n)(.*?)(<!-- end of {name} -->)", re.DOTALL)
    expected = SECTIONS[name]()
    text = PAGE.read_text(encoding="utf-8")
    if os.environ.get("TRIED_UPDATE_DOCS"):
        text = section.sub(lambda match: f"{match[1]}\n{expected}\n\n{match[3]}", text)
        PAGE.write_text(text, encoding="utf-8")
    found = section.search(text)
    assert found is not None
    assert found[2].strip() == expected


@pytest.mark.parametrize(("language", "globs"), names_of_languages().items())
def test_the_names_of_a_language_are_read_as_it(language: str, globs: list[str]) -> None:
    assert globs
    assert {language_of(glob.replace("*", "some")) for glob in globs} == {language}


def test_every_glob_of_the_page_keeps_its_files_silent() -> None:
    shown = re.search(r"<!-- silent: [^\n]*-->\n(.*?)<!-- end of silent -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert shown is not None
    globs = re.findall(r"`([^`]+)`", shown[1])
    assert len(globs) > 100
    for glob in globs:
        path = PurePath("deep", glob.replace("/**", "/lr.yaml").replace("*", "x"))
        assert decided_by_name(path) is False, glob


@pytest.mark.parametrize("name", ["train.yaml", "config.json", "sweep.toml", "params.yaml", "exp3.yaml"])
def test_where_configs_are_expected_one_telling_name_is_enough(name: str) -> None:
    language = language_of(name) or ""
    one = {"yaml": "lr: 0.1\n", "json": '{"lr": 0.1}', "toml": "lr = 0.1\n"}[language]
    assert f"`{name}`" in PAGE.read_text("utf-8")
    assert is_config(PurePath(name), parse(one, language))
    assert not is_config(PurePath(f"some.{language}"), parse(one, language))


def test_environments_are_judged_as_the_page_says() -> None:
    words = "INT8_CLIP=1\nGPTQ_BITS=2\nSWA_START=1\n"
    assert "`INT8_CLIP`, `GPTQ_BITS`, `SWA_START`" in PAGE.read_text("utf-8")
    assert is_config(PurePath("run.env"), parse(words, "env"))
    assert not is_config(PurePath("run.env"), parse("API_TOKEN=x\n" + words, "env"))
    assert is_config(PurePath("run.env"), parse("API_TOKEN=x\nLR=1\nBATCH_SIZE=2\n", "env"))


def test_the_settings_of_the_page_are_settings() -> None:
    block = re.search(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert block is not None
    settings = ConfigSettings.model_validate(
        {name: tuple(globs) for name, globs in tomllib.loads(block[1])["config"].items()}
    )
    assert matches(PurePath("runs/a/b/c.yaml"), settings.include[0])
    assert matches(PurePath("configs/legacy/a/b.yaml"), settings.exclude[0])
    assert matches(PurePath("any/where/x.generated.json"), settings.exclude[1])


def test_the_script_of_the_page_is_read_as_it_says() -> None:
    found = re.search(r"```python\n(.*?)```\n\nis read as (.*?)\.\n", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    parsed = parse(found[1], "python")
    said = {name: float(value) for name, value in re.findall(r"`([\w.]+)` = ([\d.]+\d)", found[2])}
    read = {
        ".".join(map(str, entry.path)): entry.value
        for entry in parsed.entries
        if isinstance(entry.value, int | float) and not isinstance(entry.value, Special)
    }
    assert len(said) == 3
    assert read == said
    assert is_config(PurePath("train.py"), parsed)
