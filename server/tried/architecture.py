"""The architecture of an experiment as a typed graph, and how alike two of them are.

Invariant: both a record's and a draft's architecture are this one type, compared by this one function.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

NODE_WEIGHT = 0.6
EDGE_WEIGHT = 0.4


class ArchitectureEdge(BaseModel):
    """`source` and `target` are node ids; `data` edges carry values, `control` edges containment."""

    model_config = ConfigDict(extra="allow", frozen=True)

    source: str
    target: str
    kind: Literal["data", "control"] = "data"


class ArchitectureFingerprint(BaseModel):
    """A graph of components: `nodes` maps an id to a token (`filter:ResNet`, `step:…`, `loop:3`, `branch`)."""

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
        return Counter(self.nodes.values())

    @cached_property
    def edge_tokens(self) -> Counter[str]:
        """``source>target`` for data edges, ``source~>target`` for control edges, in node tokens."""
        return Counter(
            f"{self.nodes.get(edge.source, edge.source)}{'~>' if edge.kind == 'control' else '>'}"
            f"{self.nodes.get(edge.target, edge.target)}"
            for edge in self.edges
        )


def structural_similarity(left: ArchitectureFingerprint, right: ArchitectureFingerprint) -> float:
    """0.6·J(node tokens) + 0.4·J(edge tokens), in [0, 1]; ids carry no weight."""
    nodes = multiset_jaccard(left.node_tokens, right.node_tokens)
    edges = multiset_jaccard(left.edge_tokens, right.edge_tokens)
    return NODE_WEIGHT * nodes + EDGE_WEIGHT * edges


def multiset_jaccard(left: Counter[str], right: Counter[str]) -> float:
    """Σ min / Σ max over the union; 1 if both are empty."""
    if not left and not right:
        return 1.0
    return (left & right).total() / (left | right).total()
