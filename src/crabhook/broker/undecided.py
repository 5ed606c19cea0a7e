"""Undecided is not denied: a call's card stays open after its agent went on without a decision.

Where nobody decided in time and the hooks fail closed, the call does not run. The model reads that
nobody decided, and no later answer changes that reply. A person's ruling is about the next call
that is the very same: a yes lets it run once, a no denies it. A note tells the model. The same
call, asked again while its card is open, waits on that card.
"""

from collections.abc import Iterator
from dataclasses import replace

from crabhook.broker.cards import Happening
from crabhook.broker.messages import Effect, Resolve
from crabhook.broker.orders import asked_by
from crabhook.broker.pending import NO_CONNECTION
from crabhook.broker.state import BrokerState, call_in_words, once_more
from crabhook.model.actor import Follows, Operator, RuleActor, TimeUp
from crabhook.model.card import Card, Leg, Risk, TimesAsked
from crabhook.model.decision import Decided, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.order import RULED_FOR, Order, call_of
from crabhook.platforms.event_table import Phase

MOST_OPEN = 16  # cards of one session, so that one agent's calls leave room for others
_WORDS = 2000  # letters of an operator's words in a note
_TIME_UP = TimeUp(Follows.DENIED)
_OF_A_CALL = (Phase.BEFORE, Phase.ASKING)


def time_up(state: BrokerState, leg: Leg) -> list[Effect]:
    """Answer the hooks of a call whose time is over, and keep its card open, if that can be.

    Another open card of the same call takes its place. An open card's own time ends it. Returns
    nothing where the hook is to do what it was installed to do.
    """
    card = state.cards.of_leg(leg)
    if card.went_on:
        settled = settle(state, card)
        return [*settled, *state.leave(card, [leg], _TIME_UP, Happening.TIMED_OUT)]
    same = same_call(state, leg.event)
    if not _may_stay(state, card, beside=0 if same else 1):
        return []
    state.sessions.refused(leg.event)
    state.follow(card, Decision(Verdict.DENY))
    number = same.number if same else card.number
    effects: list[Effect] = [_answer(state, each, number) for each in card.requests]
    if same is None:
        return [*effects, *go_on(state, card)]
    for each in card.requests:
        state.pending.leave(each.id)
    ended = replace(card, asked=replace(card.asked, went_on_at=state.now))
    more = replace(same.asked, times=same.asked.times + card.asked.times)
    effects += state.leave(ended, card.requests, _TIME_UP, Happening.TIMED_OUT)
    return [*effects, state.put(replace(same, asked=more))]


def left_again(state: BrokerState, card: Card) -> list[Effect]:
    """Keep a card open whose call was asked again, and whose hooks have all left since."""
    return go_on(state, card) if card.asked.times > 1 and _may_stay(state, card) else []


def go_on(state: BrokerState, card: Card) -> list[Effect]:
    """Keep a card open without its hooks, for the time that the owner chose."""
    first, *others = card.requests
    for other in others:
        state.pending.leave(other.id)
    state.pending.move(first.id, NO_CONNECTION)
    until = state.now + state.open_for
    first = replace(first, wait_until=until, gives_up_at=until)
    asked = replace(card.asked, went_on_at=state.now)
    text = "UNDECIDED: its agent went on, and your answer reaches it later"
    return [
        state.put(replace(card, requests=(first,), asked=asked, snoozed_until=0.0)),
        state.wake(until, first.id),
        state.note(card.event, text, card.number),
    ]


def reply_to(state: BrokerState, event: Event, number: int) -> Reply:
    """Return what a hook is text whose call nobody decided: the model reads that it is open."""
    platform = state.platforms[event.platform]
    later = "You can make exactly the same call again later."
    if platform.takes_notes:
        later = "A note will tell you what was decided."
    reason = (
        f"Not decided: nobody answered in time. The call is open as #{number}, and its operator "
        "may still allow it. Go on with other work that does not need it, and do not get its "
        f"effect in another way. {later}"
    )
    return platform.write(event, Decision(Verdict.DENY, reason=reason))


def same_call(state: BrokerState, event: Event) -> Card | None:
    """Return the open card of the very same call of the same agent, if there is one."""
    return next(_open(state, event), None) if state.asks_about_a_call(event) else None


def ran(state: BrokerState, news: Event) -> list[Card]:
    """Return the open cards whose call has run by now, as by a rule: the news is its result."""
    phase = state.platforms[news.platform].phase(news)
    return list(_open(state, news)) if phase is Phase.RAN else []


def asked_again(state: BrokerState, card: Card, leg: Leg, risk: Risk) -> tuple[Card, list[Effect]]:
    """Return an open card with the hook of the same call, which waits."""
    settled = settle(state, card)
    asked = TimesAsked(card.asked.times + 1)
    again = replace(card, requests=(leg,), asked_at=state.now, asked=asked, risk=risk)
    return again, settled


def settle(state: BrokerState, card: Card) -> list[Effect]:
    """Let go of an open card's hook; its answer goes on record, since it may ask for that again."""
    effects: list[Effect] = []
    for leg in card.requests:
        if (left := state.pending.leave(leg.id)) is not None:
            reply = reply_to(state, leg.event, card.number)
            state.tickets.give(leg.id, left[1], reply, state.now)
            effects.append(Resolve(leg.id, NO_CONNECTION, left[1], reply, again=True))
    return effects


def check(card: Card, decision: Decision) -> None:
    """Raise DecisionError where a decision cannot reach an agent that went on."""
    if card.went_on and not (decision.verdict in card.choices.verdicts and _is_plain(decision)):
        raise DecisionError(
            f"#{card.number}: its agent went on without a decision. Allow or deny it as it is, for "
            "the next such call. Nothing was sent"
        )


def ruled(state: BrokerState, card: Card, decided: Decided) -> list[Effect]:
    """Rule on the next call that is the same; raises DecisionError, and then nothing has changed.

    A rule gives no order, since it decides the next such call itself.
    """
    by, event = decided.by, card.event
    if not isinstance(by, Operator | RuleActor):
        raise DecisionError(f"#{card.number}: its agent went on, so a person has to rule on it")
    yes = decided.decision.verdict is Verdict.ALLOW
    words = (decided.decision.note if yes else decided.decision.reason)[:_WORDS]
    until, terms = state.now + RULED_FOR, card.ballot.terms if card.ballot else ()
    about, law = (event, until, card.number), asked_by(card.reason, terms)
    order = Order.letting_run(*about, law) if yes else Order.denying(*about, law, words)
    done = "allowed" if yes else "denied"
    text = f"#{card.number}, a call of yours that nobody had decided in time, is {done} now. "
    text += once_more(event, order) if yes else f"Do not make it again: {call_in_words(event)}"
    text += f". The operator says: {words}" if words else ""
    if isinstance(by, Operator):
        effects = state.rule_on(card, order, by, text)
    else:
        effects = state.tell_if_possible(event, text, by)
    return [*effects, *settle(state, card)]


def _answer(state: BrokerState, leg: Leg, number: int) -> Resolve:
    attempt, secret = state.pending.attempt(leg.id), state.pending.secret(leg.id)
    assert attempt is not None  # noqa: S101 - a leg of a waiting card is pending
    reply = reply_to(state, leg.event, number)
    state.tickets.give(leg.id, secret, reply, state.now)
    return Resolve(leg.id, attempt, secret, reply)


def _open(state: BrokerState, event: Event) -> Iterator[Card]:
    """Yield the open cards of the event's own call, of the same agent."""
    call = call_of(event)
    for card in state.cards.of_session(event.session_key):
        same_agent = card.event.agent_key == event.agent_key
        if call and card.went_on and same_agent and call_of(card.event) == call:
            yield card


def _may_stay(state: BrokerState, card: Card, beside: int = 1) -> bool:
    """Whether a card can stay open, with so many more in its session."""
    of_session = state.cards.of_session(card.event.session_key)
    room = sum(other.went_on for other in of_session) + beside <= MOST_OPEN
    proposal = card.ballot.proposal if card.ballot else None
    as_asked = proposal is None or _is_plain(proposal)
    closed = all(_fails_closed(state, leg) for leg in card.requests)
    return state.open_for > 0 and room and as_asked and closed


def _fails_closed(state: BrokerState, leg: Leg) -> bool:
    """Whether a hook denies a whole call that nobody decides; a question and a plan are none.

    A strict hook prints fixed words alone, and what a ruling lets run nobody signed for it.
    """
    event, platform = leg.event, state.platforms[leg.event.platform]
    whole = event.tool is not None and event.tool.shared is None and not platform.asks(event)
    denies = leg.when_lost == "deny" and platform.takes(event, Verdict.DENY) and not leg.strict
    return whole and denies and platform.phase(event) in _OF_A_CALL


def _is_plain(decision: Decision) -> bool:
    return decision == Decision(decision.verdict, decision.reason, decision.note)
