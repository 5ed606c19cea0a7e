"""What is recorded of every fact, and what is kept so that a restart loses nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from crabhook.broker.broker import Broker
from crabhook.broker.facts import (
    Answered,
    Arrived,
    Closing,
    Delivered,
    Extended,
    Fact,
    Left,
    Ordered,
    TimePassed,
)
from crabhook.broker.orders import Kind, Order
from crabhook.model.decision import Decision, Verdict
from crabhook.platforms import PLATFORMS
from crabhook.server.bookkeeper import Bookkeeper, read_back
from crabhook.store.change import Change
from tests.support.playbook import ALLOW, DENY, asking, bash, prompt

WALL = 1_700_000_000.0


class Kept:
    """A broker and its bookkeeper, without a store."""

    def __init__(self) -> None:
        self.broker = Broker(PLATFORMS)
        self.bookkeeper = Bookkeeper(lambda: WALL)

    def tell(self, fact: Fact) -> list[Change]:
        return self.bookkeeper.changes(fact, self.broker.handle(fact))


def kinds(changes: list[Change]) -> list[str]:
    return [entry.kind.value for change in changes for entry in change.entries]


def test_a_request_is_kept_whole_with_its_record() -> None:
    kept = Kept()
    (change,) = kept.tell(Arrived(bash("a", "ls", wait=600), 1, 0.0))
    assert kinds([change]) == ["asked"]
    (waiting,) = change.waiting
    request = bash("a", "ls", wait=600)
    assert json.loads(waiting.payload) == request.event.fields
    assert (waiting.card, waiting.wait_until) == (1, WALL + 600)
    again = read_back(waiting, PLATFORMS["claude"], 0.0, WALL)
    assert (again.id, again.secret, again.event) == (request.id, request.secret, request.event)


def test_a_decision_its_record_and_every_answer_are_one_change() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), 1, 0.0))
    kept.tell(Arrived(prompt("b", "ls"), 2, 0.0))
    edited: dict[str, Any] = {"command": "ls -l"}
    decision = Decision(Verdict.ALLOW, note="ok", updated_input=edited)
    (change,) = kept.tell(Answered(1, decision, 2.5))
    (entry,) = change.entries
    assert (entry.kind.value, entry.verdict, entry.card) == ("decided", "allow", 1)
    assert entry.body["waited"] == 2.5
    assert entry.body["input"] == {"command": "ls"}
    assert entry.body["edited"] == edited
    assert sorted(answer.request_id for answer in change.answers) == ["a", "b"]
    assert set(change.ended) == {"a", "b"}


def test_every_other_end_is_told_and_ends_the_wait() -> None:
    for fact, kind in (
        (Left("a", 1, 3.0), "withdrawn"),
        (TimePassed(600.0), "expired"),
        (Closing(3.0), "withdrawn"),
        (Arrived(asking("z", "SessionEnd"), 9, 3.0), "withdrawn"),
    ):
        kept = Kept()
        kept.tell(Arrived(bash("a", "ls"), 1, 0.0))
        changes = kept.tell(fact)
        assert kinds(changes)[0] == kind
        assert changes[0].ended == ("a",)
        assert not changes[0].answers


def test_a_delivery_is_told_once() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), 1, 0.0))
    kept.tell(Answered(1, DENY, 1.0))
    (change,) = kept.tell(Delivered("a", whole=True, now=1.1))
    assert (kinds([change]), change.delivered) == (["delivered"], ("a",))
    assert kept.tell(Delivered("a", whole=True, now=1.2)) == []


def test_what_is_only_watched_is_an_event_and_what_an_order_decides_a_decision() -> None:
    kept = Kept()
    assert kinds(kept.tell(Arrived(asking("a", "Notification"), 1, 0.0))) == ["event"]
    order = Order(Kind.ALLOW_ALL, session="s", until=60.0)
    assert kinds(kept.tell(Ordered(order, 0.0))) == ["operator"]
    (change,) = kept.tell(Arrived(bash("b", "ls"), 2, 0.0))
    assert (kinds([change]), change.entries[0].verdict) == (["decided"], "allow")
    assert change.answers[0].request_id == "b"
    assert kept.tell(Arrived(bash("b", "ls"), 3, 0.0)) == []


def test_a_longer_wait_is_kept_and_is_no_new_request() -> None:
    kept = Kept()
    kept.tell(Arrived(replace(bash("a", "ls", wait=10), gives_up_at=100.0), 1, 0.0))
    (change,) = kept.tell(Extended(1, 50, 0.0))
    assert change.entries == ()
    assert change.waiting[0].wait_until == WALL + 60


def test_a_ticket_that_comes_back_adds_nothing() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), 1, 0.0))
    assert kept.tell(Arrived(bash("a", "ls"), 2, 1.0)) == []
    kept.tell(Answered(1, ALLOW, 2.0))
    assert kept.tell(Arrived(bash("a", "ls"), 3, 3.0)) == []
