"""Which way is better, as a metric's name tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.metric_names import direction_by_name, is_bookkeeping_metric, names_a_result, segments_of


@pytest.mark.parametrize(
    ("name", "segments"),
    [
        ("val_loss", ("val", "loss")),
        ("eval/loss", ("eval", "loss")),
        ("test.acc", ("test", "acc")),
        ("valLoss", ("val", "loss")),
        ("topKAccuracy", ("top", "k", "accuracy")),
        ("mAP", ("map",)),
        ("val/mIoU", ("val", "miou")),
        ("F1", ("f1",)),
        ("recall@10", ("recall", "10")),
        ("正解率", ("正解率",)),
        ("—", ()),
    ],
)
def test_a_name_is_cut_into_whole_segments(name: str, segments: tuple[str, ...]) -> None:
    assert segments_of(name) == segments


@pytest.mark.parametrize(
    "name",
    [
        *(
            "loss",
            "val_loss",
            "eval/loss",
            "train_loss_epoch",
            "valLoss",
            "loss1",
            "perplexity",
            "val_bpb",
            "WER",
            "rmse",
        ),
        *("log_loss", "cross_entropy", "neg_log_likelihood", "brier_score", "error_rate", "top1_err", "latency_p95"),
        *("time_to_first_token", "ms_per_step", "false_positive_rate", "step_time", "bits_per_byte", "KL"),
    ],
)
def test_better_low(name: str) -> None:
    assert direction_by_name(name) == "min"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "accuracy",
            "test.acc",
            "top5_acc",
            "f1",
            "F1_macro",
            "roc_auc",
            "val/mAP",
            "ap50",
            "recall@10",
            "BLEU-4",
            "R2",
        ),
        *("tokens_per_sec", "tok/s", "throughput", "mfu", "score", "episode_return", "log_likelihood", "exact_match"),
        *("rmse_improvement", "val_bpb_gain", "uncertainty_nll_auc", "neg_mean_squared_error", "win_rate"),
    ],
)
def test_better_high(name: str) -> None:
    assert direction_by_name(name) == "max"


@pytest.mark.parametrize("name", ["lossless", "glossary", "mapping", "terrors", "gap", "x"])
def test_a_part_of_a_segment_says_nothing(name: str) -> None:
    assert direction_by_name(name) is None


@pytest.mark.parametrize(
    "name",
    [
        *("epoch", "global_step", "steps", "n_params", "num_parameters", "peak_memory_gb", "memory_gb", "vram", "seed"),
        *("train_runtime", "total_seconds", "wall_sec", "lr-AdamW", "grad_norm", "loss_scale"),
        *("val_bpb_std", "std_val_loss", "baseline_bpb", "eval_samples_per_second", "exit_code", "bytes_total", "—"),
    ],
)
def test_bookkeeping_has_no_direction(name: str) -> None:
    assert is_bookkeeping_metric(name)
    assert direction_by_name(name) is None


@pytest.mark.parametrize("name", ["loss_step", "val_loss_epoch", "tokens_per_second", "gap", "median_days"])
def test_a_result_is_no_bookkeeping(name: str) -> None:
    assert not is_bookkeeping_metric(name)


@pytest.mark.parametrize(
    ("name", "is_result"), [("val_bpb", True), ("loss", True), ("loss_weight", False), ("depth", False)]
)
def test_a_name_that_ends_in_a_result_is_one(name: str, is_result: bool) -> None:
    assert names_a_result(name) is is_result


@given(st.text(max_size=40))
def test_any_text_can_be_asked_about(name: str) -> None:
    assert direction_by_name(name) in ("min", "max", None)
    if is_bookkeeping_metric(name):
        assert direction_by_name(name) is None
