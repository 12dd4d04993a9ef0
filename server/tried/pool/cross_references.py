"""Which record an alias stands for, and which records name which as their parent: kept up change by change, and given
out as maps that change no more.

Invariant: what is published depends on what the records say now, never on the order in which they said it, but for
the order of children, which is that in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType


class Names:
    """Alias → record. Of several records with one alias the smallest id has it."""

    def __init__(self) -> None:
        self._owners: dict[str, str] = {}
        self._contested: dict[str, set[str]] = {}
        self._changed = False

    def owner(self, alias: str) -> str | None:
        return self._owners.get(alias)

    def replace(self, record_id: str, before: Iterable[str], after: Iterable[str]) -> None:
        before, after = dict.fromkeys(before), dict.fromkeys(after)
        self.remove(record_id, (alias for alias in before if alias not in after))
        for alias in after:
            owner = self._owners.get(alias)
            if owner == record_id or record_id in self._contested.get(alias, ()):
                continue
            self._changed = True
            if owner is None:
                self._owners[alias] = record_id
            else:
                self._contested.setdefault(alias, {owner}).add(record_id)
                self._owners[alias] = min(owner, record_id)

    def remove(self, record_id: str, aliases: Iterable[str]) -> None:
        for alias in aliases:
            others = self._contested.get(alias)
            if others is None:
                if self._owners.get(alias) == record_id:
                    del self._owners[alias]
            elif record_id in others:
                others.discard(record_id)
                self._owners[alias] = min(others)
                if len(others) == 1:
                    del self._contested[alias]
            self._changed = True

    def published(self, last: Mapping[str, str]) -> Mapping[str, str]:
        """`last` if it is still right."""
        if not self._changed:
            return last
        self._changed = False
        return MappingProxyType(dict(self._owners))


class Children:
    """Parent, as it is named (an id or an alias, there or not) → the records that name it."""

    def __init__(self) -> None:
        self._children: dict[str, dict[str, None]] = {}
        self._own: set[str] = set()
        """Parents whose children were copied since they were published last."""

    def of(self, names: Iterable[str]) -> list[str]:
        return [child for name in names for child in self._children.get(name, ())]

    def replace(self, record_id: str, before: str | None, after: str | None) -> None:
        if before != after:
            self.remove(record_id, before)
        if after and record_id not in self._children.get(after, ()):
            self._copied(after)[record_id] = None

    def remove(self, record_id: str, parent: str | None) -> None:
        if parent and record_id in self._children.get(parent, ()):
            mine = self._copied(parent)
            del mine[record_id]
            if not mine:
                del self._children[parent]

    def published(self, last: Mapping[str, Mapping[str, None]]) -> Mapping[str, Mapping[str, None]]:
        """`last` if it is still right."""
        if not self._own:
            return last
        self._own = set()
        return MappingProxyType(dict(self._children))

    def _copied(self, parent: str) -> dict[str, None]:
        if parent not in self._own:
            self._own.add(parent)
            self._children[parent] = dict(self._children.get(parent, {}))
        return self._children.setdefault(parent, {})
