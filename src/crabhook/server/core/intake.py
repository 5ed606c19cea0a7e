"""The intake of every hook's request, from every port.

A gRPC client makes a ticket, with which it finds its request again after a lost connection. A JSON
line or an HTTP request belongs to its connection and has no ticket: the intake makes a ticket, so
that no client can claim it.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from os.path import normpath
from secrets import token_hex
from typing import NamedTuple

from crabhook.model.card import UNTOLD, Origin, Request, Stance
from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.platforms import PLATFORMS
from crabhook.platforms.event_table import Held
from crabhook.rulebook.context import real_path
from crabhook.server.core.law import LOOK_WITHIN, MOST_HANGING
from crabhook.server.core.pending_call import PendingCall, RefusedError, is_here
from crabhook.server.core.runner import Runner


class Deadlines(NamedTuple):
    """On the broker's clock: when the server answers at the latest, and when the hook gives up."""

    wait_until: float
    gives_up_at: float


LONGEST_WAIT = 1e9  # seconds, some 30 years


def deadlines(now: float, wait: float, theirs: float = 0.0) -> Deadlines:
    """Return the deadlines of a request that may wait `wait` seconds here.

    `theirs` is how long its hook waits, 0 if unknown; the server answers a little before that, so
    that the hook receives the answer. A hook may say any number: beyond LONGEST_WAIT a record could
    not date it, and desks elsewhere could not read its card, nor any other.
    """
    theirs = min(theirs, LONGEST_WAIT) if theirs > 0 else 0.0  # 0 for nan
    gives_up_at = now + (theirs - min(1.0, theirs / 10) if theirs else wait)
    return Deadlines(min(now + wait, gives_up_at), gives_up_at)


VERY_LONG = 1 << 20  # bytes; a thread measures longer inputs, so that no other hook waits
LONG = 2048  # bytes; the rules judge a shorter input in a few milliseconds
_JUDGED = (Held.ALWAYS, Held.AT_THE_GATE, Held.BY_RULE)


@cache  # an import costs 2 µs at each call, though it is done already
def _readers() -> tuple[Callable[[Event], tuple[str, ...]], Callable[[Event], bool]]:
    """Return what reads calls, with the shell parser: the law imports it once the port listens."""
    from crabhook.policy.calls.read import changed_paths, may_go_deep  # noqa: PLC0415 - see above

    return changed_paths, may_go_deep


class Intake:
    """Passes requests to a runner, each with what the owner's rules say about it.

    The rules judge a held event before the runner takes it, so that other agents' hooks do not wait
    for a long input, a read of the rules or a search in a folder. The risk is computed only where
    the broker says that the event comes to a card. Between a no to that and the event's arrival
    nothing is awaited, so no card is without its risk.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._finder = FileFinder()

    def __repr__(self) -> str:
        return f"<Intake to {self._runner!r}>"

    async def enter(self, asked: Request) -> PendingCall:
        """Pass a request to the runner; the call may have its reply. Raises RefusedError."""
        if asked.origin.machine:
            asked = replace(asked, event=replace(asked.event, machine=asked.origin.machine))
        if asked.size > VERY_LONG and asked.event.tool is not None:
            await asyncio.to_thread(asked.event.tool.measure)
        held = PLATFORMS[asked.event.platform].held(asked.event, asked.stance)
        changed_paths, may_go_deep = _readers()
        long = asked.size > LONG or may_go_deep(asked.event)
        ruling, risk = None, UNTOLD
        if held in _JUDGED:
            ruling = await self._runner.rules.judge(asked.event, long=long)
        files: tuple[str, ...] = ()
        if changed := changed_paths(asked.event):
            # For a short call, the rules have just looked up its files.
            looked = held in _JUDGED and not long
            files = await self._finder.found(changed, _machine(asked), looked=looked)
        if self._runner.comes_to_a_card(asked, ruling, files):
            risk = await self._runner.rules.risk(asked.event, long=long)
        try:
            return self._runner.enter(asked, ruling, risk, files)
        except RefusedError as error:
            self._runner.witness.refused(error.refusal)
            raise


def _machine(asked: Request) -> str:
    return "" if is_here(asked) else asked.origin.machine or asked.origin.host


class FileFinder:
    """Resolves real paths in threads, so that a file system that hangs blocks no other hook."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(MOST_HANGING + 1, "crabhook-files")
        self._hanging: set[asyncio.Future[tuple[str, ...]]] = set()

    async def found(
        self, paths: Sequence[str], host: str, *, looked: bool = False
    ) -> tuple[str, ...]:
        """Return the real paths of files, or their names as given after a timeout.

        Files of another machine, `host`, keep their names, after its name. `looked`: the loop has
        just looked at these files, so a thread is not needed.
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
    return tuple(dict.fromkeys(real_path(one) for one in paths if "\0" not in one))


PLATFORM = "claude"
"""The platform of the input on these ports."""

TAKEN_WITHIN = 5.0  # seconds for the other end to read an answer; a live one reads at once

_UNKNOWN = Event(PLATFORM, "?")


class AnonymousIntake:
    """Takes requests without tickets, and reports faults to the operator.

    `wait` is how many seconds a request may wait for the operator. `named` is this port's name for
    the operator.
    """

    def __init__(self, runner: Runner, *, wait: float, named: str) -> None:
        self._wait, self._named = wait, named
        self.switch_to(runner)

    def switch_to(self, runner: Runner) -> None:
        """Pass requests to this runner from now on."""
        self._runner, self._intake = runner, Intake(runner)

    def __repr__(self) -> str:
        return f"<AnonymousIntake by the {self._named} to {self._runner!r}>"

    def read(self, payload: bytes) -> Event:
        """Return the event in a hook's input. Raises PayloadError, which is counted."""
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
        """Pass on an event whose input had `size` bytes. Raises RefusedError.

        `theirs` is how many seconds its hook waits, 0 if unknown.
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

    def taken(self, pending: PendingCall) -> None:
        """Note that a connection has received a request's answer."""
        self._runner.confirm(pending.request.id, pending.request.secret)

    def observe(self, event: Event, text: str) -> None:
        """Show the operator a line about an event."""
        self._runner.observe(event, text)

    def complain(self, what: str) -> None:
        """Show the operator another program's mistake."""
        self.observe(_UNKNOWN, f"{self._named}: {what}")
