"""Presence by an SSH key, over real gRPC: a closing key opens with a signature of this very call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.cli.team.attaching import connected
from crabhook.desk.commands import Decide, Done, GiveOrder, NotAllowed, Steer
from crabhook.model.actor import OrderKind, Role
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.remote.inputs import Inputs
from crabhook.remote.messages import request_of
from crabhook.store.actors import actor_data
from crabhook.team.call_signature import HEADER, WITHIN, PublicKey, SignedCall
from crabhook.team.desk_keys import Credentials
from crabhook.team.edit_team import with_key, without_key
from crabhook.team.membership import SshKey, Team
from crabhook.v1 import operator_pb2 as pb
from tests.support.desk import PlayedDesk
from tests.support.sitting import call
from tests.support.ssh_keys import KINDS, Signer
from tests.support.team_port import SOON, TeamPort, team_port
from tests.unit.server.operators.test_grpc_port import followed, given

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crabhook.team.membership import Member

SK, OTHER_SK, AGENTS = (
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-ed25519",
)
ALLOW = Decision(Verdict.ALLOW)


def closing_only(team: Team) -> Team:
    """Make the certificate of each device one that only closes."""

    def closed(one: Member) -> Member:
        devices = tuple(replace(d, fingerprint="", closing=d.fingerprint) for d in one.devices)
        return replace(one, devices=devices)

    return replace(team, members=tuple(map(closed, team.members)))


def trust(port: TeamPort, signer: Signer, name: str = "ann", *, confirmed: bool = False) -> None:
    key = SshKey(str(PublicKey.parse(signer.line)), "", 0, confirmed)
    port.team.change(lambda team: with_key(team, name, key))


@dataclass
class Attempt:
    """A decision as an attacker could send it, each part of what is signed of its own choice."""

    port: TeamPort
    hello: Any
    now: float

    def signed(self, signer: Signer, request: Any, /, rpc: str = "Decide", **other: Any) -> bytes:
        told = {
            "team": _team_id(self.port),
            "operator": self.hello.operator,
            "challenge": self.hello.challenge,
            "rpc": rpc,
            "request": request.SerializeToString(),
            "at": self.now,
        }
        made = signer.signature(SignedCall(**{**told, **other}).text)
        return pb.SignedPresence(at=other.get("at", self.now), signature=made).SerializeToString()


def _team_id(port: TeamPort) -> str:
    team = port.team.reader().current()
    assert isinstance(team, Team)
    return team.id


def decision(server: PlayedDesk, number: int = 1, name: str = "x") -> Any:
    card = server.card(number)
    assert card is not None
    _, request = request_of(Decide(number, card.revision, ALLOW, id=name))
    request.seen_sha256 = Inputs().seen(card)
    return request


async def sent(port: TeamPort, request: Any, shown: bytes, rpc: str = "Decide") -> str:
    """Send a call with a signature, or none; return why it was refused, empty where it was not."""
    metadata = ((HEADER, shown),) if shown else ()
    async with port.calls("ann") as calls:
        try:
            answer = await getattr(calls, rpc)(request, timeout=SOON, metadata=metadata)
        except grpc.aio.AioRpcError as error:
            if error.code() is not grpc.StatusCode.PERMISSION_DENIED:
                raise
            return error.details() or ""
    return "" if answer.outcome.HasField("done") else str(answer.outcome)


async def begun(port: TeamPort, server: PlayedDesk) -> Attempt:
    async with port.calls("ann") as calls:
        watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
        return Attempt(port, (await watch.read()).hello, server.now())


@pytest.mark.parametrize("kind", KINDS)
async def test_a_trusted_key_that_needs_a_person_opens_where_the_closing_key_alone_does_not(
    tmp_path: Path, kind: str
) -> None:
    server, signer = PlayedDesk(), Signer(kind)
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        port.team.change(closing_only)
        attempt, request = await begun(port, server), decision(server)
        shown = attempt.signed(signer, request)
        assert "is no key of ann's" in await sent(port, request, shown)
        trust(port, signer, confirmed=not kind.startswith("sk-"))
        assert "To allow, open the desk" in await sent(port, request, b"")
        assert not await sent(port, request, shown)
    assert len(server.decided) == 1
    ended = server.card(1)
    assert ended is not None
    assert ended.decided is not None
    assert actor_data(ended.decided.by)["shown"] == "signature"


OTHERS: list[tuple[str, str]] = [
    ("team", "is false"),
    ("operator", "is false"),
    ("challenge", "is false"),
    ("rpc", "is false"),
    ("request", "is false"),
    ("early", "too long ago"),
    ("late", "too long ago"),
    ("untouched", "was not touched"),
    ("unconfirmed", "signs without a person"),
    ("of another person", "is no key of ann's"),
    ("distrusted", "is no key of ann's"),
    ("nan", "To allow, open the desk"),
    ("noise", "To allow, open the desk"),
    ("long", "is no SSH signature"),
    ("none", "is no SSH signature"),
]


@pytest.mark.parametrize(("what", "words"), OTHERS, ids=[one[0] for one in OTHERS])
async def test_a_signature_of_anything_but_this_call_opens_nothing(
    tmp_path: Path, what: str, words: str
) -> None:
    server, signer = PlayedDesk(), Signer(SK)
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER, bob=Role.DECIDER) as port:
        port.team.change(closing_only)
        attempt, request = await begun(port, server), decision(server)
        signed = partial(attempt.signed, signer, request)
        agents, touched = Signer(AGENTS), Signer(OTHER_SK, flags=0)
        trust(port, signer)
        trust(port, touched)
        trust(port, agents)
        others: dict[str, Callable[[], bytes]] = {
            "team": lambda: signed(team="other"),
            "operator": lambda: signed(operator="o-bob"),
            "challenge": lambda: signed(challenge=b"of another server"),
            "rpc": lambda: signed(rpc="Steer"),
            "request": lambda: signed(request=decision(server, name="y").SerializeToString()),
            "early": lambda: signed(at=attempt.now + WITHIN + 5),
            "late": lambda: signed(at=max(attempt.now - WITHIN - 5, 0.0)),
            "untouched": lambda: attempt.signed(touched, request),
            "unconfirmed": lambda: attempt.signed(agents, request),
            "of another person": lambda: attempt.signed(Signer(SK), request),
            "distrusted": signed,
            "nan": lambda: pb.SignedPresence(at=float("nan")).SerializeToString(),
            "noise": lambda: b"\xff" * 40,
            "long": lambda: (
                pb.SignedPresence(at=attempt.now, signature=signer.signature(b"") * 20)
            ).SerializeToString(),
            "none": lambda: pb.SignedPresence(at=attempt.now).SerializeToString(),
        }
        shown = others[what]()
        if what == "distrusted":
            key = str(PublicKey.parse(signer.line))
            port.team.change(lambda team: without_key(team, "ann", key))
        assert words in await sent(port, request, shown)
    assert not server.decided


async def test_a_signature_that_was_used_does_nothing_a_second_time(tmp_path: Path) -> None:
    server, signer = PlayedDesk(), Signer(SK)
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.ADMIN) as port:
        port.team.change(closing_only)
        trust(port, signer)
        attempt = await begun(port, server)
        rpc, note = request_of(Steer("s", "go on", id="n"))
        shown = attempt.signed(signer, note, rpc)
        first = await sent(port, note, shown, rpc)
        for _ in range(3):
            assert await sent(port, note, shown, rpc) == first
        assert "is false" in await sent(port, decision(server), shown)
    async with team_port(server.runner, tmp_path, port.team, ann=Role.ADMIN) as again:
        again.certificates = port.certificates
        assert "is false" in await sent(again, note, shown, rpc)  # after a restart


async def test_a_role_and_a_revocation_count_with_a_signature_too(tmp_path: Path) -> None:
    server, signer = PlayedDesk(), Signer(SK)
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.VIEWER) as port:
        port.team.change(closing_only)
        trust(port, signer)
        attempt, request = await begun(port, server), decision(server)
        shown = attempt.signed(signer, request)
        assert "ann is a viewer" in await sent(port, request, shown)
        port.team.revoke("ann")
        assert "was revoked" in await sent(port, request, shown)


async def test_a_desk_whose_key_signs_is_a_desk_with_its_passphrase(tmp_path: Path) -> None:
    server, signer, asked = PlayedDesk(), Signer(SK), list[bytes]()

    async def sign(text: bytes) -> bytes:
        asked.append(text)
        return signer.signature(text)

    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=Role.DECIDER) as port:
        port.team.change(closing_only)
        certificate, key = port.certificates["ann"]
        keys = Credentials(port.authority, key, certificate, sign)
        where = f"127.0.0.1:{port.address.port}"
        async with connected(where, keys) as desk:
            replica = followed(desk)
            card = replica.waiting()[0]
            refused = await given(replica, Decide(1, card.revision, ALLOW))
            assert isinstance(refused, NotAllowed)
            trust(port, signer)
            assert await given(replica, Decide(1, card.revision, ALLOW)) == Done()
            order = GiveOrder(Order(OrderKind.ALLOW_ALL, session="s"))
            assert isinstance(await given(replica, order), NotAllowed)  # a decider's role
    assert len(asked) == len(set(asked)) == 3
