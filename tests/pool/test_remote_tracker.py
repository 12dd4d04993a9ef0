"""Which credentials go to which host, and that nothing shows them."""

from __future__ import annotations

import base64
import copy
import dataclasses
import json
import pickle

import pytest

from tried.pool.sources.remote.tracker import (
    Endpoint,
    RemoteRefused,
    RemoteTracker,
    Secret,
    endpoint_of,
    shown_address,
)

TOKEN = "s3cr3t-t0ken"
SELF_HOSTED = "https://wandb.example.org"


def sent(tracker: RemoteTracker, **environment: str) -> str | None:
    found = endpoint_of(tracker, environment).authorization
    return found.reveal() if found is not None else None


def basic(text: str) -> str:
    return "Basic " + base64.b64encode(text.encode()).decode()


def test_a_token_of_the_users_settings() -> None:
    assert sent(RemoteTracker("mlflow", "https://m.example.org", token=Secret(TOKEN))) == f"Bearer {TOKEN}"
    assert sent(RemoteTracker("mlflow", "https://m.example.org", token=Secret("me:pw"))) == basic("me:pw")
    assert sent(RemoteTracker("wandb", SELF_HOSTED, token=Secret(TOKEN))) == basic(f"api:{TOKEN}")


def test_a_variable_that_the_user_names() -> None:
    tracker = RemoteTracker("wandb", SELF_HOSTED, token_variable="TEAM_KEY")
    assert sent(tracker, TEAM_KEY=TOKEN, WANDB_API_KEY="other") == basic(f"api:{TOKEN}")
    with pytest.raises(RemoteRefused, match="TEAM_KEY"):
        sent(tracker, WANDB_API_KEY="other")


@pytest.mark.parametrize(
    ("address", "base_url", "goes"),
    [
        ("https://api.wandb.ai", "", True),
        ("https://api.wandb.ai/graphql", "", True),
        ("https://api.wandb.ai:443/", "", True),
        ("https://API.wandb.ai/", "", True),
        ("https://api.wandb.ai.example.org", "", False),
        ("https://api.wandb.ai:8443", "", False),
        (SELF_HOSTED, "", False),
        (SELF_HOSTED, SELF_HOSTED, True),
        ("https://api.wandb.ai", SELF_HOSTED, False),
    ],
)
def test_wandbs_own_variable_goes_to_wandbs_host_alone(address: str, base_url: str, goes: bool) -> None:
    found = sent(RemoteTracker("wandb", address), WANDB_API_KEY=TOKEN, WANDB_BASE_URL=base_url)
    assert (found is not None) is goes


@pytest.mark.parametrize(
    ("address", "uri", "goes"),
    [
        ("https://m.example.org", "https://m.example.org/", True),
        ("https://m.example.org", "", False),
        ("https://m.example.org", "https://other.example.org", False),
        ("https://m.example.org", "http://m.example.org", False),
        ("https://m.example.org", "sqlite:///mlflow.db", False),
        ("https://m.example.org:5000", "https://m.example.org", False),
    ],
)
def test_mlflows_own_variables_go_to_the_host_of_its_uri_alone(address: str, uri: str, goes: bool) -> None:
    tracker = RemoteTracker("mlflow", address)
    assert (sent(tracker, MLFLOW_TRACKING_TOKEN=TOKEN, MLFLOW_TRACKING_URI=uri) is not None) is goes
    user = {"MLFLOW_TRACKING_USERNAME": "me", "MLFLOW_TRACKING_PASSWORD": "pw"}
    assert sent(tracker, MLFLOW_TRACKING_URI=uri, **user) == (basic("me:pw") if goes else None)


def test_naming_a_trackers_own_variable_does_not_unbind_it() -> None:
    tracker = RemoteTracker("wandb", SELF_HOSTED, token_variable="WANDB_API_KEY")
    with pytest.raises(RemoteRefused, match="belongs to the host of WANDB_BASE_URL"):
        sent(tracker, WANDB_API_KEY=TOKEN)


@pytest.mark.parametrize("host", ["m.example.org", "10.0.0.7", "localhost.example.org", "0.0.0.0"])
def test_no_token_goes_unencrypted(host: str) -> None:
    with pytest.raises(RemoteRefused, match="not encrypted"):
        sent(RemoteTracker("mlflow", f"http://{host}:5000", token=Secret(TOKEN)))
    assert sent(RemoteTracker("mlflow", f"http://{host}:5000")) is None


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "[::1]"])
def test_but_to_this_machine(host: str) -> None:
    assert sent(RemoteTracker("mlflow", f"http://{host}:5000", token=Secret(TOKEN))) == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "m.example.org",
        "ftp://m.example.org",
        "file:///etc/passwd",
        "https://",
        "https://h:port",
        "https://h/\r\nX: y",
    ],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(RemoteRefused):
        endpoint_of(RemoteTracker("mlflow", address), {})


def test_an_address_with_credentials_is_refused_without_showing_them() -> None:
    tracker = RemoteTracker("mlflow", f"https://me:{TOKEN}@m.example.org/?key={TOKEN}")
    with pytest.raises(RemoteRefused, match="token_variable") as raised:
        endpoint_of(tracker, {})
    assert TOKEN not in f"{raised.value} {raised.value!r} {tracker} {tracker!r}"
    assert shown_address(tracker.address) == "https://m.example.org/"


@pytest.mark.parametrize("token", ["", "  ", "a\r\nX-Injected: 1", "tökén"])
def test_what_is_no_token(token: str) -> None:
    with pytest.raises(RemoteRefused) as raised:
        endpoint_of(RemoteTracker("wandb", SELF_HOSTED, token=Secret(token)), {})
    assert "Injected" not in str(raised.value)


def test_nothing_shows_a_secret() -> None:
    tracker = RemoteTracker("wandb", SELF_HOSTED, ("a/b",), token=Secret(TOKEN))
    endpoint = endpoint_of(tracker, {})
    shown = [repr(tracker), str(tracker), f"{endpoint}", repr(endpoint), repr(Secret(TOKEN)), str(Secret(TOKEN))]
    shown += [f"{dataclasses.astuple(Endpoint('https://h'))}"]
    encoded = base64.b64encode(f"api:{TOKEN}".encode()).decode()
    assert not [text for text in shown if TOKEN in text or encoded in text]
    assert endpoint.without_secrets(f"<{TOKEN}> <{encoded}>") == "<…> <…>"
    with pytest.raises(TypeError):
        pickle.dumps(Secret(TOKEN))
    with pytest.raises(TypeError):
        copy.copy(Secret(TOKEN))
    with pytest.raises(TypeError):
        json.dumps(Secret(TOKEN))
