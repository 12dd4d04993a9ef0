"""A draft with the parameters of a real record has the architecture that the record was given."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tried.architecture import structural_similarity
from tried.draft.draft import drafts_of
from tried.draft.syntax import parse
from tried.pool.record import ExperimentRecord

POOL = Path(__file__).parents[2].parent / "shared" / "data" / "pool.jsonl"


def similarities(keys: set[str]) -> list[float]:
    """For every record with an architecture and one of the keys: how alike a config of that key alone is."""
    found = []
    for line in POOL.read_text("utf-8").splitlines():
        record = ExperimentRecord.model_validate_json(line)
        named = {key: value for key, value in record.params.items() if key in keys}
        if record.architecture is None or not named:
            continue
        tree: dict[str, Any] = defaultdict(dict)
        for key, value in named.items():
            owner, _, leaf = key.rpartition(".")
            (tree[owner] if owner else tree)[leaf] = value
        text = json.dumps(tree)
        (draft,) = drafts_of(parse(text, "json"), text)
        found.append(structural_similarity(draft.architecture, record.architecture) if draft.architecture else -1.0)
    return found


@pytest.mark.parametrize(
    ("keys", "count"),
    [({"BLOCK_LAYOUT"}, 77), ({"model_arch"}, 21), ({"model_settings.name"}, 44)],
)
def test_most_records_that_name_their_architecture_are_met_exactly(keys: set[str], count: int) -> None:
    if not POOL.is_file():
        pytest.skip(f"no {POOL}: real records are not part of a clone")
    found = similarities(keys)
    assert len(found) >= count - 1
    assert all(similarity >= 0 for similarity in found)
    assert sum(similarity == 1.0 for similarity in found) >= 0.9 * len(found)
