"""Many at once: only what is marked and was shown together is decided, and nothing by accident."""

from __future__ import annotations

import pytest

from crabhook.model.decision import Verdict
from tests.support.sitting import QUESTIONS, Sitting, call

SENT = 1.0


def desk(count: int = 3, **options: object) -> Sitting:
    sitting = Sitting(**options)
    for number in range(count):
        sitting.ask(tool_input={"command": f"ls {number}"}, session_id=f"s{number}")
    sitting.wait()
    return sitting


def marked_first_two(**options: object) -> Sitting:
    sitting = desk(**options)
    sitting.press("space", "down", "space")
    assert "2 marked" in sitting.text()
    return sitting


def test_marked_cards_are_allowed_together_after_a_page_that_was_read() -> None:
    sitting = marked_first_two(take_back_ms=0)
    sitting.press("a", "enter", "y")
    assert not sitting.decided()
    assert "ALLOW 2 requests of 2 sessions" in sitting.text()
    sitting.wait()
    sitting.press("enter")
    assert sitting.verdicts() == [(1, Verdict.ALLOW), (2, Verdict.ALLOW)]
    assert not sitting.screen.marks


def test_marked_cards_are_denied_with_one_reason() -> None:
    sitting = marked_first_two()
    sitting.press("d")
    sitting.type("not now")
    sitting.press("enter")
    assert not sitting.decided()
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    assert [(number, one.reason) for number, one in sitting.decided()] == [
        (1, "not now"),
        (2, "not now"),
    ]


@pytest.mark.parametrize(("key", "verdict"), [("h", Verdict.ASK), ("p", Verdict.PASS)])
def test_marked_cards_are_handed_back_or_passed(key: str, verdict: Verdict) -> None:
    sitting = marked_first_two()
    sitting.press(key)
    sitting.wait()
    sitting.press("y")
    sitting.wait(SENT)
    assert sitting.verdicts() == [(1, verdict), (2, verdict)]


def test_one_key_takes_all_of_them_back() -> None:
    sitting = marked_first_two()
    sitting.press("a")
    sitting.wait()
    sitting.press("y", "u")
    assert "2 taken back" in sitting.text()
    sitting.wait(SENT)
    assert not sitting.decided()


def test_while_cards_are_marked_no_key_decides_the_selected_one() -> None:
    sitting = marked_first_two(take_back_ms=0)
    sitting.press("down")
    sitting.wait()
    sitting.press("n", "e", "x", "m", "z", "D", "w", "f", "1", "M")
    assert "enter open" in sitting.help_line()
    assert sitting.line is None
    assert not sitting.decided()


def test_a_key_meant_for_marked_cards_that_ended_hits_no_other() -> None:
    sitting = marked_first_two(take_back_ms=0)
    sitting.press("down")
    sitting.wait(60)
    sitting.leave(1)
    sitting.leave(2)
    sitting.press("a")
    assert not sitting.decided()
    assert "enter open" in sitting.help_line()


def test_a_card_that_ends_while_the_page_is_read_makes_it_another_page() -> None:
    sitting = marked_first_two(take_back_ms=0)
    sitting.press("a")
    sitting.wait()
    sitting.leave(1)
    sitting.press("y")
    assert not sitting.decided()
    assert "ALLOW 1 request of 1 session: #2" in sitting.text()
    sitting.wait()
    sitting.press("y")
    assert sitting.verdicts() == [(2, Verdict.ALLOW)]


def test_a_marked_card_that_grows_is_not_decided_with_the_others() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask(tool_use_id="t1")
    sitting.ask(session_id="b")
    sitting.wait()
    sitting.press("space", "down", "space", "a")
    sitting.wait()
    more = call(hook_event_name="PermissionRequest", tool_use_id="t1")
    sitting.desk.ask(more)
    assert "no longer marked" in sitting.text()
    sitting.press("y")
    assert not sitting.decided()
    sitting.wait()
    sitting.press("y")
    assert sitting.verdicts() == [(2, Verdict.ALLOW)]


def test_star_marks_what_asks_the_same_alone_and_another_key_the_session() -> None:
    sitting = Sitting()
    for session in ("a", "b", "a"):
        sitting.ask(session_id=session)
    sitting.ask(tool_input={"command": "other"}, session_id="a")
    sitting.wait()
    sitting.press("*", "*")
    assert [card.number for card in sitting.screen.marks.cards()] == [1, 2, 3]
    sitting.press("&")
    assert "of this session, all that it asks" in sitting.text()
    assert [card.number for card in sitting.screen.marks.cards()] == [1, 2, 3, 4]
    sitting.press("*", "&")
    assert len(sitting.screen.marks) == 4
    sitting.press("escape")
    assert not sitting.screen.marks


def test_what_cannot_be_decided_so_is_left_out_and_stays_marked() -> None:
    sitting = Sitting(take_back_ms=0)
    sitting.ask()
    sitting.ask("AskUserQuestion", QUESTIONS, session_id="b")
    sitting.wait()
    sitting.press("space", "down", "space", "a")
    sitting.wait()
    sitting.press("y")
    assert sitting.verdicts() == [(1, Verdict.ALLOW)]
    assert [card.number for card in sitting.screen.marks.cards()] == [2]


def test_where_none_can_be_decided_so_nothing_is_proposed() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.wait()
    sitting.press("escape")
    sitting.wait()
    sitting.press("space", "a")
    assert "enter open" in sitting.help_line()
    assert "none of the marked" in sitting.text()


def test_a_marked_card_shows_it() -> None:
    sitting = marked_first_two()
    rows = sitting.rows_of_text()
    assert rows[2].startswith("│   ✓#1")
    assert "✓#2" in rows[3]
    assert "✓#3" not in rows[4]


def test_five_hundred_of_one_session_are_denied_together() -> None:
    sitting = Sitting()
    for number in range(500):
        sitting.ask(tool_input={"command": f"ls {number}"})
    sitting.wait()
    sitting.press("&", "d")
    sitting.type("enough")
    sitting.press("enter")
    sitting.wait()
    sitting.press("enter")
    assert "more lines" in sitting.text()
    sitting.wait()
    sitting.press("enter")
    sitting.wait(SENT)
    assert len(sitting.decided()) == 500
    assert {one.reason for _, one in sitting.decided()} == {"enough"}


def test_all_that_a_filter_shows_is_marked_by_a_key() -> None:
    sitting = Sitting()
    for command in ("make a", "make b", "ls -l"):
        sitting.ask(tool_input={"command": command}, session_id=command)
    sitting.wait()
    sitting.press("/")
    sitting.type("make")
    sitting.press("enter")
    sitting.wait()
    sitting.press("%")
    assert [card.number for card in sitting.screen.marks.cards()] == [1, 2]
    assert "that are shown" in sitting.text()
