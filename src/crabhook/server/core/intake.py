"""How every hook's request goes in, whichever port it came to.

gRPC's clients make a ticket of their own, to find their place again after a lost
connection.  A JSON line or an HTTP request is its connection's alone, and brings none:
one is made here, so that nobody can claim it.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from os.path import normpath, realpath
from secrets import token_hex
from typing import NamedTuple

from crabhook.broker.orders import said_by
from crabhook.model.card import UNTOLD, Origin, Request, Stance
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.rows import Held
from crabhook.policy.rule import RuleVerdict, Ruling
from crabhook.server.core.law import LOOK_WITHIN, MOST_HANGING
from crabhook.server.core.pending_call import PendingCall, RefusedError, is_here
from crabhook.server.core.runner import Runner


class Deadlines(NamedTuple):
    """On the broker's clock: when we answer at the latest, and when the hook gives up."""

    wait_until: float
    gives_up_at: float


def deadlines(now: float, wait: float, theirs: float = 0.0) -> Deadlines:
    """Return the deadlines of a request that may wait `wait` seconds here.

    `theirs` is how long its hook waits, 0 where it does not say; we answer a
    little before the hook gives up, so that it hears of it.
    """
    gives_up_at = now + (theirs - min(1.0, theirs / 10) if theirs else wait)
    return Deadlines(min(now + wait, gives_up_at), gives_up_at)


VERY_LONG = 1 << 20  # bytes of an input, of which nobody else waits until it was measured
LONG = 2048  # bytes of an input; a shorter one is judged in a few milliseconds
_JUDGED = (Held.ALWAYS, Held.AT_THE_GATE, Held.BY_RULE)
_DECIDING = (RuleVerdict.ALLOW, RuleVerdict.DENY)


class Intake:
    """Lets requests in to one runner, each with what the owner's rules say of it.

    A held event is judged before it is taken in, so that other agents' hooks do not
    wait while its rules are read, a long input is judged or a folder is searched.  What it
    may do is told where it may come to a card, and never where a rule decides.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._finder = FileFinder()

    def __repr__(self) -> str:
        return f"<Intake to {self._runner!r}>"

    async def enter(self, asked: Request) -> PendingCall:
        """Take a request in; its place may already hold the reply.  Raises RefusedError."""
        # With what reads shell lines; the law brings it as soon as the port listens.
        from crabhook.policy.calls.read import changed_paths, may_go_deep  # noqa: PLC0415 - so

        if asked.origin.machine:
            asked = replace(asked, event=replace(asked.event, machine=asked.origin.machine))
        if asked.size > VERY_LONG and asked.event.tool is not None:
            await asyncio.to_thread(asked.event.tool.measure)
        held = PLATFORMS[asked.event.platform].held(asked.event, asked.stance)
        long = asked.size > LONG or may_go_deep(asked.event)
        ruling, risk = None, UNTOLD
        if held in _JUDGED:
            ruling = await self._runner.judge(asked.event, long=long)
        if self._may_wait(asked, held, ruling):
            risk = await self._runner.assess(asked.event, long=long)
        files: tuple[str, ...] = ()
        if changed := changed_paths(asked.event):
            # Of a short call that was judged, the rules have just looked where its files are.
            looked = held in _JUDGED and not long
            files = await self._finder.found(changed, _machine(asked), looked=looked)
        try:
            return self._runner.enter(asked, ruling, risk, files)
        except RefusedError as error:
            self._runner.witness.refused(error.refusal)
            raise

    def _may_wait(self, asked: Request, held: Held, ruling: Ruling | None) -> bool:
        """Whether a card may come of it: orders may hold what nobody else would."""
        if ruling is not None and ruling.verdict in _DECIDING:
            return False
        choices = PLATFORMS[asked.event.platform].choices(asked.event).verdicts
        said = said_by(ruling).where(choices)
        if held in (Held.NEVER, Held.ALWAYS, Held.AT_THE_GATE):
            return held is not Held.NEVER and said.decided is None
        return said.decided is None and (said.waits or bool(self._runner.broker.orders()))


def _machine(asked: Request) -> str:
    return "" if is_here(asked) else asked.origin.machine or asked.origin.host


class FileFinder:
    """Finds where files really are in threads: on a file system that hangs nobody else waits."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_HANGING + 1, "crabhook-files")
        self._hanging: set[asyncio.Future[tuple[str, ...]]] = set()

    async def found(
        self, paths: Sequence[str], host: str, *, looked: bool = False
    ) -> tuple[str, ...]:
        """Return where files really are, or by their names where that cannot be told in time.

        Those of another machine, `host`, are known by their names, and by its name.  `looked`: the
        loop has looked at these very files a moment ago, so a thread for it would spare nobody.
        """
        named = _by_name(paths, host)
        if looked and not host:
            return _really(paths)
        if host or not named or len(self._hanging) >= MOST_HANGING:
            return named
        looking = asyncio.get_running_loop().run_in_executor(self._threads, _really, paths)
        try:
            async with asyncio.timeout(LOOK_WITHIN):
                return await asyncio.shield(looking)
        except TimeoutError:
            self._hanging.add(looking)
            looking.add_done_callback(self._hanging.discard)
            return named


def _by_name(paths: Sequence[str], host: str) -> tuple[str, ...]:
    machine = f"{host}:" if host else ""
    return tuple(dict.fromkeys(machine + normpath(path) for path in paths))


def _really(paths: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(map(realpath, paths)))
    except (OSError, ValueError):  # what no file can be called
        return ()


PLATFORM = "claude"
"""Whose hook input comes in here."""

TAKEN_WITHIN = 5.0  # seconds the other end has to read an answer; it reads at once

_UNKNOWN = Event(PLATFORM, "?")


class AnonymousIntake:
    """Takes requests in, and tells the operator of what could not be.

    `wait` is how long one may wait for the operator, seconds.  `named` is what
    the operator knows this way in by.
    """

    def __init__(self, runner: Runner, *, wait: float, named: str) -> None:
        self._wait, self._named = wait, named
        self.turn(runner)

    def turn(self, runner: Runner) -> None:
        """Lead requests to this runner from now on."""
        self._runner, self._intake = runner, Intake(runner)

    def __repr__(self) -> str:
        return f"<AnonymousIntake by the {self._named} to {self._runner!r}>"

    def read(self, payload: bytes) -> Event:
        """Return the event in a hook's input.  Raises PayloadError, which is counted."""
        try:
            return PLATFORMS[PLATFORM].read(payload)
        except PayloadError:
            self._runner.witness.unread(PLATFORM)
            raise

    async def enter(
        self,
        event: Event,
        origin: Origin,
        size: int,
        *,
        stance: Stance = Stance.GATE,
        theirs: float = 0.0,
    ) -> PendingCall:
        """Take in an event whose input had `size` bytes.  Raises RefusedError.

        `theirs` is how many seconds its hook waits, 0 where it does not say.
        """
        until = deadlines(self._runner.now(), self._wait, theirs)
        request = Request(
            id=token_hex(16),
            secret=token_hex(16),
            event=event,
            wait_until=until.wait_until,
            stance=stance,
            origin=origin,
            gives_up_at=until.gives_up_at,
            size=size,
        )
        return await self._intake.enter(request)

    def taken(self, place: PendingCall) -> None:
        """Note that a connection has taken a request's answer."""
        self._runner.confirm(place.request.id, place.request.secret)

    def observe(self, event: Event, text: str) -> None:
        """Show the operator something about an event."""
        self._runner.observe(event, text)

    def complain(self, what: str) -> None:
        """Show the operator what somebody did wrong."""
        self.observe(_UNKNOWN, f"{self._named}: {what}")
