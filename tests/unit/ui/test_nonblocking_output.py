"""The terminal that never keeps its writer waiting: what it does not take now it takes later."""

from __future__ import annotations

import asyncio
import os
import pty
import tty
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO, cast

import pytest

from crabhook.ui.terminal import NonBlockingOutput

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def terminal() -> Iterator[tuple[int, TextIO]]:
    """A terminal: what reads it, and a standard output on it."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    with os.fdopen(slave, "w") as standard:
        yield master, standard
    os.close(master)


async def test_what_a_terminal_takes_at_once_is_on_it_and_nobody_waits() -> None:
    with terminal() as (master, standard):
        stream = NonBlockingOutput.over(standard)
        assert stream is not None
        done: list[str] = []
        assert stream.write(b"hello") == 5
        assert not stream.busy
        stream.then(lambda: done.append("drawn"))
        assert done == ["drawn"]
        assert os.read(master, 100) == b"hello"
        await stream.close()


async def test_what_it_does_not_take_comes_later_whole_and_in_order() -> None:
    with terminal() as (master, standard):
        stream = NonBlockingOutput.over(standard)
        assert stream is not None
        sent = bytes(range(256)) * 1000
        done: list[str] = []
        stream.write(sent)
        stream.write(b"end")
        assert stream.busy
        stream.then(lambda: done.append("drawn"))
        assert not done
        taken = b""
        os.set_blocking(master, False)
        while len(taken) < len(sent) + 3:
            with suppress(BlockingIOError):
                taken += os.read(master, 1 << 16)
            await asyncio.sleep(0.001)
        assert taken == sent + b"end"
        await asyncio.sleep(0.01)
        assert done == ["drawn"]
        assert not stream.busy
        await stream.close()


async def test_a_terminal_that_takes_no_more_is_left_in_the_end() -> None:
    with terminal() as (_, standard):
        stream = NonBlockingOutput.over(standard)
        assert stream is not None
        stream.write(b"x" * 1_000_000)
        async with asyncio.timeout(60):
            await stream.close()


async def test_a_terminal_that_is_gone_says_so_and_keeps_nothing() -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as standard:
        stream = NonBlockingOutput.over(standard)
        assert stream is not None
        os.close(master)
        with pytest.raises(OSError, match="put"):
            stream.write(b"hello")
        assert not stream.busy
        await stream.close()


def test_there_is_no_glass_over_what_is_no_terminal() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as standard:
        assert NonBlockingOutput.over(cast("TextIO", standard)) is None
    os.close(reading)
