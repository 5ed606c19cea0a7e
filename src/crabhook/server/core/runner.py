"""The runner: a core in an asyncio loop, with the only clock, the record and the pending calls."""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from time import monotonic
from time import time as wall

from crabhook.broker.messages import (
    Arrived,
    Closing,
    Delivered,
    Effect,
    Fact,
    Left,
    Noted,
    Reconsidered,
    Refusal,
    Refuse,
    Resolve,
    RestoredRequest,
    TimePassed,
)
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.model.actor import Actor
from crabhook.model.card import UNTOLD, Request, Risk
from crabhook.model.event import Event
from crabhook.policy.rule import Ruling
from crabhook.server.core.core import Core
from crabhook.server.core.history import PastReader, Remembered
from crabhook.server.core.journal_mapper import JournalMapper, restored
from crabhook.server.core.local_desk import LocalDesk
from crabhook.server.core.parts import Parts
from crabhook.server.core.pending_call import PendingCall, Receipts, RefusedError, is_here
from crabhook.server.core.readings import Readings, Summaries
from crabhook.store import entries
from crabhook.store.change import Change, happened
from crabhook.store.interface import DeposedError, Role, TicketError
from crabhook.store.opening import is_shared
from crabhook.store.recorder import Recorder
from crabhook.transcript import Summary

_LOG = logging.getLogger(__name__)
JUDGED = 100  # restored requests; hooks wait for the server meanwhile
RECORDED_WITHIN = 10.0  # seconds a hook waits for the record of its request
RECEIPT_WITHIN = 5.0  # seconds; a live client confirms at once
SESSIONS_EVERY = 0.25  # seconds between two updates about sessions
LOOK_EVERY = 1.0  # seconds between two looks at the record and at faults
INCIDENT = Event("", "Server")  # the event of what is logged where it is told


class Runner(Core):
    """Connects the ports with the broker; screens get a desk on it.

    `rules` are the owner's, `silent` returns how many listeners do not answer.
    """

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts)
        self._platforms, self._faults = parts.platforms, parts.faults
        self._standing = parts.standing
        self.rules, self.recorder, self.silent = parts.rules, parts.recorder, parts.silent
        self._remembered = Remembered()  # the history, in a run without a record
        past: PastReader | Remembered = self._remembered
        offers = parts.offers
        if offers and (self.recorder or is_shared(offers.record)):  # who stands by reads it too
            past = PastReader(offers.record, offers.files)
        self.readings = Readings(self.rules, offers, past, self._reconsidered)
        self._bookkeeper = JournalMapper(wall, self.broker.secret_of)
        self._summaries = Summaries(parts.platforms, self._record_summary)
        self._pending: dict[tuple[str, int], PendingCall] = {}
        self._attempts = count(1)
        self._alarm: asyncio.TimerHandle | None = None
        self._looked_at: asyncio.TimerHandle | None = None
        self._receipts = Receipts(lambda one, whole: self.handle(Delivered(one, whole, self.now())))
        self._announced = ""  # the last published trouble of the record
        self.closed = self._stopped = self.handed_over = False
        self._on_deposed = parts.deposed
        self.rules.listen(self.announce)

    def state(self) -> str:
        """Return the states of the server's parts in a few words."""
        role = "" if self.role is Role.ALONE else self.role.value
        record = "no record"
        if self.recorder is not None:
            record = "record MISSING" if self.recorder.trouble else "record ok"
        return " · ".join(filter(None, (role, self.rules.state(), record)))

    def __repr__(self) -> str:
        return f"<Runner {self.broker!r} pending={len(self._pending)}>"

    def desk(self, by: Actor) -> LocalDesk:
        """Return a desk for the operator `by`."""
        return LocalDesk(self, self.readings, by)

    def counts(self) -> tuple[int, int]:
        """Return the numbers of waiting cards and attached desks."""
        return len(self.broker.waiting()), self.attendance.desks

    # For the record.

    async def restore(self) -> None:
        """Restore what an earlier server left: waiting requests, and answers without a receipt."""
        if self.recorder is None:
            return
        self.store_id = self.recorder.store_id or self.store_id
        fact = restored(self.recorder.recover(), self._platforms, self.now(), wall())
        first = [await self._judged(one) for one in fact.waiting[:JUDGED]]
        orders = (*fact.halts, *self._standing.taken_up(fact.now))
        fact = replace(fact, waiting=(*first, *fact.waiting[JUDGED:]), halts=orders)
        self.handle(fact)
        for one in fact.decided:
            if one.delivered is None:
                self._receipts.expect(one.request.id, one.request.secret, COME_BACK_WITHIN)

    async def _judged(self, one: RestoredRequest) -> RestoredRequest:
        event = one.request.event
        ruling = await self.rules.judge(event, long=True)
        return replace(one, ruling=ruling, risk=await self.rules.risk(event, long=True))

    async def keep_record(self) -> None:
        """Maintain the record once a second, and look for faults, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self.recorder is not None:
                try:
                    self.recorder.time_passed(self.now())
                except DeposedError as error:
                    self._depose(error)
                await asyncio.to_thread(self.recorder.anchor)
                self._announce_trouble(self.recorder)
                self._refuse_stalled()
            self.look_at_troubles()

    def _announce_trouble(self, recorder: Recorder) -> None:
        """Report on screens and in the log that the record is missing, or works again."""
        if self._listeners and recorder.reason != self._announced:
            self._announced = recorder.reason
            text = recorder.trouble or "the record is written again"
            _LOG.warning("%s", text)
            self.observe(INCIDENT, text)
            self.look_at_troubles()

    def write(self, fact: Fact, effects: Sequence[Effect]) -> bool | asyncio.Future[bool]:
        """Record a fact with its effects; see `Core.write`."""
        recorder = self.recorder
        if recorder is None:
            self._remembered.on_fact(fact, effects)
            return True
        broker = self.broker
        changes = self._bookkeeper.changes(fact, effects, broker.halts(), broker.notes())
        changes += self._standing.changes(broker.orders(), fact.now)
        return self._record(*changes) if changes or self.deposed else True

    def _record(self, *changes: Change) -> bool | asyncio.Future[bool]:
        """Write changes; an error where replies must not be sent any more, also in the future."""
        if self.recorder is None:
            return True
        try:
            written = self.recorder.write(*changes)
        except DeposedError as error:
            self._depose(error)
            written = asyncio.get_running_loop().create_future()
            written.set_exception(error)
            written.exception()  # asyncio does not warn about an unread error
        self._announce_trouble(self.recorder)
        return written

    def _depose(self, error: DeposedError) -> None:
        if self.deposed is None:
            self.deposed = error
            _LOG.error("%s", error)
            self.hand_over()
            self._on_deposed()

    def _refuse_stalled(self) -> None:
        """Refuse hooks whose requests have waited too long for the record."""
        since = self.now() - RECORDED_WITHIN
        for fact in [held.fact for held in self._held]:
            if isinstance(fact, Arrived) and fact.now < since and self._refuses():
                self.unrecorded(fact, None)

    def unrecorded(self, fact: Fact, error: BaseException | None) -> None:
        """Refuse a hook whose request was not recorded, where the owner chose so."""
        if isinstance(error, DeposedError):
            self._depose(error)
            return
        if error is not None:
            _LOG.error("%s was not recorded", type(fact).__name__, exc_info=error)
        if not isinstance(fact, Arrived) or not (error or self._refuses()):
            return
        pending = self._pending.get((fact.request.id, fact.attempt))
        if pending is not None:
            stolen = isinstance(error, TicketError)
            pending.leave()
            pending.refuse(Refusal.NOT_YOURS if stolen else Refusal.UNRECORDED)

    def _record_summary(self, request: Request, found: Summary) -> None:
        said = {**asdict(found), "calls": dict(found.calls)}
        self._record(happened(entries.summary(request.event.slim(), wall(), **said)))

    def _refuses(self) -> bool:
        return self.recorder is not None and bool(self.recorder.refusal)

    # For the port.

    def enter(
        self,
        request: Request,
        ruling: Ruling | None,
        risk: Risk = UNTOLD,
        files: tuple[str, ...] = (),
    ) -> PendingCall:
        """Take a request with its ruling; the returned call may already have its reply.

        `risk`: of its call, where it may come to a card. `files`: the real paths that it will
        change. Raises RefusedError.
        """
        if self.role is Role.STANDBY:
            raise RefusedError(Refusal.STANDBY)
        if self._refuses() or self.handed_over:
            raise RefusedError(Refusal.UNRECORDED if self._refuses() else Refusal.HANDED_OVER)
        if self.recorder is not None and self.recorder.is_anothers(request.id, request.secret):
            raise RefusedError(Refusal.NOT_YOURS)  # the store remembers longer than the broker
        pending = PendingCall(self.left, request, next(self._attempts))
        self._pending[request.id, pending.attempt] = pending
        warnings = self.rules.warnings(request.event) if is_here(request) else ()
        asked = (request, ruling, pending.attempt, self.now())
        self.handle(Arrived(*asked, warnings=warnings, risk=risk, files=files))
        if self._held:
            self.after(pending.await_record())
        if self.recorder is not None:
            self._summaries.on_request(request)
        if self.closed:
            self.handle(Closing(self.now(), self._stopped))
        if pending.refused is not None:
            raise pending.refused
        return pending

    def left(self, request_id: str, attempt: int) -> None:
        """Report that a hook's connection ended before its reply."""
        if self._pending.pop((request_id, attempt), None) is not None:
            self.handle(Left(request_id, attempt, self.now()))

    def confirm(self, request_id: str, secret: str) -> bool:
        """Take a client's receipt; return False for a ticket without an expected receipt."""
        return self._receipts.confirm(request_id, secret)

    def announce(self, text: str) -> None:
        """Show news of the server itself."""
        self.observe(Event("", "Desk"), text)

    def warn(self, text: str, *, alarm: bool = True) -> None:
        """Show (as an alarm, in red), log and record an incident of the server itself."""
        _LOG.log(logging.ERROR if alarm else logging.INFO, "%s", text)
        self._record(happened(entries.server(text, wall())))
        self.handle(Noted(INCIDENT, text, self.now(), alarm=alarm))

    def observe(self, event: Event, text: str) -> None:
        """Show a line that belongs to no request."""
        self.handle(Noted(event, text, self.now()))

    def publish_anew(self) -> None:
        """Send all listeners a new snapshot."""
        self.do(lambda: self.publish(self._listeners, self._snapshot()))

    def close(self, *, stopped: bool = False) -> None:
        """Release all waiting requests with no opinion, and later requests too.

        `stopped`: since the server was told to end; else since its operator left.
        """
        self.closed, self._stopped = True, stopped
        self.handle(Closing(self.now(), stopped))
        self._stop_clocks()

    def hand_over(self) -> None:
        """Answer no hook any more: the requests are on record, and hooks ask the next server."""
        self.handed_over = True
        for pending in self._pending.values():
            pending.refuse(Refusal.HANDED_OVER)
        self._pending.clear()  # so that no hook counts as gone
        self._stop_clocks()

    def _stop_clocks(self) -> None:
        self.readings.stop()
        for clock in filter(None, (self._alarm, self._looked_at)):
            clock.cancel()
        self._receipts.stop()

    def _reconsidered(self, rulings: Mapping[str, Ruling | None]) -> None:
        self.handle(Reconsidered(rulings, self.now()))

    # What the core calls.

    def now(self) -> float:
        """Return the broker's clock: monotonic seconds, which no change of the date moves."""
        return monotonic()  # as the loop does; asked several times a decision

    def troubles(self) -> tuple[str, ...]:
        """Return the current faults: of the rules, the record, the socket."""
        record = (self.recorder.trouble, self.recorder.anew) if self.recorder else ()
        return (*filter(None, (*record, self.rules.trouble)), *self._faults.now())

    def resolve(self, effect: Resolve) -> None:
        """Give a hook its reply; for a person's decision, expect the client's receipt."""
        pending = self._pending.pop((effect.request_id, effect.attempt), None)
        if pending:
            pending.take(effect.reply, confirm=effect.confirm)
        if effect.confirm and (pending or effect.attempt == NO_CONNECTION):
            within = RECEIPT_WITHIN if pending else COME_BACK_WITHIN
            self._receipts.expect(effect.request_id, effect.secret, within)

    def refuse(self, effect: Refuse) -> None:
        """Turn a hook away."""
        if pending := self._pending.pop((effect.request_id, effect.attempt), None):
            pending.refuse(effect.refusal)

    def wake_at(self, at: float) -> None:
        """Send TimePassed to the broker at that time."""
        if self._alarm:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_at(at, self._wake)

    def publish_sessions_soon(self) -> None:
        """Publish sessions, at most every SESSIONS_EVERY."""
        if self._looked_at is None:
            loop = asyncio.get_running_loop()
            self._looked_at = loop.call_later(SESSIONS_EVERY, self._publish_sessions)

    def _publish_sessions(self) -> None:
        self._looked_at = None
        self.do(lambda: self.after(self.publish_sessions))

    def _wake(self) -> None:
        self.handle(TimePassed(self.now()))
