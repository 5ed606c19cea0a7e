"""The runner: tells the broker what happens and carries out, in order, what it asks for.

This is the only place with a clock.  It lives in one asyncio loop and is
called from that loop alone, so it needs no lock.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from time import time as wall

from crabhook.broker.broker import Broker
from crabhook.broker.card import Card, FeedEntry
from crabhook.broker.desk import News
from crabhook.broker.effects import Effect, Note, Refusal, Refuse, Resolve, Show, WakeAt
from crabhook.broker.facts import (
    Answered,
    Arrived,
    Closing,
    Delivered,
    Extended,
    Fact,
    Given,
    Left,
    Ordered,
    Restored,
    Revoked,
    Snoozed,
    TimePassed,
)
from crabhook.broker.law import Judge, no_law
from crabhook.broker.orders import Order
from crabhook.broker.tickets import same_secret
from crabhook.model.decision import Decision
from crabhook.model.errors import CrabhookError
from crabhook.model.event import Event
from crabhook.model.reply import Reply
from crabhook.model.request import Request
from crabhook.platforms.interface import Platform
from crabhook.server.bookkeeper import Bookkeeper, read_back
from crabhook.server.lastwords import LastWords
from crabhook.store.recorder import Recorder

_LOG = logging.getLogger(__name__)

RECEIPT_WITHIN = 5.0  # seconds; a client that lives confirms at once


class RefusedError(CrabhookError):
    """A request that gets no reply; `refusal` says why."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.value)
        self.refusal = refusal


class Place:
    """One hook's place in the queue: await it for the reply; leaving it withdraws the request."""

    def __init__(self, runner: "Runner", request: Request, attempt: int) -> None:
        self._runner, self._attempt = runner, attempt
        self.request = request
        self.confirm = False  # whether the client is to say that it has printed the reply
        self.reply: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()

    def __repr__(self) -> str:
        return f"<Place {self.request.id} attempt={self._attempt} done={self.reply.done()}>"

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

    def leave(self) -> None:
        """Say that the hook is gone."""
        self._runner.left(self.request.id, self._attempt)


class Runner:
    """Owns the broker; a desk (`broker.desk.Desk`) to screens, a queue to the port."""

    def __init__(
        self,
        platforms: Mapping[str, Platform],
        recorder: Recorder | None = None,
        judge: Judge = no_law,
    ) -> None:
        self._platforms = platforms
        self._broker = Broker(platforms, judge)
        self._recorder = recorder
        self._bookkeeper = Bookkeeper(wall)
        self._words = LastWords()
        self._places: dict[tuple[str, int], Place] = {}
        self._attempts = count(1)
        self._listeners: list[Callable[[News], None]] = []
        self._alarm: asyncio.TimerHandle | None = None
        self._receipts: dict[str, tuple[str, asyncio.TimerHandle]] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<Runner {self._broker!r} places={len(self._places)}>"

    # For the record.

    def restore(self) -> None:
        """Take up what a server before this one left: requests that wait, answers not received."""
        if self._recorder is None:
            return
        found, now = self._recorder.recover(), self.now()
        waiting = [
            (one.card, read_back(one, self._platforms[one.platform], now, wall()))
            for one in found.waiting
            if one.platform in self._platforms
        ]
        answers = [
            Given(one.request_id, one.secret, Reply.verbatim(one.stdout, one.stderr, one.exit_code))
            for one in found.answers
        ]
        self._handle(Restored(tuple(waiting), tuple(answers), found.last_card, now))

    async def keep_record(self) -> None:
        """See to the record once a second, until cancelled."""
        loop = asyncio.get_running_loop()
        while self._recorder is not None:
            await asyncio.sleep(1)
            before = self._recorder.trouble
            self._recorder.time_passed(self.now())
            await loop.run_in_executor(None, self._recorder.anchor)
            if self._recorder.trouble != before:
                self.tell(self._recorder.trouble or "the record is written again")

    # For the port.

    def enter(self, request: Request) -> Place:
        """Take a request in; its place may already hold the reply.  Raises RefusedError."""
        if self._recorder is not None and self._recorder.refusal:
            raise RefusedError(Refusal.UNRECORDED)
        place = Place(self, request, next(self._attempts))
        key = (request.id, place._attempt)  # noqa: SLF001 - the two are one thing
        self._places[key] = place
        self._handle(Arrived(request, key[1], self.now()))
        if self._closed:
            self._handle(Closing(self.now()))
        if place.reply.done() and (error := place.reply.exception()) is not None:
            raise error
        return place

    def left(self, request_id: str, attempt: int) -> None:
        """Hear that a hook's connection ended before its reply."""
        if self._places.pop((request_id, attempt), None) is not None:
            self._handle(Left(request_id, attempt, self.now()))

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
        self._handle(Delivered(request_id, whole, self.now()))

    def tell(self, text: str) -> None:
        """Show news of the house itself."""
        self.observe(Event("", "Desk"), text)

    def observe(self, event: Event, text: str) -> None:
        """Show something that went by and was nobody's request."""
        self._publish(FeedEntry(self.now(), event.slim(), text))

    def close(self) -> None:
        """Release whatever waits with no opinion, and whatever still comes."""
        self._closed = True
        self._handle(Closing(self.now()))
        if self._alarm:
            self._alarm.cancel()
        for _, alarm in self._receipts.values():
            alarm.cancel()

    # For the screens: broker.desk.Desk.

    def now(self) -> float:
        """Return the broker's clock: monotonic seconds, so that no change of the date moves it."""
        return asyncio.get_running_loop().time()

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        return self._broker.waiting()

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._broker.card(number)

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last."""
        return self._broker.ended()

    def last_words(self, number: int) -> str | None:
        """Return what the card's agent last said; None while its transcript is being read."""
        card = self._broker.card(number)
        return "" if card is None else self._words.of(card)

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last."""
        return self._broker.feed()

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return self._broker.sessions()

    def answer(self, number: int, decision: Decision) -> Card:
        """Decide a card; raises TooLateError or DecisionError, and then nothing changed."""
        self._handle(Answered(number, decision, self.now()))
        return self._known(number)

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that can be held on request."""
        return self._broker.holdable()

    def orders(self) -> Sequence[Order]:
        """Return the standing orders, the oldest first."""
        return self._broker.orders()

    def order(self, order: Order) -> None:
        """Give a standing order; raises DecisionError for one that makes no sense."""
        self._handle(Ordered(order, self.now()))

    def revoke(self, matches: Callable[[Order], bool]) -> None:
        """End the standing orders that match; raises DecisionError where none does."""
        self._handle(Revoked(matches, self.now()))

    def extend(self, number: int, seconds: float) -> Card:
        """Let a card wait longer; raises TooLateError, or DecisionError past the agent's limit."""
        self._handle(Extended(number, seconds, self.now()))
        return self._known(number)

    def snooze(self, number: int, seconds: float) -> Card:
        """Put a card aside for a while; raises TooLateError."""
        self._handle(Snoozed(number, self.now() + seconds, self.now()))
        return self._known(number)

    def _known(self, number: int) -> Card:
        card = self._broker.card(number)
        assert card is not None  # noqa: S101 - it was changed a line ago
        return card

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        """Call `listener` with every new or changed card and feed entry; return how to stop."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    # Facts in, effects out.

    def _handle(self, fact: Fact) -> None:
        effects = self._broker.handle(fact)
        if self._recorder is not None and (changes := self._bookkeeper.changes(fact, effects)):
            self._recorder.write(*changes)  # first, so that nothing is shown or given unrecorded
        for effect in effects:
            self._carry_out(effect)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Resolve(request_id, attempt, reply, confirm):
                place = self._places.pop((request_id, attempt), None)
                if place and confirm:
                    self._expect_receipt(place)
                if place and not place.reply.done():
                    place.reply.set_result(reply)
            case Refuse(request_id, attempt, refusal):
                place = self._places.pop((request_id, attempt), None)
                if place and not place.reply.done():
                    place.reply.set_exception(RefusedError(refusal))
                    place.reply.exception()  # no complaint of asyncio's if its hook is gone by now
            case Show(news) | Note(news):
                self._publish(news)
            case WakeAt(at):
                self._wake_at(at)

    def _expect_receipt(self, place: Place) -> None:
        """Begin to wait for the client's word that it has printed the reply it is about to get."""
        place.confirm = True
        request = place.request
        alarm = asyncio.get_running_loop().call_later(
            RECEIPT_WITHIN,
            self._receipt,
            request.id,
            False,  # noqa: FBT003 - a timer's argument
        )
        if earlier := self._receipts.pop(request.id, None):
            earlier[1].cancel()
        self._receipts[request.id] = (request.secret, alarm)

    def _publish(self, news: News) -> None:
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
        self._handle(TimePassed(self.now()))
