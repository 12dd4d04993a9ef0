"""What a config says of its experiment in words: notes, name, tags and research line.

Where a key is looked for. *At home* means at the root or in nothing but obvious containers (`HOME_WORDS`: experiment,
run, config, logger, wandb, hparams …, at most `DEEPEST_HOME` of them): `experiment.name` names the experiment,
`model.name` does not.

- prose: the values of keys whose last word is one of `PROSE_WORDS`, anywhere (`notes`, `wandb_notes`);
- name: the first of `NAME_KEYS` at home, those in at most one container first; else an `experiment_name` that did
  not serve as research line;
- tags: `TAG_KEYS` at home: a list, a comma-separated text, or a mapping's values;
- research line: the first of `LINE_KEYS` at home, `project.name`, or a tracker's own key (`LINE_KEYS_OF_TRACKERS`)
  anywhere.

Placeholders (`???`, `${…}`, `<name>`, `TODO`) are no values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tried.draft.comments import paragraphs_of
from tried.draft.entries import Comment, Entry, Path, Special
from tried.draft.keys import normalise_key, words_of
from tried.draft.word_tables import word_list, word_set
from tried.text import LineIndex

PROSE_WORDS = word_set(
    """
    note notes description desc hypothesis hypotheses comment comments title why rationale goal goals summary
    motivation reason remark remarks observation observations conclusion headline question questions purpose
    idea intent abstract expectation expectations insight insights finding findings todo readme
    """
)
NAME_KEYS = tuple(
    normalise_key(key)
    for key in word_list(
        """
        name run_name exp_name trial_name experiment wandb_name wandb_run_name mlflow_run_name job_name
        task_name config_name run_id exp_id experiment_id exp_tag
        """
    )
)
TAG_KEYS = frozenset(
    normalise_key(key)
    for key in word_list(
        """
        tag tags run_tags experiment_tags wandb_tags mlflow_tags comet_tags
        """
    )
)
LINE_KEYS = tuple(
    normalise_key(key)
    for key in word_list(
        """
        research_line project project_name study study_name experiment_group experiment_name
        """
    )
)
LINE_KEYS_OF_TRACKERS = frozenset(
    normalise_key(key)
    for key in word_list(
        """
        research_line wandb_project wandb_project_name mlflow_experiment mlflow_experiment_name
        comet_project comet_project_name neptune_project neptune_project_name clearml_project
        clearml_project_name swanlab_project trackio_project aim_experiment logger_project
        tracker_project_name
        """
    )
)
HOME_WORDS = word_set(
    """
    experiment experiments exp run runs main meta metadata info job general global project config
    configuration cfg conf settings setting args arguments argument options opts hparams hparam
    hyperparameters hyperparameter hyperparams params parameters training train trainer logger loggers logging
    log wandb mlflow comet neptune clearml swanlab trackio tracker trackers tracking init init_args kwargs env
    environment defaults default base hydra study trial common
    """
)
DEEPEST_HOME = 4
LONGEST_NAME = 300

_EXPERIMENT_NAME = normalise_key("experiment_name")
_NAMES_A_LINE = frozenset({("project", "name"), ("researchline", "name"), ("study", "name")})
_PLACEHOLDER = re.compile(
    r"\?{2,}|<[^<>]*>|[$%]?\{.*\}|\$\w+|%\(\w+\)s|\.{3}|…|_+|-+|(?:todo|tbd|fixme|xxx+|none|null|nil|n/?a|unknown"
    r"|placeholder|change[-_ ]?me|your[-_ ]\S*|auto|default|~)",
    re.IGNORECASE | re.DOTALL,
)
_TEMPLATE = re.compile(r"\$\{|\{\{|\$\(|%\(\w+\)s")
_HAS_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Said:
    """What a document says in words; `prose` in the order of the text, comments first."""

    prose: tuple[str, ...] = ()
    name: str | None = None
    name_entry: Entry | None = None
    tags: tuple[str, ...] = ()
    research_line: str | None = None


def said_in(entries: Sequence[Entry], comments: Iterable[Comment], lines: LineIndex) -> Said:
    """Prose, name, tags and research line of one document."""
    prose = list(paragraphs_of(comments, lines))
    names: dict[str, Entry] = {}
    line_entries: dict[str, Entry] = {}
    tags: list[str] = []
    for entry in entries:
        key = _last_key(entry.path)
        if key is None or entry.value is Special.UNKNOWN:
            continue
        plain = normalise_key(key)
        if is_prose_key(key) or _item_of_prose(entry.path):
            prose.extend(_texts(entry))
        if plain in LINE_KEYS_OF_TRACKERS:
            line_entries.setdefault(LINE_KEYS[1], entry)  # as good as a key `project`
        if plain not in _LOOKED_FOR and _parent_key(entry.path) not in TAG_KEYS:
            continue
        owner = _parent_key(entry.path)
        if (owner, plain) in _NAMES_A_LINE:
            if _at_home(entry.path[:-2]):
                line_entries.setdefault(LINE_KEYS[1], entry)
        elif owner in TAG_KEYS and _at_home(entry.path[:-2]):
            tags.extend(_texts(entry, split=True))
        elif _at_home(entry.path[:-1]):
            if plain in TAG_KEYS:
                tags.extend(_texts(entry, split=True))
            elif plain in LINE_KEYS:
                _keep_outermost(line_entries, plain, entry)
            elif plain in NAME_KEYS:
                _keep_outermost(names, plain, entry)
    line_key, line = _first_value(line_entries, LINE_KEYS)
    name_key, name = _first_value(names, NAME_KEYS)
    if name is None and line_key != _EXPERIMENT_NAME:
        names, (name_key, name) = line_entries, _first_value(line_entries, (_EXPERIMENT_NAME,))
    return Said(
        prose=tuple(prose),
        name=name,
        name_entry=names[name_key] if name_key is not None else None,
        tags=tuple(dict.fromkeys(tags)),
        research_line=line,
    )


@lru_cache(maxsize=8192)
def is_prose_key(key: str) -> bool:
    """Whether a key holds words of the experimenter: its last word says so (`notes`, `wandb_notes`, `runComment`)."""
    words = words_of(key)
    return bool(words) and words[-1] in PROSE_WORDS


def named_value(value: object) -> str | None:
    """A value as a name; None for a placeholder, a template, a flag and what is too long for a name."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        return None
    plain = " ".join(value.split())
    if not plain or len(plain) > LONGEST_NAME or _PLACEHOLDER.fullmatch(plain) or _TEMPLATE.search(plain):
        return None
    return plain


_LOOKED_FOR = frozenset({*NAME_KEYS, *TAG_KEYS, *LINE_KEYS})


def _keep_outermost(found: dict[str, Entry], key: str, entry: Entry) -> None:
    """Of several entries under one key the one nearest to the root counts; of those the first that has a value."""
    if named_value(entry.value) is not None and (key not in found or len(entry.path) < len(found[key].path)):
        found[key] = entry


def _first_value(found: dict[str, Entry], keys: Iterable[str]) -> tuple[str | None, str | None]:
    """The value of the first of the keys; those in one container at most go before those in more."""
    for key in sorted(keys, key=lambda key: key in found and len(found[key].path) > 2):
        value = named_value(found[key].value) if key in found else None
        if value is not None:
            return key, value
    return None, None


def _last_key(path: Path) -> str | None:
    """The last key of a path, also for an item of a list; None if there is none."""
    for part in reversed(path):
        if isinstance(part, str):
            return part
    return None


def _parent_key(path: Path) -> str | None:
    if len(path) < 2 or not isinstance(path[-2], str):
        return None
    return normalise_key(path[-2])


def _item_of_prose(path: Path) -> bool:
    """`notes: {first: …, second: …}`: a text in a mapping of notes."""
    return len(path) > 1 and isinstance(path[-2], str) and is_prose_key(path[-2])


def _at_home(owners: Path) -> bool:
    return len(owners) <= DEEPEST_HOME and all(isinstance(part, str) and is_home(part) for part in owners)


@lru_cache(maxsize=8192)
def is_home(key: str) -> bool:
    """Whether a container is an obvious one: all of its words are (`experiment`, `TrainConfig`, `wandb_logger`)."""
    words = words_of(key)
    return bool(words) and all(word in HOME_WORDS for word in words)


def _texts(entry: Entry, *, split: bool = False) -> list[str]:
    """The texts of a value; `split`: a single text is a list parted by commas."""
    if isinstance(entry.value, tuple):
        values: Iterable[object] = entry.value
    elif isinstance(entry.value, str):
        values = entry.value.strip("[] ").split(",") if split else (entry.value,)
    else:
        return []
    texts = (value.strip().strip("\"'") if split else value.strip() for value in values if isinstance(value, str))
    return [text for text in texts if _HAS_LETTER.search(text) and not _PLACEHOLDER.fullmatch(text)]
