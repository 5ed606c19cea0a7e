"""Every verdict an event can be told has its key, and what is typed goes with it."""

from __future__ import annotations

from typing import Any

import pytest

from crabhook.model.actor import OrderKind
from crabhook.model.card import Stance
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import Order
from tests.support.sitting import QUESTIONS, Sitting, call

SENT = 1.0
REQUEST = {"hook_event_name": "PermissionRequest"}


def held(name: str, **fields: Any) -> Sitting:
    sitting = Sitting()
    sitting.happen(name, **fields)
    sitting.wait()
    return sitting


def asked(**fields: Any) -> Sitting:
    sitting = Sitting()
    sitting.ask(**fields)
    sitting.wait()
    return sitting


def only(sitting: Sitting) -> Decision:
    sitting.wait(SENT)
    ((_, decision),) = sitting.decided()
    return decision


@pytest.mark.parametrize("name", ["Stop", "SubagentStop", "TeammateIdle"])
def test_an_agent_that_stops_is_kept_going_with_an_instruction(name: str) -> None:
    sitting = held(name)
    sitting.press("w")
    assert "kept going 0 of 8" in sitting.text()
    sitting.press("enter")
    assert "say how to go on" in sitting.text()
    sitting.type("run the tests")
    sitting.press("enter")
    decision = only(sitting)
    assert (decision.verdict, decision.reason) == (Verdict.KEEP_GOING, "run the tests")


def test_how_often_it_was_kept_going_is_counted_and_the_ninth_is_refused() -> None:
    sitting = Sitting()
    for row in range(9):
        number = sitting.happen("Stop", stop_hook_active=row > 0)
        sitting.press("G")
        sitting.wait()
        assert sitting.card.number == number
        sitting.press("w")
        assert f"kept going {row} of 8" in sitting.text()
        sitting.type("on")
        sitting.press("enter")
        sitting.wait(SENT)
    assert len(sitting.decided()) == 8
    assert "8 times in a row" in sitting.text()


def test_an_agent_is_let_stop() -> None:
    sitting = held("Stop")
    sitting.press("a")
    assert only(sitting) == Decision(Verdict.ALLOW)


def test_a_denial_may_end_the_turn_where_the_event_can() -> None:
    sitting = asked(**REQUEST)
    sitting.press("D")
    sitting.type("stop that")
    sitting.press("enter")
    decision = only(sitting)
    assert (decision.verdict, decision.reason, decision.interrupt) == (
        Verdict.DENY,
        "stop that",
        True,
    )
    before = asked()
    before.press("D")
    assert "enter open" in before.help_line()


@pytest.mark.parametrize(
    ("sitting", "verdict"),
    [
        (asked, Verdict.DENY),
        (lambda: asked(**REQUEST), Verdict.DENY),
        (lambda: held("Stop"), Verdict.PASS),
    ],
)
def test_a_session_is_stopped_for_a_reason_and_what_was_asked_does_not_happen(
    sitting: Any, verdict: Verdict
) -> None:
    made = sitting()
    made.press("x", "enter")
    assert "say why" in made.text()
    made.type("enough")
    made.press("enter")
    decision = only(made)
    assert (decision.verdict, decision.halt) == (verdict, "enough")


def test_a_denied_call_is_tried_again_after_its_moment() -> None:
    sitting = Sitting()
    sitting.desk.order(Order(OrderKind.HOLD, "PermissionDenied"))
    sitting.ask(hook_event_name="PermissionDenied", reason="classifier")
    sitting.wait()
    assert "r run once" in sitting.text()
    sitting.press("r")
    assert not sitting.decided()
    assert only(sitting) == Decision(Verdict.RETRY)


def test_a_refused_call_that_no_hook_waits_for_runs_once_by_its_key_and_can_be_ended() -> None:
    sitting = Sitting()
    refused = call(hook_event_name="PermissionDenied", permission_mode="auto")
    sitting.number_of(sitting.desk.ask(refused, stance=Stance.COMPANION))
    sitting.wait()
    assert "Claude's own check refused this. Let it run once?" in sitting.text()
    sitting.press("r")
    assert only(sitting) == Decision(Verdict.RETRY)
    sitting.press("O")
    assert "END: let a call run once" in sitting.text()
    assert "Bash #1" in sitting.text()


def test_a_message_goes_with_whatever_is_decided_and_is_seen_until_then() -> None:
    sitting = asked()
    sitting.press("m")
    sitting.type("look at this")
    sitting.press("enter")
    assert not sitting.decided()
    assert "goes with it, to the agent's user: look at this" in sitting.text()
    sitting.press("a")
    decision = only(sitting)
    assert (decision.verdict, decision.user_message) == (Verdict.ALLOW, "look at this")


def test_a_message_can_be_taken_back_and_never_goes_to_another_card() -> None:
    sitting = asked()
    sitting.ask(session_id="b")
    sitting.press("m")
    sitting.type("hello")
    sitting.press("enter", "down")
    sitting.wait()
    sitting.press("a")
    assert only(sitting).user_message == ""
    sitting.press("up")
    sitting.wait()
    sitting.press("m", "c-u", "enter", "p")
    sitting.wait(SENT)
    assert sitting.decided()[-1] == (1, Decision(Verdict.PASS))


def test_a_run_without_a_screen_is_deferred() -> None:
    sitting = asked()
    sitting.press("f")
    assert only(sitting) == Decision(Verdict.DEFER)


def test_keys_of_other_events_do_nothing() -> None:
    sitting = held("Stop")
    sitting.press("n", "d", "D", "e", "r", "h", "f", "c", "1", "M")
    assert "enter open" in sitting.help_line()
    assert sitting.line is None
    sitting.wait(SENT)
    assert not sitting.decided()
    call = asked()
    call.press("w", "r", "c", "1", "M")
    assert "enter open" in call.help_line()
    assert not call.decided()


@pytest.mark.parametrize("name", ["PreCompact", "ConfigChange", "UserPromptSubmit", "TaskCreated"])
def test_what_was_held_on_request_is_blocked_with_a_reason(name: str) -> None:
    sitting = held(name)
    sitting.press("d")
    sitting.type("no")
    sitting.press("enter")
    decision = only(sitting)
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "no")


# Its time.


def test_a_card_is_given_more_time_as_far_as_its_agent_waits() -> None:
    sitting = asked()
    sitting.press("+")
    assert (
        "as long as its hook does already" in sitting.text()
    )  # its hook was installed without any more


def test_a_card_that_can_wait_longer_does() -> None:
    sitting = Sitting()
    sitting.desk.ask(call(), wait=60, limit=3600)
    before = sitting.card.wait_until
    sitting.wait()
    sitting.press("+")
    assert sitting.card.wait_until == before + 600
    assert "#1 waits 10:00 longer" in sitting.text()
    sitting.press("=")
    assert sitting.card.wait_until == before + 1200


def test_a_card_put_aside_goes_to_the_end_dim_and_comes_back_by_itself() -> None:
    sitting = Sitting()
    for session in ("a", "b", "c"):
        sitting.ask(session_id=session)
    sitting.wait()
    sitting.press("z")
    assert [card.number for card in sitting.screen.selection.queue.cards()] == [2, 3, 1]
    assert sitting.card.number == 2
    rows = sitting.rows_of_text()
    assert "#1" in rows[4]
    assert "aside, back in 5:00" in rows[4]
    assert "1 aside" in rows[0]
    sitting.wait(300)
    assert [card.number for card in sitting.screen.selection.queue.cards()] == [1, 2, 3]
    assert sitting.card.number == 2
    assert "aside" not in "".join(sitting.rows_of_text()[:6])


def test_the_next_card_arms_anew_when_one_is_put_aside() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.ask(session_id="b")
    sitting.wait(60)
    sitting.press("z", "a")
    assert not sitting.decided()


def test_a_card_put_aside_is_back_before_its_time_ends_and_still_ends_in_time() -> None:
    sitting = Sitting()
    sitting.ask(wait=200)
    sitting.wait()
    sitting.press("z")
    assert 100 < sitting.card.snoozed_until - sitting.desk.now() < 141
    sitting.wait(199.6)
    assert "EXPIRED" in sitting.text()


def test_a_card_put_aside_is_brought_back_by_the_same_key() -> None:
    sitting = asked()
    sitting.press("z")
    sitting.wait()
    sitting.press("z")
    sitting.desk.pass_time()
    assert not sitting.card.snoozed_until
    assert "#1 is back" in sitting.text()


@pytest.mark.parametrize(
    ("ask", "keys", "name"),
    [
        ({}, "m", "enter keep"),
        ({}, "n", "enter allow with the note"),
        ({}, "d", "enter deny"),
        ({"tool": "AskUserQuestion", "tool_input": QUESTIONS}, "o", "enter keep"),
        ({"tool": "AskUserQuestion", "tool_input": QUESTIONS}, "t", "enter keep"),
        ({"tool": "ExitPlanMode", "tool_input": {"plan": "# one"}}, "lc", "enter keep"),
    ],
    ids=["message", "note", "deny", "own words", "remark", "plan"],
)
def test_the_help_line_says_keep_of_all_that_enter_does_not_send(
    ask: dict[str, Any], keys: str, name: str
) -> None:
    sitting = Sitting()
    sitting.ask(**ask)
    sitting.wait()
    sitting.press(*keys)
    assert sitting.draw().cursor is not None
    assert name in sitting.rows_of_text()[-1]
    sitting.type("word")
    sitting.press("enter")
    sitting.wait(1.0)
    assert bool(sitting.decided()) is ("keep" not in name)


def test_suppress_output_goes_with_the_next_decision_about_the_card_alone() -> None:
    sitting = asked()
    sitting.ask(session_id="b")
    sitting.press("L")
    assert not sitting.decided()
    assert "goes with it: suppressOutput" in sitting.text()
    sitting.press("down")
    sitting.wait()
    sitting.press("p")
    sitting.wait(SENT)
    assert sitting.decided()[-1] == (2, Decision(Verdict.PASS))
    sitting.press("up")
    sitting.wait()
    sitting.press("p")
    sitting.wait(SENT)
    assert sitting.decided()[-1] == (1, Decision(Verdict.PASS, suppress_output=True))


def test_suppress_output_can_be_taken_back() -> None:
    sitting = asked()
    sitting.press("L", "L", "p")
    assert only(sitting) == Decision(Verdict.PASS)
