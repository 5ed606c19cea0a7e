"""A screen's copy of its desk: in order, whole, and on the desk's clock wherever the desk is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.commands import Command, Done, Outcome, Snooze
from crabhook.desk.replica import ENDED_KEPT, FEED_KEPT, Replica
from crabhook.desk.updates import News, SessionsChanged, Settled, Snapshot, Update
from crabhook.model.actor import OWNER, OrderKind
from crabhook.model.card import Card, FeedEntry, Leg, State
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.event import Event
from crabhook.model.order import Order
from tests.support.desk import PlayedDesk
from tests.support.sitting import call

if TYPE_CHECKING:
    from collections.abc import Callable


class Wire:
    """A desk far away: what comes of it, and what is lost, is as a test says."""

    def __init__(self, now: float = 0.0) -> None:
        self.now, self.sessions = now, 0
        self.subscribed = self.stopped = 0
        self.sent: list[Command] = []
        self.number = 0

    def submit(self, command: Command) -> None:
        self.sent.append(command)

    def subscribe(self, listener: Callable[[Update], None]) -> Callable[[], None]:
        self.listener, self.number = listener, 0
        self.subscribed += 1
        self.send(Snapshot(self.now, sessions=self.sessions))
        return self.stop

    def stop(self) -> None:
        self.stopped += 1

    def send(self, news: News, *, lost: bool = False) -> None:
        self.number += 1
        if not lost:
            self.listener(Update(self.number, news))


def test_a_gap_asks_for_a_snapshot_and_nothing_is_applied_across_it() -> None:
    wire, heard = Wire(), list[News]()
    replica = Replica(wire, lambda: 0.0)
    replica.follow(heard.append)
    wire.send(SessionsChanged(1))
    wire.send(SessionsChanged(2), lost=True)
    wire.sessions = 7
    wire.send(SessionsChanged(3))
    assert (replica.sessions(), wire.subscribed, wire.stopped) == (7, 2, 1)
    wire.send(SessionsChanged(8))
    assert replica.sessions() == 8
    assert [type(news) for news in heard] == [
        Snapshot, SessionsChanged, Snapshot, SessionsChanged
    ]  # fmt: skip


def test_a_card_that_a_later_snapshot_does_not_know_has_ended() -> None:
    wire, heard = Wire(), list[News]()
    replica = Replica(wire, lambda: 5.0)
    leave = replica.follow(heard.append)
    legs = (Leg("a", call(), 99.0),)
    for number in (1, 2, 3):
        wire.send(Card(number, legs, 0.0))
    denied = Card(2, legs, 0.0, State.DECIDED, Decided(Decision(Verdict.DENY), OWNER))
    wire.send(snapshot := Snapshot(5.0, waiting=(Card(3, legs, 0.0),), ended=(denied,)))
    gone = replica.card(1)
    assert gone is not None
    assert (gone.state, gone.ended_at) == (State.WITHDRAWN, 5.0)
    assert gone.why == "how it ended is not known here"
    assert heard[-3:] == [snapshot, gone, denied]
    assert [card.number for card in replica.waiting()] == [3]
    leave()


def test_an_update_that_comes_twice_is_applied_once() -> None:
    wire = Wire()
    replica = Replica(wire, lambda: 0.0)
    replica.follow()
    entry = FeedEntry(0.0, Event("claude", "Stop"), "")
    wire.send(entry)
    wire.listener(Update(wire.number, entry))
    assert list(replica.feed()) == [entry]
    assert wire.subscribed == 1


def test_a_card_that_a_server_tells_twice_is_there_once() -> None:
    wire = Wire()
    replica = Replica(wire, lambda: 0.0)
    replica.follow()
    leg = Leg("a", Event("claude", "PreToolUse"), 5.0)
    first, second = Card(1, (leg,), 1.0), Card(1, (leg,), 1.0, revision=2)
    wire.send(Snapshot(0.0, waiting=(first, second)))
    assert replica.waiting() == (second,) == (replica.card(1),)


def test_the_time_is_that_of_the_desk_on_another_machine() -> None:
    clock = 50.0
    replica = Replica(Wire(now=9_000.0), lambda: clock)
    replica.follow()
    assert replica.now() == 9_000.0
    clock = 53.5
    assert replica.now() == 9_003.5


def test_an_outcome_that_comes_later_is_told_to_who_waits_for_that_command_once() -> None:
    wire, outcomes = Wire(), list[Outcome]()
    replica = Replica(wire, lambda: 0.0)
    replica.follow()
    first, second = Snooze(1, 60.0), Snooze(2, 60.0)
    assert first.id != second.id
    replica.submit(first, outcomes.append)
    replica.submit(second)
    assert not outcomes
    for _ in range(2):
        wire.send(Settled(first.id, Done()))
    wire.send(Settled(second.id, Done()))
    assert outcomes == [Done()]


def test_an_outcome_behind_a_gap_is_told_once_all_is_there_again() -> None:
    wire, seen = Wire(), list[int]()
    replica = Replica(wire, lambda: 0.0)
    replica.follow()
    command = Snooze(1, 60.0)
    replica.submit(command, lambda _: seen.append(replica.sessions()))
    wire.send(SessionsChanged(1), lost=True)
    wire.sessions = 5
    wire.send(Settled(command.id, Done()))
    assert seen == [5]


def test_what_has_ended_and_gone_by_is_kept_to_a_limit() -> None:
    desk = PlayedDesk()
    for number in range(ENDED_KEPT + 5):
        desk.leave(desk.ask(call(session_id=f"s{number}")))
    for number in range(FEED_KEPT):
        desk.ask({"hook_event_name": "Notification", "session_id": f"t{number}", "message": "x"})
    assert len(desk.ended()) == ENDED_KEPT
    assert desk.ended()[0].number == 6
    assert len(desk.feed()) == FEED_KEPT


HAPPENINGS = ("ask", "ask again", "notify", "leave", "answer", "deliver", "snooze", "order", "wait")


def happen(desk: PlayedDesk, names: list[str], what: str, which: int) -> None:
    waiting = desk.runner.broker.waiting()
    match what:
        case "ask":
            names.append(desk.ask(call(session_id=f"s{which % 4}", tool_use_id=f"t{len(names)}")))
        case "ask again" if names:
            again = call(
                session_id=f"s{which % 4}",
                hook_event_name="PermissionRequest",
                tool_use_id=f"t{which % len(names)}",
            )
            names.append(desk.ask(again))
        case "notify":
            desk.ask({"hook_event_name": "Notification", "session_id": "s0", "message": "x"})
        case "leave" if names:
            desk.leave(names[which % len(names)])
        case "deliver" if names:
            desk.deliver(names[which % len(names)])
        case "answer" if waiting:
            desk.seat.decide(waiting[which % len(waiting)].number, Decision(Verdict.ALLOW))
        case "snooze" if waiting:
            desk.snooze(waiting[which % len(waiting)].number, 30.0)
        case "order":
            desk.order(Order(OrderKind.HOLD, "Stop", session=f"s{which}", until=desk.now() + 50))
        case "wait":
            desk.pass_time(which * 10.0)


@given(st.lists(st.tuples(st.sampled_from(HAPPENINGS), st.integers(0, 20)), max_size=40))
def test_it_is_always_what_the_broker_has(story: list[tuple[str, int]]) -> None:
    desk, names = PlayedDesk(), list[str]()
    broker, replica = desk.runner.broker, desk.replica
    for what, which in story:
        happen(desk, names, what, which)
        assert replica.waiting() == broker.waiting()
        assert replica.ended() == broker.ended()
        assert replica.feed() == broker.feed()
        assert replica.orders() == broker.orders()
        assert replica.sessions() == broker.sessions()
        assert replica.holdable() == broker.holdable()


def test_many_refusals_are_one_line_as_they_are_at_the_broker() -> None:
    desk = PlayedDesk()
    desk.runner.broker._state.pending._bounds = type(desk.runner.broker._state.pending._bounds)(1)
    for number in range(8):
        desk.ask(call(session_id="s", tool_use_id=f"t{number}"))
    told = [entry.text for entry in desk.feed() if "turned away" in entry.text]
    assert told == ["turned away 4 times so far: too much waits for the operator already"]
