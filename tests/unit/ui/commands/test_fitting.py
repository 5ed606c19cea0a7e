"""The words a card offers are words its event takes, and the other way round."""

from typing import Any

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from crabhook.present.card import suggestions
from crabhook.ui.commands.decide import fitting, other_words
from crabhook.ui.commands.words import WORDS
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import QUESTIONS, bash, sample
from tests.support.rows import every_row

PLAN = {**sample("PreToolUse-ExitPlanMode"), "tool_input": {"plan": "# A"}}


def words(payload: dict[str, Any]) -> list[str]:
    desk = PlayedDesk()
    if payload.get("hook_event_name") in desk.holdable():
        desk.order(Order(OrderKind.HOLD, name=payload["hook_event_name"]))
    desk.ask(payload)
    usages = fitting(desk.waiting()[0])
    assert all(usage.startswith("1 ") for usage in usages)
    names = [
        usage.removeprefix("1 ").replace("deny --interrupt", "--interrupt") for usage in usages
    ]
    return [name.partition(" ")[0] for name in names]


@every_row(
    "payload, offered, not_offered",
    [
        (bash(), "allow deny ask pass edit defer halt tell", "answer always mode accept retry"),
        (sample("PermissionRequest-Bash"), "allow always --interrupt", "defer mode"),
        (QUESTIONS, "answer deny ask pass", "allow edit always"),
        ({**QUESTIONS, "tool_input": {}}, "allow deny ask pass", "answer"),
        (PLAN, "allow mode edit deny", "always"),
        (sample("Stop"), "allow keep-going pass", "deny ask edit"),
        (sample("SubagentStop"), "allow keep-going pass", "deny ask edit"),
        (sample("Elicitation"), "accept decline cancel pass", "allow deny halt tell"),
        (sample("PermissionDenied-Bash"), "allow retry pass", "deny edit"),
        (sample("PostToolUse-Bash"), "allow deny output pass", "edit ask"),
        (sample("UserPromptSubmit"), "allow deny pass", "edit ask always"),
        (sample("PreModelSwitch"), "allow deny ask pass", "edit defer"),
    ],
)
def test_the_words_are_those_of_the_event(
    payload: dict[str, Any], offered: str, not_offered: str
) -> None:
    fit = words(payload)
    assert set(offered.split()) <= set(fit)
    assert not set(not_offered.split()) & set(fit)


def test_every_word_that_is_offered_is_a_word() -> None:
    for name in words(bash()):
        assert name in WORDS


def test_an_allow_offers_a_note_only_where_the_model_reads_it() -> None:
    desk = PlayedDesk()
    desk.order(Order(OrderKind.HOLD, name="Stop"))
    desk.ask(bash())
    desk.ask(sample("Stop"))
    assert [fitting(card)[0] for card in desk.waiting()] == ["1 allow [note]", "2 allow"]


def test_a_form_is_accepted_with_its_own_fields() -> None:
    desk = PlayedDesk()
    desk.ask(sample("Elicitation"))
    assert fitting(desk.waiting()[0])[0] == '1 accept stage="test"'


def test_a_card_that_has_ended_offers_nothing_but_to_be_read() -> None:
    desk = PlayedDesk()
    desk.ask(bash())
    ended = desk.answer(1, Decision(Verdict.ASK))
    assert fitting(ended) == []
    assert other_words(ended) == "1 show"


def test_the_suggestions_are_those_of_the_leg_that_has_some() -> None:
    desk = PlayedDesk()
    desk.ask(bash())
    desk.ask(sample("PermissionRequest-WebFetch"))
    call, request = desk.waiting()
    assert suggestions(call) == ()
    assert [one.what for one in suggestions(request)] == ["allow WebFetch(domain:example.com)"]
