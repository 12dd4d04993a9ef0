"""No credential that somebody logged with a run gets into a record."""

from __future__ import annotations

import timeit
from pathlib import Path

import pytest

from tried.pool.sources.secrets import HIDDEN, without_secrets
from tried.pool.sources.tables.results_table import ResultsTableSource
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
        "authorization",
        "pwd",
        "password2",
        "api_token",
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
        ("bearer", "bond"),
        ("auth", "basic"),
        ("pass", "2"),
        ("token", "averylongwordwithoutdigits"),
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
        ("Authorization: Bearer abcdefgh12345678", f"Authorization: Bearer {HIDDEN}"),
        ("curl -H 'X: Bearer abcdefgh12345678'", f"curl -H 'X: Bearer {HIDDEN}'"),
        ("train.py --api-key abc --token xyz --lr 0.1", f"train.py --api-key {HIDDEN} --token {HIDDEN} --lr 0.1"),
        ("https://h/x?token=abc&sig=def&run=3", f"https://h/x?token={HIDDEN}&sig={HIDDEN}&run=3"),
        ("https://abcdefghij0123456789@git.example/x", f"https://{HIDDEN}@git.example/x"),
        ("ssh://git@git.example/x", "ssh://git@git.example/x"),
        ("a eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmN b", f"a {HIDDEN} b"),
        ("https://hooks.slack.com/services/T000/B000/XXXXXXXXXXXX", f"https://{HIDDEN}"),
        ("my token: abcd1234efgh5678ijkl", f"my token: {HIDDEN}"),
        ("tokens: 524288 per step, token = word", "tokens: 524288 per step, token = word"),
        ("model.pad_token=<pad> tokens: 5", "model.pad_token=<pad> tokens: 5"),
        ("https://tracker.example/run?id=3#a@b", "https://tracker.example/run?id=3#a@b"),
    ],
)
def test_texts_are_looked_into(text: str, left: str) -> None:
    assert without_secrets(text) == left


def test_all_texts_below_a_name_of_a_credential_are_hidden() -> None:
    value = {"secrets": {"a": "x", "b": ["y", {"c": "z"}], "n": 3, "on": True}, "token": "abcd1234efgh5678"}
    hidden = {"a": HIDDEN, "b": [HIDDEN, {"c": HIDDEN}], "n": 3, "on": True}
    assert without_secrets(value) == {"secrets": hidden, "token": HIDDEN}


def test_no_row_of_a_results_table_has_it(tmp_path: Path) -> None:
    table = tmp_path / "results.tsv"
    table.write_text("commit\tval_bpb\tstatus\tdescription\nabc1234\t0.9\tkeep\tLR 0.1, WANDB_API_KEY=hunter2hunter2\n")
    (record,) = ResultsTableSource(table).scan(None).upserts
    assert "hunter2" not in record.to_json()
    assert "LR 0.1" in record.name


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


@pytest.mark.parametrize(
    "piece",
    [
        *("api_", "password", "--token-", "--api-key-", "token:", "bearer ", "a-", "a://", "a://b:", "eyJ", "eyJ-"),
        *("sk-", "?sig=", "secret ", "secret:", "key=", "--", "authorization ", "pwd", "xox", "gh", "'", "token: "),
    ],
)
def test_a_long_text_takes_no_longer_than_its_length_allows(piece: str) -> None:
    hostile = piece * (60_000 // len(piece)) + "=" + "token"

    assert timeit.timeit(lambda: without_secrets(hostile), number=1) < 2
