"""The core gives the broker one fact at a time, and carries out its effects in order.

The core records a fact first, then carries it out, then publishes it. A fact that comes meanwhile,
as from a listener, waits for its turn, so that all listeners hear one order. `Runner` has the loop
and the clock.
"""

import logging
from abc import ABC, abstractmethod
from asyncio import Future
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from secrets import token_bytes
from typing import TypeAlias

from crabhook.broker.broker import Broker
from crabhook.broker.messages import (
    Effect,
    Fact,
    Note,
    Refuse,
    Resolve,
    Show,
    WakeAt,
    decisions_in,
)
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
from crabhook.model.errors import CrabhookError
from crabhook.model.order import Standing
from crabhook.server.core.attendance import OUTCOMES_KEPT, Attendance, Claims, Submissions
from crabhook.server.core.parts import Parts
from crabhook.store.interface import DeposedError, Leader, Pace, Role

_LOG = logging.getLogger(__name__)

Job: TypeAlias = Callable[[], object]
Then: TypeAlias = Callable[[BaseException | None], object]
"""Called when all effects of a fact are done, or with the error that kept it off the record."""
Listener: TypeAlias = Callable[[News], object]

RECORDED = True


@dataclass(slots=True)
class _Held:
    """The effects of a fact, until it is recorded; a `fact` of None only keeps its place."""

    fact: Fact | None
    effects: Sequence[Effect]
    then: Then | None
    written: bool | Future[bool]
    orders: tuple[Standing, ...] = ()
    sessions: int = 0

    @property
    def ready(self) -> bool:
        return isinstance(self.written, bool) or self.written.done()


class Core(ABC):
    """Owns the broker; `witness` hears of every fact, `day` is what desks show of it.

    `deposed` says since when another server has the record; None while this server may write.
    """

    def __init__(self, parts: Parts) -> None:
        self.broker = Broker(parts.platforms, parts.bounds)
        self.witness, self.day = parts.witness, parts.counts
        self.deposed: DeposedError | None = None
        self._leadership, self._decided = parts.leadership, parts.decided
        self._busy = False
        self._jobs: deque[Job] = deque()  # jobs that wait for their turn
        self._quiet: deque[Job] = deque()  # jobs that run first, once all is recorded
        self._held: deque[_Held] = deque()
        self._listeners: list[Listener] = []
        self.claims = Claims(lambda news: self.publish(self._listeners, news))
        self.attendance = Attendance()
        self.store_id = token_bytes(16)  # stands for the store's name in a run without a store
        self.submitted: Submissions = Bounded(OUTCOMES_KEPT)
        self._orders: tuple[Standing, ...] = ()  # as last published
        self._sessions = self._desks = 0
        self._troubles: tuple[str, ...] = ()
        self._house = HouseChanged()

    def __repr__(self) -> str:
        return f"<Core {self.broker!r} listeners={len(self._listeners)}>"

    # Which server leads, where several share a record.

    @property
    def role(self) -> Role:
        """This server's part among those that share its record."""
        return self._leadership.role

    @property
    def leader(self) -> Leader:
        """The server that leads them, without a name where none is known."""
        return self._leadership.leader

    @property
    def pace(self) -> Pace:
        """How the record is written here, or followed."""
        return self._leadership.pace

    @property
    def record_lost(self) -> bool:
        """Whether a standby has not reached the record for long."""
        return self._leadership.record_lost

    # What the subclass does.

    @abstractmethod
    def now(self) -> float:
        """Return the broker's clock, seconds."""

    @abstractmethod
    def write(self, fact: Fact, effects: Sequence[Effect]) -> bool | Future[bool]:
        """Record a fact with its effects, before they run; False, or its future, is a failure."""

    @abstractmethod
    def unrecorded(self, fact: Fact, error: BaseException | None) -> None:
        """Handle a fact that was not recorded.

        Its effects were carried out all the same, unless there was an `error`.
        """

    @abstractmethod
    def resolve(self, effect: Resolve) -> None:
        """Give a hook its reply."""

    @abstractmethod
    def refuse(self, effect: Refuse) -> None:
        """Turn a hook away."""

    @abstractmethod
    def wake_at(self, at: float) -> None:
        """Send TimePassed at this time, instead of any earlier request."""

    @abstractmethod
    def publish_sessions_soon(self) -> None:
        """Schedule `publish_sessions`, once for all changes until then."""

    @abstractmethod
    def troubles(self) -> tuple[str, ...]:
        """Return the current faults."""

    def state(self) -> str:
        """Return in a few words how the rules and the record are; empty where unknown."""
        return ""

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
        effects = self.broker.handle(fact)
        written = self.write(fact, effects)
        orders, sessions = self.broker.orders(), self.broker.sessions()
        if isinstance(written, bool) and not self._held:
            self._release(_Held(fact, effects, then, written, orders, sessions))
            return
        self._held.append(_Held(fact, effects, then, written, orders, sessions))
        if not isinstance(written, bool):
            written.add_done_callback(lambda _: self._recorded())

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
        while self._held and self._held[0].ready:
            held = self._held.popleft()
            try:
                self._release(held)
            except Exception:  # noqa: BLE001 - it is none of the facts behind it
                _LOG.exception("a fault in carrying out %s", type(held.fact).__name__)

    def _release(self, held: _Held) -> None:
        """Carry out a fact's effects, in order, and publish them."""
        fact, written = held.fact, held.written
        error = None if isinstance(written, bool) else written.exception()
        if fact is not None and error is not None:
            self.unrecorded(fact, error)
        elif fact is not None:
            self.witness.handled(fact, held.effects)
            for effect in held.effects:
                self._carry_out(effect)
            if self._decided:
                self._log_decisions(fact, held.effects)
            if not (written if isinstance(written, bool) else written.result()):
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
            case Show(news) | Note(news):
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
        if self.broker.sessions_changed and not self.deposed:
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
        if self.deposed or not self._listeners:  # the broker has what the record refused
            return
        if orders is not self._orders:
            self._orders = orders
            self.publish(self._listeners, OrdersChanged(orders))
        if sessions != self._sessions:
            self._sessions = sessions
            self.publish(self._listeners, SessionsChanged(sessions))
