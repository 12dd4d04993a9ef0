"""Every request is answered, and nothing that a client sends stops the server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from raw_client import NEOVIM_LIKE, RawClient, RequestFailed

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, NOT_INITIALIZED = -32700, -32600, -32601, -32602, -32002


@pytest.fixture(scope="module")
def client() -> Iterator[RawClient]:
    client = RawClient()
    client.initialize(NEOVIM_LIKE)
    yield client
    assert client.finish() == 0
    assert "Traceback" not in client.stderr


@pytest.fixture(autouse=True)
def nothing_is_left(client: RawClient) -> Iterator[None]:
    yield
    assert client.leftovers() == []


def is_alive(client: RawClient) -> bool:
    return client.request("textDocument/hover", HOVER) is None


HOVER = {"textDocument": {"uri": "file:///nowhere.yaml"}, "position": {"line": 0, "character": 0}}


@pytest.mark.parametrize(
    ("method", "params", "code", "said"),
    [
        ("textDocument/hover", {"textDocument": {}}, INVALID_PARAMS, "position"),
        ("textDocument/hover", None, INVALID_PARAMS, "textDocument/hover"),
        ("textDocument/hover", {"textDocument": {"uri": 3}, "position": [1]}, INVALID_PARAMS, "textDocument/hover"),
        ("textDocument/codeAction", [], INVALID_PARAMS, "textDocument/codeAction"),
        ("workspace/executeCommand", {"command": "nobody.knows"}, INVALID_PARAMS, "nobody.knows"),
        ("tried/related", {"limit": 3}, INVALID_PARAMS, "textDocument"),
        ("tried/related", [1], INVALID_PARAMS, "invalid params for tried/related: they must be an object, not a list"),
        ("tried/related", "x", INVALID_PARAMS, "invalid params for tried/related: they must be an object, not text"),
        ("tried/related", [], INVALID_PARAMS, "invalid params for tried/related: they must be an object, not a list"),
        (
            "tried/related",
            {"textDocument": 3},
            INVALID_PARAMS,
            "invalid params for tried/related: textDocument: expected an object, got a number",
        ),
        ("tried/nobodyKnows", {"a": 1}, NO_METHOD, "tried/nobodyKnows"),
        ("$/nobodyKnows", None, NO_METHOD, "$/nobodyKnows"),
        ("initialize", {"capabilities": {}, "processId": None, "rootUri": None}, INVALID_REQUEST, "initialized"),
    ],
)
def test_a_request_that_cannot_be_served_says_why(
    client: RawClient, method: str, params: object, code: int, said: str
) -> None:
    response = client.response(client.start_request(method, params))
    assert response["error"]["code"] == code
    assert said in response["error"]["message"]
    assert "data" not in response["error"]
    assert "Structuring class" not in response["error"]["message"]
    assert "\n" not in response["error"]["message"]


def test_a_request_without_params_is_answered(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": "no-params", "method": "tried/related"})
    with pytest.raises(RequestFailed) as failure:
        client.result("no-params")
    assert failure.value.code == INVALID_PARAMS


def test_a_nested_jsonrpc_key_is_only_data(client: RawClient) -> None:
    command = {"command": "tried.openRecord", "arguments": [{"record": "none", "extra": {"jsonrpc": "2.0", "id": 1}}]}
    with pytest.raises(RequestFailed) as failure:
        client.request("workspace/executeCommand", command)
    assert failure.value.code == INVALID_PARAMS
    hover = {**HOVER, "workDoneToken": "x", "context": {"jsonrpc": "2.0", "method": "textDocument/hover"}}
    assert client.request("textDocument/hover", hover) is None


def test_ids_of_both_kinds_come_back_as_they_were(client: RawClient) -> None:
    for identifier in (0, -7, 2**53, "", "ü", "7"):
        client.send({"jsonrpc": "2.0", "id": identifier, "method": "textDocument/hover", "params": HOVER})
        assert client.response(identifier)["id"] == identifier


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", PARSE_ERROR),
        (b"{", PARSE_ERROR),
        (b"\xff\xfe\x00", PARSE_ERROR),
        (b"[" * 100_000, PARSE_ERROR),
        (b"[]", INVALID_REQUEST),
        (b"null", INVALID_REQUEST),
        (b'"text"', INVALID_REQUEST),
        (b'{"jsonrpc": "1.0", "method": "x"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": null, "method": "textDocument/hover"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "textDocument/hover"}', INVALID_REQUEST),
        (b'{"jsonrpc": "2.0", "id": true, "method": "textDocument/hover"}', INVALID_REQUEST),
    ],
)
def test_what_is_no_message_is_answered_without_an_id(client: RawClient, body: bytes, code: int) -> None:
    client.send(body)
    client.wait(lambda: bool(client.nameless), 10, "an answer without an id")
    response = client.nameless.pop()
    assert response["id"] is None
    assert response["error"]["code"] == code
    assert is_alive(client)


def test_an_id_is_found_in_a_broken_request(client: RawClient) -> None:
    client.send({"id": 4711, "method": "textDocument/hover", "params": HOVER})
    assert client.response(4711)["error"]["code"] == INVALID_REQUEST
    client.send({"jsonrpc": "2.0", "id": 4712, "method": {"no": "text"}})
    assert client.response(4712)["error"]["code"] == INVALID_REQUEST
    client.send({"jsonrpc": "2.0", "id": 4713, "method": 5})
    assert client.response(4713)["error"]["message"] == "not a request: its method must be a string"
    client.send({"jsonrpc": "2.0", "id": 1.5, "method": "textDocument/hover"})
    client.wait(lambda: bool(client.nameless), 10, "an answer without an id")
    told = client.nameless.pop()["error"]["message"]
    assert told == "not a request: its id must be a string or a whole number"


DEEP = b"[" * 50_000 + b"]" * 50_000


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"jsonrpc":"2.0","id":"deep","method":"textDocument/hover","params":{"id":1,"x":%s}}' % DEEP, "too deeply"),
        (b'{"method":"textDocument/hover","params":{"id":1,"x":%s},"jsonrpc":"2.0","id":"deep"}' % DEEP, "too deeply"),
        (b'{"jsonrpc":"2.0","id":"deep","method":"textDocument/hover","params":{"x":}}', "not a JSON message"),
        (b'{"id":"deep","method":"textDocument/hover","params":{"x":"\xff"}}', "not a JSON message"),
    ],
)
def test_a_request_that_cannot_be_parsed_is_refused_by_its_id(client: RawClient, body: bytes, said: str) -> None:
    client.send(body)
    error = client.response("deep")["error"]
    assert error["code"] == PARSE_ERROR
    assert said in error["message"]
    assert is_alive(client)


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":77,"result":%s}' % DEEP,
        b'{"jsonrpc":"2.0","method":"nobody/knows","params":{"x":,"id":77}',
        b'{"jsonrpc":"2.0","method":"nobody/knows","params":{"id":77,"x":%s}}' % DEEP,
        b'{"jsonrpc":"2.0","id":"\\x","method":"textDocument/hover"}',
    ],
)
def test_no_id_is_made_up_for_what_cannot_be_parsed(client: RawClient, body: bytes) -> None:
    """A response, notifications with an id in their params, an id that is none."""
    client.send(body)
    client.wait(lambda: bool(client.nameless), 10, "an answer without an id")
    assert client.nameless.pop()["error"]["code"] == PARSE_ERROR
    assert is_alive(client)


def test_a_batch_is_taken_apart(client: RawClient) -> None:
    hover = {"jsonrpc": "2.0", "method": "textDocument/hover", "params": HOVER}
    client.send([{**hover, "id": "one"}, {"jsonrpc": "2.0", "method": "nobody/knows"}, {**hover, "id": "two"}])
    assert client.result("one") is None
    assert client.result("two") is None


def test_notifications_and_responses_are_never_answered(client: RawClient) -> None:
    client.notify("textDocument/didChange", {"textDocument": {"uri": "file:///not/open.yaml", "version": 3}})
    client.notify("textDocument/didChange", {"textDocument": 3, "contentChanges": "?"})
    client.notify("textDocument/didSave", {"textDocument": {"uri": "file:///not/open.yaml"}})
    client.notify("$/setTrace", {"value": "verbose"})
    client.notify("$/cancelRequest", {"id": "no such request"})
    client.notify("$/cancelRequest", {"id": {}})
    client.notify("$/cancelRequest", [1])
    client.send({"jsonrpc": "2.0", "method": {"no": "text"}})
    client.send({"jsonrpc": "2.0", "method": 5})
    client.notify("nobody/knows", {"x": 1})
    client.send({"jsonrpc": "2.0", "id": "no such request", "result": {"a": 1}})
    client.send({"jsonrpc": "2.0", "id": [1], "error": "?"})
    client.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "?"}})
    assert is_alive(client)


@pytest.mark.parametrize(
    "header",
    [
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length : %d \r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"stray output of a wrapper\r\n\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: minus one\r\nContent-Length: %d\r\n\r\n",
        b"x" * 200_000 + b"\nContent-Length: %d\r\n\r\n",
    ],
)
def test_headers_are_read_tolerantly(client: RawClient, header: bytes) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": "header", "method": "textDocument/hover", "params": HOVER}).encode()
    client.send_bytes(header % len(body) + body)
    assert client.result("header") is None


def test_text_outside_ascii_is_counted_in_bytes(client: RawClient) -> None:
    hover = {"textDocument": {"uri": "file:///実験/😀.yaml"}, "position": {"line": 0, "character": 0}}
    message = {"jsonrpc": "2.0", "id": "ü😀", "method": "textDocument/hover", "params": hover}
    client.send(json.dumps(message, ensure_ascii=False).encode())
    assert client.result("ü😀") is None


@pytest.mark.parametrize("id_first", [True, False])
def test_an_oversized_request_is_refused_by_its_id(client: RawClient, id_first: bool) -> None:
    padding = '"' + "x" * (33 * 2**20) + '"'
    if id_first:
        body = '{"jsonrpc":"2.0","id":99,"method":"textDocument/hover","params":{"id":1,"x":' + padding + "}}"
    else:
        body = '{"method":"textDocument/hover","params":{"id":1,"x":' + padding + '},"jsonrpc":"2.0","id":99}'
    client.send(body.encode())
    error = client.response(99)["error"]
    assert error["code"] == INVALID_REQUEST
    assert "34,603" in error["message"]
    assert "32 MB" in error["message"]
    assert is_alive(client)


def test_an_oversized_notification_is_skipped(client: RawClient) -> None:
    item = {"uri": "file:///huge.yaml", "languageId": "yaml", "version": 1, "text": '{"id": 5}' * (5 * 2**20)}
    client.notify("textDocument/didOpen", {"textDocument": item})
    assert is_alive(client)
