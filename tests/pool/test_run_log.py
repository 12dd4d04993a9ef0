"""How a job's log ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stopwatch import least_seconds
from tried.pool.sources.common.run_log import ENDING_LIMIT, ending_in, is_stopped_from_outside, tail_of

FRAMES = """Traceback (most recent call last):
  File "/home/x/train.py", line 12, in main
    fit(model)
"""
PROGRESS = "[2026-03-01 10:00:00,000][__main__][INFO] - epoch 1: loss 2.31\n"


def test_a_log_without_errors_ends_well() -> None:
    assert ending_in("") is None
    assert ending_in(PROGRESS * 3 + "Killed by early stopping? no: saved\nAll errors: 0\n") is None


def test_the_last_traceback_is_the_ending_with_its_exception() -> None:
    text = PROGRESS + "[2026-03-01 10:00:01,000][__main__][ERROR] - \n" + FRAMES + "ValueError: shapes differ\n"
    assert ending_in(text) == FRAMES + "ValueError: shapes differ"


def test_what_a_finally_and_trackers_say_afterwards_changes_nothing() -> None:
    text = (
        f"{PROGRESS}{FRAMES}ValueError: shapes differ\n"
        "[2026-03-01 10:00:02,000][__main__][INFO] - Output dir: outputs/epoch=3/x\n"
        "[2026-03-01 10:00:02,000][__main__][INFO] - Closing wandb!\n"
        "wandb: Run summary: loss 2.31\n"
        "[2026-03-01 10:00:02,000][__main__][ERROR] - failed in epoch 3\n"
        "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.\n"
    )
    assert ending_in(text) == FRAMES + "ValueError: shapes differ"


@pytest.mark.parametrize(
    "after",
    [
        "[2026-03-01 10:00:03,000][__main__][INFO] - epoch 2: loss 1.9\n",
        "step=400 lr=0.1\n",
        "val_loss: 0.31\n",
        "val/acc = 0.31\n",
        " 41%|####      | 41/100\n 43%|####      | 43/100\n",
        "[INFO] - Training finished.\n",
        "working on it\n" * 41,
    ],
)
def test_a_job_that_goes_on_did_not_end_with_what_it_caught(after: str) -> None:
    assert ending_in(PROGRESS + FRAMES + "OSError: sample 17 is broken\n" + after) is None


def test_a_bar_that_is_drawn_once_more_is_no_progress() -> None:
    text = f"\r 40%|##  |\r 41%|##  |\n{FRAMES}ValueError: no\n 41%|##   | 41/100\n"
    assert ending_in(text) == FRAMES + "ValueError: no"


def test_of_two_errors_the_one_after_the_last_progress_counts() -> None:
    text = f"{FRAMES}OSError: sample 17 is broken\n{PROGRESS}{FRAMES}ValueError: shapes differ\n"
    assert ending_in(text) == FRAMES + "ValueError: shapes differ"


def test_a_chain_of_causes_is_kept_whole() -> None:
    chain = (
        f"{FRAMES}KeyError: 'lr'\n\nDuring handling of the above exception, another exception occurred:\n\n"
        f"{FRAMES}hydra.errors.InstantiationException: no lr\nfull_key: optimizer\n"
    )
    assert ending_in(chain) == chain.removesuffix("full_key: optimizer\n").strip()


def test_indented_lines_go_on_with_a_message() -> None:
    text = f"{FRAMES}tensorflow.ResourceExhaustedError: OOM when allocating\n\t [[Node: conv]]\nbye\n"
    assert ending_in(text) == f"{FRAMES}tensorflow.ResourceExhaustedError: OOM when allocating\n\t [[Node: conv]]"


def test_an_exception_of_any_name_ends_a_traceback() -> None:
    assert ending_in(FRAMES + "mylib.Halt: enough\n") == FRAMES + "mylib.Halt: enough"
    assert ending_in(FRAMES + "Halt\n") == FRAMES + "Halt"


def test_exit_zero_is_no_bad_end() -> None:
    assert ending_in(FRAMES + "SystemExit: 0\n") is None
    assert ending_in(FRAMES + "SystemExit: 2\n") == FRAMES + "SystemExit: 2"


def test_an_error_whose_traceback_was_cut_off_is_seen() -> None:
    assert ending_in("line 3, in f\n    g()\nRuntimeError: it broke\n") == "RuntimeError: it broke"


def test_an_error_that_was_logged_without_a_traceback() -> None:
    line = "[2026-03-01 10:00:00,000][__main__][ERROR] - RuntimeError: CUDA out of memory. Tried to allocate 2 GiB"
    assert ending_in(PROGRESS + line + "\n") == line
    assert ending_in(PROGRESS + line.replace("ERROR", "INFO") + "\n") is None


@pytest.mark.parametrize(
    "line",
    [
        "Killed",
        "/var/spool/job: line 12:  4711 Killed                  python train.py",
        "Segmentation fault (core dumped)",
        "Fatal Python error: Segmentation fault",
        "slurmstepd: error: *** JOB 4711 ON node7 CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***",
        "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=4711.batch.",
        "CUDA out of memory. Tried to allocate 2.00 GiB",
        "terminate called after throwing an instance of 'c10::Error'",
        "KeyboardInterrupt",
        "Detected KeyboardInterrupt, attempting graceful shutdown ...",
        "[rank: 0] Received SIGTERM: 15",
    ],
)
def test_fatal_lines(line: str) -> None:
    assert ending_in(f"{PROGRESS}{line}\n") == line
    assert ending_in(f"{line}\n{PROGRESS}") is None


def test_a_time_limit_goes_before_the_tracebacks_that_came_of_it() -> None:
    limit = "slurmstepd: error: *** JOB 1 ON n CANCELLED AT 2026-03-01T10:00:00 DUE TO TIME LIMIT ***"
    assert ending_in(f"{PROGRESS}{limit}\n{FRAMES}RuntimeError: DataLoader worker exited\n") == limit
    assert ending_in(f"{FRAMES}ValueError: first\n{limit}\n") == FRAMES + "ValueError: first"


def test_memory_that_the_system_took_goes_before_all() -> None:
    killed = "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch."
    assert ending_in(f"{FRAMES}RuntimeError: DataLoader worker is killed by signal: Killed.\n{killed}\n") == killed


def test_the_first_of_several_processes_says_why() -> None:
    ranked = "".join(f"[rank0]: {line}\n" for line in (FRAMES + "ValueError: first").splitlines())
    text = f"{ranked}{FRAMES}torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n====\n"
    assert ending_in(text) == FRAMES + "ValueError: first"


@pytest.mark.parametrize("before", ["Exception ignored in: <function f at 0x7f>", "--- Logging error ---"])
def test_what_the_interpreter_ignored_is_no_end(before: str) -> None:
    assert ending_in(f"{PROGRESS}done\n{before}\n{FRAMES}BrokenPipeError: [Errno 32] Broken pipe\n") is None
    assert ending_in(f"{FRAMES}ValueError: no\n{before}\n{FRAMES}BrokenPipeError: x\n") == FRAMES + "ValueError: no"


@pytest.mark.parametrize(
    ("error", "is_stopped"),
    [
        ("Killed", True),
        ("[rank: 0] Received SIGTERM: 15", True),
        ("Detected KeyboardInterrupt, attempting graceful shutdown ...", True),
        ("slurmstepd: error: *** STEP 1.0 ON n CANCELLED AT 2026-03-01T10:00:00 DUE TO PREEMPTION ***", True),
        ("slurmstepd: error: Detected 1 oom-kill event(s) in StepId=1.batch. Killed", False),
        (FRAMES + "ValueError: Killed it", False),
        ("", False),
    ],
)
def test_what_a_person_or_a_scheduler_ended(error: str, is_stopped: bool) -> None:
    assert is_stopped_from_outside(error) is is_stopped


def test_a_framed_traceback_is_read() -> None:
    framed = "╭──── Traceback (most recent call last) ────╮\n│ train.py:3 in main │\n╰────╯\n"
    assert ending_in(f"\x1b[31m{framed}\x1b[0mRuntimeError: it broke\n") == f"{framed}RuntimeError: it broke"


def test_an_ending_is_short() -> None:
    ending = ending_in("Traceback (most recent call last):\n" + "  File x\n" * 5_000 + "ValueError: no\n")
    assert ending is not None
    assert len(ending) <= ENDING_LIMIT
    assert ending.endswith("ValueError: no")


@given(st.text(alphabet=st.sampled_from("Traceback (most recent call last):\n EroX.:[]0/%|\r\x1bKilled"), max_size=300))
def test_any_text_is_read_and_an_ending_stands_in_it(text: str) -> None:
    ending = ending_in(text)
    assert ending is None or ending.splitlines()[-1].strip() != ""


@pytest.mark.parametrize(
    "unit", ["A.A.", "Traceback (most recent call last)\n", "[2026-03-01 1]", "A: ", "loss", "1%|\n", "Error:\n"]
)
def test_hostile_texts_cost_little_time(unit: str) -> None:
    text = (unit * 70_000)[:65_000]
    assert least_seconds(lambda: ending_in(text), 1.0) < 1.0


def test_the_tail_of_a_file(tmp_path: Path) -> None:
    log = tmp_path / "job.log"
    log.write_bytes(b"first\nsecond \xff\nthird\n")
    assert tail_of(log) == "first\nsecond \ufffd\nthird\n"
    assert tail_of(log, 10) == "third\n"
    assert tail_of(tmp_path / "none.log") == ""
    assert tail_of(tmp_path) == ""
    assert tail_of(Path("nul\0byte")) == ""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "job.log")
    assert tail_of(tmp_path / "job.log") == ""
