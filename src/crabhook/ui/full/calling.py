"""Calling a person: the bell, a notification, a program of theirs, the count in the title."""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress

from prompt_toolkit.output import Output

from crabhook.broker.card import Card
from crabhook.ui.full.screen import Screen
from crabhook.ui.full.signals import called_by, notification, title, told_to_program

PROGRAMS_AT_ONCE = 4
PROGRAM_MAY_RUN = 60.0  # seconds
_KEEP_TITLE, _OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class Caller:
    """Sends what is due to the terminal, and starts the operator's own program."""

    def __init__(self, screen: Screen, output: Output) -> None:
        self._screen = screen
        self._output = output
        self._attention = screen.options.attention
        self._title: str | None = None
        self._programs: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<Caller {self._title!r} programs={len(self._programs)}>"

    def call(self) -> None:
        """Call for what is due now, and keep the title true."""
        cards = self._screen.watch.call(self._screen.desk.now())
        if cards:
            called = called_by(self._attention, cards)
            if called["bell"]:
                self._output.bell()
            if called["notify"]:
                self._notify(called["notify"])
            if called["command"] and self._attention.program:
                self._start(called["command"])
        if self._attention.title:
            self._set_title()

    async def close(self) -> None:
        """Give the terminal its title back, and end what still runs."""
        if self._title is not None:
            with suppress(OSError):  # the terminal itself may be what is gone
                self._output.clear_title()
                self._write(_OLD_TITLE)
        for task in self._programs:
            task.cancel()
        await asyncio.gather(*self._programs, return_exceptions=True)

    def _notify(self, cards: Sequence[Card]) -> None:
        in_tmux = "TMUX" in os.environ
        self._write(notification(cards, self._attention.sequence, in_tmux=in_tmux))

    def _set_title(self) -> None:
        said = title(self._screen.watch.counted(self._screen.selection.queue.kinds))
        if self._title is None:
            self._write(_KEEP_TITLE)
        if said != self._title:
            self._title = said
            self._output.set_title(said)
            self._output.flush()

    def _write(self, sequence: str) -> None:
        self._output.write_raw(sequence)
        self._output.flush()

    def _start(self, cards: Sequence[Card]) -> None:
        if len(self._programs) < PROGRAMS_AT_ONCE:
            task = asyncio.ensure_future(self._run({**os.environ, **told_to_program(cards)}))
            self._programs.add(task)
            task.add_done_callback(self._programs.discard)

    async def _run(self, environment: dict[str, str]) -> None:
        """Run the operator's program to its end, apart from our terminal."""
        quiet = asyncio.subprocess.DEVNULL
        try:
            child = await asyncio.create_subprocess_exec(
                *self._attention.program,
                env=environment,
                stdin=quiet,
                stdout=quiet,
                stderr=quiet,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._screen.say(f"the program of [attention] cannot be started: {error}")
            return
        try:
            async with asyncio.timeout(PROGRAM_MAY_RUN):
                await child.wait()
        except TimeoutError:
            self._screen.say("the program of [attention] was ended: it ran for too long")
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
