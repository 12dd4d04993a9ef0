"""What one-line descriptions say was changed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.sources.tables.described_changes import changes_in, is_baseline

Changes = list[tuple[str | None, object, object]]


def stated(description: str, metrics: tuple[str, ...] = ()) -> Changes:
    return [(c.key, c.from_, c.to) for c in changes_in(description, metrics) if c.change == "ParamChanged"]


@pytest.mark.parametrize(
    ("description", "changes"),
    [
        ("increase EMBED_LR to 0.8", [("EMBED_LR", None, "0.8")]),
        ("reduce WEIGHT_DECAY to 0.1 (too low)", [("WEIGHT_DECAY", None, "0.1")]),
        ("set optimizer to lion", [("optimizer", None, "lion")]),
        ("set use_bias to false", [("use_bias", None, "false")]),
        ("HIDDEN 64->96", [("HIDDEN", "64", "96")]),
        ("HIDDEN 64→96: loss up, slower", [("HIDDEN", "64", "96")]),
        ("embedding LR 0.6 to 0.8", [("embedding LR", "0.6", "0.8")]),
        ("warmup steps from 300 to 200", [("warmup steps", "300", "200")]),
        ("momentum warmup 300 to 200 steps", [("momentum warmup", "300", "200")]),
        ("lower learning rate 0.05 -> 0.02, n=600", [("learning rate", "0.05", "0.02"), ("n", None, "600")]),
        ("batch 2^16->2^15, device_batch 16->8 — better", [("batch", "2^16", "2^15"), ("device_batch", "16", "8")]),
        ("eps 1e-10->1e-8", [("eps", "1e-10", "1e-8")]),
        ("window SSSL->SSLL", [("window", "SSSL", "SSLL")]),
        ("act relu -> gelu", [("act", "relu", "gelu")]),
        ("max_depth=8 min_child=3", [("max_depth", None, "8"), ("min_child", None, "3")]),
        ("[Phase 1] LR=8e-4 too aggressive", [("LR", None, "8e-4")]),
        ("LR=5e-4 with ACCUM=10", [("LR", None, "5e-4")]),
        ("gpu0: decay=0.05 on x_lambda=0.1 base", [("decay", None, "0.05")]),
        ("surge rate 0.10 (was 0.15)", [("surge rate", "0.15", "0.10")]),
        ("threshold=1 (was 0)", [("threshold", "0", "1")]),
        ("matrix_lr 0.03 — stable", [("matrix_lr", None, "0.03")]),
        ("label smoothing 0.1", [("label smoothing", None, "0.1")]),
        ("add warmup (WARMUP_RATIO=0.05)", [("WARMUP_RATIO", None, "0.05")]),
        ("constant decay + COOL_RATIO 0.4→0.3", [("COOL_RATIO", "0.4", "0.3")]),
        ("x_init 0.05 + softcap 30", [("x_init", None, "0.05"), ("softcap", None, "30")]),
        ("DEPTH 12→14 (768→896 dim, hypothesis: LR 1→2)", [("DEPTH", "12", "14")]),
        ("batch size 2**17 -> 2**18", [("batch size", "2**17", "2**18")]),
        ("ADAM_BETAS (0.8,0.95) -> (0.9,0.95)", [("ADAM_BETAS", "(0.8,0.95)", "(0.9,0.95)")]),
        ("betas (0.8, 0.95)→[0.9, 0.95]: better, wd 0.1→0.2", [("betas", "(0.8, 0.95)", "[0.9, 0.95]")]),
        ("betas from (0.8, 0.95) to (0.9, 0.95) (worse)", [("betas", "(0.8, 0.95)", "(0.9, 0.95)")]),
        ("set betas to (0.9, 0.99), eps 1e-8", [("betas", None, "(0.9, 0.99)"), ("eps", None, "1e-8")]),
        ("betas=(0.9, 0.99) lr=0.1", [("betas", None, "(0.9, 0.99)"), ("lr", None, "0.1")]),
        ("tune Adam (ADAM_BETAS=(0.9, 0.95))", [("ADAM_BETAS", None, "(0.9, 0.95)")]),
        ("WIDTH 64→72 (N_EMBD 768→896, 252M params)", [("WIDTH", "64", "72"), ("N_EMBD", "768", "896")]),
    ],
)
def test_statements_that_are_understood(description: str, changes: Changes) -> None:
    assert stated(description) == changes


@pytest.mark.parametrize(
    "description",
    [
        *(
            "",
            "baseline DEPTH=12",
            "[A] baseline: LR=2",
            "gelu->silu",
            "remove the cap",
            "10 layers",
            "crash threshold -20%",
        ),
        *(
            "Ridge alpha=10 log target",
            "GBR depth 3",
            "score 0.5 to 0.6 and better",
            "improved 1.2->1.1",
            "Q1: log(area)",
        ),
        *("predict cost->price from features", "all LRs -30%", "permute rows (base_rate=0.9)", "the lr 0.1 to 0.2"),
        *(
            "monotone: density -> strength (+1)",
            "Bottleneck: none (COOL_RATIO=0.0). More text",
            "phase 2",
            "reduce scale by 0.8x",
        ),
        *("hash(4096, 64) -> hash(2048, 64)", "betas (0.9, 0.95)", "95CI=[0.1,0.2]", "loss_ci [1,2] -> [2,3]"),
        *("ratios (0.1) -> (0.2)", "loops [3, 4] in the middle", "loss (0.1, 0.2) -> (0.3, 0.4)"),
    ],
)
def test_what_is_not_certain_is_left_alone(description: str) -> None:
    assert stated(description) == []


def test_results_are_no_parameters() -> None:
    assert stated("val_bpb 1.2->1.1") == []
    assert stated("loss 0.5 to 0.4") == []
    assert stated("gap 0.5->0.4", ("gap",)) == []
    assert stated("gap 0.5->0.4") == [("gap", "0.5", "0.4")]
    assert stated("aux loss_weight 0.1->0.2") == [("aux loss_weight", "0.1", "0.2")]
    assert stated("set precision to bf16") == [("precision", None, "bf16")]


def test_what_is_not_understood_keeps_its_words() -> None:
    (lists,) = changes_in("we (a=[1, 2]) may go from (1, 2) to (3, 4) some day")
    assert (lists.change, lists.reason) == ("Unspecified", "we (a=[1, 2]) may go from (1, 2) to (3, 4) some day")
    (whole,) = changes_in("swap the attention for a convolution")
    assert (whole.change, whole.reason) == ("Unspecified", "swap the attention for a convolution")
    changed, rest = changes_in("LR 0.1->0.2 + new loss weighting")
    assert (changed.key, rest.change, rest.reason) == ("LR", "Unspecified", "new loss weighting")


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("baseline", True),
        ("[A] baseline run", True),
        ("concurrent baseline", True),
        ("warmdown 0.3 beats baseline", False),
    ],
)
def test_a_baseline_says_so_at_its_start(description: str, expected: bool) -> None:
    assert is_baseline(description) is expected


PIECES = [
    "LR=0.1",
    "(1, 2)",
    "k=[1,2]",
    "0.2",
    "->",
    "→",
    "to",
    "from",
    "increase",
    ",",
    "+",
    "(",
    ")",
    "[",
    "]",
    "⟨was",
    "=",
    "\0",
]


@given(st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join))
def test_any_text_can_be_read(description: str) -> None:
    for change in changes_in(description):
        assert change.change in ("ParamChanged", "Unspecified")
        if change.change == "ParamChanged":
            assert change.key
            assert change.to
            assert str(change.to) in description


@pytest.mark.parametrize(
    "piece",
    [
        "LR 0.1->0.2 + ",
        "a=b ",
        "((((",
        "x -> ",
        "key " * 4 + "0.1 ",
        "[a] ",
        "gpu0: ",
        "aaaa_",
        "1e",
        "(1,2) -> ",
        "(1, ",
        "k=[1",
    ],
)
def test_long_descriptions_take_no_time(piece: str) -> None:
    assert len(changes_in(piece * 100_000)) < 1_000
