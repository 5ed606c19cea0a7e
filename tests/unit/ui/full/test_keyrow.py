"""A row of the table: how its keys are called by people and by the terminal."""

from __future__ import annotations

import pytest

from crabhook.desk.acts import Guard
from crabhook.ui.full.effects import Go, Quit
from crabhook.ui.full.filters import Mode, always
from crabhook.ui.full.keyrow import does, group, terminal_keys

QUIT = does(Quit())


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
    (row,) = group("t", always, (keys, "n", "d", Guard.FREE, does(Go(Mode.HELP)))).keys
    assert row.shown == shown
    assert row.keys == tuple(keys.split())


def test_a_chord_is_several_presses_and_a_sign_is_itself() -> None:
    assert terminal_keys("c-x_c-e") == ("c-x", "c-e")
    assert terminal_keys("space") == (" ",)
    assert terminal_keys("+") == ("+",)
    assert terminal_keys("c-_") == ("c-_",)
