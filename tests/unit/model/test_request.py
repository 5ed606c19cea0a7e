"""An event that waits."""

from dataclasses import fields

from crabhook.model.card import Leg, Origin, Request, Stance
from crabhook.model.event import Event


def test_a_request_gates_unless_it_says_otherwise_and_comes_from_nobody_in_particular() -> None:
    request = Leg("a", Event("claude", "Stop"), 1.0)
    assert (request.stance, request.origin) == (Stance.GATE, Origin("", 0, ""))


def test_a_secret_is_never_shown() -> None:
    request = Request("a", Event("claude", "Stop"), 1.0, secret="hush")
    assert "hush" not in repr(request)


def test_a_leg_has_all_of_a_request_but_its_secret_and_the_terms_of_the_ballot() -> None:
    who = Origin("laptop", 7, "ann")
    event = Event("claude", "Stop")
    request = Request("a", event, 1.0, Stance.COMPANION, who, 2.0, "n", 9, "deny", secret="hush")
    leg = request.leg("")
    told = {one.name: getattr(request, one.name) for one in fields(request)}
    del told["secret"], told["terms"]
    assert {one.name: getattr(leg, one.name) for one in fields(leg)} == told
