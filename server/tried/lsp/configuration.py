"""The user's settings as the editor keeps them: `initializationOptions`, then section `tried` of its configuration.

What a later place says wins over an earlier one, key by key; files of the workspace are merged in tried.settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lsprotocol import types as t

from tried.lsp.session import Session

SECTION = "tried"
REGISTRATION = "tried/configuration"


def from_initialize(session: Session, options: object) -> None:
    """`initializationOptions` hold the settings, as they are or under `tried`."""
    session.initial_settings = session.common_settings = _section(options)


async def register(session: Session) -> None:
    """Asks to be told of changes, where the client wants to be asked."""
    if session.client.features.registers_configuration:
        options = t.DidChangeConfigurationRegistrationOptions(section=SECTION)
        await session.client.register(REGISTRATION, t.WORKSPACE_DID_CHANGE_CONFIGURATION, options)


async def fetch(session: Session) -> None:
    """Gives each folder its settings; the documents of those whose settings are other ones are analysed anew. For which
    the client has no answer, the initial ones count."""
    scopes = [folder.uri for folder in session.folders] or [None]
    if session.client.features.configuration:
        answers = await session.client.configuration(scopes, SECTION)
        told = [answer if isinstance(answer, Mapping) else {} for answer in answers[: len(scopes)]]
        told += [{}] * (len(scopes) - len(told))
    else:
        told = [session.pushed_settings] * len(scopes)
    session.use_editor_settings([_merged(session.initial_settings, own) for own in told])


def did_change_configuration(session: Session, params: t.DidChangeConfigurationParams) -> None:
    """The client may send the settings along, or only say that they have changed."""
    if isinstance(params.settings, Mapping):
        session.pushed_settings = _section(params.settings)
    session.spawn(fetch(session))


def _section(options: object) -> Mapping[str, Any]:
    if not isinstance(options, Mapping):
        return {}
    inner = options.get(SECTION)
    return inner if isinstance(inner, Mapping) else options


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> Mapping[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        if value is None:
            continue
        old = merged.get(key)
        merged[key] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
