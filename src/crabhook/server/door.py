"""The door that every hook's request goes in by, whichever port it came to."""

from collections.abc import Awaitable
from typing import Protocol

from crabhook.model.event import Event
from crabhook.model.request import Request
from crabhook.platforms import PLATFORMS
from crabhook.platforms.rows import Held
from crabhook.policy.calls.read import may_go_deep
from crabhook.server.place import Place, RefusedError
from crabhook.server.runner import Runner


class Study(Protocol):
    """What makes ready for an event to be judged; `long`: judging it may take a while itself."""

    def __call__(self, event: Event, /, *, long: bool) -> Awaitable[None]:
        """Come back when `event` can be judged at once."""


LONG = 2048  # bytes of an input; a shorter one is judged in a few milliseconds
_JUDGED = (Held.ALWAYS, Held.AT_THE_GATE, Held.BY_RULE)


async def no_study(_event: Event, *, long: bool) -> None:
    """Leave every event to be judged when it is taken in."""


class Door:
    """Lets requests in to one runner.

    `study` is awaited before a held event is taken in, so that other agents' hooks
    do not wait while its rules are read, a long input is judged or a folder is searched.
    """

    def __init__(self, runner: Runner, study: Study = no_study) -> None:
        self._runner, self._study = runner, study

    def __repr__(self) -> str:
        return f"<Door to {self._runner!r}>"

    async def enter(self, asked: Request) -> Place:
        """Take a request in; its place may already hold the reply.  Raises RefusedError."""
        if _is_judged(asked):
            long = asked.size > LONG or may_go_deep(asked.event)
            await self._study(asked.event, long=long)
        try:
            return self._runner.enter(asked)
        except RefusedError as error:
            self._runner.witness.refused(error.refusal)
            raise


def _is_judged(asked: Request) -> bool:
    return PLATFORMS[asked.event.platform].held(asked.event, asked.stance) in _JUDGED
