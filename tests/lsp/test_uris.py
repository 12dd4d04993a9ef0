"""URIs of editors and the files they name."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tried.lsp.uris import is_untitled, path_of, uri_of

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="POSIX paths")


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.yaml", "/a/b.yaml"),
        ("file://localhost/a/b.yaml", "/a/b.yaml"),
        ("file:///a%20b/%E5%AE%9F%E9%A8%93.yaml", "/a b/実験.yaml"),
        ("file:///a/b;c.yaml", "/a/b;c.yaml"),
        ("file:///a/b%23c%3F.yaml", "/a/b#c?.yaml"),
        ("file:///a/../b.yaml", "/b.yaml"),
    ],
)
def test_file_uris_name_files(uri: str, path: str) -> None:
    assert path_of(uri) == Path(path)


@pytest.mark.parametrize(
    "uri",
    [
        "untitled:Untitled-1",
        "git:/a/b.yaml?ref",
        "file://server/share/x.yaml",
        "file://",
        "",
        "file://[",
        "a.yaml",
        "file:///a%00b",
    ],
)
def test_everything_else_names_none(uri: str) -> None:
    assert path_of(uri) is None


def test_a_path_that_is_no_unicode_survives() -> None:
    assert uri_of(path_of("file:///a/%FF.yaml") or Path()) == "file:///a/%FF.yaml"


def test_untitled() -> None:
    assert is_untitled("untitled:Untitled-1")
    assert not is_untitled("file:///a.yaml")
