"""The architecture of an experiment as a typed graph, and how alike two of them are.

Invariant: a record's and a draft's architecture are this one type, and `structural_similarity` says how alike they are;
the ranking computes the same numbers for many records at once.
Invariant: ids tell nodes of one graph apart and carry no weight in a comparison.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

NODE_WEIGHT: Final = 0.6
EDGE_WEIGHT: Final = 0.4

DATA: Final = "data"
CONTROL: Final = "control"


class ArchitectureEdge(BaseModel):
    """`source` and `target` are node ids; `data` edges carry values, `control` edges containment.

    A kind that we do not know is kept as it was written and compared as data.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    source: str
    target: str
    kind: str = DATA

    @field_validator("kind", mode="before")
    @classmethod
    def _null_is_data(cls, value: Any) -> Any:
        return DATA if value is None else value


class ArchitectureFingerprint(BaseModel):
    """A graph of components: `nodes` maps an id to a token (`filter:ResNet`, `step:…`, `loop:3`, `branch`).

    `digest` is whatever the record came with: two graphs are compared by their tokens, never by their digests.
    """

    model_config = ConfigDict(extra="allow", frozen=True)

    digest: str = ""
    nodes: dict[str, str] = Field(default_factory=dict)
    edges: tuple[ArchitectureEdge, ...] = ()
    n_nodes: int = 0
    n_edges: int = 0
    node_config: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def of(
        cls,
        nodes: Mapping[str, str],
        edges: Iterable[ArchitectureEdge] = (),
        node_config: Mapping[str, str] | None = None,
    ) -> ArchitectureFingerprint:
        """A fingerprint with its digest and counts: the digest is SHA-256 of the canonical JSON of the graph."""
        links = tuple(sorted(edges, key=lambda edge: (edge.source, edge.target, edge.kind)))
        config = dict(sorted((node_config or {}).items()))
        graph = [sorted(nodes.items()), [[e.source, e.target, e.kind] for e in links], sorted(config.items())]
        canonical = json.dumps(graph, ensure_ascii=False, separators=(",", ":"))
        return cls(
            digest=hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest(),
            nodes=dict(nodes),
            edges=links,
            n_nodes=len(nodes),
            n_edges=len(links),
            node_config=config,
        )

    @cached_property
    def node_tokens(self) -> Counter[str]:
        """How often each node token occurs."""
        return Counter(self.nodes.values())

    @cached_property
    def edge_tokens(self) -> Counter[str]:
        """How often each edge occurs, in node tokens: ``source>target`` for data, ``source~>target`` for control.

        An edge from or to an id that names no node is left out: nothing but that id is known of its end.
        """
        return Counter(
            f"{self.nodes[edge.source]}{'~>' if edge.kind == CONTROL else '>'}{self.nodes[edge.target]}"
            for edge in self.edges
            if edge.source in self.nodes and edge.target in self.nodes
        )


def structural_similarity(left: ArchitectureFingerprint, right: ArchitectureFingerprint) -> float:
    """0.6·J(node tokens) + 0.4·J(edge tokens), in [0, 1]; ids carry no weight."""
    nodes = multiset_jaccard(left.node_tokens, right.node_tokens)
    edges = multiset_jaccard(left.edge_tokens, right.edge_tokens)
    return NODE_WEIGHT * nodes + EDGE_WEIGHT * edges


def multiset_jaccard(left: Counter[str], right: Counter[str]) -> float:
    """Σ min / Σ max over the union, in [0, 1]; 1 if both are empty."""
    if not left and not right:
        return 1.0
    return (left & right).total() / (left | right).total()
