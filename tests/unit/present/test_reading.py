"""An act that lets something happen waits until every block of its request was shown whole."""

import pytest

from crabhook.present.reading import UNREAD, BlockReading, ReadingLog, left_to_read

READ = BlockReading()


@pytest.mark.parametrize(
    ("readings", "left"),
    [
        ([], 0),
        ([READ, READ], 0),
        ([READ, BlockReading(3), BlockReading(2)], 5),
        ([BlockReading(3, whole=False)], 3),
        ([READ, UNREAD], 1),
    ],
)
def test_the_rows_of_all_blocks_are_left_to_read(readings: list[BlockReading], left: int) -> None:
    assert left_to_read(readings) == left


def test_a_card_of_which_nothing_was_shown_is_unread() -> None:
    assert ReadingLog().left(1, keeps=False) > 0


def test_offers_are_left_to_read_only_for_a_decision_that_keeps_some() -> None:
    log = ReadingLog()
    log.shown(1, [READ], [BlockReading(2)])
    assert log.left(1, keeps=False) == 0
    assert log.left(1, keeps=True) == 2


def test_what_was_read_once_stays_read_when_less_of_it_is_shown_again() -> None:
    log = ReadingLog()
    log.shown(1, [BlockReading(4)], [READ])
    log.shown(1, [READ], [BlockReading(2)])
    log.shown(1, [BlockReading(4)], [BlockReading(2)])
    assert log.left(1, keeps=True) == 0
    assert log.left(2, keeps=False) > 0


def test_offers_that_came_later_are_unread_and_the_request_stays_read() -> None:
    log = ReadingLog()
    log.shown(1, [READ], [], "none")
    assert log.left(1, keeps=True, offered="none") == 0
    assert log.left(1, keeps=True, offered="a rule") > 0
    assert log.left(1, keeps=False, offered="a rule") == 0
    log.shown(1, [BlockReading(3)], [BlockReading(2)], "a rule")
    assert log.left(1, keeps=True, offered="a rule") == 2
    log.shown(1, [READ], [READ], "a rule")
    assert log.left(1, keeps=True, offered="a rule") == 0
