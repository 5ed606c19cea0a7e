"""A browser on the server's machine is known by its address, also behind a proxy there."""

from __future__ import annotations

import socket
from typing import Self

import pytest

from crabhook.server.web.whereabouts import runs_here

PHONE = "192.0.2.7"


@pytest.mark.parametrize(
    ("address", "forwarded_for", "here"),
    [
        ("127.0.0.1", "", True),
        ("127.0.0.9", "", True),
        ("::1", "", True),
        ("::ffff:127.0.0.1", "", True),
        ("", "", True),
        (PHONE, "", False),
        ("2001:db8::7", "", False),
        # A proxy on this machine says who comes; what a browser itself sent stands before that.
        ("127.0.0.1", PHONE, False),
        ("127.0.0.1", f"127.0.0.1, {PHONE}", False),
        ("127.0.0.1", f"{PHONE}, 127.0.0.1", True),
        ("127.0.0.1", "[2001:db8::7]", False),
        ("127.0.0.1", "unknown", True),
        # A phone that says that it is a proxy is a phone.
        (PHONE, "127.0.0.1", False),
    ],
)
def test_where_a_browser_runs_is_told_by_its_address(
    address: str, forwarded_for: str, *, here: bool
) -> None:
    assert runs_here(address, forwarded_for) is here


def test_each_address_of_this_machine_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser here that comes by the machine's name has the machine's address on the network."""

    class Bare:
        def __init__(self, *_: object) -> None: ...

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None: ...

        def bind(self, place: tuple[str, int]) -> None:
            if place != ("198.51.100.5", 0):
                raise OSError(place)

    monkeypatch.setattr(socket, "socket", Bare)
    assert runs_here("198.51.100.5", "")
    assert runs_here("127.0.0.1", "198.51.100.5")
    assert not runs_here("198.51.100.6", "")
