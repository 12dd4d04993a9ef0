"""What a one-line description says was changed: `increase MATRIX_LR to 0.06` → MATRIX_LR: ? → 0.06.

Precision comes first: a part of the description is understood whole or not at all, and what is not understood is kept
as an unspecified change with its words. Keys and values stay as they were written. Understood are, joined by commas,
plus signs or `and`:

    KEY a -> b    KEY a→b    KEY a to b    KEY from a to b    KEY b (was a)    KEY=b    increase | set | … KEY to b

and a bare `KEY b` where the key is spelled as an identifier, the value is no whole number, or another part was
understood. A value may be a list of numbers in brackets, `(0.9, 0.95)`, behind an `=` or on both sides of an arrow or
`to`. Passed over are a label in front (`[Phase 1]`, `gpu0:`), commentary behind a dash, colon or semicolon, and other
brackets, except for `(SOME_KEY=b)` in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from tried.pool.metric_names import names_a_result, segments_of
from tried.pool.record import Change

DESCRIPTION_LIMIT: Final = 2_000
"""Characters that are looked at; a change is named at the start."""

PART_LIMIT: Final = 120
_REASON_LIMIT: Final = 300

_VERBS: Final = frozenset(
    re.findall(
        r"\S+",
        "increase increased decrease decreased reduce reduced lower lowered raise raised set change changed switch bump"
        " bumped drop cut move tune fine-tune try tried use add ramp double doubled halve halved quadruple widen narrow"
        " shrink grow extend shorten restore adjust scale higher larger smaller longer shorter bigger deeper wider"
        " tiny small",
    )
)
_NO_NAMES: Final = frozenset(
    re.findall(
        r"\S+",
        "a an and the of with for or only by in on to from is are was vs all more less each every no not new best old"
        " then than when after before up down back at same replace remove swap enable disable improved regressed worse"
        " better great result evidence hypothesis baseline bottleneck null p-value",
    )
)

_NUMBER = r"[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?:(?:\^|\*\*)[-+]?\d+(?:\.\d+)?)?"
_MEASURE = rf"{_NUMBER}(?:[kKM]|[x×%])?"
_WORD = r"[A-Za-z][\w.]{0,23}(?:-[\w.]{1,12})?"
_LIST = rf"[(\[] ?{_NUMBER}(?: ?, ?{_NUMBER}){{1,7}} ?[)\]]"
_NAME = r"[A-Za-z_][\w./-]*"
_KEY = rf"(?P<key>{_NAME}(?: {_NAME}){{0,4}}?)"
_UNIT = r"(?: (?:steps?|layers?|heads?|channels?|trees?|epochs?|iterations?|tokens|experts?))?"
_ARROW = r"\s*(?:-+>|→|=>|➜|⟶)\s*"
# A list that is a value is veiled from what cuts the text: its brackets, commas and spaces become noncharacters, which
# Unicode reserves for a program's own use.
_PLAIN: Final = "()[], "
_VEILED: Final = "\ufdd0\ufdd1\ufdd2\ufdd3\ufdd4\ufdd5"
_VEIL: Final = str.maketrans(_PLAIN, _VEILED)
_UNVEIL: Final = str.maketrans(_VEILED, _PLAIN)
_LIST_AS_VALUE = re.compile(
    rf"(?:(?<= )|(?<=[:=])){_LIST}(?:{_ARROW}| to ){_LIST}(?![\w(\[])|(?:(?<=\w=)|(?<= to )){_LIST}(?![\w(\[])"
)
_VEILED_LIST = r"[\ufdd0\ufdd2][^\s\ufdd0-\ufdd3]{1,200}[\ufdd1\ufdd3]"
_VALUE = rf"{_MEASURE}|{_WORD}|{_VEILED_LIST}"

_STATEMENTS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"{_KEY}(?: from |: ?| ?= ?| )(?P<old>{_VALUE}){_ARROW}(?P<new>{_VALUE}){_UNIT}",
        rf"{_KEY} from (?P<old>{_VALUE}) to (?P<new>{_VALUE}){_UNIT}",
        rf"{_KEY} (?P<old>{_MEASURE}) to (?P<new>{_MEASURE}){_UNIT}",
        rf"{_KEY} (?P<old>{_VEILED_LIST}) to (?P<new>{_VEILED_LIST})",
        rf"{_KEY}[ =](?P<new>{_MEASURE}) ⟨was (?P<old>{_MEASURE})⟩",
    )
)
_ORDER: Final = re.compile(rf"{_KEY} (?:(?:up|down|back) )?to (?P<new>{_VALUE}){_UNIT}")
_CAPITALS: Final = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_IDENTIFIER: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+")
_BARE: Final = re.compile(rf"{_KEY} ?[ =] ?(?P<new>{_MEASURE})")
_SETTING: Final = re.compile(rf"(?P<key>{_NAME})=(?P<new>{_VALUE})")

_HOLE: Final = "\0"
_LABEL = re.compile(r"\s*(?:\[[^\]]{0,60}\]\s*|[A-Za-z]+[-_]?\d+\s*:\s+)*")
_WAS = re.compile(r"\s*\(was ([^()]{1,24})\)")
_COMMENTARY = re.compile(r"\s+(?:[—–]|--?)\s+|[:;.](?=[\s\0])|[:;]$")
_JOINT = re.compile(r",\s+|\s+[+&]\s+|\s+(?:and|AND|plus)\s+")
_CIRCUMSTANCE = re.compile(
    r"\s+(?:on|over|vs\.?|versus|at|with|without|instead of|because|since|per|when|until|after|before)\s.*", re.DOTALL
)


def changes_in(description: str, metrics: Collection[str] = ()) -> tuple[Change, ...]:
    """The changes that a description states, none for an empty one or a baseline. `metrics`: names that are results."""
    text = " ".join(description[:DESCRIPTION_LIMIT].split())
    if not text or is_baseline(text):
        return ()
    text = _LIST_AS_VALUE.sub(_veiled, _LABEL.sub("", text, count=1))
    statement, brackets = _brackets(_WAS.sub(r" ⟨was \1⟩", text))
    read = [(part, _read(part, metrics)) for part in _parts(statement)]
    if any(found for _, found in read):
        # A list of changes: its other parts are changes too, however short.
        read = [(part, found or _bare(part, metrics)) for part, found in read]
    changes = [change for _, found in read for change in found]
    changes.extend(change for group in brackets for change in _settings_in_brackets(group, metrics))
    if not changes:
        return (_unspecified(text),)
    return (*changes, *(_unspecified(part) for part, found in read if not found))


def _veiled(match: re.Match[str]) -> str:
    return re.sub(_LIST, lambda found: found[0].translate(_VEIL), match[0])


def is_baseline(description: str) -> bool:
    """One of the first two words is `baseline`: the row that others are compared with changes nothing itself."""
    if "baseline" not in description[:DESCRIPTION_LIMIT].lower():
        return False
    words = _LABEL.sub("", description[:DESCRIPTION_LIMIT], count=1).split(maxsplit=2)
    return any("baseline" in segments_of(word) for word in words[:2])


def _parts(text: str) -> Iterator[str]:
    for part in _JOINT.split(text):
        if stripped := part.strip(" .!"):
            yield stripped


def _read(part: str, metrics: Collection[str]) -> list[Change]:
    """The change that a part states from its first word to its last, or else up to where a circumstance begins."""
    for text in dict.fromkeys((part, _CIRCUMSTANCE.sub("", part))):
        if len(text) > PART_LIMIT:
            continue
        first, _, rest = text.partition(" ")
        verb = first.lower() in _VERBS
        if verb:
            text = rest
        for pattern in (*_STATEMENTS, _ORDER) if verb else _STATEMENTS:
            if (match := pattern.fullmatch(text)) and (change := _change(match, metrics)):
                return [change]
        if settings := _settings(text, metrics):
            return settings
        key, _, value = text.rpartition(" ")
        if (_IDENTIFIER.match(key) or re.search(r"\.\d|[eE]-|\^", value)) and (bare := _bare(text, metrics)):
            return bare
    return []


def _bare(part: str, metrics: Collection[str]) -> list[Change]:
    match = _BARE.fullmatch(part) if len(part) <= PART_LIMIT else None
    change = _change(match, metrics) if match else None
    return [change] if change else []


def _settings(text: str, metrics: Collection[str]) -> list[Change]:
    """`KEY=a OTHER=b` at the start; words may follow, but none may go before and no further `=` come after."""
    found: list[Change] = []
    words = text.split(" ")
    for index, word in enumerate(words):
        match = _SETTING.fullmatch(word)
        change = _change(match, metrics) if match else None
        if change is None:
            return [] if any("=" in later or re.search(_ARROW, later) for later in words[index:]) else found
        found.append(change)
    return found


def _settings_in_brackets(group: str, metrics: Collection[str]) -> Iterator[Change]:
    """Brackets explain more often than they state, so only keys in capitals with a value count there."""
    if re.search(r":|\b(?:hypothesis|evidence|because|was)\b", group, re.IGNORECASE):
        return
    for part in _JOINT.split(group):
        for pattern in (_SETTING, _STATEMENTS[0]):
            match = pattern.fullmatch(part.strip()) if len(part) <= PART_LIMIT else None
            if match and _CAPITALS.fullmatch(match["key"]) and (change := _change(match, metrics)):
                yield change
                break


def _change(match: re.Match[str], metrics: Collection[str]) -> Change | None:
    groups = match.groupdict()
    key, old, new = groups["key"], groups.get("old"), groups["new"]
    words = key.lower().split()
    if not _NO_NAMES.isdisjoint(words) or words[0] in _VERBS or new.lower() in _NO_NAMES:
        return None
    is_list = re.match(_VEILED_LIST, new) is not None
    if is_list and any(segment.endswith("ci") for segment in segments_of(key)):  # a confidence interval
        return None
    if (is_list or re.match(_NUMBER, new)) and (
        key in metrics or any(word in metrics or names_a_result(word) for word in (words[0], words[-1]))
    ):
        return None
    old, new = old and old.translate(_UNVEIL), new.translate(_UNVEIL)
    return Change.model_validate({"change": "ParamChanged", "key": key, "from": old, "to": new})


def _unspecified(words: str) -> Change:
    return Change(change="Unspecified", reason=words.translate(_UNVEIL)[:_REASON_LIMIT])


def _brackets(text: str) -> tuple[str, list[str]]:
    """(the statement: the text without brackets, up to its commentary; the contents of the brackets before that)."""
    outside: list[str] = []
    inside: list[str] = []
    group: list[str] = []
    depth = 0
    for character in text:
        if character in "([":
            depth += 1
            if depth == 1:
                group = []
                outside.append(_HOLE)
                continue
        elif character in ")]" and depth:
            depth -= 1
            if depth == 0:
                inside.append("".join(group))
                continue
        (group if depth else outside).append(character)
    statement = _COMMENTARY.split("".join(outside), maxsplit=1)[0]
    return " ".join(statement.replace(_HOLE, " ").split()), inside[: statement.count(_HOLE)]
