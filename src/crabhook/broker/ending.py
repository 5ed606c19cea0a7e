"""How a card ends: answered, left by its hook, out of time, or with the desk; and if it arrived."""

from collections.abc import Mapping
from dataclasses import replace
from heapq import heappop
from typing import TypeAlias

from crabhook.broker.books import Books
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect, Refusal, Refuse, WakeAt
from crabhook.broker.facts import Answered, Closing, Delivered, Left, TimePassed
from crabhook.broker.law import against
from crabhook.broker.orders import halted
from crabhook.broker.restoring import never_came_back
from crabhook.broker.states import Happening, State, TooLateError, after
from crabhook.model.actor import OrderKind
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.ending import Ended, Follows, TimeUp
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.order import Order
from crabhook.model.reply import Reply
from crabhook.model.request import Request
from crabhook.policy.ruling import Ruling

Rulings: TypeAlias = Mapping[str, Ruling | None]

_FOLLOWS: Mapping[str, Follows] = {
    "PreToolUse": Follows.OWN_RULES,
    "BeforeTool": Follows.OWN_RULES,
    "PermissionRequest": Follows.OWN_USER,
}
"""What follows an event that nobody decided, where its hook does not deny it."""
_UNLESS_DENIED: Mapping[Follows, Follows] = {
    Follows.OWN_RULES: Follows.DENIED_OR_OWN_RULES,
    Follows.OWN_USER: Follows.DENIED_OR_OWN_USER,
}
_UNTIL = "every call of that session is denied until its user's next prompt"


def answered(books: Books, fact: Answered) -> list[Effect]:
    """Decide a card: every hook that waits on it gets its reply, each in its own words.

    Raises TooLateError or DecisionError, and then nothing has changed.
    """
    card, decision = known_card(books, fact.number), fact.decision
    decided = Decided(decision, fact.by)
    state = check(books, fact.number, decision, fact.rulings)
    books.stops.count(card.event, decision)
    effects: list[Effect] = []
    for leg in card.requests:
        effects += books.resolve(leg, decided, fact.now)
    _remember(books, card, decided, fact.now)
    books.follow(card, decision, fact.now)
    ended = books.put(replace(card, state=state, decided=decided, ended_at=fact.now))
    return [*effects, ended, *_halt(books, card, decided, fact.now)]


def _halt(books: Books, card: Card, decided: Decided, now: float) -> list[Effect]:
    """Stop the rest of a halted session, its subagents too, until its user's next prompt.

    An agent ends its turn only when the calls of the same message are done, and
    those that run beside it are not told at all.
    """
    why = decided.decision.halt
    if not why or not card.event.session:
        return []
    order = Order(OrderKind.HALT, session=card.event.session, words=why)
    standing = books.orders.give(order, decided.by)
    denied = halted(standing)
    effects: list[Effect] = [books.note(now, order.event, f"{order}; {_UNTIL}")]
    for other in books.shelf.of_session(card.event):
        if all(books.asks_about_a_call(leg.event) for leg in other.requests):
            effects += answered(books, Answered(other.number, denied.decision, denied.by, now))
    return effects


def check(books: Books, number: int, decision: Decision, rulings: Rulings) -> State:
    """Return the state a card would have once decided so; raises as `answered` does."""
    card = known_card(books, number)
    try:
        state = after(card.state, Happening.ANSWERED)
    except TooLateError as error:
        detail = f" ({card.why})" if card.why else ""
        raise TooLateError(
            f"#{card.number} is {error}{detail}; this answer changed nothing"
        ) from None
    for leg in card.requests:
        books.platforms[leg.event.platform].check(leg.event, decision)
    changed = changed_calls(books, card, decision)
    if not changed.keys() <= rulings.keys():
        raise DecisionError(f"#{number} was changed, and the rules were not asked about that yet")
    said = against(rulings[leg] for leg in changed)
    if not set(said) <= set(decision.despite):
        raise DecisionError(f"the rules are against the call as it was changed: {'; '.join(said)}")
    return state


def changed_calls(books: Books, card: Card, decision: Decision) -> dict[str, Event]:
    """Return a card's calls as a decision changes them, by request id.

    Only what differs from what the agent asked: that was judged when it came.  Answers to
    questions and changed plans run nothing.
    """
    if decision.updated_input is None or card.state is not State.WAITING:
        return {}
    found: dict[str, Event] = {}
    for leg in card.requests:
        event = leg.event
        if event.tool is None or books.platforms[event.platform].asks(event):
            continue
        changed = replace(event.tool, input=dict(decision.updated_input))
        if changed.fingerprint != event.tool.fingerprint:
            found[leg.id] = replace(event, tool=changed)
    return found


def known_card(books: Books, number: int) -> Card:
    """Return the card with this number; raise TooLateError if there is none."""
    card = books.shelf.card(number)
    if card is None:
        raise TooLateError(f"there is no #{number}")
    return card


def _remember(books: Books, card: Card, decided: Decided, now: float) -> None:
    """Keep what the later events of the call have to hear."""
    books.remember_answer(card, decided, now)
    _remember_note(books, card, decided, now)


def remember_again(books: Books, request_id: str, now: float) -> None:
    """Keep it once more when a hook takes an answer that was decided before the server's restart.

    Not sooner: the hook that waited until now shows that the call has not gone on meanwhile.
    And not a second time: by then it may have.
    """
    card = books.shelf.of_request(request_id)
    if request_id in books.decided_before and card and card.decided is not None:
        books.decided_before.remove(request_id)
        _remember(books, card, card.decided, now)


def _remember_note(books: Books, card: Card, decided: Decided, now: float) -> None:
    """Keep a note that no leg could carry to the model, for the call's result."""
    decision = decided.decision
    if decision.verdict is not Verdict.ALLOW or not decision.note:
        return
    replies = (books.write(leg.event, decision) for leg in card.requests)
    if not any("additionalContext" in _specific(reply) for reply in replies):
        books.settled.remember_note(card.event, decided, now)


def _specific(reply: Reply) -> Mapping[str, Value]:
    specific = (reply.output or {}).get("hookSpecificOutput")
    return specific if isinstance(specific, dict) else {}


def left(books: Books, fact: Left) -> list[Effect]:
    """Take a hook that is gone off its card."""
    if books.room.attempt(fact.request_id) != fact.attempt:
        return []  # an old connection of a ticket that has come back, or one already answered
    leg = books.leg(fact.request_id)
    books.room.leave(fact.request_id)
    return books.leave(books.shelf.of_leg(leg), [leg], Ended.HOOK_LEFT, fact.now)


def time_passed(books: Books, fact: TimePassed) -> list[Effect]:
    """End whatever has waited long enough, orders given for a while, and what was put aside."""
    effects: list[Effect] = [
        books.note(fact.now, event, text) for event, text in books.orders.expire(fact.now)
    ]
    while books.deadlines and books.deadlines[0][0] <= fact.now:
        _, request_id = heappop(books.deadlines)
        attempt = books.room.attempt(request_id)
        if attempt is None:
            continue  # it ended before its time
        leg = books.leg(request_id)
        if leg.wait_until > fact.now:
            continue  # its time was extended
        card = books.shelf.of_leg(leg)
        books.room.leave(leg.id)
        effects.append(Refuse(leg.id, attempt, Refusal.UNDECIDED))
        books.tickets.give(leg.id, leg.secret, Refusal.UNDECIDED, fact.now)
        effects += books.leave(card, [leg], TimeUp(undecided(leg)), fact.now, Happening.TIMED_OUT)
    effects += never_came_back(books, fact.now)
    effects += _bring_back(books, fact.now)
    if books.deadlines:
        effects.append(WakeAt(books.deadlines[0][0]))
    return effects


def undecided(leg: Request) -> Follows:
    """Return what follows where nobody decides, as far as its hook says what it then does.

    A call before the agent's own rules have seen it may run by one of them, and nobody is asked.
    """
    follows = _FOLLOWS.get(leg.event.name)
    if follows is None:
        return Follows.GOES_ON
    match leg.when_lost:
        case "deny":
            return Follows.DENIED
        case "pass":
            return follows
        case "ask":
            return Follows.USER_ASKED
        case _:
            return _UNLESS_DENIED[follows]


def _bring_back(books: Books, now: float) -> list[Effect]:
    """Put before the operator again what was put aside until now."""
    aside = [card for card in books.shelf.waiting() if 0 < card.snoozed_until <= now]
    return [books.put(replace(card, snoozed_until=0.0)) for card in aside]


def closing(books: Books, fact: Closing) -> list[Effect]:
    """Release whatever waits; hooks that were to fail closed deny."""
    return books.let_go(Ended.DESK_CLOSED, fact.now, Refusal.CLOSED)


def delivered(books: Books, fact: Delivered) -> list[Effect]:
    """Note whether a decision reached the hook that asked for it."""
    card = books.shelf.of_request(fact.request_id)
    books.decided_before.discard(fact.request_id)
    if card is None or card.decision is None or card.delivered:
        return []
    fate = "delivered" if fact.whole else "NOT DELIVERED, the hook had gone"
    text = f"{card.outcome} · {fate} {(fact.now - card.ended_at) * 1000:.0f} ms"
    return [
        books.put(replace(card, delivered=fact.whole)),
        books.note(fact.now, card.event, text, card.number),
    ]
