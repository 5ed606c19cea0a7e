"""Entries made from the broker's facts; `at` is always wall time, seconds since 1970."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from crabhook.broker.call_outcomes import Followed
from crabhook.broker.messages import (
    BallotNews,
    Conflict,
    Escalated,
    FirstClaim,
    NoteToldOf,
    Outcome,
    Voted,
    VotesVoid,
)
from crabhook.model import wording
from crabhook.model.actor import Actor, EndReason, OrderKind
from crabhook.model.ballot import Ballot, Vote, who_may
from crabhook.model.card import NO_REASON, Because, Card, Leg, Origin
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.order import Standing
from crabhook.store.actors import actor_data, decider_data, end_data
from crabhook.store.record import Entry, Head, RecordKind, iso


def _call(followed: Followed) -> dict[str, Value]:
    """Return a record's reference to a decided call: card, legs and verdict."""
    legs: list[Value] = list(followed.requests)
    return {"card": followed.card, "requests": legs, "verdict": followed.verdict.value}


def observed(request: Leg, at: float, *, call: Followed | None = None) -> Entry:
    """An event without an answer; `call` is the decided call whose result it tells."""
    body = _told(request.event) | ({"call": _call(call)} if call else {})
    card = call.card if call else None
    return _about(RecordKind.EVENT, request.event, at, request.id, card, body=body)


def conflict(conflict_found: Conflict, at: float) -> Entry:
    """Return the entry of a hook's message that cannot be true of a call or of these cards."""
    event, cards = conflict_found.event, list(conflict_found.cards)
    body: dict[str, Value] = {"why": conflict_found.why, "cards": [*cards], "input": _input(event)}
    return _about(
        RecordKind.CONFLICT,
        event,
        at,
        conflict_found.request_id,
        next(iter(cards), None),
        body=body,
    )


def outcome(ended: Outcome, at: float) -> Entry:
    """Return the entry of a decided call's outcome: it ran in another form, or its agent judged."""
    event, call, what = ended.event, ended.call, ended.fate.value
    if ended.fate.alarming:
        body: dict[str, Value] = {"why": what, "ran": _input(event), "call": _call(call)}
        return _about(RecordKind.RAN_OTHER, event, at, ended.request_id, call.card, body=body)
    body = {"what": what, "told_by": event.name, "call": _call(call)}
    first = next(iter(call.requests), "")
    return _about(RecordKind.OUTCOME, call.named, at, first, call.card, body=body)


def asked(  # noqa: PLR0913 - one request, and what brought it
    request: Leg,
    at: float,
    *,
    card: int,
    legs: Sequence[str],
    ends: tuple[float, float],
    because: Because = NO_REASON,
) -> Entry:
    """A request that begins to wait on a card; `legs` are all ids of that card.

    `ends`: when its wait ends unless extended, and when its hook gives up; wall seconds. `because`
    brought its card here. A strict hook's request is marked, so that its allow is looked at.
    """
    origin = request.origin
    body: dict[str, Value] = {
        **_told(request.event),
        "stance": request.stance.value,
        "from": _sender(origin),
        "legs": list(legs),
        "expires": iso(ends[0]),
        "gives_up": iso(ends[1]),
    }
    if request.strict is not None:
        body["strict"] = True
    if because.kind is not None:
        law = because.in_full if because.of_rules else ""
        parts = {"name": because.name, "note": because.note, "law": law}
        why: dict[str, Value] = {"kind": because.kind.value, "words": because.words}
        body["because"] = why | {key: value for key, value in parts.items() if value}
    return _about(RecordKind.ASKED, request.event, at, request.id, card, body=body)


def _sender(origin: Origin) -> dict[str, Value]:
    """Return the asking user, with the machine where the hook sent that machine's own token."""
    who: dict[str, Value] = {"host": origin.host, "pid": origin.pid, "user": origin.user}
    return who | {"machine": origin.machine} if origin.machine else who


_PARTS = (
    *("reason", "note", "output", "content", "permissions"),
    *("interrupt", "halt", "user_message", "suppress_output"),
)


def decided(  # noqa: PLR0913 - one verdict, and the requests it answers
    event: Event,
    made: Decided,
    at: float,
    *,
    legs: Sequence[str],
    waited: float | None = None,
    card: int | None = None,
    ballot: Ballot | None = None,
) -> Entry:
    """A verdict on a call by anybody; `legs` are the answered requests' ids.

    `waited`: seconds since the first of these came; None for an answer at once. `ballot`: its
    votes, where rules name who must allow it.
    """
    decision = made.decision
    body = decider_data(made.by) | {"input": _input(event)}
    if waited is not None:
        body["waited"] = round(waited, 3)
    body |= {part: value for part in _PARTS if (value := getattr(decision, part))}
    if ballot is not None:
        body["votes"] = [_vote(vote) for vote in ballot.votes]
    if decision.despite:
        body["despite"] = list(decision.despite)
    body |= _several(legs)
    if decision.updated_input is not None:
        body["edited"] = dict(decision.updated_input)
    first = legs[0] if legs else ""
    verdict = str(decision.verdict)
    return _about(RecordKind.DECIDED, event, at, first, card, verdict, body=body)


def _several(legs: Sequence[str]) -> dict[str, Value]:
    """Return the ids of several requests; the id of a single request has the entry's column."""
    return {"legs": list(legs)} if len(legs) > 1 else {}


def _vote(vote: Vote) -> dict[str, Value]:
    note: dict[str, Value] = {"note": vote.note} if vote.note else {}
    return {"actor": actor_data(vote.by)} | note


_OF_BALLOTS: Mapping[type[BallotNews], RecordKind] = {
    Voted: RecordKind.VOTED,
    VotesVoid: RecordKind.VOTES_VOID,
    FirstClaim: RecordKind.CLAIMED,
    Escalated: RecordKind.ESCALATED,
}


def of_ballot(news: BallotNews, at: float, now: float) -> Entry:
    """Return the entry of a fact of a card's ballot; `now` is that time on the card's clock."""
    card, first = news.card, news.card.requests[0]
    ballot = card.ballot
    assert ballot is not None  # noqa: S101 - what a ballot tells is of a card that has one
    body: dict[str, Value] = {"waits": who_may(ballot, now).why}
    kind, verdict = _OF_BALLOTS[type(news)], ""
    match news:
        case Voted(_, vote, void):
            proposal = ballot.proposal
            verdict = proposal.verdict.value if proposal else ""
            body |= decider_data(vote.by) | {"input": _input(card.event)} | _vote(vote)
            if proposal is not None and proposal.updated_input is not None:
                body["edited"] = dict(proposal.updated_input)
            if void:
                body["void"] = [_vote(gone) for gone in void]
            body |= _several([leg.id for leg in card.requests])
        case VotesVoid(_, votes):
            body["void"] = [_vote(gone) for gone in votes]
        case FirstClaim(_, by):
            body["actor"] = actor_data(by)
        case Escalated(_, steps):
            body["to"] = [step.to for step in steps]
    entry = _about(kind, card.event, at, first.id, card.number, verdict, body=body)
    return replace(entry, signed=news.vote.signed) if isinstance(news, Voted) else entry


def ended(  # noqa: PLR0913 - one end, of a card or of a request alone
    kind: RecordKind,
    request: Leg,
    at: float,
    *,
    card: int | None,
    why: str = "",
    end: EndReason | None = None,
) -> Entry:
    """A request that was left undecided: `kind` is WITHDRAWN, EXPIRED or LEFT.

    `end` is its card's end; `why` explains another end.
    """
    body: dict[str, Value] = {"why": why}
    if end is not None:
        body = {"why": wording.why(end), "end": end_data(end)}
    return _about(kind, request.event, at, request.id, card, body=body)


def undecided(request: Leg, at: float, *, card: Card, until: float) -> Entry:
    """A request that nobody decided in time: its call was denied, and its card is open `until`."""
    body: dict[str, Value] = {
        "why": "nobody decided in time: its agent went on, and the card stays open",
        "asked": card.asked.times,
        "open_until": iso(until),
    }
    return _about(RecordKind.UNDECIDED, request.event, at, request.id, card.number, body=body)


def delivered(
    event: Event, at: float, *, request_id: str, card: int | None, missing: str = ""
) -> Entry:
    """A client has its reply; or `missing` says why probably not."""
    body: dict[str, Value] = {"whole": False, "why": missing} if missing else {"whole": True}
    return _about(RecordKind.DELIVERED, event, at, request_id, card, body=body)


def consumed(event: Event, at: float, *, approval: str, row: str) -> Entry:
    """Return the entry of an approval that its agent takes; `row` is its row's id."""
    body: dict[str, Value] = {"input": _input(event), "approval": approval}
    return _about(RecordKind.CONSUMED, event, at, row, body=body)


def taken_up(event: Event, at: float, *, request_id: str, card: int, why: str) -> Entry:
    """Return the entry of a request or answer that was restored after a restart."""
    return _about(RecordKind.TAKEN_UP, event, at, request_id, card, body={"why": why})


def operator(what: str, at: float, by: Actor | None = None, **detail: Value) -> Entry:
    """An act of an operator's, or of the server's owner (None), such as begin."""
    actor = {} if by is None else {"actor": actor_data(by)}
    return Entry(RecordKind.OPERATOR, at, body={"what": what, **actor, **detail})


def orders_end(order: Standing, at: float, by: Actor) -> Entry:
    """Return the entry of a standing order that an operator ended."""
    which: dict[str, Value] = {"id": order.id, "kind": order.kind.value}
    return operator(f"ended: {order}", at, by, order=which)


def note(note_told: NoteToldOf, at: float) -> Entry:
    """Return the entry of what became of an operator's note to an agent, with its call, if any.

    The actor is who did that; the note itself names its author.
    """
    note_text, by = note_told.note, note_told.by
    kept: dict[str, Value] = {"id": note_text.id, "text": note_text.text, "agent": note_text.agent}
    actor = {} if by is None else {"actor": actor_data(by)}
    body: dict[str, Value] = {
        "what": f"{note_text.label} {note_told.what}",
        "note": {**kept, "by": actor_data(note_text.by)},
        **actor,
    }
    return _about(RecordKind.OPERATOR, note_told.event, at, note_told.request_id, body=body)


def stops(
    lasting: Sequence[Standing], notes: int, at: float, *, ballots: int = 0, asked: int = 0
) -> Entry:
    """Return the entry of all lasting orders that stand, and of how many notes and ballots wait.

    `asked`: how many cards have stayed open without their agents.

    They lie in a table beside the record for the next server; the entry witnesses that table.
    """
    stopped, once, never = list[Value](), list[Value](), list[Value]()
    for order in lasting:
        about: dict[str, Value] = {"session": order.session, "agent": order.agent}
        about |= {"machine": order.machine or "", "why": order.words}
        kept: dict[str, Value] = {key: value for key, value in about.items() if value}
        if order.kind is OrderKind.LET_ONCE:
            once.append(kept | {"tool": order.name})
        elif order.kind is OrderKind.DENY_AGAIN:
            never.append(kept | {"tool": order.name})
        else:
            stopped.append(kept)
    what = f"stops that stand: {len(stopped)}, notes that wait: {notes}"
    body: dict[str, Value] = {"stopped": stopped}
    if once:
        what += f", calls that may run once: {len(once)}"
        body |= {"may_run_once": once}
    if never:
        what += f", calls that are denied again: {len(never)}"
        body |= {"denied_again": never}
    what += f", cards with votes: {ballots}" if ballots else ""
    what += f", cards that stayed open: {asked}" if asked else ""
    return Entry(RecordKind.STOPS, at, body={"what": what, **body})


def stops_stay(at: float) -> Entry:
    """Return a new entry of the stops before retention removes the last entry."""
    return Entry(RecordKind.STOPS, at, body={"what": "the stops and the notes stay as they are"})


def summary(event: Event, at: float, **fields: Value) -> Entry:
    """Return the entry of what a session was about, from its transcript at its end."""
    return _about(RecordKind.SUMMARY, event, at, body=fields)


def server(what: str, at: float) -> Entry:
    """Return the entry of an incident of the server itself."""
    return Entry(RecordKind.SERVER, at, body={"what": what})


def policy_changed(  # noqa: PLR0913 - one change, and who answers for it
    kind: RecordKind,
    what: str,
    hashes: Mapping[str, Value],
    at: float,
    *,
    actor: Mapping[str, Value],
    out_of_band: bool,
) -> Entry:
    """Return the entry of a change of the rules, the team or the settings, or of its attestation.

    `hashes`: the SHA-256 before and after, with the name of what changed.
    """
    body: dict[str, Value] = {"what": what, **hashes}
    body |= {"actor": {**actor}} if actor else {}
    return Entry(kind, at, body=body | {"out_of_band": True} if out_of_band else body)


def exported(what: str, to: str, head: Head, at: float) -> Entry:
    """Return the entry of how far the record is at a receiver elsewhere: up to `head`."""
    body: dict[str, Value] = {"what": f"{what} {to}", "to": to}
    return Entry(RecordKind.EXPORTED, at, body={**body, "seq": head.seq, "hash": head.hash.hex()})


def _about(  # noqa: PLR0913, PLR0917 - a row of columns, for this file alone
    kind: RecordKind,
    event: Event,
    at: float,
    request_id: str = "",
    card: int | None = None,
    verdict: str = "",
    *,
    body: Mapping[str, Value],
) -> Entry:
    beside: dict[str, Value] = {"machine": event.machine, "trace": event.trace}
    return Entry(
        kind=kind,
        at=at,
        platform=event.platform,
        session=event.session,
        agent_id=event.agent_id,
        agent_type=event.agent_type,
        cwd=event.cwd,
        tool=event.tool.name if event.tool else "",
        tool_use_id=event.tool.use_id if event.tool else "",
        request_id=request_id,
        card=card,
        verdict=verdict,
        body=dict(body) | {name: text for name, text in beside.items() if text},
    )


def _input(event: Event) -> Value:
    return event.tool.input if event.tool else None


def _told(event: Event) -> dict[str, Value]:
    """Return the event's name and fields, without the fields that have a column of their own."""
    columns = {event.session, event.cwd, event.name, event.agent_id, event.agent_type} - {""}
    if event.tool:
        columns |= {event.tool.name, event.tool.use_id} - {""}
    rest = {
        key: value
        for key, value in event.fields.items()
        if not (isinstance(value, str) and value in columns)
    }
    return {"event": event.name, "fields": rest}
