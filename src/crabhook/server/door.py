"""The door that every hook's request goes in by, whichever port it came to."""

from crabhook.model.request import Request
from crabhook.platforms import PLATFORMS
from crabhook.platforms.rows import Held
from crabhook.policy.calls.read import may_go_deep
from crabhook.policy.ruling import Ruling
from crabhook.server.place import Place, RefusedError
from crabhook.server.runner import Runner

LONG = 2048  # bytes of an input; a shorter one is judged in a few milliseconds
_JUDGED = (Held.ALWAYS, Held.AT_THE_GATE, Held.BY_RULE)


class Door:
    """Lets requests in to one runner, each with what the owner's rules say of it.

    A held event is judged before it is taken in, so that other agents' hooks do not
    wait while its rules are read, a long input is judged or a folder is searched.
    """

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def __repr__(self) -> str:
        return f"<Door to {self._runner!r}>"

    async def enter(self, asked: Request) -> Place:
        """Take a request in; its place may already hold the reply.  Raises RefusedError."""
        ruling = await self._ruling(asked)
        try:
            return self._runner.enter(asked, ruling)
        except RefusedError as error:
            self._runner.witness.refused(error.refusal)
            raise

    async def _ruling(self, asked: Request) -> Ruling | None:
        if PLATFORMS[asked.event.platform].held(asked.event, asked.stance) not in _JUDGED:
            return None
        long = asked.size > LONG or may_go_deep(asked.event)
        return await self._runner.judge(asked.event, long=long)
