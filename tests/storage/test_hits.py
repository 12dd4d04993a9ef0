"""Hits are kept for each folder apart, add up between processes, and no damage to their file takes more than itself."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st

from tried.storage import hits
from tried.storage.files import StorageError
from tried.storage.hits import WAYS, KeptHit, Way, clear_hits, hits_file, hits_of, record_hit, shown_ways, why_not_kept
from tried.workspace.hits import MOST_TOGETHER

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEADER = '{"schema": "tried.hits/v1", "folder": "/w"}'


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tried"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return (tmp_path / "work").resolve()


def file_of(folder: Path) -> Path:
    path = hits_file(folder)
    assert path is not None
    return path


def put(folder: Path, content: bytes) -> Path:
    path = file_of(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def counts(folder: Path, now: datetime = NOW) -> dict[str, int]:
    return {record_id: hit.count for record_id, hit in hits_of(folder, now).hits.items()}


def line(
    record_id: str = "a", count: object = 1, last: object = "2026-11-30T10:00:00Z", how: object = "opened"
) -> bytes:
    return json.dumps({"record": record_id, "hits": count, "last": last, "how": how}).encode()


def test_hits_add_up_by_record_and_way(folder: Path) -> None:
    record_hit(folder, ["a", "b"], "compared", NOW)
    record_hit(folder, ["a"], "opened", NOW + timedelta(seconds=2.5))
    record_hit(folder, ["a"], "opened", NOW - timedelta(days=1))
    kept = hits_of(folder, NOW)
    assert kept.hits == {
        "a": KeptHit(3, NOW + timedelta(seconds=2.5), {"opened": 2, "compared": 1}),
        "b": KeptHit(1, NOW, {"compared": 1}),
    }
    assert (kept.unread, kept.problem) == (0, None)
    assert [json.loads(each) for each in file_of(folder).read_bytes().splitlines()] == [
        {"schema": "tried.hits/v1", "folder": str(folder)},
        {"record": "a", "hits": 1, "last": "2026-11-30T12:00:00.000+00:00", "how": "compared"},
        {"record": "b", "hits": 1, "last": "2026-11-30T12:00:00.000+00:00", "how": "compared"},
        {"record": "a", "hits": 1, "last": "2026-11-30T12:00:02.500+00:00", "how": "opened"},
        {"record": "a", "hits": 1, "last": "2026-11-29T12:00:00.000+00:00", "how": "opened"},
    ]


def test_no_record_is_no_hit(folder: Path, state: Path) -> None:
    record_hit(folder, [], "opened", NOW)
    record_hit(folder, ["", "x" * 5_000], "opened", NOW)
    assert not state.exists()
    assert hits_of(folder, NOW).hits == {}


def test_they_are_the_users_own_and_nobody_elses(folder: Path, state: Path) -> None:
    record_hit(folder, ["a"], "opened", NOW)
    path = file_of(folder)
    assert path.parent == state / "hits"
    assert [place.stat().st_mode & 0o777 for place in (state, path.parent, path)] == [0o700, 0o700, 0o600]
    assert list(folder.iterdir()) == []


def test_a_folder_is_known_by_its_real_path(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    record_hit(tmp_path / "link", ["a"], "opened", NOW)
    assert counts(folder) == {"a": 1}
    assert counts(tmp_path) == {}
    assert file_of(folder) != file_of(tmp_path)


def test_what_is_cleared_is_forgotten_and_the_others_are_not(folder: Path) -> None:
    assert clear_hits(folder) == 0
    for how in WAYS:
        record_hit(folder, ["a", "b"], how, NOW)
    record_hit(folder, ["c"], "used", NOW)
    assert clear_hits(folder, ["a", "nobody"]) == 1
    assert hits_of(folder, NOW).hits == {
        "b": KeptHit(4, NOW, {"opened": 1, "compared": 1, "used": 1, "concluded": 1}),
        "c": KeptHit(1, NOW, {"used": 1}),
    }
    assert file_of(folder).stat().st_mode & 0o777 == 0o600
    assert clear_hits(folder) == 2
    assert not file_of(folder).exists()
    record_hit(folder, ["a"], "opened", NOW)
    assert counts(folder) == {"a": 1}


# damage

LINES = [
    HEADER.encode(),
    *(line(f"record-{number}", number + 1, "2026-11-30T10:00:00Z", "used") for number in range(5)),
]
WHOLE = b"".join(each + b"\n" for each in LINES)


@given(cut=st.integers(0, len(WHOLE)))
def test_a_file_that_is_torn_at_any_byte_loses_the_torn_line_at_most(cut: int) -> None:
    expected, end = {}, 0
    for number, each in enumerate(LINES):
        end += len(each)
        if number and end <= cut:
            expected[f"record-{number - 1}"] = number
        end += 1
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", home)
        put(Path("/w"), WHOLE[:cut])
        kept = hits_of(Path("/w"), NOW)
        assert {record_id: hit.count for record_id, hit in kept.hits.items()} == expected
        assert kept.unread <= 1
        record_hit(Path("/w"), ["next"], "opened", NOW)
        assert counts(Path("/w")) == {**expected, "next": 1}
        assert hits_of(Path("/w"), NOW).unread <= 1


@given(number=st.integers(0, 5), place=st.integers(0, 200), noise=st.binary(max_size=60))
def test_a_line_that_is_overwritten_takes_no_other_with_it(number: int, place: int, noise: bytes) -> None:
    lines = list(LINES)
    place = min(place, len(lines[number]))
    lines[number] = lines[number][:place] + noise + lines[number][place + len(noise) :]
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", home)
        put(Path("/w"), b"".join(each + b"\n" for each in lines))
        found = counts(Path("/w"))
    if not lines[number].startswith(b'{"schema":') or number:  # a header may have come to name another schema
        others = {f"record-{each}": each + 1 for each in range(5) if each + 1 != number}
        assert all(found.get(record_id, 0) >= count for record_id, count in others.items())


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff\xfe\x00garbage",
        b"{",
        b"[]",
        b"3",
        b"null",
        b"[" * 60_000,
        b'{"a":' * 10_000,
        b"\x00" * 300,
        line().decode().encode("utf-16"),
        line().replace(b'"hits": 1', b'"hits": 1e400'),
        line().replace(b'"hits": 1', b'"hits": NaN'),
        line().replace(b'"hits": 1', b'"hits": ' + b"9" * 5_000),
        line(count=-3),
        line(count=0),
        line(count=True),
        line(count=1.0),
        line(count="2"),
        line(count=None),
        line(count=1_000_001),
        line(last="2026-12-01T12:00:01Z"),
        line(last="9999-12-31T23:59:59Z"),
        line(last="9999-12-31T23:59:59-23:00"),
        line(last="0001-01-01T00:00:00+23:00"),
        line(last="yesterday"),
        line(last=1_796_000_000),
        line(last=None),
        line(""),
        line("x" * 4_097),
        line("x" * 70_000),
        line().replace(b'"a"', b"7"),
        b'{"hits": 1, "last": "2026-11-30T10:00:00Z"}',
        b'{"schema": "tried.hits/v2", "record": "a"}',
    ],
    ids=lambda bad: repr(bad[:40]),
)
def test_a_line_that_is_no_hit_is_skipped_and_counted(folder: Path, bad: bytes) -> None:
    good = line("good", 2, "2026-12-01T11:59:59Z", "concluded")
    put(folder, HEADER.encode() + b"\n" + bad.replace(b"\n", b" ") + b"\n\n" + good + b"\n")
    kept = hits_of(folder, NOW)
    when = datetime(2026, 12, 1, 11, 59, 59, tzinfo=UTC)
    assert kept.hits == {"good": KeptHit(2, when, {"concluded": 2})}
    assert (kept.unread, kept.problem) == (1, None)


def test_ways_of_a_later_version_count_as_others(folder: Path) -> None:
    lines = [line(how="starred", count=3), line(how=["opened"]), line(how="x" * 65), line(how="used"), b""]
    put(folder, b"\n".join([HEADER.encode(), *lines]))
    hit = hits_of(folder, NOW).hits["a"]
    assert hit.count == 6
    assert list(hit.ways.items()) == [("used", 1), ("other", 2), ("starred", 3)]
    assert shown_ways(hit.ways) == {"used": 1, "other": 5}
    assert shown_ways({"used": 1}) == {"used": 1}


def test_ways_of_a_later_version_keep_their_words_when_the_file_is_written_anew(folder: Path) -> None:
    put(folder, b"\n".join([HEADER.encode(), line(how="starred"), line("b"), line(how="starred", count=2), b""]))
    assert clear_hits(folder, ["b"]) == 1
    assert b'"how": "starred"' in file_of(folder).read_bytes()
    assert hits_of(folder, NOW).hits["a"].ways == {"starred": 3}


def test_counts_have_an_end(folder: Path) -> None:
    put(folder, b"\n".join([HEADER.encode(), line(count=1_000_000), line(count=1_000_000), line(count=5, how="used")]))
    hit = hits_of(folder, NOW).hits["a"]
    assert (hit.count, hit.ways) == (1_000_000, {"opened": 1_000_000, "used": 5})


@pytest.mark.parametrize("first", [b'{"schema": "tried.hits/v2"}', b'{"schema": "somebody.else/v1", "record": "a"}'])
def test_a_file_of_another_schema_is_left_as_it_is(folder: Path, first: bytes) -> None:
    content = first + b"\n" + line() + b"\n"
    path = put(folder, content)
    kept = hits_of(folder, NOW)
    assert (dict(kept.hits), kept.unread) == ({}, 2)
    assert kept.problem is not None
    assert "another version of tried" in kept.problem
    for change in (lambda: record_hit(folder, ["a"], "opened", NOW), lambda: clear_hits(folder, ["a"])):
        with pytest.raises(StorageError, match="tried hits --clear"):
            change()
        assert path.read_bytes() == content
    clear_hits(folder)
    record_hit(folder, ["a"], "opened", NOW)
    assert counts(folder) == {"a": 1}


def test_of_a_huge_file_no_more_is_read_than_may_be(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MOST_BYTES", 1_000)
    lines = [HEADER.encode(), *(line(f"record-{number:03}") for number in range(100))]
    put(folder, b"\n".join(lines))
    kept = hits_of(folder, NOW)
    whole = (b"\n".join(lines))[:1_000].count(b"\n") - 1
    assert list(kept.hits) == [f"record-{number:03}" for number in range(whole)]
    assert kept.unread == 1
    assert kept.problem is not None
    assert "has more than 1,000 bytes and 100,000 lines" in kept.problem
    monkeypatch.setattr(hits, "GROWN_BYTES", 500)
    record_hit(folder, ["late"], "opened", NOW)
    with pytest.raises(StorageError, match="`tried hits --clear` removes it"):
        clear_hits(folder, ["record-000"])
    assert file_of(folder).read_bytes().splitlines()[:-1] == lines  # what was not read is not lost
    assert clear_hits(folder) == whole


@pytest.mark.parametrize("filling", [b"\n", b"x\n", b"{}\n", b'{"a":1}\n', line(count=-1) + b"\n", b"\x00"])
def test_a_file_of_gigabytes_takes_no_longer(folder: Path, filling: bytes) -> None:
    path = put(folder, HEADER.encode() + b"\n" + line() + b"\n" + filling * (hits.MOST_BYTES // len(filling)))
    os.truncate(path, 8 * 1024**3)  # the rest is a hole: it takes no room on the disk
    began = time.perf_counter()
    kept = hits_of(folder, NOW)
    assert time.perf_counter() - began < 5
    assert {record_id: hit.count for record_id, hit in kept.hits.items()} == {"a": 1}
    assert kept.unread <= hits.MOST_LINES
    assert kept.problem is not None


# what stands in the way


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_told_and_not_waited_for(folder: Path, kind: str) -> None:
    path = file_of(folder)
    path.parent.mkdir(parents=True)
    path.mkdir() if kind == "folder" else os.mkfifo(path)
    kept = hits_of(folder, NOW)
    assert kept.hits == {}
    assert kept.problem is not None
    assert str(path) in kept.problem
    with pytest.raises(StorageError, match="nothing was written"):
        record_hit(folder, ["a"], "opened", NOW)


def test_a_state_folder_that_cannot_be_made_is_told(folder: Path, state: Path) -> None:
    state.parent.mkdir()
    state.touch()
    with pytest.raises(StorageError, match="the folder cannot be made"):
        record_hit(folder, ["a"], "opened", NOW)
    assert hits_of(folder, NOW).hits == {}
    assert why_not_kept(folder) == (
        f"{state}: hits cannot be kept: a file stands where a folder must be; move it away, or set XDG_STATE_HOME"
    )
    state.unlink()
    assert why_not_kept(folder) is None


def test_a_state_folder_that_cannot_be_written_is_told(folder: Path, state: Path) -> None:
    (state / "hits").mkdir(parents=True)
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    (state / "hits").chmod(0o500)
    try:
        with pytest.raises(StorageError, match="cannot be locked"):
            record_hit(folder, ["a"], "opened", NOW)
        told = why_not_kept(folder)
        assert told is not None
        assert "it cannot be written" in told
        assert hits_of(folder, NOW).problem is None
    finally:
        (state / "hits").chmod(0o700)


def test_without_a_home_there_are_none_and_that_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME", raising=False)
    assert hits_file(folder) is None
    assert hits_of(folder).problem == "there is no home folder to keep hits in: set HOME or XDG_STATE_HOME"
    for change in (lambda: record_hit(folder, ["a"], "opened", NOW), lambda: clear_hits(folder)):
        with pytest.raises(StorageError, match="set HOME or XDG_STATE_HOME"):
            change()


def test_a_lock_that_somebody_keeps_is_not_waited_for_long(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record_hit(folder, ["a"], "opened", NOW)
    path = file_of(folder)
    monkeypatch.setattr(hits, "LOCK_SECONDS", 0.05)
    with FileLock(path.with_name(f".{path.name}.lock"), is_singleton=False):
        with pytest.raises(StorageError, match="another process has held the lock"):
            record_hit(folder, ["a"], "opened", NOW)
        assert counts(folder) == {"a": 1}
    record_hit(folder, ["a"], "opened", NOW)
    assert counts(folder) == {"a": 2}


FULL = """
import resource, sys
from datetime import UTC, datetime
from pathlib import Path
from tried.storage.files import StorageError
from tried.storage.hits import hits_file, record_hit
folder = Path(sys.argv[1])
record_hit(folder, ["first"], "opened", datetime(2026, 11, 30, tzinfo=UTC))
size = hits_file(folder).stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, size + 20))
try:
    record_hit(folder, ["second"], "opened", datetime(2026, 11, 30, tzinfo=UTC))
except StorageError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits on the size of files there")
def test_where_there_is_no_room_nothing_of_it_is_left(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL, str(folder)], capture_output=True, text=True, check=True)
    assert "nothing was written" in done.stdout
    assert done.stderr == ""
    assert counts(folder) == {"first": 1}
    assert hits_of(folder, NOW).unread == 0


# a file that has grown


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "GROWN_BYTES", 2_000)
    monkeypatch.setattr(hits, "KEPT_BYTES", 1_000)


@pytest.mark.usefixtures("small")
def test_a_file_that_has_grown_is_written_anew_and_means_the_same(folder: Path) -> None:
    model: Counter[tuple[str, Way]] = Counter()
    sizes = []
    for number in range(60):
        record_id, how = f"r{number % 2}", WAYS[number % 3]
        record_hit(folder, [record_id], how, NOW + timedelta(seconds=number))
        model[record_id, how] += 1
        sizes.append(file_of(folder).stat().st_size)
        found = hits_of(folder, NOW).hits
        assert {(each, way): count for each, hit in found.items() for way, count in hit.ways.items()} == dict(model)
        assert found[record_id].last == NOW + timedelta(seconds=number)
    assert max(sizes) <= 2_000
    assert any(after < before for before, after in itertools.pairwise(sizes))
    assert json.loads(file_of(folder).read_bytes().splitlines()[0])["schema"] == "tried.hits/v1"
    assert file_of(folder).stat().st_mode & 0o777 == 0o600


@pytest.mark.usefixtures("small")
def test_of_more_than_it_may_hold_what_was_hit_longest_ago_is_forgotten(folder: Path) -> None:
    for number in range(100):
        record_hit(folder, [f"record-{number:03}"], "opened", NOW + timedelta(minutes=number))
        assert file_of(folder).stat().st_size <= 2_000
    kept = sorted(counts(folder))
    assert kept == [f"record-{number:03}" for number in range(100 - len(kept), 100)]
    assert 8 <= len(kept) < 20  # a line of 88 bytes or so in a file of 1,000 to 2,000


@pytest.mark.usefixtures("small")
def test_what_was_concluded_once_and_no_more_is_forgotten_first(folder: Path) -> None:
    record_hit(folder, ["opened"], "opened", NOW)
    record_hit(folder, ["both", "twice"], "concluded", NOW)
    record_hit(folder, ["both"], "used", NOW)
    record_hit(folder, ["twice"], "concluded", NOW)
    record_hit(folder, (f"record-{number:03}" for number in range(100)), "concluded", NOW + timedelta(days=1))
    kept = hits_of(folder, NOW + timedelta(days=1)).hits
    assert 4 < len(kept) < 20
    assert {name: dict(hit.ways) for name, hit in kept.items() if not name.startswith("record")} == {
        "opened": {"opened": 1},
        "both": {"used": 1, "concluded": 1},
        "twice": {"concluded": 2},
    }


@pytest.mark.usefixtures("small")
def test_who_clears_one_record_forgets_no_other(folder: Path) -> None:
    record_hit(folder, [f"record-{number:03}" for number in range(15)], "opened", NOW)
    assert 1_000 < file_of(folder).stat().st_size <= 2_000
    assert clear_hits(folder, ["record-007"]) == 1
    assert sorted(counts(folder)) == [f"record-{number:03}" for number in range(15) if number != 7]


@pytest.mark.usefixtures("small")
def test_many_records_at_once_are_written_one_part_after_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MOST_AT_ONCE", 10)
    record_hit(folder, (f"record-{number:03}" for number in range(100)), "concluded", NOW)
    assert file_of(folder).stat().st_size <= 2_000
    assert hits_of(folder, NOW).unread == 0
    assert len(counts(folder)) >= 8


COUNTING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from tried.storage import hits
hits.GROWN_BYTES, hits.KEPT_BYTES, hits.LOCK_SECONDS = 1_500, 1_000, 30.0
for number in range(int(sys.argv[2])):
    hits.record_hit(Path(sys.argv[1]), [f"r{number % 3}"], "opened", datetime.now(UTC))
"""


def test_processes_that_count_at_once_lose_nothing_while_the_file_is_written_anew(folder: Path) -> None:
    each, processes = 60, 4
    command = [sys.executable, "-c", COUNTING, str(folder), str(each)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(processes)]
    seen = [0]
    while any(process.poll() is None for process in running):
        kept = hits_of(folder)
        assert kept.problem is None
        seen.append(sum(hit.count for hit in kept.hits.values()))
        time.sleep(0.002)
    errors = [process.communicate()[1] for process in running]
    assert errors == [b""] * processes
    assert seen == sorted(seen), "a reader saw hits go away"
    kept = hits_of(folder)
    assert {record_id: hit.count for record_id, hit in kept.hits.items()} == dict.fromkeys(("r0", "r1", "r2"), 80)
    assert kept.unread == 0
    assert file_of(folder).stat().st_size <= 1_500
    assert not [path for path in file_of(folder).parent.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize(("ways", "least", "most"), [(1, 3_500, 4_500), (3, 1_400, 2_000)])
def test_the_room_that_is_left_is_what_the_page_says(folder: Path, ways: int, least: int, most: int) -> None:
    names = [f"mlflow:{number:032x}" for number in range(hits.MOST_AT_ONCE)]
    for number, how in enumerate(WAYS[:ways]):
        record_hit(folder, names, how, NOW + timedelta(seconds=number))
    record_hit(folder, names, WAYS[0], NOW)
    assert hits.KEPT_BYTES * 0.99 < file_of(folder).stat().st_size <= hits.KEPT_BYTES
    assert least < len(counts(folder)) < most


def test_the_page_tells_what_is_so(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "hits.md").read_text(encoding="utf-8")
    assert [row.split("`")[1] for row in page.splitlines() if row.startswith("| `")] == list(WAYS)
    for told in (
        f"{hits.MOST_HITS:,}",
        f"{hits.MOST_LINES:,} lines",
        f"{hits.MOST_BYTES // 1024**2} MB",
        f"more than {MOST_TOGETHER} records",
    ):
        assert told in page
    example = page.split("```\n")[1]
    put(folder, example.encode())
    when = datetime(2026, 11, 30, 12, 4, 10, 250_000, tzinfo=UTC)
    assert hits_of(folder, NOW).hits == {"HYD-014": KeptHit(2, when, {"opened": 1, "compared": 1})}
    assert hits_of(folder, NOW).unread == 0
