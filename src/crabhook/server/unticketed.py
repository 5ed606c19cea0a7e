"""The way in for requests that bring no ticket: one is made here, so that nobody can claim it.

gRPC's clients make their own, to find their place again after a lost
connection.  A JSON line or an HTTP request is its connection's alone.
"""

from secrets import token_hex

from crabhook.model.errors import PayloadError
from crabhook.model.event import Event
from crabhook.model.request import Origin, Request, Stance
from crabhook.platforms import PLATFORMS
from crabhook.server.deadlines import deadlines
from crabhook.server.door import Door
from crabhook.server.place import Place
from crabhook.server.runner import Runner

PLATFORM = "claude"
"""Whose hook input comes in here."""

TAKEN_WITHIN = 5.0  # seconds the other end has to read an answer; it reads at once

_UNKNOWN = Event(PLATFORM, "?")


class Unticketed:
    """Takes requests in, and tells the operator of what could not be.

    `wait` is how long one may wait for the operator, seconds.  `named` is what
    the operator knows this way in by.
    """

    def __init__(self, runner: Runner, *, wait: float, named: str) -> None:
        self._runner, self._wait, self._named = runner, wait, named
        self._door = Door(runner)

    def __repr__(self) -> str:
        return f"<Unticketed by the {self._named} to {self._runner!r}>"

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
    ) -> Place:
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
        return await self._door.enter(request)

    def taken(self, place: Place) -> None:
        """Note that a connection has taken a request's answer."""
        self._runner.confirm(place.request.id, place.request.secret)

    def observe(self, event: Event, text: str) -> None:
        """Show the operator something about an event."""
        self._runner.observe(event, text)

    def complain(self, what: str) -> None:
        """Show the operator what somebody did wrong."""
        self.observe(_UNKNOWN, f"{self._named}: {what}")
