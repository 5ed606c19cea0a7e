"""What a desk tells of sessions, and what an operator commands: as values, told once in a moment."""

from __future__ import annotations

from crabhook.desk.commands import Done, Refused, Steer, StopSession, TakeBackNote
from crabhook.desk.replica import LIVE_KEPT
from crabhook.desk.updates import SessionsSeen, Update
from tests.support.desk import PlayedDesk
from tests.support.sitting import call

SESSION = "3f1c0000"


def test_many_events_of_a_moment_are_one_update_and_the_replica_has_the_last() -> None:
    desk, told = PlayedDesk(), list[SessionsSeen]()

    def on_update(update: Update) -> None:
        if isinstance(update.news, SessionsSeen):
            told.append(update.news)

    desk.subscribe(on_update)
    for number in range(5):
        desk.ask(call(tool_use_id=f"t{number}"))
    assert not told
    desk.pass_time(1)
    (news,) = told
    (view,) = news.changed
    assert view.agents[0].doing is not None
    assert view.agents[0].doing.times == 5
    assert list(desk.replica.live()) == [view]
    desk.pass_time(1)
    assert len(told) == 1


def test_a_screen_that_comes_later_sees_the_sessions_and_their_end() -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "SessionStart", "session_id": SESSION})
    assert [view.session for view in desk.seat.replica.live()] == []
    desk.pass_time()
    assert [view.session for view in desk.seat.replica.live()] == [SESSION]
    desk.ask({"hook_event_name": "SessionEnd", "session_id": SESSION})
    desk.pass_time()
    assert desk.seat.replica.live() == []


def test_a_replica_keeps_so_many_sessions() -> None:
    desk = PlayedDesk()
    for number in range(LIVE_KEPT + 3):
        desk.ask({"hook_event_name": "SessionStart", "session_id": f"s{number}"})
    desk.pass_time()
    assert len(desk.replica.live()) == LIVE_KEPT


def test_a_command_is_seen_before_it_is_done_and_a_refusal_says_why() -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "SessionStart", "session_id": SESSION})
    assert desk.seat.outcome(Steer(SESSION, "use the blue one")) == Done()
    (view,) = desk.replica.live()
    assert [(note.text, note.waits) for note in view.notes] == [("use the blue one", True)]
    assert desk.seat.outcome(TakeBackNote(1)) == Done()
    assert desk.replica.live()[0].notes == ()
    refused = desk.seat.outcome(TakeBackNote(1))
    assert refused == Refused("no note 1 waits: it was given, or taken back")
    unknown = desk.seat.outcome(StopSession("nobody", "why"))
    assert unknown == Refused("there is no live session 'nobody'")
    assert not desk.orders()


def test_a_command_that_comes_twice_is_done_once() -> None:
    desk = PlayedDesk()
    desk.ask({"hook_event_name": "SessionStart", "session_id": SESSION})
    steer = Steer(SESSION, "use the blue one")
    assert desk.seat.outcome(steer) == desk.seat.outcome(steer) == Done()
    assert len(desk.replica.live()[0].notes) == 1
