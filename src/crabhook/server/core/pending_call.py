"""A hook's place in the queue, where its connection waits for the reply."""

import asyncio
from collections.abc import Callable

from crabhook.broker.messages import Refusal
from crabhook.model.card import Request
from crabhook.model.decision import Reply
from crabhook.model.errors import CrabhookError


class RefusedError(CrabhookError):
    """A request that gets no reply; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


class PendingCall:
    """One hook's place in the queue: await it for the reply; leaving it withdraws the request.

    `left` is told of a hook that is gone, by its request's id and its `attempt`.
    """

    def __init__(self, left: Callable[[str, int], None], request: Request, attempt: int) -> None:
        self._left = left
        self.request, self.attempt = request, attempt
        self.confirm = False  # whether the client is to say that it has printed the reply
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def __repr__(self) -> str:
        return f"<PendingCall {self.request.id} attempt={self.attempt} done={self.reply.done()}>"

    async def wait(self) -> Reply:
        """Return the reply, when there is one.

        Raises RefusedError if the place was lost to a newer connection.  When
        the one who waits is cancelled the request is withdrawn.
        """
        try:
            return await self.reply
        except asyncio.CancelledError:
            self.leave()
            raise

    def take(self, reply: Reply, *, confirm: bool) -> None:
        """Take the reply; `confirm`: the client is to say when it has printed it."""
        self.confirm = confirm
        if not self.reply.done():
            self.reply.set_result(reply)

    def refuse(self, refusal: Refusal) -> None:
        """Turn the hook away, without a reply."""
        if not self.reply.done():
            self.reply.set_exception(RefusedError(refusal))
            self.reply.exception()  # no complaint of asyncio's if its hook is gone by now

    def leave(self) -> None:
        """Say that the hook is gone."""
        self._left(self.request.id, self.attempt)
