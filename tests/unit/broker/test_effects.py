"""What the broker can ask for."""

from itertools import chain

from crabhook.broker.messages import Refusal, Refuse, WakeAt
from crabhook.server.grpc.permission import _STATUS


def test_equal_effects_are_equal() -> None:
    assert WakeAt(1.0) == WakeAt(1.0)
    assert Refuse("a", 1, Refusal.FULL) != Refuse("a", 2, Refusal.FULL)


def test_every_refusal_has_its_status_on_the_wire() -> None:
    assert set(_STATUS) == set(Refusal)
    # The same to a client: there is no room, another server answers, nobody is there any more, or
    # the record takes nothing.
    alike = (
        (Refusal.FULL, Refusal.SESSION_FULL),
        (Refusal.HANDED_OVER, Refusal.ELSEWHERE),
        (Refusal.CLOSED, Refusal.STOPPED),
        (Refusal.UNRECORDED, Refusal.UNSPENT),
    )
    others = [status for refusal, status in _STATUS.items() if refusal not in chain(*alike)]
    assert len(set(others)) == len(others)
    for one, same in alike:
        assert _STATUS[one] is _STATUS[same] not in others
