"""A pending call: its connection waits for the reply; and the receipt of a reply."""

import asyncio
from collections.abc import Callable
from os import uname

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import same_secret
from crabhook.model.card import Leg, Request
from crabhook.model.decision import Reply
from crabhook.model.errors import CrabhookError


class RefusedError(CrabhookError):
    """A request that gets no reply; `refusal` is the reason."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


class PendingCall:
    """A hook's request in the queue: await it for the reply; leaving it withdraws the request.

    `left` is called with the request's id and `attempt` when the hook is gone. `stays` returns how
    many seconds it may take to come back, since its listener ended and not the hook.
    """

    def __init__(self, left: Callable[[str, int], None], request: Request, attempt: int) -> None:
        self._left = left
        self.stays: Callable[[], float] = lambda: 0.0
        self.request, self.attempt = request, attempt
        self.given: Reply | None = None
        self.refused: RefusedError | None = None
        self.confirm = False  # whether the client must confirm that it printed the reply
        self.receipt_within = 0.0  # seconds that a receipt may take; 0: as long as a hook's
        self.when_over: Callable[[], object] = lambda: None  # for who does not wait here
        self._unrecorded = False
        self._news: asyncio.Future[None] | None = None  # made by who waits: most need not

    def __repr__(self) -> str:
        return f"<PendingCall {self.request.id} attempt={self.attempt} over={self.over}>"

    @property
    def over(self) -> bool:
        """Whether it has its reply, or is refused."""
        return self.given is not None or self.refused is not None

    def await_record(self) -> Callable[[], None]:
        """Make `recorded` wait until the returned function is called, or there is a reply."""
        self._unrecorded = True
        return self._is_recorded

    def _is_recorded(self) -> None:
        self._unrecorded = False
        self._tell()

    async def recorded(self) -> None:
        """Wait until the request is on record or has its reply; a cancel withdraws it."""
        try:
            while self._unrecorded and not self.over:
                await self._later()
        except asyncio.CancelledError:
            self.leave()
            raise

    async def wait(self) -> Reply:
        """Return the reply, when there is one.

        Raises RefusedError if a newer connection took the request over. A cancel of the waiting
        task withdraws the request. Thousands wait here: each coroutine between costs them memory.
        """
        try:
            while not self.over:
                await self._later()
        except asyncio.CancelledError:
            self.leave()
            raise
        if self.given is None:
            raise self.refused or AssertionError
        return self.given

    def _later(self) -> asyncio.Future[None]:
        """Return what ends with the next news."""
        self._news = asyncio.get_running_loop().create_future()
        return self._news

    def _tell(self) -> None:
        if self.over:
            self.when_over()
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    def take(self, reply: Reply, *, confirm: bool) -> None:
        """Set the reply; `confirm`: the client must confirm that it printed the reply."""
        self.confirm = confirm
        if not self.over:
            self.given = reply
        self._tell()

    def refuse(self, refusal: Refusal) -> None:
        """End the call without a reply."""
        if not self.over:
            self.refused = RefusedError(refusal)
        self._tell()

    def leave(self) -> None:
        """Report that the hook is gone, or, later, that it did not come back."""
        if seconds := self.stays():
            loop = asyncio.get_running_loop()
            loop.call_later(seconds, self._left, self.request.id, self.attempt)
        else:
            self._left(self.request.id, self.attempt)


class Receipts:
    """Replies whose clients must confirm that they printed them.

    `told` is called once for each, with the request's id: whether the client has the reply.
    """

    def __init__(self, deliver: Callable[[str, bool], None]) -> None:
        self._deliver = deliver
        self._expected: dict[str, tuple[str, asyncio.TimerHandle]] = {}

    def __repr__(self) -> str:
        return f"<Receipts expected={len(self._expected)}>"

    def expect(self, request_id: str, secret: str, within: float) -> None:
        """Wait, for so many seconds, for a client's receipt of the reply that it gets next."""
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(within, self._end, request_id, False)  # noqa: FBT003 - a timer's
        if earlier := self._expected.pop(request_id, None):
            earlier[1].cancel()
        self._expected[request_id] = (secret, alarm)

    def confirm(self, request_id: str, secret: str) -> bool:
        """Take a client's receipt; return False for a ticket without an expected receipt."""
        expected = self._expected.get(request_id)
        if expected is None or not same_secret(expected[0], secret):
            return False
        expected[1].cancel()
        self._end(request_id, whole=True)
        return True

    def stop(self) -> None:
        """Wait for no receipt any more, and report none."""
        for _, alarm in self._expected.values():
            alarm.cancel()

    def _end(self, request_id: str, whole: bool) -> None:  # noqa: FBT001 - a timer's argument
        del self._expected[request_id]
        self._deliver(request_id, whole)


def is_here(request: Request | Leg) -> bool:
    """Whether a hook runs on this machine; else its settings and files are elsewhere, too."""
    return request.origin.is_at(uname().nodename)
