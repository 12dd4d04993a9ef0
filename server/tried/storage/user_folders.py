"""Where this user's own settings and answers are kept, outside of every workspace. Makes nothing.

Relative paths in the environment are ignored, as the XDG specification demands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path


def state_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """For what a user has answered: `XDG_STATE_HOME`, or what the platform has for it; None without a home."""
    return _folder("XDG_STATE_HOME", ".local/state", environment, platform)


def settings_folder(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path | None:
    """For the user's own settings: `XDG_CONFIG_HOME`, or what the platform has for it; None without a home."""
    return _folder("XDG_CONFIG_HOME", ".config", environment, platform)


def _folder(variable: str, below_home: str, environment: Mapping[str, str], platform: str) -> Path | None:
    named = environment.get(variable, "")
    if named and Path(named).is_absolute():
        return Path(named) / "tried"
    if platform == "win32":
        roaming = environment.get("APPDATA" if variable == "XDG_CONFIG_HOME" else "LOCALAPPDATA", "")
        return Path(roaming) / "tried" if roaming else None
    home = environment.get("HOME", "")
    if not home or not Path(home).is_absolute():
        return None
    return Path(home) / ("Library/Application Support" if platform == "darwin" else below_home) / "tried"
