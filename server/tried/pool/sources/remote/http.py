"""JSON over HTTP to one server, for trackers that are servers: bounded in time and size, and suspicious of what comes.

Invariant: a request goes to the configured host and no other: redirects are not followed.
Invariant: what is raised names the server and the reason and holds no credentials, whatever the server answered.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import socket
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tried.pool.sources.remote.tracker import Endpoint, shown_address

TIMEOUT_SECONDS: Final = 20.0
"""For each step: to connect, and to receive the next bytes."""

ANSWER_SECONDS: Final = 90.0
"""For an answer as a whole."""

SIZE_LIMIT: Final = 64 * 1024 * 1024
"""Bytes of one answer."""

TRIES: Final = 3
LONGEST_PAUSE: Final = 30.0
"""Seconds that a server may ask to wait between tries; one that asks for more is asked again later."""

_BLOCK: Final = 64 * 1024
_ERROR_LIMIT: Final = 64 * 1024
_SAID_LIMIT: Final = 200


class RemoteFailure(Exception):
    """Why a server gave no answer, in words for the user. `passes`: it may be another matter the next time."""

    def __init__(self, reason: str, *, passes: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.passes = passes


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


@dataclass(frozen=True)
class RemoteClient:
    """`pause` waits so many seconds between tries."""

    endpoint: Endpoint
    timeout: float = TIMEOUT_SECONDS
    answer_seconds: float = ANSWER_SECONDS
    size_limit: int = SIZE_LIMIT
    tries: int = TRIES
    pause: Callable[[float], object] = time.sleep
    _opener: urllib.request.OpenerDirector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        handlers: list[Any] = [_NoRedirects(), urllib.request.HTTPSHandler(context=ssl.create_default_context())]
        if self.endpoint.is_here:
            handlers.append(urllib.request.ProxyHandler({}))  # no proxy sees what is for this machine
        object.__setattr__(self, "_opener", urllib.request.build_opener(*handlers))

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON that the server answers to this JSON. Raises RemoteFailure."""
        for number in range(1, self.tries + 1):
            try:
                return self._post(path, body)
            except _TryAgain as again:
                seconds = again.seconds if again.seconds is not None else 2.0 ** (number - 1)
                if number == self.tries or seconds > LONGEST_PAUSE:
                    raise RemoteFailure(again.reason, passes=True) from None
                self.pause(max(0.0, seconds))
        raise AssertionError("unreachable")

    def _post(self, path: str, body: Mapping[str, Any]) -> Any:
        request = urllib.request.Request(
            self.endpoint.base + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "tried"},
            method="POST",
        )
        if self.endpoint.authorization is not None:
            # Unredirected headers are not handed on, should a redirect ever be followed.
            request.add_unredirected_header("Authorization", self.endpoint.authorization.reveal())
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                return self._json(response)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (RemoteFailure, _TryAgain):
            raise
        except (TimeoutError, urllib.error.URLError, http.client.HTTPException, OSError) as error:
            raise self._broken(error) from None
        except ValueError as error:  # an address that urllib does not take
            raise self._failure(f"cannot be asked: {type(error).__name__}") from None

    def _json(self, response: http.client.HTTPResponse) -> Any:
        data = self._body(response, self.size_limit)
        try:
            return json.loads(data)
        except RecursionError:
            raise self._failure("answered with JSON that is nested too deep") from None
        except ValueError:
            pass
        start = data[:512].lstrip()
        if start[:1] == b"<":
            raise self._failure("answered with a web page (HTML): is this the address of the server itself?") from None
        expected = response.headers.get("Content-Length", "")
        if start[:1] in (b"{", b"[") or (expected.isdigit() and int(expected) != len(data)):
            raise _TryAgain("sent only a part of its answer") from None
        raise self._failure("answered with something that is no JSON") from None

    def _body(self, response: http.client.HTTPResponse | urllib.error.HTTPError, size_limit: int) -> bytes:
        until = time.monotonic() + self.answer_seconds
        parts: list[bytes] = []
        length = 0
        while part := response.read1(_BLOCK):
            length += len(part)
            if length > size_limit:
                raise self._failure(f"answered with more than {size_limit // 1024:,} KiB")
            if time.monotonic() > until:
                raise _TryAgain(f"was still answering after {self.answer_seconds:g} s")
            parts.append(part)
        return b"".join(parts)

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        code = error.code
        said = self._said(error)
        if code in (301, 302, 303, 307, 308):
            where = shown_address(error.headers.get("Location", "") or "")
            return self._failure(
                f"redirects to {self.endpoint.without_secrets(where)}, which is not followed: if that"
                " is the server, configure its address"
            )
        if code == 401:
            missing = self.endpoint.authorization is None
            return self._failure(
                "wants credentials (401), and none are configured for this host"
                if missing
                else "does not accept the credentials (401)"
            )
        if code == 403:
            return self._failure(f"does not allow this (403){said}")
        if code == 404:
            return self._failure(f"does not have this (404){said}: is the address right?")
        if code == 429 or code >= 500:
            what = "is asked too often (429)" if code == 429 else f"has an error of its own ({code}){said}"
            return _TryAgain(what, _retry_after(error.headers.get("Retry-After")))
        return self._failure(f"refused ({code}){said}")

    def _said(self, error: urllib.error.HTTPError) -> str:
        """What the server's JSON says of an error, as ': …'; nothing if it is no JSON."""
        try:
            found = json.loads(self._body(error, _ERROR_LIMIT))
        except (ValueError, OSError, RecursionError, http.client.HTTPException, RemoteFailure, _TryAgain):
            return ""
        text = found.get("message") if isinstance(found, dict) else None
        return f": {self.shown(text)}" if isinstance(text, str) and text.strip() else ""

    def shown(self, text: str) -> str:
        """A server's words, short, on one line and without credentials."""
        words = " ".join(self.endpoint.without_secrets(text).split())
        words = "".join(character if character.isprintable() else "?" for character in words)
        return words if len(words) <= _SAID_LIMIT else f"{words[:_SAID_LIMIT]}…"

    def _broken(self, error: Exception) -> Exception:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, TimeoutError):
            return _TryAgain(f"did not answer within {self.timeout:g} s")
        if isinstance(cause, ssl.SSLCertVerificationError):
            return self._failure(f"has a certificate that cannot be verified: {self.shown(cause.verify_message)}")
        if isinstance(cause, ssl.SSLError):
            return self._failure("cannot be spoken to in TLS")
        if isinstance(cause, socket.gaierror):
            return _TryAgain("is not known by this name")
        if isinstance(cause, ConnectionRefusedError):
            return _TryAgain("does not take connections: is it running?")
        if isinstance(cause, http.client.IncompleteRead):
            return _TryAgain("sent only a part of its answer")
        if isinstance(cause, http.client.HTTPException):
            return _TryAgain("did not answer in HTTP")
        return _TryAgain(f"cannot be reached: {type(cause).__name__}")

    def _failure(self, what: str) -> RemoteFailure:
        return RemoteFailure(what)


class _TryAgain(Exception):
    """As it may be another matter in `seconds`."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


def _retry_after(text: str | None) -> float | None:
    """Seconds that a server asks to wait, said in seconds or as a date."""
    if not text:
        return None
    try:
        if text.strip().isdigit():
            return float(text) if len(text) < 10 else None
        return email.utils.parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
