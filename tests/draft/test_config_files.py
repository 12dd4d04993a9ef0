import random
from pathlib import Path, PurePath

import pytest

from tried.draft.config_files import decided_by_name, is_config, is_silent_name, matches
from tried.draft.entries import ParsedConfig
from tried.draft.syntax import language_of, parse

ROOT = Path(__file__).parents[2]
REAL_CONFIGS = ROOT.parent / "shared" / "data" / "configs"


def judged(path: str, text: str, *, beside_table: bool = False) -> bool:
    parsed = parse(text, language_of(path) or "yaml")
    return is_config(PurePath(path), parsed, has_results_table_beside=beside_table)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("first.yaml", "lr: 0.1\nbatch_size: 32\n"),
        ("a/b.yaml", "training:\n  learning_rate: 1e-3\n  epochs: 3\n"),
        ("conf/optimizer/sgd.yaml", "_target_: torch.optim.SGD\nlr: 0.01\n"),
        ("conf/data/small.yaml", "# @package _global_\n\ndata: {rows: 10}\n"),
        ("conf/config.yaml", "defaults:\n  - model: small\n"),
        ("params.yaml", "split:\n  test_size: 0.2\n  random_state: 3\n"),
        ("hparams/train.yaml", "output: !ref <folder>/x\n"),
        ("merge.yaml", "model_name_or_path: org/model\ntemplate: llama3\n"),
        ("run.json", '{"lr": "0.1", "seqlen": 8, "batch_size": "3"}'),
        ("ds_config.json", '{"train_micro_batch_size_per_gpu": "auto"}'),
        ("train.toml", "[optimizer]\nlr = 8e-4\n[training]\nseq_len = 2048\n"),
        ("multi.yaml", "lr: 0.1\nepochs: 2\n---\nlr: 0.2\nepochs: 2\n"),
        ("half.yaml", "lr: 0.1\nbatch_size: 32\noptimizer: {name: ad\n"),
        ("MLproject", "name: x\nentry_points:\n  main:\n    parameters:\n      lr: 0.1\n      batch_size: 3\n"),
    ],
)
def test_experiment_configs(path: str, text: str) -> None:
    assert judged(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("docker-compose.yml", "services:\n  train:\n    image: x\n    environment:\n      LR: 0.1\n      EPOCHS: 3\n"),
        ("stack.yaml", "services:\n  train:\n    build: .\n    lr: 0.1\n    batch_size: 3\n"),
        (
            ".github/workflows/ci.yml",
            "on: push\njobs:\n  train:\n    runs-on: ubuntu\n    env: {lr: 1, batch_size: 2}\n",
        ),
        ("sub/.github/workflows/ci.yml", "lr: 0.1\nbatch_size: 3\n"),
        (".gitlab-ci.yml", "train:\n  script: python train.py\n  variables: {LR: 0.1, BATCH_SIZE: 3}\n"),
        (".circleci/config.yml", "lr: 0.1\nbatch_size: 3\n"),
        ("job.yaml", "apiVersion: batch/v1\nkind: Job\nspec:\n  lr: 0.1\n  batch_size: 3\n"),
        ("two.yaml", "lr: 0.1\nbatch_size: 3\n---\napiVersion: v1\nkind: Service\n"),
        ("package.json", '{"name": "x", "lr": 1, "batch_size": 3}'),
        ("package-lock.json", '{"lr": 1, "batch_size": 3}'),
        ("poetry.lock", "lr: 1"),
        ("tsconfig.base.json", '{"lr": 1, "batch_size": 3}'),
        ("pyproject.toml", "lr = 1\nbatch_size = 3\n"),
        ("Cargo.toml", "lr = 1\nbatch_size = 3\n"),
        ("tried.toml", "lr = 1\nbatch_size = 3\n"),
        (".pre-commit-config.yaml", "lr: 1\nbatch_size: 3\n"),
        ("mkdocs.yml", "lr: 1\nbatch_size: 3\n"),
        ("conda.yml", "name: x\ndependencies: [python]\nlr: 1\nbatch_size: 2\n"),
        ("other.yml", "name: x\nchannels: [a]\ndependencies: [python]\nlr: 1\nbatch_size: 2\n"),
        ("dvc.lock", "lr: 1\nbatch_size: 3\n"),
        ("dvc.yaml", "stages:\n  train:\n    cmd: python train.py\n    lr: 1\n    batch_size: 3\n"),
        ("api.yaml", "openapi: 3.0.0\npaths: {}\nlr: 1\nbatch_size: 3\n"),
        ("settings.schema.json", '{"lr": 1, "batch_size": 3}'),
        ("any.json", '{"$schema": "x", "properties": {"lr": 1, "batch_size": 3}}'),
        ("locales/en.json", '{"lr": "learning rate", "batch_size": "batch size"}'),
        ("rows.json", '[{"lr": 1, "batch_size": 3}]'),
        ("rows.yaml", "- lr: 1\n  batch_size: 3\n"),
        ("work.ipynb.json", '{"cells": [], "nbformat": 4, "lr": 1, "batch_size": 3}'),
        ("node_modules/x/config.json", '{"lr": 1, "batch_size": 3}'),
        (".hydra/overrides.yaml", "lr: 0.1\nbatch_size: 3\n"),
        ("tokenizer.json", '{"lr": 1, "batch_size": 3}'),
        ("logging.yaml", "version: 1\nhandlers:\n  console:\n    level: INFO\n    backupCount: 20\n"),
        ("conf/base/catalog.yml", "x:\n  type: pandas.CSVDataSet\n  filepath: data/x.csv\n"),
        ("config/database.yml", "production:\n  pool: 5\n  timeout: 5000\n  port: 3306\n"),
        ("notes.yaml", "depth: 3\nwidth: 4\nname: a box\n"),
        ("docs.json", f'{{"lr": "{"long text " * 30}", "epochs": "{"long text " * 30}"}}'),
        ("empty.yaml", ""),
        ("comments.yaml", "# lr: 0.1\n"),
        ("empty.json", "{}"),
    ],
)
def test_other_files(path: str, text: str) -> None:
    assert not judged(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.env", "MATRIX_LR=0.02\nNUM_LAYERS=9\n"),
        ("quant.env", "INT8_KEEP_FLOAT_NAME_PATTERNS=c_v.weight\nINT8_AUTO_LOG_TOPK=5\nINT8_CLIP_SCALE=2\n"),
        ("run.env.sh", "export WARMUP_STEPS=30\nexport MLP_MULT=4\nexport TRAIN_BATCH_TOKENS=24576\n"),
        (".env", "WANDB_API_KEY=x\nLR=0.1\nBATCH_SIZE=3\n"),
    ],
)
def test_environments_of_experiments(path: str, text: str) -> None:
    assert judged(path, text)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".env", "DATABASE_URL=postgres://u:p@h/db\nSECRET_KEY=abc\nPORT=8000\nDEBUG=1\n"),
        (".env.local", "API_TOKEN=x\nDEPTH=3\nSMTP_PASSWORD=y\n"),
        ("build.sh", "set -e\nDIR=build\nJOBS=4\nexport PATH=$PATH:/opt/bin\n"),
        ("setup.sh", "LR=0.1\nBATCH_SIZE=3\n"),
    ],
)
def test_other_environments(path: str, text: str) -> None:
    assert not judged(path, text)


SETTINGS = """\
\"\"\"Train.\"\"\"
import os

DEPTH = 8
MATRIX_LR = 0.04
BATCH_SIZE = int(os.environ.get("BATCH_SIZE", 128))
WEIGHT_DECAY = 0.2


def main():
    lr = 3
    epochs = 4
"""
CLASS = """\
from dataclasses import dataclass


@dataclass
class TrainConfig:
    lr: float = 3e-4
    epochs: int = 10
    dropout: float = 0.1
"""
MAPPING = "config = dict(learning_rate=0.1, batch_size=8, warmup_steps=100)\n"
LIBRARY = """\
\"\"\"A client.\"\"\"
MAX_RETRIES = 3
TIMEOUT = 10.0
DEFAULT_PORT = 8080


class Client:
    retries = 3

    def call(self, lr=0.1, batch_size=3, epochs=2):
        pass
"""
LAYER = """\
class Block:
    def __init__(self, dropout=0.1, num_heads=8, hidden_size=64):
        self.dropout = 0.1
"""


@pytest.mark.parametrize("text", [SETTINGS, CLASS, MAPPING])
def test_scripts_with_settings(text: str) -> None:
    assert judged("train.py", text)
    assert judged("anything.py", text)


MODEL = """\
class BertConfig(PreTrainedConfig):
    model_type = "bert"
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    hidden_dropout: float = 0.1
"""


@pytest.mark.parametrize("text", [LIBRARY, LAYER, MODEL, "", "lr = 0.1\n", "x = 1\nbatch_size = 2\n"])
def test_ordinary_modules(text: str) -> None:
    assert not judged("module.py", text)


def test_a_script_beside_a_results_table_needs_less() -> None:
    text = "DEPTH = 8\nWIDTH = 64\n"
    assert not judged("train.py", text)
    assert judged("train.py", text, beside_table=True)
    assert not judged("helpers.py", LIBRARY, beside_table=True)


@pytest.mark.parametrize("name", ["setup.py", "conftest.py", "test_train.py", "train_test.py"])
def test_scripts_that_are_something_else(name: str) -> None:
    assert not judged(name, SETTINGS)


def test_globs_decide_first() -> None:
    nothing = parse("a: 1\n", "yaml")
    everything = parse("lr: 0.1\nbatch_size: 3\n", "yaml")
    path = PurePath("runs/deep/first.yaml")
    assert not is_config(path, nothing)
    assert is_config(path, nothing, include=["runs/**/*.yaml"])
    assert is_config(path, everything)
    assert not is_config(path, everything, exclude=["first.*"])
    assert not is_config(path, everything, include=["*.yaml"], exclude=["runs/**"])
    assert is_config(PurePath("package.json"), ParsedConfig("json"), include=["package.json"])


@pytest.mark.parametrize(
    ("path", "glob", "matched"),
    [
        ("a/b/c.yaml", "*.yaml", True),
        ("a/b/c.yaml", "a/**", True),
        ("a/b/c.yaml", "./a/**/c.yaml", True),
        ("a/b/c.yaml", "**/b/*.yaml", True),
        ("a/c.yaml", "a/**/c.yaml", True),
        ("a/b/c.yaml", "b/*.yaml", False),
        ("a/b/c.yaml", "a/*.yaml", False),
        ("a/b/c.yaml", "a/b", False),
        ("a/b/C.yaml", "*/b/c.yaml", False),
        ("/abs/a/c.yaml", "*.yaml", True),
    ],
)
def test_a_glob(path: str, glob: str, matched: bool) -> None:
    assert matches(PurePath(path), glob) is matched


def test_many_wildcards_take_no_time() -> None:
    assert not matches(PurePath("/".join("a" * 60)), "/".join(["**", "a"] * 30) + "/b")


def test_a_name_that_needs_no_reading() -> None:
    assert is_silent_name(PurePath("x/yarn.lock"))
    assert not is_silent_name(PurePath("x/train.yaml"))


def test_a_name_decides_before_the_content() -> None:
    lock, other = PurePath("x/package-lock.json"), PurePath("x/train.json")
    assert decided_by_name(lock) is False
    assert decided_by_name(other) is None
    assert decided_by_name(lock, include=["x/*.json"]) is True
    assert decided_by_name(other, include=["*.json"], exclude=["x/**"]) is False


@pytest.mark.parametrize("word", ["config", "cfg", "settings", "args", "params", "options", "hp"])
def test_names_of_a_mapping_of_settings(word: str) -> None:
    entries = "dict(learning_rate=0.1, batch_size=8, warmup_steps=100)\n"
    assert judged("module.py", f"my_{word} = {entries}")
    assert not judged("module.py", f"my_thing = {entries}")


def test_real_configs_are_known_as_such() -> None:
    if not REAL_CONFIGS.is_dir():
        pytest.skip(f"no {REAL_CONFIGS}: real configs are not part of a clone")
    files = [f for f in sorted(REAL_CONFIGS.rglob("*")) if f.is_file() and language_of(f.name) and not is_other(f)]
    sample = random.Random(1).sample(files, 60)
    missed = []
    for file in sample:
        parsed = parse(file.read_text("utf-8", errors="replace"), language_of(file.name) or "")
        if parsed.entries and not is_config(file.relative_to(REAL_CONFIGS), parsed):
            missed.append(file.name)
    assert len(sample) == 60
    assert len(missed) <= 6, missed


def is_other(file: Path) -> bool:
    """What the collection holds besides configs of experiments."""
    inside = file.relative_to(REAL_CONFIGS).as_posix()
    others = ("_nasty/", "MLproject", "conda.yml", "/.hydra/hydra", "/.hydra/overrides", "docker", "taskcards")
    return any(other in inside for other in others) or inside == "index.json"
