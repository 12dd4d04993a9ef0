"""Is the process that started us still there?"""

from __future__ import annotations

import os
import sys

_SYNCHRONIZE = 0x00100000
_WAIT_TIMEOUT = 0x00000102


def is_alive(process_id: int) -> bool:
    """True if a process with this id runs; also where we are not allowed to know."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, process_id)
        if not handle:
            return bool(kernel.GetLastError() == 5)  # access denied
        try:
            return bool(kernel.WaitForSingleObject(handle, 0) == _WAIT_TIMEOUT)
        finally:
            kernel.CloseHandle(handle)
    try:
        os.kill(process_id, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True
