"""What the terms of a score rest on, in a few plain words for people: of a term's inputs what one can check."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tried.render.escape import shortened
from tried.render.words import counted

if TYPE_CHECKING:
    from tried.ranking.breakdown import Term
    from tried.related.explain import Explanation

MOST_WORDS: Final = 8
_WORD_LENGTH: Final = 40

_FACTS: Final[Mapping[str, str]] = {
    "conclusion": "conclusion",
    "prose": "hypothesis or notes",
    "derivation": "derivation",
    "improved": "stated improvement",
}
"""By the names that the inputs of importance have."""


def reasons(explanation: Explanation) -> Iterator[tuple[str, str]]:
    """(name of the term, what it rests on), in the order of the terms; of those with more to tell than numbers."""
    for term in explanation.scored.terms if explanation.scored is not None else ():
        if term.inputs is not None and (told := _told(term, term.inputs, explanation)):
            yield term.name, told


def _told(term: Term, inputs: Mapping[str, Any], explanation: Explanation) -> str:
    match term.name:
        case "lexical":
            return _words(explanation.held, explanation.words) if term.signal is not None else ""
        case "recency":
            return _age(inputs["age_days"]) if term.signal is not None else ""
        case "importance":
            return _importance(inputs)
        case "lexical_bonus":
            first = f"first {inputs['terms']:,} words" if inputs["terms"] < explanation.words else "words"
            return f"{inputs['ratio']:.0%} of the {first}; it begins at {inputs['min_ratio']:.0%}"
        case "hit_boost":
            return _hits(inputs["hits"], inputs["last_hit_age_days"])
        case "decay_penalty":
            return _age(inputs["age_days"])
        case _:
            return ""


def _words(held: Sequence[str], of: int) -> str:
    if not held:
        return f"none of the {counted(of, 'different word')} of the file" if of else ""
    shown = ", ".join(shortened(word, _WORD_LENGTH) for word in held[:MOST_WORDS])
    more = f", … and {len(held) - MOST_WORDS:,} more" if len(held) > MOST_WORDS else ""
    return f"{len(held):,} of the {counted(of, 'different word')} of the file ({len(held) / of:.0%}): {shown}{more}"


def _importance(inputs: Mapping[str, Any]) -> str:
    has = [f"a {words}" for name, words in _FACTS.items() if inputs.get(name)]
    if inputs.get("dead_end"):
        has.append("a dead end")
    lacks = [f"no {words}" for name, words in _FACTS.items() if not inputs.get(name)]
    return "; ".join(", ".join(part) for part in (has, lacks) if part)


def _hits(hits: int, last_age: float | None) -> str:
    last = f", the last {_days(max(0.0, last_age))} ago" if last_age is not None else ""
    return f"{counted(hits, 'hit')}{last}" if hits else "no hit"


def _age(age: float | None) -> str:
    """Nothing without a timestamp: the breakdown has a note of that."""
    if age is None:
        return ""
    return f"{_days(age)} old" if age >= 0 else "later than now"


def _days(days: float) -> str:
    """To the tenth below ten days, which tells hours from days."""
    shown = f"{days:,.0f}" if days >= 9.95 else f"{days:.1f}".removesuffix(".0")
    return f"{shown} day{'' if shown == '1' else 's'}"
