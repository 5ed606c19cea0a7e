"""What desks elsewhere may see and do holds for every transport: here there is none of the real ones.

Calls come by certificate, as gRPC's port has them; test_passkeys.py has those of a page.
"""

from __future__ import annotations

import asyncio
import base64
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest

from crabhook.app.leadership import StandingBy
from crabhook.desk.commands import BARE_DENIAL, AskHistory, Decide, Done, GiveOrder, Refused, Stale
from crabhook.desk.updates import NEVER, Cursor, HistoryRead
from crabhook.model.actor import Operator, OrderKind, Role
from crabhook.model.card import Origin
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.remote.inputs import Inputs
from crabhook.server.metrics.tally import Tally, TurnedAway
from crabhook.server.operators import authentication, grpc_port, service
from crabhook.server.operators.authentication import CertificateCaller, Sent, Signature
from crabhook.server.operators.refusals import (
    DeskRefusal,
    Forbidden,
    Gone,
    Malformed,
    NoRoom,
    StandsBy,
)
from crabhook.server.operators.service import (
    Bookmark,
    CommandReply,
    Gap,
    Hello,
    OperatorService,
    SubmittedCommand,
    VisibleChange,
    Watched,
    Whole,
)
from crabhook.server.web import routes
from crabhook.store.postgres.leader import Leader
from crabhook.team import membership
from crabhook.team.membership import Device, Member, Scope, Team, fingerprint_of
from tests.support.desk import PlayedDesk
from tests.support.sitting import call

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY, BARE_DENIAL)
SOON = 60.0  # seconds after which a test gives up on what happens at once
FAR = 1 << 40  # seconds since 1970
SHOP, NO_LIMITS = Scope(projects=("/shop",)), Scope()


def pem(name: str) -> bytes:
    body = base64.encodebytes(name.encode()).decode()
    return f"-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n".encode()


def member(name: str, role: Role, scope: Scope = NO_LIMITS) -> Member:
    ids = (fingerprint_of(pem(name)), 0, FAR, fingerprint_of(pem(f"{name}, closing")))
    return Member(f"o-{name}", name, role, scope, (Device(f"d-{name}", f"{name}'s", *ids),))


PEOPLE = (
    member("vic", Role.VIEWER),
    member("dee", Role.DECIDER),
    member("ann", Role.ADMIN),
    member("sam", Role.DECIDER, SHOP),
)


@dataclass
class House:
    """A server, its service, and a team that a test may change."""

    server: PlayedDesk = field(default_factory=PlayedDesk)
    team: Team | membership.TeamRefusal = field(
        default_factory=lambda: Team("t", "ours", 1, PEOPLE)
    )

    def __post_init__(self) -> None:
        self.service = OperatorService(self.server.runner, lambda: self.team)  # type: ignore[arg-type]

    def seen(self, number: int) -> bytes:
        card = self.server.card(number)
        assert card is not None
        return Inputs().seen(card)

    async def asks(
        self, who: str, command: Any, seen: bytes | None = None, signature: Signature | None = None
    ) -> CommandReply | DeskRefusal:
        """Give a command by a certificate, about a card as it is now."""
        caller = CertificateCaller(pem(who), signature, "192.0.2.7")
        with self.service.open(caller) as opened:
            if isinstance(opened, DeskRefusal):
                return opened
            if seen is None:
                seen = self.seen(command.card) if isinstance(command, Decide) else b""
            asked = SubmittedCommand(command, Sent("Decide", repr(command).encode()), seen)
            return await asyncio.wait_for(self.service.carry_out(opened, asked), SOON)

    async def watch(
        self, who: str, after: Cursor = NEVER
    ) -> AsyncGenerator[Watched | DeskRefusal, None]:
        with self.service.open(CertificateCaller(pem(who), None, "192.0.2.7")) as opened:
            assert not isinstance(opened, DeskRefusal)
            async with aclosing(self.service.watch(opened, after)) as parts:
                async for part in parts:
                    yield part

    def revoke(self, name: str) -> None:
        assert isinstance(self.team, Team)
        self.team = replace(
            self.team, members=tuple(one for one in self.team.members if one.name != name)
        )


def decide(number: int = 1, decision: Decision = ALLOW, name: str = "x") -> Decide:
    return Decide(number, 1, decision, id=name)


def house_of(**parts: Any) -> House:
    """A house of these parts, where a call of /shop waits."""
    made = House(PlayedDesk(**parts))
    made.server.ask(call(cwd="/shop"))
    return made


@pytest.fixture
def house() -> House:
    return house_of()


async def parts_of(watch: AsyncGenerator[Any, None], count: int) -> list[Any]:
    return [await asyncio.wait_for(anext(watch), SOON) for _ in range(count)]


# Commands.


async def test_a_command_is_done_in_the_name_of_its_caller(house: House) -> None:
    reply = await house.asks("dee", decide())
    assert isinstance(reply, CommandReply)
    assert reply.outcome == Done()
    assert reply.card == house.server.card(1)
    assert reply.card is not None
    assert reply.card.decided is not None
    dee = Operator("o-dee", "dee", "dee's", "192.0.2.7", "decider", "passphrase")
    assert reply.card.decided.by == dee


@pytest.mark.parametrize(
    ("who", "command", "words"),
    [
        ("vic", decide(), "only a decider can allow, and vic is a viewer"),
        ("dee, closing", decide(), "To allow, open the desk with its passphrase"),
        ("dee", GiveOrder(Order(OrderKind.ALLOW_ALL), id="x"), "only an admin can"),
        ("sam", GiveOrder(Order(OrderKind.HOLD_ALL), id="x"), "sam is limited to projects /shop"),
        ("eve", decide(), "of no device in the team"),
    ],
)
async def test_who_may_not_is_refused_in_words_and_counted_and_recorded_once(
    house: House, who: str, command: Any, words: str
) -> None:
    house.server.runner.witness = tally = Tally()
    for _ in range(3):
        refusal = await house.asks(who, command)
        assert isinstance(refusal, Forbidden)
        assert words in refusal.why
    why = TurnedAway.CERTIFICATE if who == "eve" else TurnedAway.RIGHTS
    assert tally.turned_away_for[why] == 3
    assert [words in text for text, _ in house.server.runner.warned] == [True]
    assert not house.server.decided


async def test_the_same_command_again_is_done_once_and_another_with_its_id_is_not(
    house: House,
) -> None:
    house.server.ask(call(session_id="other", cwd="/shop"))
    first = await house.asks("dee", decide())
    again = await house.asks("dee", decide(), seen=b"")  # what it saw was looked at the first time
    other = await house.asks("dee", decide(2))
    assert [one.outcome for one in (first, again) if isinstance(one, CommandReply)] == [
        Done(),
        Done(),
    ]
    assert isinstance(other, CommandReply)
    assert isinstance(other.outcome, Refused)
    assert len(house.server.decided) == 1


async def test_a_card_that_was_not_seen_as_it_is_is_not_decided(house: House) -> None:
    house.server.ask(call(session_id="other", tool_input={"command": "rm -r /"}))
    for seen in (b"", house.seen(2)):
        reply = await house.asks("dee", decide(), seen)
        assert isinstance(reply, CommandReply)
        assert reply.outcome == Stale("#1 was not seen like this. Nothing was sent", 1)
        assert reply.card == house.server.card(1)
    assert not house.server.decided


@pytest.mark.parametrize("now", [None, member("dee", Role.DECIDER, SHOP)])
async def test_a_right_that_ends_or_changes_before_the_command_has_its_turn_counts_no_more(
    house: House, now: Member | None
) -> None:
    submit = service.LocalDesk.submit_if

    def and_meanwhile(desk: Any, may_not: Callable[[], str], command: Any, proof: Any) -> None:
        house.revoke("dee")
        if now is not None:
            house.team = replace(house.team, members=(now,))  # type: ignore[type-var]
        submit(desk, may_not, command, proof)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(service.LocalDesk, "submit_if", and_meanwhile)
        refusal = await house.asks("dee", decide())
    assert isinstance(refusal, Forbidden)
    assert not house.server.decided


async def test_what_is_read_is_within_the_persons_limits(house: House) -> None:
    house.server.ask(call(session_id="other", cwd="/bank"), origin=Origin(machine="vault"))
    for number in (1, 2):
        await house.asks("ann", decide(number, DENY, name=f"x{number}"))
    reads = [await house.asks(who, AskHistory()) for who in ("ann", "sam")]
    entries = [one.read.entries for one in reads if isinstance(one, CommandReply) and one.read]  # type: ignore[union-attr]
    assert all(isinstance(one, CommandReply) and isinstance(one.read, HistoryRead) for one in reads)
    assert [{one.card.event.cwd for one in read} for read in entries] == [
        {"/shop", "/bank"},
        {"/shop"},
    ]


@pytest.mark.parametrize("name", ["", "a b", "é", "x" * 65])
async def test_a_command_with_an_id_that_no_desk_makes_is_malformed(
    house: House, name: str
) -> None:
    refusal = await house.asks("dee", decide(name=name))
    assert refusal == Malformed("its id must be 1 to 64 of [0-9A-Za-z_-]")


async def test_who_stands_by_names_the_leader_to_the_team_alone_and_does_nothing() -> None:
    standing = StandingBy(Leader(desks="db2:7444"))
    house = house_of(sharing=standing)
    refusal = await house.asks("dee", decide())
    assert isinstance(refusal, StandsBy)
    assert refusal.desks_at == "db2:7444"
    assert "another server leads, at db2:7444: nothing was done" in refusal.why
    assert isinstance(await house.asks("eve", decide()), Forbidden)
    assert isinstance(await house.asks("dee", AskHistory()), CommandReply)  # the record is for both
    assert not house.server.decided


@pytest.mark.parametrize("at", [float("nan"), float("inf"), -1.0, 1e12])
async def test_a_signature_at_no_time_is_none(house: House, at: float) -> None:
    refusal = await house.asks("dee, closing", decide(), signature=Signature(at, b"x"))
    assert isinstance(refusal, Forbidden)
    assert "open the desk with its passphrase" in refusal.why


async def test_a_team_that_cannot_be_read_lets_nobody_in() -> None:
    tally = Tally()
    house = house_of(witness=tally)
    house.team = membership.TeamRefusal("the team's file is broken")
    assert await house.asks("ann", decide()) == Forbidden("the team's file is broken")
    assert tally.turned_away_for[TurnedAway.TEAM] == 1


# Reads.


async def test_a_desk_goes_on_from_its_place_and_gets_all_there_is_where_that_is_not_kept(
    house: House,
) -> None:
    async with aclosing(house.watch("dee")) as watch:
        hello, whole = await parts_of(watch, 2)
        assert isinstance(hello, Hello)
        assert not hello.resumed
        assert isinstance(whole, Whole)
        assert [card.number for card in whole.snapshot.waiting] == [1]
        place = hello.cursor._replace(seq=whole.seq)
    assert house.server.runner.attendance.desks == 0
    house.server.ask(call(session_id="later", cwd="/shop"))
    async with aclosing(house.watch("dee", place)) as watch:
        hello, change = await parts_of(watch, 2)
        assert isinstance(hello, Hello)
        assert hello.resumed
        assert house.server.runner.attendance.desks == 1
        assert isinstance(change, VisibleChange)
        assert change.logged.seq == place.seq + 1
    lost = place._replace(view=b"other"), place._replace(store=b"other"), place._replace(seq=1)
    for after in lost:
        async with aclosing(house.watch("dee", after)) as watch:
            assert [type(part) for part in await parts_of(watch, 3)] == [Hello, Gap, Whole]


async def test_a_watch_shows_a_person_what_is_within_their_limits_and_ends_with_their_rights(
    house: House,
) -> None:
    async with aclosing(house.watch("sam")) as watch:
        _, whole = await parts_of(watch, 2)
        house.server.ask(call(session_id="theirs", cwd="/bank"))
        house.server.ask(call(session_id="ours", cwd="/shop"))
        numbers, seq = list[int](), whole.seq
        while not numbers:
            (part,) = await parts_of(watch, 1)
            assert isinstance(part, VisibleChange | Bookmark)
            place = part.logged.seq if isinstance(part, VisibleChange) else part.seq
            assert place > seq
            seq = place
            number = getattr(part.news, "number", 0) if isinstance(part, VisibleChange) else 0
            numbers += [number] if number else []
        assert numbers == [3]
        house.revoke("sam")
        while not isinstance(part, DeskRefusal):
            (part,) = await parts_of(watch, 1)
        assert isinstance(part, Forbidden)
        with pytest.raises(StopAsyncIteration):
            await anext(watch)


async def test_one_device_watches_so_often_and_its_open_key_as_often_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "WATCHES", 1)
    async with aclosing(house.watch("dee")) as first, aclosing(house.watch("dee")) as second:
        await parts_of(first, 1)
        assert await parts_of(second, 1) == [NoRoom("it watches 1 times already")]
        async with aclosing(house.watch("dee, closing")) as closing:
            assert isinstance((await parts_of(closing, 1))[0], Hello)
    async with aclosing(house.watch("dee")) as again:
        assert isinstance((await parts_of(again, 1))[0], Hello)


async def test_a_device_and_an_address_have_so_many_open_calls_and_get_their_places_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.server.runner.witness = tally = Tally()
    monkeypatch.setattr(authentication, "OF_DEVICE", 1)
    monkeypatch.setattr(authentication, "FROM_ADDRESS", 2)
    dee, ann, vic = (
        CertificateCaller(pem(name), None, "192.0.2.7") for name in ("dee", "ann", "vic")
    )
    opened = house.service.open
    with opened(dee) as first, opened(dee) as second, opened(ann) as other, opened(vic) as third:
        refusals = [isinstance(one, NoRoom) for one in (first, second, other, third)]
        assert refusals == [False, True, False, True]
    with opened(dee) as again, opened(vic) as there:
        assert not isinstance(again, NoRoom)
        assert not isinstance(there, NoRoom)
    assert tally.turned_away_for[TurnedAway.ROOM] == 2
    warned = [text for text, _ in house.server.runner.warned]
    assert warned[0].endswith("dee's of dee: too many of its calls are open")


async def test_a_card_is_read_whole_by_who_may_see_it(house: House) -> None:
    house.server.ask(call(session_id="theirs", cwd="/bank"))
    caller = CertificateCaller(pem("sam"), None, "192.0.2.7")
    with house.service.open(caller) as opened:
        assert not isinstance(opened, DeskRefusal)
        assert await house.service.card(opened, 1) == house.server.card(1)
        assert isinstance(await house.service.card(opened, 2), Forbidden)
        assert await house.service.card(opened, 9) == Gone("there is no #9 any more")


# The second skin.


def kinds_of(refusal: type[DeskRefusal]) -> set[str]:
    # By name: a class with slots stands beside the one from which it was made.
    below = (kinds_of(kind) for kind in refusal.__subclasses__())
    return {refusal.__name__}.union(*below)


def test_each_refusal_has_its_status_in_each_skin() -> None:
    refusals = kinds_of(DeskRefusal) - {"DeskRefusal"}
    assert {refusal.__name__ for refusal in grpc_port.STATUS} == refusals
    assert {refusal.__name__ for refusal in routes.STATUS} == refusals
