"""A policy: the weights and knobs that turn what is known of a record into its score. Named, validated, immutable.

Invariant: the default policy is the formula of docs/ranking.md, with the three optional terms off.
Invariant: two policies have the same `policy_id` exactly if all their knobs are equal.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Final

from pydantic import AllowInfNan, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, field_validator
from pydantic.fields import FieldInfo

POLICY_SCHEMA: Final = "tried.policy/v1"
DEFAULT_HALF_LIFE_DAYS: Final = 30.0
_ID_DIGITS: Final = 12
_SHOWN: Final = 60

MOST_WEIGHT: Final = 1e6
"""Of a weight; what counts is its share."""

Number = Annotated[float, AllowInfNan(False)]
"""A finite number."""


class PolicyError(ValueError):
    """What is wrong with a policy, knob by knob; each of `problems` names the knob, the value and the range."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems: Final = problems


class Knobs(BaseModel):
    """Numbers that belong together: immutable, finite, without any that is not known."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @field_validator("*")
    @classmethod
    def _without_negative_zero(cls, value: Any) -> Any:
        """So that equal policies are written alike."""
        return value + 0.0 if isinstance(value, float) else value


class Weights(Knobs):
    """How much each signal counts, in proportion to the others that apply."""

    lexical: Number = Field(default=0.40, ge=0.0, le=MOST_WEIGHT, description="Words in common.")
    structural: Number = Field(default=0.25, ge=0.0, le=MOST_WEIGHT, description="Likeness of the architecture.")
    recency: Number = Field(default=0.15, ge=0.0, le=MOST_WEIGHT, description="How lately it ran.")
    importance: Number = Field(default=0.20, ge=0.0, le=MOST_WEIGHT, description="How much the record has to tell.")


class LexicalBonus(Knobs):
    """A bonus for records that hold many of the query's different terms, however often and however rare."""

    enabled: bool = Field(default=False, description="Add it to the score.")
    weight: Number = Field(default=0.05, ge=0.0, le=MOST_WEIGHT, description="The most that it adds.")
    min_ratio: Number = Field(
        default=0.3, ge=0.0, le=1.0, description="The share of the query's terms from which on it adds anything."
    )
    term_cap: int = Field(default=64, ge=1, description="So many different terms of the query count, the first ones.")


class HitBoost(Knobs):
    """A boost for records that you opened, compared with, took a value from or concluded, and lately."""

    enabled: bool = Field(default=False, description="Add it to the score.")
    weight: Number = Field(default=0.05, ge=0.0, le=MOST_WEIGHT, description="The most that it adds.")
    half_saturation: Number = Field(default=8.0, gt=0.0, description="After so many hits it is half of that.")
    tau_days: Number = Field(
        default=14.0, ge=0.0, description="So many days after the last hit it is down to 1/e; 0 keeps it."
    )


class DecayPenalty(Knobs):
    """What old records lose beyond their recency."""

    enabled: bool = Field(default=False, description="Take it from the score.")
    weight: Number = Field(default=0.05, ge=0.0, le=MOST_WEIGHT, description="The most that it takes.")
    tau_days: Number = Field(default=30.0, gt=0.0, description="At an age of so many days it takes 1 - 1/e of that.")


class Policy(Knobs):
    """How records are ranked: four signals by their weights, and three optional terms."""

    weights: Weights = Field(default_factory=Weights)
    half_life_days: Number = Field(
        default=DEFAULT_HALF_LIFE_DAYS, description="After so many days a record's recency is halved; 0 or less: never."
    )
    lexical_bonus: LexicalBonus = Field(default_factory=LexicalBonus)
    hit_boost: HitBoost = Field(default_factory=HitBoost)
    decay_penalty: DecayPenalty = Field(default_factory=DecayPenalty)
    ttl_days: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="Records that are older are left out. Without it none is.",
    )

    @property
    def policy_id(self) -> str:
        """A short hash of all knobs."""
        return hashlib.sha256(_canonical(self).encode()).hexdigest()[:_ID_DIGITS]


DEFAULT_POLICY: Final = Policy()
STEADY: Final = Policy(
    lexical_bonus=LexicalBonus(enabled=True),
    hit_boost=HitBoost(enabled=True),
    decay_penalty=DecayPenalty(enabled=True),
)
PRESETS: Final[Mapping[str, Policy]] = {"default": DEFAULT_POLICY, "steady": STEADY}


def remark_on(policy: Policy) -> str | None:
    """What a policy does that nobody wants, though it is allowed."""
    optional = (policy.lexical_bonus, policy.hit_boost, policy.decay_penalty)
    if any(getattr(policy.weights, name) for name in Weights.model_fields) or any(each.enabled for each in optional):
        return None
    return "all weights are 0: every score is 0, and records are ordered by their ids"


def policy_json(policy: Policy) -> dict[str, Any]:
    """``tried.policy/v1``: every knob, those with the default value too."""
    return {"schema": POLICY_SCHEMA, **policy.model_dump()}


def policy_from_json(data: object) -> Policy:
    """The other way round; knobs that are left out have their defaults. Raises PolicyError."""
    if not isinstance(data, Mapping):
        raise PolicyError(f"a policy is a table of knobs, not {_told(data)}")
    schema = data.get("schema", POLICY_SCHEMA)
    if schema != POLICY_SCHEMA:
        raise PolicyError(f"schema: this version of tried knows {POLICY_SCHEMA}, not {_told(schema)}")
    return _validated({key: value for key, value in data.items() if key != "schema"})


def with_overrides(policy: Policy, overrides: Mapping[str, Any]) -> Policy:
    """The policy with other values of single knobs (`weights.lexical`), given as numbers, truth values or as text.

    Raises PolicyError.
    """
    data = policy.model_dump()
    problems: list[str] = []
    known = knobs()
    for name, value in overrides.items():
        if name not in known:
            problems.append(_unknown(name))
            continue
        *above, last = name.split(".")
        table = data
        for part in above:
            table = table[part]
        table[last] = _scalar(value) if isinstance(value, str) else value
    try:
        turned = _validated(data)
    except PolicyError as error:
        problems += error.problems
    if problems:
        raise PolicyError(*problems)
    return turned


def knobs(model: type[Knobs] = Policy, prefix: str = "") -> dict[str, FieldInfo]:
    """Every knob by its dotted name."""
    found: dict[str, FieldInfo] = {}
    for name, info in model.model_fields.items():
        kind = info.annotation
        if isinstance(kind, type) and issubclass(kind, Knobs):
            found |= knobs(kind, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = info
    return found


def knob_range(info: FieldInfo) -> str:
    """What a knob takes, in words: "a finite number of at least 0"."""
    if info.annotation is bool:
        return "true or false"
    noun = "a whole number" if info.annotation is int else "a finite number"
    limits = TypeAdapter(info.rebuild_annotation()).json_schema()
    limits = next((option for option in limits.get("anyOf", ()) if option.get("type") != "null"), limits)
    low, above, high = (limits.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    if low is not None and high is not None:
        return f"{noun} from {low:g} to {high:.12g}"
    if above is not None:
        return f"{noun} above {above:g}"
    return f"{noun} of at least {low:g}" if low is not None else noun


def _validated(data: Mapping[str, Any]) -> Policy:
    try:
        return Policy.model_validate(data)
    except ValidationError as error:
        raise PolicyError(*dict.fromkeys(_problems(error))) from None


def _problems(error: ValidationError) -> Iterator[str]:
    known = knobs()
    for each in error.errors(include_url=False, include_context=False):
        name = ".".join(map(str, each["loc"]))
        if each["type"] == "extra_forbidden":
            yield _unknown(name)
        elif name in known:
            yield f"{name}: expected {knob_range(known[name])}, got {_told(each['input'])}"
        else:
            yield f"{name or 'a policy'}: expected a table of knobs, got {_told(each['input'])}"


def _unknown(name: str) -> str:
    known = list(knobs())
    inner = [one for one in known if one.startswith(f"{name.rstrip('.')}.")]
    if inner and f"{name}.enabled" not in inner:
        return f"{_cut(name)}: a table of knobs; set one of them: {', '.join(inner)}"
    near = (
        [one for one in known if one == f"{name}.enabled"]
        or difflib.get_close_matches(name, known, n=1)
        or [one for one in known if one.split(".")[-1] == name][:1]
    )
    return f"{_cut(name)}: no knob of a policy; " + (
        f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    )


def _scalar(text: str) -> Any:
    """A value as it is written on a command line."""
    word = text.strip()
    named = {"true": True, "false": False, "none": None}
    if word.lower() in named:
        return named[word.lower()]
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return text


def _told(value: object) -> str:
    if value is None:
        return "none"
    return _cut(json.dumps(value, ensure_ascii=False, default=lambda other: type(other).__name__))


def _cut(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def _canonical(policy: Policy) -> str:
    return json.dumps(policy_json(policy), sort_keys=True, separators=(",", ":"), allow_nan=False)
