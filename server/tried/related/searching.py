"""Records by what somebody types into a search box: words of theirs, or the beginning of an id."""

from __future__ import annotations

from typing import Final

from tried.pool.snapshot import PoolSnapshot
from tried.record_names import CUT

LEAST_OF_AN_ID: Final = 4


def ids_beginning(text: str, snapshot: PoolSnapshot) -> frozenset[str]:
    """The ids that begin so, whole or behind their last colon, in capitals or not: as short ids are shown.

    Of less than LEAST_OF_AN_ID characters those that are no longer, such as `31`. None for what is no id: for several
    words, or no digit.
    """
    wanted = text.strip().casefold().removeprefix(CUT).removeprefix(":")
    if not wanted.isprintable() or " " in wanted or not _has_digit(wanted):
        return frozenset()
    names = _begins if len(wanted) >= LEAST_OF_AN_ID else _is
    return frozenset(record_id for record_id in snapshot.records if names(record_id.casefold(), wanted))


def _begins(record_id: str, wanted: str) -> bool:
    return record_id.startswith(wanted) or record_id.rpartition(":")[2].startswith(wanted)


def _is(record_id: str, wanted: str) -> bool:
    return wanted in (record_id, record_id.rpartition(":")[2])


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
