"""Names by which a parameter of an experiment is known as one, in whatever file it stands."""

from __future__ import annotations

from functools import lru_cache

from tried.draft.keys import normalise_key, words_of
from tried.draft.word_tables import word_set

HYPERPARAMETERS = frozenset(
    normalise_key(name)
    for name in word_set(
        """
        lr learning_rate max_lr min_lr base_lr lr_scheduler lr_decay lr_policy scheduler_gamma optimizer optim
        optimiser weight_decay wd momentum nesterov betas adam_beta1 adam_beta2 beta1 beta2 adam_epsilon warmup
        warmup_steps warmup_ratio warmup_epochs warmup_iters warmdown_iters warmdown_ratio num_warmup_steps cooldown
        batch_size train_batch_size micro_batch_size device_batch_size total_batch_size global_batch_size
        local_batch_size per_device_train_batch_size eval_batch_size val_batch_size test_batch_size batch_tokens
        train_batch_tokens gradient_accumulation_steps grad_accum grad_accum_steps accumulate_grad_batches
        epochs num_epochs n_epochs max_epochs num_train_epochs number_of_epochs train_epochs total_epochs max_epoch
        max_iter max_iters num_train_steps train_steps max_train_steps total_steps early_stopping_patience
        dropout dropout_rate drop_rate attention_dropout hidden_dropout attn_pdrop resid_pdrop embd_pdrop drop_path
        label_smoothing grad_clip grad_clip_norm gradient_clip_val max_grad_norm clip_grad clip_grad_norm
        clip_gradients gradient_checkpointing mixed_precision precision bf16 fp16 tf32
        hidden_size hidden_dim hidden_units hidden_channels d_model model_dim n_embd embed_dim embedding_dim emb_dim
        emb_size d_ff ffn_dim intermediate_size mlp_ratio mlp_mult n_layer n_layers num_layers num_hidden_layers
        depth n_head n_heads num_heads num_attention_heads num_kv_heads head_dim kernel_size num_filters
        num_classes vocab_size block_size seq_len seq_length max_seq_len max_seq_length sequence_len context_length
        max_length max_len cutoff_len window_size n_fft n_mels sample_rate latent_dim z_dim bottleneck_dim
        lora_r lora_alpha lora_dropout lora_rank lora_target_modules adapter load_in_4bit load_in_8bit
        n_estimators max_depth max_features max_leaf_nodes min_samples_leaf min_samples_split min_child_weight
        subsample colsample_bytree num_leaves num_boost_round reg_alpha reg_lambda n_neighbors n_components
        gamma discount_factor gae_lambda clip_range entropy_coef ent_coef vf_coef buffer_size tau target_update
        epsilon_start epsilon_decay temperature top_k top_p num_beams beam_size ema_decay ema
        seed random_seed random_state test_size val_size val_split train_split validation_split k_folds n_folds
        n_splits loss loss_fn criterion activation normalization data_augmentation mixup cutmix
        model_name model_type model_arch backbone dataset dataset_name train_data train_data_path train_dataset
        learning_rate_decay l1 l2 l2_reg num_trees n_trials num_samples n_steps num_envs total_timesteps base_lr
        ims_per_batch train_micro_batch_size_per_gpu stride eval_stride patience sequence_length steps_per_epoch
        """
    )
)
"""Whole names, normalised."""

_WEAK = frozenset(
    normalise_key(name)
    for name in word_set(
        """
        seed dataset temperature max_length max_len depth stride patience gamma tau l1 l2 top_k precision adapter
        buffer_size window_size sample_rate block_size loss optimizer momentum num_samples activation cooldown warmup
        subsample model_name model_type epochs kernel_size max_depth normalization ema precision vocab_size
        backbone train_data optim criterion max_features n_components
        """
    )
)
"""Names that also stand in files which have nothing to do with experiments."""

_ENDINGS = word_set(
    """
    lr learning_rate batch_size weight_decay dropout epochs warmup_steps num_layers n_layers num_heads n_heads
    hidden_dim hidden_size embed_dim embedding_dim momentum grad_clip grad_norm clip_norm seq_len batch_tokens
    dropout_rate
    """
)
"""Last words of longer names: `matrix_lr`, `encoder_dropout`, `muon_momentum`."""

_WORDS = word_set(
    """
    lr batch epoch epochs dropout momentum decay warmup warmdown layers heads hidden embed embedding embeddings
    optimizer adam adamw muon sgd lora quant qat int4 int6 int8 fp8 fp16 fp32 bf16 float16 bfloat16 gptq attn
    attention mlp ffn rope ema swa loss logit softcap tokens seq vocab grad wd ssm moe expert experts head dim
    percentile clip topk stride init weights bigram residual layer norm eval train iters iterations scale
    """
)
"""Words of names in environment variables; three of them make an experiment's environment."""

_TRAINING_WORDS = word_set(
    """
    lr learning batch epoch epochs decay wd warmup warmdown momentum betas optimizer optim iters iterations
    estimators boost clip accum accumulation
    """
)


@lru_cache(maxsize=16384)
def is_hyperparameter(key: str) -> bool:
    """Whether a key names a hyperparameter, whole (`num_layers`, `NUM_LAYERS`) or by its end (`matrix_lr`)."""
    if normalise_key(key) in HYPERPARAMETERS:
        return True
    words = words_of(key)
    return any("_".join(words[-count:]) in _ENDINGS for count in (1, 2) if len(words) > count)


@lru_cache(maxsize=16384)
def is_telling(key: str) -> bool:
    """Whether the name is a hyperparameter's and hardly anything else's."""
    return is_hyperparameter(key) and normalise_key(key) not in _WEAK


def is_training_name(key: str) -> bool:
    """Whether a key says how something is trained, rather than what it is."""
    words = set(words_of(key))
    of_a_layer = "norm" in words and words.isdisjoint({"grad", "clip"})  # `batch_norm_momentum`
    return not of_a_layer and not words.isdisjoint(_TRAINING_WORDS)


def is_hyperparameter_word(word: str) -> bool:
    return word in _WORDS
