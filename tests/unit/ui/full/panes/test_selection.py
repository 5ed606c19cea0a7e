"""The selection is a card's number; only the operator moves it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crabhook.ui.full.panes.queue import Selection
from tests.support.sitting import Sitting


def numbers(selection: Selection, height: int) -> list[int]:
    return [card.number for card in selection.window(height).cards]


def queue_of(count: int) -> Sitting:
    sitting = Sitting()
    for number in range(count):
        sitting.ask(session_id=f"s{number}")
    return sitting


def test_steps_end_at_the_first_and_the_last_card() -> None:
    selection = queue_of(3).screen.selection
    reached = []
    for step in (-1, +1, +1, +1, -1):
        selection.step(step)
        reached.append(selection.card.number if selection.card else 0)
    assert reached == [1, 2, 3, 3, 2]


def test_first_and_last_are_the_oldest_and_the_newest() -> None:
    selection = queue_of(4).screen.selection
    selection.far(+1)
    assert selection.card is not None
    assert selection.card.number == 4
    selection.far(-1)
    assert selection.card is not None
    assert selection.card.number == 1


def test_from_an_ended_card_each_way_leads_to_its_neighbour() -> None:
    for step, reached in ((+1, 3), (-1, 1)):
        sitting = queue_of(3)
        sitting.press("down")
        sitting.leave(2)
        sitting.screen.selection.step(step)
        assert sitting.card.number == reached


def test_from_an_ended_card_at_an_end_every_way_leads_to_one_that_waits() -> None:
    for step in (+1, -1):
        sitting = queue_of(2)
        sitting.press("down")
        sitting.leave(2)
        sitting.screen.selection.step(step)
        assert sitting.card.number == 1


def test_leaving_the_last_ended_card_selects_nothing_and_the_next_arrival_is_first() -> None:
    sitting = queue_of(1)
    sitting.leave(1)
    sitting.press("down")
    assert sitting.screen.card is None
    sitting.ask()
    assert sitting.card.number == 2


def test_an_ended_card_keeps_its_place_in_the_queue() -> None:
    sitting = queue_of(5)
    sitting.press("down", "down")
    sitting.leave(3)
    assert numbers(sitting.screen.selection, 10) == [1, 2, 3, 4, 5]
    assert numbers(sitting.screen.selection, 3) == [1, 2, 3]
    sitting.leave(1)
    assert numbers(sitting.screen.selection, 10) == [2, 3, 4, 5]


@given(
    count=st.integers(0, 12),
    height=st.integers(1, 6),
    moves=st.lists(st.sampled_from(["up", "down", "g", "G", "end"]), max_size=12),
)
def test_the_window_always_holds_the_selected_card_and_is_a_run_of_the_queue(
    count: int, height: int, moves: list[str]
) -> None:
    sitting = queue_of(count)
    for move in moves:
        if move == "end" and sitting.screen.card and not sitting.screen.selection.ended:
            sitting.leave(sitting.card.number)
        else:
            sitting.press(move)
        selection = sitting.screen.selection
        window = selection.window(height)
        shown = [card.number for card in window.cards]
        waiting = [card.number for card in sitting.desk.waiting()]
        extra = [selection.card.number] if selection.ended and selection.card else []
        whole = sorted(waiting + extra)
        assert whole[window.above : window.above + len(shown)] == shown
        assert window.above + len(shown) + window.below == len(whole)
        assert len(shown) == min(height, len(whole))
        assert selection.card is None or selection.card.number in shown


def test_the_desk_is_asked_for_its_cards_once_between_news() -> None:
    sitting = queue_of(3)
    sitting.draw()
    selection = sitting.screen.selection
    before = selection.queue.cards()
    assert selection.queue.cards() is before
    sitting.ask(session_id="more")
    after = selection.queue.cards()
    assert len(after) == 4
    assert selection.queue.cards() is after


def test_cards_put_aside_stand_behind_the_others_in_their_order() -> None:
    sitting = queue_of(5)
    for number in (4, 1):
        sitting.desk.snooze(number, 60)
    assert numbers(sitting.screen.selection, 10) == [2, 3, 5, 1, 4]
    assert sitting.card.number == 1
    sitting.desk.pass_time(61)
    assert numbers(sitting.screen.selection, 10) == [1, 2, 3, 4, 5]


def test_passing_over_goes_to_the_next_that_is_not_aside_or_else_back() -> None:
    sitting = queue_of(3)
    selection = sitting.screen.selection
    for aside, reached in ((1, 2), (2, 3), (3, 3)):
        sitting.desk.snooze(aside, 60)
        selection.pass_over()
        assert sitting.card.number == reached


def test_passing_over_the_last_goes_to_the_one_before() -> None:
    sitting = queue_of(2)
    sitting.press("down")
    sitting.desk.snooze(2, 60)
    sitting.screen.selection.pass_over()
    assert sitting.card.number == 1
