"""An invitation whose listener ends is told, and the same line lets its person in all the same."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from crabhook import grpcserver
from crabhook.server.address import PortError, TcpAddress
from crabhook.server.grpc.listener import GrpcListener
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.team.certificates import Authority, new_key, request_of
from crabhook.team.enrolling import Inviting, InvitingError, JoinPort, outcome
from crabhook.team.invitation import Invitation, Joined, Joining, Joins, join
from tests.support.raw_http2 import headers, send, unverified

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

WITHIN = 60.0
EVIL = headers(b"/\xff\xfe")


@pytest.fixture(autouse=True)
def mortal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grpcio that we do not know: its own loop reads the paths, and ends."""
    monkeypatch.setattr(grpcserver, "_can_keep_paths_out", lambda: False)


@asynccontextmanager
async def invited(told: list[str], listen: str) -> AsyncIterator[tuple[Invitation, JoinPort]]:
    """An invitation that anybody with the secret may take, and what its command tells."""
    authority = Authority.new("ours", time.time()).certificate

    async def same(_words: str, _who: Joining) -> bool:
        return True

    def grant(who: Joining) -> Joined:
        return Joined(authority, b"", b"", "h:1", "ours", who.name, "viewer")

    inviting = Inviting(Joins.DESK, lambda _: None, same, grant, told.append)
    place = InvitationAddress("127.0.0.1", 0, listen)
    async with open_invitation(inviting, authority, place, time.time()) as both:
        yield both


async def heard(told: list[str], words: str) -> None:
    """Wait until these words were told."""
    async with asyncio.timeout(WITHIN):
        while not any(words in line for line in told):  # noqa: ASYNC110 - a list tells nobody
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("listen", ["127.0.0.1", "[::]"])
async def test_a_join_port_that_ended_is_told_and_open_again_for_the_same_line(
    listen: str,
) -> None:
    told = list[str]()
    async with invited(told, listen) as (invitation, port):
        address = TcpAddress("127.0.0.1", invitation.port)
        await send(address, EVIL, context=unverified())
        await heard(told, "THE INVITED CANNOT CONNECT")
        await heard(told, "was opened again: the invited can connect again")
        await heard(told, "answers again")
        who = Joining(Joins.DESK, request_of(new_key()), b"", "laptop")
        joining = asyncio.to_thread(join, invitation, who, lambda _: None, within=WITHIN)
        joined: Any = await joining
        assert joined.name == "laptop"
        assert (await outcome(port, WITHIN)).name == "laptop"


async def test_an_invitation_whose_port_cannot_be_opened_anew_is_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def taken(_: GrpcListener) -> None:
        raise PortError("another program listens there")

    monkeypatch.setattr(GrpcListener, "open_anew", taken)
    async with invited([], "127.0.0.1") as (invitation, port):
        await send(TcpAddress("127.0.0.1", invitation.port), EVIL, context=unverified())
        with pytest.raises(InvitingError, match="another program listens there; nobody joined"):
            await outcome(port, WITHIN)
