"""Which files are experiment configs: by name, by shape, and by whether they hold hyperparameters.

In this order:

1. the user's `exclude` globs say no, the user's `include` globs say yes;
2. a name or folder of something else says no (`SILENT_GLOBS`: CI, lock files, package manifests, assets of models …);
3. a shape of something else says no (`docker-compose`, Kubernetes, OpenAPI, JSON Schema, notebooks, lists of rows …);
4. the rest is a config if it reads like one (`reads_like_experiment`): a mark of an experiment framework, or enough
   names of hyperparameters with values. A Python module needs them among its module-level settings, an `.env` or shell
   script among its variables; beside a results table of experiments one is enough.

Invariant: it looks at the path and at what was parsed, never at the disk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePath

from tried.draft.entries import Entry, ParsedConfig, Path, Special
from tried.draft.hyperparameters import is_hyperparameter, is_hyperparameter_word, is_telling, is_training_name
from tried.draft.keys import words_of
from tried.draft.word_tables import word_list, word_set

SILENT_GLOBS = word_list(
    """
    tried.toml pyproject.toml Cargo.toml Pipfile poetry.toml uv.toml ruff.toml .ruff.toml netlify.toml rustfmt.toml
    clippy.toml rust-toolchain.toml book.toml taplo.toml pixi.toml fly.toml wrangler.toml .pylintrc.toml *.lock
    *-lock.json *-lock.yaml *-lock.yml *.lock.json *.lock.yaml *.lock.yml npm-shrinkwrap.json
    package.json bower.json composer.json lerna.json nx.json turbo.json tsconfig*.json jsconfig*.json angular.json
    deno.json deno.jsonc vercel.json manifest.json .eslintrc* .prettierrc* .stylelintrc* .babelrc* .swcrc .nycrc*
    .markdownlint* .releaserc* renovate.json* .renovaterc* .jshintrc .jscsrc .commitlintrc* .lintstagedrc* .mocharc*
    .c8rc* .huskyrc* .cspell* cspell.json launch.json tasks.json *.code-workspace .devcontainer.json devcontainer.json
    composer.* docker-compose*.y*ml compose.y*ml compose.*.y*ml Chart.y*ml values*.y*ml kustomization.y*ml skaffold.y*ml
    helmfile.y*ml buildspec.y*ml cloudbuild.y*ml app.yaml appveyor.y*ml serverless.y*ml codecov.y*ml .codecov.y*ml
    .coveragerc* dependabot.y*ml .travis.y*ml .gitlab-ci*.y*ml azure-pipelines*.y*ml bitbucket-pipelines.y*ml
    .readthedocs.y*ml readthedocs.y*ml mkdocs*.y*ml _config.y*ml _toc.y*ml _toctree.y*ml antora.y*ml .pre-commit-*.y*ml
    .clang-format .clang-tidy .yamllint* .golangci.y*ml .rubocop*.y*ml action.y*ml CITATION.cff FUNDING.y*ml
    conda.y*ml conda-*.y*ml meta.yaml pubspec.y*ml pnpm-workspace.yaml
    dvc.lock dvc.yaml *.dvc .dvc/** openapi*.* swagger*.* *.schema.json *-schema.json schema.json *.openapi.*
    .github/** .circleci/** .buildkite/** .woodpecker/** .vscode/** .idea/** .devcontainer/** .git/** .tried/** .soma/**
    locale/** locales/** i18n/** translations/** node_modules/** site-packages/** dist-packages/**
    .venv/** venv/** __pycache__/** k8s/** kubernetes/** helm/**
    *.ipynb *.geojson *.jsonl *.ndjson *.min.json *.map *.webmanifest *.arb *.tfstate *.tmLanguage.json
    tokenizer.json tokenizer_config.json vocab.json vocab*.json merges.json special_tokens_map.json added_tokens.json
    preprocessor_config.json *.safetensors.index.json *.bin.index.json trainer_state.json dataset_info.json
    dataset_infos.json dataset_dict.json label2id.json id2label.json metrics.json scores.json all_results.json
    *_results.json results.json wandb-summary.json wandb-metadata.json .hydra/hydra.yaml .hydra/overrides.yaml
    setup.py conftest.py test_*.py *_test.py tests.py noxfile.py manage.py wsgi.py asgi.py versioneer.py
    setup.sh install.sh .bashrc .bash_profile .profile .zshrc .envrc
    """
)
"""Files that are no experiment configs, whatever they hold. A glob without a slash matches the name in any folder; one
that ends in ``/**`` matches such a folder at any depth."""

FRAMEWORK_KEYS = word_set(
    """
    _target_ _component_ class_path model_name_or_path pretrained_model_name_or_path finetuning_type
    train_micro_batch_size_per_gpu
    """
)
"""Keys (lower case) that stand in configs of experiment frameworks and hardly elsewhere."""

OUTER_FRAMEWORK_KEYS = word_set(
    """
    _base_ base_model dataset_reader hparams hyperparameters hyper_parameters zero_optimization fsdp_config
    deepspeed_config search_space num_attention_heads
    """
)
"""The same, at the root or one level below it."""

CONFIG_FOLDERS = word_set(
    """
    conf configs config hparams hyperparams hyperparameters params parameters experiment experiments exp exps recipes
    sweep sweeps train_configs training_config training_configs search_configs .hydra hparam_search studies
    """
)
"""Folders in which one name of a hyperparameter makes a config."""

_CONFIG_NAMES = re.compile(
    r"(?:.*[-_.])?(?:train(?:ing|er)?|hparams?|hyperparam\w*|params?|sweep|experiment|exp\d*|finetun\w*|pretrain\w*"
    r"|run_?config|config|ablation\w*|grid)(?:[-_.\d].*)?\Z",
    re.IGNORECASE,
)
_NEEDED_OF_PYTHON = 3
_NEEDED_WORDS = 3
_LONGEST_VALUE = 200
_MOST_ENTRIES = 50_000
_SECRET_WORDS = word_set("secret password passwd token dsn smtp cookie jwt oauth salt credentials")
_SETTINGS_CLASS = re.compile(
    r".*(?:Config|Configuration|Cfg|Settings|Args|Arguments|Params|Parameters|Hyperparameters|HParams|Hyperparams|Options)\Z"
)
_SETTINGS_WORDS = word_set(
    "config cfg conf settings args arguments params parameters hparams hyperparameters options hp"
)
_NUMERAL = re.compile(r"\s*[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\s*\Z")


def is_config(
    path: PurePath,
    parsed: ParsedConfig,
    *,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    has_results_table_beside: bool = False,
) -> bool:
    """Whether a file is an experiment config. `path` as globs see it: relative to the workspace folder if it can be.

    `has_results_table_beside`: a table of experiments' results stands in the same folder.
    """
    named = decided_by_name(path, include=include, exclude=exclude)
    if named is not None:
        return named
    if not parsed.entries or len(parsed.entries) > _MOST_ENTRIES:
        return False
    if parsed.language == "python":
        return _python_holds_settings(parsed.entries, has_results_table_beside)
    if _has_other_shape(parsed.entries):
        return False
    return reads_like_experiment(path, parsed, has_results_table_beside=has_results_table_beside)


def decided_by_name(path: PurePath, *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> bool | None:
    """What the user's globs and the name alone say, before anything is read; None if the content decides."""
    if any(matches(path, glob) for glob in exclude):
        return False
    if any(matches(path, glob) for glob in include):
        return True
    return False if is_silent_name(path) else None


def is_silent_name(path: PurePath) -> bool:
    """Whether the name alone says that a file is something else, so that it need not even be read."""
    return _is_silent(path.as_posix())


def matches(path: PurePath, glob: str) -> bool:
    """A path against a glob as in a .gitignore: one without a slash matches the name anywhere; ``**`` any folders."""
    if "/" not in glob:
        return fnmatchcase(path.name, glob)
    parts = path.as_posix().split("/")
    reachable = {0}
    for segment in glob.removeprefix("./").removeprefix("/").split("/"):
        if segment == "**":
            reachable = set(range(min(reachable), len(parts) + 1)) if reachable else set()
        else:
            reachable = {at + 1 for at in reachable if at < len(parts) and fnmatchcase(parts[at], segment)}
    return len(parts) in reachable


def reads_like_experiment(path: PurePath, parsed: ParsedConfig, *, has_results_table_beside: bool = False) -> bool:
    """Whether data, variables or text hold what experiments are configured with."""
    if any(comment.text.startswith("@package ") for comment in parsed.comments):
        return True  # a group of Hydra's
    if any(_is_framework_mark(entry) for entry in parsed.entries):
        return parsed.language != "env"
    found: set[str] = set()
    words: set[str] = set()
    secrets = False
    for entry in parsed.entries:
        if entry.value in (Special.MAPPING, Special.LIST) or not entry.path or not isinstance(entry.path[-1], str):
            continue
        key = entry.path[-1]
        if is_hyperparameter(key) and not (isinstance(entry.value, str) and len(entry.value) > _LONGEST_VALUE):
            found.add(key)
        if parsed.language == "env":
            secrets = secrets or not _SECRET_WORDS.isdisjoint(words_of(key))
            words.update(word for word in words_of(key) if is_hyperparameter_word(word))
    telling = sum(is_telling(key) for key in found)
    if (has_results_table_beside or _is_named_like_config(path)) and not secrets:
        return telling > 0 or len(found) > 1
    return (telling > 0 and len(found) > 1) or (len(words) >= _NEEDED_WORDS and not secrets)


def _is_framework_mark(entry: Entry) -> bool:
    if entry.tag is not None and entry.tag.startswith(("!new:", "!apply:", "!name:", "!ref", "!PLACEHOLDER")):
        return True
    if not entry.path or not isinstance(key := entry.path[-1], str):
        return False
    key = key.lower()
    if len(entry.path) == 1 and key == "defaults":
        return isinstance(entry.value, tuple) or entry.value is Special.LIST  # Hydra composes it
    return key in FRAMEWORK_KEYS or (len(entry.path) < 3 and key in OUTER_FRAMEWORK_KEYS)


def _python_holds_settings(entries: Iterable[Entry], has_results_table_beside: bool) -> bool:
    """Whether a module sets hyperparameters in constants, a settings class or a mapping of settings at module level."""
    found: set[str] = set()
    numbers: set[str] = set()
    for entry in entries:
        if not entry.path or not isinstance(key := entry.path[-1], str) or not _is_module_setting(entry.path):
            continue
        if _is_number(entry.value):
            numbers.add(key)
            if is_hyperparameter(key):
                found.add(key.lower())
    if has_results_table_beside:
        return len(numbers) > 1 and bool(found)
    # A class that describes a model only (`hidden_size`, `num_layers`) belongs to a library, not to an experiment.
    return len(found) >= _NEEDED_OF_PYTHON and any(is_training_name(key) for key in found)


def _is_module_setting(path: Path) -> bool:
    owners = path[:-1]
    if not owners:
        return True
    return all(isinstance(part, str) for part in owners) and bool(
        _SETTINGS_CLASS.match(str(owners[0])) or not _SETTINGS_WORDS.isdisjoint(words_of(str(owners[0])))
    )


def _is_number(value: object) -> bool:
    if isinstance(value, tuple):
        return bool(value) and all(_is_number(item) for item in value)
    if isinstance(value, bool):
        return False
    return isinstance(value, int | float) or (isinstance(value, str) and _NUMERAL.match(value) is not None)


@lru_cache(maxsize=4096)
def _is_silent(path: str) -> bool:
    whole = PurePath(path)
    folders = set(whole.parts[:-1])
    for glob in SILENT_GLOBS:
        if glob.endswith("/**"):
            if glob[:-3] in folders:
                return True
        elif "/" in glob:
            if path == glob or path.endswith(f"/{glob}"):
                return True
        elif fnmatchcase(whole.name, glob):
            return True
    return False


def _is_named_like_config(path: PurePath) -> bool:
    folders = {part.lower() for part in path.parts[:-1]}
    return not folders.isdisjoint(CONFIG_FOLDERS) or bool(_CONFIG_NAMES.match(path.name))


def _has_other_shape(entries: Sequence[Entry]) -> bool:
    """Whether the shape is that of a well-known file which is no experiment config."""
    roots: dict[int, set[str]] = {}
    for entry in entries:
        if len(entry.path) == 1:
            key = entry.path[0]
            if isinstance(key, int):
                return True  # a list of rows
            roots.setdefault(entry.document, set()).add(key)
    inner = {
        entry.path[2] for entry in entries if len(entry.path) == 3 and entry.path[0] in ("services", "stages", "jobs")
    }
    return any(_is_other_root(keys, inner) for keys in roots.values())


def _is_other_root(keys: set[str], inner: set[str | int]) -> bool:
    return (
        {"apiVersion", "kind"} <= keys
        or ("services" in keys and not inner.isdisjoint({"image", "build"}))  # docker-compose
        or ("stages" in keys and "cmd" in inner)  # dvc.yaml
        or ("jobs" in keys and not inner.isdisjoint({"steps", "runs-on", "docker", "script"}))
        or ("openapi" in keys or "swagger" in keys)
        or ("$schema" in keys and not keys.isdisjoint({"properties", "definitions", "$defs"}))
        or {"cells", "nbformat"} <= keys
        or ({"dependencies", "name"} <= keys and not keys.isdisjoint({"channels", "version", "prefix"}))
        or ("dependencies" in keys and keys <= {"name", "dependencies", "channels", "prefix", "variables"})
        or {"scripts", "version"} <= keys
        or ("site_name" in keys and not keys.isdisjoint({"nav", "theme", "plugins"}))
        or ("repos" in keys and keys <= {"repos", "default_language_version", "ci", "exclude", "fail_fast"})
        or {"type", "features"} <= keys  # GeoJSON
        or {"shapes", "operations"} <= keys  # descriptions of web services
        or {"properties", "definitions"} <= keys
    )
