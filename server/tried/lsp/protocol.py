"""JSON-RPC as the specification says: every request is answered, and no message can stop the server.

pygls finds the handler and runs it; what goes into it and what comes out of it is ours. See docs/language-server.md for
what of pygls is replaced and why.

Invariant: a request gets exactly one answer, whatever is wrong with it; a notification or a response never does.
Invariant: an error that the client sees is a code and one line; tracebacks go to the log.
"""

from __future__ import annotations

import contextvars
import json
import logging
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

import cattrs
from lsprotocol import converters
from lsprotocol import types as t
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcParseError,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method

from tried.lsp import own_params
from tried.lsp.transport import MAX_MESSAGE_BYTES, PEEK, Frame, Oversized
from tried.lsp.written import Written
from tried.pool.record import finite
from tried.render.escape import without_links

if TYPE_CHECKING:
    from pygls.lsp.server import LanguageServer

    from tried.lsp.transport import Writer

log = logging.getLogger("tried.lsp")

MAX_REASONS = 3
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"(?:[^"\\]|\\.){1,200}")'
_ID_AT_START = re.compile(rb'\A\s*\{(?:\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,)*\s*' + _ID)
_ID_AT_END = re.compile(_ID + rb'(?:\s*,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*")*\s*\}\s*\Z')

NOT_OURS = (
    t.TEXT_DOCUMENT_DID_OPEN,
    t.TEXT_DOCUMENT_DID_CHANGE,
    t.TEXT_DOCUMENT_DID_CLOSE,
    t.NOTEBOOK_DOCUMENT_DID_OPEN,
    t.NOTEBOOK_DOCUMENT_DID_CHANGE,
    t.NOTEBOOK_DOCUMENT_DID_CLOSE,
    t.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS,
    t.WINDOW_WORK_DONE_PROGRESS_CANCEL,
)
"""Methods that pygls handles itself; documents and folders are kept in session.py instead."""


class TriedProtocol(LanguageServerProtocol):
    """Messages in, messages out. Used on the event loop's thread only."""

    def __init__(self, server: LanguageServer, converter: cattrs.Converter) -> None:
        super().__init__(server, converter)
        for method in NOT_OURS:
            self.fm.builtin_features.pop(method)
        self.on_exit: Callable[[int], None] = lambda status: None
        self._initialized = False
        self._custom: dict[str, type[Any]] = {}

    def register_custom(self, method: str, params: type[Any]) -> None:
        """Declares the attrs class of the params of a method that is not in the specification."""
        self._custom[method] = params
        own_params.register(self._converter, params)

    # in

    def receive(self, frame: Frame) -> None:
        """Handles one message. Never raises."""
        if isinstance(frame, Oversized):
            self._refuse_oversized(frame)
            return
        try:
            data = json.loads(frame)
        except RecursionError:
            self._fail(_id_found_in(frame, frame), JsonRpcParseError("not a JSON message: nested too deeply"))
            return
        except ValueError as error:
            # What is broken need not end where its last brace says, so only its beginning tells whose id it is.
            self._fail(_id_found_in(frame), JsonRpcParseError(f"not a JSON message: {type(error).__name__}: {error}"))
            return
        if isinstance(data, list) and data:
            for message in data:
                self._receive_message(message)
        else:
            self._receive_message(data)

    def _receive_message(self, message: Any) -> None:
        try:
            if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
                sender = _request_id(message) if isinstance(message, dict) else None
                self._fail(sender, JsonRpcInvalidRequest('not a JSON-RPC 2.0 message: it must hold "jsonrpc": "2.0"'))
            elif "method" not in message:
                self._receive_response(message)
            elif "id" in message:
                self._receive_request(message)
            else:
                self._receive_notification(message)
        except Exception:
            log.exception("a message could not be handled")

    def _receive_request(self, message: dict[str, Any]) -> None:
        identifier = _request_id(message)
        method = message["method"]
        if identifier is None or not isinstance(method, str):
            wrong = "its id must be a string or a whole number" if identifier is None else "its method must be a string"
            self._fail(identifier, JsonRpcInvalidRequest(f"not a request: {wrong}"))
            return
        try:
            self._check_phase(method)
            self._get_handler(method)
            params = self._structured_params(message)
        except JsonRpcException as error:
            self._fail(identifier, error)
        except RecursionError:
            self._fail(identifier, JsonRpcInvalidParams(f"invalid params for {method}: nested too deeply"))
        else:
            contextvars.copy_context().run(self._handle_request, identifier, method, params)
            if method == t.INITIALIZE:
                self._initialized = True

    def _check_phase(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("the server is shut down; only exit is left")
        if not self._initialized and method != t.INITIALIZE:
            raise JsonRpcServerNotInitialized("the first request must be initialize")
        if self._initialized and method == t.INITIALIZE:
            raise JsonRpcInvalidRequest("the server is initialized already")

    def _receive_notification(self, message: dict[str, Any]) -> None:
        method = message["method"]
        if not isinstance(method, str):
            log.warning("ignored: a notification whose method is no string")
            return
        if method != t.EXIT and (self._shutdown or not self._initialized):
            log.debug("ignored before initialize or after shutdown: %s", method)
            return
        if method != t.CANCEL_REQUEST and method not in self.fm.builtin_features and method not in self.fm.features:
            return
        try:
            params = self._structured_params(message)
        except JsonRpcException as error:
            log.warning("ignored: %s", error.message)
            return
        except RecursionError:
            log.warning("ignored: invalid params for %s: nested too deeply", method)
            return
        contextvars.copy_context().run(self._handle_notification, method, params)

    def _receive_response(self, message: dict[str, Any]) -> None:
        identifier = message.get("id")
        future = self._request_futures.pop(identifier, None) if isinstance(identifier, int | str) else None
        kind = self._result_types.pop(identifier, None) if isinstance(identifier, int | str) else None
        if future is None or future.done():
            log.debug("a response to no request of ours: %r", identifier)
        elif (error := message.get("error")) is not None:
            code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, error)
            future.set_exception(JsonRpcException(str(text), code if isinstance(code, int) else None))
        else:
            try:
                result = message.get("result")
                future.set_result(self._converter.structure(message, kind).result if kind and result else result)
            except Exception as broken:
                future.set_exception(JsonRpcInvalidParams(f"unreadable response: {_reasons(broken)}"))

    def _structured_params(self, message: dict[str, Any]) -> Any:
        method = message["method"]
        kind = self.get_message_type(method)
        params = message.get("params")
        try:
            if kind is not None:
                structured = self._converter.structure({"params": None, **message}, kind).params
                if method == t.CANCEL_REQUEST and not isinstance(structured.id, int | str):
                    raise TypeError("id must be a string or a whole number")
                return structured
            if method in self._custom:
                return self._converter.structure({} if params is None else params, self._custom[method])
        except RecursionError:
            raise
        except Exception as error:
            is_table = params is None or isinstance(params, dict)
            why = _reasons(error) if is_table else f"they must be an object, not {own_params.json_kind(params)}"
            raise JsonRpcInvalidParams(f"invalid params for {method}: {why}") from error
        return params

    def _refuse_oversized(self, message: Oversized) -> None:
        limit = f"a message of {message.length:,} bytes was skipped: the limit is {MAX_MESSAGE_BYTES >> 20} MB"
        log.warning("%s", limit)
        identifier = _id_found_in(message.head, message.tail)
        if identifier is not None:
            self._fail(identifier, JsonRpcInvalidRequest(limit))

    # out

    def _send_handler_result(self, future: Future[Any], *, msg_id: str | int) -> None:
        self._request_futures.pop(msg_id, None)
        if future.cancelled():
            self._fail(msg_id, JsonRpcRequestCancelled("cancelled"))
        elif (error := future.exception()) is None:
            self._send_response(msg_id, result=future.result())
        elif isinstance(error, JsonRpcException):
            self._fail(msg_id, error)
        else:
            log.error("a request failed", exc_info=error)
            self._fail(msg_id, JsonRpcInternalError(f"internal error, {type(error).__name__}: {error}; see the log"))

    def _send_response(self, msg_id: str | int, result: Any | None = None, error: Any | None = None) -> None:
        if not isinstance(result, Written) or error is not None:
            super()._send_response(msg_id, result, error)
            return
        self._result_types.pop(msg_id, None)
        self._write(f'{{"jsonrpc": "2.0", "id": {json.dumps(msg_id)}, "result": {result.text}}}')

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.error("a notification failed", exc_info=error)

    def _fail(self, identifier: str | int | None, error: JsonRpcException) -> None:
        """Answers with an error; without an id where the request's is unknown, as JSON-RPC says."""
        shown = without_links(" ".join(error.message.split())[:500])
        log.info("answered with an error: %s", shown)
        body = {"jsonrpc": "2.0", "id": identifier, "error": {"code": error.code, "message": shown}}
        self._write(json.dumps(body))

    def _send_data(self, data: Any) -> None:
        try:
            self._write(json.dumps(data, default=self._serialize_message, allow_nan=False))
        except ValueError:  # a number that JSON does not have
            plain = finite(self._converter.unstructure(data))
            self._write(json.dumps(plain, default=self._serialize_message, allow_nan=False))
        except Exception as error:
            log.exception("a message could not be sent")
            if getattr(data, "id", None) is not None and hasattr(data, "result"):
                self._fail(data.id, JsonRpcInternalError(f"internal error, {type(error).__name__}; see the log"))

    def _write(self, body: str) -> None:
        if self.writer is not None:
            self.writer.write(f"Content-Length: {len(body)}\r\n\r\n{body}".encode("ascii"))

    def use_writer(self, writer: Writer) -> None:
        self.writer = writer

    def forget(self, identifier: str) -> None:
        """Drops a request of ours that nobody waits for any more."""
        self._request_futures.pop(identifier, None)
        self._result_types.pop(identifier, None)

    # the end

    @property
    def is_shut_down(self) -> bool:
        return self._shutdown

    @lsp_method(t.SHUTDOWN)
    def lsp_shutdown(self, *_: Any) -> None:  # type: ignore[override]
        self._shutdown = True
        for future in list(self._request_futures.values()):  # a copy: cancelling removes them
            future.cancel()

    @lsp_method(t.EXIT)
    def lsp_exit(self, *_: Any) -> None:  # type: ignore[override]
        self.on_exit(0 if self._shutdown else 1)


def converter() -> cattrs.Converter:
    return converters.get_converter()


def _request_id(message: dict[str, Any]) -> str | int | None:
    identifier = message.get("id")
    return identifier if isinstance(identifier, str | int) and not isinstance(identifier, bool) else None


def _id_found_in(head: bytes, tail: bytes = b"") -> str | int | None:
    """The id of a request that cannot be parsed, by how it begins and ends; None where it is not sure to be one."""
    head, tail = head[:PEEK], tail[-PEEK:]
    if b'"method"' not in head and b'"method"' not in tail:
        return None
    found = _ID_AT_START.search(head) or _ID_AT_END.search(tail)
    try:
        identifier: str | int | None = json.loads(found[1]) if found else None
    except ValueError:  # text that is no UTF-8, or no number
        return None
    return identifier


def _reasons(error: BaseException) -> str:
    """The first few mistakes that cattrs found, in one line."""
    return "; ".join(reason for _, reason in zip(range(MAX_REASONS), _leaves(error), strict=False))


def _leaves(error: BaseException) -> Iterator[str]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif isinstance(error, KeyError):
        yield f"{error} is missing"
    else:
        # of cattrs' notes the name of what is wrong; that of our class is nothing to the client
        place = next((note.name for note in getattr(error, "__notes__", ()) if hasattr(note, "name")), "")
        yield f"{error} ({place})" if place else str(error)
