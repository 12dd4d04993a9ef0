"""The table of words that tell why a run ended badly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.causes import CAUSES, CauseWords, cause_in


@pytest.mark.parametrize("row", CAUSES, ids=lambda row: row.cause)
def test_every_example_of_the_table_is_understood(row: CauseWords) -> None:
    for example in row.example.split("; "):
        assert cause_in(example.replace("…", "x"), broken=True) == row.cause


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("RESOURCE_EXHAUSTED: Out of memory allocating 12 GiB", "out_of_memory"),
        ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "out_of_memory"),
        ("bs 5 exceeds v6e-8 HBM by 4.3 GiB", "out_of_memory"),
        ("process was OOM-killed", "out_of_memory"),
        ("Went to NaN at step 300", "diverged"),
        ("nanoGPT baseline", None),
        ("converged nicely", None),
        ("no OOM and no NaNs, yet nothing gained", None),
        ("without diverging it reached 0.3", None),
        ("room for improvement", None),
        ("KeyboardInterrupt", "stopped"),
        ("stopped early stopping? no", None),
        ("TypeError: unsupported operand", "code_error"),
        ("NCCL timeout in all_reduce", "infrastructure"),
        ("OSError: [Errno 28] No space left on device", "infrastructure"),
        ("returncode -9", "stopped"),
        ("worse than the parent", "worse"),
        ("", None),
    ],
)
def test_words_of_a_broken_run(text: str, cause: str | None) -> None:
    assert cause_in(text, broken=True) == cause


@pytest.mark.parametrize("text", ["fixed a TypeError", "killed two birds", "slurm queue was long"])
def test_of_a_run_that_was_not_broken_only_results_are_believed(text: str) -> None:
    assert cause_in(text, broken=False) is None
    assert cause_in("diverged", broken=False) == "diverged"
    assert cause_in("diverged", broken=False, in_passing=True) is None
    assert cause_in("worse", broken=False, in_passing=True) == "worse"


def test_a_long_text_is_read_at_both_ends() -> None:
    assert cause_in("x " * 50_000 + "\nMemoryError", broken=True) == "out_of_memory"
    assert cause_in("diverged " + "x " * 50_000, broken=True) == "diverged"


@given(st.text(max_size=200), st.booleans())
def test_any_text_can_be_asked_about(text: str, broken: bool) -> None:
    assert cause_in(text, broken=broken) in {None, *(row.cause for row in CAUSES)}
