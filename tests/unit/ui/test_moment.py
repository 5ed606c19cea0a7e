"""The conditions of keys, each in the moments it is made for."""

from __future__ import annotations

from crabhook.ui import moment as m
from crabhook.ui.moment import Mode, Moment
from tests.support.moments import MOMENTS


def test_a_place_is_met_there_and_nowhere_else() -> None:
    when = m.at(Mode.TEXT, Mode.HELP)
    assert {moment.mode for moment in MOMENTS if when(moment)} == {Mode.TEXT, Mode.HELP}


def test_deciding_needs_a_card_that_waits_in_view() -> None:
    for moment in MOMENTS:
        if m.deciding(moment):
            assert moment.waits
            assert moment.mode in {Mode.QUEUE, Mode.TEXT, Mode.FORM}


def test_a_call_is_decided_where_no_form_is() -> None:
    assert not any(m.deciding_a_call(moment) and moment.form for moment in MOMENTS)


def test_answering_needs_a_form_that_waits() -> None:
    for moment in MOMENTS:
        if m.answering(moment) or m.in_the_form(moment) or m.reviewing(moment):
            assert moment.waits
        if m.answering(moment):
            assert moment.form


def test_taking_back_needs_something_held_in_view() -> None:
    for moment in MOMENTS:
        if m.taking_back(moment):
            assert moment.held
            assert moment.mode not in {Mode.BOX, Mode.HELP}


def test_a_card_is_entered_from_the_queue() -> None:
    assert m.with_a_card(Moment(Mode.QUEUE, card=True))
    assert not m.with_a_card(Moment(Mode.QUEUE))
    assert all(map(m.always, MOMENTS))
