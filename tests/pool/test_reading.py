"""One line of a journal, whatever it holds."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tried.pool.reading import DEPTH_LIMIT, Reading, read_line


def ids(reading: Reading) -> list[str]:
    return [record.id for record in reading.records]


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


def test_a_good_line_gives_its_record_and_no_complaint() -> None:
    reading = read_line(b'{"id":"a","params":{"lr":0.1}}')
    assert ids(reading) == ["a"]
    assert reading.complaints == ()


@pytest.mark.parametrize("line", [b"", b"   ", b"\r", b"\xef\xbb\xbf"])
def test_an_empty_line_is_nothing(line: bytes) -> None:
    assert read_line(line) == Reading()


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"id":"a","na', "not valid JSON: unterminated string starting at (column 11)"),
        (b"hello", "not valid JSON: expecting value (column 1)"),
        (b"[1,2]", "expected a JSON object, found a list"),
        (b'"x"', "expected a JSON object, found a text"),
        (b"null", "expected a JSON object, found null"),
        (b"true", "expected a JSON object, found true or false"),
        (b"7", "expected a JSON object, found a number"),
        (b'{"name":"a"}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":""}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":null}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":true}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":false}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":[1]}', 'no id: every record needs one, such as "id": "run-17"'),
        (b'{"id":"a","kind":"sweep"}', "kind 'sweep' is not known here (experiment and amendment are)"),
    ],
)
def test_a_bad_line_is_left_out_with_a_reason(line: bytes, why: str) -> None:
    reading = read_line(line)
    assert reading.records == ()
    assert reading.complaints == (why,)


def test_a_bad_field_is_left_out_and_the_record_is_not_lost() -> None:
    line = json.dumps(
        {
            "id": "a",
            "notes": "kept",
            "metrics": 3,
            "verdict": "meh",
            "derivation": {
                "changes": [{"key": "lr"}, {"change": "ParamAdded", "key": "wd"}],
                "metric_delta": {"f1": "x", "acc": 1},
            },
        }
    )
    reading = read_line(line.encode())
    (record,) = reading.records
    assert record.notes == "kept"
    assert record.metrics == {}
    assert record.verdict is None
    assert record.derivation is not None
    assert [change.key for change in record.derivation.changes] == ["wd"]
    assert list(record.derivation.metric_delta) == ["acc"]
    assert [complaint.split("`")[1] for complaint in reading.complaints] == [
        "metrics",
        "derivation.changes.0",
        "derivation.metric_delta.f1",
        "verdict",
    ]
    assert "`derivation.changes.0` was left out: it has no `change`" in reading.complaints


@pytest.mark.parametrize(
    ("fields", "remark"),
    [
        ({"timestamp": "yesterday"}, "`timestamp` is not used: 'yesterday' is no time such as 2026-03-01T10:00:00Z"),
        ({"metrics": {"loss": "abc"}}, "`metrics.loss` is not used: 'abc' is no number"),
        ({"metrics": {"loss": 1, "f1": {"macro": 1}}}, "`metrics.f1` is not used: an object is no number"),
        (
            {"metrics": {"f1": True, "name": "x", "loss": "y"}},
            "`metrics.f1` is not used: true or false is no number (and 2 more like it)",
        ),
        (
            {"derivation": {"changes": [{"change": "ParamAdded", "key": "a"}, {"change": "Moved", "key": "b"}]}},
            "`derivation.changes.1` is not used: 'Moved' is no kind of change",
        ),
        (
            {"timestamp": "x" * 100},
            f"`timestamp` is not used: '{'x' * 40}'… is no time such as 2026-03-01T10:00:00Z",
        ),
    ],
)
def test_a_value_that_nobody_can_use_stays_and_is_remarked_on(fields: dict[str, object], remark: str) -> None:
    reading = read_line(json.dumps({"id": "a", **fields}).encode())
    assert (reading.complaints, reading.remarks) == ((), (remark,))
    written = json.loads(reading.records[0].to_json())
    assert {name: written[name] for name in fields} == fields


def test_numbers_in_any_spelling_and_what_is_missing_need_no_remark() -> None:
    metrics = '{"a":1,"b":0.5,"c":"nan","d":"-inf","e":"1e-3","f":null,"g":NaN}'
    line = f'{{"id":"a","timestamp":"","metrics":{metrics},"derivation":{{"changes":["in words"]}}}}'
    reading = read_line(line.encode())
    assert (ids(reading), reading.complaints, reading.remarks) == (["a"], (), ())


def test_a_record_with_bad_fields_is_remarked_on_too() -> None:
    reading = read_line(b'{"id":"a","duration":"1h","timestamp":"yesterday"}')
    assert reading.complaints == (
        "`duration` was left out: it should be seconds, or an object with `secs` and `nanos`",
    )
    assert reading.remarks == ("`timestamp` is not used: 'yesterday' is no time such as 2026-03-01T10:00:00Z",)


@pytest.mark.parametrize("field", ["duration", "conclusion", "derivation", "architecture", "embedding"])
def test_a_complaint_names_no_class_of_ours(field: str) -> None:
    (complaint,) = read_line(json.dumps({"id": "a", field: [1]}).encode()).complaints
    assert complaint.startswith(f"`{field}` was left out: it should be ")
    assert "instance" not in complaint


def test_records_that_were_glued_to_one_line_are_read_apart() -> None:
    reading = read_line(b'{"id":"a"}{"id":"b"} {"id":"c","x')
    assert ids(reading) == ["a", "b"]
    assert not reading.whole
    assert len(reading.complaints) == 1


def test_invalid_utf8_is_read_with_replacement_characters_and_told() -> None:
    reading = read_line(b'{"id":"a","notes":"caf\xe9"}')
    assert reading.records[0].notes == "caf\ufffd"
    assert reading.complaints == ("invalid UTF-8 at byte 23, read with replacement characters",)


def test_a_lone_surrogate_becomes_a_replacement_character() -> None:
    (record,) = read_line(b'{"id":"a","notes":"x\\ud800y","ok":"\\ud83d\\ude00"}').records
    assert record.notes == "x\ufffdy"
    record.to_json().encode("utf-8")


@pytest.mark.parametrize("levels", [300, 5_000, 100_000])
def test_deep_nesting_is_refused_before_it_can_hurt(levels: int) -> None:
    reading = read_line(f'{{"id":"a","params":{{"x":{nested(levels)}}}}}'.encode())
    assert reading.records == ()
    assert reading.complaints == (f"nested more than {DEPTH_LIMIT} levels deep",)


def test_nesting_up_to_the_limit_is_read() -> None:
    # The record and its params are two levels.
    assert ids(read_line(f'{{"id":"a","params":{{"x":{nested(DEPTH_LIMIT - 2)}}}}}'.encode())) == ["a"]
    assert ids(read_line(f'{{"id":"a","params":{{"x":{nested(DEPTH_LIMIT - 1)}}}}}'.encode())) == []


def test_a_line_of_ten_megabytes_is_read() -> None:
    (record,) = read_line(json.dumps({"id": "a", "notes": "x" * 10_000_000}).encode()).records
    assert record.notes is not None
    assert len(record.notes) == 10_000_000


@given(st.binary(max_size=60) | st.text(max_size=40).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_can_be_read(line: bytes) -> None:
    reading = read_line(line)
    assert reading.records or reading.complaints or not line.decode("utf-8", "replace").strip().lstrip("\ufeff").strip()


FIELDS = [
    "id",
    "kind",
    "tags",
    "params",
    "metrics",
    "duration",
    "conclusion",
    "derivation",
    "architecture",
    "verdict",
    "aliases",
    "embedding",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["from", "changes", "change", "metric_delta", "nodes", "edges", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6))
def test_a_record_with_an_id_is_never_lost(fields: dict[str, object]) -> None:
    reading = read_line(json.dumps({**fields, "id": "a", "kind": "experiment"}).encode())
    assert ids(reading) == ["a"]


def test_a_number_of_more_digits_than_python_reads_stays_as_text() -> None:
    digits = "7" * 5000
    reading = read_line(f'{{"id":"a","params":{{"seed":{digits},"lr":0.1}}}}'.encode())
    assert reading.complaints == ()
    (record,) = reading.records
    assert record.params == {"seed": digits, "lr": 0.1}
