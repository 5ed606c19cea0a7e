"""Only what has been in view, unchanged, for the delay may be decided."""

from __future__ import annotations

from dataclasses import replace

from crabhook.ui.full.controller import DEAF_AFTER_ESCAPE, Escapes
from crabhook.ui.full.screen import Arming, sight_of
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


def test_a_sight_is_a_card_its_legs_and_the_page() -> None:
    sitting = Sitting()
    sitting.ask()
    card = sitting.card
    grown = replace(card, requests=(*card.requests, replace(card.requests[0], id="more")))
    sights = {
        sight_of(card, reviewing=False),
        sight_of(card, reviewing=True),
        sight_of(grown, reviewing=False),
        sight_of(replace(card, number=7), reviewing=False),
    }
    assert len(sights) == 4
    assert sight_of(card, reviewing=False) == sight_of(replace(card), reviewing=False)


def test_letters_right_behind_an_escape_are_swallowed_and_keys_are_not() -> None:
    escapes = Escapes()
    assert not escapes.swallow("a", 10.0)
    assert not escapes.swallow("escape", 10.0)
    assert escapes.swallow("a", 10.01)
    assert not escapes.swallow("down", 10.01)
    assert not escapes.swallow("a", 10.1 + DEAF_AFTER_ESCAPE)
