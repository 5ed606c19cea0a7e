"""Calls a person: the bell, a notification, the operator's own program, the count in the title.

The law of this file: an agent's text appears in these only short and made safe; a program gets
numbers and the kind of a card, but no text.
"""

import asyncio
import os
from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress

from prompt_toolkit.output import Output

from crabhook.model.card import Card
from crabhook.model.errors import CrabhookError
from crabhook.present.safe import safe
from crabhook.present.summary import asked_label, place
from crabhook.ui.full.screen import Screen
from crabhook.ui.options import Attention, kind_of

_LONGEST = 80  # letters of a notification
_END = "\x1b\\"

SEQUENCES = {  # what begins each
    "osc9": "\x1b]9;",
    "osc777": "\x1b]777;notify;crabhook;",
    "osc99": "\x1b]99;i=crabhook;",
}


def notification(cards: Sequence[Card], sequence: str, *, in_tmux: bool = False) -> str:
    """Return the escape sequence that shows a notification about these cards on the desktop."""
    first = cards[0]
    summary = f"crabhook: #{first.number} {asked_label(first.event)} {place(first.event)}"
    harmless = safe(summary)[:_LONGEST].replace(";", ",")  # which cannot end or divide a sequence
    more = f" and {len(cards) - 1} more" if len(cards) > 1 else ""
    sent = f"{SEQUENCES[sequence]}{harmless}{more}{_END}"
    if in_tmux:  # tmux passes on what is between these, with escapes doubled
        sent = f"\x1bPtmux;{sent.replace(chr(0x1B), chr(0x1B) * 2)}{_END}"
    return sent


LONGEST_COPY = 54_000  # bytes; terminals refuse much longer sequences


def clipboard(text: str) -> str:
    """Return the escape sequence that puts exactly this text into the terminal's clipboard.

    The text travels as base64. Raises CrabhookError for a text that no clipboard takes.
    """
    try:
        encoded = text.encode()
    except UnicodeEncodeError:
        raise CrabhookError("not copied: it has letters that no clipboard can hold") from None
    if len(encoded) > LONGEST_COPY:
        raise CrabhookError(f"not copied: it is longer than {LONGEST_COPY} bytes")
    return f"\x1b]52;c;{b64encode(encoded).decode('ascii')}\x07"


def title(waiting: int) -> str:
    """Return the terminal's title."""
    return f"crabhook ({waiting})" if waiting else "crabhook"


def called_by(attention: Attention, cards: Sequence[Card]) -> Mapping[str, Sequence[Card]]:
    """Return which of the cards call in which way: bell, notify, command."""
    ways = {"bell": attention.bell, "notify": attention.notify, "command": attention.command}
    return {
        name: [card for card in cards if kind_of(card) in kinds] for name, kinds in ways.items()
    }


def told_to_program(cards: Sequence[Card]) -> Mapping[str, str]:
    """Return the environment variables for the operator's program: why it runs."""
    newest = cards[-1]
    return {
        "CRABHOOK_CARD": str(newest.number),
        "CRABHOOK_KIND": kind_of(newest).value,
        "CRABHOOK_CARDS": str(len(cards)),
    }


def write(output: Output, sequence: str) -> None:
    """Send the terminal an escape sequence at once."""
    output.write_raw(sequence)
    output.flush()


PROGRAMS_AT_ONCE = 4
PROGRAM_MAY_RUN = 60.0  # seconds
_KEEP_TITLE, _OLD_TITLE = "\x1b[22;2t", "\x1b[23;2t"


class Notifier:
    """Calls the operator through the terminal, and starts the operator's own program."""

    def __init__(self, screen: Screen, output: Output) -> None:
        self._screen = screen
        self._output = output
        self._attention = screen.options.attention
        self._title: str | None = None
        self._programs: set[asyncio.Task[None]] = set()

    def call(self) -> None:
        """Send the calls that are due, and keep the title true."""
        called = called_by(self._attention, self._screen.watch.call(self._screen.desk.now()))
        if called["bell"]:
            self._output.bell()
        if shown := called["notify"]:
            in_tmux = "TMUX" in os.environ
            sent = notification(shown, self._attention.sequence, in_tmux=in_tmux)
            write(self._output, sent)
        news, programs = called["command"], self._programs
        if news and self._attention.program and len(programs) < PROGRAMS_AT_ONCE:
            task = asyncio.ensure_future(self._run({**os.environ, **told_to_program(news)}))
            programs.add(task)
            task.add_done_callback(programs.discard)
        if self._attention.title:
            self._set_title()

    async def close(self) -> None:
        """Give the terminal its title back, and end what still runs."""
        if self._title is not None:
            with suppress(OSError):  # the terminal itself may be gone
                self._output.clear_title()
                write(self._output, _OLD_TITLE)
        for task in self._programs:
            task.cancel()
        await asyncio.gather(*self._programs, return_exceptions=True)

    def _set_title(self) -> None:
        now = title(self._screen.watch.counted(self._screen.queue.kinds))
        if self._title is None:
            write(self._output, _KEEP_TITLE)
        if now != self._title:
            self._title = now
            self._output.set_title(now)
            self._output.flush()

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
