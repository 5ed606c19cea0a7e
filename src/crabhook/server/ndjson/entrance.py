"""The way from a line to a place in the queue: the one that every hook's request goes."""

from secrets import token_hex

from crabhook.model.event import Event
from crabhook.model.request import Origin, Request
from crabhook.platforms import PLATFORMS
from crabhook.server.door import Door, Study
from crabhook.server.ndjson.envelope import Envelope
from crabhook.server.place import Place
from crabhook.server.runner import Runner

PLATFORM = "claude"
"""Whose hook input the envelopes carry."""

_UNKNOWN = Event(PLATFORM, "?")


class Entrance:
    """Takes requests in.

    `wait` is how long one may wait for the operator, seconds: an envelope does
    not say how long its forwarder will.  `study` is the door's.
    """

    def __init__(self, runner: Runner, *, wait: float, study: Study) -> None:
        self._runner, self._wait, self._door = runner, wait, Door(runner, study)

    def __repr__(self) -> str:
        return f"<Entrance to {self._runner!r}>"

    async def enter(self, envelope: Envelope, origin: Origin, size: int) -> Place:
        """Take a request of `size` bytes in.  Raises PayloadError or RefusedError.

        Its ticket is made here, so that nobody can claim it: a forwarder's
        request id means something on its own connection only.
        """
        event = PLATFORMS[PLATFORM].read(envelope.payload)
        if differs := envelope.differs(event):
            self._runner.observe(event, differs)
        now = self._runner.now()
        request = Request(
            id=token_hex(16),
            secret=token_hex(16),
            event=event,
            wait_until=now + self._wait,
            origin=origin,
            gives_up_at=now + self._wait,
            size=size,
        )
        return await self._door.enter(request)

    def taken(self, place: Place) -> None:
        """Note that a forwarder's connection has taken a request's answer."""
        self._runner.confirm(place.request.id, place.request.secret)

    def complain(self, what: str) -> None:
        """Show the operator what a forwarder did wrong."""
        self._runner.observe(_UNKNOWN, f"harness bridge: {what}")
