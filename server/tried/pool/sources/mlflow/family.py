"""Which of MLflow's runs are experiments: parents and children, projects and their parts.

MLflow knows one relation, "is a child of", and people use it for several things. What a family is, is told by what
its members logged (names and values of compared parameters, so no seeds, folds or paths):

- A child that measured nothing and shares fewer than half of its parameters' names with any sibling, or that
  `mlflow run` started as another part of a project than its siblings, is a `step` of a pipeline. If half of the
  children or more are steps, the parent is a `launcher` (an experiment if it measured something itself).
- Children of which some differ in values are a search: the parent is the `sweep`, whatever it logged (the best of its
  members), and the members know it.
- Children that are alike are repeats or folds: if the parent measured something (their mean), or has parameters and
  they have none, the parent is the experiment and they are its steps; else the parent is a `sweep` of experiments.
- A single child that is no step is an experiment, and a parent that measured nothing only its `launcher`.
- Without parents: of runs that `mlflow run` started, those of a whole project are launchers if parts of it ran too and
  none of the whole measured anything; parts that measured nothing are then steps.

Invariant: a run's place follows from its family alone, whatever the order in which the members were read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tried.draft.parameter_kinds import COMPARED_KINDS, kind_of
from tried.pool.metric_names import is_bookkeeping_metric
from tried.pool.record import Role
from tried.pool.sources.mlflow.run import project_of_run, record_id

PARENT_TAG: Final = "mlflow.parentRunId"
ALIKE: Final = 0.5
"""Share of the parameters' names (of those that either has) from which on two siblings are of one kind."""

SHAPES_LIMIT: Final = 50
"""A family whose members have more sets of parameters' names than this has no steps."""


@dataclass(frozen=True, slots=True)
class Member:
    """What of a run tells its place: its parent's id, its project and part, the names of its compared parameters, a
    digest of them with their values, and whether it measured anything."""

    parent: str | None = None
    project: tuple[str, str] | None = None
    names: frozenset[str] = frozenset()
    values: int = 0
    measured: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    role: Role = "experiment"
    sweep: str | None = None


ALONE: Final = Place()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Family:
    parent: Role = "experiment"
    steps: frozenset[str] = frozenset()
    is_sweep: bool = False


def member_of(params: Mapping[str, Any], metrics: Collection[str], tags: Mapping[str, str]) -> Member:
    compared = {key: value for key, value in params.items() if kind_of(key) in COMPARED_KINDS}
    return Member(
        tags.get(PARENT_TAG) or None,
        project_of_run(tags),
        frozenset(compared),
        hash(frozenset((key, str(value)) for key, value in compared.items())),
        any(not is_bookkeeping_metric(name) for name in metrics),
    )


@dataclass(slots=True)
class Families:
    """The runs that have relations, and the place of each. `take` changes it; whoever keeps an older one copies."""

    members: dict[str, Member] = field(default_factory=dict)
    children: dict[str, frozenset[str]] = field(default_factory=dict)
    projects: dict[str, frozenset[str]] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    """Only those that are not `ALONE`."""

    def copy(self) -> Families:
        return Families(dict(self.members), dict(self.children), dict(self.projects), dict(self.places))

    def has_relations(self, run_id: str, tags: Mapping[str, str]) -> bool:
        return run_id in self.children or PARENT_TAG in tags or project_of_run(tags) is not None

    def place_of(self, run_id: str) -> Place:
        return self.places.get(run_id, ALONE)

    def take(self, members: Mapping[str, Member | None]) -> frozenset[str]:
        """These runs are so now (None: gone, or without relations). The ids of all runs whose place this changes."""
        parents: set[str] = set()
        projects: set[str] = set()
        grouped: tuple[dict[str, set[str]], dict[str, set[str]]] = ({}, {})
        for run_id, member in members.items():
            old = self.members.get(run_id)
            if old == member:
                continue
            for which in (old, member):
                if which is not None and which.parent:
                    parents.add(which.parent)
                    _group(grouped[0], self.children, which.parent, run_id, which is member)
                if which is not None and which.project:
                    projects.add(which.project[0])
                    _group(grouped[1], self.projects, which.project[0], run_id, which is member)
            parents.add(run_id)
            if member is None:
                self.members.pop(run_id, None)
            else:
                self.members[run_id] = member
        _settle(self.children, grouped[0])
        _settle(self.projects, grouped[1])
        return self._placed(parents, projects)

    def without_facts(self) -> list[str]:
        """Parents of which nothing is known yet."""
        return [parent for parent in self.children if parent not in self.members]

    def _placed(self, parents: Iterable[str], projects: Iterable[str]) -> frozenset[str]:
        changed: set[str] = set()
        families = {parent: self._family(parent) for parent in parents}
        concerned = set(families)
        for parent in families:
            concerned |= self.children.get(parent, frozenset())
        for project in projects:
            concerned |= self.projects.get(project, frozenset())
        pipelines: dict[str, bool] = {}
        for run_id in concerned:
            place = self._place(run_id, families, pipelines)
            if place != self.places.get(run_id, ALONE):
                changed.add(run_id)
                if place == ALONE:
                    del self.places[run_id]
                else:
                    self.places[run_id] = place
        return frozenset(changed)

    def _place(self, run_id: str, families: dict[str, _Family], pipelines: dict[str, bool]) -> Place:
        member = self.members.get(run_id, Member())
        role: Role = "experiment"
        if run_id in self.children:
            role = _kept(families, run_id, self._family).parent
        sweep: str | None = None
        if member.parent:
            family = _kept(families, member.parent, self._family)
            sweep = record_id(member.parent) if family.is_sweep else None
            if role == "experiment" and run_id in family.steps:
                role = "step"
        elif member.project and role == "experiment" and not member.measured:
            project, part = member.project
            if _kept(pipelines, project, self._is_pipeline):
                role = "step" if part else "launcher"
        return Place(role, sweep)

    def _family(self, parent_id: str) -> _Family:
        children = {
            run_id: self.members[run_id] for run_id in self.children.get(parent_id, ()) if run_id in self.members
        }
        parent = self.members.get(parent_id, Member())
        if not children:
            return _Family()
        steps = _steps(children)
        others = {run_id: child for run_id, child in children.items() if run_id not in steps}
        launcher: Role = "experiment" if parent.measured else "launcher"
        if 2 * len(steps) >= len(children):
            return _Family(launcher, steps)
        if len(children) == 1:
            return _Family(launcher)
        if len({child.values for child in others.values() if child.names}) > 1:
            return _Family("sweep", steps, True)
        if parent.measured or (parent.names and not any(child.names for child in others.values())):
            return _Family("experiment", frozenset(children))
        return _Family("sweep", steps, True)

    def _is_pipeline(self, project: str) -> bool:
        runs = [self.members[run_id] for run_id in self.projects.get(project, ())]
        wholes = [run for run in runs if run.project and not run.project[1]]
        return 0 < len(wholes) < len(runs) and not any(run.measured for run in wholes)


def _steps(children: Mapping[str, Member]) -> frozenset[str]:
    shapes: dict[frozenset[str], list[str]] = {}
    for run_id, child in children.items():
        shapes.setdefault(child.names, []).append(run_id)
    parts = {child.project for child in children.values() if child.project}
    found = {i for i, child in children.items() if len(parts) > 1 and child.project and not child.measured}
    if 1 < len([names for names in shapes if names]) <= SHAPES_LIMIT:
        for names, runs in shapes.items():
            alone = len(runs) == 1 and not children[runs[0]].measured and bool(names)
            if alone and all(_likeness(names, other) < ALIKE for other in shapes if other is not names):
                found.add(runs[0])
    return frozenset(found)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one or other else 1.0


def _kept(known: dict[str, _T], key: str, make: Callable[[str], _T]) -> _T:
    if key not in known:
        known[key] = make(key)
    return known[key]


def _group(grouped: dict[str, set[str]], old: Mapping[str, frozenset[str]], key: str, run_id: str, is_in: bool) -> None:
    group = grouped.setdefault(key, set(old.get(key, ())))
    if is_in:
        group.add(run_id)
    else:
        group.discard(run_id)


def _settle(groups: dict[str, frozenset[str]], changed: Mapping[str, set[str]]) -> None:
    for key, group in changed.items():
        if group:
            groups[key] = frozenset(group)
        else:
            groups.pop(key, None)
