"""Cards of strict hooks over real gRPC: a desk signs what it drew, and nothing else is taken."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from crabhook.desk.commands import AskObjections, Decide, Done, Refused, Stale, Steer
from crabhook.hook.statement import of_call, of_reply, statement, ticket_digest
from crabhook.model.actor import Role
from crabhook.model.ballot import Ballot, Electorate, Terms, Voter
from crabhook.model.decision import Decision, Verdict
from crabhook.model.statements import vote_of
from crabhook.platforms import PLATFORMS
from crabhook.remote.signing import Signatory, Signatures, StatementSigner
from crabhook.team.decision_signatures import FalseSignatureError, check_signature
from tests.support.desk import PLAYED_SECRET, PlayedDesk
from tests.support.signing_people import TWO
from tests.support.sitting import call
from tests.support.team_port import TeamPort, team_port
from tests.unit.server.operators.test_grpc_port import followed, given, until

if TYPE_CHECKING:
    from pathlib import Path

    from crabhook.model.card import Card, Leg
    from crabhook.model.decision import Reply
    from crabhook.team.membership import Team

ALLOW = Decision(Verdict.ALLOW)
DECIDER = Role.DECIDER
ELECTORATE = Electorate((Voter("o-ann", "ann"), Voter("o-bob", "bob")))


def team_of(port: TeamPort) -> Team:
    team: Any = port.team.reader().current()
    return team


def signers(server: PlayedDesk, port: TeamPort, name: str, payload: Any) -> list[str]:
    """Return who signed the reply to a hook, as the hook itself would find out."""
    reply: Reply = server.replies[name]
    team = team_of(port)
    asked = of_call(
        team=bytes.fromhex(team.id),
        request_id=name,
        ticket=ticket_digest(PLAYED_SECRET),
        platform="claude",
        stance=1,
        payload=sha256(json.dumps(payload).encode()).digest(),
    )
    printed = of_reply(reply.stdout, reply.stderr.encode(), reply.exit_code)
    true = []
    for each in reply.signed:
        made_anew = replace(each, statement=statement(asked, printed, vote_of(each)))
        try:
            check_signature(made_anew, team, each.signed_at / 1000, ())
        except FalseSignatureError:
            continue
        true.append(each.operator)
    return true


async def test_a_desk_signs_what_a_strict_hook_prints(tmp_path: Path) -> None:
    server = PlayedDesk()
    name = server.ask(call(), strict=1)
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        (card,) = replica.waiting()
        assert await given(replica, Decide(1, card.revision, ALLOW)) == Done()
        assert signers(server, port, name, call()) == ["o-ann"]
        assert signers(server, port, name, call(cwd="/elsewhere")) == []
        assert (
            json.loads(server.replies[name].stdout)["hookSpecificOutput"]["permissionDecision"]
            == "allow"
        )


async def _refused(replica: Any, command: Decide) -> str:
    outcome = await given(replica, command)
    assert isinstance(outcome, Refused | Stale), outcome
    return outcome.why


async def test_nothing_unsigned_lets_a_strict_call_run_and_a_denial_passes(tmp_path: Path) -> None:
    server = PlayedDesk()
    first, second = server.ask(call(), strict=1), server.ask(call(session_id="t"), strict=1)
    refused = server.seat.decide(1, ALLOW)
    assert isinstance(refused, Refused)
    assert "its hook prints signed replies alone" in refused.why
    assert first not in server.replies
    server.answer(2, Decision(Verdict.DENY, reason="no"))
    assert server.replies[second].signed == ()
    assert any("its own fixed words" in line.text for line in server.feed())


async def test_a_card_that_a_server_draws_otherwise_is_signed_as_its_hook_asked(
    tmp_path: Path,
) -> None:
    """The server shows another call under the same id: the desk draws the hook's own bytes."""
    server = PlayedDesk()
    server.ask(call(tool_input={"command": "rm -rf /"}), strict=1)
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        (card,) = server.waiting()
        (leg,) = card.requests
        assert leg.event.tool is not None
        harmless = replace(leg.event.tool, input={"command": "ls"})
        lies = replace(
            leg, event=replace(leg.event, tool=harmless, fields={"tool_input": harmless.input})
        )
        server.runner.broker._state.cards.put(replace(card, requests=(lies,)))
        async with port.desk("ann") as desk:
            (drawn,) = followed(desk).waiting()
            assert drawn.event.given == {"command": "rm -rf /"}


async def test_what_a_server_shows_in_place_of_the_hooks_input_gets_a_signature_that_fits_nothing(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    asked = call(tool_input={"command": "rm -rf /"})
    name = server.ask(asked, strict=1)
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        (card,) = server.waiting()
        (leg,) = card.requests
        assert leg.strict is not None
        shown = json.dumps(call(tool_input={"command": "ls"})).encode()
        read = PLATFORMS["claude"].read(shown)
        lies = replace(leg, event=read, strict=replace(leg.strict, payload=shown))
        server.runner.broker._state.cards.put(replace(card, requests=(lies,)))
        async with port.desk("ann") as desk:
            replica = followed(desk)
            (drawn,) = replica.waiting()
            assert drawn.event.given == {"command": "ls"}
            assert await given(replica, Decide(1, drawn.revision, ALLOW)) == Done()
        assert len(server.replies[name].signed) == 1
        assert signers(server, port, name, asked) == []


async def test_a_signature_that_is_not_for_this_decision_by_this_person_is_refused(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call(), strict=1)
    server.ask(call(session_id="t"), strict=1)
    deny = Decision(Verdict.DENY, reason="no")
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
    ):
        ann, bob = followed(of_ann), followed(of_bob)
        first, second = (ann.card(number) for number in (1, 2))
        assert first is not None
        assert second is not None
        seen = Decide(1, first.revision, ALLOW)
        signed = (await of_ann._signatures.of(seen, first)).signed
        (one,) = signed
        of_other = (await of_ann._signatures.of(Decide(2, second.revision, ALLOW), second)).signed
        denied = (await of_ann._signatures.of(Decide(1, first.revision, deny), first)).signed
        several = replace(first, ballot=Ballot((Terms(2, ("@leads",)),), 0.0))
        of_several = (await of_ann._signatures.of(seen, several)).signed
        (leg,) = first.requests
        assert leg.strict is not None
        ticket = replace(leg, strict=replace(leg.strict, ticket=bytes(32)))
        of_ticket = await of_ann._signatures.of(seen, replace(first, requests=(ticket,)))
        changed = bytes((one.signature[0] ^ 1,)) + one.signature[1:]
        for place, (wrong, by, words) in enumerate(
            (
                (signed, bob, "somebody else signed"),
                (of_other, ann, "reply is not signed"),
                (
                    tuple(replace(each, request_id=one.request_id) for each in of_other),
                    ann,
                    "another request",
                ),
                (of_ticket.signed, ann, "not this card"),
                (denied, ann, "signed another reply"),
                (of_several, ann, "another decision"),
                ((replace(one, signature=changed),), ann, "does not count"),
                ((replace(one, operator="o-bob"),), bob, "names another person"),
                ((replace(one, signed_at=one.signed_at + 1),), ann, "another time"),
                ((replace(one, terms=TWO),), ann, "another list"),
                ((replace(one, statement=one.statement[:-1]),), ann, "longer than what there is"),
                ((replace(one, kind=9),), ann, "kind"),
            )
        ):
            why = await _refused(by, replace(seen, id=f"w{place}", signed=wrong))
            assert words in why, (words, why)
        assert not server.decided
        assert await given(ann, replace(seen, signed=signed)) == Done()


async def test_two_people_sign_the_same_reply_and_the_hook_gets_both(tmp_path: Path) -> None:
    server = PlayedDesk(electorate=lambda _: ELECTORATE)
    name = server.ask(call(), strict=2)
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
    ):
        ann, bob = followed(of_ann), followed(of_bob)
        (card,) = ann.waiting()
        noted = Decision(Verdict.ALLOW, note="only once")
        assert "leave the note out" in await _refused(ann, Decide(1, card.revision, noted))
        assert await given(ann, Decide(1, card.revision, ALLOW)) == Done()
        assert name not in server.replies
        await until(lambda: (seen := bob.card(1)) and seen.ballot and seen.ballot.votes)
        voted = bob.card(1)
        assert voted is not None
        assert await given(bob, Decide(1, voted.revision, ALLOW)) == Done()
        assert sorted(signers(server, port, name, call())) == ["o-ann", "o-bob"]


async def test_a_changed_call_voids_the_signatures_of_the_one_before(tmp_path: Path) -> None:
    server = PlayedDesk(electorate=lambda _: ELECTORATE)
    name = server.ask(call(), strict=2)
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
    ):
        ann, bob = followed(of_ann), followed(of_bob)
        (card,) = ann.waiting()
        assert await given(ann, Decide(1, card.revision, ALLOW)) == Done()
        await until(lambda: (seen := bob.card(1)) and seen.ballot and seen.ballot.votes)
        edited = Decision(Verdict.ALLOW, updated_input={"command": "ls"})
        seen = bob.card(1)
        assert seen is not None
        assert await given(bob, AskObjections(1, edited)) == Done()
        assert await given(bob, Decide(1, seen.revision, edited)) == Done()
        assert name not in server.replies
        (vote,) = server.waiting()[0].ballot.votes  # type: ignore[union-attr]
        assert vote.by.id == "o-bob"
        await until(
            lambda: (again := ann.card(1)) and again.ballot and again.ballot.proposal == edited
        )
        again = ann.card(1)
        assert again is not None
        assert await given(ann, Decide(1, again.revision, ALLOW)) == Done()
        assert sorted(signers(server, port, name, call())) == ["o-ann", "o-bob"]
        assert b'"command":"ls"' in server.replies[name].stdout


async def test_the_desk_that_decided_signs_for_the_next_hook_of_the_same_call(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    asked = call(tool_use_id="toolu_1")
    first = server.ask(asked, strict=1)
    async with team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port:
        again = {**asked, "hook_event_name": "PermissionRequest"}
        del again["tool_use_id"]
        async with port.desk("ann") as of_ann, port.desk("bob") as of_bob:
            ann, bob = followed(of_ann), followed(of_bob)
            (card,) = ann.waiting()
            assert await given(ann, Decide(1, card.revision, ALLOW)) == Done()
            second = server.ask(again, strict=1)
            await until(lambda: second in server.replies)
            assert signers(server, port, second, again) == ["o-ann"]
            assert signers(server, port, first, again) == []
            await until(lambda: bob.card(2))
        # Nobody is there who decided: the card waits for a person.
        third = server.ask({**again, "session_id": "t", "hook_event_name": "PreToolUse"}, strict=1)
        async with port.desk("ann") as of_ann:
            ann = followed(of_ann)
            (card,) = ann.waiting()
            assert await given(ann, Decide(3, card.revision, ALLOW)) == Done()
            assert third in server.replies
        server.ask({**again, "session_id": "t"}, strict=1)
        (left,) = server.waiting()
        assert left.repeats


def _asking(card: Card) -> Leg:
    """The leg of a card as the second hook of its call."""
    (leg,) = card.requests
    return replace(leg, event=replace(leg.event, name="PermissionRequest"))


async def test_a_desk_signs_by_itself_for_nothing_but_the_next_hook_of_its_own_call() -> None:
    clock = [0.0]

    async def sign(statement: bytes) -> bytes:
        return statement[:64]

    who = Signatory(sha256(b"ours").hexdigest(), "o-ann", "d-ann", 1)
    signatures = Signatures(StatementSigner(who, sign), lambda: clock[0])
    server = PlayedDesk()
    before = call(tool_use_id="toolu_1")
    asking = {**before, "hook_event_name": "PermissionRequest"}
    server.ask(before, strict=1)
    (first,) = server.waiting()
    signed = await signatures.of(Decide(1, 1, ALLOW), first)
    repeat = replace(first, number=9, repeats=True, requests=(_asking(first),))
    assert signatures.again(repeat) is None, "the server has not taken it yet"
    signatures.keep(signed, first)

    def waits(payload: Any, *, strict: int = 1, repeats: bool = True) -> Card:
        server.ask(payload, strict=strict)
        return replace(server.waiting()[-1], repeats=repeats)

    other = {**asking, "tool_input": {"command": "rm x"}, "session_id": "t"}
    assert signatures.again(waits({**before, "tool_use_id": "toolu_2"})) is None
    assert signatures.again(waits(other)) is None
    for wrong in (
        waits({**asking, "session_id": "u"}),
        waits({**asking, "session_id": "v"}, strict=0),
    ):
        assert signatures.again(wrong) is None
    right = repeat
    assert signatures.again(replace(right, repeats=False)) is None
    clock[0] = 61.0
    assert signatures.again(right) is None
    clock[0] = 60.0
    made = signatures.again(right)
    assert made is not None
    assert (made.card, made.decision) == (9, ALLOW)
    assert signatures.again(right) is None, "once"


async def test_one_decision_signs_for_every_hook_of_a_call_and_none_is_left_out(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    before = call(tool_use_id="toolu_1")
    asking = {**before, "hook_event_name": "PermissionRequest"}
    del asking["tool_use_id"]
    first = server.ask(before, strict=1)
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        (card,) = replica.waiting()
        alone = (await desk._signatures.of(Decide(1, card.revision, ALLOW), card)).signed
        second = server.ask(asking, strict=1)
        await until(lambda: (seen := replica.card(1)) and len(seen.requests) == 2)
        both = replica.card(1)
        assert both is not None
        early = Decide(1, both.revision, ALLOW, signed=alone)
        assert "reply is not signed" in await _refused(replica, early)
        assert await given(replica, Decide(1, both.revision, ALLOW)) == Done()
        assert signers(server, port, first, before) == ["o-ann"]
        assert signers(server, port, second, asking) == ["o-ann"]


async def test_a_hook_that_joins_voids_what_was_signed_without_it(tmp_path: Path) -> None:
    server = PlayedDesk(electorate=lambda _: ELECTORATE)
    before = call(tool_use_id="toolu_1")
    server.ask(before, strict=2)
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        (card,) = replica.waiting()
        assert await given(replica, Decide(1, card.revision, ALLOW)) == Done()
        assert server.waiting()[0].ballot.votes  # type: ignore[union-attr]
        server.ask({**before, "hook_event_name": "PermissionRequest"}, strict=2)
        assert not server.waiting()[0].ballot.votes  # type: ignore[union-attr]
        assert any("another hook asks for a signature" in line.text for line in server.feed())


async def test_the_signature_of_a_person_who_left_reaches_no_hook(tmp_path: Path) -> None:
    people = [ELECTORATE]
    server = PlayedDesk(electorate=lambda _: people[0])
    name = server.ask(call(), strict=2)
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER, cat=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
        port.desk("cat") as of_cat,
    ):
        (card,) = followed(of_ann).waiting()
        ann, bob, cat = followed(of_ann), followed(of_bob), followed(of_cat)
        assert await given(ann, Decide(1, card.revision, ALLOW)) == Done()
        people[0] = Electorate((Voter("o-bob", "bob"), Voter("o-cat", "cat")))
        server.runner.look_at_electorates()
        for who in (bob, cat):
            await until(
                lambda who=who: (seen := who.card(1)) and seen.revision == server.card(1).revision
            )  # type: ignore[union-attr]
            seen = who.card(1)
            assert seen is not None
            assert await given(who, Decide(1, seen.revision, ALLOW)) == Done()
        assert sorted(signers(server, port, name, call())) == ["o-bob", "o-cat"]


def test_a_note_to_an_agent_with_strict_hooks_is_given_up_in_words() -> None:
    server = PlayedDesk()
    server.ask(call())
    assert server.seat.outcome(Steer("3f1c0000", "look at the tests")) == Done()
    server.ask(call(tool_input={"command": "pwd"}), strict=1)
    assert any("signed replies alone" in line.text for line in server.feed())
    server.answer(2, Decision(Verdict.DENY, reason="no"))
    assert all(b"look at the tests" not in reply.stdout for reply in server.replies.values())


async def test_a_long_input_is_fetched_drawn_and_signed_whole(tmp_path: Path) -> None:
    server = PlayedDesk()
    asked = call("Write", {"file_path": "/x", "content": "é" * 60_000})
    name = server.ask(asked, strict=1)
    (card,) = server.waiting()
    long = replace(card.requests[0], size=200_000)
    server.runner.broker._state.cards.put(replace(card, requests=(long,)))
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        (drawn,) = replica.waiting()
        assert len(str(drawn.event.given["content"])) == 60_000
        assert await given(replica, Decide(1, drawn.revision, ALLOW)) == Done()
        assert signers(server, port, name, asked) == ["o-ann"]
