"""Records by what somebody types into a search box: words of theirs, or the beginning of an id."""

from __future__ import annotations

from typing import Final

from tried.pool.snapshot import PoolSnapshot
from tried.record_names import CUT

LEAST_OF_AN_ID: Final = 4


def ids_beginning(text: str, snapshot: PoolSnapshot) -> frozenset[str]:
    """The ids that begin so, whole or behind their last colon, in capitals or not: as short ids are shown.

    None for what is no id: for less than LEAST_OF_AN_ID characters, several words, or no digit.
    """
    wanted = text.strip().casefold().removeprefix(CUT).removeprefix(":")
    if len(wanted) < LEAST_OF_AN_ID or not wanted.isprintable() or " " in wanted or not _has_digit(wanted):
        return frozenset()
    return frozenset(record_id for record_id in snapshot.records if _begins(record_id.casefold(), wanted))


def _begins(record_id: str, wanted: str) -> bool:
    return record_id.startswith(wanted) or record_id.rpartition(":")[2].startswith(wanted)


def _has_digit(text: str) -> bool:
    return any(character.isdigit() for character in text)
