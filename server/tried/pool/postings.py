"""A persistent map from terms to runs, the ground of the parameter history."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

from tried.pool.run import Run


class Postings:
    """A persistent map from a term to the runs that have it."""

    def __init__(self, runs: Mapping[Hashable, Mapping[str, Run]] | None = None) -> None:
        self._runs = runs or {}

    def __getitem__(self, term: Hashable) -> Mapping[str, Run]:
        return self._runs.get(term, {})

    def __contains__(self, term: Hashable) -> bool:
        return term in self._runs

    def __iter__(self) -> Iterator[Any]:
        return iter(self._runs)

    def count(self, term: Hashable) -> int:
        return len(self._runs.get(term, ()))

    def updated(self, removed: Iterable[tuple[Hashable, str]], added: Iterable[tuple[Hashable, Run]]) -> Postings:
        """The map after a delta; only the lists of the terms in it are copied, each once."""
        runs = dict(self._runs)
        copied: dict[Hashable, dict[str, Run]] = {}

        def own(term: Hashable) -> dict[str, Run]:
            if term not in copied:
                copied[term] = dict(runs.get(term, {}))
                runs[term] = copied[term]
            return copied[term]

        for term, run_id in removed:
            own(term).pop(run_id, None)
        for term, run in added:
            own(term)[run.id] = run
        for term, left in copied.items():
            if not left:
                del runs[term]
        return Postings(runs)
