"""What a user can set: one immutable `Settings`, merged from files, the editor and flags, never failing.

Precedence, the weakest first: defaults, ``pyproject.toml`` [tool.tried], ``tried.toml``, editor settings, flags.

Invariant: a mistake in settings is a `SettingsProblem` and a value from the next weaker place, never an exception.
Invariant: a file of the workspace cannot make tried read outside the workspace; only the user's own settings can.
"""

from tried.settings.merge import LoadedSettings, load_settings
from tried.settings.model import Settings, Silence
from tried.settings.sources import SettingsProblem, has_settings, settings_files

__all__ = [
    "LoadedSettings",
    "Settings",
    "SettingsProblem",
    "Silence",
    "has_settings",
    "load_settings",
    "settings_files",
]
