"""While an answer is held, its card obeys `u` and a stricter answer alone."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from crabhook.model.decision import Decision, Verdict
from crabhook.ui.answers import strictness
from crabhook.ui.full.dialogs.bulk import decide_marked
from crabhook.ui.full.effects import Say
from crabhook.ui.full.filters import Mode
from crabhook.ui.full.keyrow import Guard
from crabhook.ui.full.keys import KEYS
from tests.support.sitting import Sitting

FORCE = {"command": "git push --force origin main"}
SUGGESTED = [
    {
        "type": "addRules",
        "rules": [{"toolName": "Bash", "ruleContent": "npm test:*"}],
        "behavior": "allow",
        "destination": "localSettings",
    }
]
CAUTION = {"command": "curl -s https://example.org/x"}


def denied(tool_input: dict[str, str] = CAUTION) -> Sitting:
    """Return a screen as it is installed, whose only card is being denied."""
    sitting = Sitting(take_back_ms=2000, advance=True, columns=100, rows=30)
    sitting.ask(tool_input=tool_input)
    sitting.wait()
    sitting.press("d")
    sitting.type("no")
    sitting.press("enter")
    assert "DENY in" in sitting.text()
    return sitting


def test_a_key_in_the_countdown_of_a_denial_never_makes_it_an_allow() -> None:
    sitting = denied()
    sitting.press("a")
    assert "#1 is being denied" in sitting.screen.notice.text
    assert "u takes it back first" in sitting.screen.notice.text
    assert "DENY in" in sitting.text()
    sitting.wait(60)
    assert sitting.verdicts() == [(1, Verdict.DENY)]


@pytest.mark.parametrize("verdict", [Verdict.ALLOW, Verdict.PASS, Verdict.DENY])
def test_every_key_but_u_and_a_stricter_answer_says_so_and_changes_nothing(
    verdict: Verdict,
) -> None:
    acts = 0
    for row in KEYS:
        sitting = held(verdict)
        if row.guard is Guard.FREE or not row.when(sitting.screen.key_context()):
            continue
        leads = row.leads
        if leads is not None and strictness(sitting.card, leads) > strictness(
            sitting.card, Decision(verdict)
        ):
            continue
        acts += 1
        for name in row.keys:
            before = sitting.screen.answers.held(1)
            view = sitting.help_line(), sitting.screen.focus.mode, repr(sitting.screen.work)
            sitting.press(name)
            assert sitting.screen.answers.held(1) is before, (row.does, name)
            assert "#1 is being" in sitting.screen.notice.text, (row.does, name)
            assert not sitting.screen.marks
            after = sitting.help_line(), sitting.screen.focus.mode, repr(sitting.screen.work)
            assert after == view, (row.does, name)
    assert acts > 8


def held(verdict: Verdict) -> Sitting:
    """Return a screen whose only card has a held answer."""
    sitting = Sitting(take_back_ms=2000, advance=True, columns=100, rows=30)
    sitting.ask(hook_event_name="PermissionRequest", permission_suggestions=SUGGESTED)
    sitting.wait()
    keys = {Verdict.ALLOW: "a", Verdict.PASS: "p", Verdict.DENY: "d"}
    sitting.press(keys[verdict], *(["n", "o", "enter"] if verdict is Verdict.DENY else []))
    assert sitting.screen.answers.held(1) is not None
    return sitting


@pytest.mark.parametrize(("key", "verdict"), [("h", Verdict.ASK), ("p", Verdict.PASS)])
def test_a_stricter_answer_takes_the_place_of_a_held_allow(key: str, verdict: Verdict) -> None:
    sitting = Sitting(take_back_ms=2000, advance=True)
    sitting.ask()
    sitting.wait()
    sitting.press("a", key)
    sitting.wait(9)
    assert sitting.verdicts() == [(1, verdict)]


def test_a_card_that_is_answered_counts_as_decided_when_another_comes() -> None:
    sitting = denied(FORCE)
    second = sitting.ask(session_id="b")
    assert sitting.card.number == second
    sitting.press("a")  # before anybody can have read it
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("a")
    sitting.wait(9)
    assert dict(sitting.verdicts()) == {1: Verdict.DENY, second: Verdict.ALLOW}


def test_a_card_that_comes_does_not_take_the_selection_from_what_is_read() -> None:
    sitting = denied(FORCE)
    sitting.press("enter")
    sitting.ask(session_id="b")
    assert sitting.card.number == 1


def test_u_takes_it_back_and_the_card_is_armed_anew() -> None:
    sitting = denied()
    sitting.stroke = 0.1
    sitting.press("u", "a")
    assert "only just come into view" in sitting.screen.notice.text
    sitting.wait()
    sitting.press("a")
    sitting.wait(9)
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]


def test_a_card_whose_answer_was_refused_is_armed_anew() -> None:
    sitting = Sitting(take_back_ms=0, advance=True)
    sitting.ask()
    sitting.wait()
    recorded: Future[bool] = Future()
    sitting.desk.core.write = lambda *_: recorded
    sitting.desk.core.unrecorded = lambda *_: None
    sitting.press("d", "n", "o", "enter")
    recorded.set_exception(OSError("the storage is gone"))
    sitting.stroke = 0.05
    sitting.press("a")
    assert "only just come into view" in sitting.screen.notice.text


def test_many_marked_at_once_leave_out_what_is_answered() -> None:
    sitting = denied()
    for session in "bcd":
        sitting.ask(session_id=session, tool_input=CAUTION)
    sitting.wait()
    sitting.press("*")
    assert sitting.screen.marks.keys() == {2, 3, 4}
    sitting.press("a")
    sitting.wait(0.5)
    sitting.press("enter")
    sitting.wait(9)
    assert dict(sitting.verdicts())[1] is Verdict.DENY
    assert [n for n, verdict in sitting.verdicts() if verdict is Verdict.ALLOW] == [2, 3, 4]


def test_a_page_of_many_names_what_it_leaves_out_since_it_is_answered() -> None:
    sitting = denied()
    sitting.screen.marks.turn(sitting.card)
    effects = decide_marked(
        sitting.screen.marks, Decision(Verdict.ALLOW), Mode.QUEUE, sitting.screen.answers.blocks
    )
    assert effects == (Say("none of the marked can be told allow"),)
