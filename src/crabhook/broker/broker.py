"""The broker: told what happened, it says what is to be done about it.

`Broker.handle(fact)` is the whole interface of the state machine; everything
else here is read-only.  One fact is handled to its end before the next, so
no two of them ever see a half-made change.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import Any

from crabhook.broker.calls import joins, over
from crabhook.broker.card import Card, FeedEntry
from crabhook.broker.effects import Effect, Note, Refusal, Refuse, Resolve, Show, WakeAt
from crabhook.broker.facts import Answered, Arrived, Closing, Delivered, Fact, Left, TimePassed
from crabhook.broker.settled import SettledCalls
from crabhook.broker.shelf import Shelf
from crabhook.broker.states import Happening, TooLateError, after
from crabhook.broker.tickets import Tickets, same_secret
from crabhook.model.decision import OPERATOR, Decision, Verdict, no_opinion
from crabhook.model.event import Event, Scope
from crabhook.model.reply import SILENCE, Reply
from crabhook.model.request import Request
from crabhook.platforms.interface import Platform

FEED_KEPT = 500
MAX_WAITING = 16_384  # requests; every one holds a connection of ours
NOBODY_DECIDED = "nobody decided in time; the agent's own prompt takes over"
OPERATOR_LEFT = "the operator closed the desk"
ANSWERED_ELSEWHERE = "answered at the agent"
HOOK_GONE = "the hook was ended by the agent, or its connection was lost"


class Broker:
    """Pairs requests with decisions, each exactly once."""

    def __init__(self, platforms: Mapping[str, Platform]) -> None:
        self._platforms = platforms
        self._shelf = Shelf()
        self._attempts: dict[str, int] = {}
        self._deadlines: list[tuple[float, str]] = []
        self._settled = SettledCalls()
        self._tickets = Tickets()
        self._sessions: dict[str, str] = {}
        self.feed: deque[FeedEntry] = deque(maxlen=FEED_KEPT)

    def __repr__(self) -> str:
        return f"<Broker {self._shelf!r} {self._settled!r} {self._tickets!r}>"

    def handle(self, fact: Fact) -> list[Effect]:
        """Take in one fact; return what is to be done about it, in order.

        Raises TooLateError or DecisionError for an answer that cannot be
        given; then nothing has changed.
        """
        return _HANDLERS[type(fact)](self, fact)

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""
        return self._shelf.waiting()

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""
        return self._shelf.card(number)

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""
        return len(self._sessions)

    # What happens when a hook asks.

    def _arrived(self, fact: Arrived) -> list[Effect]:
        request, event = fact.request, fact.request.event
        self._sessions[event.session] = event.cwd
        if not self._platforms[event.platform].holds(event, request.stance):
            return self._observe(fact)
        return self._known(fact) or self._take_in(fact)

    def _known(self, fact: Arrived) -> list[Effect]:
        """Deal with a ticket or a call that is not new; nothing is done about a new one."""
        request, now = fact.request, fact.now
        if request.id in self._attempts:
            return self._come_back(fact)
        if self._tickets.belongs_to_another(request):
            return [Refuse(request.id, fact.attempt, Refusal.NOT_YOURS)]
        if (reply := self._tickets.given(request)) is not None:
            return [Resolve(request.id, fact.attempt, reply, confirm=True)]
        if (decided := self._settled.answer_again(request.event, now)) is not None:
            return self._answer_again(fact, decided)
        if len(self._attempts) >= MAX_WAITING:
            return [Refuse(request.id, fact.attempt, Refusal.FULL)]
        return []

    def _take_in(self, fact: Arrived) -> list[Effect]:
        request = fact.request
        self._attempts[request.id] = fact.attempt
        heappush(self._deadlines, (request.wait_until, request.id))
        for card in self._shelf.of_session(request.event):
            if joins([leg.event for leg in card.requests], request.event):
                card = replace(card, requests=(*card.requests, request))  # noqa: PLW2901 - frozen
                break
        else:
            card = Card(self._shelf.next_number(), (request,), asked_at=fact.now)
        self._shelf.put(card)
        return [Show(card), WakeAt(self._deadlines[0][0])]

    def _come_back(self, fact: Arrived) -> list[Effect]:
        """Put a ticket's new connection in the place of its old one."""
        ticket = fact.request
        known = self._leg(ticket.id)
        if not same_secret(known.secret, ticket.secret):
            return [Refuse(ticket.id, fact.attempt, Refusal.NOT_YOURS)]
        old, self._attempts[ticket.id] = self._attempts[ticket.id], fact.attempt
        return [Refuse(ticket.id, old, Refusal.SUPERSEDED)]

    def _answer_again(self, fact: Arrived, decided: Decision) -> list[Effect]:
        request = fact.request
        reply = self._write(request.event, decided)
        self._tickets.give(request, reply, fact.now)
        text = f"{decided.verdict.done}: the same call was decided before"
        return [Resolve(request.id, fact.attempt, reply), self._note(fact.now, request.event, text)]

    def _observe(self, fact: Arrived) -> list[Effect]:
        """Answer an event that is only watched, and draw from it what else is over."""
        event = fact.request.event
        platform = self._platforms[event.platform]
        closes = platform.closes(event)
        reply, effects = SILENCE, []
        if closes is Scope.CALL and (note := self._settled.take_note(event, fact.now)):
            reply = platform.remark(event, note) or SILENCE
        if closes is not Scope.NOTHING:
            effects = self._end_elsewhere(event, closes, fact.now)
            self._settled.forget(event, closes)
        if closes is Scope.SESSION:
            self._sessions.pop(event.session, None)
        effects.insert(0, Resolve(fact.request.id, fact.attempt, reply))
        return [*effects, self._note(fact.now, event, "")]

    def _end_elsewhere(self, news: Event, closes: Scope, now: float) -> list[Effect]:
        effects: list[Effect] = []
        for card in self._shelf.of_session(news):
            legs = [leg for leg in card.requests if over(leg.event, news, closes)]
            if not legs:
                continue
            for leg in legs:
                effects += self._resolve(leg, no_opinion(ANSWERED_ELSEWHERE), now)
            effects += self._leave(card, legs, ANSWERED_ELSEWHERE, now)
            if closes is Scope.CALL:
                break  # one result ends one call, never its twin
        return effects

    # What happens to a card that waits.

    def _answered(self, fact: Answered) -> list[Effect]:
        card = self._shelf.card(fact.number)
        if card is None:
            raise TooLateError(f"there is no #{fact.number}")
        try:
            state = after(card.state, Happening.ANSWERED)
        except TooLateError as error:
            detail = f" ({card.why})" if card.why else ""
            raise TooLateError(
                f"#{card.number} is {error}{detail}; this answer changed nothing"
            ) from None
        for leg in card.requests:
            self._platforms[leg.event.platform].check(leg.event, fact.decision)
        effects: list[Effect] = []
        for leg in card.requests:
            effects += self._resolve(leg, fact.decision, fact.now)
        self._remember(card, fact.decision, fact.now)
        ended = replace(card, state=state, decision=fact.decision, ended_at=fact.now)
        return [*effects, *self._end(ended)]

    def _remember(self, card: Card, decision: Decision, now: float) -> None:
        """Keep what the call's later events still have to hear of this decision."""
        legs = [leg.event for leg in card.requests]
        if all(leg.name != "PermissionRequest" for leg in legs):
            self._settled.remember_answer(card.event, decision, now)
        carried = any("additionalContext" in _specific(self._write(leg, decision)) for leg in legs)
        if decision.verdict is Verdict.ALLOW and decision.note and not carried:
            self._settled.remember_note(card.event, decision, now)

    def _left(self, fact: Left) -> list[Effect]:
        if self._attempts.get(fact.request_id) != fact.attempt:
            return []  # an old connection of a ticket that has come back, or one already answered
        leg = self._leg(fact.request_id)
        del self._attempts[fact.request_id]
        return self._leave(self._shelf.of_leg(leg), [leg], HOOK_GONE, fact.now)

    def _time_passed(self, fact: TimePassed) -> list[Effect]:
        effects: list[Effect] = []
        while self._deadlines and self._deadlines[0][0] <= fact.now:
            _, request_id = heappop(self._deadlines)
            if request_id not in self._attempts:
                continue  # it ended before its time
            leg = self._leg(request_id)
            if leg.wait_until > fact.now:
                continue  # its ticket came back, with a later time
            card = self._shelf.of_leg(leg)
            effects += self._resolve(leg, no_opinion(NOBODY_DECIDED), fact.now)
            effects += self._leave(card, [leg], NOBODY_DECIDED, fact.now, Happening.TIMED_OUT)
        if self._deadlines:
            effects.append(WakeAt(self._deadlines[0][0]))
        return effects

    def _closing(self, fact: Closing) -> list[Effect]:
        effects: list[Effect] = []
        for card in list(self._shelf.waiting()):
            for leg in card.requests:
                effects += self._resolve(leg, no_opinion(OPERATOR_LEFT), fact.now)
            effects += self._leave(card, card.requests, OPERATOR_LEFT, fact.now)
        return effects

    def _delivered(self, fact: Delivered) -> list[Effect]:
        card = self._shelf.of_request(fact.request_id)
        if card is None or card.decision is None or card.delivered:
            return []
        told = replace(card, delivered=fact.whole)
        self._shelf.put(told)
        fate = "delivered" if fact.whole else "NOT DELIVERED, the hook had gone"
        milliseconds = (fact.now - card.ended_at) * 1000
        text = f"{card.outcome} · {fate} {milliseconds:.0f} ms"
        return [Show(told), self._note(fact.now, card.event, text, card.number)]

    # The pieces all of the above are made of.

    def _leg(self, request_id: str) -> Request:
        """Return a request that waits."""
        card = self._shelf.of_request(request_id)
        assert card is not None  # noqa: S101 - every request that waits is on the shelf
        return next(leg for leg in card.requests if leg.id == request_id)

    def _resolve(self, leg: Request, decision: Decision, now: float) -> list[Effect]:
        attempt = self._attempts.pop(leg.id, None)
        if attempt is None:
            return []
        reply = self._write(leg.event, decision)
        self._tickets.give(leg, reply, now)
        return [Resolve(leg.id, attempt, reply, confirm=decision.by == OPERATOR)]

    def _write(self, event: Event, decision: Decision) -> Reply:
        return self._platforms[event.platform].write(event, decision)

    def _leave(
        self,
        card: Card,
        legs: Sequence[Request],
        why: str,
        now: float,
        happening: Happening = Happening.LEFT,
    ) -> list[Effect]:
        """Take legs off a card; a card that loses its last one ends."""
        remaining = tuple(leg for leg in card.requests if leg not in legs)
        if remaining:
            smaller = replace(card, requests=remaining)
            self._shelf.put(smaller)
            return [Show(smaller)]
        ended = replace(card, state=after(card.state, happening), why=why, ended_at=now)
        return [
            *self._end(ended),
            self._note(now, card.event, f"{ended.outcome} {why}", card.number),
        ]

    def _end(self, card: Card) -> list[Effect]:
        self._shelf.put(card)
        return [Show(card)]

    def _note(self, now: float, event: Event, text: str, number: int | None = None) -> Note:
        entry = FeedEntry(now, event.slim(), text, number)
        self.feed.append(entry)
        return Note(entry)


def _specific(reply: Reply) -> Mapping[str, Any]:
    specific = (reply.output or {}).get("hookSpecificOutput")
    return specific if isinstance(specific, dict) else {}


_HANDLERS: Mapping[type, Callable[[Broker, Any], list[Effect]]] = {
    Arrived: Broker._arrived,  # noqa: SLF001 - the table of its own methods
    Answered: Broker._answered,  # noqa: SLF001
    Left: Broker._left,  # noqa: SLF001
    Delivered: Broker._delivered,  # noqa: SLF001
    TimePassed: Broker._time_passed,  # noqa: SLF001
    Closing: Broker._closing,  # noqa: SLF001
}
