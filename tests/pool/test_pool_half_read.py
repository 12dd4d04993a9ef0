"""A source that begins to say all anew and then falls silent takes nothing out of the pool."""

from pool_records import record
from test_pool_merging import Telling

from tried.pool.pool import EMPTY_BATCHES, Pool
from tried.pool.sources.source import Delta


def test_what_is_not_said_anew_yet_stays_where_the_source_has_its_turn_again_later() -> None:
    source = Telling("one").says(record("a", notes="once"), record("b", notes="once"))
    pool = Pool([source])
    pool.refresh()
    source.deltas += [Delta((record("b", notes="anew"),), cursor=1, reset=True, more=True)]
    source.deltas += [Delta(cursor=1, more=True)] * (EMPTY_BATCHES + 1)
    half = pool.refresh()
    assert {each.id: each.notes for each in half.records.values()} == {"a": "once", "b": "anew"}
    assert {each.id for each in half.index} == set(half.history.line_of) == {"a", "b"}
    assert [report.records for report in half.sources] == [2]
    assert list(pool.refresh().records) == ["b"], "at the end of the scan it is all that there is"
