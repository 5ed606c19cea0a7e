"""The runner: tells the broker what happens and carries out, in order, what it asks for.

This is the only place with a clock.  It lives in one asyncio loop and is
called from that loop alone, so it needs no lock.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import count
from os import uname
from time import time as wall

from crabhook.broker.arriving import COME_BACK_WITHIN
from crabhook.broker.broker import Broker
from crabhook.broker.messages import (
    Answered,
    Arrived,
    Closing,
    Delivered,
    Effect,
    Fact,
    Left,
    Note,
    Noted,
    Reconsidered,
    Refusal,
    Refuse,
    Resolve,
    RestoredRequest,
    Show,
    TimePassed,
    WakeAt,
)
from crabhook.broker.pending import LIMITS, NO_CONNECTION, Limits, same_secret
from crabhook.desk.interface import News
from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decided
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.order import Standing
from crabhook.model.request import Request
from crabhook.platforms.interface import Platform
from crabhook.policy.ruling import Ruling
from crabhook.server.core.journal_mapper import JournalMapper
from crabhook.server.core.law import Judge, no_rules
from crabhook.server.core.offers import Offers
from crabhook.server.core.pending_call import PendingCall, RefusedError
from crabhook.server.core.snapshot import restored
from crabhook.server.metrics.tally import Witness
from crabhook.server.transcripts import LastWords, Summaries
from crabhook.store import entries
from crabhook.store.change import happened
from crabhook.store.recorder import Recorder
from crabhook.transcript import Summary

_LOG = logging.getLogger(__name__)
JUDGED = 100  # requests taken up from a server before; hooks wait for this one to be there
RECEIPT_WITHIN = 5.0  # seconds; a client that lives confirms at once


class Runner:
    """Owns the broker; a queue to the port.  Screens get a desk on it (`server.localdesk`).

    `decided` hears of every decision, whoever made it, and `witness` of all that is done.
    `warned` returns what a card about an event says in red from the first, and `edition` which
    edition of the rules it is judged by.
    """

    def __init__(
        self,
        platforms: Mapping[str, Platform],
        recorder: Recorder | None = None,
        judge: Judge = no_rules,
        offers: Offers | None = None,
        bounds: Limits = LIMITS,
    ) -> None:
        self._platforms = platforms
        self.broker = Broker(platforms, bounds)
        self.judge = judge
        self._facts: deque[Fact] = deque()
        self._busy = False
        self._tasks: set[asyncio.Task[None]] = set()
        self.updates = 0  # how many have been published: the number of the last
        self.recorder = recorder
        self._bookkeeper = JournalMapper(wall)
        self.words = LastWords()
        self._summaries = Summaries(platforms, self._record_summary)
        self.offers = offers
        self._places: dict[tuple[str, int], PendingCall] = {}
        self._attempts = count(1)
        self._listeners: list[Callable[[News], None]] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._receipts: dict[str, tuple[str, asyncio.TimerHandle]] = {}
        self._told = ""  # what was last told of the record's trouble
        self.faults: list[Callable[[], str]] = []  # each tells what is wrong, empty if nothing
        if recorder is not None:
            self.faults.append(lambda: recorder.trouble)
        self.closed = self.handed_over = False
        self.witness = Witness()
        self.decided: Callable[[Event, Decided], object] = lambda _event, _decided: None
        self.warned: Callable[[Event], tuple[str, ...]] = lambda _event: ()
        self.edition: Callable[[Event], Hashable] = lambda _event: None

    def __repr__(self) -> str:
        return f"<Runner {self.broker!r} places={len(self._places)}>"

    # For the record.

    async def restore(self) -> None:
        """Take up what a server before this one left: requests that wait, answers not received."""
        if self.recorder is None:
            return
        fact = restored(self.recorder.recover(), self._platforms, self.now(), wall())
        first = [replace(one, ruling=await self._ruling(one)) for one in fact.waiting[:JUDGED]]
        fact = replace(fact, waiting=(*first, *fact.waiting[JUDGED:]))
        self.handle(fact)
        for one in fact.decided:
            if one.delivered is None:
                self._expect_receipt(one.request.id, one.request.secret, COME_BACK_WITHIN)

    async def keep_record(self) -> None:
        """See to the record once a second, until cancelled."""
        loop = asyncio.get_running_loop()
        while self.recorder is not None:
            await asyncio.sleep(1)
            self.recorder.time_passed(self.now())
            await loop.run_in_executor(None, self.recorder.anchor)
            self._tell_trouble(self.recorder)

    def _tell_trouble(self, recorder: Recorder) -> None:
        """Tell the screens, if there are any yet, that the record is missing, or no longer."""
        if self._listeners and recorder.reason != self._told:
            self._told = recorder.reason
            self.tell(recorder.trouble or "the record is written again")

    # For the port.

    def enter(self, request: Request, ruling: Ruling | None) -> PendingCall:
        """Take a request in, of which the rules say so much; its place may hold the reply already.

        Raises RefusedError.
        """
        if self._refuses():
            raise RefusedError(Refusal.UNRECORDED)
        if self.handed_over:
            raise RefusedError(Refusal.HANDED_OVER)
        if self.recorder is not None and self.recorder.is_anothers(request.id, request.secret):
            raise RefusedError(Refusal.NOT_YOURS)  # the store remembers longer than the broker
        place = PendingCall(self.left, request, next(self._attempts))
        self._places[request.id, place.attempt] = place
        here = request.origin.host == uname().nodename  # else its settings are elsewhere, too
        warnings = self.warned(request.event) if here else ()
        self.handle(Arrived(request, ruling, place.attempt, self.now(), warnings=warnings))
        if self.recorder is not None:
            self._summaries.hear(request)
        if self.closed:
            self.handle(Closing(self.now()))
        if place.reply.done() and (error := place.reply.exception()) is not None:
            raise error
        if self._refuses() and not place.reply.done():  # it is the first that was not recorded
            place.leave()
            raise RefusedError(Refusal.UNRECORDED)
        return place

    def _record_summary(self, request: Request, found: Summary) -> None:
        said = {**asdict(found), "calls": dict(found.calls)}
        if self.recorder is not None:
            event = request.event.slim()
            self.recorder.write(happened(entries.summary(event, wall(), **said)))
            self._tell_trouble(self.recorder)

    def _refuses(self) -> bool:
        return self.recorder is not None and bool(self.recorder.refusal)

    def left(self, request_id: str, attempt: int) -> None:
        """Hear that a hook's connection ended before its reply."""
        if self._places.pop((request_id, attempt), None) is not None:
            self.handle(Left(request_id, attempt, self.now()))

    def confirm(self, request_id: str, secret: str) -> bool:
        """Hear that a client has printed its reply; False for a ticket nobody waits on."""
        expected = self._receipts.get(request_id)
        if expected is None or not same_secret(expected[0], secret):
            return False
        expected[1].cancel()
        self._receipt(request_id, whole=True)
        return True

    def _receipt(self, request_id: str, whole: bool) -> None:  # noqa: FBT001 - a timer's argument
        del self._receipts[request_id]
        self.handle(Delivered(request_id, whole, self.now()))

    def tell(self, text: str) -> None:
        """Show news of the house itself."""
        self.observe(Event("", "Desk"), text)

    def warn(self, text: str) -> None:
        """Show in red, log and record that something was done to the server itself."""
        _LOG.error("%s", text)
        if self.recorder is not None:
            self.recorder.write(happened(entries.server(text, wall())))
        self.handle(Noted(Event("", "Desk"), text, self.now(), alarm=True))

    def observe(self, event: Event, text: str) -> None:
        """Show something that went by and was nobody's request."""
        self.handle(Noted(event, text, self.now()))

    def close(self) -> None:
        """Release whatever waits with no opinion, and whatever still comes."""
        self.closed = True
        self.handle(Closing(self.now()))
        self._stop_clocks()

    def hand_over(self) -> None:
        """Answer nobody any more: what waits is on record, and its hooks ask the next server."""
        self.handed_over = True
        for place in self._places.values():
            place.refuse(Refusal.HANDED_OVER)
        self._places.clear()  # so that no hook is taken to have left
        self._stop_clocks()

    def reconsider(self, number: int) -> None:
        """Have what waits for the same tool as a card judged anew: a rule was added."""
        task = asyncio.get_running_loop().create_task(self._reconsider(self.broker.alike(number)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _reconsider(self, cards: Sequence[Card]) -> None:
        for card in cards:
            rulings = {leg.id: await self.judge(leg.event, long=True) for leg in card.requests}
            self.handle(Reconsidered(rulings, self.now()))

    async def _ruling(self, one: RestoredRequest) -> Ruling | None:
        return await self.judge(one.request.event, long=True)

    def _stop_clocks(self) -> None:
        for task in self._tasks:
            task.cancel()
        if self._alarm:
            self._alarm.cancel()
        for _, alarm in self._receipts.values():
            alarm.cancel()

    # For desks.

    def now(self) -> float:
        """Return the broker's clock: monotonic seconds, so that no change of the date moves it."""
        return asyncio.get_running_loop().time()

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        return self.broker.waiting()

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self.broker.card(number)

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last."""
        return self.broker.ended()

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last."""
        return self.broker.feed()

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return self.broker.sessions()

    def orders(self) -> Sequence[Standing]:
        """Return the standing orders, the oldest first."""
        return self.broker.orders()

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        """Call `listener` with every new or changed card and feed entry; return how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # Facts in, effects out.

    def handle(self, fact: Fact) -> None:
        """Tell the broker, record what follows and do it; raises what `Broker.handle` does.

        A fact that comes while another is carried out, as from a listener, waits for its turn;
        what cannot be done is logged then.  So whatever is published is in one order for all,
        and what waited is carried out whatever becomes of the fact before it.
        """
        if self._busy:
            self._facts.append(fact)
            return
        self._busy = True
        try:
            self._take(fact)
        finally:
            while self._facts:
                self._take_later(self._facts.popleft())
            self._busy = False

    def _take_later(self, fact: Fact) -> None:
        """Take a fact that had to wait; its fault is not that of the fact before it."""
        try:
            self._take(fact)
        except CrabhookError as error:
            _LOG.warning("%s came too late: %s", type(fact).__name__, error)
        except Exception:  # noqa: BLE001 - nor one of the agents
            _LOG.exception("a fault in carrying out %s", type(fact).__name__)

    def _take(self, fact: Fact) -> None:
        effects = self.broker.handle(fact)
        if self.recorder is not None and (
            changes := self._bookkeeper.changes(fact, effects, self.broker.halts())
        ):
            self.recorder.write(*changes)  # first, so that nothing is shown or given unrecorded
            self._tell_trouble(self.recorder)
        self.witness.handled(fact, effects)
        for effect in effects:
            self._carry_out(effect)
        for event, made in _decided(fact, effects):
            self.decided(event, made)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Resolve(request_id, attempt, secret, reply, confirm):
                place = self._places.pop((request_id, attempt), None)
                if place:
                    place.take(reply, confirm=confirm)
                if confirm and (place or attempt == NO_CONNECTION):
                    within = RECEIPT_WITHIN if place else COME_BACK_WITHIN
                    self._expect_receipt(request_id, secret, within)
            case Refuse(request_id, attempt, refusal):
                place = self._places.pop((request_id, attempt), None)
                if place:
                    place.refuse(refusal)
            case Show(news) | Note(news):
                self._publish(news)
            case WakeAt(at):
                self._wake_at(at)

    def _expect_receipt(self, request_id: str, secret: str, within: float) -> None:
        """Begin to wait for a client's word that it has printed the reply it is about to get."""
        alarm = asyncio.get_running_loop().call_later(
            within,
            self._receipt,
            request_id,
            False,  # noqa: FBT003 - a timer's argument
        )
        if earlier := self._receipts.pop(request_id, None):
            earlier[1].cancel()
        self._receipts[request_id] = (secret, alarm)

    def _publish(self, news: News) -> None:
        self.updates += 1
        for listener in tuple(self._listeners):
            try:
                listener(news)
            except Exception:  # noqa: BLE001 - a fault of a screen must not become one of the agents
                _LOG.exception("a screen failed on %r", news)

    def _wake_at(self, at: float) -> None:
        if self._alarm:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_at(at, self._wake)

    def _wake(self) -> None:
        self.handle(TimePassed(self.now()))


def _decided(fact: Fact, effects: Sequence[Effect]) -> Iterator[tuple[Event, Decided]]:
    """Yield each call that a fact decided, with all its agent sent, once: at once or on its card.

    A reply given again to a client that had lost it is no decision.
    """
    for effect in effects:
        match fact, effect:
            case Arrived(request), Resolve(request_id, decided=Decided() as made):
                if request_id == request.id:
                    yield request.event, made
            case Answered(number, made, by), Show(card) if card.number == number:
                yield card.event, Decided(made, by)
            case _:
                pass
