"""A denial's reason is typed, or one key of those that are seen."""

from __future__ import annotations

import pytest

from crabhook.model.decision import Verdict
from crabhook.ui.commands.decide import NO_REASON
from crabhook.ui.text.width import cells
from tests.support.sitting import Sitting

OWN = ("not in this branch", "ask me first\x1b[2J")


def denied(reasons: tuple[str, ...], *, own: tuple[str, ...] = OWN, **size: int) -> Sitting:
    """Return a desk at which so many calls were denied for these reasons, before another call."""
    sitting = Sitting(reasons=own, **size)
    for reason in reasons:
        sitting.ask(session_id=reason)
        sitting.press("G")
        sitting.wait()
        sitting.press("d")
        sitting.type(reason)
        sitting.press("enter")
        sitting.wait(9)
    sitting.ask(session_id="the last")
    sitting.press("G")
    sitting.wait()
    return sitting


def last_reason(sitting: Sitting) -> str:
    (_, decision) = sitting.decided()[-1]
    assert decision.verdict is Verdict.DENY
    return decision.reason


def test_the_last_reasons_come_first_each_once_then_the_owners() -> None:
    sitting = denied(("one", "two", "three", "two", "four", "five", "six"))
    sitting.press("d")
    assert sitting.line is not None
    offers = list(sitting.line.offers)
    assert offers == ["six", "five", "four", "two", "three", *OWN]
    shown = sitting.text()
    assert all(f" {place} {said[:9]}" in shown for place, said in enumerate(offers, 1))
    assert "\x1b" not in shown


def test_a_digit_denies_for_that_reason() -> None:
    sitting = denied(("keep it",))
    sitting.press("d", "2")
    sitting.wait(9)
    assert last_reason(sitting) == "not in this branch"


def test_a_digit_in_what_is_typed_is_a_letter() -> None:
    sitting = denied(("keep it",))
    sitting.press("d", "space", "1")
    sitting.type("0 files at most")
    sitting.press("enter")
    sitting.wait(9)
    assert last_reason(sitting) == "10 files at most"


def test_enter_alone_denies_without_a_reason() -> None:
    sitting = denied(())
    sitting.press("d")
    assert "enter deny without a reason" in sitting.help_line()
    sitting.press("enter")
    sitting.wait(9)
    assert last_reason(sitting) == NO_REASON


def test_a_digit_pressed_ahead_of_what_can_be_read_denies_nothing() -> None:
    sitting = denied(("keep it",))
    before = len(sitting.decided())
    sitting.ask(session_id="another")
    sitting.press("G", "d", "1")
    sitting.wait(9)
    assert len(sitting.decided()) == before


@pytest.mark.parametrize(("columns", "rows"), [(24, 7), (40, 10), (80, 24), (200, 60)])
def test_a_reason_that_has_no_room_is_not_given(columns: int, rows: int) -> None:
    own = tuple(f"reason {n}" for n in range(1, 10))
    sitting = denied((), own=own, columns=columns, rows=rows)
    sitting.press("d")
    shown = sitting.rows_of_text()
    assert all(cells(row) <= columns for row in shown)
    seen = [n for n in range(1, 10) if any(f" {n} reason {n}" in row for row in shown)]
    assert seen == list(range(1, len(seen) + 1))
    for n in range(len(seen) + 1, 10):
        sitting.press(str(n))
    sitting.wait(9)
    assert not sitting.decided()
    sitting.press(str(len(seen)))
    sitting.wait(9)
    assert last_reason(sitting) == f"reason {len(seen)}"
