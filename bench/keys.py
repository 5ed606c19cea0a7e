"""From the operator's key to the reply on the hook's standard output.

A real `crabhook serve` in a pseudo-terminal, its arming and its take-back set
to nothing, the record on; a real hook, installed as `crabhook install` does.
The clock runs from the key's writing to the reply's first byte on the hook's
standard output, and on to the hook's end.
"""

import os
import random
import re
import select
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

from bench.candidate import verdict_in
from bench.candidates import gate_installation, installed_command
from bench.errors import BenchError
from bench.events import DECIDED_EVENT, new_call
from bench.figures import percentile, spread
from bench.found import Found, Wishes
from bench.glass import Glass, desk_elsewhere_on_glass, desk_on_glass
from bench.limits import connections_that_fit
from bench.served import Home, new_home
from bench.serving import child, plain_environment
from bench.sizes import sized
from bench.table import table
from crabhook.install.program import compile_hook

KEYS = sized(100, 2)  # of each desk
HERE, ELSEWHERE = "full screen, a key", "full screen elsewhere, a key"
OTHERS = sized((0, 100, 5_000), (0, 20))
_AT_ONCE = ("--arming-ms", "0", "--take-back-ms", "0")
_TITLE = re.compile(rb"\x1b\]2;crabhook(?: \((\d+)\))?\x07")  # no number: none waits
_HEADER = re.compile(rb"#(\d+) Claude Code |\? lists the words")
_LONGEST = 30.0  # seconds; a hook that has no reply by then gets none


@dataclass(frozen=True, slots=True)
class Pressed:
    """Seconds from a key to the reply's first byte, and to the end of the hook."""

    read: float
    ended: float


@dataclass(slots=True)
class Desk:
    """A desk under measurement, with so many other cards waiting at it."""

    kind: str
    others: int
    home: Home
    glass: Glass
    pressed: list[Pressed] = field(default_factory=list)


def measure(_: Wishes) -> Found:
    """Press so many keys at every desk, one desk after the other in an order drawn anew."""
    compile_hook()  # as the installer does
    command = installed_command("PreToolUse", gate_installation())
    with ExitStack() as stack:
        desks = [
            stack.enter_context(_desk(kind, connections_that_fit(others)))
            for kind in _KINDS
            for others in OTHERS
        ]
        for number in range(KEYS + 1):
            for desk in random.sample(desks, len(desks)):
                pressed = _decide_one(desk, command)
                if number:  # the first finds caches cold
                    desk.pressed.append(pressed)
        for desk in desks:
            desk.home.check_record(100 * KEYS)
        return Found(_text(desks), {"keys": [_values(desk) for desk in desks]})


@contextmanager
def _desk(kind: str, others: int) -> Iterator[Desk]:
    """Open a desk and have the others wait at it."""
    its = _KINDS[kind]
    with ExitStack() as stack:
        home = stack.enter_context(new_home())
        desk = its.opened(home, its.sign, *its.options, *_AT_ONCE)
        glass = stack.enter_context(desk)
        glass.until(lambda glass: glass.signs > 0)
        glass.forget()
        if others:
            arguments = (home.path, str(others))
            crowd = child("bench.holders", *arguments, environment=plain_environment())
            told = stack.enter_context(crowd)
            its.crowded(glass, others)
            told.line("waiting")
        glass.until_quiet()
        yield Desk(kind, others, home, glass)


def _decide_one(desk: Desk, command: Sequence[str]) -> Pressed:
    """Let a hook ask, find its card, press the key that allows it, and watch the hook."""
    glass = desk.glass
    glass.forget()
    with subprocess.Popen(  # noqa: S603 - the installed command
        command,
        env=dict(desk.home.environment),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        bufsize=0,
    ) as hook:
        try:
            assert hook.stdin is not None  # noqa: S101 - a pipe, a few lines above
            hook.stdin.write(new_call(DECIDED_EVENT))
            hook.stdin.close()
            keys = _KINDS[desk.kind].found(glass, desk.others)
            pressed = _press(glass, keys, hook)
            _KINDS[desk.kind].over(glass, desk.others)
            return pressed
        finally:
            hook.kill()


def _press(glass: Glass, keys: bytes, hook: subprocess.Popen[bytes]) -> Pressed:
    """Write the keys and read the hook's output to its end; the desk is listened to meanwhile."""
    assert hook.stdout is not None  # noqa: S101 - it is a pipe, see above
    reply, ended = hook.stdout.fileno(), os.pidfd_open(hook.pid)
    open_ends, stdout, first, last = [reply, ended, glass.master], b"", 0.0, 0.0
    try:
        started = perf_counter()
        glass.press(keys)
        while ended in open_ends or reply in open_ends:
            ready, _, _ = select.select(open_ends, [], [], _LONGEST)
            now = perf_counter()
            if now - started > _LONGEST:
                raise BenchError(f"a key brought no reply within {_LONGEST} s: {glass!r}")
            if ended in ready:
                open_ends.remove(ended)
                last = now
            if reply in ready:
                first = first or now
                stdout += (data := os.read(reply, 1 << 16))
                if not data:
                    open_ends.remove(reply)
            if glass.master in ready:
                glass.read()
    finally:
        os.close(ended)
    if hook.wait() or verdict_in(stdout) != "allow":
        raise BenchError(f"a hook ended with {hook.returncode}, having printed {stdout!r}")
    return Pressed(first - started, last - started)


def _on_full(glass: Glass, others: int) -> bytes:
    """Go to the newest card once it is counted, and return the key that allows it."""
    _counted(glass, others + 1)
    glass.until_quiet()
    glass.press(b"G")
    glass.until_drawn()
    return b"a"


def _counted(glass: Glass, waiting: int) -> None:
    glass.until(lambda glass: glass.last == (str(waiting).encode() if waiting else b""))


def _on_plain(glass: Glass, _others: int) -> bytes:
    """Return the line that allows the card that is printed."""
    _printed(glass, 1)
    glass.until_quiet()
    return glass.last + b" allow\n"


def _ended(glass: Glass, _others: int) -> None:
    """Read what the desk says of the card that was allowed."""
    glass.until_quiet()


def _printed(glass: Glass, cards: int) -> None:
    glass.until(lambda glass: glass.signs >= cards)


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of desk.

    How it is started, by which sign it tells what waits, how one knows that
    so many wait, how the last to come is made ready to be allowed, and how one
    knows that it has ended.
    """

    options: Sequence[str]
    sign: re.Pattern[bytes]
    crowded: Callable[[Glass, int], None]
    found: Callable[[Glass, int], bytes]
    over: Callable[[Glass, int], None]
    opened: Callable[..., AbstractContextManager[Glass]] = desk_on_glass


_KINDS = {
    HERE: _Kind((), _TITLE, _counted, _on_full, _counted),
    ELSEWHERE: _Kind((), _TITLE, _counted, _on_full, _counted, desk_elsewhere_on_glass),
    "plain desk, a line": _Kind(("--plain",), _HEADER, _printed, _on_plain, _ended),
}


def _text(desks: Sequence[Desk]) -> str:
    header = ("the operator's key", "others waiting", "reply read, median ms", "quartiles", "p90")
    rows = [_row(desk) for desk in desks]
    told = table((*header, "hook ended, median ms", "p90"), rows)
    return f"{told}\n{_more(desks)}"


def _more(desks: Sequence[Desk]) -> str:
    """Say what the way over the wire costs: medians of pairs, each of one round."""
    lines = []
    for there in desks:
        if there.kind == ELSEWHERE:
            (here,) = (one for one in desks if (one.kind, one.others) == (HERE, there.others))
            pairs = zip(here.pressed, there.pressed, strict=True)
            more = spread([other.read - one.read for one, other in pairs])
            lines.append(
                f"Elsewhere, {there.others} others waiting: {_ms(more.median)} ms more "
                f"({_ms(more.low)} to {_ms(more.high)}).\n"
            )
    return "".join(lines)


def _row(desk: Desk) -> tuple[str, ...]:
    read, ended = ([getattr(one, name) for one in desk.pressed] for name in ("read", "ended"))
    middle = spread(read)
    return (
        desk.kind,
        str(desk.others),
        _ms(middle.median),
        f"{_ms(middle.low)}-{_ms(middle.high)}",
        _ms(percentile(read, 90)),
        _ms(spread(ended).median),
        _ms(percentile(ended, 90)),
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.2f}"


def _values(desk: Desk) -> dict[str, Any]:
    pressed = [asdict(one) for one in desk.pressed]
    return {"desk": desk.kind, "others": desk.others, "pressed": pressed}
