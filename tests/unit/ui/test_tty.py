"""A way to a terminal of one's own, on which writing never blocks."""

import os
import pty

from crabhook.ui.terminal import reopened


def test_a_terminal_that_nobody_reads_takes_what_it_can_and_keeps_nobody() -> None:
    master, slave = pty.openpty()
    way = reopened(slave)
    assert way is not None
    try:
        written = 0
        try:
            while True:
                written += os.write(way, b"x" * 4096)
        except BlockingIOError:
            pass
        assert written > 0
        assert os.get_blocking(slave)
    finally:
        for descriptor in (way, master, slave):
            os.close(descriptor)


def test_what_is_no_terminal_is_left_as_it_is() -> None:
    reading, writing = os.pipe()
    assert reopened(writing) is None
    os.close(reading)
    os.close(writing)
