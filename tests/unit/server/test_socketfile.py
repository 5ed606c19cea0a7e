"""A socket belongs to one server, and to nobody else's files."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crabhook.server.unix_socket import SocketTakenError, claimed
from tests.support.port import short_folder

HOLD = """
import pathlib, socket, sys
from crabhook.server.unix_socket import claimed
path = pathlib.Path(sys.argv[1])
held = claimed(path)
held.__enter__()
line = socket.socket(socket.AF_UNIX)
line.bind(str(path))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path() -> Iterator[Path]:
    with short_folder() as folder:
        yield folder / "own" / "s"


@pytest.fixture
def holder(path: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        yield process
        process.kill()


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as line:
        line.bind(str(path))


def test_a_claim_makes_a_private_folder_and_leaves_nothing(path: Path) -> None:
    with claimed(path):
        assert path.parent.stat().st_mode & 0o777 == 0o700
        bind(path)
    assert list(path.parent.iterdir()) == []


@pytest.mark.process
def test_a_second_server_is_told_whose_the_place_is(
    path: Path, holder: subprocess.Popen[bytes]
) -> None:
    with pytest.raises(SocketTakenError, match=rf"\(process {holder.pid}\) already listens"):
        claimed(path).__enter__()
    assert path.is_socket()


@pytest.mark.process
def test_a_dead_servers_socket_is_taken_over(path: Path, holder: subprocess.Popen[bytes]) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert path.is_socket()
    with claimed(path):
        assert not path.exists()
        assert path.with_name("s.lock").read_text() == f"{os.getpid()}\n"


def test_a_claim_can_be_made_again_and_again(path: Path) -> None:
    for _ in range(3):
        with claimed(path), pytest.raises(SocketTakenError, match=f"process {os.getpid()}"):
            claimed(path).__enter__()


def test_another_kind_of_file_is_refused_and_kept(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    path.write_text("precious")
    with pytest.raises(SocketTakenError, match="not a socket"):
        claimed(path).__enter__()
    assert path.read_text() == "precious"
    assert list(path.parent.iterdir()) == [path]


def test_a_link_is_no_socket(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    bind(path.with_name("else"))
    path.symlink_to("else")
    with pytest.raises(SocketTakenError, match="not a socket"):
        claimed(path).__enter__()
    assert path.is_symlink()


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_others_can_write_in_is_refused(mode: int, path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(mode)
    with pytest.raises(SocketTakenError, match=rf"mode {mode:o}.*chmod 700 {path.parent}"):
        claimed(path).__enter__()
    assert list(path.parent.iterdir()) == []


def test_a_shared_folder_is_refused_and_nobody_is_told_to_change_it(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o1777)
    with pytest.raises(SocketTakenError, match="a folder of its own") as caught:
        claimed(path).__enter__()
    assert "chmod" not in str(caught.value)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_refused(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    os.chown(path.parent, 12345, -1)
    with pytest.raises(SocketTakenError, match="another user's"):
        claimed(path).__enter__()


def test_a_folder_that_cannot_be_made_is_refused_in_words(path: Path) -> None:
    path.parent.write_text("a file")
    with pytest.raises(SocketTakenError, match="cannot listen on"):
        claimed(path).__enter__()


def test_a_lock_somebody_removed_protects_no_more_and_is_made_anew(path: Path) -> None:
    path.parent.mkdir(mode=0o700)
    stale = path.with_name("s.lock")
    stale.write_text("99999999\n")
    with claimed(path):
        assert stale.read_text() == f"{os.getpid()}\n"
    assert not stale.exists()
