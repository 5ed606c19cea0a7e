"""How much may wait at once: in all, and of one session; in number, and in bytes."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import Limits, PendingRequests
from crabhook.model.card import Request
from tests.support.playbook import bash

LIMITS = Limits(requests=4, size=100, session_requests=2, session_size=60)


def request(ticket: str, session: str = "s", size: int = 1) -> Request:
    return replace(bash(ticket, "ls", session=session), size=size)


def test_a_request_waits_on_its_connection_until_it_leaves() -> None:
    room = PendingRequests(LIMITS)
    assert "a" not in room
    room.enter(request("a"), 1)
    assert "a" in room
    assert room.move("a", 2) == 1
    assert (room.attempt("a"), room.leave("a"), room.attempt("a")) == (2, (2, "secret of a"), None)
    assert room.leave("a") is None


def test_each_bound_has_its_own_refusal() -> None:
    room = PendingRequests(LIMITS)
    room.enter(request("a", size=50), 1)
    assert room.refusal(request("b", size=11)) is Refusal.SESSION_FULL
    assert room.refusal(request("b", "t", size=51)) is Refusal.FULL
    room.enter(request("b", size=10), 1)
    assert room.refusal(request("c", size=0)) is Refusal.SESSION_FULL
    room.enter(request("c", "t"), 1)
    room.enter(request("d", "t"), 1)
    assert room.refusal(request("e", "u")) is Refusal.FULL
    room.leave("a")
    assert room.refusal(request("e", "u", size=60)) is None


def test_sessions_of_two_platforms_never_share_their_bounds() -> None:
    room = PendingRequests(LIMITS)
    for number in range(LIMITS.session_requests):
        room.enter(request(f"a{number}"), 1)
    other = request("b")
    assert room.refusal(other) is Refusal.SESSION_FULL
    assert room.refusal(replace(other, event=replace(other.event, platform="codex"))) is None


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("st"), st.integers(0, 40))))
def test_whoever_comes_and_goes_an_empty_room_has_all_its_room(
    moves: list[tuple[str, str, int]],
) -> None:
    room = PendingRequests(LIMITS)
    for ticket, session, size in moves:
        if ticket in room:
            room.leave(ticket)
        elif room.refusal(request(ticket, session, size)) is None:
            room.enter(request(ticket, session, size), 1)
    for ticket in "abcdef":
        room.leave(ticket)
    assert repr(room) == "<PendingRequests 0 requests, 0 bytes>"
    for session in "st":
        assert room.refusal(request("x", session, LIMITS.session_size)) is None
