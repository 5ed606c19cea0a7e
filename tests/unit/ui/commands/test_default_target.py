import pytest

from crabhook.ui.commands.parse import JUST_NOW, DefaultTarget
from crabhook.ui.commands.words import WORDS, LineError
from tests.support.desk import PlayedDesk
from tests.support.plain_sitting import bash

ALLOW, SHOW = WORDS["allow"], WORDS["show"]


def desk_with(*commands: str) -> tuple[PlayedDesk, DefaultTarget, list[str]]:
    desk = PlayedDesk()
    hooks = [desk.ask(bash(command)) for command in commands]
    return desk, DefaultTarget(desk.replica), hooks


def look(oldest: DefaultTarget, desk: PlayedDesk, number: int, *, ours: bool) -> None:
    card = desk.card(number)
    assert card is not None
    oldest.look(card, ours=ours)


def test_the_oldest_that_waits_is_meant() -> None:
    _, oldest, _ = desk_with("a", "b")
    assert oldest.meant(ALLOW).number == 1


def test_where_nothing_waits_none_is_meant() -> None:
    _, oldest, _ = desk_with()
    with pytest.raises(LineError, match="nothing waits"):
        oldest.meant(ALLOW)


def test_what_is_put_aside_is_not_meant() -> None:
    desk, oldest, _ = desk_with("a", "b")
    desk.snooze(1, 60)
    look(oldest, desk, 1, ours=True)
    assert oldest.meant(ALLOW).number == 2
    desk.snooze(2, 60)
    with pytest.raises(LineError, match="all that waits is put aside"):
        oldest.meant(ALLOW)


def test_a_change_that_was_not_ours_stands_in_the_way_for_a_moment() -> None:
    desk, oldest, hooks = desk_with("a", "b")
    desk.leave(hooks[0])
    look(oldest, desk, 1, ours=False)
    with pytest.raises(LineError, match="#1 has just ended, and #2 is the oldest now"):
        oldest.meant(ALLOW)
    assert oldest.meant(SHOW).number == 2
    desk.pass_time(JUST_NOW)
    assert oldest.meant(ALLOW).number == 2


def test_a_change_of_ours_stands_in_no_ones_way() -> None:
    desk, oldest, hooks = desk_with("a", "b")
    desk.leave(hooks[0])
    look(oldest, desk, 1, ours=True)
    assert oldest.meant(ALLOW).number == 2


def test_a_card_that_comes_after_the_last_has_ended_is_not_the_one_that_was_meant() -> None:
    desk, oldest, hooks = desk_with("a")
    desk.leave(hooks[0])
    look(oldest, desk, 1, ours=False)
    desk.ask(bash("rm -rf /"))
    look(oldest, desk, 2, ours=False)
    with pytest.raises(LineError, match="#1 has just ended, and #2 is the oldest now"):
        oldest.meant(ALLOW)


def test_the_first_card_of_all_is_meant_at_once() -> None:
    desk, oldest, _ = desk_with()
    desk.ask(bash("a"))
    look(oldest, desk, 1, ours=False)
    assert oldest.meant(ALLOW).number == 1


def test_what_becomes_of_a_younger_card_stands_in_no_ones_way() -> None:
    desk, oldest, hooks = desk_with("a", "b")
    desk.leave(hooks[1])
    look(oldest, desk, 2, ours=False)
    desk.ask(bash("c"))
    look(oldest, desk, 3, ours=False)
    assert oldest.meant(ALLOW).number == 1


def test_an_older_card_that_comes_back_stands_in_the_way() -> None:
    desk, oldest, _ = desk_with("a", "b")
    desk.snooze(1, 60)
    look(oldest, desk, 1, ours=True)
    desk.pass_time(60)
    look(oldest, desk, 1, ours=False)
    with pytest.raises(LineError, match="#1 has just come back, and is the oldest now"):
        oldest.meant(ALLOW)
