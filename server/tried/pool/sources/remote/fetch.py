"""How a server's runs are kept up with: everything once, then what is recent each time, and a page of the rest in turn.

The page in turn finds what changes without a sign: tags and notes that somebody edits later, runs that are deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from tried.pool.record import ExperimentRecord
from tried.pool.sources.remote.cache import RemoteCache
from tried.pool.sources.remote.http import RemoteClient, RemoteFailure
from tried.pool.sources.source import Skipped
from tried.storage.files import StorageError

Runs = dict[str, dict[str, Any]]
"""By run id, a run as the server's module keeps it: JSON data."""

PAGES_LIMIT: Final = 20_000
"""Pages of one fetch: a server that always has another page has something wrong."""


@dataclass(frozen=True, slots=True)
class Page:
    """`token` is where the next page begins (JSON data), None after the last. `newest` is the time up to which the
    server's module is to be asked for what is recent, as that module counts."""

    runs: Runs
    token: Any = None
    newest: float = 0.0


@dataclass(frozen=True, slots=True)
class Made:
    records: list[ExperimentRecord]
    skipped: list[Skipped]
    memory: object = None


class Server(Protocol):
    def page(self, client: RemoteClient, token: Any) -> Page:
        """A page of all runs, oldest first, from `token` (None: the first). Raises RemoteFailure."""
        ...

    def recent(self, client: RemoteClient, since: float) -> Iterator[Page]:
        """Runs that began, ended or were heard of since then, and those that still run. Raises RemoteFailure."""
        ...

    def records(
        self,
        fresh: Mapping[str, Mapping[str, Any] | None],
        memory: object,
        known: Mapping[str, int],
        again: Callable[[str], Mapping[str, Any] | None],
    ) -> Made:
        """The records of runs as they are kept (None: gone), and of others that these change. `memory` is that of the
        last time; `again` reads one of the `known` runs."""
        ...


class Fetcher:
    """One server's runs into one cache. Used by one thread at a time."""

    def __init__(self, server: Server, cache: RemoteCache) -> None:
        self._server = server
        self._cache = cache
        self._token: Any = None
        self._seen: set[str] = set()
        self._missing: frozenset[str] = frozenset()
        self.has_answered = False

    def fetch(self, client: RemoteClient) -> RemoteFailure | None:
        """Bring the cache up to date; why that failed, if it did. What came before the failure is kept."""
        try:
            with self._cache.held() as held:
                if held:
                    self._cache.catch_up()
                    self._fetch(client)
        except RemoteFailure as failure:
            return failure
        except StorageError as error:
            return RemoteFailure(f"the cache cannot be used: {error}", passes=True)
        except Exception as error:
            # A server may answer with anything; whatever that breaks, the thread and what is there already live on.
            return RemoteFailure(f"answered with something that cannot be understood ({type(error).__name__})")
        return None

    def _fetch(self, client: RemoteClient) -> None:
        progress = self._cache.progress()
        newest = progress.get("newest")
        newest = float(newest) if isinstance(newest, int | float) else 0.0
        if not progress.get("complete"):
            token = progress.get("token")
            for _ in range(PAGES_LIMIT):
                page = self._server.page(client, token)
                self.has_answered = True
                newest, token = max(newest, page.newest), page.token
                self._cache.add(page.runs)
                self._cache.keep_progress({"complete": token is None, "token": token, "newest": newest})
                if token is None:
                    return
            return
        since = newest
        for number, page in enumerate(self._server.recent(client, since)):
            self.has_answered = True
            newest = max(newest, page.newest)
            self._seen.update(page.runs)
            self._cache.add(page.runs)
            if number >= PAGES_LIMIT:
                break
        if newest != since:
            self._cache.keep_progress({"complete": True, "newest": newest})
        self._in_turn(client)

    def _in_turn(self, client: RemoteClient) -> None:
        page = self._server.page(client, self._token)
        self._token = page.token
        self._seen.update(page.runs)
        self._cache.add(page.runs)
        if self._token is not None:
            return
        # Pages may shift while they are turned, so only what two rounds did not see is gone.
        missing = self._cache.known - self._seen
        self._cache.add(dict.fromkeys(sorted(missing & self._missing)))
        self._missing = missing
        self._seen = set()
