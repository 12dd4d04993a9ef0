"""Parameters as they can be compared: keys, values and kinds of keys, the same for drafts and records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tried.draft.entries import Entry


class ParameterKind(Enum):
    """What a key is about; only knobs are compared as evidence. See docs/warnings.md for the table of names."""

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
