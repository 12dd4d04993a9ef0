"""No credential that somebody logged with a run gets into a record."""

from __future__ import annotations

import timeit

import pytest

from tried.pool.sources.secrets import HIDDEN, without_secrets
from tried.pool.sources.tracked_run import TrackedRun, record_of

TOKEN = "hf_" + "aB3" * 12


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "apikey",
        "wandb.api_key",
        "WANDB_API_KEY",
        "openaiApiKey",
        "db/password",
        "db_passwd",
        "aws_secret_access_key",
        "client_secret",
        "hub_token",
        "HF_TOKEN",
        "use_auth_token",
        "azure.storage-key",
        "connection_string",
    ],
)
def test_values_of_keys_that_name_a_credential_are_hidden(key: str) -> None:
    assert without_secrets({key: "s3cr3t"}) == {key: HIDDEN}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("pad_token", "<pad>"),
        ("eos_token", "</s>"),
        ("tokenizer", "gpt2"),
        ("max_tokens", "512"),
        ("token", "word"),
        ("key", "query"),
        ("num_key_value_heads", "8"),
        ("key_padding_mask", "true"),
        ("monitor_key", "val_loss"),
        ("secretary_problem", "yes"),
        ("use_auth_token", "true"),
        ("hub_token", ""),
        ("api_key", "None"),
    ],
)
def test_what_machine_learning_calls_key_or_token_stays(key: str, value: str) -> None:
    assert without_secrets({key: value}) == {key: value}


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("train +wandb.api_key=abc123 lr=0.1", f"train +wandb.api_key={HIDDEN} lr=0.1"),
        ("postgresql://noor:hunter2@db.example/runs", f"postgresql://{HIDDEN}@db.example/runs"),
        (f"401 for token {TOKEN}.", f"401 for token {HIDDEN}."),
        ("KeyError: 'password': 'hunter2'", f"KeyError: 'password': {HIDDEN}"),
        ("model.pad_token=<pad> tokens: 5", "model.pad_token=<pad> tokens: 5"),
        ("https://tracker.example/run?id=3#a@b", "https://tracker.example/run?id=3#a@b"),
    ],
)
def test_texts_are_looked_into(text: str, left: str) -> None:
    assert without_secrets(text) == left


def test_no_field_of_a_record_has_it() -> None:
    secret = "hunter2-hunter2"
    run = TrackedRun(
        kind="mlflow",
        native_id="1",
        name=f"train db.password={secret}",
        status="failed",
        params={"db": {"password": secret, "hosts": [{"api_key": secret}]}, "lr": 0.1},
        labels={"api_key": secret},
        tags=[f"password={secret}"],
        note=f"my password: {secret}",
        error=f"ValueError: bad address http://noor:{secret}@host",
        places=[f"https://noor:{secret}@tracker.example/run"],
        url=f"https://noor:{secret}@tracker.example/run",
        more={"overrides": [f"db.password={secret}"]},
    )

    record = record_of(run)

    assert secret not in record.to_json()
    assert record.params == {"db": {"password": HIDDEN, "hosts": [{"api_key": HIDDEN}]}, "lr": 0.1}


def test_a_long_text_takes_no_longer_than_its_length_allows() -> None:
    hostile = "api_" * 20_000 + "=" + "password" * 10_000

    assert timeit.timeit(lambda: without_secrets(hostile), number=1) < 2
