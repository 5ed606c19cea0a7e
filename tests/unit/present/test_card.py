"""A card is one document: all that it says, in the order in which a person reads it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crabhook.model.ballot import Ballot, Terms
from crabhook.model.card import Because, Brought, Card, Effect, FeedEntry, Level, Risk
from crabhook.model.decision import Choices, Decision, Verdict
from crabhook.model.event import Event, ShownField, ToolCall
from crabhook.present.around import around, calls_before
from crabhook.present.card import card_document, votes
from crabhook.present.document import (
    RESTORED,
    AsAllowed,
    Block,
    CallRisk,
    CardContext,
    CardReason,
    ChangedFields,
    CommandText,
    Fact,
    HiddenLetters,
    Json,
    KeptGoing,
    LastCalls,
    OddInput,
    OfferedRules,
    OurWords,
    Plan,
    Quote,
)
from tests.support.desk import PlayedDesk
from tests.support.sitting import call, happening

BASH = call("Bash", {"command": "ls", "timeout": 5})


def card_of(hook: dict[str, Any]) -> Card:
    desk = PlayedDesk()
    desk.ask(hook)
    (card,) = desk.waiting()
    return card


def kinds(blocks: tuple[Block, ...]) -> list[type[Block]]:
    return [type(block) for block in blocks]


REQUESTS: dict[str, tuple[dict[str, Any], list[type[Block]]]] = {
    "a command": (BASH, [HiddenLetters, CommandText, Json]),
    "an input that is no object": (call("T", ["a"]), [HiddenLetters, OddInput]),
    "a plan": (call("ExitPlanMode", {"plan": "# A"}), [HiddenLetters, Plan]),
    "a plan that another hook carries": (call("ExitPlanMode", {}), [HiddenLetters, OurWords]),
}


@pytest.mark.parametrize(("hook", "request_kinds"), REQUESTS.values(), ids=REQUESTS)
def test_the_request_is_read_in_this_order(
    hook: dict[str, Any], request_kinds: list[type[Block]]
) -> None:
    assert kinds(card_document(card_of(hook)).request) == [*request_kinds, OfferedRules]


def test_a_stop_tells_how_often_its_agent_was_sent_on_and_what_it_said_last() -> None:
    card, tells = card_of(BASH), {"last_assistant_message": ShownField("it says")}
    stop = Event("claude", "Stop", fields={"last_assistant_message": "Done."}, tells=tells)
    can = Choices(frozenset({Verdict.KEEP_GOING}))
    leg = replace(card.requests[0], event=stop)
    document = card_document(replace(card, requests=(leg,), choices=can, kept_going=2))
    assert KeptGoing(2) in document.notes
    assert [fact.value for fact in document.happening.of(Fact)] == ["Done."]
    assert document.risk is None


def test_a_changed_call_is_shown_as_it_will_be_allowed_and_how_it_was_changed() -> None:
    card = card_of(BASH)
    changed = Decision(Verdict.ALLOW, updated_input={"command": "ls -l", "timeout": 5})
    document = card_document(card.given(changed))
    assert document.notes[0] == AsAllowed(waits=True, answered=False)
    assert document.body.of(CommandText)[0].text == "ls -l"
    assert document.changed == ChangedFields((("command", "ls", "ls -l"),))
    assert document.changed in document.request


def test_another_hook_of_the_same_call_adds_what_the_first_has_not() -> None:
    first = card_of(BASH)
    more = {"command": "ls", "timeout": 9}
    leg = replace(
        first.requests[0],
        id="second",
        event=Event("claude", "PermissionRequest", tool=ToolCall("Bash", more)),
    )
    (again,) = card_document(replace(first, requests=(*first.requests, leg))).again
    assert (again.event, dict(again.body.fields)) == ("PermissionRequest", {"timeout": 9})
    assert card_document(replace(first, requests=first.requests * 2)).again == ()


def test_around_the_request_stand_risk_reason_and_session() -> None:
    desk = PlayedDesk()
    desk.words[1] = "I build it anew."
    desk.ask(happening("UserPromptSubmit", prompt="Build it"))
    desk.ask(call(hook_event_name="PostToolUse", tool_input={"command": "make"}))
    desk.ask(BASH)
    (card,) = desk.waiting()
    document = card_document(
        card, around(card, desk.replica), calls_before(card, desk.replica.feed())
    )
    assert (document.risk, document.reason) == (CallRisk(card.risk), CardReason(card.reason))
    assert document.context.prompt == "Build it"
    assert [entry.event.given["command"] for entry in document.last_calls.calls] == ["make"]


def test_who_is_asked_to_agree_to_a_change_reads_what_the_rules_say_against_it() -> None:
    card = card_of(BASH)
    edit = Decision(Verdict.ALLOW, updated_input={"command": "rm x"}, despite=("no rm",))
    ballot = Ballot((Terms(need=2),), 0.0, proposal=edit)
    assert votes(replace(card, ballot=ballot)).endswith(
        " The rules are against the call as changed: no rm."
    )
    plain = replace(ballot, proposal=replace(edit, despite=()))
    assert "against" not in votes(replace(card, ballot=plain))


EFFECTS = (Effect("a", Level.DANGER, "deletes x"), Effect("b", Level.CAUTION, "network"))
ENTRY = FeedEntry(
    0.0, Event("claude", "PostToolUse", tool=ToolCall("Bash", {"command": "make"})), ""
)

PARTS: dict[str, tuple[Block, list[str]]] = {
    "hidden letters": (
        HiddenLetters(("a\u200bb", "\u05d0")),
        ["letters run right to left: words may stand in another order", "1 hidden character"],
    ),
    "no hidden letters": (HiddenLetters(("ab",)), []),
    "edited": (AsAllowed(waits=True, answered=False), ["edited: to be allowed as it is here"]),
    "answered": (AsAllowed(waits=False, answered=True), ["answered: allowed as it is here"]),
    "a stop": (KeptGoing(2), ["kept going 2 of 8 times in a row"]),
    "risk": (
        CallRisk(Risk(Level.DANGER, EFFECTS, ("x: not known here",))),
        ["danger: deletes x", "caution: network", "not known: x: not known here"],
    ),
    "no risk": (CallRisk(Risk()), ["no known risk"]),
    "a reason": (
        CardReason(Because(Brought.RULE, "a rule"), restored=True, limits=("no mode",)),
        ["asked because: a rule", RESTORED, "limit: no mode"],
    ),
    "a context": (
        CardContext("Because.", "ls: 1 allowed", prompt="Do it"),
        ["before: ls: 1 allowed", "the agent said: Because.", "the user asked: Do it"],
    ),
    "no context": (CardContext(), []),
    "calls": (LastCalls((replace(ENTRY, outcome="it ran"),)), ["it ran: make"]),
}


@pytest.mark.parametrize(("block", "texts"), PARTS.values(), ids=PARTS)
def test_what_the_desk_says_has_parts_that_each_face_can_draw(
    block: Block, texts: list[str]
) -> None:
    words = []
    for part in block.parts:
        assert isinstance(part, OurWords | Quote)
        words.append(part.text if isinstance(part, OurWords) else f"{part.label}: {part.text}")
    assert words == texts
