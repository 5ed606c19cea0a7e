"""The runner gives the broker single facts, and carries out its effects in order.

It records a fact first, then carries it out, then publishes it. A fact that comes meanwhile, as
from a listener, waits for its turn, so that all listeners hear one order. The runner has the only
clock, the record and the pending calls, in an asyncio loop.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from secrets import token_bytes
from time import monotonic
from time import time as wall
from typing import TypeAlias

from crabhook.broker.broker import Broker
from crabhook.broker.messages import (
    Arrived,
    Closing,
    Conflict,
    Delivered,
    Effect,
    ElectoratesChanged,
    Fact,
    FeedLine,
    Left,
    Noted,
    OrderSpent,
    Reconsidered,
    Refusal,
    Refuse,
    Resolve,
    RestoredRequest,
    Show,
    TimePassed,
    WakeAt,
    decisions_in,
)
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.restoring import COME_BACK_WITHIN
from crabhook.datatypes import Bounded
from crabhook.desk.updates import (
    DesksChanged,
    HouseChanged,
    News,
    OrdersChanged,
    SessionsChanged,
    SessionsSeen,
    Snapshot,
    TroublesChanged,
)
from crabhook.model.ballot import NOBODY_VOTES, Ballot, Electorate
from crabhook.model.card import UNTOLD, Request, Risk
from crabhook.model.decision import Decision
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.policy.rule import Ruling
from crabhook.server.core.attendance import OUTCOMES_KEPT, Attendance, Claims, Submissions
from crabhook.server.core.desk_queries import DeskQueries
from crabhook.server.core.history import MemoryHistory, RecordHistory
from crabhook.server.core.journal_mapper import JournalMapper, restored
from crabhook.server.core.parts import ALONE, Elsewhere, Parts
from crabhook.server.core.pending_call import PendingCall, Receipts, RefusedError, is_here
from crabhook.server.core.persisted_orders import Steering
from crabhook.server.core.transcripts import Summaries
from crabhook.store import entries
from crabhook.store.change import Change, happened
from crabhook.store.commit import Commit
from crabhook.store.interface import TicketError, WriterEndedError
from crabhook.store.opening import is_shared
from crabhook.store.record import Entry
from crabhook.store.recorder import Recorder
from crabhook.transcript import Summary

_LOG = logging.getLogger(__name__)

Job: TypeAlias = Callable[[], object]
Then: TypeAlias = Callable[[BaseException | None], object]
"""Called when all effects of a fact are done, or with the error that kept it off the record."""
Listener: TypeAlias = Callable[[News], object]

JUDGED = 100  # restored requests; hooks wait for the server meanwhile
RECORDED_WITHIN = 10.0  # seconds a hook waits for the record of its request
RECEIPT_WITHIN = 5.0  # seconds; a live client confirms at once
SESSIONS_EVERY = 0.25  # seconds between two updates about sessions
LOOK_EVERY = 1.0  # seconds between two looks at the record and at faults
INCIDENT = Event("", "Server")  # the event of what is logged where it is told
RECORDED = Commit.ended()


def _spends(effects: Sequence[Effect]) -> bool:
    return any(isinstance(effect, OrderSpent) for effect in effects)


@dataclass(slots=True)
class _Held:
    """The effects of a fact, until it is recorded; a `fact` of None only keeps its place."""

    fact: Fact | None
    effects: Sequence[Effect]
    then: Then | None
    commit: Commit
    orders: tuple[Standing, ...] = ()
    sessions: int = 0


class Runner:
    """A broker in an asyncio loop: connects the ports with it, and screens get a desk on it.

    `rules` are the owner's, `silent` returns how many listeners do not answer. `witness` hears of
    every fact; `day` is what desks show of it. `writer_ended` says why the record takes
    nothing more from here; None while it does. `exporter` sends the record elsewhere, if any does.
    `entering` counts the requests on their way in: threads with time give way to them.
    `texts` are those that servers share; None where another writes them.
    """

    def __init__(self, parts: Parts) -> None:
        self.broker = Broker(parts.platforms, parts.bounds)
        self.rules, self.recorder, self.silent = parts.rules, parts.recorder, parts.silent
        self.witness, self.day = parts.witness, parts.counts
        self.exporter, self.texts = parts.exporter, parts.texts
        self._platforms, self._faults = parts.platforms, parts.faults
        self._standing, self.sharing = parts.standing, parts.sharing
        self._decided, self._on_writer_ended = parts.decided, parts.writer_ended
        self._electorate = parts.electorate
        self.writer_ended: WriterEndedError | None = None
        self.closed = self._stopped = self.handed_over = False
        # Facts, in turn.
        self._busy = False
        self._jobs: deque[Job] = deque()  # jobs that wait for their turn
        self._quiet: deque[Job] = deque()  # jobs that run first, once all is recorded
        self._held: deque[_Held] = deque()
        # The record.
        self.store_id = token_bytes(16)  # stands for the store's name in a run without a store
        self._bookkeeper = JournalMapper(wall, self.broker.secret_of)
        self._remembered = MemoryHistory()  # the history, in a run without a record
        self._announced = ""  # the last published trouble of the record
        # Hooks.
        self.entering = 0
        self._pending: dict[tuple[str, int], PendingCall] = {}
        self._attempts = count(1)
        self._alarm: asyncio.TimerHandle | None = None
        self._receipts = Receipts(
            lambda request_id, whole: self.handle(Delivered(request_id, whole, self.now()))
        )
        self._summaries = Summaries(parts.platforms, self._record_summary)
        # Desks.
        self._listeners: list[Listener] = []
        self.claims = Claims(lambda news: self.publish(self._listeners, news))
        self.attendance = Attendance()
        self.submitted: Submissions = Bounded(OUTCOMES_KEPT)
        past: RecordHistory | MemoryHistory = self._remembered
        offers = parts.offers
        if offers and (self.recorder or is_shared(offers.record)):  # who stands by reads it too
            past = RecordHistory(offers.record, offers.files)
        self.queries = DeskQueries(self.rules, offers, past, self._reconsidered)
        self._orders: tuple[Standing, ...] = ()  # as last published
        self._sessions = self._desks = 0
        self._troubles: tuple[str, ...] = ()
        self._house = HouseChanged()
        self._looked_at: asyncio.TimerHandle | None = None
        self.rules.listen(self.announce, self.warn)

    def __repr__(self) -> str:
        return f"<Runner {self.broker!r} pending={len(self._pending)}>"

    @property
    def elsewhere(self) -> Elsewhere | None:
        """Where to ask instead; None where this server takes requests in."""
        return self.sharing.elsewhere

    # Turns.

    def handle(self, fact: Fact) -> None:
        """Take a fact, now or at its turn; raises what `Broker.handle` does if it is now."""
        if self._busy or self._quiet:
            self._jobs.append(lambda: self.take(fact))
            return
        self._busy = True
        try:
            self.take(fact)
        finally:
            self._drain()

    def do(self, job: Job) -> None:
        """Run a job, now or at its turn."""
        self._jobs.append(job)
        if not self._busy:
            self._busy = True
            self._drain()

    def _drain(self) -> None:
        """Run the jobs that waited; a job's fault does not affect the fact before it."""
        while self._jobs or self._quiet:
            if not self._quiet:
                job = self._jobs.popleft()
            elif not self._held:
                job = self._quiet.popleft()
            else:
                break  # until what was written is on record
            try:
                job()
            except CrabhookError as error:
                _LOG.warning("a fact came too late: %s", error)
            except Exception:  # noqa: BLE001 - nor a fault of the agents
                _LOG.exception("a fault in carrying out a fact")
        self._busy = False

    def take(self, fact: Fact, then: Then | None = None) -> None:
        """Take a fact within a job; `then` runs when all its effects are done.

        Raises what `Broker.handle` does, and then nothing has changed.
        """
        effects: Sequence[Effect] = self.broker.handle(fact)
        if isinstance(fact, Arrived) and _spends(effects):
            effects, commit = self._spend(fact, effects)
        else:
            commit = self.write(fact, effects)
        orders, sessions = self.broker.orders(), self.broker.sessions()
        held = _Held(fact, effects, then, commit, orders, sessions)
        if commit.over and not self._held:
            self._release(held)
            return
        self._held.append(held)
        commit.on_end(self._recorded)

    def after(self, job: Job) -> None:
        """Run something within a job, when the effects of all earlier facts are done."""
        if self._held:
            self._held.append(_Held(None, (), lambda _: job(), RECORDED))
        else:
            job()

    def _recorded(self) -> None:
        """Carry out the recorded facts, in order, up to the first fact that is not recorded."""
        if self._busy:
            self._jobs.appendleft(self._release_ready)
            return
        self._busy = True
        try:
            self._release_ready()
        finally:
            self._drain()

    def _release_ready(self) -> None:
        while self._held and self._held[0].commit.over:
            held = self._held.popleft()
            try:
                self._release(held)
            except Exception:  # noqa: BLE001 - a fault here must not affect later facts
                _LOG.exception("a fault in carrying out %s", type(held.fact).__name__)

    def _release(self, held: _Held) -> None:
        """Carry out a fact's effects, in order, and publish them."""
        fact, commit, error = held.fact, held.commit, held.commit.error
        if fact is not None and error is not None:
            self.unrecorded(fact, error)
        elif fact is not None:
            self.witness.handled(fact, held.effects)
            for effect in held.effects:
                self._carry_out(effect)
            if self._decided:
                self._log_decisions(fact, held.effects)
            if not commit.recorded:
                self.unrecorded(fact, None)
        if fact is not None:
            self._publish_figures(held.orders, held.sessions)
        if self.broker.sessions_changed:
            self.publish_sessions_soon()
        if held.then is not None:
            held.then(error)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Resolve():
                self.resolve(effect)
            case Show(news) | FeedLine(news):
                self.publish(self._listeners, news)
            case Refuse():
                self.refuse(effect)
            case WakeAt(at):
                self.wake_at(at)

    def _log_decisions(self, fact: Fact, effects: Sequence[Effect]) -> None:
        for event, made in decisions_in(fact, effects):
            for decided in self._decided:
                try:
                    decided(event, made)
                except Exception:  # noqa: BLE001 - a fault of a log must not become one of the agents
                    _LOG.exception("a decision could not be told of: %r", event)

    def _house_now(self) -> HouseChanged:
        return HouseChanged(self.state(), self.day.today())

    def listen(self, listener: Listener) -> Job:
        """Send `listener` a snapshot once all is recorded, then all news; return how to stop."""

        def begin() -> None:
            if listener not in stopped:
                self._publish_figures(self.broker.orders(), self.broker.sessions())  # to all others
                self._publish_house()
                self.publish([listener], self._snapshot())
                self._listeners.append(listener)

        def stop() -> None:
            stopped.append(listener)
            if listener in self._listeners:
                self._listeners.remove(listener)

        stopped: list[Listener] = []
        if self._busy or self._held:
            self._quiet.append(begin)
        else:
            self.do(begin)
        return stop

    def publish_sessions(self) -> None:
        """Publish the changed sessions, within a job."""
        if self.broker.sessions_changed and not self.writer_ended:
            changed, ended = self.broker.session_changes(self.now())
            self.publish(self._listeners, SessionsSeen(changed, ended))

    def _snapshot(self) -> Snapshot:
        broker, now = self.broker, self.now()
        self._orders, self._sessions = broker.orders(), broker.sessions()
        self._troubles, self._desks = self.troubles(), self.attendance.desks
        self._house = self._house_now()
        seen = broker.waiting(), broker.ended(), broker.feed()
        figures = self._orders, self._sessions, self._troubles
        live, claims, holdable = broker.live(now), self.claims.published(), broker.holdable()
        there = Snapshot(now, *seen, *figures, holdable, live, claims, desks=self._desks)
        return replace(there, house=self._house)

    def publish(self, listeners: Iterable[Listener], news: News) -> None:
        """Send news to listeners, within a job; a listener's fault does not affect the others."""
        for listener in tuple(listeners):
            try:
                listener(news)
            except Exception:  # noqa: BLE001 - a fault of a screen must not become one of the agents
                _LOG.exception("a screen failed on %r", news)

    def look_at_troubles(self) -> None:
        """Publish faults that are new or gone, the desks, and the current state."""
        if self._listeners:
            self.do(self._publish_house)
            self.do(lambda: self.claims.expire(self.now()))

    def _publish_house(self) -> None:
        if (desks := self.attendance.desks) != self._desks:
            self._desks = desks
            self.publish(self._listeners, DesksChanged(desks))
        if (troubles := self.troubles()) != self._troubles:
            self._troubles = troubles
            self.publish(self._listeners, TroublesChanged(troubles))
        if (house := self._house_now()) != self._house:
            self._house = house
            self.publish(self._listeners, house)

    def _publish_figures(self, orders: tuple[Standing, ...], sessions: int) -> None:
        """Publish the changed figures beside the cards."""
        if self.writer_ended or not self._listeners:  # the broker has what the record refused
            return
        if orders != self._orders:
            self._orders = orders
            self.publish(self._listeners, OrdersChanged(orders))
        if sessions != self._sessions:
            self._sessions = sessions
            self.publish(self._listeners, SessionsChanged(sessions))

    def state(self) -> str:
        """Return the states of the server's parts in a few words."""
        part = "" if self.sharing.part == ALONE else self.sharing.part
        record = "no record"
        if self.recorder is not None:
            record = "record MISSING" if self.recorder.trouble else "record ok"
        return " · ".join(filter(None, (part, self.rules.state(), record)))

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
        first = [await self._judged(waiting) for waiting in fact.waiting[:JUDGED]]
        orders = (*fact.halts, *self._standing.taken_up(fact.now))
        fact = replace(fact, waiting=(*first, *fact.waiting[JUDGED:]), halts=orders)
        self.handle(fact)
        self.look_at_electorates()
        for decided in fact.decided:
            if decided.delivered is None:
                self.await_receipt(decided.request.id, decided.request.secret, COME_BACK_WITHIN)

    async def _judged(self, waiting: RestoredRequest) -> RestoredRequest:
        event = waiting.request.event
        ruling = await self.rules.judge(event, long=True)
        return replace(waiting, ruling=ruling, risk=await self.rules.risk(event, long=True))

    def electorate_of(self, number: int) -> Electorate:
        """Return who may decide a card now, where a rule says who must allow it."""
        card = self.broker.card(number)
        if card is None or card.ballot is None:
            return NOBODY_VOTES
        return self._electorate(card.event)

    def look_at_electorates(self) -> None:
        """Take in who may decide the cards with votes, as the team is now."""
        changed = {
            number: electorate
            for number, ballot in self.broker.ballots().items()
            if (electorate := self.electorate_of(number)) != ballot.electorate
        }
        if changed:
            self.handle(ElectoratesChanged(changed, self.now()))

    def with_electorates(self, ballots: Mapping[int, Ballot]) -> Mapping[int, Ballot]:
        """Return another server's ballots with who may decide their cards, as the team is now."""
        return {
            number: replace(ballot, electorate=self._electorate(card.event))
            for number, ballot in ballots.items()
            if (card := self.broker.card(number)) is not None
        }

    async def keep_record(self) -> None:
        """Maintain the record once a second, and look for faults, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if self.recorder is not None:
                try:
                    self.recorder.time_passed(self.now())
                except WriterEndedError as error:
                    self._end_writing(error)
                await asyncio.to_thread(self.recorder.anchor)
                self._announce_trouble(self.recorder)
                self._refuse_stalled()
            self.look_at_electorates()
            self.look_at_troubles()

    def _announce_trouble(self, recorder: Recorder) -> None:
        """Report on screens and in the log that the record is missing, or works again."""
        if self._listeners and recorder.reason != self._announced:
            self._announced = recorder.reason
            text = recorder.trouble or "the record is written again"
            _LOG.warning("%s", text)
            self.observe(INCIDENT, text)
            self.look_at_troubles()

    def write(self, fact: Fact, effects: Sequence[Effect]) -> Commit:
        """Record a fact with its effects, before they run."""
        recorder = self.recorder
        if recorder is None:
            self._remembered.on_fact(fact, effects)
            return RECORDED
        changes = self._changes(fact, effects)
        return self._record(*changes) if changes or self.writer_ended else RECORDED

    def _spend(self, fact: Arrived, effects: Sequence[Effect]) -> tuple[Sequence[Effect], Commit]:
        """Record the use of an order that counts once, or else have it stand as before."""
        if self.recorder is None:
            return effects, self.write(fact, effects)
        commit = self.keep_at_once(*self._changes(fact, effects))
        if commit is not None:
            return effects, commit
        effects = self.broker.unspent(fact, effects)
        return effects, self.write(fact, effects)

    def _changes(self, fact: Fact, effects: Sequence[Effect]) -> list[Change]:
        broker = self.broker
        steering = Steering(broker.lasting(), broker.notes(), broker.ballots(), broker.asked())
        changes = self._bookkeeper.changes(fact, effects, steering)
        return changes + self._standing.changes(broker.orders(), fact.now)

    def _record(self, *changes: Change) -> Commit:
        """Write changes; refused where replies must not be sent any more."""
        if self.recorder is None:
            return RECORDED
        return self._heeded(self.recorder.write(*changes), self.recorder)

    def _heeded(self, commit: Commit, recorder: Recorder) -> Commit:
        """Return a commit, after what it tells of the record was taken in."""
        if isinstance(commit.error, WriterEndedError):
            self._end_writing(commit.error)
        self._announce_trouble(recorder)
        return commit

    def _end_writing(self, error: WriterEndedError) -> None:
        if self.writer_ended is None:
            self.writer_ended = error
            _LOG.error("%s", error)
            self.hand_over()
            self._on_writer_ended()

    def _refuse_stalled(self) -> None:
        """Refuse hooks whose requests have waited too long for the record."""
        since = self.now() - RECORDED_WITHIN
        for fact in [held.fact for held in self._held]:
            if isinstance(fact, Arrived) and fact.now < since and self._refuses():
                self.unrecorded(fact, None)

    def unrecorded(self, fact: Fact, error: BaseException | None) -> None:
        """Refuse a hook whose request was not recorded, where the owner chose so.

        The fact's effects were carried out all the same, unless there was an `error`.
        """
        if isinstance(error, WriterEndedError):
            self._end_writing(error)
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

    def _record_summary(self, request: Request, summary: Summary) -> None:
        content = {**asdict(summary), "calls": dict(summary.calls)}
        self._record(happened(entries.summary(request.event.slim(), wall(), **content)))

    def _refuses(self) -> bool:
        return self.recorder is not None and bool(self.recorder.refusal)

    # For the port.

    def comes_to_a_card(
        self, request: Request, ruling: Ruling | None, files: tuple[str, ...] = ()
    ) -> bool:
        """Whether a request would wait on a card if it were entered now; see `enter`."""
        return self.broker.comes_to_a_card(Arrived(request, ruling, 0, self.now(), files=files))

    def enter(
        self,
        request: Request,
        ruling: Ruling | None,
        risk: Risk = UNTOLD,
        files: tuple[str, ...] = (),
    ) -> PendingCall:
        """Take a request with its ruling; the returned call may already have its reply.

        `risk`: of its call, where it comes to a card. `files`: the real paths that it will change.
        Raises RefusedError.
        """
        self.take_in()
        if self.recorder is not None and self.recorder.is_anothers(request.id, request.secret):
            raise RefusedError(Refusal.NOT_YOURS)  # the store remembers longer than the broker
        pending = PendingCall(self.left, request, next(self._attempts))
        self._pending[request.id, pending.attempt] = pending
        warnings = self.rules.warnings(request.event) if is_here(request) else ()
        several = (ruling and ruling.terms) or request.terms
        who = self._electorate(request.event) if several else NOBODY_VOTES
        arrived = Arrived(
            request,
            ruling,
            pending.attempt,
            self.now(),
            warnings=warnings,
            risk=risk,
            files=files,
            electorate=who,
        )
        self.handle(arrived)
        self.after(pending.await_record())
        if self.recorder is not None:
            self._summaries.on_request(request)
        if self.closed:
            self.handle(Closing(self.now(), self._stopped))
        if pending.refused is not None:
            raise pending.refused
        return pending

    def take_in(self) -> None:
        """Raise RefusedError where this server takes no request in now."""
        if self.elsewhere:
            raise RefusedError(self.elsewhere.refusal)
        if self._refuses() or self.handed_over:
            raise RefusedError(Refusal.UNRECORDED if self._refuses() else Refusal.HANDED_OVER)

    def deny_marked(self, request: Request, denied: Decision) -> PendingCall:
        """Deny a marked call, which neither the broker nor the record hears of.

        Raises RefusedError where an ordinary request would be turned away.
        """
        self.take_in()
        call = PendingCall(lambda *_: None, request, NO_CONNECTION)
        platform = self._platforms[request.event.platform]
        call.take(platform.write(request.event, denied), confirm=False)
        return call

    def left(self, request_id: str, attempt: int) -> None:
        """Report that a hook's connection ended before its reply."""
        if self._pending.pop((request_id, attempt), None) is not None:
            self.handle(Left(request_id, attempt, self.now()))

    def await_receipt(self, request_id: str, secret: str, within: float) -> None:
        """Wait for a client's receipt, for so many seconds from now."""
        self._receipts.expect(request_id, secret, within)

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

    def contradict(self, event: Event, what: str) -> None:
        """Show in red, and record, what an agent tells of a call and cannot be right."""
        self._record(happened(entries.conflict(Conflict(event, what), wall())))
        self.handle(Noted(event, what, self.now(), alarm=True))

    def record(self, entry: Entry) -> None:
        """Record something that the server itself did, which no screen shows."""
        self._record(happened(entry))

    def keep(self, change: Change) -> Commit:
        """Write what must survive a kill, and is no fact of the broker's."""
        return self._record(change)

    def keep_at_once(self, *changes: Change) -> Commit | None:
        """Write what must not happen unless it is on record; None where it cannot be written now.

        Then none of it is on record, now or later.
        """
        if self.recorder is None:
            return RECORDED
        commit = self.recorder.write_at_once(*changes)
        if commit is None:
            self._announce_trouble(self.recorder)
            return None
        return self._heeded(commit, self.recorder)

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
        self.queries.stop()
        for clock in filter(None, (self._alarm, self._looked_at)):
            clock.cancel()
        self._receipts.stop()

    def _reconsidered(self, rulings: Mapping[str, Ruling | None], *, denies: bool) -> None:
        self.handle(Reconsidered(rulings, self.now(), denies))

    # The clock, and what effects do.

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
            lives = (pending.receipt_within or RECEIPT_WITHIN) if pending else COME_BACK_WITHIN
            self.await_receipt(effect.request_id, effect.secret, lives)

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
