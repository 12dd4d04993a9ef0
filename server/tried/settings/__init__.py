"""What a user can set: one immutable `Settings`, merged from files, the editor and flags, never failing.

Precedence, the weakest first: defaults, the user's file, ``pyproject.toml`` [tool.tried], ``tried.toml``, editor
settings, flags.

Invariant: a mistake in settings is a `SettingsProblem` and a value from the next weaker place, never an exception.
Invariant: a file of the workspace cannot make tried read outside the workspace without the user's consent, nor talk to
a server; only the user's own settings can.
"""

from tried.settings.merge import LoadedSettings, load_settings
from tried.settings.model import RemoteSettings, Settings, Silence, SourceSettings
from tried.settings.sources import SettingsProblem, has_settings, settings_files, user_file

__all__ = [
    "LoadedSettings",
    "RemoteSettings",
    "Settings",
    "SettingsProblem",
    "Silence",
    "SourceSettings",
    "has_settings",
    "load_settings",
    "settings_files",
    "user_file",
]
