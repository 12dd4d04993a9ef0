"""The settings of the ranked list: which policy is active, which there are, and what is written down of rankings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field

from tried.ranking.policy import DEFAULT_HALF_LIFE_DAYS, PRESETS, Policy
from tried.settings.group import TRUSTED_ONLY, Group, read_only

MOST_NAME: Final = 60
"""Characters of the name of a policy."""

_RESERVED = "|".join("".join(f"[{letter}{letter.upper()}]" for letter in name) for name in PRESETS)
POLICY_NAMES: Final[dict[str, Any]] = {"minLength": 1, "maxLength": MOST_NAME, "pattern": f"^(?!(?:{_RESERVED})$)"}
"""The schema of such a name: none of the presets, however it is spelled."""

Policies = Annotated[Mapping[str, Policy], AfterValidator(read_only)]
"""By their names."""


class RankingSettings(Group):
    """The list of related experiments."""

    half_life_days: float = Field(
        default=DEFAULT_HALF_LIFE_DAYS,
        ge=0.0,
        le=36_500.0,
        allow_inf_nan=False,
        description="After so many days a record's recency is halved; 0 turns ageing off.",
    )
    limit: int = Field(default=20, ge=1, le=1000, description="How many related experiments are listed.")
    policy: str = Field(
        default="default",
        min_length=1,
        description=(
            "The policy that is active: `default`, `steady` (the three optional terms are on), or one of `policies`."
            " docs/ranking.md explains them."
        ),
    )


class TraceSettings(Group):
    """Rankings written down so that they can be repeated, see docs/traces.md; in the user's state folder, never in the
    workspace."""

    enabled: bool = Field(default=False, description="Write down every ranking of an open config and of `tried rank`.")
    candidates: int = Field(
        default=500,
        ge=1,
        le=10_000,
        json_schema_extra=TRUSTED_ONLY,
        description=(
            "So many candidates are kept of each ranking, the best ones; of the others only their number. Only your own"
            " settings can say so."
        ),
    )
    include_text: bool = Field(
        default=False,
        json_schema_extra=TRUSTED_ONLY,
        description=(
            "Keep the text that was ranked by, and not only its words one by one. Only your own settings can say so."
        ),
    )
    max_mb: int = Field(
        default=64,
        ge=1,
        le=100_000,
        json_schema_extra=TRUSTED_ONLY,
        description=(
            "The most that all traces together may take, in megabytes; the oldest go first. Only your own settings can"
            " say so."
        ),
    )
