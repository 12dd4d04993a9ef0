"""Parameters as they can be compared: keys, values and kinds of keys, the same for drafts and records.

Invariant: a key or value has one comparable form, however it was spelled, and making it executes nothing.
"""

from __future__ import annotations

import ast
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

from tried.draft.entries import Entry, Path, Special

UNKNOWN = Special.UNKNOWN
"""The comparable form of what cannot be known: truncated text, an interpolation, an expression."""


class ParameterKind(Enum):
    """What a key is about. See `KIND_NAMES` for the names and docs/warnings.md for what follows from a kind."""

    KNOB = "knob"
    VOLATILE = "volatile"
    HARDWARE = "hardware"
    BUDGET = "budget"
    CONTEXT = "context"
    BOOKKEEPING = "bookkeeping"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One comparable value of a draft: `key` is the normalised path (`optimizer.lr`), `shown` the path as written."""

    key: str
    shown: str
    value: object
    kind: ParameterKind
    entry: Entry


# --- keys -------------------------------------------------------------------------------------------------------------

_SEGMENT_BREAK = re.compile(r"\.|/|__|\[|\]")
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]+[0-9]*(?![a-z])|[A-Z]?[a-z]+[0-9]*|[0-9]+|[^\W_\dA-Za-z]+")


def shown_path(path: Path) -> str:
    """A path as people write it: ``optimizer.lr``, ``layers.0.units``."""
    return ".".join(str(part) for part in path)


@lru_cache(maxsize=65536)
def normalise_key(key: str | Path) -> str:
    """The comparable form of a key path: segments joined by dots, each in lower case without what parts its words.

    ``.``, ``/`` and ``__`` part segments; ``model__encoder/Batch-Size`` becomes ``model.encoder.batchsize``.
    """
    parts = (key,) if isinstance(key, str) else tuple(str(part) for part in key)
    segments = (segment for part in parts for segment in _SEGMENT_BREAK.split(part.strip().lstrip("-")))
    plain = ("".join(c for c in segment.casefold() if c.isalnum()) for segment in segments)
    return ".".join(segment for segment in plain if segment)


def words_of(segment: str) -> tuple[str, ...]:
    """The words of one key segment in lower case: ``numTrainEpochs``, ``num_train_epochs`` → num train epochs."""
    return tuple(word.lower() for word in _WORD.findall(segment))


# --- kinds ------------------------------------------------------------------------------------------------------------

_KIND_NAMES: dict[ParameterKind, str] = {
    ParameterKind.VOLATILE: """
        seed seeds random_seed rng_seed random_state manual_seed data_seed global_seed torch_seed np_seed base_seed
        seed_everything split_seed
        run_name run_id run run_tag run_group run_number exp_name exp_id experiment_id experiment_name job_name job_id
        trial_id trial_name trial_number task_id version_name wandb_name wandb_run_id wandb_run_name wandb_project
        wandb_entity wandb_group wandb_notes wandb_tags wandb_mode wandb_id wandb_dir wandb_watch wandb_log_model
        use_wandb wandb project project_name entity group_name research_line run_group_name
        output output_dir output_path outdir out_dir out_path out save_dir save_path save_folder save_to results_dir
        result_dir results_path results_folder log_dir logdir log_path log_file log_folder logging_dir tensorboard_dir
        checkpoint_dir checkpoint_path checkpoints_dir ckpt_dir ckpt_path ckpt checkpoint_folder work_dir workdir
        working_dir cwd root_dir default_root_dir cache_dir cache_path tmp_dir temp_dir scratch_dir artifact_path
        artifact_dir model_dir_out hub_model_id push_to_hub hub_token hub_strategy export_path report_to
        profile_dir profile_path dataset_prepared_path model_save_path serialization_dir experiment_dir exp_dir run_dir
        date datetime timestamp time_stamp start_time created created_at host hostname user username author email pid
        port master_port master_addr ip url_tracking tracking_uri mlflow_uri tracking_url git_commit git_sha git_hash
        commit sha code_version resume resume_from resume_from_checkpoint auto_resume overwrite overwrite_output_dir
        verbose debug dry_run quiet progress_bar tqdm log_level logging_level loglevel comment_run retry_after_seconds
        pre_review_round batch_id
    """,
    ParameterKind.HARDWARE: """
        gpu gpus gpu_id gpu_ids n_gpu n_gpus num_gpu num_gpus ngpus ngpu gpu_spec gpu_type device devices device_id
        device_ids device_count cuda cuda_device cuda_visible_devices accelerator cpu cpus num_cpus num_cpu n_cpus
        nproc nproc_per_node nproc_per_slot num_proc num_procs n_jobs jobs num_processes num_machines
        processes nodes num_nodes n_nodes nnodes machines hosts world_size local_rank rank node_rank ranks
        num_workers workers n_workers dataloader_num_workers num_data_workers preprocessing_num_workers
        dataset_processes num_threads threads n_threads omp_num_threads pin_memory dataloader_pin_memory
        prefetch_factor persistent_workers partition queue slurm_partition mem memory_gb hardware platform tpu tpus
        nccl_net nccl_debug nccl_ib_disable tpu_name tpu_cores num_tpu_cores chips
    """,
    ParameterKind.BUDGET: """
        epochs epoch num_epochs n_epochs max_epochs max_epoch nb_epochs train_epochs num_train_epochs number_of_epochs
        total_epochs epoch_num steps num_steps n_steps max_steps max_step total_steps train_steps num_train_steps
        training_steps num_training_steps max_train_steps max_update max_updates iterations iters max_iters max_iter
        num_iterations num_iters total_iters train_iters n_iterations total_iterations max_iterations
        max_wallclock_seconds max_wallclock_sec wallclock max_wallclock wall_clock max_seconds time_limit max_time
        time_budget max_runtime timeout max_hours training_minutes train_seconds train_time max_train_time
        max_tokens_total train_tokens total_tokens max_train_tokens num_tokens
        max_train_samples max_samples limit_train_batches limit_val_batches max_examples patience early_stopping_patience
        eval_every eval_interval eval_steps eval_freq eval_frequency eval_iters eval_iter eval_period evals_per_epoch
        eval_strategy evaluation_strategy val_check_interval check_val_every_n_epoch val_every val_interval val_loss_every
        val_freq test_every test_interval validation_interval validate_every eval_batches eval_batch_size val_batch_size
        per_device_eval_batch_size test_batch_size val_tokens eval_tokens eval_max_batches max_eval_batches
        eval_sample_packing eval_samples max_eval_samples
        log_every log_interval log_steps log_freq log_every_n_steps logging_steps logging_interval logging_strategy
        print_every print_freq print_interval train_log_every log_period report_every display_interval
        save_every save_interval save_steps save_freq save_strategy saves_per_epoch save_total_limit checkpoint_every
        checkpoint_interval checkpoint_period checkpoint_freq checkpointing_steps ckpt_interval save_period
        profile_steps profile_start_step profile_every generate_every sample_every sample_interval viz_every
        train_batch_tokens batch_tokens
    """,
    ParameterKind.CONTEXT: """
        dataset datasets dataset_name dataset_path dataset_id dataset_file dataset_dir dataset_url dataset_version
        dataset_config dataset_split dataset_root data data_path data_dir data_root data_file data_files data_url
        data_name data_folder data_source data_config data_set corpus corpus_path train_data train_data_path train_file
        train_path train_dataset train_files train_set valid_file val_file val_data val_path validation_file test_file
        test_data test_path eval_dataset input_file input_path input_dir file_url reference_dataset benchmark
        tokenizer tokenizer_name tokenizer_path tokenizer_file tokenizer_type tokenizer_config vocab_file vocab_path
        base_model base_model_name base_model_config model_name_or_path pretrained_model pretrained_model_name_or_path
        pretrained pretrained_path pretrained_weights pretrained_model_name init_checkpoint init_from load_from
        load_checkpoint restore_from model_path checkpoint_file_in ref_model teacher_model
        task task_name tasks target target_column label_column objective_name language lang locale
        precision dtype torch_dtype mixed_precision amp fp16 bf16 fp32 weights_dtype param_dtype compute_dtype
        vocab_size
    """,
    ParameterKind.BOOKKEEPING: """
        name title notes note description desc comment comments hypothesis why rationale motivation goal summary tags
        tag label labels keywords version schema schema_version parent parent_id parent_run parent_run_id parent_run_name
        validates falsifies compare_to lineage patches patch_id slot pack scope phase role family runner_mode
        implementation_state status state todo readme license authors owner maintainer defaults hydra _base_ base_config
        include includes extends help prior verdict decision headline outcome conclusion changes_from_parent
    """,
}

KIND_NAMES: Mapping[ParameterKind, frozenset[str]] = {
    kind: frozenset(normalise_key(name) for name in names.split()) for kind, names in _KIND_NAMES.items()
}
"""Which last key segments (normalised, matched whole) make a key of which kind; all others are knobs."""

_KIND_OF_NAME = {name: kind for kind, names in KIND_NAMES.items() for name in names}
_KNOBS_DESPITE_NAME = frozenset({"label", "family", "scope", "phase", "role", "version", "state", "target"})
_CONTEXT_OWNERS = frozenset({"dataset", "data", "datasets", "tokenizer", "task", "corpus", "datamodule"})
_CONTEXT_LEAVES = frozenset(
    normalise_key(name)
    for name in "name path file id url type split version config root dir folder subset revision source train val "
    "valid test language files train_path val_path test_path target class_path".split()
)
_PATH_WORDS = frozenset({"path", "dir", "folder", "file", "directory", "uri", "url"})


@lru_cache(maxsize=65536)
def kind_of(key: str | Path) -> ParameterKind:
    """The kind of a key as written, from whole segments: `seed` is volatile, `dataset.name` is context.

    A knob's own segment may contain any of the words: `INT8_NAME_PATTERNS` or `seed_layer_width` are knobs.
    """
    parts = (key,) if isinstance(key, str) else tuple(str(part) for part in key)
    segments = [s for part in parts for s in _SEGMENT_BREAK.split(part.strip().lstrip("-")) if s and not s.isdigit()]
    if not segments:
        return ParameterKind.KNOB
    leaf = normalise_key(segments[-1])
    owner = words_of(segments[-2]) if len(segments) > 1 else ()
    if leaf in _CONTEXT_LEAVES and any(word in _CONTEXT_OWNERS for word in owner):
        return ParameterKind.CONTEXT
    if leaf in _KNOBS_DESPITE_NAME and owner:
        return ParameterKind.KNOB
    if leaf in ("name", "title") and owner:
        return ParameterKind.KNOB  # `model.name` says which model
    if leaf in _KIND_OF_NAME:
        return _KIND_OF_NAME[leaf]
    if leaf.startswith(("wandb", "mlflow", "comet", "neptune")):
        return ParameterKind.VOLATILE
    words = words_of(segments[-1])
    if words and words[-1] in _PATH_WORDS:
        context = any(word in ("data", "dataset", "tokenizer", "train", "val", "test", "vocab") for word in words)
        return ParameterKind.CONTEXT if context else ParameterKind.VOLATILE
    return ParameterKind.KNOB


# --- values -----------------------------------------------------------------------------------------------------------

_BOOLEANS = {"true": True, "false": False, "yes": True, "no": False, "on": True, "off": False}
_NULLS = frozenset({"", "null", "none", "~", "nil"})
_NUMERAL = re.compile(r"[-+]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][-+]?\d+)?\Z")
_POWER = re.compile(r"(\d{1,3})\s*(?:\*\*|\^)\s*(\d{1,2})\Z")
_TRUNCATED_LENGTHS = frozenset({250, 500, 5000, 6000})  # where MLflow's versions cut a value
_LONGEST_VALUE = 2000  # longer text is prose or a file's content, not a value that one compares


def comparable(value: Any) -> object:
    """A hashable form in which equal values are equal however they were written.

    `1e-3`, `0.001` and `"1.0E-3"` are one number; `True`, `"true"` and `"yes"` one boolean (and no number); a list is
    a tuple, whether written as a list, as JSON in text, or comma-separated; text is compared without its case and
    outer space. None for null and empty; `UNKNOWN` for what was truncated or cannot be read.
    """
    if value is None or value is UNKNOWN:
        return value
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, str):
        return _text_value(value)
    if isinstance(value, Sequence):
        return _list_value([comparable(item) for item in value])
    if isinstance(value, Mapping):
        members = sorted((normalise_key(str(key)), comparable(item)) for key, item in value.items())
        return ("mapping", *members)
    return UNKNOWN


def _number(value: float) -> object:
    if math.isnan(value):
        return ("nan",)
    return int(value) if math.isfinite(value) and value.is_integer() else value


def _list_value(items: list[object]) -> object:
    if any(item is UNKNOWN for item in items):
        return UNKNOWN
    return items[0] if len(items) == 1 else ("list", *items)


@lru_cache(maxsize=65536)
def _text_value(text: str) -> object:
    if len(text) in _TRUNCATED_LENGTHS or len(text) > _LONGEST_VALUE:
        return UNKNOWN
    plain = text.strip()
    if len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'":
        plain = plain[1:-1].strip()
    lower = plain.casefold()
    if lower in _NULLS:
        return None
    if lower in _BOOLEANS:
        return ("bool", _BOOLEANS[lower])
    if _NUMERAL.match(plain):
        return _numeral(plain)
    if power := _POWER.match(plain):
        return int(power[1]) ** int(power[2])
    if lower in ("nan", "inf", "-inf", "+inf", ".nan", ".inf", "-.inf", "infinity", "-infinity"):
        return _number(float(lower.replace(".", "")))
    if plain.endswith(("…", "...")):
        return UNKNOWN
    if plain[0] in "[({" and plain[-1] in "])}":
        found = _literal(plain)
        if found is not None:
            return comparable(found)
    if "," in plain:
        return _list_value([_text_value(part.strip()) for part in plain.split(",")])
    return " ".join(lower.split())


def _numeral(text: str) -> object:
    digits = text.replace("_", "")
    try:
        return int(digits)
    except ValueError:
        return _number(float(digits))


def _literal(text: str) -> object:
    """A list or mapping written as JSON or as a Python literal; None if it is neither."""
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text)  # type: ignore[operator, no-any-return]
        except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
            continue
    return None


def shown_value(value: object, limit: int = 60) -> str:
    """A value as people write it in a config, on one line of at most `limit` characters."""
    if value is None:
        text = "null"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, list | tuple):
        text = "[" + ", ".join(shown_value(item, limit) for item in value[:limit]) + "]"
    elif isinstance(value, Mapping):
        text = json.dumps(value, ensure_ascii=False, default=str)
    else:
        text = str(value)
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


# --- drafts and records -----------------------------------------------------------------------------------------------


def parameters_of(entries: Iterable[Entry]) -> tuple[Parameter, ...]:
    """The comparable values among a document's entries, in the order of the text."""
    found: list[Parameter] = []
    for entry in entries:
        if entry.value in (Special.MAPPING, Special.LIST):
            continue
        key = normalise_key(entry.path)
        if key:
            shown = shown_path(entry.path)
            found.append(Parameter(key, shown, comparable(entry.value), kind_of(entry.path), entry))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class RecordedValue:
    """One comparable value of a record; `shown` and `text` are key and value as they were recorded."""

    shown: str
    text: str
    value: object
    kind: ParameterKind


_DEEPEST = 32


def flatten(params: Mapping[str, Any]) -> dict[str, RecordedValue]:
    """A record's parameters by normalised key; nested mappings (also as a Python literal in text) become paths."""
    found: dict[str, RecordedValue] = {}
    pending: list[tuple[str, Any, int]] = [(key, value, 0) for key, value in reversed(params.items())]
    while pending:
        path, value, depth = pending.pop()
        if isinstance(value, str) and value[:1] == "{" and value[-1:] == "}" and len(value) <= _LONGEST_VALUE:
            literal = _literal(value)
            value = literal if isinstance(literal, dict) else value
        members: list[tuple[str, Any]] = []
        if isinstance(value, Mapping):
            members = [(f"{path}.{key}", item) for key, item in value.items()]
        elif isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
            members = [(f"{path}.{index}", item) for index, item in enumerate(value)]
        if members and depth < _DEEPEST:
            pending.extend((name, item, depth + 1) for name, item in reversed(members))
            continue
        key = normalise_key(path)
        if key:
            found[key] = RecordedValue(path, shown_value(value), comparable(value), kind_of(path))
    return found
