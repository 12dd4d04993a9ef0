"""Reading a journal again and again: growth, torn lines, replacement, and whatever else lies there."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tried.pool.reading import Reading, read_line
from tried.pool.sources import journal_source
from tried.pool.sources.journal_source import JournalSource
from tried.pool.sources.source import Delta, Skipped


def line(record_id: str, **fields: object) -> bytes:
    return json.dumps({"id": record_id, **fields}).encode() + b"\n"


def ids(delta: Delta) -> list[str]:
    return [record.id for record in delta.upserts]


def said(delta: Delta) -> list[tuple[str, str]]:
    return [(skipped.where, skipped.why) for skipped in delta.skipped]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pool.jsonl"


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_growth_is_read_from_where_it_began(path: Path) -> None:
    path.write_bytes(line("a") + line("b"))
    source = JournalSource(path)
    first = source.scan(None)
    assert ids(first) == ["a", "b"]
    assert source.scan(first.cursor).is_empty
    append(path, line("c"))
    second = source.scan(first.cursor)
    assert ids(second) == ["c"]
    assert not second.reset
    assert source.scan(second.cursor).is_empty
    assert ids(source.scan(first.cursor)) == ["c"], "a cursor can be used again"


def test_only_what_is_new_is_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(b"".join(line(f"run-{number}") for number in range(1000)))
    source = JournalSource(path)
    first = source.scan(None)
    append(path, line("new"))
    parsed: list[bytes] = []

    def note(data: bytes) -> Reading:
        parsed.append(data)
        return read_line(data)

    monkeypatch.setattr(journal_source, "read_line", note)
    source.scan(first.cursor)
    assert len(parsed) == 1


def test_a_torn_last_line_is_kept_for_later_and_read_when_complete(path: Path) -> None:
    whole = line("b", notes="x" * 50)
    path.write_bytes(line("a"))
    source = JournalSource(path)
    first = source.scan(None)
    append(path, whole[:20])
    second = source.scan(first.cursor)
    append(path, whole[20:40])
    third = source.scan(second.cursor)
    assert second.is_empty, "it grows: somebody is writing"
    assert third.is_empty
    append(path, whole[40:])
    fourth = source.scan(third.cursor)
    assert (ids(fourth), said(fourth), fourth.reset) == (["b"], [], False)


def test_a_torn_last_line_that_stays_is_said_once_and_taken_back(path: Path) -> None:
    path.write_bytes(line("a"))
    source = JournalSource(path)
    first = source.scan(None)
    append(path, b'{"id":"b')
    second = source.scan(first.cursor)
    assert second.is_empty
    third = source.scan(second.cursor)
    assert said(third) == [("line 2", "unfinished: 8 bytes without a line end; not read")]
    assert source.scan(third.cursor).is_empty
    append(path, b'"}\n')
    fourth = source.scan(third.cursor)
    assert (ids(fourth), said(fourth), fourth.reset) == (["a", "b"], [], True)


def test_a_torn_last_line_is_said_at_the_first_look_for_there_may_be_no_second(path: Path) -> None:
    path.write_bytes(line("a") + b'{"id":"b')
    source = JournalSource(path)
    first = source.scan(None)
    assert ids(first) == ["a"]
    assert said(first) == [("line 2", "unfinished: 8 bytes without a line end; not read")]
    assert source.scan(first.cursor).is_empty
    append(path, b"\n" + line("c"))
    second = source.scan(first.cursor)
    assert (ids(second), second.reset) == (["a", "c"], True)
    assert said(second) == [("line 2", "not valid JSON: unterminated string starting at (column 7)")]


def test_values_that_nobody_can_use_are_remarked_on_by_line(path: Path) -> None:
    path.write_bytes(line("a") + line("b", timestamp="yesterday"))
    source = JournalSource(path)
    first = source.scan(None)
    yesterday = "`timestamp` is not used: 'yesterday' is no time such as 2026-03-01T10:00:00Z"
    assert (ids(first), first.skipped, first.remarks) == (["a", "b"], (), (Skipped("line 2", yesterday),))
    append(path, line("c", kind="amendment", metrics={"loss": "abc"}))
    second = source.scan(first.cursor)
    assert second.remarks == (Skipped("line 3", "`metrics.loss` is not used: 'abc' is no number"),)


def test_a_whole_record_needs_no_line_end(path: Path) -> None:
    path.write_bytes(line("a") + line("b").rstrip())
    source = JournalSource(path)
    first = source.scan(None)
    assert ids(first) == ["a", "b"]
    append(path, b"\n" + line("c") + b"broken\n")
    second = source.scan(first.cursor)
    assert ids(second) == ["c"]
    assert [where for where, _ in said(second)] == ["line 4"], "lines are counted as an editor does"


def test_what_somebody_glued_on_without_a_line_end_is_not_lost(path: Path) -> None:
    path.write_bytes(line("a").rstrip())
    source = JournalSource(path)
    first = source.scan(None)
    append(path, line("b") + b"broken\n")
    second = source.scan(first.cursor)
    assert ids(second) == ["b"]
    assert [where for where, _ in said(second)] == ["line 2"]
    assert ids(source.scan(None)) == ["a", "b"]


def test_broken_lines_in_the_middle_are_skipped_and_told(path: Path) -> None:
    path.write_bytes(
        line("a") + b'{"id":\n' + b"\n" + b"[]\n" + b'{"id":"n","notes":"\xe9"}\n' + line("b", kind="sweep") + line("c")
    )
    delta = JournalSource(path).scan(None)
    assert ids(delta) == ["a", "n", "c"]
    assert said(delta) == [
        ("line 2", "not valid JSON: expecting value (column 7)"),
        ("line 4", "expected a JSON object, found a list"),
        ("line 5", "invalid UTF-8 at byte 20, read with replacement characters"),
        ("line 6", "kind 'sweep' is not known here (experiment and amendment are)"),
    ]


def test_of_a_repeated_id_the_last_wins_and_the_earlier_is_told(path: Path) -> None:
    path.write_bytes(line("a", notes="1") + line("b") + line("a", notes="2"))
    source = JournalSource(path)
    first = source.scan(None)
    assert [(record.id, record.notes) for record in first.upserts] == [("a", "1"), ("b", None), ("a", "2")]
    assert said(first) == [("line 1", "replaced by line 3, which has the same id 'a'")]
    append(path, line("a", notes="3"))
    assert said(source.scan(first.cursor)) == [("line 3", "replaced by line 4, which has the same id 'a'")]


def test_amendments_do_not_replace_each_other(path: Path) -> None:
    path.write_bytes(2 * line("x", kind="amendment", amends="a"))
    delta = JournalSource(path).scan(None)
    assert ids(delta) == ["x", "x"]
    assert said(delta) == []


@pytest.mark.parametrize("new", [line("z"), line("z") + line("y") + line("x"), b""])
def test_a_file_that_was_replaced_or_shrank_is_read_anew(path: Path, new: bytes) -> None:
    path.write_bytes(line("a") + line("b"))
    source = JournalSource(path)
    first = source.scan(None)
    other = path.with_suffix(".new")
    other.write_bytes(new)
    other.replace(path)
    second = source.scan(first.cursor)
    assert second.reset
    assert ids(second) == [json.loads(text)["id"] for text in new.decode().splitlines()]


def test_a_file_rewritten_in_place_is_read_anew(path: Path) -> None:
    path.write_bytes(line("a") + line("b"))
    source = JournalSource(path)
    first = source.scan(None)
    status = path.stat()
    with path.open("r+b") as file:
        file.write(line("c"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000))
    second = source.scan(first.cursor)
    assert (second.reset, ids(second)) == (True, ["c", "b"])


def test_a_longer_file_with_other_beginnings_is_read_anew(path: Path) -> None:
    path.write_bytes(line("a") + line("b"))
    source = JournalSource(path)
    first = source.scan(None)
    with path.open("r+b") as file:
        file.write(line("c") + line("b") + line("d"))
    second = source.scan(first.cursor)
    assert (second.reset, ids(second)) == (True, ["c", "b", "d"])


def test_a_bom_and_windows_line_ends_are_no_trouble(path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + line("a").replace(b"\n", b"\r\n") + line("b").replace(b"\n", b"\r\n"))
    source = JournalSource(path)
    first = source.scan(None)
    assert (ids(first), said(first)) == (["a", "b"], [])
    append(path, line("c"))
    assert ids(source.scan(first.cursor)) == ["c"]


def test_a_line_of_ten_megabytes_is_read(path: Path) -> None:
    path.write_bytes(line("a", notes="x" * 10_000_000) + line("b"))
    assert ids(JournalSource(path).scan(None)) == ["a", "b"]


def test_a_line_over_the_limit_is_skipped_and_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_source, "LINE_LIMIT", 3 * 1024 * 1024)
    path.write_bytes(line("a") + line("big", notes="x" * 4_000_000) + line("b"))
    delta = JournalSource(path).scan(None)
    assert ids(delta) == ["a", "b"]
    assert said(delta) == [("line 2", "longer than 3 MiB (4,000,027 bytes)")]


def test_a_line_end_on_the_border_of_a_block_is_seen(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = line("a") + line("b") + line("c")
    path.write_bytes(data)
    for size in range(1, len(data) + 1):
        monkeypatch.setattr(journal_source, "_BLOCK", size)
        assert ids(JournalSource(path).scan(None)) == ["a", "b", "c"]


def test_what_is_no_readable_file_is_told_once_and_recovers(path: Path) -> None:
    source = JournalSource(path)
    missing = source.scan(None)
    assert said(missing) == [("the file", "there is no such file")]
    assert source.scan(missing.cursor).is_empty
    path.mkdir()
    folder = source.scan(missing.cursor)
    assert said(folder) == [("the file", "is a folder, not a journal")]
    path.rmdir()
    path.write_bytes(line("a"))
    back = source.scan(folder.cursor)
    assert (back.reset, ids(back)) == (True, ["a"])
    path.unlink()
    gone = source.scan(back.cursor)
    assert (gone.reset, ids(gone)) == (True, [])


def test_a_pipe_is_not_waited_for(path: Path) -> None:
    os.mkfifo(path)
    assert said(JournalSource(path).scan(None)) == [("the file", "is not a file")]


def test_gigabytes_without_a_line_end_are_given_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tried.pool.sources.journal_source.GIVE_UP", 8 * 1024**2)
    path.write_bytes(line("a"))
    with path.open("r+b") as file:
        file.truncate(10 * 1024**3)  # takes no room
    source = JournalSource(path)
    delta = source.scan(None)
    assert ids(delta) == ["a"]
    assert said(delta) == [("line 2", "longer than 8 MiB: neither it nor what stands behind it is read")]
    assert source.scan(delta.cursor).is_empty
    assert source.line_of("a") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_that_may_not_be_read_is_told(path: Path) -> None:
    path.write_bytes(line("a"))
    path.chmod(0)
    assert said(JournalSource(path).scan(None)) == [("the file", "cannot be read: permission denied")]


def test_an_error_while_reading_is_told(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(line("a"))

    def fail(*_: object) -> object:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tried.pool.sources.journal_source.open_plain", fail)
    assert said(JournalSource(path).scan(None)) == [("the file", "cannot be read: permission denied")]


def test_the_line_of_a_record_is_the_one_that_counts(path: Path) -> None:
    path.write_bytes(line("a") + line("b", notes="about a") + line("a") + line("x", kind="amendment", amends="a"))
    source = JournalSource(path)
    assert [source.line_of(name) for name in ("a", "b", "é", "x")] == [3, 2, None, None]
    append(path, json.dumps({"id": "é"}, ensure_ascii=False).encode() + b"\n")
    assert source.line_of("é") == 5


RECORDS = st.lists(
    st.sampled_from(
        [
            *(line("a"), line("b", notes="x" * 30), line("c"), line("d", timestamp="soon")),
            *(b"broken\n", b"\n", b"[1]\n", b'{"id":"e\n'),
        ]
    ),
    max_size=8,
)


@settings(max_examples=60)
@given(RECORDS, st.lists(st.integers(0, 400), max_size=6), st.integers(0, 5))
def test_however_a_file_grows_the_same_is_read_and_said_in_the_end(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cuts: list[int], missing: int
) -> None:
    data = b"".join(lines)
    data = data[: len(data) - missing]
    path = tmp_path_factory.mktemp("grown") / "pool.jsonl"
    source = JournalSource(path)
    every: Delta | None = None
    path.write_bytes(b"")
    for end in [*sorted(cut for cut in cuts if cut < len(data)), len(data), len(data)]:
        append(path, data[path.stat().st_size : end])
        delta = source.scan(every.cursor if every else None)
        if every is None or delta.reset:
            every = delta
        else:
            every = Delta(
                (*every.upserts, *delta.upserts),
                skipped=(*every.skipped, *delta.skipped),
                remarks=(*every.remarks, *delta.remarks),
                cursor=delta.cursor,
            )
    assert every is not None
    fresh = source.scan(None)
    assert ids(every) == ids(fresh)
    assert (every.skipped, every.remarks) == (fresh.skipped, fresh.remarks)


@pytest.mark.parametrize("bad", [b'{"id": true}', b'{"id": false, "metrics": 3}'])
def test_an_id_that_is_none_costs_its_own_line_alone(path: Path, bad: bytes) -> None:
    path.write_bytes(line("a") + bad + b"\n" + line("b"))
    delta = JournalSource(path).scan(None)
    assert ids(delta) == ["a", "b"]
    assert said(delta) == [("line 2", 'no id: every record needs one, such as "id": "run-17"')]


def test_a_line_that_defeats_the_reader_costs_itself_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fragile(text: bytes) -> Reading:
        if b"cursed" in text:
            raise KeyError("id")
        return read_line(text)

    monkeypatch.setattr(journal_source, "read_line", fragile)
    path.write_bytes(line("a") + line("cursed") + line("b"))
    source = JournalSource(path)
    delta = source.scan(None)
    assert ids(delta) == ["a", "b"]
    assert said(delta) == [("line 2", "could not be read: KeyError: 'id'")]
    assert source.line_of("b") == 3
    assert source.line_of("cursed") is None


def test_a_long_journal_comes_in_batches(path: Path) -> None:
    path.write_bytes(b"".join(line(f"r{number}") for number in range(4_500)) + b'{"id": "torn"')
    source = JournalSource(path)
    first = source.scan(None)
    assert (len(first.upserts), first.more, first.reset) == (2_000, True, False)
    assert first.total is not None
    assert 4_400 <= first.total <= 4_600
    second = source.scan(first.cursor)
    assert (ids(second)[0], len(second.upserts), second.more, second.reset) == ("r2000", 2_000, True, False)
    third = source.scan(second.cursor)
    assert (len(third.upserts), third.more, third.total) == (500, False, None)
    assert [where for where, _ in said(third)] == ["line 4501"], "the torn line is told by the first reading"
    assert source.scan(third.cursor).is_empty


def test_a_journal_that_grows_between_batches_is_read_on_and_one_that_is_another_is_read_anew(path: Path) -> None:
    path.write_bytes(b"".join(line(f"r{number}") for number in range(2_500)))
    source = JournalSource(path)
    first = source.scan(None)
    with path.open("ab") as file:
        file.write(line("late"))
    rest = source.scan(first.cursor)
    assert (rest.reset, len(rest.upserts), ids(rest)[-1], rest.more) == (False, 501, "late", False)
    path.write_bytes(b"".join(line(f"s{number}") for number in range(2_500)))
    anew = source.scan(rest.cursor)
    assert (anew.reset, len(anew.upserts), anew.more) == (True, 2_000, True)
    assert (source.scan(anew.cursor).reset, len(source.scan(anew.cursor).upserts)) == (False, 500)
