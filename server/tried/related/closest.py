"""The experiments that a list begins with whatever their scores: those that the draft describes to the letter, else the
nearest one, if it is near.

A score knows words, architecture, age and what a record has to tell, and nothing of values: two drafts that differ in a
learning rate alone rank a pool alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tried.draft.draft import ExperimentDraft
from tried.findings.settings import FindingSettings
from tried.pool.snapshot import PoolSnapshot
from tried.related.grouping import Grouping
from tried.related.standing import standing_of

Closeness = Literal["repeat", "nearest"]

MOST: Final = 3
"""Experiments that a list begins with: the same parameters with other code, for instance."""

NEAR: Final = 3
"""Parameters in which what is nearest differs at most."""


@dataclass(frozen=True, slots=True)
class Closest:
    """`records`: the latest run of each experiment, the latest first."""

    closeness: Closeness
    records: tuple[str, ...]


def closest_to(draft: ExperimentDraft, snapshot: PoolSnapshot, settings: FindingSettings) -> Closest | None:
    standing = standing_of(draft, snapshot, settings, count_dead_ends=False)
    if standing is None:
        return None
    if standing.ran is not None:
        latest: dict[object, str] = {}
        grouping = Grouping(snapshot)
        for run in reversed(standing.ran.runs):
            latest.setdefault(grouping.kind_of(run.id), run.id)
        closeness: Closeness = "nearest" if standing.ran.unread else "repeat"
        return Closest(closeness, tuple(latest.values())[:MOST])
    if standing.nearest is not None and len(standing.nearest.keys) <= NEAR:
        return Closest("nearest", (standing.nearest.run.id,))
    return None
