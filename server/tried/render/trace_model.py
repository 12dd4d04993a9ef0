"""The format of a trace, ``tried.trace/v1``: what each field is, and what of it is taken. Fields that are not known are
passed over."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_MOST: int = 2**53
"""The largest whole number up to which every program tells all whole numbers apart."""


def _scalar(value: Any) -> Any:
    if value is None or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, int) and abs(value) <= _MOST:  # a truth value as well
        return value
    raise ValueError("should be a finite number, true, false or null")


Input = Annotated[Any, AfterValidator(_scalar)]
Unit = Annotated[float, Field(ge=0.0, le=1.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Count = Annotated[int, Field(ge=0, le=_MOST)]
FactName = Literal["conclusion", "prose", "derivation", "improved", "dead_end"]
Ttl = Literal["unlimited", "within", "untimed"]


class Part(BaseModel):
    """Numbers are finite, and numbers: a text is none."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False, defer_build=True)


class QueryPart(Part):
    """`terms` are the different terms in their order, `missing` why signals do not apply, `architecture` a digest."""

    terms: list[str]
    text: str | None = None
    architecture: str | None = None
    best_bm25: NotNegative
    missing: dict[Literal["lexical", "structural", "recency"], str]


class FiltersPart(Part):
    research_line: str | None = None
    tags: list[str] = []
    source: str | None = None
    ttl_days: NotNegative | None = None
    containing: list[str] = []


class SignalsPart(Part):
    """What a score is made of, for whoever reads a trace; a replay makes them of the features again."""

    lexical: Unit
    structural: Unit
    recency: Unit
    importance: Unit


class FeaturesPart(Part):
    """`matched` are the numbers of the query's terms, from 0, that the record holds."""

    bm25: NotNegative
    words: Unit
    cosine: Unit | None
    structural: Unit | None
    age_days: float | None
    facts: list[FactName]
    matched: list[Count]
    hits: Count
    last_hit_age_days: float | None
    ttl: Ttl


class DecayPart(Part):
    """The policy's exponentials; null for those that it does not use."""

    recency: Unit
    last_hit: Unit | None
    age: Unit | None


class CandidatePart(Part):
    id: str
    name: str
    signals: SignalsPart
    features: FeaturesPart
    decay: DecayPart


class TermPart(Part):
    name: str
    value: float
    signal: Unit | None
    weight: NotNegative | None
    note: str | None = None
    inputs: dict[str, Input] | None = None


class ResultPart(Part):
    rank: Annotated[int, Field(ge=1, le=_MOST)]
    id: str
    name: str
    score: float
    dead_end: bool
    terms: list[TermPart]


class TracePart(Part):
    """The whole line."""

    id: str
    now: str
    version: str
    query: QueryPart
    filters: FiltersPart
    policy_name: str | None = None
    policy_id: str
    policy: dict[str, Any]
    generation: Count
    limit: Count | None
    total: Count
    complete: bool
    candidates: list[CandidatePart]
    result: list[ResultPart]
