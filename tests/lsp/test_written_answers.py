"""Answers that are written piece by piece are the JSON that they would be at one stroke."""

from __future__ import annotations

import json

import pytest

from tried.lsp.written import written

REPORT = {"schema": "x", "rows": [{"a": 1, "b": [None, True]}, 'é \u2028 \ud800 "', 0.1], "none": [], "total": {"n": 2}}


def test_the_text_is_that_of_the_whole() -> None:
    found = written(REPORT, uri="file:///ä", version=3)
    assert json.loads(found.text) == {**REPORT, "uri": "file:///ä", "version": 3}
    assert found.text == json.dumps({**REPORT, "uri": "file:///ä", "version": 3})
    assert found.text.isascii()
    assert written({}).text == "{}"


@pytest.mark.parametrize("report", [{"x": float("nan")}, {"x": [float("inf")]}])
def test_what_is_no_json_is_not_written(report: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(report)
