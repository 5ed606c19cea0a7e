"""Only what has been in view, unchanged, for the delay may be decided."""

from __future__ import annotations

from dataclasses import replace

from crabhook.ui.full.arming import DEAF_AFTER_ESCAPE, Arming, Rhythm, Stroke, sight_of
from tests.support.sitting import Sitting


def test_nothing_is_armed_before_it_was_seen() -> None:
    arming = Arming(0.4)
    assert not arming.armed("card", 100.0)
    assert arming.due is None


def test_what_is_seen_is_armed_after_the_delay_and_not_before() -> None:
    arming = Arming(0.4)
    arming.seen("card", 10.0)
    arming.seen("card", 10.3)
    assert not arming.armed("card", 10.39)
    assert arming.armed("card", 10.4)
    assert not arming.armed("other", 99.0)
    assert not arming.armed(None, 99.0)


def test_another_sight_or_none_begins_anew() -> None:
    for between in ("other", None):
        arming = Arming(0.4)
        arming.seen("card", 10.0)
        arming.seen(between, 10.5)
        arming.seen("card", 10.6)
        assert not arming.armed("card", 10.9)
        assert arming.armed("card", 11.1)


def test_a_sight_is_a_card_and_its_legs() -> None:
    sitting = Sitting()
    sitting.ask()
    card = sitting.card
    grown = replace(card, requests=(*card.requests, replace(card.requests[0], id="more")))
    sights = {sight_of(card), sight_of(grown), sight_of(replace(card, number=7))}
    assert len(sights) == 3
    assert sight_of(card) == sight_of(replace(card))


def strokes(*keys: tuple[str, float]) -> list[Stroke]:
    """Return what each key is, pressed so many seconds after the one before it."""
    rhythm, now, found = Rhythm(), 10.0, list[Stroke]()
    for key, gap in keys:
        now += gap
        found.append(rhythm.stroke(key, now))
    return found


PRESSED, REPEATED, PASTED, SEQUENCE = Stroke


def test_letters_right_behind_an_escape_are_swallowed_and_keys_are_not() -> None:
    later = DEAF_AFTER_ESCAPE + 0.01
    assert strokes(("a", 1), ("escape", 1), ("a", 0.01), ("down", 0), ("b", later)) == [
        PRESSED, PRESSED, SEQUENCE, PRESSED, PRESSED
    ]  # fmt: skip


def test_a_key_that_is_held_is_pressed_once() -> None:
    held = strokes(("a", 1), ("a", 0.5), ("a", 0.03), ("a", 0.03), ("a", 0.01), ("a", 0.6))
    assert held == [PRESSED, PRESSED, REPEATED, REPEATED, REPEATED, PRESSED]


def test_letters_at_once_are_a_paste_until_it_is_quiet() -> None:
    pasted = strokes(("a", 1), ("p", 0.001), ("enter", 0.001), ("y", 0.1), ("a", 0.3))
    assert pasted == [PRESSED, PASTED, PASTED, PASTED, PRESSED]


def test_one_letter_again_and_again_at_once_is_a_paste_too() -> None:
    assert strokes(("a", 1), ("a", 0.001), ("a", 0.001)) == [PRESSED, PASTED, PASTED]
