"""Turns the broker's facts and effects into changes of the store.

The mapper sees every fact with its effects before the server carries them out. So a request is on
record before it is shown, and a decision, its record and all answers are one change. It also keeps
and restores what a restarted server needs.

The store has wall time and the broker monotonic time. The mapper needs both clocks to convert, so
that a wall clock set meanwhile makes no wait longer.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from crabhook.broker import messages
from crabhook.broker.call_outcomes import CallOutcome
from crabhook.broker.cards import named
from crabhook.broker.messages import (
    Conflict,
    Effect,
    Escalated,
    FirstClaim,
    NoteToldOf,
    Outcome,
    Refusal,
    Refuse,
    Resolve,
    Restored,
    RestoredAnswer,
    RestoredDecision,
    RestoredRequest,
    Show,
    Voted,
    VotesVoid,
)
from crabhook.broker.pending import NO_CONNECTION
from crabhook.datatypes import Bounded
from crabhook.desk.commands import EndOrders, Extend, GiveOrder, StopSession
from crabhook.hook.statement import ticket_digest
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card, Leg, Origin, Request, Stance, State
from crabhook.model.decision import Reply
from crabhook.model.event import Event
from crabhook.model.jsontext import compact
from crabhook.model.order import Order, Standing
from crabhook.model.proof import CallProof
from crabhook.model.signing import SignedOnly
from crabhook.platforms.interface import Platform
from crabhook.server.core.persisted_orders import Steering, kept, taken_up
from crabhook.store import entries
from crabhook.store.actors import decided_read, decided_text
from crabhook.store.change import (
    Change,
    DecidedCall,
    KeptReply,
    Recovered,
    Waiting,
    delivered,
    halted,
    happened,
    left,
    settled,
    waits,
)
from crabhook.store.record import Entry, RecordKind, iso

_ENDS = {State.WITHDRAWN: RecordKind.WITHDRAWN, State.EXPIRED: RecordKind.EXPIRED}
_OPERATORS = (messages.Commanded, messages.RuleAdded)  # facts of an operator's, beside decisions
_TURNED_AWAY = (Refusal.FULL, Refusal.SESSION_FULL, Refusal.UNSPENT)
_TOLD_KEPT = 4096  # answers; enough for the slowest receipt
_GONE, _TIME_UP = "the hook had gone", "its time was up"
_AGAIN = "its call was asked again"
_NOT_TAKEN = "the hook did not take it"
_NOT_BACK = "no receipt came before the server was started again, and the hook did not come back"

_NO_STEERING = Steering()

_Replies = Mapping[str, Resolve]


@dataclass(slots=True)
class _Fate:
    """A decided request, and the last record about its answer's delivery; None without a record.

    `absent`: its hook has not come back since the server's restart.
    """

    event: Event
    card: int
    absent: bool
    delivered: bool | None = None


class JournalMapper:
    """Makes the changes of one broker.

    `wall` is the record's wall clock; `secret_of` returns the secret of a request that waits.
    """

    def __init__(self, wall: Callable[[], float], secret_of: Callable[[str], str]) -> None:
        self._wall, self._secret_of = wall, secret_of
        self._fates: Bounded[str, _Fate] = Bounded(_TOLD_KEPT)
        self._steering: tuple[object, ...] = ((), (), (), {}, {})

    def changes(
        self,
        fact: messages.Fact,
        effects: Sequence[Effect],
        steering: Steering = _NO_STEERING,
    ) -> list[Change]:
        """Return the changes to record for a fact, before its effects are carried out.

        `steering`: what stands after it.
        """
        replies = {effect.request_id: effect for effect in effects if isinstance(effect, Resolve)}
        made: list[Change] = []
        for effect in effects:
            if not isinstance(effect, Show):
                continue
            card, before = effect.card, effect.before
            if card.state is State.WAITING:
                made += self._waiting(card, before, fact, replies)
            elif before is None or before.state is State.WAITING:
                made.append(self._end(card, replies, _proof_for(card, fact)))
        if isinstance(fact, messages.Arrived) and fact.request.id in replies:
            made += self._at_once(fact.request, replies[fact.request.id], effects)
        proof = _proof_beside(fact, effects)
        for entry in self._told(fact, effects, self._wall()):
            made.append(happened(replace(entry, proof=proof) if proof else entry))
            proof = None  # the first record of what a command did has it
        if isinstance(fact, messages.Restored):
            self._take_up(fact.decided)
        if isinstance(fact, messages.Delivered):
            made += self._delivered(fact)
        lasting, notes, ballots = steering.lasting, steering.notes, steering.ballots
        asked = dict(steering.asked)
        heard = tuple(order.heard for order in lasting)  # which no order is compared by
        facts = {number: ballot.facts for number, ballot in ballots.items()}
        if (stands := (lasting, heard, notes, facts, asked)) != self._steering:
            self._steering = stands
            wall, beside = self._wall(), {"ballots": len(ballots), "asked": len(asked)}
            stops = entries.stops(lasting, len(notes), wall, **beside)
            made.append(halted(kept(steering, fact.now, wall), stops))
        return made

    def _told(self, fact: messages.Fact, effects: Sequence[Effect], wall: float) -> Iterator[Entry]:
        """Yield the entries that change no waiting request."""
        for effect in effects:
            match effect:
                case Conflict():
                    yield entries.conflict(effect, wall)
                case NoteToldOf():
                    yield entries.note(effect, wall)
                case Voted() | VotesVoid() | FirstClaim() | Escalated():
                    yield entries.of_ballot(effect, wall, fact.now)
                case Outcome(fate=fate) if fate is not CallOutcome.AS_ALLOWED:
                    yield entries.outcome(effect, wall)
                case Refuse(refusal=refusal) if refusal in _TURNED_AWAY:
                    assert isinstance(fact, messages.Arrived)  # noqa: S101 - no other fact turns a hook away so
                    why = f"turned away: {refusal}"
                    yield entries.ended(
                        RecordKind.WITHDRAWN, fact.request, wall, card=None, why=why
                    )
        if isinstance(fact, _OPERATORS):
            yield from _operator_did(fact, effects, wall)

    def _waiting(
        self, card: Card, earlier: Card | None, fact: messages.Fact, replies: _Replies
    ) -> Iterator[Change]:
        """Keep each leg that is new or has a new timeout, but no leg that left its card.

        A restart would put such a leg back on a card that may be decided by then. A new leg on a
        card from before a restart is recorded as any other.
        """
        now, wall, legs = fact.now, self._wall(), [leg.id for leg in card.requests]
        before = earlier.requests if earlier else ()
        left_open = card.went_on and earlier is not None and not earlier.went_on
        kept_until = {leg.id: leg.wait_until for leg in before}
        for gone in before:
            if gone.id not in legs:
                over = gone.wait_until <= now or left_open  # each hook of the call is told at once
                why = _TIME_UP if over else _GONE
                why = _AGAIN if earlier and earlier.went_on else why
                entry = entries.ended(RecordKind.LEFT, gone, wall, card=card.number, why=why)
                yield left([gone.id], entry, answers=_kept_of([gone], replies, wall))
        for leg in card.requests:
            if kept_until.get(leg.id) == leg.wait_until:
                continue
            kept = waiting_kept(card, leg, self._secret_of(leg.id), now, wall)
            if left_open:
                yield waits(kept, entries.undecided(leg, wall, card=card, until=kept.wait_until))
            elif leg.id in kept_until:
                yield waits(kept)
            elif isinstance(fact, messages.Restored):
                why = "the server was started again"
                yield waits(
                    kept,
                    entries.taken_up(leg.event, wall, request_id=leg.id, card=card.number, why=why),
                )
            else:
                ends = kept.wait_until, kept.gives_up_at
                entry = entries.asked(
                    leg,
                    wall,
                    card=card.number,
                    legs=legs,
                    ends=ends,
                    because=card.reason,
                )
                yield waits(kept, entry)

    def _end(self, card: Card, replies: _Replies, proof: CallProof | None) -> Change:
        wall, legs = self._wall(), [leg.id for leg in card.requests]
        first = next((leg for leg in card.requests if named(leg.event)), card.requests[0])
        if card.end is not None:
            kind = _ENDS[card.state]
            entry = entries.ended(kind, first, wall, card=card.number, end=card.end)
            answers = _kept_of(card.requests, replies, wall)
            if len(answers) > 1:
                entry = replace(entry, body={**entry.body, "legs": [*legs]})
            return left(legs, entry, answers=answers)
        assert card.decided is not None  # noqa: S101 - what ended otherwise says why
        waited = card.ended_at - card.asked_at
        entry = entries.decided(
            first.event,
            card.decided,
            wall,
            legs=legs,
            waited=waited,
            card=card.number,
            ballot=card.ballot,
        )
        signed = tuple(each for leg in legs if leg in replies for each in replies[leg].reply.signed)
        entry = replace(entry, proof=proof, signed=signed)
        if card.went_on:  # a ruling about the next such call
            went_on = iso(wall - (card.ended_at - card.asked.went_on_at))
            entry = replace(entry, body={**entry.body, "went_on": went_on})
        answered = [leg for leg in card.requests if leg.id in replies]
        for leg in answered:
            if replies[leg.id].confirm:
                absent = replies[leg.id].attempt == NO_CONNECTION
                self._fates[leg.id] = _Fate(leg.event.slim(), card.number, absent)
        return settled([answer_kept(leg, replies[leg.id], wall, card) for leg in answered], entry)

    def _take_up(self, decided: Sequence[messages.RestoredDecision]) -> None:
        """Learn the decisions on record from before this server."""
        for decided_before in decided:
            event = decided_before.request.event.slim()
            fate = _Fate(
                event, decided_before.number, absent=True, delivered=decided_before.delivered
            )
            self._fates[decided_before.request.id] = fate

    def _delivered(self, fact: messages.Delivered) -> Iterator[Change]:
        fate, request_id, whole = self._fates.get(fact.request_id), fact.request_id, fact.whole
        if fate is None or fate.delivered or fate.delivered == whole:
            return
        fate.delivered = whole
        missing = "" if whole else _NOT_BACK if fate.absent else _NOT_TAKEN
        entry = entries.delivered(
            fate.event, self._wall(), request_id=request_id, card=fate.card, missing=missing
        )
        yield delivered(request_id, entry, whole=whole)

    def _at_once(
        self, request: Request, resolve: Resolve, effects: Sequence[Effect]
    ) -> Iterator[Change]:
        """Record an event that got its answer without a card."""
        wall = self._wall()
        if resolve.again:  # a repeated reply is already on record
            if fate := self._fates.get(request.id):
                fate.absent = False
            return
        if resolve.decided is None:
            outcomes = [effect for effect in effects if isinstance(effect, Outcome)]
            result = next(
                (outcome.call for outcome in outcomes if outcome.event.tool is not None), None
            )
            yield happened(entries.observed(request, wall, call=result))
            return
        entry = entries.decided(request.event, resolve.decided, wall, legs=[request.id])
        yield settled([answer_kept(request, resolve, wall)], entry)


def _proof_for(card: Card, fact: messages.Fact) -> CallProof | None:
    """Return what a passkey signed to decide this card, if the fact is that decision."""
    if isinstance(fact, messages.Answered) and fact.number == card.number:
        return fact.proof
    return None


def _proof_beside(fact: messages.Fact, effects: Sequence[Effect]) -> CallProof | None:
    """Return what opened a command that ended no card: a yes that is not enough yet is one."""
    if isinstance(fact, _OPERATORS):
        return fact.proof
    if isinstance(fact, messages.Answered) and any(isinstance(effect, Voted) for effect in effects):
        return fact.proof
    return None


def _operator_did(fact: messages.Fact, effects: Sequence[Effect], wall: float) -> Iterator[Entry]:
    """Yield the operator's actions that were no decision."""
    match fact:
        case messages.Commanded(GiveOrder(order), by):
            yield entries.operator(f"ordered: {Standing.of(order, 0, by)}", wall, by)
        case messages.Commanded(StopSession(session, why, agent), by):
            order = Order(OrderKind.HALT, session=session, agent=agent, words=why)
            yield entries.operator(f"ordered: {order}", wall, by)
        case messages.Commanded(EndOrders(), by):
            ended = (
                effect.orders for effect in effects if isinstance(effect, messages.OrdersEnded)
            )
            for order in chain.from_iterable(ended):
                yield entries.orders_end(order, wall, by)
        case messages.RuleAdded(about, rule, by):
            yield entries.operator(f"added a rule on {about}: {rule}", wall, by)
        case messages.Commanded(Extend(number), by):
            for effect in effects:
                if isinstance(effect, Show):
                    expires = iso(wall + effect.card.wait_until - fact.now)
                    yield entries.operator(f"gave #{number} more time", wall, by, expires=expires)


def waiting_kept(card: Card, leg: Leg, secret: str, now: float, wall: float) -> Waiting:
    """Return the stored form of a request that waits on a card."""
    return Waiting(
        request_id=leg.id,
        secret=secret,
        platform=leg.event.platform,
        payload=leg.strict.payload if leg.strict else _payload(leg),
        stance=leg.stance.value,
        asked=wall - (now - card.asked_at),
        wait_until=wall + (leg.wait_until - now),
        card=card.number,
        host=leg.origin.host,
        pid=leg.origin.pid,
        user=leg.origin.user,
        gives_up_at=wall + (leg.gives_up_at - now),
        note=leg.note,
        machine=leg.origin.machine,
        strict=int(leg.strict is not None),
    )


def read_back(kept: Waiting, platform: Platform, now: float, wall: float) -> Request:
    """Return a stored request; raises PayloadError only if a person changed the store."""
    return Request(
        id=kept.request_id,
        secret=kept.secret,
        event=replace(platform.read(kept.payload), machine=kept.machine),
        wait_until=now + kept.remaining(wall),
        stance=Stance(kept.stance),
        origin=Origin(kept.host, kept.pid, kept.user, kept.machine),
        gives_up_at=now + max(0.0, kept.gives_up_at - wall),
        note=kept.note,
        size=len(kept.payload),
        strict=_strict(kept),
    )


def _strict(kept: Waiting) -> SignedOnly | None:
    """Return what is signed for a stored request of a strict hook."""
    if not kept.strict:
        return None
    return SignedOnly(kept.payload, ticket_digest(kept.secret))


def _kept_of(legs: Sequence[Leg], replies: _Replies, wall: float) -> list[KeptReply]:
    """Return the stored form of what these hooks were told, of those that were told anything."""
    return [answer_kept(leg, replies[leg.id], wall) for leg in legs if leg.id in replies]


def answer_kept(leg: Leg, resolve: Resolve, wall: float, card: Card | None = None) -> KeptReply:
    """Return the stored form of an answer, with its decision where a receipt is expected."""
    reply = resolve.reply
    call = None
    if resolve.confirm and card is not None and card.decided is not None:
        decided = decided_text(card.decided, leg.event.machine)
        call = DecidedCall(card.number, leg.event.platform, _payload(leg), decided)
    return KeptReply(
        leg.id,
        resolve.secret,
        reply.stdout,
        reply.stderr,
        reply.exit_code,
        wall,
        call,
        signed=reply.signed,
    )


def _decided_before(
    kept: KeptReply, call: DecidedCall, platform: Platform, now: float
) -> RestoredDecision:
    decided, machine = decided_read(call.decision)
    event = replace(platform.read(call.payload), machine=machine)
    request = Request(kept.request_id, event, wait_until=now, secret=kept.secret)
    return RestoredDecision(call.card, request, decided, kept.delivered)


def restored(
    recovered: Recovered, platforms: Mapping[str, Platform], now: float, wall: float
) -> Restored:
    """Return the store's content as a fact for the broker."""
    steering = taken_up(recovered.halts, now, wall)
    return Restored(
        waiting=tuple(
            RestoredRequest(
                waiting.card,
                read_back(waiting, platforms[waiting.platform], now, wall),
                waiting.waited(wall),
            )
            for waiting in recovered.waiting
            if waiting.platform in platforms
        ),
        answers=tuple(
            RestoredAnswer(
                answer.request_id,
                answer.secret,
                replace(
                    Reply.verbatim(answer.stdout, answer.stderr, answer.exit_code),
                    signed=answer.signed,
                ),
            )
            for answer in recovered.answers
        ),
        decided=tuple(
            _decided_before(answer, answer.call, platforms[answer.call.platform], now)
            for answer in recovered.answers
            if answer.call is not None and answer.call.platform in platforms
        ),
        last_number=recovered.last_card,
        now=now,
        halts=steering.lasting,
        notes=steering.notes,
        ballots=steering.ballots,
        asked=steering.asked,
    )


def _payload(leg: Leg) -> bytes:
    return compact(leg.event.fields).encode("ascii")
