"""How long work takes at its quickest: what tests hold against a limit, so that a busy machine fails none of them."""

import gc
import time
from collections.abc import Callable

ATTEMPTS = 8


def least_seconds(
    work: Callable[[], object], limit: float = 0.0, clock: Callable[[], float] = time.process_time
) -> float:
    """The seconds that `work` takes at its quickest, of `ATTEMPTS` at most; one within the `limit` is enough.

    Without the garbage collector, whose passes take as long as the tests before left objects. The `clock` is the
    processor time of this process, unless the work is done by another process or is a wait.
    """
    least = float("inf")
    collecting = gc.isenabled()
    for _ in range(ATTEMPTS):
        gc.disable()
        try:
            started = clock()
            work()
            least = min(least, clock() - started)
        finally:
            if collecting:
                gc.enable()
        if least < limit:
            break
    return least
