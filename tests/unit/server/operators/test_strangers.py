"""Whoever may not come in is refused, is told why, and stands on record: one row for each of them."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.cli.team.inviting import Noting
from crabhook.model.actor import Role
from crabhook.server.address import TcpAddress
from crabhook.server.metrics.tally import Tally, TurnedAway
from crabhook.server.operators.joining import InvitationAddress, open_invitation
from crabhook.team.certificates import CertificateError, new_key, plain, request_of
from crabhook.team.enrolling import Inviting, InvitingError, JoinPort, outcome
from crabhook.team.invitation import TRIES, Invitation, Joined, JoinError, Joining, Joins, join
from crabhook.team.membership import Team
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub
from tests.support.desk import PlayedDesk
from tests.support.port import connected, opened
from tests.support.sitting import call
from tests.support.team import founded
from tests.support.team_port import SOON, TeamPort, team_port
from tests.unit.server.operators.test_grpc_port import DENY, decide

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

DAY = 86_400


class House:
    """A server with one call that waits, the port of its desks, and a team whose refusals it hears."""

    def __init__(self, server: PlayedDesk, port: TeamPort, folder: Path) -> None:
        self.server, self.port, self.folder = server, port, folder
        self.reader = port.team.reader()
        self.reader.warn = lambda text, *, alarm=True: alarm and server.runner.warn(text)
        self.invitation: Invitation | None = None

    async def decides(self, credentials: grpc.ChannelCredentials | None) -> str:
        """Try to decide the call by the operators' port; return why that was refused."""
        async with connected(self.port.address, credentials) as channel:
            return await self.asked(OperatorServiceStub(channel), 1)

    async def asked(self, stub: Any, seconds: float = SOON, **how: Any) -> str:
        card = self.server.card(1)
        assert card is not None
        try:
            answer = await stub.Decide(decide(card), timeout=seconds, **how)
        except grpc.aio.AioRpcError as error:
            return f"{error.code().name}: {error.details()}"
        return str(answer.outcome)

    async def as_person(self, name: str) -> str:
        return await self.decides(self.port.credentials(name))

    def recorded(self) -> str:
        self.reader.current()
        return "\n".join(words for words, _ in self.server.runner.warned)


async def by_the_agents_socket(house: House) -> str:
    async with opened() as port, connected(port.bound[0]) as channel:
        return await house.asked(OperatorServiceStub(channel))


async def with_the_agents_token(house: House) -> str:
    here = TcpAddress("127.0.0.1", 0)
    shown = (("authorization", "Bearer t0ken"),)
    async with opened(here, token="t0ken") as port, connected(port.bound[0]) as channel:
        return await house.asked(OperatorServiceStub(channel), metadata=shown)


async def with_no_certificate(house: House) -> str:
    return await house.decides(grpc.ssl_channel_credentials(house.port.authority))


async def in_the_clear(house: House) -> str:
    return await house.decides(None)


async def as_a_viewer(house: House) -> str:
    house.port.let_in("vic", Role.VIEWER)
    return await house.as_person("vic")


async def as_another_team(house: House) -> str:
    theirs = founded(house.folder / "theirs", time.time())
    house.port.certificates["mal"] = theirs.let_in("mal", Role.ADMIN)
    return await house.as_person("mal")


async def as_one_of_no_list(house: House) -> str:
    """Show a certificate of the team's authority that is in no team file, as of a lost backup."""
    key = new_key()
    made = house.port.team.authority.for_device(request_of(key), "o-ann", "d-x", time.time())
    house.port.certificates["lost"] = made, plain(key)
    return await house.as_person("lost")


async def with_an_expired_certificate(house: House) -> str:
    house.port.team.now -= 400 * DAY
    house.port.let_in("old")
    return await house.as_person("old")


async def beyond_the_date_in_the_team_file(house: House) -> str:
    house.port.let_in("bob")

    def ended(team: Team) -> Team:
        return replace(
            team,
            members=tuple(
                replace(one, devices=tuple(replace(d, until=5) for d in one.devices))
                for one in team.members
            ),
        )

    house.port.team.change(ended)
    return await house.as_person("bob")


async def to_its_end(watch: Any) -> None:
    while True:
        await watch.read()


async def revoked_under_an_open_watch(house: House) -> str:
    house.port.let_in("bob")
    async with house.port.calls("bob") as calls:
        watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
        await watch.read()
        house.port.team.revoke("bob")
        said = await house.asked(calls)
        with pytest.raises(grpc.aio.AioRpcError, match="was revoked"):
            await to_its_end(watch)
    return said


async def revoked_between_two_decisions(house: House) -> str:
    house.port.let_in("bob")
    house.server.ask(call(session_id="other"))
    card = house.server.card(2)
    assert card is not None
    async with house.port.calls("bob") as calls:
        first = await calls.Decide(decide(card, DENY), timeout=SOON)
        assert first.outcome.HasField("done")
        house.port.team.revoke("bob")
        return await house.asked(calls)


# By an invitation.


def _inviting(house: House, ready: asyncio.Event) -> Inviting:
    authority = house.port.team.authority

    async def compare(_words: str, _who: Joining) -> bool:
        await ready.wait()
        return True

    def grant(who: Joining) -> Joined:
        made = authority.for_device(who.key, "o-x", "d-x", time.time())
        return Joined(authority.certificate, made, b"", "h:1", "ours", who.name, "viewer")

    def check(who: Joining) -> None:
        if not who.key:
            raise CertificateError("no key")

    noting = Noting(house.port.team.folder, authority, "the invitation for bob")
    return Inviting(Joins.DESK, check, compare, grant, noting)


@asynccontextmanager
async def _invited(
    house: House, ready: asyncio.Event
) -> AsyncIterator[tuple[Invitation, JoinPort]]:
    place = InvitationAddress("127.0.0.1", 0, "127.0.0.1")
    authority = house.port.authority
    async with open_invitation(_inviting(house, ready), authority, place, time.time()) as both:
        yield both


async def _joins(invitation: Invitation, name: str) -> str:
    who = Joining(Joins.DESK, request_of(new_key()), b"", name)
    try:
        await asyncio.to_thread(join, invitation, who, lambda _: None, within=SOON)
    except JoinError as error:
        return str(error)
    return ""


async def invited_twice(house: House) -> str:
    ready = asyncio.Event()
    ready.set()
    async with _invited(house, ready) as (invitation, _):
        assert not await _joins(invitation, "first")
        return await _joins(invitation, "second")


async def invited_too_late(house: House) -> str:
    ready = asyncio.Event()
    async with _invited(house, ready) as (invitation, port):
        with pytest.raises(InvitingError) as over:
            await outcome(port, 0.01)
        Noting(house.port.team.folder, house.port.team.authority, "the invitation for bob").note(
            str(over.value)
        )
        late = invitation
    return await _joins(late, "late")


async def invited_two_at_once(house: House) -> str:
    ready = asyncio.Event()
    async with _invited(house, ready) as (invitation, _):
        both = [asyncio.ensure_future(_joins(invitation, name)) for name in ("a", "b")]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        ready.set()
        return "".join(await asyncio.gather(*both))


async def guessing(house: House) -> str:
    ready = asyncio.Event()
    ready.set()
    async with _invited(house, ready) as (invitation, _):
        for number in range(TRIES):
            guess = replace(invitation, secret=bytes([number]) * 16)
            assert "not the invitation's secret" in await _joins(guess, "mallory")
        return await _joins(invitation, "ann")


NO_TLS = "UNAVAILABLE", "DEADLINE_EXCEEDED"
BY_TLS = ""
"""What is on record of those whom TLS turns away before any code of ours hears of them: nothing."""

ROWS: list[tuple[Callable[[House], Awaitable[str]], str | tuple[str, ...], str]] = [
    (by_the_agents_socket, "UNIMPLEMENTED", BY_TLS),
    (with_the_agents_token, "UNIMPLEMENTED", BY_TLS),
    (with_no_certificate, NO_TLS, BY_TLS),
    (in_the_clear, NO_TLS, BY_TLS),
    (as_another_team, NO_TLS, BY_TLS),
    (with_an_expired_certificate, NO_TLS, BY_TLS),
    (as_a_viewer, "only a decider can allow, and vic is a viewer", "vic is a viewer"),
    (as_one_of_no_list, "of no device in the team: its person was", "of no device in the team"),
    (beyond_the_date_in_the_team_file, "ended on 1970-01-01", "ended on 1970-01-01"),
    (revoked_under_an_open_watch, "bob's of bob was revoked", "bob's of bob was revoked"),
    (revoked_between_two_decisions, "bob's of bob was revoked", "bob's of bob was revoked"),
    (invited_twice, "was used, or is over", "came with the invitation a second time"),
    (invited_too_late, "nobody listens at", "for bob: nobody came in time"),
    (invited_two_at_once, "was used, or is over", "came with the invitation a second time"),
    (guessing, "was used, or is over", "for bob: a wrong secret was shown (5 of 5)"),
]


@pytest.mark.parametrize(("comes", "said", "recorded"), ROWS, ids=[one[0].__name__ for one in ROWS])
async def test_who_may_not_come_in_is_refused_and_told_why_and_stands_on_record(
    tmp_path: Path,
    comes: Callable[[House], Awaitable[str]],
    said: str | tuple[str, ...],
    recorded: str,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.ADMIN) as port:
        house = House(server, port, tmp_path)
        why = await comes(house)
        assert why.startswith(said) if isinstance(said, tuple) else said in why
        assert recorded in house.recorded()
        assert bool(recorded) is bool(house.recorded())
    assert not [one for one in server.decided if one[0] == 1]


async def test_what_one_device_or_address_holds_open_is_bounded_told_and_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crabhook.server.operators.authentication.OF_DEVICE", 3)
    monkeypatch.setattr("crabhook.server.operators.authentication.FROM_ADDRESS", 5)
    tally = Tally()
    server = PlayedDesk(witness=tally)
    people = {"ann": Role.VIEWER, "bob": Role.ADMIN, "eve": Role.ADMIN}
    async with team_port(server.runner, tmp_path, **people) as port, AsyncExitStack() as stack:
        stubs = {
            name: await stack.enter_async_context(port.calls(name))
            for name in ("ann", "bob", "eve")
        }

        async def watch(name: str) -> Any:
            watching = stubs[name].Watch(pb.WatchRequest(), timeout=SOON * 3)
            assert (await watching.read()).HasField("hello")
            return watching

        async def why(name: str) -> str:
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await stubs[name].Desks(pb.DesksRequest(), timeout=SOON)
            assert refused.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
            return refused.value.details() or ""

        first, *_ = [await watch("ann") for _ in range(3)]
        assert await why("ann") == "too many of its calls are open"
        assert await stubs["bob"].Desks(pb.DesksRequest(), timeout=SOON)
        [await watch("bob") for _ in range(2)]
        assert await why("eve") == "too many of its calls are open"  # who shares their address
        assert tally.turned_away_for == {TurnedAway.ROOM: 2}
        first.cancel()
        async with asyncio.timeout(SOON):
            while True:  # the place is free again as soon as the server has heard
                with suppress(grpc.aio.AioRpcError):
                    if await stubs["eve"].Desks(pb.DesksRequest(), timeout=SOON):
                        break
                await asyncio.sleep(0.01)
    told = [words for words, alarm in server.runner.warned if alarm]
    assert "127.0.0.1 was refused: ann's of ann: too many of its calls are open" in told[0]
    assert "eve's of eve: too many" in told[1]
