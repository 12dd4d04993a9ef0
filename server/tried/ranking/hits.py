"""How often a record was of use to somebody: an input of ranking, kept elsewhere (`storage/hits.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Final, TypeAlias


@dataclass(frozen=True, slots=True)
class Hit:
    """`count` is how often a person opened a record, compared with it, used a value of it or concluded it; at least 1.
    `last` is when they last did (naive: UTC)."""

    count: int
    last: datetime


Hits: TypeAlias = Mapping[str, Hit]
"""By the record's id."""

NO_HITS: Final[Hits] = MappingProxyType({})
