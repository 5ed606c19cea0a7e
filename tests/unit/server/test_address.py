"""Where a server may listen, and who can reach it there."""

from pathlib import Path

import pytest

from crabhook.hook import own_folder
from crabhook.server.address import (
    MAX_SOCKET_PATH,
    AddressError,
    TcpAddress,
    UnixAddress,
    default_address,
    parse_address,
)
from tests.support.rows import every_row


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("unix:/run/x.sock", UnixAddress(Path("/run/x.sock"))),
        ("unix:/run/a b%20.sock", UnixAddress(Path("/run/a b%20.sock"))),
        ("127.0.0.1:7777", TcpAddress("127.0.0.1", 7777)),
        ("127.0.0.1:0", TcpAddress("127.0.0.1", 0)),
        ("localhost:65535", TcpAddress("localhost", 65535)),
        ("[::1]:7777", TcpAddress("::1", 7777)),
    ],
)
def test_an_address_is_read_and_written_back(text: str, address: object) -> None:
    assert parse_address(text) == address
    assert str(address) == text


@pytest.mark.parametrize("text", ["unix:x.sock", "unix:~/x.sock"])
def test_a_sockets_path_is_made_absolute(text: str) -> None:
    assert str(parse_address(text)).startswith("unix:/")


@every_row(
    "text, words",
    [
        ("", "no address"),
        ("localhost", "no address"),
        (":7777", "no address"),
        ("host:", "no address"),
        ("host:http", "no address"),
        ("host:-1", "no address"),
        ("host:65536", "no address"),
        ("host:\u0667", "no address"),
        ("host:" + "9" * 5000, "no address"),
        ("::1:7777", "brackets"),
        ("http://127.0.0.1:7780", "HOST:PORT alone"),
        ("[::1]", "brackets"),
        ("unix:", "needs the path"),
        ("unix:~nobody-of-that-name/x", "no path"),
        ("unix:/" + "x" * MAX_SOCKET_PATH, f"longer than the {MAX_SOCKET_PATH} bytes"),
        ("unix:/" + "é" * (MAX_SOCKET_PATH // 2 + 1), "longer than"),
    ],
)
def test_an_address_nobody_could_listen_on_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(AddressError, match=words):
        parse_address(text)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_is_this_machine_alone(host: str) -> None:
    assert TcpAddress(host, 1).loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "localhost.evil", "127.1", ""])  # fmt: skip
def test_whatever_may_lead_elsewhere_is_not_loopback(host: str) -> None:
    assert not TcpAddress(host, 1).loopback


@pytest.mark.parametrize("runtime", ["/run/user/7", "", None])
def test_server_and_client_look_in_the_same_place(
    runtime: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if runtime is None:
        monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    else:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    environment = {} if runtime is None else {b"XDG_RUNTIME_DIR": runtime.encode()}
    monkeypatch.setattr("posix.environ", environment)
    assert str(default_address().path.parent) == own_folder().decode()
