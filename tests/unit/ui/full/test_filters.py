"""The conditions of keys, each in the moments it is made for."""

from __future__ import annotations

from dataclasses import replace

from crabhook.desk.acts import KEYS
from crabhook.model.actor import Role
from crabhook.ui.full import filters as m
from crabhook.ui.full.filters import KeyContext, Mode
from tests.support.key_contexts import CONTEXTS


def test_a_place_is_met_there_and_nowhere_else() -> None:
    when = m.at(Mode.TEXT, Mode.HELP)
    assert {context.mode for context in CONTEXTS if when(context)} == {Mode.TEXT, Mode.HELP}


def test_deciding_needs_a_card_that_waits_in_view() -> None:
    for context in CONTEXTS:
        if m.deciding(context):
            assert context.waits
            assert context.mode in {Mode.QUEUE, Mode.TEXT, Mode.FORM}


def test_while_cards_are_marked_no_single_one_is_decided() -> None:
    for context in CONTEXTS:
        assert not (m.deciding(context) and m.with_marks(context))
        assert not (m.deciding(context) and context.marked)


def test_a_key_of_an_act_needs_a_card_that_takes_it() -> None:
    for key in KEYS:
        for context in filter(m.possible(key), CONTEXTS):
            assert m.deciding(context)
            assert key.act.gives is None or key.act.gives in context.asked.choices.verdicts
            assert key.fit.beside in context.asked.choices.beside
            assert context.asked.suggests or not key.act.suggests


def test_a_key_of_an_admins_act_is_no_deciders() -> None:
    for key in KEYS:
        for context in filter(m.possible(key), CONTEXTS):
            of_a_decider = m.possible(key)(replace(context, role="decider"))
            assert of_a_decider is (key.act.role is not Role.ADMIN)


def test_one_is_either_here_or_away() -> None:
    for context in CONTEXTS:
        assert not (m.here(context) and m.away(context))


def test_conditions_join_and_turn_round() -> None:
    when = m.at(Mode.QUEUE) & ~m.with_a_card
    assert when(KeyContext(Mode.QUEUE))
    assert not when(KeyContext(Mode.QUEUE, card=True))
    assert not when(KeyContext(Mode.TEXT))


def test_answering_needs_a_form_that_waits() -> None:
    for context in CONTEXTS:
        if m.answering(context) or m.in_the_form(context) or m.reviewing(context):
            assert context.waits
        if m.answering(context):
            assert context.form


def test_taking_back_needs_something_held_in_view() -> None:
    for context in CONTEXTS:
        if m.taking_back(context):
            assert context.held
            assert context.mode not in {Mode.BOX, Mode.HELP}


def test_a_card_is_entered_from_the_queue() -> None:
    assert m.with_a_card(KeyContext(Mode.QUEUE, card=True))
    assert not m.with_a_card(KeyContext(Mode.QUEUE))
    assert all(map(m.always, CONTEXTS))
