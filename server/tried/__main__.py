"""The command `tried`, also as `python -m tried`."""

from __future__ import annotations

import sys


def main() -> None:
    """Runs the command line and ends the process with its exit status."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Answered before the command line is loaded: editors ask at every start.
        from tried import __version__

        sys.stdout.write(f"tried {__version__}\n")
        return
    from tried.cli import run

    sys.exit(run())


if __name__ == "__main__":
    main()
