"""An event that waits."""

from crabhook.model.event import Event
from crabhook.model.request import Origin, Request, Stance


def test_a_request_gates_unless_it_says_otherwise_and_comes_from_nobody_in_particular() -> None:
    request = Request("a", "x", Event("claude", "Stop"), 1.0)
    assert (request.stance, request.origin) == (Stance.GATE, Origin("", 0, ""))


def test_a_secret_is_never_shown() -> None:
    assert "hush" not in repr(Request("a", "hush", Event("claude", "Stop"), 1.0))
