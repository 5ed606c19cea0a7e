"""A hook's event arrives: it gets a card, a reply at once, or silence."""

from collections.abc import Sequence
from dataclasses import replace

from crabhook.broker import balloting, conflicts, signing, undecided
from crabhook.broker.cards import joins, named, over
from crabhook.broker.ending import remember_again
from crabhook.broker.messages import (
    Arrived,
    Effect,
    FeedLine,
    NoteToldOf,
    OrderSpent,
    Refusal,
    Refuse,
    Resolve,
)
from crabhook.broker.orders import Course, halted
from crabhook.broker.pending import NO_CONNECTION, same_secret
from crabhook.broker.recent import DuplicateEvent
from crabhook.broker.restoring import is_back
from crabhook.broker.state import BrokerState
from crabhook.model import wording
from crabhook.model.actor import AnsweredAtAgent, Ended, OrderKind
from crabhook.model.card import Card, Request
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import EndScope, Event
from crabhook.model.order import Standing, call_of
from crabhook.model.session import KeptNote
from crabhook.platforms.event_table import Phase

_SILENCE = Decision(Verdict.PASS)


def comes_to_a_card(state: BrokerState, fact: Arrived) -> bool:
    """Whether an event would wait on a card if it arrived now; nothing changes.

    So what is looked up for a card alone costs no other call anything. A no is exact. After a yes
    its arrival may still find that there is no room, or that its call was decided a moment ago.
    """
    request = fact.request
    if request.id in state.pending or state.tickets.given(request) is not None:
        return False
    return conflicts.rule(state, _course(state, fact), conflicts.shared(state, fact)).waits


def arrived(state: BrokerState, fact: Arrived) -> list[Effect]:
    """Handle a hook's event, and end the waits that the event shows to be over."""
    event = fact.request.event
    platform = state.platforms[event.platform]
    if again := _same_ticket(state, fact):
        return again  # the event is not new, and a later order does not change its answer
    state.notes.asked_again(fact.request.id)
    ends_turn = _ends_turn(state, event)
    state.sessions.record(event, fact.now, ends_turn=ends_turn)
    duplicate = state.duplicates.add(fact.request, fact.now) if ends_turn else None
    effects = [] if duplicate and duplicate.is_repeat else _conclude(state, fact.request)
    if fact.request.strict and platform.carries_note(event):
        effects += state.notes_end(event, session=False, why=signing.NO_NOTE)
    if (end := state.orders.hear(event, fact.now)) is not None:
        effects.append(state.wake(end))
    if ends_turn and event.agent_id:
        state.orders.forget_agent(event)
        effects += state.notes_end(event, session=False)
    about_a_call = state.asks_about_a_call(event)
    rivals = conflicts.rivals(state, event) if about_a_call else []
    shared = conflicts.look(state, fact)
    ruling = conflicts.rule(state, _rule(state, fact, duplicate), shared)
    warning = conflicts.warning(state, event, shared) if shared and not fact.request.strict else ""
    stands = ruling.waits and state.stands_alone(fact.request)
    if ruling.observes or stands:
        went_by = state.note(event, "", outcome=platform.outcome(event), size=fact.request.size)
        effects = [*_observe(state, fact, warning), *effects, went_by]
        effects += _put_up(state, fact, ruling) if stands else []
    else:
        earlier = _decided_before(state, fact) if about_a_call and not ruling.denies else None
        repeats = earlier is not None and signing.wants_anew(fact.request, earlier)
        decided = [] if earlier is None or repeats else _repeat(state, fact, earlier)
        if not decided and ruling.decided is not None:
            if about_a_call and not state.is_part(event):
                decision, mine = ruling.decided.decision, (fact.request.id,)
                state.followed.follow(event, decision, fact.now, requests=mine)
            once = ruling.by if ruling.by and ruling.by.kind is OrderKind.LET_ONCE else None
            decided = _spend(state, event, ruling.decided, once) if once else []
            decided += _answer_at_once(state, fact, ruling.decided, warning=warning)
            if once is not None:
                decided = [OrderSpent(once, tuple(decided)), *decided]
        if not decided:
            alarms = (
                *conflicts.alarms_of(rivals),
                *conflicts.earlier_alarms(state, event),
                *fact.warnings,
            )
            alarms += conflicts.alarms(state, shared)
            decided = _take_in(state, fact, ruling, alarms, warning, repeats=repeats)
        effects += decided
    effects += conflicts.alarm_others(state, event, shared)
    return [*effects, *conflicts.report_rivals(state, fact.request, rivals)]


def _rule(state: BrokerState, fact: Arrived, duplicate: DuplicateEvent | None) -> Course:
    """Return what rules and orders say; a duplicate of an event gets what the first of them got."""
    request = fact.request
    if duplicate and duplicate.ordered is not None:
        return Course(decided=duplicate.ordered)
    ruling = _course(state, fact)
    if ruling.by is not None and ruling.by.kind is not OrderKind.LET_ONCE:
        state.orders.use(ruling.by)
    if ruling.decided is None or ruling.decided.decision.verdict is not Verdict.KEEP_GOING:
        return ruling
    try:
        state.keep_going.count(request.event, ruling.decided.decision)
    except DecisionError:
        return Course()  # the agent would no longer follow it
    if duplicate:
        duplicate.ordered = ruling.decided
    return ruling


def _course(state: BrokerState, fact: Arrived) -> Course:
    """Return what rules and orders make of an event; nothing changes."""
    event, stance = fact.request.event, fact.request.stance
    platform = state.platforms[event.platform]
    halt = state.orders.halt_of(event)
    if halt and state.asks_about_a_call(event):  # before the stance and the rules
        return Course(decided=halted(halt, platform.choices(event)))
    course = state.orders.rule(event, platform, stance, fact.now, fact.ruling)
    if fact.request.strict and course.by is not None and course.by.kind is OrderKind.LET_ONCE:
        # Its hook would print fixed words, and the one use of the order would be gone.
        return Course(waits=True, reason=signing.NOT_SIGNED_YET)
    return course


def _ends_turn(state: BrokerState, event: Event) -> bool:
    return state.platforms[event.platform].takes(event, Verdict.KEEP_GOING)


def _conclude(state: BrokerState, request: Request) -> list[Effect]:
    """End the cards whose call, turn or session the event shows to be over, if that can be true."""
    event = request.event
    platform = state.platforms[event.platform]
    closes = platform.closes(event)
    if closes is EndScope.NOTHING:
        return []
    ended = _ended_elsewhere(state, event, closes)
    if waited_for := [card for card in ended if conflicts.is_still_waiting(state, card)]:
        return conflicts.reject(state, event, waited_for)
    effects: list[Effect] = []
    for card in ended:
        over = card.went_on and platform.phase(event) is not Phase.RAN
        why = Ended.SESSION_OVER if over else AnsweredAtAgent(platform.outcome(event))
        effects += undecided.settle(state, card) if card.went_on else []
        effects += state.release(card, why, Refusal.OVER)
    effects += conflicts.report_result(state, request)
    effects += conflicts.report_end(state, request, closes)
    prompted = platform.phase(event) is Phase.PROMPT and platform.by_person(event)
    if prompted and not event.agent_id:
        for order in state.orders.resume(event):
            effects.append(state.note(event, f"ended by its user's prompt: {order}"))
    state.recent.forget(event, closes)
    if closes is EndScope.SESSION:
        state.sessions.end(event)
        state.orders.forget(event)
        effects += state.notes_end(event, session=True)
    return effects


def _ended_elsewhere(state: BrokerState, news: Event, closes: EndScope) -> list[Card]:
    """Return the cards that the event shows to be over."""
    waiting = state.cards.of_session(news.session_key)
    gone = closes is EndScope.SESSION or (bool(news.agent_id) and _ends_turn(state, news))
    ended = [
        card
        for card in waiting
        if over(card.event, news, closes) and (gone or not state.is_unwaited(card))
    ]
    ended += undecided.ran(state, news)
    if closes is not EndScope.CALL:
        return ended
    # One result ends one call, never a second call that looks the same. The id decides which;
    # without an id, a call whose agent still waits cannot have this result.
    by_id = [card for card in ended if named(card.event) and named(news)]
    return (by_id or [card for card in ended if not conflicts.is_still_waiting(state, card)])[:1]


def _observe(state: BrokerState, fact: Arrived, warning: str) -> list[Effect]:
    """Answer an event that is only observed: no opinion, or a note that waited for this result."""
    event = fact.request.event
    platform = state.platforms[event.platform]
    if platform.phase(event) is Phase.BEFORE:
        state.followed.see(event, fact.now)
    carried = state.carry(event, fact.request.id, Verdict.PASS)
    note = "\n".join(filter(None, (_kept_note(state, event), carried, warning)))
    remark = platform.remark(event, note) if note else None
    reply = remark or platform.write(event, _SILENCE)
    confirm = bool(carried)
    return [Resolve(fact.request.id, fact.attempt, fact.request.secret, reply, confirm)]


STANDS_FOR = 3600.0  # seconds that a card stands for which no agent waits
MOST_STANDING = 16  # of them in one session, so that refused calls leave room for other cards


def _put_up(state: BrokerState, fact: Arrived, ruling: Course) -> list[Effect]:
    """Put up the card of an event that has its answer already; one for calls that are the same."""
    event = fact.request.event
    until = fact.now + STANDS_FOR
    request = replace(fact.request, wait_until=until, gives_up_at=until)
    standing = [
        card
        for card in state.cards.of_session(event.session_key)
        if state.stands_alone(*card.requests) and not card.went_on
    ]
    agent, call = event.agent_key, call_of(event)
    again = any((each.event.agent_key, call_of(each.event)) == (agent, call) for each in standing)
    if again or len(standing) >= MOST_STANDING or state.pending.refusal(request):
        return []
    state.pending.enter(request, NO_CONNECTION)
    number, legs = state.cards.next_number(), (request.leg(""),)
    card = Card(number, legs, asked_at=fact.now, reason=ruling.reason, risk=fact.risk)
    return [state.put(card), state.wake(until, request.id)]


def _spend(state: BrokerState, event: Event, by: Decided, order: Standing) -> list[Effect]:
    """Count the only use of an order, and take back its word to the model if that still waits."""
    state.orders.use(order)
    if state.platforms[event.platform].phase(event) is Phase.ASKING:  # its hook comes after this
        state.recent.remember_answer(event, by, state.now)
    return state.untold(order, "was not needed: the call was made again")


def unspent(state: BrokerState, fact: Arrived, effects: Sequence[Effect]) -> list[Effect]:
    """Take back the use of an order that counts once, and turn away the hook that had it."""
    request, event = fact.request, fact.request.event
    state.tickets.take_back(request.id)
    state.followed.unfollow(event, request.id)
    state.recent.unremember(event)
    state.notes.asked_again(request.id)
    gone: list[Effect] = []
    for effect in effects:
        if isinstance(effect, OrderSpent):
            state.orders.put_back(effect.order)
            gone += [effect, *effect.use]
    for effect in gone:
        match effect:
            case NoteToldOf(note):
                state.notes.restore(KeptNote(note))
            case FeedLine(entry):
                state.feed.remove(entry)
    refused = Refuse(request.id, fact.attempt, Refusal.UNSPENT)
    stay = (effect for effect in effects if effect not in gone)
    return [*stay, refused, *state.turned_away(event, Refusal.UNSPENT)]


def _kept_note(state: BrokerState, event: Event) -> str:
    is_result = state.platforms[event.platform].closes(event) in (EndScope.CALL, EndScope.RESULT)
    return state.recent.take_note(event, state.now) if is_result else ""


def _same_ticket(state: BrokerState, fact: Arrived) -> list[Effect]:
    """Handle a ticket that the server knows; return nothing for a new ticket."""
    request = fact.request
    if request.id in state.pending:
        return _come_back(state, fact)
    answer = state.tickets.given(request)
    if isinstance(answer, Refusal):
        return [Refuse(request.id, fact.attempt, answer)]
    if answer is None:
        return []
    remember_again(state, request.id)
    return [Resolve(request.id, fact.attempt, request.secret, answer, confirm=True, again=True)]


def _decided_before(state: BrokerState, fact: Arrived) -> Decided | None:
    """Return the decision of the same call from a moment ago, if there is one."""
    event, now = fact.request.event, fact.now
    if state.is_part(event) or not state.recent.speaks_of(event, now):
        return None
    return state.recent.answer_again(event, now, alone=not _alike(state, event))


def _repeat(state: BrokerState, fact: Arrived, decided: Decided) -> list[Effect]:
    text = f"{decided.decision.verdict.done}: the same call was decided before"
    return _answer_at_once(state, fact, decided, text)


def _come_back(state: BrokerState, fact: Arrived) -> list[Effect]:
    """Move a ticket from its old connection to its new one."""
    ticket = fact.request
    waiting = state.leg(ticket.id)
    if not same_secret(state.pending.secret(ticket.id), ticket.secret):
        return [Refuse(ticket.id, fact.attempt, Refusal.NOT_YOURS)]
    card = state.cards.of_leg(waiting)
    if card.went_on:
        reply = undecided.reply_to(state, waiting.event, card.number)
        return [Resolve(ticket.id, fact.attempt, ticket.secret, reply, again=True)]
    if state.stands_alone(waiting):
        silence = state.platforms[ticket.event.platform].write(ticket.event, _SILENCE)
        return [Resolve(ticket.id, fact.attempt, ticket.secret, silence, again=True)]
    old = state.pending.move(ticket.id, fact.attempt)
    return [
        Refuse(ticket.id, old, Refusal.SUPERSEDED),
        *is_back(state, waiting, ticket),
    ]


def _answer_at_once(
    state: BrokerState, fact: Arrived, decided: Decided, text: str = "", *, warning: str = ""
) -> list[Effect]:
    """Give a reply without a card."""
    request, decision = fact.request, decided.decision
    carried = state.carry(request.event, request.id, decision.verdict)
    warning = warning if decision.verdict is not Verdict.DENY else ""
    kept = _kept_note(state, request.event)
    if note := "\n".join(filter(None, (kept, carried, warning))):
        decision = replace(decision, note=note)
        decided = Decided(decision, decided.by)
    if decision.verdict is Verdict.DENY:
        state.sessions.refused(request.event)
    reply = state.platforms[request.event.platform].write(request.event, decision)
    state.tickets.give(request.id, request.secret, reply, fact.now)
    line = text or f"{decision.verdict.done}: {wording.who(decided.by)}"
    if request.strict:
        line = f"{line}; {signing.FIXED_WORDS}"
    return [
        Resolve(
            request.id,
            fact.attempt,
            request.secret,
            reply,
            confirm=bool(carried),
            decided=decided,
        ),
        state.note(request.event, line, size=request.size),
    ]


def _take_in(  # noqa: PLR0913 - what is known of it by now
    state: BrokerState,
    fact: Arrived,
    ruling: Course,
    alarms: tuple[str, ...],
    warning: str,
    *,
    repeats: bool = False,
) -> list[Effect]:
    """Put a new request on its call's card, or on a new card, if the limits leave room.

    `repeats`: its call was decided a moment ago, and its hook wants a signature of its own.
    """
    if refusal := state.pending.refusal(fact.request):
        return [
            Refuse(fact.request.id, fact.attempt, refusal),
            *state.turned_away(fact.request.event, refusal),
        ]
    kept = _kept_note(state, fact.request.event)
    leg = fact.request.leg("\n".join(filter(None, (kept, warning))))
    if fact.files:
        state.files[leg.id] = fact.files
    state.pending.enter(fact.request, fact.attempt)
    settled: list[Effect] = []
    if (card := undecided.same_call(state, leg.event)) is not None:
        again, settled = undecided.asked_again(state, card, leg, fact.risk)
        card = replace(again, reason=ruling.reason, alarms=alarms)
    elif (card := _same_call(state, leg.event)) is not None:
        risk = max(card.risk, fact.risk, key=lambda either: either.level)
        card = replace(card, requests=(*card.requests, leg), risk=risk)
    else:
        kept_going = state.keep_going.in_a_row(leg.event)
        number = state.cards.next_number()
        ruling = _tied(state, leg.event, ruling)
        card = Card(
            number,
            (leg,),
            asked_at=fact.now,
            kept_going=kept_going,
            reason=ruling.reason,
            alarms=alarms,
            risk=fact.risk,
            repeats=repeats,
        )
    terms = (*(fact.ruling.terms if fact.ruling else ()), *fact.request.terms)
    card, wakes = balloting.opened(state, card, terms, fact.electorate)
    card, void = signing.asked_again(state, card, leg)
    return [*settled, *void, state.put(card), state.wake(leg.wait_until, leg.id), *wakes]


def _tied(state: BrokerState, event: Event, ruling: Course) -> Course:
    """Return the course with the number of the call that the event is about a part of."""
    if (whole := state.call_of(event)) is None:
        return ruling
    words = f"a part of call #{whole.number}"
    reason = ruling.reason
    full = f"{reason.in_full}; {words}" if reason.of_rules else ""
    reason = replace(reason, words=f"{reason.words}; {words}", full=full)
    return replace(ruling, reason=reason)


def _alike(state: BrokerState, event: Event) -> list[Card]:
    """Return the cards that may be of the event's call; an event with a result joins no card.

    A part of a call joins its own alone: a skill's line and a call with the same command are two.
    """
    if not state.asks_about_a_call(event):
        return []
    is_part = state.is_part(event)
    return [
        card
        for card in state.cards.alike(event)
        if state.is_part(card.event) is is_part
        and not card.went_on
        and joins([leg.event for leg in card.requests], event)
    ]


def _same_call(state: BrokerState, event: Event) -> Card | None:
    """Return the card whose call `event` asks about; None where two cards could be meant."""
    alike = _alike(state, event)
    if not alike or (not named(event) and state.recent.speaks_of(event, state.now)):
        return None
    return alike[0] if len(alike) == 1 else None
