"""How a card stands is told by marks and words, not by colours alone."""

from __future__ import annotations

from dataclasses import replace

from crabhook.broker.states import State
from crabhook.model.decision import Decision, Verdict
from crabhook.ui.answers import Held
from crabhook.ui.full.panes.rows import Standing
from crabhook.ui.text.clock import Clock
from tests.support.sitting import Sitting


def test_the_mark_is_hollow_until_the_card_is_armed() -> None:
    sitting = Sitting()
    sitting.ask()
    card = sitting.card
    ended = replace(card, state=State.EXPIRED)
    marks = [
        Standing(card).mark,
        Standing(card, selected=True).mark,
        Standing(card, selected=True, armed=True).mark,
        Standing(ended, selected=True).mark,
    ]
    assert marks == [" ", "▹", "▸", "▸"]
    assert Standing(card, selected=True).number_style == "unarmed"
    assert Standing(ended, selected=True).number_style == "ended"


def test_a_held_answer_says_what_is_sent_and_how_to_stop_it() -> None:
    sitting = Sitting()
    sitting.ask()
    held = Held(sitting.card, Decision(Verdict.ALLOW), since=10.0, due=11.0)
    standing = Standing(sitting.card, held=held)
    (span,) = standing.sending(Clock(10.5, 0))
    assert span == ("held", "ALLOW ▓▓▓░░░ u takes it back")
    assert Standing(sitting.card).sending(Clock(10.5, 0)) == []


def test_a_marked_card_wears_a_tick_and_one_put_aside_is_dim() -> None:
    sitting = Sitting()
    sitting.ask()
    card = replace(sitting.card, snoozed_until=2000.0)
    assert (Standing(card).tick, Standing(card, marked=True).tick) == (" ", "✓")
    assert Standing(card).aside
    assert Standing(card).style == "dim"
    assert Standing(card, selected=True).style == "selected"
    assert not Standing(replace(card, state=State.EXPIRED)).aside
