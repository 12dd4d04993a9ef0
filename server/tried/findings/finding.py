"""What the user is told about a place in a config, as plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tried.pool.record import Cause
from tried.text import Span

Code = Literal["repeat", "dead-end"]
Evidence = Literal["repeat", "move", "knob", "near"]
Severity = Literal["warning", "information", "hover", "off"]
"""`hover` is shown when the pointer rests on the place and never as a squiggle; `off` is not made at all."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A parameter in which draft and record differ; None where one of them lacks it. Values as they were written."""

    key: str
    draft: str | None
    record: str | None


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement about one place.

    `record` is the one that the message names, `records` all that the finding rests on (that one first). `blamed`
    are the keys, as paths in the file. `why` are the sentences for the hover, most important first, plain text.
    `contradicted_by` are records in which the same thing worked.
    """

    code: Code
    evidence: Evidence
    severity: Severity
    span: Span
    message: str
    record: str
    records: tuple[str, ...]
    blamed: tuple[str, ...]
    cause: Cause | None = None
    why: tuple[str, ...] = ()
    differences: tuple[Difference, ...] = ()
    contradicted_by: tuple[str, ...] = ()
