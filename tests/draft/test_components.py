from collections.abc import Mapping
from typing import Any

import pytest
from entry_builder import Tagged, entries
from hypothesis import given
from hypothesis import strategies as st

from tried.architecture import ArchitectureFingerprint, structural_similarity
from tried.draft.components import architecture_of
from tried.draft.syntax import parse


def graph(tree: Mapping[str, Any]) -> tuple[dict[str, str], set[str]]:
    """Node tokens by id, and edges as `a > b` (data) or `a ~> b` (control)."""
    components, fingerprint = architecture_of(entries(tree), "")
    if fingerprint is None:
        assert components == ()
        return {}, set()
    assert [component.id for component in components] == list(fingerprint.nodes)
    assert [component.token for component in components] == list(fingerprint.nodes.values())
    assert (fingerprint.n_nodes, fingerprint.n_edges) == (len(fingerprint.nodes), len(fingerprint.edges))
    signs = {"data": ">", "control": "~>"}
    return dict(fingerprint.nodes), {f"{e.source} {signs[e.kind]} {e.target}" for e in fingerprint.edges}


@pytest.mark.parametrize(
    ("tree", "nodes"),
    [
        # Hydra, Lightning, torchtune, Keras
        ({"model": {"_target_": "torchvision.models.resnet.ResNet", "depth": 50}}, {"model": "filter:ResNet"}),
        (
            {"model": {"class_path": "my.nets.UNet", "init_args": {"width": 8}}},
            {"model": "filter:UNet"},
        ),
        ({"model": {"_component_": "torchtune.models.gemma.gemma_2b"}}, {"model": "filter:gemma_2b"}),
        ({"net": {"class_name": "Dense", "config": {"units": 4}}}, {"net": "filter:Dense"}),
        ({"_target_": "project.model.Tagger", "device": "cpu"}, {"root": "filter:Tagger"}),
        ({"labeler": {"_target_": "project.Labeler"}}, {"labeler": "filter:Labeler"}),
        # types and names below model-like keys
        ({"encoder": {"type": "lstm", "hidden": 8}}, {"encoder": "filter:lstm"}),
        ({"model_settings": {"name": "cnn", "batch_size": 100}}, {"model_settings": "filter:cnn"}),
        ({"model": {"name": "timm/resnet50.a1_in1k"}}, {"model": "filter:resnet50.a1_in1k"}),
        ({"MODEL": {"META_ARCHITECTURE": "MaskRCNN"}}, {"MODEL": "filter:MaskRCNN"}),
        ({"model": {"architecture": "BCNetwork", "layers": 3}}, {"model": "filter:BCNetwork"}),
        ({"flow": {"type": "my.models.RealNVP"}}, {"flow": "filter:RealNVP"}),
        # a name of the architecture by itself
        ({"hyper": {"model_arch": "SSDGolf + HSM", "lr": 0.1}}, {"hyper.model_arch": "filter:SSDGolf + HSM"}),
        # Hugging Face
        ({"architectures": ["LlamaForCausalLM"], "hidden_size": 8}, {"root": "filter:LlamaForCausalLM"}),
        (
            {"architectures": ["A1", "B1"]},
            {"architectures.0": "filter:A1", "architectures.1": "filter:B1"},
        ),
        # tags and calls
        ({"enc": Tagged("!new:speechbrain.lobes.CRDNN", {"dropout": 0.1})}, {"enc": "filter:CRDNN"}),
        ({"lm": Tagged("!apply:x.AutoModel.from_pretrained")}, {"lm": "filter:AutoModel"}),
        ({"model": Tagged("nn.Linear", {"bias": True})}, {"model": "filter:Linear"}),
        ({"net": Tagged("resnet50", {"weights": None})}, {"net": "filter:resnet50"}),
        ({"projection": {"filter": "Encoder"}}, {"projection": "filter:Encoder"}),
        ({"pipeline": [{"step": "Clean"}]}, {"pipeline.0": "step:Clean"}),
    ],
)
def test_what_is_a_component(tree: dict[str, Any], nodes: dict[str, str]) -> None:
    assert graph(tree)[0] == nodes


@pytest.mark.parametrize(
    "tree",
    [
        {},
        {"lr": 0.1, "batch_size": 32, "dataset": "mnist", "model": "resnet50", "layers": [64, 64]},
        {"optimizer": {"_target_": "torch.optim.AdamW", "lr": 0.1}},
        {"opt": Tagged("torch.optim.SGD", {"lr": 0.1})},
        {"model": {"optimizer": {"type": "AdamW"}, "lr_scheduler": {"name": "cosine"}}},
        {"trainer": {"_target_": "lightning.Trainer", "callbacks": [{"_target_": "lightning.EarlyStopping"}]}},
        {"dataset": {"_component_": "torchtune.datasets.alpaca_dataset"}},
        {"tokenizer": {"model": {"type": "BPE"}}},
        {"loss": {"_component_": "torchtune.modules.loss.LinearCrossEntropyLoss"}},
        {"epoch_counter": Tagged("!new:speechbrain.utils.epoch_loop.EpochCounter", {"limit": 3})},
        {"x_train": {"type": "pandas.CSVDataSet"}},
        {"modules": Tagged("!name:torch.nn.ReLU")},
        {"path": Tagged("pathlib.Path"), "args": Tagged("argparse.Namespace", {"lr": 0.1})},
        {"count": Tagged("len"), "model_path": Tagged("os.environ.get")},
        {"experiment": {"name": "first"}, "name": "second", "type": "smoke"},
        {"model": {"name": "${model_name}"}},
        {"model": {"_target_": "???"}},
        {"parameters": {"width": {"type": "int"}}},
        {"encoder": {"type": "int"}},
        {"window_pattern": "SSSL"},
        {"block_layout": "AXA"},
        {"stages": ["train", 3]},
        {"services": {"web": {"image": "x", "type": "LoadBalancer"}}},
    ],
)
def test_what_is_none(tree: dict[str, Any]) -> None:
    assert graph(tree) == ({}, set())


def test_a_component_holds_what_lies_in_it() -> None:
    nodes, edges = graph(
        {
            "model": {
                "_target_": "a.Seq2Seq",
                "parts": {"encoder": {"_target_": "a.Encoder", "norm": {"_target_": "a.LayerNorm"}}},
                "decoder": {"_target_": "a.Decoder"},
                "optimizer": {"_target_": "torch.optim.Adam"},
            }
        }
    )
    assert nodes == {
        "model": "filter:Seq2Seq",
        "model.parts.encoder": "filter:Encoder",
        "model.parts.encoder.norm": "filter:LayerNorm",
        "model.decoder": "filter:Decoder",
    }
    assert edges == {
        "model ~> model.parts.encoder",
        "model.parts.encoder ~> model.parts.encoder.norm",
        "model ~> model.decoder",
    }


def test_data_flows_along_a_list() -> None:
    nodes, edges = graph({"layers": [{"type": "Conv2d", "size": 3}, {"type": "ReLU"}, {"type": "Linear"}]})
    assert nodes == {"layers.0": "filter:Conv2d", "layers.1": "filter:ReLU", "layers.2": "filter:Linear"}
    assert edges == {"layers.0 > layers.1", "layers.1 > layers.2"}


def test_a_list_of_names_and_a_layout_are_lists_of_layers() -> None:
    named, edges_of_names = graph({"model": {"layers": ["attention", "attention", "ssm"]}})
    letters, edges_of_letters = graph({"BLOCK_LAYOUT": "AAS"})
    assert list(named.values()) == list(letters.values()) == ["filter:attention", "filter:attention", "filter:ssm"]
    assert edges_of_names == {"model.layers.0 > model.layers.1", "model.layers.1 > model.layers.2"}
    assert edges_of_letters == {"BLOCK_LAYOUT.0 > BLOCK_LAYOUT.1", "BLOCK_LAYOUT.1 > BLOCK_LAYOUT.2"}


def test_a_layer_may_be_named_by_its_only_key() -> None:
    nodes, edges = graph({"model": {"blocks": [{"Conv2d": {"filters": 8}}, {"ReLU": None}, "Flatten"]}})
    assert nodes == {
        "model.blocks.0": "filter:Conv2d",
        "model.blocks.1": "filter:ReLU",
        "model.blocks.2": "filter:Flatten",
    }
    assert edges == {"model.blocks.0 > model.blocks.1", "model.blocks.1 > model.blocks.2"}


def test_explicit_inputs_replace_the_order_of_the_list() -> None:
    _, edges = graph(
        {
            "layers": [
                {"name": "stem", "type": "Conv"},
                {"type": "Block", "input": "stem"},
                {"type": "Block", "inputs": ["stem", -1]},
                {"type": "Head", "from": 0},
            ]
        }
    )
    assert edges == {
        "layers.0 > layers.1",
        "layers.0 > layers.2",
        "layers.1 > layers.2",
        "layers.0 > layers.3",
    }


def test_inputs_name_components_beside_or_anywhere() -> None:
    _, edges = graph(
        {
            "model": {
                "encoder": {"type": "Encoder"},
                "decoder": {"type": "Decoder", "inputs": {"memory": "encoder.output", "mask": "nowhere"}},
            },
            "head": {"type": "Head", "input": "decoder"},
        }
    )
    assert edges == {"model.encoder > model.decoder", "model.decoder > head"}


def test_no_data_flows_between_branches() -> None:
    nodes, edges = graph(
        {"model": {"type": "Net", "branches": [{"type": "Local", "size": 1}, {"type": "Global", "size": 2}]}}
    )
    assert nodes == {
        "model": "filter:Net",
        "model.branches": "branch",
        "model.branches.0": "filter:Local",
        "model.branches.1": "filter:Global",
    }
    assert edges == {
        "model ~> model.branches",
        "model.branches ~> model.branches.0",
        "model.branches ~> model.branches.1",
    }


def test_a_repeated_component_lies_in_a_loop() -> None:
    nodes, edges = graph({"block": {"type": "Residual", "repeat": 3}})
    assert nodes == {"block": "filter:Residual", "block.repeat": "loop:3"}
    assert edges == {"block.repeat ~> block"}


def test_a_repeated_mapping_is_a_loop_around_its_components() -> None:
    nodes, edges = graph({"stack": {"repeat": 2, "layers": ["attention", "mlp"]}})
    assert nodes == {"stack": "loop:2", "stack.layers.0": "filter:attention", "stack.layers.1": "filter:mlp"}
    assert edges == {
        "stack ~> stack.layers.0",
        "stack ~> stack.layers.1",
        "stack.layers.0 > stack.layers.1",
    }


def test_a_table_of_layers_reads_rows_by_number() -> None:
    nodes, edges = graph(
        {
            "depth": 0.33,
            "backbone": [[-1, 1, "Conv", [64, 3]], [-1, 3, "C2f", [128, True]], [-1, 1, "SPPF", [128, 5]]],
            "head": [[-1, 1, "nn.Upsample", [None, 2]], [[-1, 1], 1, "Concat", [1]], [[4], 1, "Detect", ["nc"]]],
        }
    )
    assert list(nodes.values()) == [
        *("filter:Conv", "filter:C2f", "filter:SPPF"),
        *("filter:Upsample", "filter:Concat", "filter:Detect"),
    ]
    assert edges == {
        "backbone.0 > backbone.1",
        "backbone.1 > backbone.2",
        "backbone.2 > head.0",
        "head.0 > head.1",
        "backbone.1 > head.1",
        "head.1 > head.2",
    }


EXPLICIT = {"enc > dec", "dec ~> head"}


@pytest.mark.parametrize(
    "tree",
    [
        {
            "nodes": {"enc": "filter:Encoder", "dec": "Decoder", "head": "step:Head"},
            "edges": ["enc -> dec", "dec ~> head"],
        },
        {
            "nodes": {"enc": {"type": "Encoder"}, "dec": {"type": "Decoder"}, "head": {"step": "Head"}},
            "edges": [{"source": "enc", "target": "dec"}, {"from": "dec", "to": "head", "kind": "control"}],
        },
        {
            "nodes": {"enc": "Encoder", "dec": "Decoder", "head": "step:Head"},
            "edges": [["enc", "dec"], ["dec", "head", "control"]],
        },
    ],
)
def test_an_explicit_graph(tree: dict[str, Any]) -> None:
    nodes, edges = graph({"architecture": tree})
    assert nodes == {
        "architecture.nodes.enc": "filter:Encoder",
        "architecture.nodes.dec": "filter:Decoder",
        "architecture.nodes.head": "step:Head",
    }
    assert {edge.replace("architecture.nodes.", "") for edge in edges} == EXPLICIT


def test_a_graph_of_listed_nodes_and_edges_by_source() -> None:
    nodes, edges = graph({"nodes": ["a1", "b1", "c1"], "edges": {"a1": ["b1", "c1"], "b1": "c1"}})
    assert nodes == {"nodes.0": "filter:a1", "nodes.1": "filter:b1", "nodes.2": "filter:c1"}
    assert edges == {"nodes.0 > nodes.1", "nodes.0 > nodes.2", "nodes.1 > nodes.2"}


def test_a_graph_of_nodes_with_ids() -> None:
    nodes, edges = graph(
        {
            "nodes": [{"id": "x", "type": "Conv"}, {"id": "y", "type": "Pool"}, {"id": 3, "type": "Head"}],
            "edges": ["x -> y", [1, 1], {"source": "y", "target": 3}],
        }
    )
    assert nodes == {"nodes.0": "filter:Conv", "nodes.1": "filter:Pool", "nodes.2": "filter:Head"}
    assert edges == {"nodes.0 > nodes.1", "nodes.1 > nodes.2"}


def test_tags_hold_each_other_by_place_and_by_reference() -> None:
    text = """\
enc: !new:nnet.containers.Sequential
  linear1: !name:nnet.linear.Linear
    n: 4
  act: !new:torch.nn.LeakyReLU
head: !new:nnet.Head
  encoder: !ref <enc>
all: !new:torch.nn.ModuleList
  - [!ref <enc>, !ref <head>]
opt: !name:torch.optim.Adam
"""
    _, fingerprint = architecture_of(parse(text, "yaml").entries, text)
    assert fingerprint is not None
    assert fingerprint.nodes == {
        "enc": "filter:Sequential",
        "enc.linear1": "filter:Linear",
        "enc.act": "filter:LeakyReLU",
        "head": "filter:Head",
        "all": "filter:ModuleList",
    }
    assert {(e.source, e.target, e.kind) for e in fingerprint.edges} == {
        ("enc", "enc.linear1", "control"),
        ("enc", "enc.act", "control"),
        ("enc.linear1", "enc.act", "data"),
        ("head", "enc", "control"),
        ("all", "enc", "control"),
        ("all", "head", "control"),
    }


def test_python_calls_hold_each_other() -> None:
    text = """\
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), head=nn.Linear(4, 1))
net = Pair(nn.LSTM(8), nn.GRU(8))
optimizer = torch.optim.AdamW(lr=1e-3)
path = Path("runs")
"""
    _, fingerprint = architecture_of(parse(text, "python").entries, text)
    assert fingerprint is not None
    assert fingerprint.nodes == {
        "model": "filter:Sequential",
        "model.0": "filter:Linear",
        "model.1": "filter:ReLU",
        "model.head": "filter:Linear",
        "net": "filter:Pair",
        "net.0": "filter:LSTM",
        "net.1": "filter:GRU",
    }
    assert {(e.source, e.target, e.kind) for e in fingerprint.edges} == {
        *(("model", part, "control") for part in ("model.0", "model.1", "model.head")),
        ("model.0", "model.1", "data"),
        ("model.1", "model.head", "data"),
        ("net", "net.0", "control"),
        ("net", "net.1", "control"),
    }


def test_of_several_marks_the_best_counts() -> None:
    nodes, _ = graph({"model": {"name": "small", "type": "net", "_target_": "a.ResNet"}})
    assert nodes == {"model": "filter:ResNet"}


def test_paths_that_read_alike_stay_two_components() -> None:
    nodes, _ = graph({"net.head": {"type": "A1"}, "net": {"head": {"type": "B1"}}})
    assert nodes == {"net.head": "filter:A1", "net.head#2": "filter:B1"}


def test_a_component_stands_where_its_name_does() -> None:
    listed = entries({"model": {"width": 3, "_target_": "a.ResNet"}})
    components, _ = architecture_of(listed, "")
    assert [component.entry for component in components] == [listed[2]]


def test_a_draft_compares_with_a_record_of_soma() -> None:
    record = ArchitectureFingerprint.of({"n0": "filter:ResNet"})
    _, same = architecture_of(entries({"model": {"_target_": "torchvision.models.ResNet"}}), "")
    _, other = architecture_of(entries({"model": {"_target_": "torchvision.models.VGG"}}), "")
    assert same is not None
    assert other is not None
    assert structural_similarity(same, record) == 1.0
    assert structural_similarity(other, record) == 0.4  # no edges on either side


VALUES = st.recursive(
    st.none() | st.integers(-2, 3) | st.sampled_from(["a", "b", "Net", "x.Y", "AS", "a -> b", "<a>", "loop:2"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["a", "b", "type", "name", "layers", "nodes", "edges", "inputs", "repeat", "branch", "_target_"]
            ),
            inner,
            max_size=4,
        )
        | st.builds(Tagged, st.sampled_from(["!new:a.B", "!ref", "nn.Linear", "!!set"]), inner)
    ),
    max_leaves=20,
)


@given(st.dictionaries(st.sampled_from(["model", "layers", "a", "nodes", "edges", "type"]), VALUES, max_size=4))
def test_any_tree_gives_a_graph_whose_edges_join_its_nodes(tree: dict[str, Any]) -> None:
    nodes, _ = graph(tree)
    _, fingerprint = architecture_of(entries(tree), "")
    for edge in fingerprint.edges if fingerprint else ():
        assert edge.source in nodes
        assert edge.target in nodes
        assert edge.source != edge.target
