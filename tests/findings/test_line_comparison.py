"""What is counted for all runs of a line at once is what is listed for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from findings_pool import record, yaml_of
from hypothesis import given
from hypothesis import strategies as st

from tried.draft.alignment import align
from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.findings.comparison import compare
from tried.findings.line_comparison import compare_columns, compare_each
from tried.pool.history.parameter_history import ParameterHistory

VALUES = st.sampled_from([1, 2, "1.0", "x", None, "${a}", "y" * 250, [1, 2], "false"])
KEYS = ["lr", "model.depth", "max_steps", "dataset", "layers.0.units", "layers.1.units", "datasets.0.name"]
PARAMS = st.dictionaries(st.sampled_from([*KEYS, "optimizer/lr", "tokenizer", "seed"]), VALUES, max_size=7)
CHANGE = st.sampled_from([None, ("dropout", 0.1), ("lr", 2), ("tokenizer", "x")])


@given(PARAMS, st.lists(st.tuples(PARAMS, CHANGE), min_size=1, max_size=6))
def test_the_counts_of_a_line_are_the_lengths_of_each_comparison(
    config: dict[str, Any], runs: list[tuple[dict[str, Any], tuple[str, Any] | None]]
) -> None:
    records = [
        record(f"r{n}", params, changes={change[0]: (7, change[1])} if change else None)
        for n, (params, change) in enumerate(runs)
    ]
    line = ParameterHistory.empty().updated((), records).lines["vision"]
    text = yaml_of({key: f'"{value}"' if isinstance(value, str) else value for key, value in config.items()})
    for draft in drafts_of(parse(text, "yaml"), text):
        aligned = align(draft.parameters, line.keys, line.keys_by_suffix)
        together, one_by_one = compare_columns(aligned, line.columns), compare_each(aligned, line)
        for name in ("equal", "equal_budget", "differing", "unread", "draft_only", "run_only"):
            expected = [len(getattr(compare(aligned, run), name)) for run in line.runs.values()]
            assert getattr(together, name).tolist() == getattr(one_by_one, name).tolist() == expected, name
        for name in ("context_differs", "similarity", "agreement"):
            expected = [getattr(compare(aligned, run), name) for run in line.runs.values()]
            assert getattr(together, name).tolist() == getattr(one_by_one, name).tolist() == expected, name
        single = together.differing == 1
        assert np.array_equal(together.turned[single], one_by_one.turned[single])


def test_more_keys_than_a_byte_counts() -> None:
    params = {f"key{n}": n for n in range(300)}
    line = ParameterHistory.empty().updated((), [record("r", params), record("s", {"key0": 5})]).lines["vision"]
    text = yaml_of(params)
    (draft,) = drafts_of(parse(text, "yaml"), text)
    counts = compare_columns(align(draft.parameters, line.keys, line.keys_by_suffix), line.columns)
    assert counts.equal.tolist() == [300, 0]
    assert counts.differing.tolist() == [0, 1]
    assert counts.draft_only.tolist() == [0, 299]
