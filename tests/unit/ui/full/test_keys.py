"""The table of keys: no two rows at once, every row at some time, all of it told."""

from __future__ import annotations

from collections import Counter

from prompt_toolkit.key_binding import KeyBindings

from crabhook.desk.acts import Guard
from crabhook.ui.full.effects import Quit
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.ui.full.keyrow import terminal_keys
from crabhook.ui.full.keys import KEYS, TABLE, key_for
from crabhook.ui.full.panes.foot import line_keys
from crabhook.ui.full.text_input import LINE_KEYS, TEXT_KEYS
from tests.support.key_contexts import CONTEXTS
from tests.support.sitting import Sitting


def test_at_most_one_row_applies_to_a_key() -> None:
    for context in CONTEXTS:
        used = Counter(name for key in KEYS if key.when(context) for name in key.keys)
        assert not [name for name, count in used.items() if count > 1], context


def test_every_row_applies_at_some_moment() -> None:
    assert all(any(key.when(context) for context in CONTEXTS) for key in KEYS)


def test_no_row_is_without_keys_or_names_one_twice() -> None:
    assert all(key.keys and len(set(key.keys)) == len(key.keys) for key in KEYS)


PAGES = {Mode.BOX, Mode.MENU, Mode.CONFIRM}  # whose keys are refused when their card has ended


def test_no_key_decides_a_card_that_does_not_wait() -> None:
    ended = [context for context in CONTEXTS if not context.waits and context.mode not in PAGES]
    assert not [key for key in KEYS if key.guard is not Guard.FREE and any(map(key.when, ended))]


def test_letters_only_type_while_typing() -> None:
    modes = (Mode.BOX, Mode.EDIT, Mode.SEARCH, Mode.PALETTE)
    typing = [context for context in CONTEXTS if context.mode in modes and not context.offers]
    letters = {name for key in KEYS for name in key.keys if len(name) == 1}
    assert not [name for name in letters for context in typing if key_for(name, context)]


def test_only_digits_are_more_than_letters_where_lines_are_offered() -> None:
    letters = [name for key in KEYS for name in key.keys if len(name) == 1]
    offered = KeyContext(Mode.BOX, card=True, waits=True, offers=True)
    assert sorted({name for name in letters if key_for(name, offered)}) == list("123456789")


def test_editing_keys_mean_nothing_else_while_typing() -> None:
    typing = KeyContext(Mode.BOX, card=True, waits=True)
    assert not [name for name in LINE_KEYS if key_for(name, typing)]
    editing = KeyContext(Mode.EDIT, card=True, waits=True)
    assert not [name for name in TEXT_KEYS if key_for(name, editing)]


def test_the_way_out_is_there_at_every_moment() -> None:
    screen = Sitting().screen
    for context in CONTEXTS:
        found = key_for("c-c", context)
        assert found is not None
        assert found.do(screen, "c-c") == (Quit(),)


def test_the_help_line_has_only_keys_that_do_something_now() -> None:
    for context in CONTEXTS:
        for key in line_keys(context):
            assert all(key_for(name, context) is key for name in key.keys)


def test_every_row_tells_what_it_does() -> None:
    for key in KEYS:
        assert key.does
        assert key.shown


def test_the_groups_hold_every_row_once() -> None:
    assert [key for group in TABLE for key in group.keys] == list(KEYS)


def test_every_key_has_a_name_the_terminal_layer_knows() -> None:
    bindings = KeyBindings()
    named = {name for key in KEYS for name in key.keys}
    for name in named | LINE_KEYS | TEXT_KEYS:
        bindings.add(*terminal_keys(name))(lambda _event: None)
