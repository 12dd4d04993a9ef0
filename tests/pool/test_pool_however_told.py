"""What a pool says depends on what its sources say and on the time, never on how it came to be told."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from pool_events import EVENTS, Event, all_of, told

EXAMPLES = 60


@settings(max_examples=EXAMPLES, deadline=None)
@given(EVENTS)
def test_however_it_was_told_a_pool_says_what_one_says_that_is_told_at_once(events: Sequence[Event]) -> None:
    after, at_once = told(events)
    assert all_of(after) == all_of(at_once)


@settings(max_examples=EXAMPLES, deadline=None)
@given(EVENTS)
def test_so_it_does_chunk_by_chunk_and_in_a_spool_that_is_compacted(events: Sequence[Event]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tried.pool.assembly.CHUNK", 2)
        patch.setattr("tried.pool.pool.CHUNK", 1)
        patch.setattr("tried.pool.pool.COMPACT_FROM", 1)
        patch.setattr("tried.pool.pool.PUBLISH_SECONDS", -1)
        after, at_once = told(events)
        assert all_of(after) == all_of(at_once)
