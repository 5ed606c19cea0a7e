"""A hook asks: a card, a known ticket, a call decided a moment ago, or silence at once."""

from collections.abc import Sequence
from dataclasses import replace

from crabhook.broker import doubts
from crabhook.broker.books import Books
from crabhook.broker.calls import joins, named, over
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect, Refusal, Refuse, Resolve
from crabhook.broker.ending import remember_again
from crabhook.broker.facts import Arrived
from crabhook.broker.orders import Ruling, halted
from crabhook.broker.restoring import is_back
from crabhook.broker.tickets import same_secret
from crabhook.broker.twins import Twins
from crabhook.model import wording
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.ending import AnsweredAtAgent
from crabhook.model.event import Event, Scope
from crabhook.model.request import Request
from crabhook.platforms.rows import Phase

_SILENCE = Decision(Verdict.PASS)


def arrived(books: Books, fact: Arrived) -> list[Effect]:
    """Take in a hook's event, and draw from it what else is over."""
    event = fact.request.event
    platform = books.platforms[event.platform]
    books.hear_of(event)
    if again := _same_ticket(books, fact):
        return again  # which is no news, and no order that came later changes its answer
    ends_turn = Verdict.KEEP_GOING in platform.choices(event).verdicts
    twins = books.tellings.hear(fact.request, fact.now) if ends_turn else Twins()
    effects = [] if twins.told_before else _conclude(books, fact.request, fact.now)
    rivals = doubts.rivals(books, event)
    ruling = _rule(books, fact, twins)
    if not ruling.waits and ruling.decided is None:
        went_by = books.note(fact.now, event, "", outcome=platform.outcome(event))
        effects = [*_observe(books, fact), *effects, went_by]
    else:
        decided = [] if ruling.denies else _decided_before(books, fact)
        if not decided and ruling.decided is not None:
            decided = _answer_at_once(books, fact, ruling.decided)
        effects += decided or _take_in(
            books,
            fact,
            ruling,
            (*doubts.alarms_of(rivals), *doubts.forewarned(books, event), *fact.warnings),
        )
    return [*effects, *doubts.tell_rivals(books, fact.request, rivals, fact.now)]


def _rule(books: Books, fact: Arrived, twins: Twins) -> Ruling:
    """Return what rules and orders say; to both hooks of one event, what they said to the first."""
    request = fact.request
    if twins.ordered is not None:
        return Ruling(decided=twins.ordered)
    halt = books.orders.halt_of(request.event) if books.asks_about_a_call(request.event) else None
    if halt is not None:  # whatever the stance, and whatever the rules say
        return Ruling(decided=halted(halt))
    platform = books.platforms[request.event.platform]
    ruling = books.orders.rule(request.event, platform, request.stance, fact.now, fact.ruling)
    if ruling.decided is None:
        return ruling
    if not books.stops.counts(request.event, ruling.decided.decision):
        return Ruling()  # the agent would no longer follow it
    if ruling.decided.decision.verdict is Verdict.KEEP_GOING:
        twins.ordered = ruling.decided
    return ruling


def _conclude(books: Books, request: Request, now: float) -> list[Effect]:
    """End the cards whose call, turn or session the event tells to be over, if that can be."""
    event = request.event
    closes = books.platforms[event.platform].closes(event)
    if closes is Scope.NOTHING:
        return []
    ended = _ended_elsewhere(books, event, closes)
    if waited_for := [card for card in ended if doubts.stands_still(books, card)]:
        return doubts.disbelieve(books, event, waited_for, now)
    effects = _end_elsewhere(books, event, ended, now)
    effects += doubts.hear_outcomes(books, request, now)
    effects += doubts.hear_end(books, request, closes, now)
    if books.platforms[event.platform].phase(event) is Phase.PROMPT and not event.agent_id:
        for order in books.orders.resume(event):
            effects.append(books.note(now, event, f"ended by its user's prompt: {order}"))
    books.settled.forget(event, closes)
    if closes is Scope.SESSION:
        books.sessions.pop((event.platform, event.session), None)
        books.orders.forget(event)
    return effects


def _ended_elsewhere(books: Books, news: Event, closes: Scope) -> list[Card]:
    """Return the cards that the event tells to be over."""
    ended = [card for card in books.shelf.of_session(news) if over(card.event, news, closes)]
    if closes is not Scope.CALL:
        return ended
    # One result ends one call, never its twin: an id tells it best, and without one it is not
    # that of a call whose agent still waits.
    by_id = [card for card in ended if named(card.event) and named(news)]
    return (by_id or [card for card in ended if not doubts.stands_still(books, card)])[:1]


def _end_elsewhere(books: Books, news: Event, ended: Sequence[Card], now: float) -> list[Effect]:
    why = AnsweredAtAgent(books.platforms[news.platform].outcome(news))
    effects: list[Effect] = []
    for card in ended:
        effects += books.release(card, why, now, Refusal.OVER)
    return effects


def _observe(books: Books, fact: Arrived) -> list[Effect]:
    """Answer an event that is only watched: no opinion, or a note that waited for this result."""
    event = fact.request.event
    platform = books.platforms[event.platform]
    if platform.phase(event) is Phase.BEFORE:
        books.followed.see(event, fact.now)
    note = _kept_note(books, event, fact.now)
    said = platform.remark(event, note) if note else None
    reply = said or platform.write(event, _SILENCE)
    return [Resolve(fact.request.id, fact.attempt, reply)]


def _kept_note(books: Books, event: Event, now: float) -> str:
    is_result = books.platforms[event.platform].closes(event) in (Scope.CALL, Scope.RESULT)
    return books.settled.take_note(event, now) if is_result else ""


def _same_ticket(books: Books, fact: Arrived) -> list[Effect]:
    """Deal with a ticket that is not new; nothing is done about a new one."""
    request = fact.request
    if request.id in books.room:
        return _come_back(books, fact)
    if books.tickets.belongs_to_another(request):
        return [Refuse(request.id, fact.attempt, Refusal.NOT_YOURS)]
    answer = books.tickets.given(request)
    if isinstance(answer, Refusal):
        return [Refuse(request.id, fact.attempt, answer)]
    if answer is None:
        return []
    remember_again(books, request.id, fact.now)
    return [Resolve(request.id, fact.attempt, answer, confirm=True)]


def _decided_before(books: Books, fact: Arrived) -> list[Effect]:
    """Say again what was decided about the same call a moment ago, if anything was."""
    request, now = fact.request, fact.now
    if not books.asks_about_a_call(request.event):
        return []
    alone = not _alike(books, request.event)
    if (decided := books.settled.answer_again(request.event, now, alone=alone)) is not None:
        text = f"{decided.decision.verdict.done}: the same call was decided before"
        return _answer_at_once(books, fact, decided, text)
    return []


def _come_back(books: Books, fact: Arrived) -> list[Effect]:
    """Put a ticket's new connection in the place of its old one."""
    ticket = fact.request
    known = books.leg(ticket.id)
    if not same_secret(known.secret, ticket.secret):
        return [Refuse(ticket.id, fact.attempt, Refusal.NOT_YOURS)]
    old = books.room.move(ticket.id, fact.attempt)
    return [Refuse(ticket.id, old, Refusal.SUPERSEDED), *is_back(books, known, ticket)]


def _answer_at_once(books: Books, fact: Arrived, decided: Decided, text: str = "") -> list[Effect]:
    """Give the reply that is already known, without a card."""
    request, decision = fact.request, decided.decision
    if note := _kept_note(books, request.event, fact.now):
        decision = replace(decision, note=note)
    reply = books.write(request.event, decision)
    books.tickets.give(request.id, request.secret, reply, fact.now)
    if not text and books.asks_about_a_call(request.event):
        books.followed.follow(request.event, decision, fact.now, requests=(request.id,))
    line = text or f"{decision.verdict.done}: {wording.who(decided.by)}"
    return [
        Resolve(request.id, fact.attempt, reply, decided=Decided(decision, decided.by)),
        books.note(fact.now, request.event, line),
    ]


def _take_in(books: Books, fact: Arrived, ruling: Ruling, alarms: tuple[str, ...]) -> list[Effect]:
    """Put a new request on a card, its call's or one of its own, if there is still room."""
    if refusal := books.room.refusal(fact.request):
        return [
            Refuse(fact.request.id, fact.attempt, refusal),
            *books.turned_away(fact.now, fact.request.event, refusal),
        ]
    request = replace(fact.request, note=_kept_note(books, fact.request.event, fact.now))
    books.room.enter(request, fact.attempt)
    if card := _same_call(books, request.event, fact.now):
        card = replace(card, requests=(*card.requests, request))
    else:
        kept_going = books.stops.in_a_row(request.event)
        number = books.shelf.next_number()
        card = Card(
            number,
            (request,),
            asked_at=fact.now,
            kept_going=kept_going,
            law=ruling.why,
            came=ruling.came,
            alarms=alarms,
        )
    return [books.put(card), books.wake(request.wait_until, request.id)]


def _alike(books: Books, event: Event) -> list[Card]:
    """Return the cards that `event` may be another leg of; a result is a leg of none."""
    if not books.asks_about_a_call(event):
        return []
    return [
        card
        for card in books.shelf.alike(event)
        if joins([leg.event for leg in card.requests], event)
    ]


def _same_call(books: Books, event: Event, now: float) -> Card | None:
    """Return the card whose call `event` asks about, if there can be no other it means."""
    alike = _alike(books, event)
    if not alike or (not named(event) and books.settled.speaks_of(event, now)):
        return None
    return alike[0] if len(alike) == 1 else None
