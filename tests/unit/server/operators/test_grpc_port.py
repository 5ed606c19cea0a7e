"""Desks elsewhere, over real gRPC: what is decided there is decided once, by who may."""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc
import pytest

from crabhook.broker.messages import Arrived
from crabhook.desk.commands import (
    AskContext,
    AskHistory,
    AskOffers,
    Claim,
    Decide,
    DecideWithRule,
    Done,
    EndOrders,
    Extend,
    GiveOrder,
    KeepRule,
    Outcome,
    Refused,
    Snooze,
    StopSession,
    TakenOffer,
    TooLate,
)
from crabhook.desk.replica import Replica
from crabhook.desk.updates import HouseChanged, News, Snapshot
from crabhook.model.actor import Operator, OrderKind, Role
from crabhook.model.card import FeedEntry
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.remote.desk import RemoteDesk
from crabhook.remote.inputs import Inputs
from crabhook.remote.messages import request_of
from crabhook.server.operators import update_log
from crabhook.server.operators.service import Hello, OperatorService
from crabhook.store.interface import WriterEndedError
from crabhook.store.opening import open_writer
from crabhook.store.recorder import Recorder
from crabhook.team.membership import Scope
from crabhook.v1 import operator_pb2 as pb
from crabhook.v1.operator_pb2_grpc import OperatorServiceStub
from tests.support.desk import PlayedDesk
from tests.support.playbook import bash
from tests.support.port import connected, opened
from tests.support.relay import relay
from tests.support.runners import bare_runner
from tests.support.sitting import call
from tests.support.team import founded
from tests.support.team_port import SOON, TeamPort, team_port

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crabhook.desk.commands import Command
    from crabhook.desk.updates import Desk
    from crabhook.model.card import Card
    from crabhook.team.membership import Team

ALLOW, DENY = Decision(Verdict.ALLOW), Decision(Verdict.DENY, reason="no")
ADMIN, DECIDER, VIEWER = Role.ADMIN, Role.DECIDER, Role.VIEWER
TIMES = 50
MANY = pytest.param(1_000, marks=pytest.mark.thorough)
LONG = "x" * 50_000


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(SOON):
        while not true():  # noqa: ASYNC110 - what becomes true has no event
            await asyncio.sleep(0.002)


def followed(desk: Desk, listener: Callable[[News], None] = lambda _: None) -> Replica:
    replica = Replica(desk, time.monotonic)
    replica.follow(listener)
    return replica


async def eventually(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not true():  # noqa: ASYNC110 - a network has no event
            await asyncio.sleep(0.001)


async def given(replica: Replica, command: Command) -> Outcome:
    found: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    replica.submit(command, found.set_result)
    return await asyncio.wait_for(found, SOON)


def notify(server: PlayedDesk, text: str) -> None:
    server.ask({"hook_event_name": "Notification", "session_id": "n", "message": text})


def decide(card: Card, decision: Decision = ALLOW, name: str = "x") -> Any:
    """Return the request by which a card is decided as it is."""
    _, request = request_of(Decide(card.number, card.revision, decision, id=name))
    request.seen_sha256 = Inputs().seen(card)
    return request


async def test_a_desk_elsewhere_sees_and_decides_and_is_named_with_device_and_address(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        (card,) = replica.waiting()
        assert card == server.card(1)
        assert server.runner.attendance.desks == 1
        assert await given(replica, Decide(1, card.revision, ALLOW)) == Done()
        ended = replica.card(1)  # the change was told before the outcome
        assert ended is not None
        assert ended == server.card(1)
        assert ended.decided is not None
        assert ended.decided.by == Operator(
            "o-ann", "ann", "ann's", "127.0.0.1", "decider", "passphrase"
        )
    assert server.runner.attendance.desks == 0


@pytest.mark.parametrize("times", [TIMES, MANY])
async def test_of_two_desks_that_decide_at_once_one_does_and_the_other_is_told_who(
    tmp_path: Path, times: int
) -> None:
    server = PlayedDesk()
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
    ):
        ann, bob = followed(of_ann), followed(of_bob)
        for number in range(1, times + 1):
            server.ask(call(session_id=f"s{number}"))
            await until(lambda n=number: ann.card(n) and bob.card(n))
            # On a busy machine a link may break, and comes back by itself.
            await until(lambda: not (ann.lost() or bob.lost()))
            seen = [(who, who.card(number)) for who in (ann, bob)]
            outcomes = await asyncio.gather(
                *(given(who, Decide(number, card.revision, ALLOW)) for who, card in seen if card)
            )
            late = outcomes[0] if outcomes[1] == Done() else outcomes[1]
            winner = "bob" if outcomes[1] == Done() else "ann"
            assert Done() in outcomes
            assert isinstance(late, TooLate)
            assert late.by == Operator(
                f"o-{winner}", winner, f"{winner}'s", "127.0.0.1", "decider", "passphrase"
            )
            assert ann.card(number) == bob.card(number) == server.card(number)
    assert len(server.decided) == times


@pytest.mark.parametrize("kills", [20, pytest.param(100, marks=pytest.mark.thorough)])
async def test_over_killed_connections_no_news_are_missed_and_none_come_twice(
    tmp_path: Path, kills: int
) -> None:
    server, heard, began, told = PlayedDesk(), list[str](), list[News](), 0

    def on_news(one: News) -> None:
        if isinstance(one, FeedEntry):
            heard.append(one.event.text("message"))
        elif isinstance(one, Snapshot):
            began.append(one)

    async with (
        team_port(server.runner, tmp_path, ann=VIEWER) as port,
        relay(port.address.port) as line,
        port.desk("ann", line.port) as desk,
    ):
        replica = followed(desk, on_news)
        for kill in range(kills):
            for _ in range(3):
                notify(server, str(told := told + 1))
                await asyncio.sleep(0.001 * (kill % 3))
            line.cut()
            notify(server, str(told := told + 1))
            await until(lambda: desk.lost or heard[-1:] == [str(told)])
        await until(lambda: heard[-1:] == [str(told)])
        assert heard == [str(number) for number in range(1, told + 1)]
        assert len(began) == 1
        assert [one.text for one in replica.feed()] == [one.text for one in server.feed()]


async def test_who_looks_at_a_card_is_told_to_the_others_and_not_to_themselves(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as of_ann,
        port.desk("bob") as of_bob,
    ):
        ann, bob = followed(of_ann), followed(of_bob)
        assert await given(ann, Claim(1)) == Done()
        await until(
            lambda: (
                bob.looking(1)
                == (Operator("o-ann", "ann", "ann's", "127.0.0.1", "decider", "passphrase"),)
            )
        )
        assert ann.looking(1) == ()
        async with port.desk("bob") as later:
            assert followed(later).looking(1) == bob.looking(1)
        assert await given(ann, Claim(1, release=True)) == Done()
        await until(lambda: not bob.looking(1))


async def test_while_a_desk_is_lost_it_says_so_and_takes_nothing(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.ask(call())
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER) as port,
        relay(port.address.port) as line,
        port.desk("ann", line.port) as desk,
    ):
        replica = followed(desk)
        line.down = True
        line.cut()
        await until(replica.lost)
        refused = await given(replica, Decide(1, 0, ALLOW))
        why = f"there is no connection to the server ({desk.lost}): nothing was sent about #1"
        assert refused == Refused(why)
        line.down = False
        await until(lambda: not replica.lost())
        assert await given(replica, Decide(1, replica.waiting()[0].revision, ALLOW)) == Done()


async def test_a_place_that_is_not_kept_any_more_is_a_gap_and_all_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_log, "KEPT", 20)
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=VIEWER) as port, port.calls("ann") as calls:
        watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
        hello = (await watch.read()).hello
        begins = hello.seq
        for number in range(30):
            notify(server, str(number))
        for again in (
            pb.WatchRequest(store_id=hello.store_id, view_tag=hello.view_tag, after_seq=begins),
            pb.WatchRequest(store_id=b"another", view_tag=hello.view_tag, after_seq=begins + 30),
            pb.WatchRequest(store_id=hello.store_id, view_tag=b"another", after_seq=begins + 30),
            pb.WatchRequest(
                store_id=hello.store_id, view_tag=hello.view_tag, after_seq=begins + 99
            ),
        ):
            later = calls.Watch(again, timeout=SOON)
            parts = [(await later.read()).WhichOneof("news") for _ in range(3)]
            assert parts == ["hello", "gap", "state"]
        resumed = calls.Watch(
            pb.WatchRequest(
                store_id=hello.store_id, view_tag=hello.view_tag, after_seq=begins + 29
            ),
            timeout=SOON,
        )
        assert (await resumed.read()).hello.resumed
        assert (await resumed.read()).seq == begins + 30


async def test_who_watches_what_is_told_anew_is_told_of_a_gap_and_then_all_there_is(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=VIEWER) as port, port.calls("ann") as calls:
        watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
        while (await watch.read()).WhichOneof("news") != "snapshot_end":
            pass
        notify(server, "before")
        server.runner.publish(server.runner._listeners, server.runner._snapshot())
        parts = [(await watch.read()).WhichOneof("news") for _ in range(2)]
        assert parts == ["gap", "state"]
        while (event := await watch.read()).WhichOneof("news") != "snapshot_end":
            pass
        notify(server, "after")
        assert (await watch.read()).seq == event.seq + 1


@pytest.mark.slow
async def test_a_desk_that_does_not_read_costs_the_others_nothing_and_is_told_of_the_gap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_log, "KEPT", 100)
    server, many = PlayedDesk(), 150
    async with (
        team_port(server.runner, tmp_path, ann=VIEWER, bob=VIEWER) as port,
        port.calls("ann") as calls,
        port.desk("bob") as desk,
    ):
        bob = followed(desk)
        frozen = calls.Watch(pb.WatchRequest(), timeout=60)
        while (await frozen.read()).WhichOneof("news") != "snapshot_end":
            pass
        for number in range(many):
            server.leave(server.ask(call(tool_input={"command": f"{number} {LONG}"})))
            await until(lambda: list(bob.ended())[-1:] == list(server.ended())[-1:])
        told = [(await frozen.read()).WhichOneof("news")]
        while told[-1] != "gap":
            told.append((await frozen.read()).WhichOneof("news"))
        assert len(told) < 3 * many
        while (event := await frozen.read()).WhichOneof("news") != "snapshot_end":
            pass
        assert event.seq > 3 * many


@pytest.mark.thorough
@pytest.mark.timeout(300)
async def test_of_two_hundred_who_watch_one_that_is_frozen_keeps_nothing_from_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update_log, "KEPT", 40)
    server, many, watchers, of_a_device = PlayedDesk(), 120, 200, 16
    names = [f"w{number}" for number in range(-(-watchers // of_a_device))]
    async with AsyncExitStack() as stack:
        opened_port = team_port(server.runner, tmp_path, **dict.fromkeys(names, VIEWER))
        port = await stack.enter_async_context(opened_port)
        stubs = [await stack.enter_async_context(port.calls(name)) for name in names]
        watches = [
            stubs[number // of_a_device].Watch(pb.WatchRequest(), timeout=170)
            for number in range(watchers)
        ]
        for one in watches:
            while (await one.read()).WhichOneof("news") != "snapshot_end":
                pass
        frozen, *others = watches
        heard: list[list[int]] = [[] for _ in others]

        async def follow(watch: Any, into: list[int]) -> None:
            while len(into) < many:
                event = await watch.read()
                assert not event.HasField("gap")
                if event.HasField("feed"):
                    into.append(event.seq)

        following = asyncio.gather(*map(follow, others, heard))
        for number in range(1, many + 1):
            notify(server, f"{number} {'x' * 2_000}")
            async with asyncio.timeout(SOON):
                while min(map(len, heard)) < number:  # noqa: ASYNC110 - a network has no event
                    await asyncio.sleep(0.002)
        await following
        assert all(one == heard[0] == sorted(set(one)) for one in heard)
        frozen.cancel()


async def test_an_input_too_long_for_the_news_is_shown_whole_all_the_same(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.ask(call(tool_input={"command": "x" * 700_000}))
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port, port.desk("ann") as desk:
        replica = followed(desk)
        assert replica.waiting() == server.waiting()
        server.snooze(1, 60)
        await until(lambda: replica.waiting() == server.waiting())
        card = replica.waiting()[0]
        assert await given(replica, Decide(1, card.revision, ALLOW)) == Done()


async def test_a_long_input_of_a_card_that_has_ended_holds_up_no_desk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, fetched = PlayedDesk(), list[int]()
    server.ask(call(tool_input={"command": "x" * 2_000_000}))
    fetch = RemoteDesk._fetch

    async def noted(desk: RemoteDesk, number: int) -> None:
        fetched.append(number)
        await fetch(desk, number)

    monkeypatch.setattr(RemoteDesk, "_fetch", noted)
    monkeypatch.setattr("crabhook.remote.desk.ENDED_READ", -1)  # a played hook tells no size
    async with team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port:
        async with port.desk("ann") as desk:
            replica = followed(desk)
            await until(lambda: replica.waiting() == server.waiting())
            decided = Decide(1, replica.waiting()[0].revision, ALLOW)
            assert await given(replica, decided) == Done()
        async with port.desk("bob") as desk:
            replica = followed(desk)
            await until(replica.ended)
            assert [card.number for card in replica.ended()] == [1]
    assert fetched == [1]


async def test_the_same_decision_again_is_the_same_and_another_with_its_id_is_refused(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    (card,) = server.waiting()
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        for _ in range(2):  # on another connection too
            async with port.calls("ann") as calls:
                for _ in range(2):
                    response = await calls.Decide(decide(card))
                    assert response.outcome.HasField("done")
                    assert response.card.decided.by.operator.name == b"ann"
                other = await calls.Decide(decide(card, DENY))
                assert b"another command the same id" in other.outcome.refused.why
        late = await _once(port, "ann", decide(card, DENY, "y"))
        assert late.outcome.too_late.by.operator.name == b"ann"
        assert late.outcome.too_late.at == server.ended()[0].ended_at
    assert len(server.decided) == 1


async def _to_its_end(watch: Any) -> None:
    while True:
        await watch.read()


async def _once(port: TeamPort, name: str, request: Any, rpc: str = "Decide") -> Any:
    async with port.calls(name) as calls:
        return await getattr(calls, rpc)(request, timeout=SOON)


async def test_a_decision_about_what_was_not_seen_changes_nothing_and_shows_the_card(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    (card,) = server.waiting()
    spoilt = decide(card)
    spoilt.seen_sha256 = b"of another card"
    unknown = decide(card)
    unknown.version += 7
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        for request in (spoilt, unknown):
            response = await _once(port, "ann", request)
            assert response.outcome.changed.now == card.revision
            assert response.card.number == 1
    assert not server.decided


async def test_a_decision_without_a_name_or_with_a_signature_that_is_none_is_refused(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call())
    (card,) = server.waiting()
    signed, nameless = decide(card), decide(card, name="")
    signed.signed.add(request_id=b"r")
    invalid, denied = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.PERMISSION_DENIED
    async with team_port(server.runner, tmp_path, ann=ADMIN) as port:
        for request, code in (
            (signed, denied),
            (nameless, invalid),
            (decide(card, name="x" * 65), invalid),
            (pb.DecideRequest(), invalid),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await _once(port, "ann", request)
            assert refused.value.code() is code
    assert not server.decided


HOLD, LET_PASS = Order(OrderKind.HOLD, "Stop"), Order(OrderKind.ALLOW_ALL, session="s")
TAKEN = DecideWithRule(1, 0, TakenOffer("o", None), ALLOW)
MAY: list[tuple[Command, Role]] = [
    (Decide(1, 0, ALLOW), DECIDER),
    (Decide(1, 0, DENY), DECIDER),
    (TAKEN, ADMIN),
    (Claim(1), DECIDER),
    (Extend(1, 60.0), DECIDER),
    (Snooze(1, 60.0), DECIDER),
    (GiveOrder(HOLD), DECIDER),
    (GiveOrder(LET_PASS), ADMIN),
    (StopSession("s", "why"), DECIDER),
    (AskHistory(), VIEWER),
]


@pytest.mark.parametrize("role", Role)
async def test_a_person_may_do_what_their_role_is_for_and_nothing_else(
    tmp_path: Path, role: Role
) -> None:
    server = PlayedDesk()
    server.order(HOLD)
    before = len(server.orders())
    async with team_port(server.runner, tmp_path, ann=role) as port:
        ends = EndOrders(frozenset(one.id for one in server.orders()))
        for command, needs in [(ends, ADMIN), *MAY]:
            rpc, request = request_of(command)
            if role.includes(needs):
                response = await _once(port, "ann", request, rpc)
                assert response.HasField("outcome")
                continue
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await _once(port, "ann", request, rpc)
            assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
            assert "ann is a" in (refused.value.details() or "")
    assert len(server.orders()) >= before or role is ADMIN


async def test_a_limited_person_sees_and_decides_only_what_is_within_the_limits(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.ask(call(cwd="/shop"))
    server.ask(call(cwd="/bank", session_id="b"))
    mine, others = server.waiting()
    async with team_port(server.runner, tmp_path) as port:
        port.let_in("ann", DECIDER, Scope(projects=("/shop",)))
        async with port.desk("ann") as desk:
            replica = followed(desk)
            assert list(replica.waiting()) == [mine]
            server.ask(call(cwd="/bank", session_id="c"))
            server.ask(call(cwd="/shop", session_id="d"))
            assert await given(replica, Decide(mine.number, mine.revision, ALLOW)) == Done()
            assert [card.event.cwd for card in replica.waiting()] == ["/shop"]
        for rpc, request in (("Decide", decide(others)), request_of(GiveOrder(HOLD))):
            with pytest.raises(grpc.aio.AioRpcError, match="limited to projects /shop"):
                await _once(port, "ann", request, rpc)


async def test_the_day_counts_for_who_sees_all_of_it_and_how_all_stands_is_told_to_everybody(
    tmp_path: Path,
) -> None:
    """What others decided is counted: a limited person would read of it there."""
    server = PlayedDesk()
    server.runner.played.counted = (3, 1, "npm run lint")
    told = [HouseChanged("rules 2 ok", "1 allowed"), HouseChanged("rules 2 WRONG", "2 allowed")]
    server.runner.stand(told[0])
    server.ask(call(cwd="/shop"))
    async with team_port(server.runner, tmp_path, bob=DECIDER) as port:
        port.let_in("ann", DECIDER, Scope(projects=("/shop",)))
        async with port.desk("ann") as ann, port.desk("bob") as bob:
            limited, whole = followed(ann), followed(bob)
            assert (limited.house(), whole.house()) == (replace(told[0], today=""), told[0])
            del told[0]
            server.runner.stand(told[0])
            server.runner.look_at_troubles()
            await eventually(lambda: whole.house() == told[0])
            await eventually(lambda: limited.house() == replace(told[0], today=""))
            counted = []
            for replica in (limited, whole):
                await given(replica, AskContext(1))
                read = replica.around(1)
                assert read is not None
                counted.append((read.allowed, read.denied))
            assert counted == [(0, 0), (3, 1)]


async def test_a_desk_hears_of_what_it_decided_itself_and_of_nothing_else(tmp_path: Path) -> None:
    server = PlayedDesk()
    for name in ("t1", "t2", "t3"):
        server.ask(call(tool_use_id=name))
    async with (
        team_port(server.runner, tmp_path, ann=DECIDER, bob=DECIDER) as port,
        port.desk("ann") as ann,
        port.desk("bob") as bob,
    ):
        heard = list[tuple[Event, Decided]]()
        ann.decided = lambda event, made: heard.append((event, made))
        mine, others = followed(ann), followed(bob)
        assert await given(others, Decide(2, 1, ALLOW)) == Done()
        await eventually(lambda: len(mine.waiting()) == 2)
        assert await given(mine, Decide(1, 1, ALLOW)) == Done()
        assert isinstance(await given(mine, Decide(2, 1, ALLOW)), TooLate)
        ((event, made),) = heard
        assert event.tool is not None
        assert event.tool.use_id == "t1"
        assert made.decision == ALLOW
        assert await ann.finish(1.0) == 1


async def refused(port: TeamPort, command: Command) -> str:
    """Return why ann is refused a command; empty where she is not."""
    rpc, request = request_of(command)
    try:
        await _once(port, "ann", request, rpc)
    except grpc.aio.AioRpcError as error:
        if error.code() is not grpc.StatusCode.PERMISSION_DENIED:
            raise
        return error.details() or ""
    return ""


async def test_who_may_end_no_order_puts_no_shorter_one_in_its_place(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.order(Order(OrderKind.HALT, session="s"))
    server.order(replace(HOLD, until=server.now() + 60))
    stood, soon = server.orders(), server.now() + 0.1
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        for shorter in (
            Order(OrderKind.HALT, session="s", until=soon),
            replace(HOLD, until=soon),
            replace(HOLD, until=server.now() + 60, times=1),
        ):
            assert "only an admin can" in await refused(port, GiveOrder(shorter))
        assert server.orders() == stood
        longer = Order(OrderKind.HALT, session="s", words="still")
        assert not await refused(port, GiveOrder(longer))
        assert not await refused(port, GiveOrder(HOLD))
    assert {one.until for one in server.orders()} == {None}


async def test_who_makes_no_rules_gives_none_to_the_agents_own_settings(tmp_path: Path) -> None:
    server = PlayedDesk()
    rules = {"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow"}
    mode = {"type": "setMode", "destination": "session"}
    async with team_port(server.runner, tmp_path, ann=DECIDER) as port:
        for update, may in (
            ({**rules, "destination": "userSettings"}, False),
            ({**rules, "destination": "session"}, False),
            ({**mode, "mode": "bypassPermissions"}, False),
            ({**mode, "mode": "acceptEdits", "destination": "userSettings"}, False),
            ({**mode, "mode": "acceptEdits"}, True),
        ):
            why = await refused(port, Decide(1, 0, replace(ALLOW, permissions=(update,))))
            assert ("only an admin can remember" in why) is not may


async def test_who_is_limited_makes_and_sees_no_rule_that_reaches_beyond(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.ask(call(cwd="/shop"))
    async with team_port(server.runner, tmp_path) as port:
        port.let_in("ann", ADMIN, Scope(projects=("/shop",)))
        for command, may in (
            (TAKEN, False),
            (KeepRule(1, TakenOffer("o", None)), False),
            (AskOffers(1, entry=1), False),  # of whose call nobody knows here in which project
            (AskOffers(1), True),
        ):
            assert ("is limited to" in await refused(port, command)) is not may


async def test_a_key_that_only_closes_keeps_nobody_at_a_desk(tmp_path: Path) -> None:
    server = PlayedDesk()

    def closing(team: Team) -> Team:
        (ann,) = team.members
        (one,) = ann.devices
        device = replace(one, fingerprint="", closing=one.fingerprint)
        return replace(team, members=(replace(ann, devices=(device,)),))

    async with team_port(server.runner, tmp_path, ann=ADMIN) as port:
        port.team.change(closing)
        async with port.calls("ann") as calls:
            watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
            assert (await watch.read()).hello.operator == "o-ann"
            assert server.runner.attendance.desks == 0


async def test_who_is_revoked_sees_and_decides_nothing_from_that_moment(tmp_path: Path) -> None:
    server = PlayedDesk()
    server.ask(call())
    (card,) = server.waiting()
    async with team_port(server.runner, tmp_path, ann=ADMIN) as port, port.calls("ann") as calls:
        watch = calls.Watch(pb.WatchRequest(), timeout=SOON)
        assert (await watch.read()).hello.operator == "o-ann"
        port.team.revoke("ann")
        with pytest.raises(grpc.aio.AioRpcError, match="was revoked") as refused:
            await calls.Decide(decide(card), timeout=SOON)
        assert refused.value.code() is grpc.StatusCode.PERMISSION_DENIED
        with pytest.raises(grpc.aio.AioRpcError, match="was revoked"):
            await _to_its_end(watch)
    assert not server.decided


async def test_who_is_of_no_team_or_of_another_reaches_nothing(tmp_path: Path) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=ADMIN) as port:
        other = founded(tmp_path / "other", time.time())
        port.certificates["eve"] = other.let_in("eve", ADMIN)
        strangers = (
            port.credentials("eve"),
            grpc.ssl_channel_credentials(port.authority),  # shows no certificate
            None,
        )
        for credentials in strangers:
            async with connected(port.address, credentials) as channel:
                stub: Any = OperatorServiceStub(channel)
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await stub.EndOrders(pb.EndOrdersRequest(command_id=b"x"), timeout=2)
                assert refused.value.code() in (
                    grpc.StatusCode.UNAVAILABLE,
                    grpc.StatusCode.DEADLINE_EXCEEDED,
                )


async def test_on_the_agents_port_there_is_no_call_of_a_desk() -> None:
    async with opened() as port, connected(port.bound[0]) as channel:
        for method in pb.DESCRIPTOR.services_by_name["OperatorService"].methods:
            ask: Any = channel.unary_unary(f"/{method.containing_service.full_name}/{method.name}")
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await ask(b"", timeout=SOON)
            assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_desk_that_comes_takes_no_news_from_those_that_listen() -> None:
    server, told = PlayedDesk(), list[tuple[str, ...]]()
    replica = followed(server, lambda _: told.append(tuple(replica.troubles())))
    server.wrong.append("the disk is full")
    followed(server)
    assert tuple(replica.troubles()) == ("the disk is full",)


async def test_the_row_of_a_record_keeps_its_name_and_its_numbers_go_on_over_a_restart(
    tmp_path: Path,
) -> None:
    logs = list[tuple[bytes, int]]()
    for folder in ("record", "record", "another"):
        recorder = Recorder(partial(open_writer, tmp_path / folder))
        runner = bare_runner(recorder)
        await runner.restore()
        log = update_log.UpdateLog(runner)
        logs.append((log.store_id, log.seq))
        log.close()
        runner.close()
        recorder.close()
    (first, ended), (again, began), (other, _) = logs
    assert first == again != other
    assert ended < began


async def test_no_place_of_a_server_before_is_gone_on_from(tmp_path: Path) -> None:
    server = PlayedDesk()
    async with team_port(server.runner, tmp_path, ann=VIEWER) as port, port.calls("ann") as calls:
        hello = (await calls.Watch(pb.WatchRequest(), timeout=SOON).read()).hello
        team = port.team
    later = PlayedDesk()
    later.runner.store_id = server.runner.store_id
    async with team_port(later.runner, tmp_path, team) as port:
        port.certificates["ann"] = team.let_in("eve", VIEWER)
        async with port.calls("ann") as calls:
            place = {"store_id": hello.store_id, "view_tag": hello.view_tag}
            for seq in (hello.seq, hello.seq + 1, 2**63):
                watch = calls.Watch(pb.WatchRequest(after_seq=seq, **place), timeout=SOON)
                assert not (await watch.read()).hello.resumed
                assert (await watch.read()).HasField("gap")


async def test_a_watch_that_begins_while_the_server_takes_another_part_ends_with_the_part_it_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, later, turned = PlayedDesk(), PlayedDesk(), list[bool]()
    hello = OperatorService._hello

    def hello_and_switch(service: OperatorService, *told: Any, **named: Any) -> Hello:
        said = hello(service, *told, **named)
        if not turned:
            turned.append(True)
            service.switch_to(later.runner)
        return said

    monkeypatch.setattr(OperatorService, "_hello", hello_and_switch)
    async with team_port(server.runner, tmp_path, ann=VIEWER) as port, port.calls("ann") as calls:
        async for _ in calls.Watch(pb.WatchRequest(), timeout=SOON):
            pass  # it ends, and the desk comes back for the part that the server has by now
        assert (await calls.Watch(pb.WatchRequest(), timeout=SOON).read()).HasField("hello")


async def test_watches_of_a_server_whose_writer_ended_end_and_it_shows_no_card_any_more(
    tmp_path: Path,
) -> None:
    server = PlayedDesk()
    server.runner.handle(Arrived(bash("a", "ls", wait=600.0), None, 1, server.now()))
    async with team_port(server.runner, tmp_path, ann=VIEWER) as port, port.calls("ann") as calls:
        watched = calls.Watch(pb.WatchRequest(), timeout=SOON)
        while (await watched.read()).WhichOneof("news") != "snapshot_end":
            pass
        server.runner.writer_ended = WriterEndedError("another crabhook writes the record")
        server.runner.handle(Arrived(bash("b", "ls", "t2", wait=600.0), None, 2, server.now()))
        while (event := await watched.read()) is not grpc.aio.EOF:
            assert event.WhichOneof("news") != "card"
        new = calls.Watch(pb.WatchRequest(), timeout=SOON)
        assert [event.WhichOneof("news") async for event in new] == ["hello"]
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await calls.GetCard(pb.GetCardRequest(number=1), timeout=SOON).read()
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND
