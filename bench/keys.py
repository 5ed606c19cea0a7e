"""From the operator's key to the reply on the hook's standard output.

A real `crabhook serve` on the full screen in a pseudo-terminal, its arming and its take-back set to
nothing, the record on; a real hook, installed as `crabhook install` does. The clock runs from the
key's writing to the reply's first byte on the hook's standard output, and on to the hook's end.
"""

import os
import random
import re
import select
import subprocess
import termios
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic, perf_counter, sleep

from bench.figures import Measured, ms, ms_quartiles, percentile, spread, table
from bench.home import (
    Home,
    decision_in,
    end,
    gate_installation,
    installed_command,
    new_home,
    serve_command,
)
from bench.inputs import DECIDED_EVENT, new_call, sized
from bench.process import BenchError, child, connections_that_fit
from crabhook.install.program import compile_hook

KEYS = sized(100, 2)  # of each desk
OTHERS = sized((0, 100, 5_000), (0, 20))
GOALS = ()

_SERVE = ("--arming-ms", "0", "--take-back-ms", "0")
_TITLE = re.compile(rb"\x1b\]2;crabhook(?: \((\d+)\))?\x07")  # no number: none waits
_LONGEST_TITLE = 64  # bytes
_ROWS, _COLUMNS = 40, 200
_QUIET = 0.06  # seconds without a word, after which a desk has drawn all there is
_LOOK_EVERY = 0.002
_PATIENCE = 300.0  # seconds
_REFUSED = 5.0  # seconds without a reply, after which a key was refused
_TRIES = 3


class Terminal:
    """An operator's terminal: keys are written into it, and its title says how many cards wait.

    A thread reads what the desk draws, from the first picture to the desk's end.
    """

    def __init__(self, master: int) -> None:
        self.waiting = -1  # before the desk has drawn
        self._drawn_at = monotonic()
        self._master = master
        threading.Thread(target=self._read, daemon=True).start()

    def __repr__(self) -> str:
        return f"<Terminal {self.waiting} waiting, drawn at {self._drawn_at}>"

    def press(self, keys: bytes) -> None:
        """Write keys, as a keyboard does."""
        os.write(self._master, keys)

    def until_waiting(self, cards: int) -> None:
        """Return once so many cards wait; raises BenchError where they never do."""
        self._until(lambda: self.waiting == cards, f"{cards} cards wait")

    def until_quiet(self) -> None:
        """Return once the desk has nothing more to draw for the moment."""
        self._until(lambda: monotonic() - self._drawn_at > _QUIET, "nothing more is drawn")

    def _until(self, due: Callable[[], bool], words: str) -> None:
        by = monotonic() + _PATIENCE
        while not due():
            if monotonic() > by:
                raise BenchError(f"it never came that {words}: {self!r}")
            sleep(_LOOK_EVERY)

    def _read(self) -> None:
        rest = b""
        with suppress(OSError):  # the desk has ended
            while drawn := os.read(self._master, 1 << 16):
                self._drawn_at = monotonic()
                rest += drawn
                for title in _TITLE.finditer(rest):
                    self.waiting = int(title[1] or 0)
                rest = rest[-_LONGEST_TITLE:]  # the next title may begin in it


@dataclass(slots=True)
class Desk:
    """A desk with so many other cards; seconds from each key to the reply, and the hook's end."""

    others: int
    home: Home
    terminal: Terminal
    reply: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)


def measure() -> Measured:
    """Press so many keys at every desk, at desk after desk in an order drawn anew."""
    compile_hook()  # as the installer does
    command = installed_command("PreToolUse", gate_installation())
    with ExitStack() as stack:
        desks = [stack.enter_context(_desk(others)) for others in map(connections_that_fit, OTHERS)]
        for _ in range(KEYS + 1):
            for desk in random.sample(desks, len(desks)):
                _decide(desk, command)
        for desk in desks:
            del desk.reply[0], desk.ended[0]  # caches were cold
            desk.home.check_record(100 * KEYS)
    header = ("others waiting", "reply read, median ms", "quartiles", "p90")
    rows = [_row(desk) for desk in desks]
    return Measured(table((*header, "hook ended, median ms", "p90"), rows))


def _row(desk: Desk) -> tuple[str, ...]:
    reply = spread(desk.reply)
    return (
        str(desk.others),
        ms(reply.median),
        ms_quartiles(reply),
        ms(percentile(desk.reply, 90)),
        ms(percentile(desk.ended, 50)),
        ms(percentile(desk.ended, 90)),
    )


@contextmanager
def _desk(others: int) -> Iterator[Desk]:
    """Open a desk and have the others wait at it."""
    with ExitStack() as stack:
        home = stack.enter_context(new_home())
        terminal = stack.enter_context(_in_a_terminal(home))
        terminal.until_waiting(0)
        if others:
            crowd = stack.enter_context(child("bench.asking", home.path, str(others)))
            terminal.until_waiting(others)
            crowd.line("waiting")
        terminal.until_quiet()
        yield Desk(others, home, terminal)


@contextmanager
def _in_a_terminal(home: Home) -> Iterator[Terminal]:
    """Run the operator's desk in a terminal of its own while the context lasts."""
    master, slave = os.openpty()
    termios.tcsetwinsize(slave, (_ROWS, _COLUMNS))
    with subprocess.Popen(  # noqa: S603 - our own command
        serve_command(*_SERVE),
        env=home.environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,  # else our own terminal's keys reach it too
    ) as server:
        os.close(slave)
        try:
            yield Terminal(master)
        finally:
            os.close(master)  # as a terminal does that is closed, so that nothing waits for it
            end(server)


def _decide(desk: Desk, command: Sequence[str]) -> None:
    """Let a hook ask, go to its card, press the key that allows it, and watch the hook."""
    terminal = desk.terminal
    with subprocess.Popen(  # noqa: S603 - the installed command
        command,
        env=desk.home.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as hook:
        try:
            assert hook.stdin is not None  # noqa: S101 - a pipe, a few lines above
            hook.stdin.write(new_call(DECIDED_EVENT))
            hook.stdin.close()
            terminal.until_waiting(desk.others + 1)
            terminal.until_quiet()
            terminal.press(b"G")
            sleep(_QUIET)  # for the picture that follows; there is none where the card is chosen
            terminal.until_quiet()
            reply, ended = _allow(terminal, hook)
            terminal.until_waiting(desk.others)
        finally:
            hook.kill()
    desk.reply.append(reply)
    desk.ended.append(ended)


def _allow(terminal: Terminal, hook: subprocess.Popen[bytes]) -> tuple[float, float]:
    """Press the key that allows; return the seconds to the reply, and to the hook's end."""
    assert hook.stdout is not None  # noqa: S101 - it is a pipe, see above
    for _ in range(_TRIES):
        started = perf_counter()
        terminal.press(b"a")
        if select.select([hook.stdout], [], [], _REFUSED)[0]:
            break
        # Before its card is drawn a key is refused, as a person's is: it is pressed once more.
        terminal.until_quiet()
    else:
        raise BenchError(f"a key brought no reply: {terminal!r}")
    reply = perf_counter() - started
    stdout = hook.stdout.read()
    hook.wait(_PATIENCE)
    ended = perf_counter() - started
    if hook.returncode or decision_in(stdout) != "allow":
        raise BenchError(f"a hook ended with {hook.returncode}, having printed {stdout!r}")
    return reply, ended
