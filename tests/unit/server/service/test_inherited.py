"""Which sockets are ours that a service manager opened, and which are none."""

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from crabhook.server.address import TcpAddress, UnixAddress
from crabhook.server.service import activation as module
from crabhook.server.service.activation import InheritedError, address_of, inherited
from tests.support.port import short_folder
from tests.support.service import listening


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


@pytest.fixture
def open_files() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def told(count: int, pid: int | str | None = None) -> dict[str, str]:
    pid = os.getpid() if pid is None else pid
    return {"LISTEN_PID": str(pid), "LISTEN_FDS": str(count), "LISTEN_FDNAMES": "a", "PATH": "/"}


def handed_down(line: socket.socket, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let descriptors begin where a copy of this one is; return it."""
    copy = os.dup(line.fileno())
    os.set_inheritable(copy, True)
    monkeypatch.setattr(module, "_FIRST", copy)
    return copy


@pytest.mark.parametrize("place", ["unix", "127.0.0.1"])
def test_a_listening_socket_is_adopted_and_handed_down_no_further(
    place: str, folder: Path, open_files: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = open_files.enter_context(listening(folder / "s" if place == "unix" else place))
    copy = handed_down(line, monkeypatch)
    environment = told(1)
    (found,) = inherited(environment)
    open_files.enter_context(found)
    assert (found.fileno(), os.get_inheritable(copy)) == (copy, False)
    assert environment == {"PATH": "/"}
    port = line.getsockname()[1] if place != "unix" else 0
    expected = UnixAddress(folder / "s") if place == "unix" else TcpAddress(place, port)
    assert address_of(found) == expected


@pytest.mark.parametrize(
    "environment", [{}, told(1, 1), told(1, ""), {"LISTEN_PID": str(os.getpid())}, told(0)]
)
def test_what_is_meant_for_others_is_left_alone(environment: dict[str, str]) -> None:
    assert inherited(environment) == ()
    assert "LISTEN_FDS" not in environment


@pytest.mark.parametrize("kind", ["connected", "datagrams", "no socket"])
def test_what_nobody_can_listen_on_is_refused_and_left_open(
    kind: str, folder: Path, open_files: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = socket.socketpair(
        socket.AF_UNIX, socket.SOCK_DGRAM if kind == "datagrams" else socket.SOCK_STREAM
    )
    open_files.enter_context(one)
    open_files.enter_context(other)
    descriptor = handed_down(one, monkeypatch)
    if kind == "no socket":
        with (folder / "file").open("wb") as file:
            os.dup2(file.fileno(), descriptor)
    with pytest.raises(InheritedError, match=f"descriptor {descriptor}"):
        inherited(told(1))
    os.close(descriptor)  # which raises if it is not open any more


def test_a_socket_without_a_file_is_named_as_systemd_writes_it(open_files: ExitStack) -> None:
    line = open_files.enter_context(socket.socket(socket.AF_UNIX))
    line.bind(f"\0crabhook-{os.getpid()}")
    line.listen()
    assert str(address_of(line)) == f"unix:@crabhook-{os.getpid()}"
