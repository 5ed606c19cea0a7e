"""Who may ask on the port."""

from dataclasses import dataclass
from typing import Any

import pytest

from crabhook.server.address import Tokens, admitted


@dataclass
class Peer:
    """As much of gRPC's context as is looked at."""

    where: str
    headers: tuple[tuple[str, str | bytes], ...] | None = None

    def peer(self) -> str:
        return self.where

    def invocation_metadata(self) -> Any:
        return self.headers


SHOWN = (("authorization", "Bearer t0ken"),)


@pytest.mark.parametrize(
    ("where", "headers", "token", "may"),
    [
        ("unix:", None, None, True),
        ("unix:/run/s", None, "t0ken", True),
        ("ipv4:127.0.0.1:5", None, "t0ken", False),
        ("ipv4:127.0.0.1:5", SHOWN, "t0ken", True),
        ("ipv6:[::1]:5", SHOWN, "t0ken", True),
        ("ipv4:127.0.0.1:5", SHOWN, "another", False),
        ("ipv4:127.0.0.1:5", SHOWN, None, False),
        ("ipv4:127.0.0.1:5", (("authorization", "Bearer None"),), None, False),
        ("ipv4:127.0.0.1:5", (("authorization", b"Bearer t0ken"),), "t0ken", False),
    ],
)
def test_the_sockets_owner_may_and_elsewhere_who_shows_the_token(
    where: str, headers: Any, token: str | None, may: bool
) -> None:
    peer: Any = Peer(where, headers)
    assert (admitted(peer, Tokens(token)) is not None) is may
