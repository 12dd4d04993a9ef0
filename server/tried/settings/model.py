"""Every setting with its type, limits, default and description: the one table that everything else is made from.

docs/settings.md, the schema of tried.toml and the settings of the extension for VS Code are generated from it
(`tried.settings.reference`), and so are the messages about wrong values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from tried.findings.finding import Severity
from tried.findings.settings import FindingSettings
from tried.pool.record import Direction
from tried.pool.sources.registry import NAMES as KIND_NAMES
from tried.settings.editor_model import (
    CodeActionSettings,
    CodeLensSettings,
    CompletionSettings,
    EditorSettings,
    HoverSettings,
    InlayHintSettings,
    LinkSettings,
    SymbolSettings,
)
from tried.settings.finding_names import SEVERITY_KEY_PATTERN, SEVERITY_KEYS, SEVERITY_PATTERN, SILENCE_CODES
from tried.settings.group import ADDS_UP, USER_ONLY, Group, read_only
from tried.settings.ranking_model import POLICY_NAMES, Policies, RankingSettings, TraceSettings

_RULES = FindingSettings()

Status = Literal["completed", "failed", "crashed", "stopped", "pruned", "running"]
"""How a run has ended, in the words of its record's outcome."""

_LOUDNESS: dict[str, Any] = {
    "enum_descriptions": {
        "warning": "A squiggle of a warning.",
        "information": "A quieter squiggle.",
        "hover": "Shown when the pointer rests on the place, never underlined.",
        "off": "Not told at all.",
    }
}


Directions = Annotated[Mapping[str, Direction], AfterValidator(read_only)]
Severities = Annotated[Mapping[str, Severity], AfterValidator(read_only)]


def _as_tables(value: Any) -> Any:
    """A path alone is a table with nothing but a path."""
    if isinstance(value, list | tuple):
        return tuple({"path": item} if isinstance(item, str) else item for item in value)
    return value


class SourceSettings(Group):
    """A source of past experiments, as a path or as a table `[[pool.sources]]` that also says what of it counts. A
    table whose path is that of a source that is found anyway configures that one."""

    path: str = Field(
        min_length=1,
        description=(
            "A file, a folder (a tracker's store, or one to look in) or a glob, relative to the workspace folder; `~`"
            " is the home folder in the user's own settings."
        ),
    )
    enable: bool = Field(default=True, description="Read it; `false` leaves out a source that is found by itself.")
    research_line: str | None = Field(
        default=None, min_length=1, description="The research line of all its records, whatever they say themselves."
    )
    experiments: tuple[str, ...] = Field(
        default=(),
        description=(
            "Globs of the tracker's experiments (projects, studies) whose runs count; those after a `!` do not."
            " All, if there are none."
        ),
    )
    tags: tuple[str, ...] = Field(
        default=(),
        description="Globs of tags: a run counts if one of its tags fits one of them and none fits one after a `!`.",
    )
    statuses: tuple[Status, ...] = Field(default=(), description="How runs that count have ended. All, if none.")
    max_age_days: float | None = Field(
        default=None,
        gt=0.0,
        le=36_500.0,
        allow_inf_nan=False,
        description="Runs that were started and last written longer ago do not count.",
    )


Sources = Annotated[tuple[SourceSettings, ...], BeforeValidator(_as_tables)]


class PoolSettings(Group):
    """Where past experiments are read from. docs/sources.md says what is read of each tracker."""

    sources: Sources = Field(
        default=(),
        json_schema_extra=ADDS_UP
        | USER_ONLY
        | {
            "accepts": "a list of text or tables",
            "or_text": True,
            "in_editor": (
                "Sources to read beside those that are found: trackers' stores, journals (JSONL), results tables"
                " (`.tsv`, `.csv`), globs, or folders to look in, relative to the workspace folder; `~` is the home"
                " folder. Each is a path, or an object that also says what of it counts. For all who work on a project,"
                " name them in its `tried.toml`: `[pool] sources = […]`."
            ),
        },
        description=(
            "Sources to read beside those that are found: trackers' stores, journals (JSONL), results tables (`.tsv`,"
            " `.csv`), globs, or folders to look in, relative to the workspace folder; `~` is the home folder in the"
            " user's own settings. Each is a path, or a table that says more, see `[[pool.sources]]`; a file can hold"
            " only one of these two forms. What a file of the workspace names outside of it is read with the user's"
            " consent only: the editor asks for it, and `tried allow PATH` gives it."
        ),
    )
    discover: bool = Field(
        default=True,
        description=(
            "Look in the workspace folder for what trackers left there, `.tried/pool.jsonl`, `.soma/experiments.jsonl`"
            " and tables such as `results.tsv`. Links that lead out of the folder are followed with the user's consent"
            " only."
        ),
    )
    exclude: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP,
        description="Globs, relative to the workspace folder, of files and folders in which no pool is looked for.",
    )
    disable: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP | {"names": list(KIND_NAMES)},
        description=(
            f"Kinds of sources that are not read: {', '.join(f'`{name}`' for name in KIND_NAMES)}, or the name of a"
            " plug-in's kind."
        ),
    )
    parent_key: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "A parameter, or the name of a tag `NAME=ID`, in which your runs say what run they derive from, by its id"
            " in the tracker. Trackers' own parents (of a sweep, of a pipeline) are none."
        ),
    )


class RemoteSettings(Group):
    """A tracker's server whose runs are fetched in the background. Only the user's own settings (the editor's, the
    user's file, `--settings`) may name one: in a file of a workspace it is refused, since a project must not make tried
    talk to a server."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"kind": {"const": "mlflow"}}},
            "then": {"required": ["address"], "properties": {"address": {"minLength": 1}}},
            "else": {"required": ["projects"], "properties": {"projects": {"minItems": 1}}},
        }
    )

    kind: Literal["mlflow", "wandb"] = Field(description="Which tracker it is.")
    address: str = Field(
        default="",
        description="The server, as `https://mlflow.example.org`; may be left out for W&B's own, `https://api.wandb.ai`.",
    )
    projects: tuple[str, ...] = Field(
        default=(),
        description="For MLflow names of experiments, none for all; for W&B `entity/project`, at least one.",
    )
    token_variable: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "The environment variable with the token for this server (MLflow: also `user:password`; W&B: the API key)."
            " Without it the tracker's own variables are used, if they belong to this very host."
        ),
    )
    interval_seconds: float = Field(
        default=60.0,
        ge=5.0,
        le=86_400.0,
        allow_inf_nan=False,
        description="Seconds between two looks for what is new.",
    )
    workspaces: tuple[str, ...] = Field(
        default=(),
        description="Globs of workspace folders in which it is read; `~` is the home folder. In all, if none.",
    )
    enable: bool = Field(default=True, description="Ask it; `false` keeps the table and asks nothing.")


class ConfigSettings(Group):
    """Which files are experiment configs."""

    include: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP,
        description=(
            "Globs, relative to the workspace folder, of files that are experiment configs whatever they hold. Other"
            " files are judged by their name and content."
        ),
    )
    exclude: tuple[str, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP,
        description="Globs, relative to the workspace folder, of files that are never configs. Wins over `include`.",
    )


class MetricsSettings(Group):
    """What the numbers in the pool mean."""

    directions: Directions = Field(
        default={},
        json_schema_extra={"enum_descriptions": {"min": "Low is better.", "max": "High is better."}},
        description=(
            'Which way is better, by metric name: `"min"` or `"max"`. A record that declares its own directions keeps'
            " them; other metrics are known by their names (`loss` is better low, `accuracy` high)."
        ),
    )


class FindingsSettings(Group):
    """What is said about a config, and how loudly."""

    enable: bool = Field(default=True, description="Say something about values that repeat a dead end.")
    calibrate: bool = Field(
        default=False,
        description=(
            "Replay your own pool, and let a kind of evidence speak only in the hover if fewer than 8 in 10 of its"
            " warnings would have been right there. `tried backtest` shows what that comes to."
        ),
    )
    severity: Severities = Field(
        default={},
        json_schema_extra={
            "keys": list(SEVERITY_KEYS),
            "pattern": SEVERITY_PATTERN,
            "key_pattern": SEVERITY_KEY_PATTERN,
        }
        | _LOUDNESS,
        description=(
            'How loud a finding is: `"warning"`, `"information"`, `"hover"` (shown when the pointer rests on the'
            ' place, never underlined) or `"off"`. The key is a kind of evidence (`repeat`, `move`, `knob`, `near`) or'
            " the code `dead-end`, alone or with why the run counts as a dead end (`near/out_of_memory`,"
            " `dead-end/worse`, `repeat/judged`). The most precise key wins; docs/warnings.md lists the defaults."
        ),
    )
    minimum_compared: int = Field(
        default=_RULES.minimum_compared,
        ge=1,
        le=1000,
        description="A config repeats a run only if at least so many parameters could be compared.",
    )
    minimum_similarity: float = Field(
        default=_RULES.minimum_similarity,
        ge=0.0,
        le=1.0,
        description=(
            "Runs of another research line are evidence only if at least this share of all parameters of both is equal."
        ),
    )
    common_key_share: float = Field(
        default=_RULES.common_key_share,
        ge=0.0,
        le=1.0,
        description=(
            "A parameter that at least this share of a line's runs log is a matter of course; a config that lacks"
            " another one that a run had does not repeat that run."
        ),
    )
    knob_dead_ends: int = Field(
        default=_RULES.knob_dead_ends,
        ge=1,
        le=1000,
        description="A parameter is suspect if at least so many runs set it and all were dead ends …",
    )
    knob_worked_without: int = Field(
        default=_RULES.knob_worked_without,
        ge=0,
        le=100_000,
        description="… while at least so many runs worked without it.",
    )
    debug_budget_share: float = Field(
        default=_RULES.debug_budget_share,
        ge=0.0,
        le=1.0,
        description=(
            "A run with less than this share of the config's budget (steps, epochs) was a trial of the machinery: it is"
            " evidence of nothing but out-of-memory and errors in the code."
        ),
    )


class Silence(Group):
    """A finding that is not told. All the fields that are given must match; at least one of `path`, `key`, `code`
    and `id` is needed."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": [name]} for name in ("path", "key", "code", "id")]}
    )

    path: str | None = Field(
        default=None, min_length=1, description="Glob of config files, relative to the workspace folder."
    )
    key: str | None = Field(
        default=None, min_length=1, description="A key that the finding blames, such as `optimizer.lr`."
    )
    code: str | None = Field(
        default=None,
        min_length=1,
        json_schema_extra={"values": list(SILENCE_CODES)},
        description=(
            "`repeat` or `dead-end`; a kind of evidence such as `near` or `dead-end/near`; or a code with a cause, such"
            " as `dead-end/diverged`."
        ),
    )
    id: str | None = Field(default=None, min_length=1, description="The record that the finding names.")
    reason: str | None = Field(default=None, description="Why it is silenced; for those who read the file.")


class Settings(Group):
    """All settings; immutable."""

    research_line: str | None = Field(
        default=None,
        min_length=1,
        description="The project or line of work of configs that do not name theirs. Evidence is strongest within it.",
    )
    pool: PoolSettings = Field(default_factory=PoolSettings)
    config: ConfigSettings = Field(default_factory=ConfigSettings)
    metrics: MetricsSettings = Field(default_factory=MetricsSettings)
    ranking: RankingSettings = Field(default_factory=RankingSettings)
    policies: Policies = Field(
        default={},
        json_schema_extra={
            "accepts": "tables of knobs, by the name of the policy",
            "table_names": POLICY_NAMES,
            "in_editor": (
                "Policies of your own, by their names: which knobs of the default one have other values, as in"
                ' `{"recent": {"halfLifeDays": 7}}`. docs/ranking.md explains the knobs.'
            ),
        },
        description=(
            "Policies of your own: each a table `[policies.NAME]` of the knobs that differ from the default one."
            " `ranking.policy` says which is active."
        ),
    )
    trace: TraceSettings = Field(default_factory=TraceSettings)
    findings: FindingsSettings = Field(default_factory=FindingsSettings)
    hover: HoverSettings = Field(default_factory=HoverSettings)
    code_actions: CodeActionSettings = Field(default_factory=CodeActionSettings)
    code_lens: CodeLensSettings = Field(default_factory=CodeLensSettings)
    inlay_hints: InlayHintSettings = Field(default_factory=InlayHintSettings)
    completion: CompletionSettings = Field(default_factory=CompletionSettings)
    links: LinkSettings = Field(default_factory=LinkSettings)
    symbols: SymbolSettings = Field(default_factory=SymbolSettings)
    editor: EditorSettings = Field(default_factory=EditorSettings)
    remote: tuple[RemoteSettings, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP
        | USER_ONLY
        | {
            "in_editor": (
                "Trackers' servers to fetch runs from. None, unless you name one: nothing leaves the machine by itself."
                " A workspace cannot set this."
            )
        },
        description=(
            "Trackers' servers to fetch runs from, as tables `[[remote]]`; only in the user's own settings. None,"
            " unless you name one: nothing leaves the machine by itself."
        ),
    )
    silence: tuple[Silence, ...] = Field(
        default=(),
        json_schema_extra=ADDS_UP
        | {
            "in_editor": (
                "Findings that are not told; all that is given of `path`, `key`, `code` and `id` must match. For all"
                " who work on a project, name them in its `tried.toml`: `[[silence]]`."
            )
        },
        description=(
            "Findings that are not told, as tables `[[silence]]` with `path`, `key`, `code`, `id` and `reason`; for"
            " files that cannot hold a comment."
        ),
    )
