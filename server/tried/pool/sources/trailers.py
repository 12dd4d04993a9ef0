"""What a commit's `Tried:` trailer says: `Tried: dead-end lr 0.5 diverges` → a verdict and its reason."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from tried.pool.record import ExperimentRecord, Verdict

KEY: Final = "tried"
COMMIT: Final = "commit:"
"""What the name of a commit, in an amendment, begins with."""

_WORDS: Final[tuple[tuple[str, Verdict], ...]] = (
    (r"dead[\s_-]?end", "dead_end"),
    (r"works|worked", "works"),
    (r"inconclusive", "inconclusive"),
)
_PATTERNS: Final = tuple(
    (re.compile(rf"(?:{word})(?![\w-])\s*[:,–—-]*\s*(.*)", re.IGNORECASE | re.DOTALL), verdict)
    for word, verdict in _WORDS
)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """`words`: the reason, possibly empty; `verdict` None where the trailer states none."""

    verdict: Verdict | None
    words: str


def conclusion_in(values: Iterable[str]) -> Conclusion | None:
    """What the values of `Tried:` trailers say together: the last verdict, all reasons. None if there are none."""
    verdict: Verdict | None = None
    reasons: list[str] = []
    for value in values:
        words = value.strip()
        for pattern, meant in _PATTERNS:
            if match := pattern.match(words):
                verdict, words = meant, match[1].strip()
                break
        if words:
            reasons.append(words)
    if verdict is None and not reasons:
        return None
    return Conclusion(verdict, "; ".join(dict.fromkeys(reasons)))


def tried_values(trailers: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(value for key, value in trailers if key.lower() == KEY)


def commit_key(record: ExperimentRecord) -> str | None:
    """`commit:<hash>` of an experiment that ran from that very commit: its whole hash is known, and nobody says that
    the working files were other than in it."""
    git: Any = record.git
    if not isinstance(git, dict) or git.get("dirty") or record.role != "experiment":
        return None
    sha = git.get("sha") or git.get("commit")
    whole = isinstance(sha, str) and len(sha) in (40, 64)
    return f"{COMMIT}{sha.lower()}" if whole and isinstance(sha, str) else None
