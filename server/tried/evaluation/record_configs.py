"""The config that a record could have been started from, as a text: for pools without configs beside them."""

from __future__ import annotations

import json
from typing import Final

from tried.pool.record import ExperimentRecord

LANGUAGE: Final = "json"


def config_of_record(record: ExperimentRecord) -> str | None:
    """Name, hypothesis and parameters as they were logged; None without parameters, and for those too deep to write.

    Nothing that was only known afterwards is in it.
    """
    if not record.params:
        return None
    said = {"name": record.name, "hypothesis": record.hypothesis}
    try:
        return json.dumps(
            {**{key: value for key, value in said.items() if value}, **record.params}, indent=2, default=str
        )
    except (RecursionError, ValueError):
        return None
