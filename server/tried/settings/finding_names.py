"""How settings name findings: the keys of `findings.severity`, and what a ``[[silence]]`` may be about."""

from __future__ import annotations

from typing import get_args

from tried.findings.settings import CODE_OF, DEFAULT_SEVERITY, Reason
from tried.pool.record import Cause

SEVERITY_KEYS = tuple(
    dict.fromkeys(
        [*CODE_OF, *CODE_OF.values(), *DEFAULT_SEVERITY]
        + [f"{CODE_OF[evidence]}/{reason}" for evidence in CODE_OF for reason in get_args(Reason)]
    )
)
SEVERITY_PATTERN = (
    f"keys are {', '.join([*CODE_OF, 'dead-end'])}, alone or with a reason behind a slash"
    f" ({', '.join(get_args(Reason))})"
)
SEVERITY_KEY_PATTERN = f"^({'|'.join([*CODE_OF, 'dead-end'])})(/({'|'.join(get_args(Reason))}))?$"
"""Fits `SEVERITY_KEYS` and nothing else."""

SILENCE_CODES = tuple(
    dict.fromkeys(
        [*CODE_OF.values(), *CODE_OF]
        + [f"{code}/{evidence}" for evidence, code in CODE_OF.items()]
        + [f"{code}/{cause}" for code in CODE_OF.values() for cause in get_args(Cause)]
    )
)
"""What `code` of a ``[[silence]]`` may be: a code, a kind of evidence, or a code with an evidence or a cause."""
