"""What a page offers at a card is accepted when it comes back, and nothing else is."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.desk.acts import ACTS, Guard
from crabhook.desk.commands import (
    BARE_DENIAL,
    AskHistory,
    AskObjections,
    AskOffers,
    Claim,
    Command,
    Decide,
    DecideWithRule,
    Done,
    EndOrders,
    Extend,
    GiveOrder,
    Snooze,
    Steer,
    StopSession,
)
from crabhook.model.actor import OrderKind
from crabhook.model.card import TimesAsked
from crabhook.model.decision import Verdict
from crabhook.ui.web.acts import (
    CallError,
    ChangedCardError,
    buttons,
    command_of,
    edit_choice,
    edit_yes,
    rule_yes,
    session_name,
    time_buttons,
)
from tests.support.desk import PlayedDesk
from tests.support.offering import BOTH, DENIALS
from tests.support.rows import every_row
from tests.support.ruled import NO_RM, judge_by
from tests.support.sitting import QUESTIONS, call
from tests.unit.ui.web.cards import CARDS, KINDS, PERMISSION, called, desk_of, outcome_of

if TYPE_CHECKING:
    from crabhook.model.card import Card

VALUES: dict[str, Any] = {
    "answer": {"q1": [2], "q2": [1, 3], "q2-words": "and more", "q1-note": "why not"},
    "accept": {"f1": "A bug", "f2": 1, "f3": "3", "f4": 2, "f5": [1, 3]},
    "keep-going": "run the tests",
    "deny": "not on a Friday",
    "end-turn": "stop it",
    "suggestion": "session",
    "mode": "acceptEdits",
    "change-output": '{"stdout": "all passed"}',
    "halt": "enough",
    "message": "look at this",
    "always-allow": {"life": "day"},
    "always-deny": {"reason": "never"},
    "edit": "make most",
}
CHOICES = {
    "suggestion": "1",
    "always-allow": BOTH.offers[0].id,
    "always-deny": DENIALS.offers[0].id,
    "edit": edit_choice(0),
}


def posted(card: Card, act: str, value: Any = None, **parts: Any) -> dict[str, Any]:
    """Return a call of a page, with what it chooses where the test does not say otherwise."""
    return called(card, act, value, **{"choice": CHOICES.get(act, ""), **parts})


def ask_first(desk: PlayedDesk, card: Card, act: str, value: Any) -> None:
    """Have read what a page has read before it may post an act."""
    asks = {
        "always-allow": {"ask": "offers"},
        "always-deny": {"ask": "offers", "denies": True},
        "edit": {"ask": "objections", "value": value, "choice": edit_choice(0)},
    }
    if act in asks:
        assert outcome_of(desk, command_of(asks[act], card, desk.replica)) == Done()


@every_row("kind", KINDS)
def test_each_act_that_is_offered_decides_the_card_when_it_comes_back(kind: str) -> None:
    _, first = desk_of(kind)
    for act in [button.act for button in buttons(first, PlayedDesk().replica)]:
        desk, card = desk_of(kind)
        button = next(each for each in buttons(card, desk.replica) if each.act == act)
        value = VALUES.get(act)
        if act == "edit" and kind == "questions":
            value = json.dumps({**QUESTIONS, "x": 1})
        ask_first(desk, card, act, value)
        rules = {"always-allow": BOTH.offers[0], "always-deny": DENIALS.offers[0]}
        second = rule_yes(card, rules[act], desk.replica) if act in rules else button.second
        sent = posted(card, act, value, second=second)
        command = command_of(sent, card, desk.replica)
        assert command.id == f"id-{act}"
        assert isinstance(command, Decide | DecideWithRule)
        assert command.decision.verdict is ACTS[act].gives or act == "halt"
        assert outcome_of(desk, command) == Done(), (act, kind)
        assert [number for number, _ in desk.decided] == [card.number]


@every_row("kind", KINDS)
def test_each_act_that_is_not_offered_is_refused(kind: str) -> None:
    desk, card = desk_of(kind)
    offered = {button.act for button in buttons(card, desk.replica)}
    deciding = {act.id for act in ACTS.values() if act.gives is not None}
    for act in [*(deciding - offered), "no-such-act", "quit", "show", "allow!"]:
        with pytest.raises(CallError, match=r"not offered|no act"):
            command_of(posted(card, act, VALUES.get(act)), card, desk.replica)


@every_row("kind", KINDS)
def test_a_denial_is_offered_wherever_the_card_can_be_told_one(kind: str) -> None:
    desk, card = desk_of(kind)
    closing = [button for button in buttons(card, desk.replica) if button.closes]
    can = {Verdict.DENY, Verdict.DECLINE, Verdict.CANCEL} & card.choices.verdicts
    assert bool(closing) == bool(can)
    assert all(button.key in ("cookie", "words") for button in closing if not button.needs)


WRONG: tuple[tuple[str, str, Any, str], ...] = (
    ("call", "deny", 7, ""),
    ("call", "deny", "x" * 20_001, ""),
    ("call", "allow", {"note": "x"}, ""),
    ("call", "halt", "", ""),
    ("call", "hand-back", "words", ""),
    ("call", "pass", None, "1"),
    ("call", "edit", "make", "9"),
    ("call", "edit", "make", ""),
    ("call", "edit", "[1]", "all"),
    ("call", "edit", "make all", "0"),
    ("call", "edit", {"text": "make"}, "0"),
    ("call", "always-allow", None, "another"),
    ("call", "always-allow", {"life": "ever"}, BOTH.offers[0].id),
    ("questions", "answer", None, ""),
    ("questions", "answer", {}, ""),
    ("questions", "answer", {"q1": [1, 2]}, ""),
    ("questions", "answer", {"q1": [9]}, ""),
    ("questions", "answer", {"q9": [1]}, ""),
    ("questions", "answer", {"q1": "1"}, ""),
    ("questions", "answer", {"q1": [True]}, ""),
    ("questions", "answer", {"x": [1]}, ""),
    ("questions", "allow", "a note that would be lost", ""),
    ("plan", "deny", {"line-9": "x"}, ""),
    ("plan", "deny", {"line-1": 5}, ""),
    ("plan", "mode", "any", ""),
    ("form", "accept", {}, ""),
    ("form", "accept", {"f1": "A bug", "f3": "many"}, ""),
    ("form", "accept", {"f1": "A bug", "f2": 3}, ""),
    ("form", "accept", {"f1": "A bug", "f2": [1, 2]}, ""),
    ("form", "accept", {"f1": "A bug", "f9": "x"}, ""),
    ("permission", "suggestion", None, "2"),
    ("permission", "suggestion", None, ""),
    ("permission", "suggestion", "moon", "1"),
    ("stop", "keep-going", "  ", ""),
    ("result", "change-output", "no JSON", ""),
)


@every_row("kind, act, value, choice", WRONG)
def test_a_value_of_another_kind_is_refused_in_words(
    kind: str, act: str, value: Any, choice: str
) -> None:
    desk, card = desk_of(kind)
    with pytest.raises(CallError) as refused:
        command_of(posted(card, act, value, choice=choice), card, desk.replica)
    assert str(refused.value)
    assert not desk.decided


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 12) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["q1", "q1-words", "f1", "text", "at", "line-1", "offer"])
            | st.text(max_size=3),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)


@given(st.sampled_from(KINDS), st.sampled_from([*ACTS, "claim", ""]), JSON, st.data())
def test_whatever_is_posted_gives_a_command_or_words(
    kind: str, act: str, value: Any, data: st.DataObject
) -> None:
    desk, card = desk_of(kind)
    sent = posted(card, act, value) | data.draw(
        st.dictionaries(
            st.sampled_from(["ask", "seen", "second", "id", "entry", "choice", "session"]),
            JSON,
            max_size=2,
        )
    )
    with suppress(CallError):
        assert isinstance(command_of(sent, card, desk.replica), Command)


def test_answers_come_into_the_whole_input_and_nothing_of_it_is_lost() -> None:
    desk, card = desk_of("questions")
    command = command_of(posted(card, "answer", VALUES["answer"]), card, desk.replica)
    assert isinstance(command, Decide)
    changed = command.decision.updated_input
    assert changed is not None
    assert {key: changed[key] for key in QUESTIONS} == QUESTIONS
    assert changed["answers"] == {
        "Which library?": "pydantic",
        "Which features?": "Retry, Cache, and more",
    }
    assert changed["annotations"] == {"Which library?": {"notes": "why not"}}


def test_an_edited_command_leaves_the_rest_of_the_input() -> None:
    desk, card = desk_of("call")
    ask_first(desk, card, "edit", VALUES["edit"])
    command = command_of(posted(card, "edit", VALUES["edit"]), card, desk.replica)
    assert isinstance(command, Decide)
    assert command.decision.updated_input == {"command": "make most", "timeout": 7}


def test_an_edit_is_given_after_the_rules_were_asked_and_their_objections_agreed_to() -> None:
    desk, card = desk_of("call", judge=judge_by(NO_RM, "/home/ann/api-server"))
    value = "rm -rf build"
    with pytest.raises(CallError, match="see first"):
        command_of(posted(card, "edit", value), card, desk.replica)
    tried = posted(card, "edit", value)
    del tried["at"]
    with pytest.raises(CallError, match="see first"):
        command_of(tried, card, desk.replica)
    asks = command_of({**tried, "ask": "objections"}, card, desk.replica)
    assert isinstance(asks, AskObjections)
    assert outcome_of(desk, asks) == Done()
    objections = desk.replica.objections(card.number, asks.decision)
    assert objections
    with pytest.raises(CallError, match="object"):
        command_of(posted(card, "edit", value), card, desk.replica)
    agreed = posted(card, "edit", value, choice=edit_choice(0, objections))
    with pytest.raises(CallError, match="second yes"):
        command_of(agreed, card, desk.replica)
    agreed["second"] = edit_yes(card, asks.decision, objections, desk.replica)
    assert agreed["second"].startswith("the rules say: ")
    command = command_of(agreed, card, desk.replica)
    assert isinstance(command, Decide)
    assert command.decision.despite == objections
    assert outcome_of(desk, command) == Done()


def test_notes_on_a_plan_are_the_reason_of_its_denial() -> None:
    desk, card = desk_of("plan")
    value = {"line-3": "only build/", "words": "go slower", "line-4": " "}
    command = command_of(posted(card, "deny", value), card, desk.replica)
    assert isinstance(command, Decide)
    assert command.decision.reason.split("\n\n")[1:] == [
        "Line 3:\n> 1. Delete everything\nonly build/",
        "On the whole plan:\ngo slower",
    ]
    alone = command_of(posted(card, "deny", {"words": "go slower"}), card, desk.replica)
    assert isinstance(alone, Decide)
    assert alone.decision.reason == "go slower"


def test_a_denial_without_words_is_the_one_that_a_key_which_lies_open_may_give() -> None:
    desk, card = desk_of("permission")
    for act in ("deny", "end-turn"):
        command = command_of(posted(card, act), card, desk.replica)
        assert isinstance(command, Decide)
        assert command.decision.reason == BARE_DENIAL


def test_a_danger_needs_a_second_yes_to_its_very_words() -> None:
    desk, card = desk_of(
        "call", judge=judge_by(NO_RM.replace("deny", "ask-operator"), "/home/ann/api-server")
    )
    desk.ask(call("Bash", {"command": "rm -rf ../cache"}))
    risky = desk.waiting()[-1]
    (allow,) = [each for each in buttons(risky, desk.replica) if each.act == "allow"]
    assert allow.second == "deletes ../cache (OUTSIDE the project): yes allows it"
    assert (allow.guard, allow.hold) == (Guard.READ, 5)
    for second in ("", "yes", "deletes ../other: yes allows it"):
        with pytest.raises(CallError, match="second yes"):
            command_of(posted(risky, "allow", second=second), risky, desk.replica)
    assert command_of(posted(risky, "allow", second=allow.second), risky, desk.replica)
    assert not next(each.second for each in buttons(risky, desk.replica) if each.act == "deny")
    assert not next(each.second for each in buttons(card, desk.replica) if each.act == "allow")


def test_a_card_that_grew_since_it_was_shown_is_not_decided() -> None:
    desk, card = desk_of("call")
    desk.ask({**CARDS["call"], **PERMISSION})
    grown = desk.card(card.number)
    assert grown is not None
    assert grown.grown > card.revision
    with pytest.raises(ChangedCardError):
        command_of(posted(card, "allow"), grown, desk.replica)


GUARDS = (
    ("call", "allow", Guard.READ, "allow"),
    ("plan", "allow", Guard.READ, "approve"),
    ("questions", "allow", Guard.READ, "agent's dialog"),
    ("stop", "allow", Guard.ARMED, "let it stop"),
    ("denial", "allow", Guard.ARMED, "leave it denied"),
    ("questions", "answer", Guard.READ, "answer"),
    ("form", "accept", Guard.READ, "accept"),
    ("call", "edit", Guard.READ, "edit"),
    ("call", "deny", Guard.ARMED, "deny"),
    ("plan", "deny", Guard.ARMED, "send back"),
    ("denial", "retry", Guard.READ, "run once"),
    ("stop", "keep-going", Guard.ARMED, "keep going"),
)


@every_row("kind, act, guard, label", GUARDS)
def test_what_lets_something_happen_needs_the_whole_card_in_view(
    kind: str, act: str, guard: Guard, label: str
) -> None:
    desk, card = desk_of(kind)
    (button,) = [each for each in buttons(card, desk.replica) if each.act == act]
    assert (button.guard, button.label) == (guard, label)


def test_how_long_a_card_waits_is_changed_as_at_the_terminal() -> None:
    desk, card = desk_of("call")
    names = [button.act for button in time_buttons(card, desk.replica)]
    assert names == ["wait-longer", "snooze"]
    gone = replace(card, asked=TimesAsked(went_on_at=1.0))
    assert [button.act for button in time_buttons(gone, desk.replica)] == ["snooze"]
    longer, aside = (command_of(posted(card, name), card, desk.replica) for name in names)
    assert isinstance(longer, Extend)
    assert isinstance(aside, Snooze)
    assert (longer.seconds, aside.seconds) == (600.0, 300.0)


def test_a_session_is_told_something_and_stopped_by_a_name_without_its_letters() -> None:
    desk, _ = desk_of("call")
    desk.pass_time(1.0)
    (view,) = desk.live()
    name = session_name(view.key)
    assert view.session not in name
    note = command_of({"act": "note", "session": name, "value": "use staging"}, None, desk.replica)
    stop = command_of({"act": "stop", "session": name, "value": ""}, None, desk.replica)
    assert (type(note), type(stop)) == (Steer, StopSession)
    assert outcome_of(desk, note) == outcome_of(desk, stop) == Done()
    for wrong in ("", "0" * 16, 7):
        with pytest.raises(CallError, match="not live"):
            command_of({"act": "stop", "session": wrong}, None, desk.replica)


def test_orders_are_given_and_ended() -> None:
    desk, _ = desk_of("call")
    desk.pass_time(1.0)
    name = session_name(desk.live()[0].key)
    for sent in (
        {"act": "away", "choice": "60"},
        {"act": "hold-all", "session": name, "choice": "60"},
    ):
        command = command_of(sent, None, desk.replica)
        assert isinstance(command, GiveOrder)
        assert outcome_of(desk, command) == Done()
    here = command_of({"act": "here"}, None, desk.replica)
    assert isinstance(here, EndOrders)
    assert outcome_of(desk, here) == Done()
    held = next(order for order in desk.orders() if order.kind is OrderKind.HOLD_ALL)
    ends = command_of({"act": "release", "choice": str(held.id)}, None, desk.replica)
    assert ends == EndOrders(frozenset({held.id}), id=ends.id)
    for wrong in (
        {"act": "release", "choice": "99"},
        {"act": "away", "choice": "-1"},
        {"act": "away", "choice": "1000000"},
    ):
        with pytest.raises(CallError):
            command_of(wrong, None, desk.replica)


def test_what_is_asked_for_is_read_and_decides_nothing() -> None:
    desk, card = desk_of("call")
    assert isinstance(command_of({"ask": "history", "before": 4}, None, desk.replica), AskHistory)
    offers = command_of({"ask": "offers", "denies": True}, card, desk.replica)
    assert offers == AskOffers(card.number, denies=True, id=offers.id)
    of_entry = command_of({"ask": "offers", "entry": 3}, None, desk.replica)
    assert of_entry == AskOffers(entry=3, id=of_entry.id)
    with pytest.raises(CallError):
        command_of({"ask": "secrets"}, card, desk.replica)
    with pytest.raises(CallError):
        command_of({"ask": "context"}, None, desk.replica)
    assert not desk.decided


def test_a_claim_tells_that_an_answer_is_held_and_decides_nothing() -> None:
    desk, card = desk_of("call")
    held = command_of(
        {"act": "claim", "value": {"verdict": "allow", "due": 5.5}}, card, desk.replica
    )
    assert held == Claim(card.number, verdict=Verdict.ALLOW, due=5.5, id=held.id)
    assert isinstance(command_of({"act": "claim"}, card, desk.replica), Claim)
    for wrong in ({"verdict": "maybe"}, {"due": "soon"}, {"due": float("nan")}, [1], {"x": 1}):
        with pytest.raises(CallError):
            command_of({"act": "claim", "value": wrong}, card, desk.replica)
