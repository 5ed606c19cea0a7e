"""Only what is plainly a file of our own user is opened, and nothing waits for it."""

import os
import socket
import time
from pathlib import Path

import pytest

from crabhook.safe_open import NotOursError, open_own, read_own
from tests.support.hostile_files import make

MOST = 1 << 20


def test_a_file_of_ours_is_opened_with_its_size(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with open_own(tmp_path / "file") as (file, found):
        assert (file.read(), found.st_size) == (b"abc", 3)
        assert not os.get_inheritable(file.fileno())


@pytest.mark.parametrize(
    "kind",
    ["fifo", "link to stdin", "link to zero", "link to fifo", "link to itself", "folder", "sparse",
     "device", "nothing", "a\0b", "x" * 300],
)  # fmt: skip
@pytest.mark.parametrize("links", [False, True])
@pytest.mark.parametrize("anybodys", [False, True])
def test_anything_else_is_refused_at_once_whoever_may_own_it(
    tmp_path: Path, kind: str, links: bool, anybodys: bool
) -> None:
    path = Path("/dev/zero") if kind == "device" else make(tmp_path / kind, kind)
    began = time.monotonic()
    with pytest.raises(OSError, match=r"it is|No such|null|too long|levels of symbolic"):
        read_own(path, MOST, links=links, anybodys=anybodys)
    assert time.monotonic() - began < 5


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        with pytest.raises(NotOursError, match="not a regular file"):
            read_own(tmp_path / "s", MOST)


def test_no_more_is_read_than_was_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 1025)
    assert len(read_own(tmp_path / "file", 1025)) == 1025
    with pytest.raises(NotOursError, match="larger than 1 KiB"):
        read_own(tmp_path / "file", 1024)


def test_a_link_is_read_only_where_one_is_due(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    assert read_own(tmp_path / "link", MOST, links=True) == b"abc"
    with pytest.raises(NotOursError, match="it is a link"):
        read_own(tmp_path / "link", MOST)


def test_a_relative_path_is_no_agents_to_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_bytes(b"abc")
    assert read_own("file", MOST, links=True) == b"abc"
    with pytest.raises(NotOursError, match="not absolute"):
        read_own("file", MOST)


def test_another_users_file_is_refused_and_roots_only_where_links_are_due(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    owner = (tmp_path / "file").stat().st_uid
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    with pytest.raises(NotOursError, match="another user's"):
        read_own(tmp_path / "file", MOST)
    if owner == 0:
        assert read_own(tmp_path / "file", MOST, links=True) == b"abc"
    assert read_own(tmp_path / "file", MOST, anybodys=True) == b"abc"
    if root_file := next((one for one in (Path("/etc/passwd"),) if one.stat().st_uid == 0), None):
        assert read_own(root_file, MOST, links=True)
