"""What a key is about: a table of names, matched by whole key segments."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import lru_cache

from tried.draft.entries import Path
from tried.draft.keys import SEGMENT_BREAK, normalise_key, words_of


class ParameterKind(Enum):
    """What a key is about. See `KIND_NAMES` for the names and docs/warnings.md for what follows from a kind."""

    KNOB = "knob"
    VOLATILE = "volatile"
    HARDWARE = "hardware"
    BUDGET = "budget"
    CONTEXT = "context"
    BOOKKEEPING = "bookkeeping"


_KIND_NAMES: dict[ParameterKind, str] = {
    ParameterKind.VOLATILE: """
        seed seeds random_seed rng_seed random_state manual_seed data_seed global_seed torch_seed np_seed
        base_seed seed_everything split_seed run_name run_id run run_tag run_group run_number exp_name exp_id
        experiment_id experiment_name job_name job_id trial_id trial_name trial_number task_id version_name
        wandb_name wandb_run_id wandb_run_name wandb_project wandb_entity wandb_group wandb_notes wandb_tags
        wandb_mode wandb_id wandb_dir wandb_watch wandb_log_model use_wandb wandb project project_name entity
        group_name research_line run_group_name output output_dir output_path outdir out_dir out_path out
        save_dir save_path save_folder save_to results_dir result_dir results_path results_folder log_dir logdir
        log_path log_file log_folder logging_dir tensorboard_dir checkpoint_dir checkpoint_path checkpoints_dir
        ckpt_dir ckpt_path ckpt checkpoint_folder work_dir workdir working_dir cwd root_dir default_root_dir
        cache_dir cache_path tmp_dir temp_dir scratch_dir artifact_path artifact_dir hub_model_id push_to_hub
        hub_token hub_strategy export_path report_to profile_dir profile_path dataset_prepared_path
        model_save_path serialization_dir experiment_dir exp_dir run_dir date datetime timestamp time_stamp
        start_time created created_at host hostname user username author email pid port master_port master_addr
        ip tracking_uri mlflow_uri tracking_url git_commit git_sha git_hash commit sha code_version resume
        resume_from resume_from_checkpoint auto_resume overwrite overwrite_output_dir verbose debug dry_run
        quiet progress_bar tqdm log_level logging_level loglevel
        fold fold_id cv_fold trial rep repeat replicate exp trial_seed run_number run_index
    """,
    ParameterKind.HARDWARE: """
        gpu gpus gpu_id gpu_ids n_gpu n_gpus num_gpu num_gpus ngpus ngpu gpu_spec gpu_type device devices
        device_id device_ids device_count cuda cuda_device cuda_visible_devices accelerator cpu cpus num_cpus
        num_cpu n_cpus nproc nproc_per_node num_proc num_procs n_jobs jobs num_processes num_machines processes
         num_nodes n_nodes nnodes machines hosts world_size local_rank node_rank num_workers
        workers n_workers dataloader_num_workers num_data_workers preprocessing_num_workers dataset_processes
        num_threads threads n_threads omp_num_threads pin_memory dataloader_pin_memory prefetch_factor
        persistent_workers slurm_partition memory_gb hardware platform tpu tpus nccl_net
        nccl_debug nccl_ib_disable tpu_name tpu_cores num_tpu_cores chips
    """,
    ParameterKind.BUDGET: """
        epochs epoch num_epochs n_epochs max_epochs max_epoch nb_epochs train_epochs num_train_epochs
        number_of_epochs total_epochs epoch_num steps num_steps n_steps max_steps max_step total_steps
        train_steps num_train_steps training_steps num_training_steps max_train_steps max_update max_updates
        iterations iters max_iters max_iter num_iterations num_iters total_iters train_iters n_iterations
        total_iterations max_iterations max_wallclock_seconds max_wallclock_sec wallclock max_wallclock
        wall_clock max_seconds time_limit max_time time_budget max_runtime timeout max_hours training_minutes
        train_seconds train_time max_train_time train_tokens total_tokens max_train_tokens num_tokens
        max_train_samples max_samples limit_train_batches limit_val_batches max_examples patience
        early_stopping_patience eval_every eval_interval eval_steps eval_freq eval_frequency eval_iters
        eval_iter eval_period evals_per_epoch eval_strategy evaluation_strategy val_check_interval
        check_val_every_n_epoch val_every val_interval val_loss_every val_freq test_every test_interval
        validation_interval validate_every eval_batches eval_batch_size val_batch_size
        per_device_eval_batch_size test_batch_size val_tokens eval_tokens eval_max_batches max_eval_batches
        eval_sample_packing eval_samples max_eval_samples log_every log_interval log_steps log_freq
        log_every_n_steps logging_steps logging_interval logging_strategy print_every print_freq print_interval
        train_log_every log_period report_every display_interval save_every save_interval save_steps save_freq
        save_strategy saves_per_epoch save_total_limit checkpoint_every checkpoint_interval checkpoint_period
        checkpoint_freq checkpointing_steps ckpt_interval save_period profile_steps profile_start_step
        profile_every generate_every sample_every sample_interval viz_every train_batch_tokens batch_tokens
        total_timesteps num_timesteps n_timesteps max_timesteps total_frames num_frames num_env_steps total_env_steps
        env_steps t_max lr_decay_iters lr_decay_steps
    """,
    ParameterKind.CONTEXT: """
        dataset datasets dataset_name dataset_path dataset_id dataset_file dataset_dir dataset_url
        dataset_version dataset_config dataset_split dataset_root data data_path data_dir data_root data_file
        data_files data_url data_name data_folder data_source data_config data_set corpus corpus_path train_data
        train_data_path train_file train_path train_dataset train_files train_set valid_file val_file val_data
        val_path validation_file test_file test_data test_path eval_dataset input_file input_path input_dir
        file_url reference_dataset benchmark tokenizer tokenizer_name tokenizer_path tokenizer_file
        tokenizer_type tokenizer_config vocab_file vocab_path base_model base_model_name base_model_config
        model_name_or_path pretrained_model pretrained_model_name_or_path pretrained pretrained_path
        pretrained_weights pretrained_model_name init_checkpoint init_from load_from load_checkpoint
        restore_from model_path ref_model teacher_model task task_name tasks target target_column label_column
        objective_name language lang locale precision dtype torch_dtype mixed_precision amp fp16 bf16 fp32
        weights_dtype param_dtype compute_dtype vocab_size
        env env_id env_name environment game gym_id model_name model_id model_name_or_id data_version dataset_revision
    """,
    ParameterKind.BOOKKEEPING: """
        name title notes note description desc comment comments hypothesis why rationale motivation goal summary
        tags tag label labels keywords version schema schema_version parent parent_id parent_run parent_run_id
        parent_run_name compare_to lineage scope phase role family status state todo readme license authors
        owner maintainer defaults hydra _base_ base_config include includes extends help verdict decision
        headline outcome conclusion changes_from_parent
    """,
}

KIND_NAMES: Mapping[ParameterKind, frozenset[str]] = {
    kind: frozenset(normalise_key(name) for name in names.split()) for kind, names in _KIND_NAMES.items()
}
"""Which last key segments (normalised, matched whole) make a key of which kind; all others are knobs."""

_KIND_OF_NAME = {name: kind for kind, names in KIND_NAMES.items() for name in names}
_KNOBS_DESPITE_NAME = frozenset({"label", "family", "scope", "phase", "role", "version", "state", "target"})
_CONTEXT_OWNERS = frozenset({"dataset", "data", "datasets", "tokenizer", "task", "corpus", "datamodule"})
_MODEL_OWNERS = frozenset({"model", "base", "pretrained"})
_MODEL_LEAVES = frozenset({"name", "path", "id", "nameorpath", "checkpoint"})
_RUN_OWNERS = frozenset({"experiment", "run", "trial", "exp", "job", "sweep", "study"})
_RUN_LEAVES = frozenset({"name", "id", "number", "group", "dir", "path", "index", "project", "entity", "user"})
_TOOLING = frozenset(
    {"wandb", "mlflow", "logger", "loggers", "callback", "callbacks", "hydra", "launcher", "sweeper", "tensorboard"}
    | {"comet", "neptune", "trackers", "clearml", "slurm", "submitit"}
)
_CONTEXT_LEAVES = frozenset(
    normalise_key(name)
    for name in (
        *("name", "path", "file", "files", "id", "url", "type", "split", "version", "config", "root", "dir", "folder"),
        *("subset", "revision", "source", "train", "val", "valid", "test", "train_path", "val_path", "test_path"),
        *("language", "target", "class_path"),
    )
)
_PATH_WORDS = frozenset({"path", "dir", "folder", "file", "directory", "uri", "url"})
_OUTPUT_WORDS = frozenset(
    {
        "output",
        "out",
        "save",
        "log",
        "logs",
        "logging",
        "cache",
        "checkpoint",
        "checkpoints",
        "ckpt",
        "result",
        "results",
    }
    | {
        "tmp",
        "temp",
        "work",
        "working",
        "run",
        "exp",
        "experiment",
        "export",
        "artifact",
        "profile",
        "tracking",
        "root",
    }
)


@lru_cache(maxsize=65536)
def kind_of(key: str | Path) -> ParameterKind:
    """The kind of a key as written, from whole segments: `seed` is volatile, `dataset.name` is context.

    A knob's own segment may contain any of the words: `INT8_NAME_PATTERNS` or `seed_layer_width` are knobs.
    """
    parts = (key,) if isinstance(key, str) else tuple(str(part) for part in key)
    segments = [s for part in parts for s in SEGMENT_BREAK.split(part.strip().lstrip("-")) if s and not s.isdigit()]
    if not segments:
        return ParameterKind.KNOB
    leaf = normalise_key(segments[-1])
    owner = words_of(segments[-2]) if len(segments) > 1 else ()
    if any(normalise_key(segment) in _TOOLING for segment in segments[:-1]):
        return ParameterKind.BOOKKEEPING
    if leaf in _RUN_LEAVES and not _RUN_OWNERS.isdisjoint(owner):
        return ParameterKind.VOLATILE
    if leaf in _MODEL_LEAVES and not _MODEL_OWNERS.isdisjoint(owner):
        return ParameterKind.CONTEXT
    if leaf in _CONTEXT_LEAVES and any(word in _CONTEXT_OWNERS for word in owner):
        return ParameterKind.CONTEXT
    if leaf in _KNOBS_DESPITE_NAME and owner:
        return ParameterKind.KNOB
    if leaf in ("name", "title") and owner:
        return ParameterKind.KNOB  # `optimizer.name` says which optimizer
    if leaf in _KIND_OF_NAME:
        return _KIND_OF_NAME[leaf]
    if leaf.startswith(("wandb", "mlflow", "comet", "neptune")):
        return ParameterKind.VOLATILE
    words = words_of(segments[-1])
    if words and words[-1] in _PATH_WORDS:
        return ParameterKind.CONTEXT if _OUTPUT_WORDS.isdisjoint(words) else ParameterKind.VOLATILE
    return ParameterKind.KNOB


def kinds_markdown() -> str:
    """The table of names for docs/warnings.md, as people write them."""
    rows = ["| kind | names |", "|---|---|"]
    for kind, names in _KIND_NAMES.items():
        rows.append(f"| {kind.value} | {' '.join(f'`{name}`' for name in sorted(names.split()))} |")
    return "\n".join(rows)


COMPARED_KINDS = frozenset({ParameterKind.KNOB, ParameterKind.BUDGET, ParameterKind.CONTEXT})
"""What can be evidence; the others only tell one run from another."""
