"""Conclusions in commit messages: `Tried: dead-end lr 0.5 diverges`, as amendments of whatever ran from that commit.

An amendment names no record but a commit: `commit:<hash>` (`trailers.commit_key`), and concludes the only experiment
that ran from it; where there are several, nobody knows of which it speaks. Rows of results tables and DVC's experiments
take up their commits' trailers by themselves, and say the same.

Invariant: an amendment's id is that of its commit, so a commit is told once, however many branches hold it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tried.pool.record import ExperimentRecord
from tried.pool.sources.secrets import without_secrets
from tried.pool.sources.source import Delta, Skipped
from tried.pool.sources.trailers import COMMIT, conclusion_in, tried_values
from tried.storage.git_formats import Commit
from tried.storage.git_objects import git_executable
from tried.storage.repository import Repository

KIND: Final = "commits"
COMMIT_LIMIT: Final = 2_000
"""Commits, the newest of all branches, whose messages are looked at."""

_BRANCHES: Final = ("refs/heads", "refs/remotes")
_BRANCH_LIMIT: Final = 1_000


@dataclass(frozen=True, slots=True)
class TrailerCursor:
    """`tips`: where branches and HEAD were; `seen`: the commits that were looked at."""

    signature: Hashable = None
    tips: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    failure: str | None = None


@dataclass(frozen=True)
class CommitTrailersSource:
    """The commits of the repository whose `.git` is `path` (or whose folder)."""

    path: Path
    project: Path | None = None
    kind: str = KIND

    def scan(self, cursor: object | None) -> Delta:
        known = cursor if isinstance(cursor, TrailerCursor) else None
        repository = Repository.at(self.path.parent if self.path.name == ".git" else self.path)
        if repository is None or git_executable() is None:
            why = "git was not found: add it to PATH" if repository is not None else "is no repository that can be read"
            if known is not None and known.failure == why:
                return Delta(cursor=known)
            skipped = (Skipped("the repository", why),)
            return Delta(skipped=skipped, cursor=TrailerCursor(failure=why), reset=known is not None)
        signature = _signature(repository)
        if known is not None and signature is not None and known.signature == signature:
            return Delta(cursor=known)
        before = known if known is not None and known.failure is None else TrailerCursor()
        tips = _tips(repository)
        if known is before and tips == before.tips:
            return Delta(cursor=replace(before, signature=signature))
        new, seen = _newest(repository, tips, before.seen)
        amendments = [amendment for commit in new if (amendment := _amendment(commit)) is not None]
        return Delta(
            upserts=tuple(amendments),
            cursor=TrailerCursor(signature, tips, before.seen | seen),
            reset=known is not None and known.failure is not None,
        )

    def line_of(self, record_id: str) -> int | None:
        return None


def store_at(folder: Path, folders: Collection[str], files: Collection[str]) -> Sequence[Path]:
    """The `.git` in a folder: a folder, or in worktrees a file."""
    return [folder / ".git"] if ".git" in folders or ".git" in files else []


def _amendment(commit: Commit) -> ExperimentRecord | None:
    said = conclusion_in(tried_values(commit.trailers))
    if said is None:
        return None
    fields: dict[str, Any] = {"id": f"trailer:{commit.id}", "kind": "amendment", "amends": f"{COMMIT}{commit.id}"}
    if commit.time is not None:
        fields["timestamp"] = commit.time.isoformat().replace("+00:00", "Z")
    if said.verdict is not None:
        fields["verdict"] = said.verdict
    if said.words:
        fields["conclusion"] = {"headline": without_secrets(said.words)}
    return ExperimentRecord.model_validate(fields)


def _tips(repository: Repository) -> frozenset[str]:
    refs = [value for prefix in _BRANCHES for value in repository.refs(prefix).values()][:_BRANCH_LIMIT]
    head = repository.head()
    return frozenset([*refs, *([head] if head is not None else [])])


def _signature(repository: Repository) -> Hashable:
    parts = [repository.refs_signature(prefix) for prefix in _BRANCHES]
    return None if None in parts else (*parts, repository.head())


def _newest(repository: Repository, tips: frozenset[str], seen: frozenset[str]) -> tuple[list[Commit], frozenset[str]]:
    """(commits that were not looked at yet, oldest first; their hashes): COMMIT_LIMIT of them at most, level by level
    from where branches stand."""
    found: dict[str, Commit] = {}
    level = sorted(tips - seen)
    with repository.objects() as objects:
        while level:
            room = COMMIT_LIMIT - len(found)
            commits = objects.commits(level[:room]) if room > 0 else {}
            if not commits:
                break
            found |= {commit.id: commit for commit in commits.values()}
            parents = dict.fromkeys(parent for commit in commits.values() for parent in commit.parents)
            level = [parent for parent in parents if parent not in found and parent not in seen]
    ordered = sorted(found.values(), key=lambda commit: (commit.time is not None, commit.time or 0, commit.id))
    return ordered, frozenset(found)
