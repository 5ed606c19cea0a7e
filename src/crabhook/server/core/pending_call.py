"""A hook's place in the queue, where its connection waits for the reply; and a reply's receipt."""

import asyncio
from collections.abc import Callable
from os import uname

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import same_secret
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
        self._recorded: asyncio.Future[None] | None = None

    def __repr__(self) -> str:
        return f"<PendingCall {self.request.id} attempt={self.attempt} done={self.reply.done()}>"

    def await_record(self) -> Callable[[], None]:
        """Have `recorded` wait until what is returned is called, or there is a reply."""
        self._recorded = asyncio.get_running_loop().create_future()
        return self._go_on

    def _go_on(self) -> None:
        if self._recorded is not None and not self._recorded.done():
            self._recorded.set_result(None)

    async def recorded(self) -> None:
        """Wait until the request is on record, or has its reply; cancelled, it is withdrawn."""
        if self._recorded is not None:
            try:
                await self._recorded
            except asyncio.CancelledError:
                self.leave()
                raise

    async def wait(self) -> Reply:
        """Return the reply, when there is one.

        Raises RefusedError if the place was lost to a newer connection.  When
        the task that waits is cancelled, the request is withdrawn.
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
        self._go_on()

    def refuse(self, refusal: Refusal) -> None:
        """Turn the hook away, without a reply."""
        if not self.reply.done():
            self.reply.set_exception(RefusedError(refusal))
            self.reply.exception()  # no complaint of asyncio's if its hook is gone by now
        self._go_on()

    def leave(self) -> None:
        """Say that the hook is gone."""
        self._left(self.request.id, self.attempt)


class Receipts:
    """Replies whose clients are to say that they have printed them.

    `told` hears once of each what became of it, by its request's id: whether the client has it.
    """

    def __init__(self, told: Callable[[str, bool], None]) -> None:
        self._told = told
        self._expected: dict[str, tuple[str, asyncio.TimerHandle]] = {}

    def __repr__(self) -> str:
        return f"<Receipts expected={len(self._expected)}>"

    def expect(self, request_id: str, secret: str, within: float) -> None:
        """Begin to wait so many seconds for the word of a client that is about to get its reply."""
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(within, self._end, request_id, False)  # noqa: FBT003 - a timer's
        if earlier := self._expected.pop(request_id, None):
            earlier[1].cancel()
        self._expected[request_id] = (secret, alarm)

    def confirm(self, request_id: str, secret: str) -> bool:
        """Hear that a client has printed its reply; False for a ticket nobody waits on."""
        expected = self._expected.get(request_id)
        if expected is None or not same_secret(expected[0], secret):
            return False
        expected[1].cancel()
        self._end(request_id, whole=True)
        return True

    def stop(self) -> None:
        """Wait for none any more, and tell of none."""
        for _, alarm in self._expected.values():
            alarm.cancel()

    def _end(self, request_id: str, whole: bool) -> None:  # noqa: FBT001 - a timer's argument
        del self._expected[request_id]
        self._told(request_id, whole)


def is_here(request: Request) -> bool:
    """Whether a hook runs on this machine; else its settings and its files are elsewhere, too."""
    return request.origin.is_at(uname().nodename)
