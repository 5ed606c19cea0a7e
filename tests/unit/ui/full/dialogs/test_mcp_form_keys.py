"""A form is filled in by keys and sent as it was read; the broker's answer is what the server gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crabhook.model.actor import OrderKind
from crabhook.model.decision import Verdict
from crabhook.model.order import Order
from crabhook.ui.full.dialogs.mcp_form import FillPage
from tests.support.sitting import Sitting

SAMPLE = json.loads(
    Path(__file__).parents[4].joinpath("samples", "claude", "Elicitation.json").read_text()
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "stage": {"type": "string", "enum": ["test", "live"]},
        "count": {"type": "integer", "minimum": 1},
        "why": {"type": "string", "minLength": 2},
    },
    "required": ["stage", "count"],
}


def at_a_form(schema: Any = SCHEMA, **fields: Any) -> Sitting:
    sitting = Sitting(take_back_ms=0)
    sitting.desk.ask({**SAMPLE, "requested_schema": schema, **fields})
    sitting.wait()
    return sitting


def replied(sitting: Sitting) -> Any:
    (reply,) = sitting.desk.replies.values()
    assert reply.output is not None
    return reply.output["hookSpecificOutput"]


def test_a_real_form_is_filled_in_and_accepted() -> None:
    sitting = at_a_form(SAMPLE["requested_schema"])
    sitting.press("down", "enter", "enter")
    assert "these values will be sent" in sitting.text()
    sitting.wait()
    sitting.press("y")
    assert replied(sitting) == {
        "hookEventName": "Elicitation",
        "action": "accept",
        "content": {"stage": "live", "sure": True},
    }


def test_a_text_is_typed_and_checked_at_its_field() -> None:
    sitting = at_a_form()
    sitting.press("tab", "enter")
    sitting.type("0")
    sitting.press("enter")
    assert "less than the minimum" in sitting.text()
    assert sitting.filling is not None
    assert sitting.filling.entry.asked.name == "count"
    sitting.press("enter", "backspace")
    sitting.type("7")
    sitting.press("enter")
    assert sitting.filling.content() == {"count": 7}
    assert sitting.filling.entry.asked.name == "why"


def test_what_is_missing_is_led_to_and_nothing_is_sent() -> None:
    sitting = at_a_form()
    sitting.press("a")
    assert isinstance(sitting.top, FillPage)
    assert "stage: it is required" in sitting.text()
    sitting.press("space", "a")
    assert "count: it is required" in sitting.text()
    assert not sitting.decided()


def test_a_form_whose_rules_are_broken_between_fields_is_not_sent() -> None:
    either = {
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "dependentRequired": {"a": ["b"]},
    }
    sitting = at_a_form(either)
    sitting.press("enter")
    sitting.type("x")
    sitting.press("enter", "a")
    assert isinstance(sitting.top, FillPage)
    assert "'b' is a dependency of 'a'" in sitting.text()


def test_a_wrong_value_is_never_sent() -> None:
    sitting = at_a_form()
    sitting.press("space", "tab", "enter")
    sitting.type("many")
    sitting.press("enter", "a")
    assert "a whole number is asked for" in sitting.text()
    assert not sitting.decided()


@pytest.mark.parametrize(
    ("key", "action"), [("d", "decline"), ("c", "cancel")], ids=["decline", "cancel"]
)
@pytest.mark.parametrize("before", [("escape",), ()], ids=["in the queue", "in the form"])
def test_a_form_is_declined_or_cancelled_from_anywhere(
    key: str, action: str, before: tuple[str, ...]
) -> None:
    sitting = at_a_form()
    sitting.press(*before)
    sitting.wait()
    sitting.press(key)
    assert replied(sitting) == {"hookEventName": "Elicitation", "action": action}


def test_keys_before_arming_fill_in_nothing() -> None:
    sitting = Sitting()
    sitting.desk.ask(SAMPLE)
    sitting.press("enter", "space", "1", "enter", "a", "y")
    assert sitting.filling is not None
    assert not sitting.filling.content()
    assert not sitting.decided()


def test_a_form_without_fields_is_accepted_with_nothing_in_it() -> None:
    sitting = at_a_form({"type": "object", "properties": {}})
    sitting.press("a")
    assert "accepted with no values at all" in sitting.text()
    sitting.wait()
    sitting.press("y")
    assert replied(sitting)["content"] == {}


def test_what_was_filled_in_is_kept_while_another_card_is_looked_at() -> None:
    sitting = at_a_form()
    sitting.press("2", "escape")
    other = sitting.ask()
    sitting.press("down")
    assert sitting.card.number == other
    sitting.press("up")
    assert sitting.filling is not None
    assert sitting.filling.content() == {"stage": "live"}


def test_a_form_that_ends_while_it_is_reviewed_is_not_sent() -> None:
    sitting = at_a_form()
    sitting.press("1", "tab", "enter")
    sitting.type("1")
    sitting.press("enter", "a")
    sitting.wait()
    sitting.leave(sitting.card.number)
    sitting.press("y")
    assert not sitting.decided()
    assert "has ended" in sitting.text()


def test_an_answer_is_overridden_in_the_form_it_was_given_to() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.desk.order(Order(OrderKind.HOLD, "ElicitationResult"))
    sitting.desk.ask({**SAMPLE, "requested_schema": SCHEMA})
    sitting.wait()
    sitting.press("p")
    result = {key: value for key, value in SAMPLE.items() if key != "requested_schema"}
    sitting.desk.ask(
        {
            **result,
            "hook_event_name": "ElicitationResult",
            "action": "accept",
            "content": {"stage": "live", "count": 2},
        }
    )
    sitting.press("down")
    sitting.wait()
    assert "was answered: accept" in sitting.text()
    sitting.press("1", "a")
    sitting.wait()
    sitting.press("y")
    (_, decision) = sitting.decided()[-1]
    assert (decision.verdict, decision.content) == (Verdict.ACCEPT, {"stage": "test", "count": 2})


def test_an_address_is_accepted_or_not_as_it_is() -> None:
    sitting = Sitting(take_back_ms=0)
    form = {key: value for key, value in SAMPLE.items() if key != "requested_schema"}
    sitting.desk.ask({**form, "mode": "url", "url": "https://pay.example/x"})
    sitting.wait()
    assert "it goes to the host pay.example" in sitting.text()
    sitting.press("a")
    assert replied(sitting) == {"hookEventName": "Elicitation", "action": "accept"}


@settings(deadline=None)
@given(st.lists(st.sampled_from(["up", "down", "space", "enter", "tab", "s-tab", "1", "9", "backspace", "x", "escape", "a", "y", "g", "G"]), max_size=25))  # fmt: skip
def test_whatever_is_pressed_what_is_sent_fits_the_form(keys: list[str]) -> None:
    sitting = at_a_form()
    for key in keys:
        sitting.press(key)
        sitting.wait()
    for _, decision in sitting.decided():
        if decision.verdict is Verdict.ACCEPT:
            assert decision.content is not None
            assert {"stage", "count"} <= set(decision.content)
