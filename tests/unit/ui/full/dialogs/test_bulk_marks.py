"""A mark is on a card as it was seen, and is lost when there is more to see."""

from __future__ import annotations

from crabhook.model.decision import Verdict
from crabhook.ui.full.dialogs.bulk import mark_alike, mark_session, refusal
from crabhook.ui.full.work import Marks
from tests.support.sitting import QUESTIONS, Sitting, call


def desk(*sessions: str) -> Sitting:
    sitting = Sitting()
    for session in sessions:
        sitting.ask(session_id=session)
    return sitting


def test_a_card_is_marked_and_unmarked() -> None:
    sitting, marks = desk("a"), Marks()
    marks.turn(sitting.card)
    assert 1 in marks
    assert marks.cards() == [sitting.card]
    marks.turn(sitting.card)
    assert not marks


def test_a_card_that_ends_loses_its_mark() -> None:
    sitting, marks = desk("a", "b"), Marks()
    marks.update((card.number, card) for card in sitting.desk.waiting())
    sitting.desk.listen(lambda news: marks.news(news) if hasattr(news, "requests") else None)
    sitting.leave(1)
    assert [card.number for card in marks.cards()] == [2]


def test_a_card_that_is_asked_about_again_loses_its_mark_and_says_so() -> None:
    sitting, marks = Sitting(), Marks()
    sitting.ask(tool_use_id="t1")
    marks.turn(sitting.card)
    sitting.desk.ask(call(hook_event_name="PermissionRequest", tool_use_id="t1"))
    assert "#1 was asked again" in marks.news(sitting.card)
    assert not marks


def test_a_card_whose_time_is_extended_keeps_its_mark() -> None:
    sitting, marks = desk("a"), Marks()
    marks.turn(sitting.card)
    sitting.desk.snooze(1, 60)
    assert marks.news(sitting.card) == ""
    assert marks.cards()[0].snoozed_until


def test_what_asks_the_same_and_the_session_are_marked_apart() -> None:
    sitting = desk("a", "b")
    sitting.ask(tool_input={"command": "other"}, session_id="a")
    marks = Marks()
    mark_alike(sitting.card, sitting.desk.waiting(), marks)
    assert [card.number for card in marks.cards()] == [1, 2]
    marks.clear()
    mark_session(sitting.card, sitting.desk.waiting(), marks)
    assert [card.number for card in marks.cards()] == [1, 3]
    assert not marks.by_hand


def test_one_and_true_are_not_the_same_to_an_agent() -> None:
    sitting, marks = Sitting(), Marks()
    sitting.ask(tool_input={"command": "x", "n": 1})
    sitting.ask(tool_input={"command": "x", "n": True}, session_id="b")
    mark_alike(sitting.card, sitting.desk.waiting(), marks)
    assert [card.number for card in marks.cards()] == [1]


def test_what_asks_a_person_something_is_not_allowed_among_others() -> None:
    sitting = Sitting()
    sitting.ask("AskUserQuestion", QUESTIONS)
    sitting.ask("ExitPlanMode", {"plan": "# x"}, session_id="b")
    sitting.ask(session_id="c")
    stop = sitting.happen("Stop", session_id="d")
    cards = {card.number: card for card in sitting.desk.waiting()}
    assert "decide it by itself" in refusal(cards[1], Verdict.ALLOW)
    assert "decide it by itself" in refusal(cards[2], Verdict.ALLOW)
    assert not refusal(cards[3], Verdict.ALLOW)
    assert not refusal(cards[1], Verdict.DENY)
    assert "takes no deny" in refusal(cards[stop], Verdict.DENY)
