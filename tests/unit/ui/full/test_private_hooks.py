"""What the full screen uses of prompt_toolkit that is not public is still there, and is still called.

The dependency is held below the next minor version: one that may change these fails here first.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.key_binding.key_processor import KeyPressEvent

from crabhook.ui.full.text_input import LINE_KEYS, LineInput
from tests.support.rows import every_row

ROOT = Path(__file__).parents[4]
PINNED = re.compile(r'"prompt_toolkit>=3\.0\.\d+,<3\.1"')


def test_the_version_is_held_below_the_next_minor() -> None:
    assert PINNED.search((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_a_picture_is_drawn_by_the_methods_that_the_desk_replaces() -> None:
    assert list(inspect.signature(Application._redraw).parameters) == ["self", "render_as_done"]
    assert list(inspect.signature(Application.invalidate).parameters) == ["self"]
    assert "self._redraw()" in inspect.getsource(Application.invalidate)


def test_the_undone_steps_are_where_the_text_box_bounds_them() -> None:
    buffer = Buffer()
    buffer.insert_text("a")
    buffer.save_to_undo_stack()
    assert buffer._undo_stack == [("a", 1)]


@every_row("key", sorted(LINE_KEYS))
def test_a_command_reads_no_more_of_a_press_than_the_text_box_gives_it(key: str) -> None:
    box = LineInput([], "some words")
    assert box.press(key) or key not in LineInput.commands


def test_what_a_command_is_given_has_the_names_of_a_press() -> None:
    assert {"current_buffer", "app", "arg"} <= set(dir(KeyPressEvent))
    assert "is_repeat" in inspect.signature(KeyPressEvent).parameters
