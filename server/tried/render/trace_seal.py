"""The hash that a trace has for its id, by which one that was edited is told from one that was not.

It is that of all fields but `id` and `candidates` as JSON, a line end, and the list of candidates as JSON, with keys in
order and all numbers as floats. So the order of keys is nothing to it, nor that another program has written 1.0 as 1;
fields that this version does not know count. It is no signature: whoever wants to can make it anew.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

_DIGITS: Final = 12


class Seal:
    """Made of the `rest`, then of the candidates, piece by piece."""

    def __init__(self, rest: dict[str, Any]) -> None:
        self._hash = hashlib.sha256(_canonical(json.dumps(rest)) + b"\n[")
        self._is_first = True

    def add(self, candidates: bytes | str) -> None:
        """The next ones: a list, as JSON."""
        inside = _canonical(candidates)[1:-1]
        if inside:
            self._hash.update(inside if self._is_first else b"," + inside)
            self._is_first = False

    @property
    def id(self) -> str:
        """Hexadecimal digits."""
        whole = self._hash.copy()
        whole.update(b"]")
        return whole.hexdigest()[:_DIGITS]


def sealed_id(trace: dict[str, Any]) -> str:
    """The id that a trace with a list of `candidates` must have. Raises RecursionError if it nests too deeply."""
    seal = Seal({name: value for name, value in trace.items() if name not in ("id", "candidates")})
    seal.add(json.dumps(trace["candidates"]))
    return seal.id


def _canonical(text: bytes | str) -> bytes:
    return json.dumps(json.loads(text, parse_int=float), sort_keys=True, separators=(",", ":")).encode("ascii")
