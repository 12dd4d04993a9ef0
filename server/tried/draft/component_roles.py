"""Which parts of a config belong to its architecture: a table of words, no knowledge of any framework.

An architecture is what computes a prediction. Optimizers, schedules, losses, metrics, data, tokenizers, loggers,
callbacks, trainers and other machinery are parts of the experiment, and no components of its architecture.

A key speaks by its words (`word_encoder` → word, encoder). On the way from a part to the root the first key that says
anything decides: `trainer.model` is architecture, `model.optimizer` is not. What lies in data is none unless a key
further in says `model`; what lies in a tokenizer or a reader is none at all (`tokenizer.model`).
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from tried.draft.entries import Path
from tried.draft.keys import words_of
from tried.draft.word_tables import word_set


class Role(Enum):
    """What the place of a part says about it."""

    MODEL = "model"
    OTHER = "other"
    UNSAID = "unsaid"


MODEL_WORDS = word_set(
    """
    model models submodel architecture architectures arch net nets network networks backbone encoder encoders
    decoder decoders head heads neck stem trunk body tower towers branch branches block blocks layer layers
    module modules submodule stage stages stack generator discriminator critic actor policy transformer
    attention attn mha embedder embedders embedding embeddings mlp ffn feedforward cnn rnn lstm gru ssm moe
    expert experts router gate mixer unet vae gan autoencoder classifier regressor estimator predictor pooler
    pooling projector projection adapter student teacher extractor resnet vit bert gpt llm lm vlm denoiser
    vocoder pipeline steps nodes subgraph filter filters
    """
)
"""Words of keys that hold parts of an architecture."""

OTHER_WORDS = word_set(
    """
    edges optimizer optimizers optimiser optim opt schedule scheduler schedulers annealing annealer lr loss losses
    criterion cost costs objective metric metrics scorer evaluator evaluation eval evaluate logger loggers
    logging plan monitor callback callbacks hook hooks trainer profiler checkpoint checkpointer checkpoints
    ckpt saver writer pretrainer recoverables sweeper sweep search searcher launcher strategy plugin plugins
    cluster slurm job storage backend hardware device runtime env environment hydra wandb mlflow tracker
    tracking counter progress early stopping initializer initialisers initializers regularizer regularizers
    constraint constraints augment augmentation augmentations augmenter transform transforms preprocessing
    postprocessing preprocessor collate collator sampler samplers iterator seed seeds peft lora quantization
    quant fsdp deepspeed ddp parallelism distributed scaling artifact artifacts deploy deployment server
    client request requests path paths time timer interval defaults hub generation prompt prompts parameters
    distribution
    """
)
"""Words of keys that hold machinery around an architecture; they win over model words in the same key."""

DATA_WORDS = word_set(
    """
    data dataset datasets dataloader dataloaders datamodule datamodules datasource corpus loader loaders
    catalog io
    """
)
"""Words of keys below which nothing is architecture, unless a key further in says `model`."""

TEXT_WORDS = word_set("reader readers indexer indexers tokenizer tokenizers vocabulary vocab")
"""Words of keys below which nothing is architecture at all (`tokenizer.model`)."""

_OTHER_CLASS_WORDS = word_set(
    """
    optimizer optim scheduler lr loss criterion metric metrics logger callback trainer profiler checkpointer
    checkpoint dataset datasets data dataloader datamodule loader reader sampler tokenizer indexer counter
    sweeper launcher strategy augmenter augment augmentation augmentor pretrainer writer saver stats collator
    evaluator searcher config arguments args settings options environment seed annealing stopping recorder
    monitor tracker hook plugin schedule
    """
)
_OTHER_CLASSES = word_set(
    """
    dict list set tuple int float str bool len range min max sum sorted zip open print field partial path
    purepath namespace simplenamespace ordereddict defaultdict argumentparser console thread lock event
    process datetime timedelta gradscaler scaler_grad typevar namedtuple deque regex compile getenv get device
    dtype tensor
    """
)
_OTHER_PLACES = word_set(
    """
    optim optimizer optimizers optimisers lr_scheduler lr_schedulers schedulers scheduler loss losses datasets
    dataset data dataio data_io loggers logger logging metric_logging callbacks callback metrics metric
    tokenizers tokenizer augment augmentation augmentations transforms samplers profiler strategies plugins
    hydra_plugins pathlib os sys re datetime collections argparse functools itertools typing operator builtins
    random time io json math
    """
)
_OPTIMIZERS = word_set(
    """
    adam adamw adamax adagrad adadelta adafactor nadam radam sparseadam sgd asgd lbfgs rmsprop rprop lion lamb
    lars muon shampoo distributedshampoo soap sophia prodigy novograd adabelief ranger adan tiger galore
    ademamix
    """
)


@lru_cache(maxsize=8192)
def role_of_key(key: str) -> Role:
    """What one key says."""
    words = set(words_of(key))
    if not words.isdisjoint(OTHER_WORDS) or not words.isdisjoint(DATA_WORDS) or not words.isdisjoint(TEXT_WORDS):
        return Role.OTHER
    return Role.UNSAID if words.isdisjoint(MODEL_WORDS) else Role.MODEL


@lru_cache(maxsize=8192)
def role_of_path(path: Path) -> Role:
    """What the keys from a part to the root say; list indexes say nothing."""
    role = Role.UNSAID
    in_model = False
    for key in reversed(path):
        if not isinstance(key, str):
            continue
        words = set(words_of(key))
        if not words.isdisjoint(TEXT_WORDS) or (not in_model and not words.isdisjoint(DATA_WORDS)):
            return Role.OTHER
        if role is Role.UNSAID:
            role = role_of_key(key)
        in_model = in_model or "model" in words
    return role


@lru_cache(maxsize=8192)
def is_other_class(name: str) -> bool:
    """Whether an import path names machinery by its last part or by the modules that it comes from."""
    *places, last = [part for part in name.replace(":", ".").split(".") if part] or [""]
    words = set(words_of(last))
    if last.lower() in _OTHER_CLASSES or not _OTHER_CLASS_WORDS.isdisjoint(words):
        return True
    if not _OPTIMIZERS.isdisjoint({last.lower(), *words}):
        return True
    return any(place.lower() in _OTHER_PLACES for place in places)


def says_model(name: str) -> bool:
    """Whether any part of an import path is named after a part of a model (`torch.nn`, `torchvision.models`)."""
    return any(part == "nn" or not MODEL_WORDS.isdisjoint(words_of(part)) for part in name.replace(":", ".").split("."))
