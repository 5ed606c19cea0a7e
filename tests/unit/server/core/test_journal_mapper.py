"""What is recorded of every fact, and what is kept so that a restart loses nothing."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from crabhook.broker.broker import Broker
from crabhook.broker.cards import ENDED_KEPT
from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Commanded,
    Delivered,
    Fact,
    Left,
    Restored,
    RestoredAnswer,
    RestoredDecision,
    RestoredRequest,
    TimePassed,
)
from crabhook.broker.pending import LIMITS, Limits
from crabhook.desk.commands import Extend, GiveOrder
from crabhook.model.actor import OWNER
from crabhook.model.card import Because, Brought, Request
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.order import Order, OrderKind
from crabhook.model.proof import CallProof
from crabhook.model.signing import SignedOnly
from crabhook.platforms import PLATFORMS
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.journal_mapper import JournalMapper, read_back
from crabhook.store.actors import actor_data
from crabhook.store.change import Change
from crabhook.store.record import Entry, iso
from tests.support.playbook import ALLOW, DENY, asking, bash, done, prompt

DENIED = Decided(DENY, OWNER)
WALL = 1_700_000_000.0


class Kept:
    """A broker and its bookkeeper, without a store."""

    def __init__(self, bounds: Limits = LIMITS) -> None:
        self.broker = Broker(PLATFORMS, bounds)
        self.bookkeeper = JournalMapper(lambda: WALL, self.broker.secret_of)

    def tell(self, fact: Fact) -> list[Change]:
        return self.bookkeeper.changes(fact, self.broker.handle(fact))


def kinds(changes: list[Change]) -> list[str]:
    return [entry.kind.value for change in changes for entry in change.entries]


def recorded(kept: Kept, kind: str, *facts: Fact) -> list[Entry]:
    """The records of one kind that these facts bring, in their order."""
    changes = [change for fact in facts for change in kept.tell(fact)]
    return [entry for change in changes for entry in change.entries if entry.kind.value == kind]


def test_what_cannot_be_true_of_a_call_is_on_record() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "rm -rf build"), None, 1, 0.0))
    (forged,) = recorded(kept, "conflict", Arrived(bash("b", "ls -la"), None, 2, 1.0))
    assert (forged.request_id, forged.tool_use_id, forged.card) == ("b", "t1", 2)
    assert (forged.body["cards"], forged.body["input"]) == ([2, 1], {"command": "ls -la"})
    (news,) = recorded(kept, "conflict", Arrived(asking("z", "Stop"), None, 3, 2.0))
    assert (news.card, "not believed" in str(news.body["why"])) == (1, True)


def test_a_request_is_on_record_with_what_brought_its_card_here() -> None:
    """The rule, its note and its place; or the hook, or the protected place."""
    kept, note = Kept(), "the release is ann's"
    because = Because(Brought.RULE, f'rule "Bash(ls *)" — {note}', "Bash(ls *)", note)
    why = "rules.toml, line 3: ask-operator Bash(ls *)"
    ruling = Ruling(RuleVerdict.ASK_OPERATOR, None, why, because=because)
    (asked,) = recorded(kept, "asked", Arrived(bash("a", "ls"), ruling, 1, 0.0))
    assert asked.body["because"] == {
        "kind": "rule",
        "words": because.words,
        "name": because.name,
        "note": note,
        "law": why,
    }
    (open_call,) = recorded(kept, "asked", Arrived(bash("b", "make", "t2"), None, 2, 1.0))
    assert open_call.body["because"] == {
        "kind": "hook",
        "words": "no rule covers it",
    }


def test_a_request_of_a_strict_hook_is_marked_on_record_and_no_other() -> None:
    kept, strict = Kept(), replace(bash("a", "ls"), strict=SignedOnly(b"{}", bytes(32)))
    joined, other = prompt("b", "ls"), bash("c", "make", "t2")
    facts = (Arrived(each, None, place, 1.0) for place, each in enumerate((strict, joined, other)))
    marks = [(each.request_id, each.body.get("strict")) for each in recorded(kept, "asked", *facts)]
    assert marks == [("a", True), ("b", None), ("c", None)]


@pytest.mark.parametrize("edited", [None, "ls -l"])
def test_what_ran_and_was_not_allowed_is_on_record(edited: str | None) -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    decision = Decision(Verdict.ALLOW, updated_input=edited and {"command": edited})
    kept.tell(Answered(1, decision, OWNER, 1.0, rulings={"a": None}))
    ran = "rm x" if edited is None else "ls"
    (entry,) = recorded(kept, "ran-other", Arrived(done("z", ran), None, 2, 2.0))
    assert (entry.request_id, entry.tool_use_id, entry.card) == ("z", "t1", 1)
    assert entry.body["ran"] == {"command": ran}
    assert entry.body["call"] == {"card": 1, "requests": ["a"], "verdict": "allow"}


@pytest.mark.parametrize(
    ("news", "fate"),
    [
        (done("z", "ls"), "it ran"),
        (done("z", "ls", event="PermissionDenied"), "the agent's own classifier denied it"),
        (asking("z", "Stop"), "it did not run"),
    ],
)
def test_who_answered_what_was_handed_back_is_on_record_as_far_as_events_tell(
    news: Request, fate: str
) -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    kept.tell(Answered(1, Decision(Verdict.ASK), OWNER, 1.0))
    (entry,) = recorded(kept, "outcome", Arrived(news, None, 2, 2.0))
    assert (entry.request_id, entry.tool_use_id, entry.card) == ("a", "t1", 1)
    assert str(entry.body["what"]).startswith(fate)
    assert entry.body["told_by"] == news.event.name


def test_a_record_names_the_call_by_its_id_and_a_result_names_the_call_that_was_decided() -> None:
    kept = Kept()
    (asked,) = recorded(kept, "asked", Arrived(bash("a", "ls", wait=600), None, 1, 0.0))
    (joined,) = recorded(kept, "asked", Arrived(prompt("b", "ls", wait=30), None, 2, 1.0))
    assert (asked.tool_use_id, joined.tool_use_id) == ("t1", "")  # which Claude Code gives to one
    assert asked.body["expires"] == iso(WALL + 600)
    (decided,) = recorded(kept, "decided", Answered(1, ALLOW, OWNER, 2.0))
    assert decided.tool_use_id == "t1"
    (result,) = recorded(kept, "event", Arrived(done("z", "ls"), None, 3, 3.0))
    assert (result.request_id, result.tool_use_id) == ("z", "t1")
    assert result.body["call"] == {"card": 1, "requests": ["a", "b"], "verdict": "allow"}


def test_a_request_is_kept_whole_with_its_record() -> None:
    kept = Kept()
    (change,) = kept.tell(Arrived(bash("a", "ls", wait=600), None, 1, 0.0))
    assert kinds([change]) == ["asked"]
    (waiting,) = change.waiting
    request = bash("a", "ls", wait=600)
    assert json.loads(waiting.payload) == request.event.fields
    assert (waiting.card, waiting.wait_until) == (1, WALL + 600)
    again = read_back(waiting, PLATFORMS["claude"], 0.0, WALL)
    assert (again.id, again.secret, again.event) == (request.id, request.secret, request.event)


def test_a_decision_its_record_and_every_answer_are_one_change() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    kept.tell(Arrived(prompt("b", "ls"), None, 2, 0.0))
    edited: dict[str, Any] = {"command": "ls -l"}
    decision = Decision(Verdict.ALLOW, note="ok", updated_input=edited)
    (change,) = kept.tell(Answered(1, decision, OWNER, 2.5, rulings={"a": None, "b": None}))
    (entry,) = change.entries
    assert (entry.kind.value, entry.verdict, entry.card) == ("decided", "allow", 1)
    assert entry.body["waited"] == 2.5
    assert entry.body["input"] == {"command": "ls"}
    assert entry.body["edited"] == edited
    assert sorted(answer.request_id for answer in change.answers) == ["a", "b"]
    assert set(change.ended) == {"a", "b"}


def test_what_a_passkey_signed_is_on_record_with_what_it_opened() -> None:
    kept, proof = Kept(), CallProof(b"signed", b"{}", "{}")
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    decided = Answered(1, ALLOW, OWNER, 1.0, proof=proof)
    assert [entry.proof for entry in recorded(kept, "decided", decided)] == [proof]
    kept.tell(Arrived(bash("b", "ls -la"), None, 1, 0.0))
    plain = Answered(2, ALLOW, OWNER, 1.0)
    assert [entry.proof for entry in recorded(kept, "decided", plain)] == [None]
    order = GiveOrder(Order(OrderKind.HOLD_ALL, session="s"))
    ordered = Commanded(order, OWNER, 2.0, proof)
    assert [entry.proof for entry in recorded(kept, "operator", ordered)] == [proof]


def test_every_other_end_is_told_and_ends_the_wait() -> None:
    for fact, kind in (
        (Left("a", 1, 3.0), "withdrawn"),
        (TimePassed(600.0), "expired"),
        (Closing(3.0), "withdrawn"),
        (Arrived(asking("z", "SessionEnd"), None, 9, 3.0), "withdrawn"),
    ):
        kept = Kept()
        kept.tell(Arrived(prompt("a", "ls"), None, 1, 0.0))
        changes = kept.tell(fact)
        assert kinds(changes)[0] == kind
        assert changes[0].ended == ("a",)
        assert not changes[0].answers


@pytest.mark.parametrize(
    ("over", "why"),
    [(Left("b", 2, 2.0), "the hook had gone"), (TimePassed(31.0), "its time was up")],
)
def test_a_leg_that_leaves_the_others_waits_no_longer(over: Fact, why: str) -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls", wait=600), None, 1, 0.0))
    kept.tell(Arrived(prompt("b", "ls", wait=30), None, 2, 1.0))
    (change,) = kept.tell(over)
    (entry,) = change.entries
    assert (change.ended, change.waiting) == (("b",), ())
    assert (entry.kind, entry.request_id, entry.card, entry.body) == ("left", "b", 1, {"why": why})
    (change,) = kept.tell(Answered(1, ALLOW, OWNER, 32.0))
    assert change.ended == ("a",)


def test_a_delivery_is_told_once() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    kept.tell(Answered(1, DENY, OWNER, 1.0))
    (change,) = kept.tell(Delivered("a", whole=True, now=1.1))
    assert (kinds([change]), change.delivered) == (["delivered"], (("a", True),))
    assert kept.tell(Delivered("a", whole=True, now=1.2)) == []


def test_what_is_only_watched_is_an_event_and_what_an_order_decides_a_decision() -> None:
    kept = Kept()
    assert kinds(kept.tell(Arrived(asking("a", "Notification"), None, 1, 0.0))) == ["event"]
    order = Order(OrderKind.ALLOW_ALL, session="s", until=60.0)
    assert kinds(kept.tell(Commanded(GiveOrder(order), OWNER, 0.0))) == ["operator"]
    (change,) = kept.tell(Arrived(bash("b", "ls"), None, 2, 0.0))
    assert (kinds([change]), change.entries[0].verdict) == (["decided"], "allow")
    assert change.answers[0].request_id == "b"
    assert kept.tell(Arrived(bash("b", "ls"), None, 3, 0.0)) == []


def test_a_longer_wait_is_kept_and_is_no_new_request() -> None:
    kept = Kept()
    kept.tell(Arrived(replace(bash("a", "ls", wait=10), gives_up_at=100.0), None, 1, 0.0))
    change, told_of = kept.tell(Commanded(Extend(1, 50), OWNER, 0.0))
    assert change.entries == ()
    assert told_of.entries[0].body == {
        "what": "gave #1 more time",
        "actor": actor_data(OWNER),
        "expires": iso(WALL + 60),
    }
    assert change.waiting[0].wait_until == WALL + 60


def test_a_ticket_that_comes_back_adds_nothing() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    assert kept.tell(Arrived(bash("a", "ls"), None, 2, 1.0)) == []
    kept.tell(Answered(1, ALLOW, OWNER, 2.0))
    assert kept.tell(Arrived(bash("a", "ls"), None, 3, 3.0)) == []


def told(changes: list[Change]) -> list[tuple[str, int | None, Any]]:
    """What is recorded of deliveries: of which request, on which card, and whether it has it."""
    found = [entry for change in changes for entry in change.entries]
    return [(one.request_id, one.card, one.body["whole"]) for one in found]


def begun_again(*waiting: Request, decided: tuple[RestoredDecision, ...] = ()) -> Kept:
    """A broker after a restart, with what waited on card 7."""
    kept = Kept()
    legs = tuple(RestoredRequest(7, replace(one, wait_until=600.0)) for one in waiting)
    kept.tell(Restored(legs, (), decided, 9, 0.0))
    return kept


def test_a_decision_names_the_call_by_its_id_whichever_leg_has_it() -> None:
    kept = begun_again(prompt("b", "ls"), bash("a", "ls"))
    (decided,) = recorded(kept, "decided", Answered(7, ALLOW, OWNER, 2.0))
    assert (decided.tool_use_id, decided.request_id) == ("t1", "b")


def test_a_leg_that_comes_to_a_card_after_a_restart_is_on_record_as_asked() -> None:
    kept = begun_again(bash("a", "ls"))
    back = Arrived(bash("a", "ls"), None, 1, 1.0)
    new = Arrived(prompt("b", "ls"), None, 2, 2.0)
    (asked,) = recorded(kept, "asked", back, new)
    assert (asked.request_id, asked.card, asked.body["legs"]) == ("b", 7, ["a", "b"])
    assert kept.broker.waiting()[0].restored


def test_each_leg_has_its_own_delivery() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    kept.tell(Arrived(prompt("b", "ls"), None, 2, 0.0))
    kept.tell(Answered(1, DENY, OWNER, 1.0))
    assert told(kept.tell(Delivered("b", whole=True, now=1.1))) == [("b", 1, True)]
    assert told(kept.tell(Delivered("a", whole=False, now=6.0))) == [("a", 1, False)]
    assert kept.tell(Delivered("a", whole=False, now=6.0)) == []
    assert told(kept.tell(Delivered("a", whole=True, now=9.0))) == [("a", 1, True)]


def test_a_delivery_is_told_however_many_were_decided_at_once() -> None:
    kept = Kept()
    many = ENDED_KEPT + 50
    for number in range(many):
        kept.tell(Arrived(bash(f"r{number}", "ls", f"t{number}"), None, number + 1, 0.0))
    for number in range(many):
        kept.tell(Answered(number + 1, DENY, OWNER, 1.0))
    fates = [told(kept.tell(Delivered(f"r{n}", whole=True, now=1.1))) for n in range(many)]
    assert fates == [[(f"r{n}", n + 1, True)] for n in range(many)]


def test_an_answer_from_before_a_restart_is_told_of_once_and_never_decided_again() -> None:
    before = RestoredDecision(7, bash("a", "ls"), DENIED)
    kept = begun_again(decided=(before,))
    changes = kept.tell(Delivered("a", whole=True, now=2.0))
    assert (kinds(changes), told(changes)) == (["delivered"], [("a", 7, True)])
    assert kept.tell(Delivered("a", whole=True, now=3.0)) == []


def test_what_is_on_record_of_an_answers_way_is_not_told_again() -> None:
    kept = begun_again(decided=(RestoredDecision(7, bash("a", "ls"), DENIED, delivered=False),))
    assert kept.tell(Delivered("a", whole=False, now=2.0)) == []
    assert told(kept.tell(Delivered("a", whole=True, now=3.0))) == [("a", 7, True)]


def test_a_hook_that_does_not_come_back_for_its_answer_is_not_said_to_be_gone() -> None:
    kept = begun_again(bash("a", "ls"))
    kept.tell(Answered(7, DENY, OWNER, 1.0))
    (change,) = kept.tell(Delivered("a", whole=False, now=151.0))
    assert change.delivered == (("a", False),)
    assert "started again" in str(change.entries[0].body["why"])


@pytest.mark.parametrize("decided", [True, False])
def test_a_hook_that_came_back_and_went_is_said_to_be_gone(decided: bool) -> None:
    before = RestoredDecision(7, bash("a", "ls"), DENIED)
    if decided:
        given = RestoredAnswer(
            "a", "secret of a", PLATFORMS["claude"].write(before.request.event, DENY)
        )
        kept = Kept()
        kept.tell(Restored((), (given,), (before,), 9, 0.0))
        kept.tell(Arrived(bash("a", "ls"), None, 1, 0.5))
    else:
        kept = begun_again(bash("a", "ls"))
        kept.tell(Arrived(bash("a", "ls"), None, 1, 0.5))
        kept.tell(Answered(7, DENY, OWNER, 1.0))
    (change,) = kept.tell(Delivered("a", whole=False, now=6.0))
    assert change.entries[0].body["why"] == "the hook did not take it"


def test_an_answer_is_kept_with_what_it_says_until_it_is_received() -> None:
    kept = Kept()
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    (change,) = kept.tell(Answered(1, DENY, OWNER, 1.0))
    (answer,) = change.answers
    assert answer.owed
    assert answer.call is not None
    assert json.loads(answer.call.payload) == bash("a", "ls").event.fields
    assert json.loads(answer.call.decision)["reason"] == DENY.reason


def test_a_request_that_found_no_room_is_on_record_as_turned_away() -> None:
    kept = Kept(Limits(session_requests=1))
    kept.tell(Arrived(bash("a", "ls"), None, 1, 0.0))
    (change,) = kept.tell(Arrived(bash("b", "rm", "t2"), None, 2, 0.0))
    assert kinds([change]) == ["withdrawn"]
    assert "turned away" in str(change.entries[0].body["why"])
    assert not change.waiting
