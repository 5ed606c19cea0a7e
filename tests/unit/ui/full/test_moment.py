"""The conditions of keys, each in the moments it is made for."""

from __future__ import annotations

from crabhook.model.choices import Beside
from crabhook.model.decision import Verdict
from crabhook.ui.full import moment as m
from crabhook.ui.full.moment import Mode, Moment
from tests.support.moments import MOMENTS


def test_a_place_is_met_there_and_nowhere_else() -> None:
    when = m.at(Mode.TEXT, Mode.HELP)
    assert {moment.mode for moment in MOMENTS if when(moment)} == {Mode.TEXT, Mode.HELP}


def test_deciding_needs_a_card_that_waits_in_view() -> None:
    for moment in MOMENTS:
        if m.deciding(moment):
            assert moment.waits
            assert moment.mode in {Mode.QUEUE, Mode.TEXT, Mode.FORM}


def test_while_cards_are_marked_no_single_one_is_decided() -> None:
    for moment in MOMENTS:
        assert not (m.deciding(moment) and m.with_marks(moment))
        assert not (m.deciding(moment) and moment.marked)


def test_a_verdict_needs_an_event_that_takes_it() -> None:
    for verdict in Verdict:
        for moment in filter(m.can(verdict), MOMENTS):
            assert m.deciding(moment)
            assert verdict in moment.choices.verdicts
    for moment in filter(m.can(Verdict.DENY, Beside.INTERRUPT), MOMENTS):
        assert Beside.INTERRUPT in moment.choices.beside
    for moment in filter(m.can_carry(Beside.HALT), MOMENTS):
        assert Beside.HALT in moment.choices.beside


def test_a_suggestion_is_taken_where_an_allow_can_carry_it() -> None:
    for moment in filter(m.suggesting, MOMENTS):
        assert moment.suggests
        assert not moment.form
        assert Beside.PERMISSIONS in moment.choices.beside


def test_one_is_either_here_or_away() -> None:
    for moment in MOMENTS:
        assert not (m.here(moment) and m.away(moment))


def test_conditions_join_and_turn_round() -> None:
    when = m.both(m.at(Mode.QUEUE), m.no(m.with_a_card))
    assert when(Moment(Mode.QUEUE))
    assert not when(Moment(Mode.QUEUE, card=True))
    assert not when(Moment(Mode.TEXT))


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
