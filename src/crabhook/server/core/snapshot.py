"""What a restarted server needs, as the values the store keeps of it, and back again.

The store is in wall time and the broker in monotonic time; both are needed to turn one into the
other, and a wall clock that was set meanwhile makes no wait longer.
"""

from collections.abc import Mapping
from dataclasses import fields

from crabhook.broker.messages import (
    Resolve,
    Restored,
    RestoredAnswer,
    RestoredDecision,
    RestoredRequest,
)
from crabhook.model import wording
from crabhook.model.actor import UNKNOWN, OrderKind
from crabhook.model.card import Card, Leg, Origin, Request, Stance
from crabhook.model.decision import Decided, Decision, Reply, Verdict
from crabhook.model.jsontext import WRITTEN_DEPTH, compact, parse_object
from crabhook.model.order import Standing
from crabhook.platforms.interface import Platform
from crabhook.store.actors import actor_in, actor_told
from crabhook.store.change import Answer, DecidedCall, Recovered, Waiting


def waiting_kept(card: Card, leg: Leg, secret: str, now: float, wall: float) -> Waiting:
    """Return what is kept of a request that waits on a card."""
    return Waiting(
        request_id=leg.id,
        secret=secret,
        platform=leg.event.platform,
        payload=_payload(leg),
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
        size=len(kept.payload),
    )


def answer_kept(leg: Leg, resolve: Resolve, wall: float, card: Card | None = None) -> Answer:
    """Return what is kept of an answer; where a receipt is waited for, also what it says."""
    reply = resolve.reply
    call = None
    if resolve.confirm and card is not None and card.decided is not None:
        decided = decided_text(card.decided)
        call = DecidedCall(card.number, leg.event.platform, _payload(leg), decided)
    return Answer(leg.id, resolve.secret, reply.stdout, reply.stderr, reply.exit_code, wall, call)


def _decided_before(
    kept: Answer, call: DecidedCall, platform: Platform, now: float
) -> RestoredDecision:
    event = platform.read(call.payload)
    request = Request(kept.request_id, event, wait_until=now, secret=kept.secret)
    return RestoredDecision(call.card, request, decided_read(call.decision), kept.delivered)


def restored(
    found: Recovered, platforms: Mapping[str, Platform], now: float, wall: float
) -> Restored:
    """Return what a store gave back, as the broker is told of it."""
    return Restored(
        waiting=tuple(
            RestoredRequest(
                one.card, read_back(one, platforms[one.platform], now, wall), one.waited(wall)
            )
            for one in found.waiting
            if one.platform in platforms
        ),
        answers=tuple(
            RestoredAnswer(
                one.request_id, one.secret, Reply.verbatim(one.stdout, one.stderr, one.exit_code)
            )
            for one in found.answers
        ),
        decided=tuple(
            _decided_before(one, one.call, platforms[one.call.platform], now)
            for one in found.answers
            if one.call is not None and one.call.platform in platforms
        ),
        last_number=found.last_card,
        now=now,
        halts=tuple(
            Standing(OrderKind.HALT, session=one.session, words=one.why, id=0, by=UNKNOWN)
            for one in found.halts
        ),
    )


def decided_text(decided: Decided) -> bytes:
    """Return a decision as JSON, every field of it, and who made it."""
    told = {one.name: getattr(decided.decision, one.name) for one in fields(Decision)}
    who = {"by": wording.who(decided.by), "actor": actor_told(decided.by)}
    return compact(told | who).encode()


def decided_read(text: bytes) -> Decided:
    """Return what `decided_text` wrote, or a server that had only the words for who it was."""
    told = parse_object(text, WRITTEN_DEPTH)
    by = actor_in(told)
    for name in ("by", "actor"):
        told.pop(name, None)
    told["verdict"] = Verdict(str(told["verdict"]))
    listed = {key: tuple(told.get(key, ())) for key in ("permissions", "despite")}  # type: ignore[arg-type]
    return Decided(Decision(**{**told, **listed}), by)  # type: ignore[arg-type]


def _payload(leg: Leg) -> bytes:
    return compact(leg.event.fields).encode("ascii")
