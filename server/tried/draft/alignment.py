"""Which parameter of a draft is which key of the pool, however either side wraps its keys.

A config writes `env.MATRIX_LR` or `hyperparameters.lr` where a tracker logged `matrix_lr` or `config/lr`. A key is
matched whole, else without its outer segments, else as the inner end of one logged key. `model.name` and a plain
`model` are the same where only one of them is logged. The containers in which matches stand hold the experiment's
parameters; what stands outside them is bookkeeping.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tried.draft.entries import Path
from tried.draft.parameters import COMPARED_KINDS, Parameter, ParameterKind

AMBIGUOUS_ALONE: Final = frozenset({"name", "type", "target", "classpath", "path", "value", "id", "size", "enabled"})
"""Last segments that say nothing without their owner."""

_NAME: Final = ".name"
MOST_INNER_SEGMENTS: Final = 32
"""Inner segments of a key among which a logged key is looked for: a path of thousands must not cost their square."""


@dataclass(frozen=True, slots=True)
class AlignedDraft:
    """A draft in the pool's terms.

    `values`: the parameters that are set, by the pool's key. `nulls`: keys that the draft sets to null. `ambiguous`:
    keys that several of its parameters may be. `new`: knobs inside the same containers that no record ever set, and
    further items of a list of contexts (a second dataset).
    Volatile, hardware and bookkeeping keys are in none of these.
    """

    values: Mapping[str, Parameter]
    new: tuple[Parameter, ...] = ()
    nulls: frozenset[str] = frozenset()
    ambiguous: frozenset[str] = frozenset()


def align(
    parameters: Iterable[Parameter], keys: Collection[str], keys_by_suffix: Mapping[str, str | None]
) -> AlignedDraft:
    """Align a draft with a pool's keys; `keys_by_suffix` maps an inner end of a key to that key, None if several."""
    compared = [p for p in parameters if p.kind in COMPARED_KINDS]
    matched: dict[str, Parameter] = {}
    ambiguous: set[str] = set()
    inexact: list[tuple[str, Parameter]] = []
    unmatched: list[Parameter] = []
    for parameter in compared:
        if parameter.key in keys:
            matched[parameter.key] = parameter
        elif (key := _inexact_or_named(parameter.key, keys, keys_by_suffix)) is not None:
            inexact.append((key, parameter))
        else:
            unmatched.append(parameter)
    exact = frozenset(matched)
    for key, parameter in inexact:
        if key in exact:
            unmatched.append(parameter)
        elif key in matched and matched[key].value != parameter.value:
            ambiguous.add(key)
        else:
            matched[key] = parameter
    for key in ambiguous:
        del matched[key]
    containers = _containers(matched.values(), unmatched)
    new = tuple(
        p
        for p in unmatched
        if p.value is not None
        and (p.kind is ParameterKind.KNOB or (p.kind is ParameterKind.CONTEXT and _is_list_item(p)))
        and any(p.entry.path[:depth] in containers for depth in range(len(p.entry.path)))
    )
    inside = {key: p for key, p in matched.items() if p.entry.path[:-1] in containers}
    return AlignedDraft(
        values={key: p for key, p in inside.items() if p.value is not None},
        new=new,
        nulls=frozenset(key for key, p in inside.items() if p.value is None),
        ambiguous=frozenset(ambiguous),
    )


def _is_list_item(parameter: Parameter) -> bool:
    return any(isinstance(part, int) for part in parameter.entry.path)


def _containers(matched: Iterable[Parameter], unmatched: Iterable[Parameter]) -> set[Path]:
    """The containers of the experiment's parameters: all with matches, but for what merely surrounds them.

    The container with most matches is one. What holds it is none if most of its own members match nothing: there stand
    slots, lineages and launch commands, and a match among them is chance.
    """
    known = Counter(parameter.entry.path[:-1] for parameter in matched)
    if not known:
        return set()
    strange = Counter(p.entry.path[:-1] for p in unmatched if p.value is not None)
    best = max(known, key=lambda path: (known[path], -len(path)))
    outer = (best[:depth] for depth in range(len(best)))
    return set(known) - {path for path in outer if known[path] < strange[path]}


def _other_spelling(key: str) -> str:
    """What `model.name` is called where a plain `model` is logged, and the other way round."""
    return key.removesuffix(_NAME) if key.endswith(_NAME) else key + _NAME


def _inexact_or_named(key: str, keys: Collection[str], keys_by_suffix: Mapping[str, str | None]) -> str | None:
    """The key under which a parameter is logged, else that of its name, or of what it is the name of."""
    if (found := _inexact(key, keys, keys_by_suffix)) is not None:
        return found
    other = _other_spelling(key)
    if key in AMBIGUOUS_ALONE or key in keys_by_suffix or other in AMBIGUOUS_ALONE:
        return None
    return other if other in keys else _inexact(other, keys, keys_by_suffix)


def _inexact(key: str, keys: Collection[str], keys_by_suffix: Mapping[str, str | None]) -> str | None:
    if (longer := keys_by_suffix.get(key)) is not None and key not in AMBIGUOUS_ALONE:
        return longer
    segments = key.split(".")
    for start in range(max(1, len(segments) - MOST_INNER_SEGMENTS), len(segments)):
        rest = ".".join(segments[start:])
        if rest in AMBIGUOUS_ALONE:
            return None
        if rest in keys:
            return rest
        if (longer := keys_by_suffix.get(rest)) is not None:
            return longer
    return None
