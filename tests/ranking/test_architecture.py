import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from naive_ranking import naive_structure
from ranking_strategies import architectures

from tried.architecture import ArchitectureEdge, ArchitectureFingerprint, structural_similarity


def chain(*tokens: str, kind: str = "data") -> ArchitectureFingerprint:
    ids = [f"{token}#{place}" for place, token in enumerate(tokens)]
    edges = [ArchitectureEdge(source=a, target=b, kind=kind) for a, b in pairwise(ids)]
    return ArchitectureFingerprint.of(dict(zip(ids, tokens, strict=True)), edges)


def test_worked_out_by_hand() -> None:
    left = chain("filter:Conv", "filter:ReLU")
    right = ArchitectureFingerprint.of(
        {"x": "filter:Conv", "y": "filter:Conv", "z": "filter:ReLU"},
        [ArchitectureEdge(source="x", target="z"), ArchitectureEdge(source="y", target="z", kind="control")],
    )
    # Nodes: Σ min 2, Σ max 3. Edges: Conv>ReLU is shared, Conv~>ReLU is not: 1 of 2.
    assert structural_similarity(left, right) == 0.6 * (2 / 3) + 0.4 * (1 / 2)


def test_multiplicity_counts() -> None:
    # Σ min(3, 1) = 1 of Σ max(3, 1) = 3; neither has edges, so those agree wholly.
    one, three = (ArchitectureFingerprint.of({str(i): "filter:MLP" for i in range(n)}) for n in (1, 3))
    assert structural_similarity(one, three) == 0.6 * (1 / 3) + 0.4 * 1.0


def test_data_and_control_edges_differ() -> None:
    data, control = chain("a", "b"), chain("a", "b", kind="control")
    assert data.edge_tokens == {"a>b": 1}
    assert control.edge_tokens == {"a~>b": 1}
    assert structural_similarity(data, control) == 0.6


@settings(deadline=None)
@given(architectures(), architectures())
def test_it_is_symmetric_bounded_and_agrees_with_counting(
    left: ArchitectureFingerprint, right: ArchitectureFingerprint
) -> None:
    value = structural_similarity(left, right)
    assert value == structural_similarity(right, left) == naive_structure(left, right)
    assert 0.0 <= value <= 1.0
    assert structural_similarity(left, left) == 1.0


@settings(deadline=None)
@given(architectures())
def test_ids_carry_no_weight(graph: ArchitectureFingerprint) -> None:
    renamed = ArchitectureFingerprint.of(
        {f"other {node}": token for node, token in graph.nodes.items()},
        [
            ArchitectureEdge(source=f"other {edge.source}", target=f"other {edge.target}", kind=edge.kind)
            for edge in graph.edges
        ],
    )
    assert structural_similarity(graph, renamed) == 1.0
    assert (graph.node_tokens, graph.edge_tokens) == (renamed.node_tokens, renamed.edge_tokens)


def test_an_edge_to_a_node_that_is_not_there_is_left_out() -> None:
    graph = ArchitectureFingerprint.of({"a": "filter:A"}, [ArchitectureEdge(source="a", target="ghost")])
    assert graph.edge_tokens == {}


def test_the_digest_is_exact_and_does_not_depend_on_order() -> None:
    edges = [ArchitectureEdge(source="a", target="b"), ArchitectureEdge(source="b", target="a")]
    first = ArchitectureFingerprint.of({"a": "x", "b": "y"}, edges, {"a": "1", "b": "2"})
    second = ArchitectureFingerprint.of({"b": "y", "a": "x"}, reversed(edges), {"b": "2", "a": "1"})
    other = ArchitectureFingerprint.of({"a": "x", "b": "y"}, edges, {"a": "1", "b": "3"})
    assert first.digest == second.digest != other.digest
    assert (first.n_nodes, first.n_edges) == (2, 2)
    assert len(ArchitectureFingerprint.of({"\ud800": "x"}).digest) == 64


@pytest.mark.parametrize("kind", ["residual", None])
def test_an_edge_of_unknown_kind_is_compared_as_data(kind: str | None) -> None:
    written = {"nodes": {"a": "x", "b": "y"}, "edges": [{"source": "a", "target": "b", "kind": kind}]}
    graph = ArchitectureFingerprint.model_validate(written)
    assert graph.edge_tokens == {"x>y": 1}
    assert graph.edges[0].kind == (kind or "data")


def test_a_round_trip_keeps_what_we_do_not_know_and_no_more() -> None:
    line = '{"nodes":{"a":"x"},"edges":[{"source":"a","target":"a","weight":3}],"depth":7}'
    graph = ArchitectureFingerprint.model_validate_json(line)
    assert graph.node_tokens == {"x": 1}  # what is derived from it is not written out
    assert json.loads(graph.model_dump_json(exclude_unset=True)) == json.loads(line)
