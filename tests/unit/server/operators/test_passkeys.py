"""A page's session closes, and opens one call by a passkey's assertion for that very call."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from crabhook.desk.commands import BARE_DENIAL, Decide, Done, GiveOrder, Refused, Stale
from crabhook.desk.updates import NEVER
from crabhook.model.actor import Operator, OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.remote.inputs import Inputs
from crabhook.server.core.journal_mapper import JournalMapper
from crabhook.server.operators.authentication import Asserted, PasskeyCaller, Sent
from crabhook.server.operators.refusals import DeskRefusal, Forbidden
from crabhook.server.operators.service import (
    CommandReply,
    Hello,
    SubmittedCommand,
)
from crabhook.store.opening import open_writer
from crabhook.store.proofs import Proofs
from crabhook.team.call_signature import WITHIN, SignedCall
from crabhook.team.edit_team import without_operator
from crabhook.team.passkeys import challenge_of
from tests.support.authenticator import ORIGIN
from tests.support.passkey_people import PasskeyHouse
from tests.support.sitting import call
from tests.unit.store.making import records

SOON = 60.0  # seconds after which a test gives up on what happens at once
ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY, BARE_DENIAL)
ADDRESS = "192.0.2.9"
WALL = 1_800_000_000.0


@dataclass
class House(PasskeyHouse):
    """The house as a page speaks to it, whose calls its people sign."""

    challenge: bytes = b""

    async def greeted(self) -> None:
        """Learn the server's challenge as a page does: from the first part of a watch."""
        with self.service.open(self.caller("dee")) as opened:
            assert not isinstance(opened, DeskRefusal)
            async with aclosing(self.service.watch(opened, NEVER)) as parts:
                hello = await anext(parts)
        assert isinstance(hello, Hello)
        self.challenge = hello.challenge

    def caller(self, name: str, asserted: Asserted | None = None) -> PasskeyCaller:
        return PasskeyCaller(f"o-{name}", f"p-{name}", asserted, frozenset({ORIGIN}), ADDRESS)

    def body(self, command: Any) -> bytes:
        """What a page posts, and what is signed."""
        number = getattr(command, "card", 0)
        told = {"id": command.id, "card": number, "act": repr(command)}
        return json.dumps({**told, "seen_sha256": self.seen(number).hex()}).encode()

    def seen(self, number: int) -> bytes:
        card = self.server.card(number)
        return Inputs().seen(card) if card else b""

    def signed(self, name: str, command: Any, by: str = "", **other: Any) -> Asserted:
        """Have a passkey sign a call of `name`'s, each part of what is signed as told."""
        at = other.get("at", self.server.now())
        whole = SignedCall("t", f"o-{name}", self.challenge, "Decide", self.body(command), at)
        assertion = self.keys[by or name].sign(challenge_of(whole._replace(**other)))
        return Asserted(at, assertion)

    async def gives(
        self, name: str, command: Any, asserted: Asserted | None = None
    ) -> CommandReply | DeskRefusal:
        with self.service.open(self.caller(name, asserted)) as opened:
            assert not isinstance(opened, DeskRefusal)
            sent, seen = Sent("Decide", self.body(command)), self.seen(getattr(command, "card", 0))
            asked = SubmittedCommand(command, sent, seen)
            return await asyncio.wait_for(self.service.carry_out(opened, asked), SOON)


def decide(number: int = 1, decision: Decision = ALLOW, name: str = "x") -> Decide:
    return Decide(number, 1, decision, id=name)


@pytest.fixture
async def house() -> House:
    made = House()
    await made.greeted()
    return made


def outcome(reply: CommandReply | DeskRefusal) -> object:
    assert isinstance(reply, CommandReply), reply
    return reply.outcome


async def test_an_assertion_opens_the_call_that_it_signs_where_the_session_alone_does_not(
    house: House,
) -> None:
    refusal = await house.gives("dee", decide())
    assert isinstance(refusal, Forbidden)
    assert "may look and close" in refusal.why
    assert outcome(await house.gives("dee", decide(), house.signed("dee", decide()))) == Done()
    card = house.server.card(1)
    assert card is not None
    assert card.decided is not None
    dee = Operator("o-dee", "dee", "dee", ADDRESS, "decider", "passkey")
    assert card.decided.by == dee


async def test_what_a_passkey_signed_is_on_record_and_verifies_offline(
    house: House, tmp_path: Path
) -> None:
    house.server.ask(call(session_id="other", cwd="/shop"))
    runner, writer = house.server.runner, open_writer(tmp_path)
    mapper = JournalMapper(lambda: WALL, runner.broker.secret_of)
    write = runner.write

    def on_record(fact: Any, effects: Any) -> Any:
        writer.write(mapper.changes(fact, effects))
        return write(fact, effects)

    runner.write = on_record  # type: ignore[method-assign]
    until = house.server.now() + 60
    order = GiveOrder(Order(OrderKind.ALLOW_ALL, session="s", until=until), id="y")
    asserted = house.signed("dee", decide())
    for _ in range(2):
        assert outcome(await house.gives("dee", decide(), asserted)) == Done()
    assert outcome(await house.gives("dee", decide(2, DENY, "z"))) == Done()
    assert outcome(await house.gives("ann", order, house.signed("ann", order))) == Done()
    writer.close()
    proofs = Proofs(house.team)
    for record in records(tmp_path):
        proofs.take(record)
    assert (proofs.true, proofs.false, proofs.unknown) == (2, [], 0)


async def test_a_session_alone_denies_without_words(house: House) -> None:
    assert outcome(await house.gives("dee", decide(decision=DENY))) == Done()
    card = house.server.card(1)
    assert card is not None
    assert card.decided is not None
    assert getattr(card.decided.by, "shown", "") == "open-key"


FORGERIES: dict[str, Callable[[House], Asserted]] = {
    "of another card": lambda house: house.signed("dee", decide(2)),
    "of another verdict": lambda house: house.signed("dee", decide(decision=DENY)),
    "of another command": lambda house: house.signed("dee", decide(name="y")),
    "of another act": lambda house: house.signed("dee", decide(), rpc="Steer"),
    "of another server": lambda house: house.signed("dee", decide(), challenge=b"before"),
    "of another team": lambda house: house.signed("dee", decide(), team="other"),
    "for another person": lambda house: house.signed("dee", decide(), operator="o-ann"),
    "by another person": lambda house: house.signed("dee", decide(), by="ann"),
    "too early": lambda house: house.signed("dee", decide(), at=house.server.now() + WITHIN + 5),
    "at another time": lambda house: Asserted(
        house.server.now() + 1, house.signed("dee", decide()).assertion
    ),
    "at no time": lambda house: Asserted(float("nan"), house.signed("dee", decide()).assertion),
}


@pytest.mark.parametrize("what", FORGERIES)
async def test_an_assertion_of_anything_but_this_call_opens_nothing(
    house: House, what: str
) -> None:
    house.server.ask(call(session_id="other", cwd="/shop"))
    refusal = await house.gives("dee", decide(), FORGERIES[what](house))
    assert isinstance(refusal, Forbidden)
    assert not house.server.decided


async def test_an_assertion_counts_once_for_that_card_in_that_revision(house: House) -> None:
    house.server.ask(call(session_id="other", cwd="/shop"))
    asserted = house.signed("dee", decide())
    for _ in range(3):
        assert outcome(await house.gives("dee", decide(), asserted)) == Done()
    assert isinstance(await house.gives("dee", decide(2), asserted), Forbidden)
    # A new assertion does not bring an old command back, with another content neither.
    other = house.signed("dee", decide(2))
    assert isinstance(outcome(await house.gives("dee", decide(2), other)), Refused)
    assert len(house.server.decided) == 1


async def test_an_assertion_for_a_card_as_it_was_decides_nothing_about_the_card_as_it_is(
    house: House,
) -> None:
    asserted, before, seen = house.signed("dee", decide()), house.body(decide()), b"\0" * 32
    with house.service.open(house.caller("dee", asserted)) as opened:
        assert not isinstance(opened, DeskRefusal)
        asked = SubmittedCommand(decide(), Sent("Decide", before), seen)
        assert isinstance(outcome(await house.service.carry_out(opened, asked)), Stale)
    assert not house.server.decided


async def test_a_passkey_gives_no_more_than_its_persons_role(house: House) -> None:
    refusal = await house.gives("vic", decide(), house.signed("vic", decide()))
    assert isinstance(refusal, Forbidden)
    until = house.server.now() + 60
    order = GiveOrder(Order(OrderKind.ALLOW_ALL, session="s", until=until), id="x")
    refused = await house.gives("dee", order, house.signed("dee", order))
    assert isinstance(refused, Forbidden)
    assert outcome(await house.gives("ann", order, house.signed("ann", order))) == Done()


async def test_a_revoked_passkey_opens_nothing_and_its_watch_ends_within_a_second(
    house: House,
) -> None:
    asserted = house.signed("dee", decide())
    with house.service.open(house.caller("dee")) as opened:
        assert not isinstance(opened, DeskRefusal)
        async with aclosing(house.service.watch(opened, NEVER)) as parts:
            assert isinstance(await anext(parts), Hello)
            house.team = without_operator(house.team, "dee", "p-dee", 7)
            async with asyncio.timeout(SOON):
                last = [part async for part in parts][-1]
    assert isinstance(last, Forbidden)
    assert "the passkey of dee on dee was revoked" in last.why
    assert isinstance(await house.gives("dee", decide(), asserted), Forbidden)
    assert isinstance(await house.gives("dee", decide(decision=DENY)), Forbidden)
    assert not house.server.decided


async def test_a_passkey_on_the_agents_machine_opens_by_an_admins_word_alone(
    house: House,
) -> None:
    dee = house.team.members[1]
    theirs = replace(dee.passkeys[0], agents_machine=True)
    for passkey in (theirs, replace(theirs, confirmed=True)):
        members = (house.team.members[0], replace(dee, passkeys=(passkey,)))
        house.team = replace(house.team, members=members)
        reply = await house.gives("dee", decide(), house.signed("dee", decide()))
        assert isinstance(reply, CommandReply) is passkey.confirmed
    assert len(house.server.decided) == 1
