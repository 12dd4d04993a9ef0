"""Files of traces: what they hold at most, who writes them, and what is left when a writer dies."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

from tried.storage import traces
from tried.storage.files import StorageError
from tried.storage.traces import FILES, keep_trace, lines_of, trace_files, traces_folder, write_trace

needs_modes = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
needs_a_user = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind the superuser"
)
BEGINNING = b'{"schema":"tried.trace/v'


def lines_in(folder: Path) -> list[bytes]:
    return [line.data or b"" for file in trace_files(folder) for line in lines_of(file)]


def sizes(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_size for file in trace_files(folder)}


def test_they_lie_in_the_state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = keep_trace(b"{}", 1000)
    assert path == tmp_path / "tried" / "traces" / "trace-00000001.jsonl"
    assert path.parent == traces_folder()
    assert path.read_bytes() == b"{}\n"


def test_without_a_home_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "state_folder", lambda: None)
    assert traces_folder() is None
    with pytest.raises(StorageError, match="set HOME or XDG_STATE_HOME"):
        keep_trace(b"{}", 1000)


@needs_modes
def test_only_the_user_may_read_them(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        path = keep_trace(b"{}", 1000, tmp_path / "state" / "traces")
        own = tmp_path / "own.jsonl"
        write_trace(BEGINNING, own, BEGINNING)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(own.stat().st_mode) == 0o600


def test_a_file_holds_its_share_and_the_oldest_files_go(tmp_path: Path) -> None:
    # 8 files of 125 bytes may lie there; a line takes 50, so that two make a file, and 16 are kept at most
    most = 1000
    for number in range(40):
        keep_trace(b"%049d" % number, most, tmp_path)
        assert sum(sizes(tmp_path).values()) <= most
    assert set(sizes(tmp_path).values()) == {100}
    assert list(sizes(tmp_path))[-1] == "trace-00000020.jsonl"
    kept = [int(line) for line in lines_in(tmp_path)]
    assert kept == list(range(40 - len(kept), 40))
    assert len(kept) >= 16


def test_a_folder_that_may_hold_less_now_is_cut_down(tmp_path: Path) -> None:
    for number in range(20):
        keep_trace(b"%049d" % number, 1000, tmp_path)
    keep_trace(b"%049d" % 20, 200, tmp_path)
    assert sum(sizes(tmp_path).values()) <= 200
    assert [int(line) for line in lines_in(tmp_path)] == [18, 19, 20]


def test_a_large_trace_has_a_file_of_its_own(tmp_path: Path) -> None:
    most = 1000
    keep_trace(b"small", most, tmp_path)
    keep_trace(b"x" * (most // FILES * 3), most, tmp_path)
    keep_trace(b"small", most, tmp_path)
    assert list(sizes(tmp_path).values()) == [6, most // FILES * 3 + 1, 6]


def test_one_that_can_never_fit_is_refused_and_nothing_is_deleted(tmp_path: Path) -> None:
    keep_trace(b"old", 1000, tmp_path)
    with pytest.raises(StorageError, match=r"trace\.max_mb.*trace\.candidates"):
        keep_trace(b"x" * 999, 1000, tmp_path)
    assert lines_in(tmp_path) == [b"old"]


def test_what_else_lies_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    (tmp_path / "trace-00000009.jsonl").mkdir()
    (tmp_path / "trace-1.jsonl").write_text("mine", encoding="utf-8")
    for number in range(30):
        keep_trace(b"%049d" % number, 500, tmp_path)
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"
    assert (tmp_path / "trace-1.jsonl").read_text(encoding="utf-8") == "mine"
    assert {path.name for path in trace_files(tmp_path)}.isdisjoint({"trace-00000009.jsonl", "trace-1.jsonl"})
    assert sum(sizes(tmp_path).values()) <= 500


def test_numbers_are_ordered_as_numbers(tmp_path: Path) -> None:
    for number in (99_999_999, 100_000_000):
        (tmp_path / f"trace-{number:08}.jsonl").write_bytes(b"%d\n" % number)
    path = keep_trace(b"new", 1000, tmp_path)
    assert path.name == "trace-100000000.jsonl"
    assert lines_in(tmp_path) == [b"99999999", b"100000000", b"new"]


def test_a_folder_of_somebody_s_own(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.jsonl", "notes.txt"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    assert [path.name for path in trace_files(tmp_path)] == ["a.jsonl", "b.jsonl"]
    assert lines_in(tmp_path) == [b"a.jsonl", b"b.jsonl"]


def test_a_trace_cut_off_at_any_byte_takes_none_of_its_neighbours_with_it(tmp_path: Path) -> None:
    whole = b'{"schema":"tried.trace/v1","id":"a"}\n{"schema":"tried.trace/v1","id":"b"}\n'
    path = tmp_path / "trace-00000001.jsonl"
    for end in range(len(whole) + 1):
        path.write_bytes(whole[:end])
        keep_trace(b'{"id":"c"}', 10_000, tmp_path)
        lines = lines_in(tmp_path)
        assert lines[-1] == b'{"id":"c"}'
        torn = whole[:end].split(b"\n")
        assert lines[:-1] == [part for part in torn if part]


def test_lines_are_numbered_as_an_editor_numbers_them(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"one\r\n\n\ntwo\nthree")
    assert [(line.number, line.data) for line in lines_of(path)] == [(1, b"one"), (4, b"two"), (5, b"three")]


def test_a_line_without_end_is_not_taken_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "LINE_LIMIT", 10)
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"0123456789\n" + b"x" * 35 + b"\nlast\n" + b"y" * 11)
    assert [(line.number, line.data) for line in lines_of(path)] == [
        (1, b"0123456789"),
        (2, None),
        (3, b"last"),
        (4, None),
    ]


WRITER = """
import sys
from pathlib import Path
from tried.storage.traces import keep_trace
for number in range(int(sys.argv[3])):
    keep_trace(f"{sys.argv[2]}-{number:04}".encode() + b"." * 3000, int(sys.argv[4]), Path(sys.argv[1]))
"""


def started(folder: Path, name: str, count: int, most: int) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", WRITER, str(folder), name, str(count), str(most)]
    return subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    writers = [started(tmp_path, name, 60, 10_000_000) for name in ("a", "b")]
    for writer in writers:
        assert writer.communicate(timeout=60)[1] == b""
        assert writer.returncode == 0
    names = [line[:6].decode() for line in lines_in(tmp_path)]
    assert sorted(names) == sorted(f"{writer}-{number:04}" for writer in "ab" for number in range(60))
    for writer_name in "ab":
        own = [name for name in names if name.startswith(writer_name)]
        assert own == sorted(own)
    assert all(len(line) == 3006 for line in lines_in(tmp_path))


def test_two_processes_make_room_at_once(tmp_path: Path) -> None:
    most = 40_000
    writers = [started(tmp_path, name, 60, most) for name in ("a", "b")]
    while any(writer.poll() is None for writer in writers):
        for file in trace_files(tmp_path):
            try:
                assert all(len(line.data or b"") == 3006 for line in lines_of(file))
            except FileNotFoundError:  # made room for another
                continue
    assert [writer.communicate()[1] for writer in writers] == [b"", b""]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert sum(sizes(tmp_path).values()) <= most
    assert all(len(line) == 3006 for line in lines_in(tmp_path))


def test_a_writer_that_is_killed_leaves_no_lock_and_one_torn_line_at_most(tmp_path: Path) -> None:
    writer = started(tmp_path, "a", 100_000, 10_000_000)
    while not trace_files(tmp_path):
        assert writer.poll() is None
    writer.kill()
    writer.communicate()
    keep_trace(b"after", 10_000_000, tmp_path)
    lines = lines_in(tmp_path)
    assert lines[-1] == b"after"
    assert sum(len(line) != 3006 for line in lines[:-1]) <= 1


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_where_nothing_more_fits_the_file_stays_as_it_was(tmp_path: Path) -> None:
    keep_trace(b"old", 1000, tmp_path)
    code = f"""
import resource, signal
from pathlib import Path
from tried.storage.files import StorageError
from tried.storage.traces import keep_trace
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
try:
    keep_trace(b"x" * 90, 1000, Path({str(tmp_path)!r}))
except StorageError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert "nothing was written: " in done.stdout
    assert (tmp_path / "trace-00000001.jsonl").read_bytes() == b"old\n"


def test_a_file_in_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "traces").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="traces: the folder cannot be made"):
        keep_trace(b"{}", 1000, tmp_path / "traces")


@needs_modes
@needs_a_user
def test_a_folder_that_is_read_only(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StorageError, match="permission denied"):
            keep_trace(b"{}", 1000, tmp_path)
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(not Path("/sys/kernel").is_dir(), reason="no file system that even the superuser cannot write to")
def test_a_file_system_that_is_read_only() -> None:
    with pytest.raises(StorageError, match="/sys/kernel/tried: the folder cannot be made: "):
        keep_trace(b"{}", 1000, Path("/sys/kernel/tried"))
    with pytest.raises(StorageError, match="/sys/kernel: cannot be locked: "):
        keep_trace(b"{}", 1000, Path("/sys/kernel"))


def test_a_disk_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_trace(b"old", 1000, tmp_path)
    opened = os.open

    def refusing(path: str | os.PathLike[str], flags: int, *rest: int, **named: int) -> int:
        if str(path).endswith(".jsonl"):
            raise OSError(30, "Read-only file system")
        return opened(path, flags, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)
    with pytest.raises(StorageError, match="nothing was written: read-only file system"):
        keep_trace(b"new", 1000, tmp_path)
    monkeypatch.undo()
    assert lines_in(tmp_path) == [b"old"]


def test_a_file_that_somebody_names_is_added_to_if_it_holds_traces(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    for number in (b"1", b"2"):
        write_trace(BEGINNING + number, path, BEGINNING)
    assert path.read_bytes() == BEGINNING + b"1\n" + BEGINNING + b"2\n"
    path.write_bytes(BEGINNING[:10])  # its writer was stopped at once
    write_trace(BEGINNING + b"3", path, BEGINNING)
    assert path.read_bytes() == BEGINNING[:10] + b"\n" + BEGINNING + b"3\n"


@pytest.mark.parametrize("content", [b"lr: 0.1\n", b"{}\n", b'{"schema":"tried.ranking/v1"}\n', b"\0"])
def test_a_file_that_holds_something_else_stays_as_it_is(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config.yaml"
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"config\.yaml: nothing was written: it holds something else"):
        write_trace(BEGINNING + b"1", path, BEGINNING)
    assert path.read_bytes() == content


def test_what_is_no_file_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="it is a folder; name a file"):
        write_trace(b"{}", tmp_path, BEGINNING)
    with pytest.raises(StorageError, match="there is no folder"):
        write_trace(b"{}", tmp_path / "none" / "t.jsonl", BEGINNING)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(StorageError, match="nothing was written"):
            write_trace(b"{}", tmp_path / "pipe", BEGINNING)


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "tried"


@pytest.mark.usefixtures("state")
def test_nothing_is_left_beside_a_file_of_somebody_s_own(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "config.yaml").write_text("lr: 0.1\n", encoding="utf-8")
    with pytest.raises(StorageError, match="something else"):
        write_trace(BEGINNING, own / "config.yaml", BEGINNING)
    assert [path.name for path in own.iterdir()] == ["config.yaml"]
    write_trace(BEGINNING, own / "t.jsonl", BEGINNING)
    assert sorted(path.name for path in own.iterdir()) == ["config.yaml", "t.jsonl"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_device_is_looked_at_before_it_is_locked(state: Path) -> None:
    with pytest.raises(StorageError, match="/dev/full: nothing was written: it is a pipe, a socket or a device"):
        write_trace(BEGINNING, Path("/dev/full"), BEGINNING)
    assert not Path("/dev/.full.lock").exists()
    assert not state.exists()


def test_all_names_of_a_file_have_one_lock_in_the_state_folder(tmp_path: Path, state: Path) -> None:
    (tmp_path / "folder").mkdir()
    path = tmp_path / "t.jsonl"
    (tmp_path / "link.jsonl").symlink_to(path)
    for name in (path, tmp_path / "folder" / ".." / "t.jsonl", tmp_path / "link.jsonl"):
        write_trace(BEGINNING, name, BEGINNING)
    (lock,) = (state / "locks").iterdir()
    assert path.read_bytes() == 3 * (BEGINNING + b"\n")
    began = time.monotonic()
    with (
        FileLock(lock),
        pytest.raises(StorageError, match=rf"t\.jsonl: another process has held the lock .*{lock.name}"),
    ):
        write_trace(BEGINNING, path, BEGINNING)
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("how", ["none", "in the way"])
def test_without_a_state_folder_a_file_is_written_all_the_same(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    if how == "none":
        monkeypatch.setattr(traces, "state_folder", lambda: None)
    else:
        state.parent.mkdir()
        state.write_text("in the way", encoding="ascii")
    write_trace(BEGINNING, tmp_path / "t.jsonl", BEGINNING)
    assert (tmp_path / "t.jsonl").read_bytes() == BEGINNING + b"\n"


OWN_WRITER = """
import sys
from pathlib import Path
from tried.storage.traces import write_trace
beginning = b'{"schema":"tried.trace/v'
for number in range(40):
    write_trace(beginning + b'1"' + sys.argv[2].encode() * 3000, Path(sys.argv[1]), beginning)
"""


@pytest.mark.usefixtures("state")
def test_two_processes_add_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    writers = [
        subprocess.Popen([sys.executable, "-c", OWN_WRITER, str(path), name], stderr=subprocess.PIPE) for name in "ab"
    ]
    assert [writer.communicate(timeout=60)[1] for writer in writers] == [b"", b""]
    lines = [line.data or b"" for line in lines_of(path)]
    assert sorted(line[26:] for line in lines) == [name * 3000 for name in (b"a", b"b") for _ in range(40)]


def test_a_folder_that_somebody_holds_is_not_waited_for_long_and_is_named(tmp_path: Path) -> None:
    keep_trace(b"old", 1000, tmp_path)
    began = time.monotonic()
    with FileLock(tmp_path / ".traces.lock"), pytest.raises(StorageError) as caught:
        keep_trace(b"new", 1000, tmp_path)
    assert time.monotonic() - began < 5
    assert str(caught.value) == (
        f"{tmp_path}: another process has held the lock {tmp_path / '.traces.lock'} for 1 s; try again when it is done"
    )
    assert lines_in(tmp_path) == [b"old"]
