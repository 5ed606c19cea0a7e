"""A desk at a standby sees the leader's cards, decides none of them, and decides once it leads."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from crabhook.desk.commands import (
    AskEntry,
    AskHistory,
    AskOffers,
    Command,
    Decide,
    Done,
    EndOrders,
    GiveOrder,
    Outcome,
    Refused,
    Steer,
)
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.card import State
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.server.address import TcpAddress
from tests.integration.test_shared_record import (
    ALLOW,
    asks,
    cluster,
    crabhook,
    free_port,
    said,
    served,
    stands_by,
    url,
)
from tests.support.service import Service
from tests.support.team import Founded, founded
from tests.support.team_port import TeamPort

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.cluster import Cluster

__all__ = ["cluster", "url"]
pytestmark = [pytest.mark.process, pytest.mark.thorough, pytest.mark.timeout(240)]
WAITS = 60.0  # seconds, for what is there at once where nothing else runs


class Two:
    """Two servers of one team, which share a record; the second stands by."""

    def __init__(self, url: str) -> None:
        self._url, self.ports = url, [free_port(), free_port()]
        self.servers: list[Service] = []
        self.team: TeamPort

    def start(self) -> None:
        """Start both, of which the first leads; ann may decide at each."""
        for port in self.ports:
            options = ("--no-desk", "--alone", "60", "--operators", f"127.0.0.1:{port}")
            self.servers.append(served(self._url, *options, waits=False))
        first, second = (one.folder / ".local/state/crabhook/team" for one in self.servers)
        team: Founded = founded(first, time.time())
        self.team = TeamPort(TcpAddress("127.0.0.1", self.ports[0]), team)
        self.team.let_in("ann")
        shutil.copytree(first, second)
        self.servers[0].__enter__()
        self.servers[0].listens()
        self.servers[1].__enter__()
        stands_by(self.servers[1])

    def end(self) -> None:
        """End both."""
        for one in self.servers:
            one.__exit__()


@pytest.fixture
def two(url: str) -> Iterator[Two]:
    made = Two(url)
    try:
        made.start()
        yield made
    finally:
        made.end()


async def test_a_desk_at_a_standby_sees_all_decides_nothing_and_goes_on_when_it_leads(
    two: Two, cluster: Cluster
) -> None:
    leader, standby = two.servers
    both = f"{leader.address},{standby.address}"
    first = asks(leader, "make")
    second = asks(leader, "make install", 2, server=both)
    async with two.team.desk("ann", two.ports[1]) as desk:
        looks_on = Replica(desk, desk.now)
        looks_on.follow()
        await until(lambda: len(looks_on.waiting()) == 2)
        assert desk.hello.part == "standby"
        assert desk.hello.leader == f"127.0.0.1:{two.ports[0]}"
        assert looks_on.house().state.startswith("standby · ")
        assert any("stands by" in one for one in looks_on.troubles())
        number = next(one.number for one in looks_on.waiting() if "install" not in str(one.event))
        refused = await decided(looks_on, number)
        assert isinstance(refused, Refused)
        assert f"127.0.0.1:{two.ports[0]}" in refused.why
        async with two.team.desk("ann", two.ports[0]) as there:
            decides = Replica(there, there.now)
            decides.follow()
            await until(lambda: len(decides.waiting()) == 2)
            assert isinstance(await decided(decides, number), Done)
            assert decides.house().state.startswith("leader · ")
            assert await asyncio.to_thread(said, first) == ALLOW
        await until(lambda: looks_on.card(number).state is State.DECIDED)  # type: ignore[union-attr]
        told = looks_on.card(number)
        assert told is not None
        assert told.decided is not None
        assert getattr(told.decided.by, "name", "") == "ann"
        leader.process.kill()
        await asyncio.to_thread(standby.listens)
        await until(lambda: desk.attached.is_set() and desk.hello.part == "leader")
        await until(lambda: len(looks_on.waiting()) == 1)
        (waits,) = looks_on.waiting()
        assert isinstance(await decided(looks_on, waits.number), Done)
        assert await asyncio.to_thread(said, second) == ALLOW
        assert "as they were written" in standby.audit("verify")


async def test_a_desk_at_a_standby_sees_the_orders_the_notes_and_the_history_of_the_leader(
    two: Two, cluster: Cluster
) -> None:
    first = asks(two.servers[0], "make")
    second = asks(two.servers[0], "make install", 2)
    async with (
        two.team.desk("ann", two.ports[0]) as there,
        two.team.desk("ann", two.ports[1]) as here,
    ):
        decides, looks_on = Replica(there, there.now), Replica(here, here.now)
        decides.follow()
        looks_on.follow()
        await until(lambda: len(decides.waiting()) == len(looks_on.waiting()) == 2)
        done, waits = decides.waiting()
        if "install" in str(done.event):
            done, waits = waits, done
        assert isinstance(await decided(decides, done.number), Done)
        assert await asyncio.to_thread(said, first) == ALLOW
        for command in (
            GiveOrder(Order(OrderKind.HOLD_ALL, "", waits.event.session, until=there.now() + 600)),
            Steer(waits.event.session, "use ninja"),
        ):
            assert isinstance(await outcome(decides, command), Done)
        await until(lambda: [str(one) for one in looks_on.orders()] != [])
        await until(lambda: notes_in(looks_on) == ["use ninja"])
        assert notes_in(decides) == ["use ninja"]
        (order,), (as_given,) = looks_on.orders(), decides.orders()
        assert order.about == as_given.about
        assert getattr(order.by, "name", "") == "ann"
        assert order.until is not None
        assert abs(order.until - here.now() - 600) < WAITS
        refused = await outcome(looks_on, EndOrders(frozenset([order.id])))
        assert isinstance(refused, Refused)
        assert isinstance(await outcome(decides, EndOrders(frozenset([as_given.id]))), Done)
        await until(lambda: not looks_on.orders())
        pages = []
        for seat in (decides, looks_on):
            assert isinstance(await outcome(seat, AskHistory()), Done)
            page = seat.page(0)
            assert page is not None
            assert page.why == ""
            pages.append([(one.id, one.card.number, one.card.state) for one in page.entries])
        assert pages[0] == pages[1]
        assert [one[1:] for one in pages[1]] == [(done.number, State.DECIDED)]
        entry = pages[1][0][0]
        assert isinstance(await outcome(looks_on, AskEntry(entry)), Done)
        whole = looks_on.entry(entry)
        assert whole is not None
        assert whole.card.event.given == {"command": "make"}
        assert isinstance(await outcome(looks_on, AskOffers(waits.number)), Refused)
        assert isinstance(await decided(decides, waits.number), Done)
        assert await asyncio.to_thread(said, second) == ALLOW


def notes_in(seat: Replica) -> list[str]:
    return [note.text for one in seat.live() for note in one.notes]


class Withholding:
    """A socket beside a server's, that passes all on until it withholds what the server says."""

    def __init__(self, server: Service) -> None:
        self._to, self.path = f"{server.folder}/s", f"{server.folder}/w"
        self.withholds = False
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._lines: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()

    def close(self) -> None:
        """Break all that it carries."""
        for line in (self._listener, *self._lines):
            with suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                near, far = self._listener.accept()[0], socket.socket(socket.AF_UNIX)
                far.connect(self._to)
                self._lines += (near, far)
                for one, other in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=(one, other), daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while said := one.recv(65536):
                if not (self.withholds and one.getpeername() == self._to):
                    other.sendall(said)


async def test_what_a_killed_leader_had_decided_and_not_delivered_the_next_one_delivers(
    two: Two, cluster: Cluster
) -> None:
    leader, standby = two.servers
    between = Withholding(leader)
    hook = asks(leader, "make", server=f"unix:{between.path},{standby.address}")
    async with two.team.desk("ann", two.ports[0]) as desk:
        seat = Replica(desk, desk.now)
        seat.follow()
        await until(lambda: len(seat.waiting()) == 1)
        between.withholds = True
        assert isinstance(await decided(seat, seat.waiting()[0].number), Done)
    assert hook.poll() is None
    leader.process.kill()
    await asyncio.to_thread(standby.listens)
    between.close()
    assert await asyncio.to_thread(said, hook) == ALLOW
    (told,) = cluster.sql("SELECT count(*) FROM crabhook.record WHERE kind = 'decided'")
    assert told[0] == 1
    assert "taken-up" not in standby.audit("--all-kinds")  # nobody was asked again


async def test_a_call_that_nobody_decided_is_open_at_the_next_leader_and_runs_once(
    two: Two,
) -> None:
    leader, standby = two.servers

    async def gate(server: Service, number: int) -> str:
        closed = ("--when-lost", "deny", "--wait", "4")
        hook = asks(server, "make", number, event="PreToolUse", options=closed)
        return (await asyncio.to_thread(hook.communicate, timeout=60))[0]

    async with two.team.desk("ann", two.ports[1]) as desk:
        seat = Replica(desk, desk.now)
        seat.follow()
        for number in (1, 2):
            assert "Not decided" in await gate(leader, number)
        await until(lambda: [(c.asked.times, c.went_on) for c in seat.waiting()] == [(2, True)])
        leader.process.kill()
        await asyncio.to_thread(standby.listens)
        await until(lambda: desk.attached.is_set() and desk.hello.part == "leader")
        (card,) = seat.waiting()
        assert (card.number, card.went_on) == (1, True)
        assert isinstance(await decided(seat, 1), Done)
        assert '"allow"' in await gate(standby, 3)
        assert "Not decided" in await gate(standby, 4)
    assert "as they were written" in standby.audit("verify")


def test_what_each_server_is_stands_in_its_status(two: Two) -> None:
    led, stands = (
        json.loads(crabhook(one, "status", "--json", *at(one)).stdout) for one in two.servers
    )
    assert (led["role"], stands["role"]) == ("leader", "standby")
    assert led["epoch"] == stands["epoch"] == 1
    assert led["commit_ms"] > 0
    assert 0 <= stands["lag"] < WAITS
    assert stands["leader"]
    assert led["leader_at"] == stands["leader_at"]
    assert led["troubles"] == []
    assert "this server stands by" in stands["troubles"][0]
    words = crabhook(two.servers[1], "status", *at(two.servers[1])).stdout
    assert "stands by" in words


def at(service: Service) -> tuple[str, ...]:
    """How a command finds this server."""
    return "--server", service.address


async def decided(seat: Replica, number: int) -> Outcome:
    """Allow a card as it is seen; return what became of that."""
    card = seat.card(number)
    assert card is not None
    return await outcome(seat, Decide(number, card.revision, Decision(Verdict.ALLOW)))


async def outcome(seat: Replica, command: Command) -> Outcome:
    """Give a command; return what became of it."""
    told: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
    seat.submit(command, told.set_result)
    return await asyncio.wait_for(told, WAITS)


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAITS):
        while not true():  # noqa: ASYNC110 - no one tells
            await asyncio.sleep(0.05)
