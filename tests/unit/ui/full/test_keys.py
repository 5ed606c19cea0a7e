"""The keys of dialogs: no two rows at once, every row at some time, all of it listed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.key_binding import KeyBindings

from crabhook.desk.acts import KEYS as KEYS_OF_ACTS
from crabhook.desk.acts import Guard
from crabhook.model.actor import Role
from crabhook.ui.full import dialog as keys_of
from crabhook.ui.full.dialog import Dialog, terminal_keys
from crabhook.ui.full.dialogs.card import QueueView, TextPage
from crabhook.ui.full.dialogs.decide import DECIDING, ITS_TIME
from crabhook.ui.full.dialogs.edit import EditPage
from crabhook.ui.full.dialogs.page import ScreenPage
from crabhook.ui.full.dialogs.prompts import InputLine, Menu, YesPage
from crabhook.ui.full.effects import Quit
from crabhook.ui.full.keys import DIALOGS, KEYS, LISTED
from crabhook.ui.full.text_input import LINE_KEYS, TEXT_KEYS
from tests.support.moments import moments

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.sitting import Sitting


def test_at_most_one_row_applies_to_a_key() -> None:
    for _, dialog in moments():
        used = Counter(name for row in dialog.rows() for name in row.keys)
        assert not [name for name, count in used.items() if count > 1], dialog


def test_every_row_applies_at_some_moment() -> None:
    applied = {id(row) for _, dialog in moments() for row in dialog.rows()}
    assert not [row.does for row in KEYS if id(row) not in applied]


def test_a_key_does_what_its_row_says() -> None:
    for _, dialog in moments():
        for row in dialog.rows():
            assert all(dialog.row(name) is row for name in row.keys), row.does


def test_no_row_is_without_keys_or_names_one_twice() -> None:
    assert all(key.keys and len(set(key.keys)) == len(key.keys) for key in KEYS)


ASKING = (InputLine, Menu, YesPage)  # whose keys are refused when their card has ended


def test_no_key_decides_a_card_that_does_not_wait() -> None:
    for sitting, dialog in moments():
        if not sitting.screen.waits and not isinstance(dialog, ASKING):
            assert not [row.does for row in dialog.rows() if row.guard is not Guard.FREE]


def test_letters_only_type_while_typing() -> None:
    letters = {name for row in KEYS for name in row.keys if len(name) == 1}
    for _, dialog in moments():
        if dialog.field is not None:
            offered = set("123456789") if isinstance(dialog, InputLine) and dialog.offers else set()
            assert {name for name in letters if dialog.row(name)} == offered


def test_editing_keys_mean_nothing_else_while_typing() -> None:
    for _, dialog in moments():
        if isinstance(dialog, InputLine):
            assert not [name for name in LINE_KEYS if dialog.row(name)]
        if isinstance(dialog, EditPage):
            assert not [name for name in TEXT_KEYS if dialog.row(name)]


def test_the_way_out_is_there_at_every_moment() -> None:
    for _, dialog in moments():
        out = dialog.row("c-c")
        assert out is not None
        assert out.do(dialog, "c-c") == (Quit(),)


def at_a_card() -> Iterator[tuple[Sitting, ScreenPage]]:
    return (
        (sitting, dialog)
        for sitting, dialog in moments()
        if isinstance(dialog, QueueView | TextPage)
    )


def test_while_cards_are_marked_no_single_one_is_decided() -> None:
    for sitting, page in at_a_card():
        if sitting.screen.marks:
            assert not [row for row in DECIDING.now(page) if row.act is not None]
            assert not ITS_TIME.now(page)


def test_a_key_of_an_act_needs_a_card_that_takes_it_and_a_role_that_may() -> None:
    decided = 0
    for sitting, page in at_a_card():
        acts = [row.act_key for row in DECIDING.now(page) if row.act_key is not None]
        for key in acts:
            choices = sitting.card.choices
            assert sitting.screen.waits
            assert key.act.gives is None or key.act.gives in choices.verdicts
            assert key.fit.beside in choices.beside
        as_decider = page.supposing(role="decider")
        assert isinstance(as_decider, ScreenPage)
        of_a_decider = [row.act_key for row in DECIDING.now(as_decider) if row.act_key is not None]
        assert of_a_decider == [key for key in acts if key.act.role is not Role.ADMIN]
        decided += len(acts)
    assert decided > len(KEYS_OF_ACTS)


def test_one_is_either_here_or_away() -> None:
    for _, page in at_a_card():
        (act,) = (row.act for row in page.rows() if "b" in row.keys)
        assert act is not None


def test_taking_back_needs_something_held() -> None:
    for sitting, dialog in moments():
        taking = dialog.row("u")
        assert taking is None or sitting.screen.answers.waiting


def test_every_row_tells_what_it_does() -> None:
    for row in KEYS:
        assert row.does
        assert row.shown


def test_every_row_of_every_dialog_is_listed_under_its_theme() -> None:
    listed = {(key.theme, id(key.row)) for key in LISTED}
    for dialog in DIALOGS:
        for group in dialog.KEYS:
            assert {(group.theme, id(row)) for row in group.rows} <= listed


def dialogs(kind: type[Dialog] = Dialog) -> Iterator[type[Dialog]]:
    for below in kind.__subclasses__():
        if not below.__module__.startswith("tests."):
            yield below
            yield from dialogs(below)


def test_every_dialog_with_keys_is_listed() -> None:
    having = {kind.__name__ for kind in dialogs() if kind.KEYS}
    assert having == {kind.__name__ for kind in DIALOGS}


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ("a", "a"),
        ("c-c", "ctrl-c"),
        ("escape s-tab up", "esc shift-tab ↑"),
        ("c-o c-x_c-e", "ctrl-o ctrl-x ctrl-e"),
        ("1 2 3 4 5 6 7 8 9", "1-9"),
        ("+ =", "+ ="),
    ],
)
def test_keys_are_shown_as_people_call_them(keys: str, shown: str) -> None:
    made = keys_of.row(keys, "n", "d", Guard.FREE, lambda *_: ())
    assert made.shown == shown
    assert made.keys == tuple(keys.split())


def test_a_chord_is_several_presses_and_a_sign_is_itself() -> None:
    assert terminal_keys("c-x_c-e") == ("c-x", "c-e")
    assert terminal_keys("space") == (" ",)
    assert terminal_keys("+") == ("+",)
    assert terminal_keys("c-_") == ("c-_",)


def test_every_key_has_a_name_the_terminal_layer_knows() -> None:
    bindings = KeyBindings()
    named = {name for row in KEYS for name in row.keys}
    for name in named | LINE_KEYS | TEXT_KEYS:
        bindings.add(*terminal_keys(name))(lambda _event: None)
