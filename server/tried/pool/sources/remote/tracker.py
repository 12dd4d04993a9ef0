"""A tracker's server, as the user configured it, and which credentials may go to it.

Invariant: credentials come from the user's own settings or environment, go to one host only, and stand in no text: not
in a message, a log, a record, a file or a `repr`.
Invariant: a token never travels unencrypted, except to this machine itself.
"""

from __future__ import annotations

import base64
import ipaddress
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal
from urllib.parse import SplitResult, urlsplit

Kind = Literal["mlflow", "wandb"]

WANDB_ADDRESS: Final = "https://api.wandb.ai"
INTERVAL_SECONDS: Final = 60.0
SHORTEST_INTERVAL: Final = 5.0

_WELL_KNOWN: Final = frozenset(
    {"WANDB_API_KEY", "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"}
)


class RemoteRefused(ValueError):
    """What is wrong with a configured server and what to do, in words for the user; holds no credentials."""


class Secret:
    """Text that must not be shown."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret(…)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash((Secret, self._text))

    def __reduce__(self) -> str:
        raise TypeError("a secret is not written anywhere")


@dataclass(frozen=True, slots=True, repr=False)
class RemoteTracker:
    """`address` is that of the server (`https://mlflow.example.org/`; for W&B `https://api.wandb.ai` unless another is
    meant). `projects`: for MLflow names of experiments, none for all of them; for W&B `entity/project`, at least one.

    `token` is one that the user's own settings hold; `token_variable` names the environment variable that holds it. A
    token is a bearer token for MLflow (or `user:password`), an API key for W&B. With neither, the trackers' own
    variables are used, if the user set them for this very host.
    """

    kind: Kind
    address: str
    projects: tuple[str, ...] = ()
    token_variable: str | None = None
    token: Secret | None = None
    interval_seconds: float = INTERVAL_SECONDS

    def __repr__(self) -> str:
        return f"RemoteTracker({self.kind!r}, {shown_address(self.address)!r}, {list(self.projects)!r})"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go and with what. `base` has no trailing slash, no query and no user."""

    base: str
    authorization: Secret | None = field(default=None, repr=False)
    secrets: tuple[Secret, ...] = field(default=(), repr=False)

    @property
    def is_here(self) -> bool:
        """Whether the server runs on this machine."""
        return is_loopback(urlsplit(self.base).hostname or "")

    def without_secrets(self, text: str) -> str:
        """The text with every occurrence of the credentials blotted out: a server may echo them."""
        for secret in self.secrets:
            text = text.replace(secret.reveal(), "…")
        return text


def endpoint_of(tracker: RemoteTracker, environment: Mapping[str, str]) -> Endpoint:
    """Raises RemoteRefused where the address is none, or the credentials may not go there."""
    parts = _split(tracker.address)
    base = f"{parts.scheme}://{parts.netloc}{parts.path}".rstrip("/")
    if tracker.kind == "wandb":
        base = base.removesuffix("/graphql")
    authorization, secrets = _credentials(tracker, parts, environment)
    if authorization is not None and parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise RemoteRefused(
            f"{shown_address(tracker.address)} is not encrypted, so no token is sent there: use https, or a tunnel to"
            " this machine (http://localhost:…)"
        )
    return Endpoint(base, authorization, secrets)


def shown_address(address: str) -> str:
    """Scheme, host, port and path, without user, password, query."""
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "an address that cannot be read"
    host = f"[{host}]" if ":" in host else host
    shown = f"{parts.scheme}://{host}{port}{parts.path}" if host else "an address without a host"
    return re.sub(r"[^\x21-\x7e]", "?", shown)[:200]


def is_loopback(host: str) -> bool:
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(address: str) -> SplitResult:
    shown = shown_address(address)
    try:
        parts = urlsplit(address.strip())
        _ = parts.port
    except ValueError:
        raise RemoteRefused("the address of a remote tracker cannot be read; write https://HOST/") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or not re.fullmatch(r"[\x21-\x7e]+", parts.geturl()):
        raise RemoteRefused(f"{shown} is no address of a server; write https://HOST/")
    if parts.username is not None or parts.password is not None:
        raise RemoteRefused(f"{shown} has credentials in its address: name a variable with `token_variable` instead")
    return parts._replace(query="", fragment="")


def _credentials(
    tracker: RemoteTracker, parts: SplitResult, environment: Mapping[str, str]
) -> tuple[Secret | None, tuple[Secret, ...]]:
    if tracker.token is not None:
        return _authorization(tracker.kind, tracker.token.reveal())
    named = tracker.token_variable
    if named and named not in _WELL_KNOWN:
        if not environment.get(named, "").strip():
            raise RemoteRefused(
                f"{shown_address(tracker.address)}: the environment variable {named}, which is to hold its token, is"
                " not set"
            )
        return _authorization(tracker.kind, environment[named])
    token = _well_known_token(tracker.kind, environment)
    if token is None:
        if named:
            raise RemoteRefused(f"{shown_address(tracker.address)}: the environment variable {named} is not set")
        return None, ()
    bound_to = environment.get("WANDB_BASE_URL", "").strip() or WANDB_ADDRESS
    if tracker.kind == "mlflow":
        bound_to = environment.get("MLFLOW_TRACKING_URI", "").strip()
    if not _same_origin(bound_to, parts):
        if not named:
            return None, ()
        of = "WANDB_BASE_URL" if tracker.kind == "wandb" else "MLFLOW_TRACKING_URI"
        raise RemoteRefused(
            f"{shown_address(tracker.address)}: {named} belongs to the host of {of}, which is another one: put the"
            " token of this host into a variable of its own and name that with `token_variable`"
        )
    return _authorization(tracker.kind, token)


def _well_known_token(kind: Kind, environment: Mapping[str, str]) -> str | None:
    if kind == "wandb":
        return environment.get("WANDB_API_KEY", "").strip() or None
    if token := environment.get("MLFLOW_TRACKING_TOKEN", "").strip():
        return token
    user, password = (environment.get(f"MLFLOW_TRACKING_{name}", "") for name in ("USERNAME", "PASSWORD"))
    return f"{user}:{password}" if user and password else None


def _authorization(kind: Kind, token: str) -> tuple[Secret, tuple[Secret, ...]]:
    token = token.strip()
    if not token or not re.fullmatch(r"[\x20-\x7e]+", token):
        raise RemoteRefused(f"the token for {kind} is empty or holds characters that no token has")
    if kind == "mlflow" and ":" not in token:
        return Secret(f"Bearer {token}"), (Secret(token),)
    pair = f"api:{token}" if kind == "wandb" else token
    basic = base64.b64encode(pair.encode()).decode()
    password = pair.split(":", 1)[1]
    return Secret(f"Basic {basic}"), tuple(map(Secret, _longest_first([basic, token, password])))


def _longest_first(texts: Sequence[str]) -> list[str]:
    return sorted({text for text in texts if text}, key=lambda text: (-len(text), text))


def _same_origin(address: str, parts: SplitResult) -> bool:
    try:
        other = urlsplit(address)
        return bool(other.hostname) and _origin(other) == _origin(parts)
    except ValueError:
        return False


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    port = parts.port if parts.port is not None else {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").rstrip("."), port
