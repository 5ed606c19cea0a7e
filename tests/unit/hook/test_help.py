"""A person who starts the hook by hand is helped, and never left hanging."""

import os
import pty

import pytest

from tests.unit.hook.peers import CONSOLE, INSTALLED, start_hook

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("door", "options"),
    [(INSTALLED, ()), (INSTALLED, ("--srever", "x")), (CONSOLE, ("--srever", "x"))],
)
def test_at_a_keyboard_it_says_how_to_go_on(
    door: tuple[str, ...], options: tuple[str, ...]
) -> None:
    keyboard, terminal = pty.openpty()
    with start_hook(*options, door=door, stdin=terminal) as hook:
        os.close(terminal)
        stdout, stderr = hook.communicate(timeout=60)
    os.close(keyboard)
    assert hook.returncode == 0
    for words in (b"open the desk", b"crabhook install claude", b"crabhook --help"):
        assert words in stdout
    assert stderr == (b"crabhook: there is no option '--srever'\n" if options else b"")
