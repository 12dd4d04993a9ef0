"""The rows of a results table as records: first a plan of all rows, which costs little, then the records of those that
are new or other than before.

Invariant: whatever a row holds, it costs no other row.
Invariant: rows with equal digests have equal records.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tried.draft.parameters import normalise_key, shown_value
from tried.pool.record import Change, ExperimentRecord, as_number
from tried.pool.sources.secrets import names_secret, without_secrets
from tried.pool.sources.source import Skipped
from tried.pool.sources.tables.commits import TableCommits
from tried.pool.sources.tables.config_versions import changes_between
from tried.pool.sources.tables.described_changes import changes_in, is_baseline
from tried.pool.sources.tables.layout import NO_VALUE, Layout, Status, laid_out, status_of_row
from tried.pool.sources.tables.table import Table
from tried.pool.sources.tracked_run import is_diverged
from tried.pool.sources.trailers import Conclusion
from tried.storage.commit_cache import KnownCommit, KnownConfig

KIND: Final = "results-table"
_SUMMARY_CHANGES: Final = 3
_SUMMARY_VALUE: Final = 40
_SPACE = re.compile(r"\s+")
_COMMIT = re.compile(r"[0-9a-f]{6,64}\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlannedRow:
    """`parent` is the place among the planned rows of the one that it comes from. `digest` is of all that its record
    depends on."""

    line: int
    cells: Sequence[str]
    status: Status
    id: str
    parent: int | None
    digest: bytes
    commit: KnownCommit | None = None
    config: KnownConfig | None = None
    conclusion: Conclusion | None = None
    code_and_config: bool = False
    """The config file is the script itself."""


def commit_names(table: Table, layout: Layout) -> Iterable[str]:
    """What the rows name that may be commits, in their order."""
    if layout.commit is None:
        return
    for row in table.rows:
        cells, _ = laid_out(row, layout)
        if cells is not None and _COMMIT.match(cells[layout.commit]):
            yield cells[layout.commit].lower()


def planned(
    table: Table, layout: Layout, name: str, commits: TableCommits
) -> tuple[Sequence[PlannedRow], Sequence[Skipped]]:
    """(the rows in their order, what could not be read). A row comes from the nearest ancestor of its commit that an
    other row names, if git knows; else from the last row that was kept before it."""
    read: list[tuple[int, list[str], Status, str, tuple[str, ...]]] = []
    skipped: list[Skipped] = []
    seen: Counter[str] = Counter()
    for row in table.rows:
        cells, complaint = laid_out(row, layout)
        if complaint:
            skipped.append(Skipped(f"line {row.line}", complaint))
        if cells is None:
            continue
        try:
            status = status_of_row(cells, layout)
            context = tuple(cells[index] for index in layout.context)
            native = _native_id(cells, layout, seen)
        except Exception as error:
            why = f"could not be read: {type(error).__name__}: {error}"[:200]
            skipped.append(Skipped(f"line {row.line}", why))
            continue
        read.append((row.line, cells, status, f"{KIND}:{name}:{native}", context))
    known = [_commit_of(cells, layout, commits) for _, cells, *_ in read]
    configs = [commits.config_of(commit) if commit is not None else None for commit in known]
    lineage = _Lineage(read, known, configs, commits)
    head = repr((layout, commits.config_path)).encode("utf-8", "replace")
    rows: list[PlannedRow] = []
    for index, (line, cells, status, record_id, _) in enumerate(read):
        parent = lineage.parent_of(index)
        digest = hashlib.blake2b(head, digest_size=12)
        for place in (index, parent):
            if place is not None:
                told = (read[place][3], *read[place][1])
                digest.update("\x1f".join(told).encode("utf-8", "replace"))
                digest.update(_token(known[place], configs[place]))
        commit = known[index]
        rows.append(
            PlannedRow(
                line=line,
                cells=cells,
                status=status,
                id=record_id,
                parent=parent,
                digest=digest.digest(),
                commit=commit,
                config=configs[index],
                conclusion=commits.conclusion_of(commit) if commit is not None else None,
                code_and_config=(commits.config_path or "").endswith(".py"),
            )
        )
        lineage.pass_by(index)
    return rows, skipped


class _Lineage:
    """Which row each comes from."""

    def __init__(
        self,
        read: Sequence[tuple[int, list[str], Status, str, tuple[str, ...]]],
        known: Sequence[KnownCommit | None],
        configs: Sequence[KnownConfig | None],
        commits: TableCommits,
    ) -> None:
        self._read, self._known, self._configs, self._commits = read, known, configs, commits
        self._last_kept: dict[tuple[str, ...], int] = {}
        self._named: dict[tuple[str, ...], dict[str, int]] = {}
        self._kept: dict[tuple[str, ...], dict[str, int]] = {}
        for index, (_, _, status, _, context) in enumerate(read):
            commit = known[index]
            if commit is not None:
                self._named.setdefault(context, {})[commit.id] = index
                if status.kept:
                    self._kept.setdefault(context, {})[commit.id] = index

    def pass_by(self, index: int) -> None:
        if self._read[index][2].kept:
            self._last_kept[self._read[index][4]] = index

    def parent_of(self, index: int) -> int | None:
        context, commit = self._read[index][4], self._known[index]
        last = self._last_kept.get(context)
        if commit is None or not commit.parents:
            return last if commit is None else None
        found = self._by_git(commit, self._kept.get(context, {}), self._named.get(context, {}), index)
        if found is None and last is not None and self._known[last] is None:
            return last  # its commit is unknown, so git does not say otherwise
        return found

    def _by_git(self, commit: KnownCommit, kept: Mapping[str, int], named: Mapping[str, int], index: int) -> int | None:
        """The nearest that was kept; the nearest at all where fewer parameters differ from that one: work went on from
        there, instead of being taken back."""
        ancestor, kept_ancestor = self._commits.nearest(commit, named), self._commits.nearest(commit, kept)
        if ancestor is None:
            return None
        nearest = named[ancestor]
        if kept_ancestor is None or kept_ancestor == ancestor:
            return kept.get(ancestor, nearest)
        base = kept[kept_ancestor]
        mine, near, far = self._configs[index], self._configs[nearest], self._configs[base]
        if mine is None or near is None or far is None:
            return base
        return nearest if len(changes_between(near, mine)) < len(changes_between(far, mine)) else base


def record_of_row(row: PlannedRow, rows: Sequence[PlannedRow], layout: Layout, research_line: str) -> ExperimentRecord:
    """The record of a planned row. May raise for what nobody thought of."""
    header, cells, status = layout.header, without_secrets(row.cells), row.status
    parent = rows[row.parent] if row.parent is not None else None
    description = cells[layout.description] if layout.description is not None else ""
    metrics = _metrics(cells, layout, _is_broken(status))
    primary = _primary(layout, cells, metrics)
    said = row.conclusion
    fields: dict[str, Any] = {
        "id": row.id,
        "name": description or row.id.rsplit(":", 1)[-1],
        "source": KIND,
        "research_line": research_line,
        "metrics": metrics,
    }
    if primary is not None:
        fields["objective"] = primary
    headline = (without_secrets(said.words) if said is not None else "") or description
    conclusion = {"headline": headline} if headline else {}
    verdict = said.verdict if said is not None and said.verdict is not None else status.verdict
    outcome, cause = status.outcome, status.cause
    if outcome == "completed" and verdict in (None, "dead_end") and is_diverged(fields):
        outcome, cause = "failed", "diverged"
    if outcome is not None:
        conclusion["outcome"] = outcome
    if conclusion:
        fields["conclusion"] = conclusion
    if verdict is not None:
        fields["verdict"] = verdict
    if cause is not None:
        fields["cause"] = cause
    if word := cells[layout.status].strip() if layout.status is not None else "":
        fields["tags"] = [word[:60].lower()]
    own = _own_parameters(header, cells, layout, status)
    if parameters := _with_config(own, row.config):
        fields["params"] = without_secrets(parameters)
    if layout.time is not None and cells[layout.time]:
        fields["timestamp"] = cells[layout.time]
    elif row.commit is not None and row.commit.time:
        fields["timestamp"] = row.commit.time
    if layout.commit is not None and _COMMIT.match(cells[layout.commit]):
        fields["git"] = {"commit": cells[layout.commit]}
        if row.commit is not None:
            fields["git"]["sha"] = row.commit.id
    notes = [cells[i] for i in layout.notes if cells[i]]
    notes += [f"{header[i]}: {cells[i]}" for i in layout.texts if cells[i]]
    if notes:
        fields["notes"] = "\n".join(notes)
    changes, is_compared = _changes(row, parent, description, frozenset(header))
    is_base = is_baseline(description) or (layout.status is not None and "baseline" in cells[layout.status].lower())
    if not is_base and (changes or parent):
        if parent is not None:
            fields["parent"] = parent.id
        fields["derivation"] = {
            "from": parent.id if parent is not None else None,
            "to": row.id,
            "changes": [each for each in changes if not names_secret(each.key)],
        }
        # Where the table leaves open how a row ended, a number beside another is no judgement.
        if status.outcome is not None:
            before = _metrics(parent.cells, layout, _is_broken(parent.status)) if parent is not None else {}
            fields["derivation"]["metric_delta"] = _metric_delta(primary, metrics, before)
        if is_compared:
            fields["derivation"] |= {"computed": True, "summary": _summary(changes)}
    return ExperimentRecord.model_validate(fields)


def _changes(
    row: PlannedRow, parent: PlannedRow | None, description: str, metrics: Collection[str]
) -> tuple[Sequence[Change], bool]:
    """(what was changed, whether both configs say so): what the description says where they do not tell, or not all."""
    described = changes_in(description, metrics)
    if parent is None or parent.config is None or row.config is None or parent.commit is None or row.commit is None:
        return described, False
    changes = changes_between(parent.config, row.config)
    only_parameters = row.code_and_config and row.config.rest == parent.config.rest
    if row.commit.id == parent.commit.id or (only_parameters and not changes):
        return described, False
    if only_parameters:
        return changes, True
    if row.code_and_config:
        code = {"change": "CodeChanged", "from_sha": parent.commit.id, "to_sha": row.commit.id}
        changes.append(Change.model_validate(code))
    words = [change for change in described if not changes or change.change == "Unspecified"]
    return [*changes, *words], bool(changes)


def _summary(changes: Sequence[Change]) -> str:
    """Such as `LR 0.1 → 0.5, EXTRA x (new), and 2 more`."""
    words: list[str] = []
    for change in changes:
        if change.change == "ParamChanged":
            words.append(f"{change.key} {_shown(change.from_)} → {_shown(change.to)}")
        elif change.change in ("ParamAdded", "ParamRemoved"):
            words.append(
                f"{change.key} {_shown(change.value)} ({'new' if change.change == 'ParamAdded' else 'removed'})"
            )
        elif change.change == "CodeChanged":
            words.append("code")
    more = [f"and {len(words) - _SUMMARY_CHANGES} more"] if len(words) > _SUMMARY_CHANGES else []
    return ", ".join([*words[:_SUMMARY_CHANGES], *more])


def _shown(value: object) -> str:
    return shown_value(value, _SUMMARY_VALUE)


def _commit_of(cells: Sequence[str], layout: Layout, commits: TableCommits) -> KnownCommit | None:
    return commits.commit_of(cells[layout.commit].lower()) if layout.commit is not None else None


def _token(commit: KnownCommit | None, config: KnownConfig | None) -> bytes:
    """A version of a file is named by its hash, so whether it was read is all that can change."""
    return repr((commit, config is not None)).encode("utf-8", "replace") if commit is not None else b""


def _with_config(own: Mapping[str, Any], config: KnownConfig | None) -> dict[str, Any]:
    """The row's own columns are about its run, and so come before what the commit's config says of all runs."""
    if config is None:
        return dict(own)
    stated = {normalise_key(key) for key in own}
    return {**own, **{key: value for key, value in config.params.items() if normalise_key(key) not in stated}}


def _is_broken(status: Status) -> bool:
    return status.outcome in ("crashed", "failed")


def _own_parameters(header: Sequence[str], cells: Sequence[str], layout: Layout, status: Status) -> dict[str, str]:
    """What the parameter columns say; 0 in a row that crashed is a placeholder, as it is among the metrics."""
    said = {header[i]: cells[i] for i in layout.parameters if cells[i]}
    return {key: cell for key, cell in said.items() if as_number(cell) != 0} if _is_broken(status) else said


def _primary(layout: Layout, cells: Sequence[str], metrics: Mapping[str, Any]) -> str | None:
    if layout.pair is not None and layout.primary not in metrics:
        return cells[layout.pair[0]] or None
    return layout.primary


def _metrics(cells: Sequence[str], layout: Layout, broken: bool) -> dict[str, Any]:
    """Numbers as numbers, other words as they stand; a zero of a run that crashed is a placeholder."""
    pairs = [(layout.header[index], cells[index]) for index in layout.metrics]
    if layout.pair is not None and cells[layout.pair[0]]:
        pairs.append((cells[layout.pair[0]], cells[layout.pair[1]]))
    metrics: dict[str, Any] = {}
    for name, cell in pairs:
        number = as_number(cell.lstrip("+"))
        if cell.lower() in NO_VALUE and cell.lower() != "nan":
            continue
        if number is None:
            metrics[name] = cell
        elif not (broken and number == 0):
            metrics[name] = number
    return metrics


def _metric_delta(primary: str | None, metrics: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    if primary is None:
        return {}
    was, now = as_number(before.get(primary)), as_number(metrics.get(primary))
    if was is None or now is None:
        return {}
    return {primary: {"before": was, "after": now, "delta": now - was}}


def _native_id(cells: Sequence[str], layout: Layout, seen: Counter[str]) -> str:
    """The commit or id; with a digest of the row's words where it is missing or taken; numbered where all is alike."""
    native = cells[layout.native_id].strip() if layout.native_id is not None else ""
    native = "" if native.lower() in NO_VALUE else _SPACE.sub("_", native)[:80]
    if native and not seen[native]:
        seen[native] += 1
        return native
    words = [cells[i] for i in (layout.description, *layout.parameters, *layout.context) if i is not None]
    digest = hashlib.sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:8]
    candidate = f"{native}~{digest}" if native else f"row-{digest}"
    seen[candidate] += 1
    return candidate if seen[candidate] == 1 else f"{candidate}~{seen[candidate]}"
