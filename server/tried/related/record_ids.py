"""Which records of a pool a text speaks of: their ids in comments and in values.

Precise rather than complete: trackers number their runs `1`, name them `adam` or `resnet50`, and none of these is a
link. What counts is a whole id or alias that can be nothing else; what stands behind the last colon of one id only, if
it looks like no number, no word and no value of a parameter; and the beginning of a hash, from eight digits on.

Invariant: pure; the same text and snapshot give the same places. One walk through the text, whatever it holds.
"""

from __future__ import annotations

import json
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from tried.draft.entries import Comment, Entry
from tried.draft.values import comparable
from tried.pool.snapshot import PoolSnapshot
from tried.record_names import CUT, find_record
from tried.text import Span

MOST_PLACES: Final = 500
MOST_WORDS: Final = 50_000
LONGEST_ID: Final = 300
LEAST_OF_AN_ID: Final = 6
"""Characters of what stands behind the last colon of an id, from which it may be meant by itself."""

LEAST_OF_A_HASH: Final = 8
_LEAST_WHOLE: Final = 3
_LONG_HASH: Final = 20
_LONG_TIME: Final = 12
_MOST_ASKED: Final = 50_000

_WORD: Final = re.compile(r"[^\s\"'`,;()\[\]{}<>|]+")
_PARTS: Final = re.compile(r"[=→&+/\\]+")
_EDGES: Final = ".:,;!?*_~#@-–—/"
_ENDS: Final = ".:,;!?*~"
_HEX: Final = re.compile(r"[0-9a-f]+\Z")
_NUMERAL: Final = re.compile(r"[-+]?[\d_]*\.?[\d_]+(?:[eE][-+]?\d+)?%?\Z")
_WORD_WITH_NUMBER: Final = re.compile(r"[^\W\d_]+\d{1,4}[^\W\d_]?\Z")
"""`resnet50`, `cifar10`, `bert24l`: names of models and data."""

_RETRY: Final = re.compile(r"\btried\s*:\s*retry\s+(\"(?:[^\"\\]|\\.)*\"|[^\s\"'\[\]]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedRecord:
    """The id of a record, and where a text names it."""

    record: str
    span: Span


class RecordIds:
    """The ids of one snapshot, to be found by what people write of them."""

    def __init__(self, snapshot: PoolSnapshot) -> None:
        self._snapshot: Final = snapshot
        self._asked: dict[str, str | None] = {}

    def __call__(self, name: str) -> str | None:
        """The id of the record that a word names; None for every other word."""
        if not _LEAST_WHOLE <= len(name) <= LONGEST_ID or not any(map(str.isdigit, name)):
            return None
        asked = self._asked
        if name in asked:
            return asked[name]
        if len(asked) >= _MOST_ASKED:
            asked = self._asked = {}
        found = asked[name] = self._find(name)
        return found

    def explicit(self, name: str) -> str | None:
        """The same of a word that is certain to name a record: whatever `find_record` makes of it."""
        record = find_record(self._snapshot, name[:LONGEST_ID]).record
        return record.id if record is not None else None

    def _find(self, name: str) -> str | None:
        snapshot = self._snapshot
        whole = name if name in snapshot.records else snapshot.aliases.get(name)
        if whole is not None and (":" in name[:-1] or self._is_telling(name)):
            return whole
        kind, colon, last = name.removeprefix(f"{CUT}:").rpartition(":")
        if len(last) < LEAST_OF_AN_ID:
            return None
        found = self._ending_in(last)
        if found is not None and (colon or self._is_telling_alone(last)) and _is_kind_of(kind, found):
            return found
        return self._by_beginning(kind, last)

    def _by_beginning(self, kind: str, digits: str) -> str | None:
        if not len(digits) >= LEAST_OF_A_HASH or not _HEX.match(digits) or digits.isdigit() or digits.isalpha():
            return None
        found, other = (table.get(digits[:LEAST_OF_A_HASH]) for table in self._by_hash)
        if (
            found is None
            or found != other
            or not found.rpartition(":")[2].startswith(digits)
            or not _is_kind_of(kind, found)
        ):
            return None
        return found

    def _is_telling(self, name: str) -> bool:
        """Letters and digits, no number, and nothing that a parameter was ever set to, unless it is put together as ids
        are (`exp-7`): a config may well log what it came from."""
        if not any(map(str.isalpha, name)) or _NUMERAL.match(name) is not None:
            return False
        return not self._is_value(name) if name.isalnum() else True

    def _is_telling_alone(self, part: str) -> bool:
        if any(map(str.isalpha, part)):
            is_number = _NUMERAL.match(part) is not None
            return not is_number and _WORD_WITH_NUMBER.match(part) is None and not self._is_value(part)
        # a time to the second, as folders are named by
        return len(part) >= _LONG_TIME and _NUMERAL.match(part) is None and any(c in part for c in "-_/T")

    def _is_value(self, name: str) -> bool:
        value = comparable(name)
        return any(table.numbers_with(value) for table in self._snapshot.history.vocabulary.tables.values())

    def _ending_in(self, part: str) -> str | None:
        """The one record of which an id or alias ends in this behind its last colon."""
        found = {table.get(part) for table in (*self._by_last_part, *self._by_last_part_of_alias)} - {None}
        return found.pop() if len(found) == 1 else None

    @cached_property
    def _last_parts(self) -> list[str]:
        return [record_id[record_id.rfind(":") + 1 :] for record_id in self._snapshot.records]

    @cached_property
    def _by_last_part(self) -> _FirstAndLast:
        return _first_and_last(self._last_parts, self._snapshot.records)

    @cached_property
    def _by_last_part_of_alias(self) -> _FirstAndLast:
        aliases = self._snapshot.aliases
        return _first_and_last([alias[alias.rfind(":") + 1 :] for alias in aliases], aliases.values())

    @cached_property
    def _by_hash(self) -> _FirstAndLast:
        """By the first digits of long last parts."""
        pairs = zip(self._last_parts, self._snapshot.records, strict=True)
        long = [(part, record_id) for part, record_id in pairs if len(part) >= _LONG_HASH]
        return _first_and_last([part[:LEAST_OF_A_HASH] for part, _ in long], [record_id for _, record_id in long])


_FirstAndLast: TypeAlias = tuple[Mapping[str, str], Mapping[str, str]]
"""What stands under a name first, and last: where these differ, several do."""


def _first_and_last(names: Sequence[str], owners: Iterable[str]) -> _FirstAndLast:
    every = list(owners)
    last = dict(zip(names, every, strict=True))
    if len(last) == len(every):
        return last, last
    return dict(zip(reversed(names), reversed(every), strict=True)), last


_KNOWN: dict[int, tuple[weakref.ref[PoolSnapshot], RecordIds]] = {}
_MOST_KNOWN: Final = 8


def record_ids(snapshot: PoolSnapshot) -> RecordIds:
    """The ids of a snapshot, gathered when they are first asked for and kept for the last few snapshots."""
    known = _KNOWN.get(id(snapshot))
    if known is not None and known[0]() is snapshot:
        return known[1]
    while len(_KNOWN) >= _MOST_KNOWN:
        _KNOWN.pop(next(iter(tuple(_KNOWN))), None)
    ids = RecordIds(snapshot)
    _KNOWN[id(snapshot)] = weakref.ref(snapshot), ids
    return ids


def names_any(text: str, ids: RecordIds) -> bool:
    """Whether any word of a text names a record, wherever it stands: quick, to see whether to look closer."""
    return _RETRY.search(text) is not None or next(_named_in(text, 0, ids), None) is not None


def records_named(
    text: str, entries: Iterable[Entry], comments: Sequence[Comment], ids: RecordIds
) -> list[NamedRecord]:
    """The records that the comments and the values of a config name, in the order of the text, at most MOST_PLACES.

    Only values that are text, or hold some: neither keys nor numbers.
    """
    found: dict[Span, NamedRecord] = {}
    for comment in comments:
        said = text[comment.span.start : comment.span.end]
        for match in _RETRY.finditer(said):
            name = _unquoted(match[1])
            record = ids.explicit(name) if name else None
            if record is not None:
                start = comment.span.start + match.start(1)
                span = Span(start, start + len(match[1].rstrip(",;:")))
                found[span] = NamedRecord(record, span)
    taken = sorted(found)
    words = 0
    spans = [comment.span for comment in comments]
    spans += [entry.span for entry in entries if _holds_text(entry)]
    for place in sorted(set(spans)):
        for one in _named_in(text[place.start : place.end], place.start, ids):
            words += 1
            if not any(each.start <= one.span.start < each.end for each in taken[:MOST_PLACES]):
                found[one.span] = one
            if words >= MOST_PLACES:
                break
        if words >= MOST_PLACES:
            break
    return sorted(found.values(), key=lambda one: one.span)[:MOST_PLACES]


def record_at(named: Iterable[NamedRecord], offset: int) -> NamedRecord | None:
    """What is named where a cursor stands, its end included."""
    return next((one for one in named if one.span.start <= offset <= one.span.end), None)


def _holds_text(entry: Entry) -> bool:
    if isinstance(entry.value, tuple):
        return any(isinstance(item, str) for item in entry.value)
    return isinstance(entry.value, str)


def _named_in(text: str, start: int, ids: RecordIds) -> Iterator[NamedRecord]:
    for number, match in enumerate(_WORD.finditer(text)):
        if number >= MOST_WORDS:
            return
        word = match[0]
        if "://" in word or len(word) > 2 * LONGEST_ID:
            continue
        yield from _named_by(word, start + match.start(), ids)


def _named_by(word: str, start: int, ids: RecordIds) -> Iterator[NamedRecord]:
    """The word as it is, without what surrounds it, else its parts."""
    for left in ("", _EDGES):
        lead = len(word) - len(word.lstrip(left)) if left else 0
        name = word[lead:].rstrip(_ENDS if not left else _EDGES)
        if name and (record := ids(name)) is not None:
            yield NamedRecord(record, Span(start + lead, start + lead + len(name)))
            return
    if _PARTS.search(word):
        at = 0
        for part in _PARTS.split(word):
            at = word.index(part, at)
            if part and part != word:
                yield from _named_by(part, start + at, ids)
            at += len(part)


def _is_kind_of(kind: str, record_id: str) -> bool:
    """Whether an id may be meant by a last part with this before its colon; nothing before it fits all."""
    return not kind or record_id.startswith(f"{kind}:")


def _unquoted(written: str) -> str:
    if not written.startswith('"'):
        return written.rstrip(",;:")
    try:
        name = json.loads(written)
    except ValueError:
        return ""
    return name if isinstance(name, str) else ""
