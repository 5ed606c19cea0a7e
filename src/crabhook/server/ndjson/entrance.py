"""The way from a line to a place in the queue: the one that every hook's request goes."""

from crabhook.model.request import Origin
from crabhook.server.door import Study
from crabhook.server.ndjson.envelope import Envelope
from crabhook.server.place import Place
from crabhook.server.runner import Runner
from crabhook.server.unticketed import Unticketed


class Entrance:
    """Takes requests in.

    `wait` is how long one may wait for the operator, seconds: an envelope does
    not say how long its forwarder will.  `study` is the door's.
    """

    def __init__(self, runner: Runner, *, wait: float, study: Study) -> None:
        self._way = Unticketed(runner, wait=wait, study=study, named="harness bridge")

    def __repr__(self) -> str:
        return f"<Entrance {self._way!r}>"

    async def enter(self, envelope: Envelope, origin: Origin, size: int) -> Place:
        """Take a request of `size` bytes in.  Raises PayloadError or RefusedError.

        A forwarder's request id means something on its own connection only.
        """
        event = self._way.read(envelope.payload)
        if differs := envelope.differs(event):
            self._way.observe(event, differs)
        return await self._way.enter(event, origin, size)

    def taken(self, place: Place) -> None:
        """Note that a forwarder's connection has taken a request's answer."""
        self._way.taken(place)

    def complain(self, what: str) -> None:
        """Show the operator what a forwarder did wrong."""
        self._way.complain(what)
