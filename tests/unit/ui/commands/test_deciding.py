"""What each deciding word makes of a card: a decision, and nothing is sent yet."""

from typing import Any

import pytest

from crabhook.desk.acts import OFFERED
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.ui.commands.decide import LineDecision, line_decision
from crabhook.ui.commands.words import WORDS, LineError
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import QUESTIONS, bash, sample
from tests.support.rows import every_row


def card_of(payload: dict[str, Any]) -> Card:
    desk = PlayedDesk()
    if payload.get("hook_event_name") in desk.holdable():
        desk.order(Order(OrderKind.HOLD, name=payload["hook_event_name"]))
    desk.ask(payload)
    return desk.waiting()[0]


CALL = card_of(bash("ls"))
STOP = card_of(sample("Stop"))


def decided(word: str, card: Card, rest: str) -> LineDecision:
    return line_decision(WORDS[word].act, card, rest)


def test_every_word_about_a_card_decides_it_or_is_known_to_do_something_else() -> None:
    deciding = {word.name for word in WORDS.values() if word.act in OFFERED}
    acting = {"anyway", "quiet", "undo", "show", "show secrets", "snooze", "extend"}
    about_a_card = {name for name, word in WORDS.items() if word.about_a_card}
    assert about_a_card == deciding | acting


@every_row(
    "word, rest, decision",
    [
        ("allow", "", Decision(Verdict.ALLOW)),
        ("allow", "small", Decision(Verdict.ALLOW, note="small")),
        ("deny", "no", Decision(Verdict.DENY, reason="no")),
        ("deny --interrupt", "no", Decision(Verdict.DENY, reason="no", interrupt=True)),
        ("ask", "", Decision(Verdict.ASK)),
        ("pass", "", Decision(Verdict.PASS)),
        ("defer", "", Decision(Verdict.DEFER)),
        ("retry", "", Decision(Verdict.RETRY)),
        ("decline", "", Decision(Verdict.DECLINE)),
        ("cancel", "", Decision(Verdict.CANCEL)),
        ("accept", "", Decision(Verdict.ACCEPT)),
        ("accept", "a=1", Decision(Verdict.ACCEPT, content={"a": 1})),
        ("edit", "ls -l", Decision(Verdict.ALLOW, updated_input={"command": "ls -l"})),
        ("output", "[1]", Decision(Verdict.ALLOW, output=[1])),
        ("halt", "now", Decision(Verdict.DENY, reason="now", halt="now")),
        ("tell", "hi", Decision(Verdict.PASS, user_message="hi")),
        ("keep-going", "on", Decision(Verdict.KEEP_GOING, reason="on")),
    ],
)
def test_a_word_makes_its_decision(word: str, rest: str, decision: Decision) -> None:
    assert decided(word, CALL, rest).decision == decision


def test_halting_what_has_happened_already_denies_nothing() -> None:
    assert decided("halt", STOP, "now").decision == Decision(Verdict.PASS, halt="now")


def test_keeping_going_several_times_counts_this_one() -> None:
    given = decided("keep-going", STOP, "times=3 run the tests")
    assert given.decision == Decision(Verdict.KEEP_GOING, reason="run the tests")
    assert given.repeats == 2
    assert decided("keep-going", STOP, "times=1 on").repeats == 0
    assert decided("keep-going", STOP, "three times=3").decision.reason == "three times=3"


def test_an_edit_is_told_before_it_is_given() -> None:
    (remark,) = decided("edit", CALL, "pwd").remarks
    assert remark.split("\n")[-2:] == ["    -ls", "    +pwd"]


def test_questions_allowed_without_answers_are_remarked_upon() -> None:
    (remark,) = decided("allow", card_of(QUESTIONS), "").remarks
    assert remark.startswith("#1 has questions: without answers")


def test_a_form_of_which_nothing_is_filled_in_is_still_a_form() -> None:
    assert decided("accept", card_of(sample("Elicitation")), "").decision.content == {}


@pytest.mark.parametrize("rest", ["1 2", "0", "1.0", "\u0661", "1 local user", "\x1b[2J"])
def test_a_suggestion_that_is_not_there_is_refused_safely(rest: str) -> None:
    with pytest.raises(LineError) as caught:
        decided("always", card_of(sample("PermissionRequest-Bash")), rest)
    assert str(caught.value).isprintable()
