"""The bookkeeper: turns what the broker was told and what it asks for into what is recorded.

It sees every fact with its effects before they are carried out, so that a
request is on record before it is shown, and a decision, its record and every
answer are one change (store.change).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from crabhook.broker import facts
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect, Resolve, Show
from crabhook.broker.states import State
from crabhook.model.decision import OPERATOR, Decision
from crabhook.model.jsontext import compact
from crabhook.model.request import Origin, Request, Stance
from crabhook.platforms.interface import Platform
from crabhook.store import entries
from crabhook.store.change import Change, happened, left, received, settled, waits
from crabhook.store.entries import Circumstances
from crabhook.store.record import Kind
from crabhook.store.working import Answer, Waiting

_ENDS = {State.WITHDRAWN: Kind.WITHDRAWN, State.EXPIRED: Kind.EXPIRED}
_TOLD_KEPT = 4096  # ended cards; longer than any receipt takes

_Replies = Mapping[str, Resolve]


class Bookkeeper:
    """Makes the changes for one broker.  `wall` is the wall clock, which the record is in."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._kept: dict[str, float] = {}  # request id -> until when the store has it wait
        self._told: dict[int, bool | None] = {}  # ended card -> its delivery, as last recorded

    def changes(self, fact: facts.Fact, effects: Sequence[Effect]) -> list[Change]:
        """Return what has to be recorded of a fact before its effects are carried out."""
        replies = {effect.request_id: effect for effect in effects if isinstance(effect, Resolve)}
        made: list[Change] = []
        for effect in effects:
            if isinstance(effect, Show):
                made += self._card(effect.card, replies, fact.now)
        if isinstance(fact, facts.Arrived) and fact.request.id in replies:
            made += self._at_once(fact.request, replies[fact.request.id])
        if isinstance(fact, facts.Ordered | facts.Revoked):
            what = f"ordered: {fact.order}" if isinstance(fact, facts.Ordered) else "ended orders"
            made.append(happened(entries.operator(what, self._wall())))
        return made

    def _card(self, card: Card, replies: _Replies, now: float) -> Iterator[Change]:
        if card.state is State.WAITING:
            yield from self._waiting(card, now)
        elif card.number not in self._told:
            yield self._ended(card, replies)
        elif card.delivered is not None and self._told[card.number] != card.delivered:
            yield self._delivered(card, whole=card.delivered)

    def _waiting(self, card: Card, now: float) -> Iterator[Change]:
        """Keep each leg that is new, or waits until another time."""
        wall, legs = self._wall(), [leg.id for leg in card.requests]
        for leg in card.requests:
            known = self._kept.get(leg.id)
            if known == leg.wait_until:
                continue
            self._kept[leg.id] = leg.wait_until
            kept = _to_keep(card, leg, now, wall)
            if known is not None:
                yield waits(kept)
            elif card.restored:
                why = "the server was started again"
                yield waits(
                    kept,
                    entries.taken_up(leg.event, wall, request_id=leg.id, card=card.number, why=why),
                )
            else:
                yield waits(kept, entries.asked(leg, wall, card=card.number, legs=legs))

    def _ended(self, card: Card, replies: _Replies) -> Change:
        self._told[card.number] = card.delivered
        if len(self._told) > _TOLD_KEPT:
            del self._told[next(iter(self._told))]
        wall, legs = self._wall(), [leg.id for leg in card.requests]
        for leg in legs:
            self._kept.pop(leg, None)
        if card.state is not State.DECIDED or card.decision is None:
            kind, first = _ENDS[card.state], card.requests[0]
            return left(legs, entries.ended(kind, first, wall, card=card.number, why=card.why))
        how = _circumstances(card.decision, card.ended_at - card.asked_at)
        entry = entries.decided(card.event, how, wall, legs=legs, card=card.number)
        given = [leg for leg in card.requests if leg.id in replies]
        return settled([_answer(leg, replies[leg.id], wall) for leg in given], entry)

    def _delivered(self, card: Card, *, whole: bool) -> Change:
        self._told[card.number] = whole
        request_id = card.requests[0].id
        entry = entries.delivered(
            card.event, self._wall(), request_id=request_id, card=card.number, whole=whole
        )
        return received(request_id, entry) if whole else happened(entry)

    def _at_once(self, request: Request, resolve: Resolve) -> Iterator[Change]:
        """Record an event that got its answer without a card."""
        wall = self._wall()
        if resolve.confirm:
            return  # given again, and on record since it was given first
        if resolve.decision is None:
            yield happened(entries.observed(request.event, wall))
            return
        how = _circumstances(resolve.decision, 0.0)
        entry = entries.decided(request.event, how, wall, legs=[request.id])
        yield settled([_answer(request, resolve, wall)], entry)


def read_back(kept: Waiting, platform: Platform, now: float, wall: float) -> Request:
    """Return the request that was kept; raises PayloadError only if the store was changed."""
    return Request(
        id=kept.request_id,
        secret=kept.secret,
        event=platform.read(kept.payload),
        wait_until=now + kept.remaining(wall),
        stance=Stance(kept.stance),
        origin=Origin(kept.host, kept.pid, kept.user),
        gives_up_at=now + max(0.0, kept.gives_up_at - wall),
        note=kept.note,
    )


def _to_keep(card: Card, leg: Request, now: float, wall: float) -> Waiting:
    return Waiting(
        request_id=leg.id,
        secret=leg.secret,
        platform=leg.event.platform,
        payload=compact(leg.event.fields).encode("ascii"),
        stance=leg.stance.value,
        asked=wall - (now - card.asked_at),
        wait_until=wall + (leg.wait_until - now),
        card=card.number,
        host=leg.origin.host,
        pid=leg.origin.pid,
        user=leg.origin.user,
        gives_up_at=wall + (leg.gives_up_at - now),
        note=leg.note,
    )


def _circumstances(decision: Decision, waited: float) -> Circumstances:
    if decision.by == OPERATOR:
        return Circumstances(decision, waited, where="the desk")
    return Circumstances(decision, waited, where="at once", rule=decision.by)


def _answer(leg: Request, resolve: Resolve, wall: float) -> Answer:
    reply = resolve.reply
    return Answer(leg.id, leg.secret, reply.stdout, reply.stderr, reply.exit_code, wall)
