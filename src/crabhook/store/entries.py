"""Entries made of what the broker knows; `at` is always wall time, seconds since 1970.

Who decided and how a wait ended stand in them as JSON, and are read back, from records
before 73c5562 too, which had sentences alone (`by`, `rule`, `why`).
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter

from crabhook.model import wording
from crabhook.model.actor import (
    UNKNOWN,
    Actor,
    AnsweredAtAgent,
    Ended,
    EndReason,
    Follows,
    Headless,
    Nobody,
    Operator,
    OrderKind,
    Rule,
    StandingOrder,
    TimeUp,
)
from crabhook.model.card import Leg
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.model.session import Note
from crabhook.store.record import Entry, Kind, iso

_ANSWERED, _TIME_UP = "answered-at-agent", "time-up"
_ENDS = {said: end for end, said in wording.ENDS.items()}
_FOLLOWS = {said: follows for follows, said in wording.FOLLOWS.items()}
_ORDERS = {said: kind for kind, said in wording.ORDERS.items()}
_TIMES = re.compile(", ([0-9]{1,3}) times")


def actor_told(actor: Actor) -> dict[str, Value]:
    """Return who decided, as the record has it beside the words."""
    match actor:
        case Operator(name, own, desk):
            return {"kind": "operator", "id": name, "name": own, "desk": desk}
        case Rule(ref):
            return {"kind": "rule", "ref": ref}
        case StandingOrder(number, kind, times):
            told: dict[str, Value] = {"kind": "order", "id": number, "order": kind.name.lower()}
            return told if times is None else told | {"times": times}
        case Headless():
            return {"kind": "headless"}
        case Nobody(why):
            return {"kind": "nobody", "end": end_told(why)}


def end_told(end: EndReason) -> dict[str, Value]:
    """Return how a wait ended, as the record has it beside the words."""
    match end:
        case AnsweredAtAgent(outcome):
            return {"kind": _ANSWERED, "outcome": outcome}
        case TimeUp(follows):
            return {"kind": _TIME_UP, "follows": follows.value}
        case _:
            return {"kind": end.value}


def actor_in(body: Mapping[str, object]) -> Actor:
    """Return who made the decision that a record's body tells of."""
    told = body.get("actor")
    if isinstance(told, Mapping):
        with suppress(KeyError, TypeError, ValueError):
            return _actor(told)
    said, reason = str(body.get("rule") or body.get("by") or ""), str(body.get("reason", ""))
    return _older_actor(said, reason)


def end_in(body: Mapping[str, object]) -> EndReason | None:
    """Return how the wait ended that a record's body tells of; None where it cannot be known."""
    told = body.get("end")
    if isinstance(told, Mapping):
        with suppress(KeyError, ValueError):
            return _end(told)
    return _older_end(str(body.get("why", "")))


def _actor(told: Mapping[str, object]) -> Actor:
    match told["kind"]:
        case "operator":
            return Operator(str(told["id"]), str(told["name"]), str(told["desk"]))
        case "rule":
            return Rule(str(told["ref"]))
        case "order":
            kind, times = OrderKind[str(told["order"]).upper()], told.get("times")
            often = None if times is None else int(str(times))
            return StandingOrder(int(str(told["id"])), kind, often)
        case "headless":
            return Headless()
        case "nobody":
            end = told["end"]
            if isinstance(end, Mapping):
                return Nobody(_end(end))
    raise ValueError(told)


def _end(told: Mapping[str, object]) -> EndReason:
    match told["kind"]:
        case "answered-at-agent":
            return AnsweredAtAgent(str(told["outcome"]))
        case "time-up":
            return TimeUp(Follows(str(told["follows"])))
        case kind:
            return Ended(str(kind))


def _older_actor(said: str, reason: str) -> Actor:
    if said == wording.OPERATOR:
        return UNKNOWN
    if said == wording.HEADLESS:
        return Headless()
    if said in ("", wording.CRABHOOK):
        away = reason.startswith(wording.AWAY)
        return Nobody(Ended.AWAY if away else _older_end(reason) or Ended.LEFT_BEFORE)
    if said in _ORDERS:
        return StandingOrder(0, _ORDERS[said])
    if said.startswith(wording.KEEP_GOING) and (often := _TIMES.search(said)):
        return StandingOrder(0, OrderKind.KEEP_GOING, int(often[1]))
    return Rule("" if said == wording.ANY_RULE else said.removeprefix(wording.RULE))


def _older_end(why: str) -> EndReason | None:
    if why in _ENDS:
        return _ENDS[why]
    head, _, rest = why.partition(": ")
    if head == wording.ANSWERED_AT_AGENT:
        return AnsweredAtAgent(rest)
    if head == wording.NOBODY_IN_TIME and rest in _FOLLOWS:
        return TimeUp(_FOLLOWS[rest])
    return None


@dataclass(frozen=True, slots=True)
class Circumstances:
    """How a decision came about.

    `where` it was made: the desk, the rules, nowhere; `rule` is the rule's own text, empty for a
    person; `waited` is how many seconds the request had waited.
    """

    decided: Decided
    waited: float
    where: str = ""
    rule: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """A decided call that a record refers to: its card, if it had one, its legs, the verdict."""

    card: int | None
    requests: Sequence[str]
    verdict: str

    @property
    def told(self) -> dict[str, Value]:
        """The reference as it stands in a record's body."""
        return {"card": self.card, "requests": list(self.requests), "verdict": self.verdict}


def observed(request: Leg, at: float, *, call: Call | None = None) -> Entry:
    """An event that nobody had to answer; `call` is the decided one that it tells the result of."""
    body = _told(request.event) | ({"call": call.told} if call else {})
    card = call.card if call else None
    return _about(Kind.EVENT, request.event, at, request.id, card, body=body)


def conflict(
    event: Event, at: float, *, why: str, cards: Sequence[int], request_id: str = ""
) -> Entry:
    """Something a hook said that cannot be true of a call, or of these cards' calls."""
    body: dict[str, Value] = {"why": why, "cards": list(cards), "input": _input(event)}
    return _about(Kind.CONFLICT, event, at, request_id, cards[0] if cards else None, body=body)


def ran_other(event: Event, at: float, *, request_id: str, why: str, call: Call) -> Entry:
    """A result that shows that what ran is not what was decided."""
    body: dict[str, Value] = {"why": why, "ran": _input(event), "call": call.told}
    return _about(Kind.RAN_OTHER, event, at, request_id, call.card, body=body)


def outcome(event: Event, at: float, *, told_by: str, what: str, call: Call) -> Entry:
    """What became of a call that was left to its agent; `event` asked about it, `told_by` told."""
    first = call.requests[0] if call.requests else ""
    body: dict[str, Value] = {"what": what, "told_by": told_by, "call": call.told}
    return _about(Kind.OUTCOME, event, at, first, call.card, body=body)


def asked(
    request: Leg,
    at: float,
    *,
    card: int,
    legs: Sequence[str],
    ends: tuple[float, float],
) -> Entry:
    """A request that is about to wait on a card; `legs` are the ids of all that card has.

    `ends`: when it stops waiting unless it is given more time, and when its
    hook would; both are wall seconds.
    """
    origin = request.origin
    body: dict[str, Value] = {
        **_told(request.event),
        "stance": request.stance.value,
        "from": {"host": origin.host, "pid": origin.pid, "user": origin.user},
        "legs": list(legs),
        "expires": iso(ends[0]),
        "gives_up": iso(ends[1]),
    }
    return _about(Kind.ASKED, request.event, at, request.id, card, body=body)


_PARTS = (
    *("reason", "note", "output", "content", "permissions"),
    *("interrupt", "halt", "user_message", "suppress_output"),
)
_parts = attrgetter(*_PARTS)


def decided(
    event: Event, how: Circumstances, at: float, *, legs: Sequence[str], card: int | None = None
) -> Entry:
    """A verdict on a call, whoever gave it; `legs` are the ids of the requests it answers."""
    decision, by = how.decided.decision, how.decided.by
    said: dict[str, Value] = {"where": how.where, "rule": how.rule}
    said.update(zip(_PARTS, _parts(decision), strict=True))
    said |= {"despite": list(decision.despite), "legs": list(legs)}
    body: dict[str, Value] = {
        "by": wording.who(by),
        "actor": actor_told(by),
        "waited": round(how.waited, 3),
        "input": _input(event),
    }
    body |= {key: value for key, value in said.items() if value}
    if decision.updated_input is not None:
        body["edited"] = dict(decision.updated_input)
    first = legs[0] if legs else ""
    return _about(Kind.DECIDED, event, at, first, card, decision.verdict.value, body=body)


def ended(  # noqa: PLR0913 - one end, of a card or of a request alone
    kind: Kind,
    request: Leg,
    at: float,
    *,
    card: int | None,
    why: str = "",
    end: EndReason | None = None,
) -> Entry:
    """A request that was left undecided: `kind` is WITHDRAWN, EXPIRED or LEFT.

    `end` is how its card ended; where it left another way, `why` says how.
    """
    body: dict[str, Value] = {"why": why}
    if end is not None:
        body = {"why": wording.why(end), "end": end_told(end)}
    return _about(kind, request.event, at, request.id, card, body=body)


def delivered(
    event: Event, at: float, *, request_id: str, card: int | None, missing: str = ""
) -> Entry:
    """A client has its reply; or it has not, as far as is known: `missing` says why not."""
    body: dict[str, Value] = {"whole": False, "why": missing} if missing else {"whole": True}
    return _about(Kind.DELIVERED, event, at, request_id, card, body=body)


def taken_up(event: Event, at: float, *, request_id: str, card: int, why: str) -> Entry:
    """A request, or its answer, that was there again after a restart."""
    return _about(Kind.TAKEN_UP, event, at, request_id, card, body={"why": why})


def operator(what: str, at: float, by: Actor | None = None, **detail: Value) -> Entry:
    """Something an operator, or whoever runs the server (None), did, such as begin."""
    actor = {} if by is None else {"actor": actor_told(by)}
    return Entry(Kind.OPERATOR, at, body={"what": what, **actor, **detail})


def note(  # noqa: PLR0913, PLR0917 - one note, and one thing that became of it
    event: Event, at: float, given: Note, what: str, by: Actor | None, request_id: str
) -> Entry:
    """What became of an operator's note to an agent, with the call that it went with, if any.

    `by` did that; the note's own giver stands in the note.
    """
    told: dict[str, Value] = {
        "id": given.id,
        "text": given.text,
        "agent": given.agent,
        "by": actor_told(given.by),
    }
    actor = {} if by is None else {"actor": actor_told(by)}
    body: dict[str, Value] = {"what": f"{given.label} {what}", "note": told, **actor}
    return _about(Kind.OPERATOR, event, at, request_id, body=body)


def summary(event: Event, at: float, **said: Value) -> Entry:
    """What a session was about, as its transcript has it at its end."""
    return _about(Kind.SUMMARY, event, at, body=said)


def server(what: str, at: float) -> Entry:
    """Something that befell the server itself."""
    return Entry(Kind.SERVER, at, body={"what": what})


def _about(  # noqa: PLR0913, PLR0917 - a row of columns, for this file alone
    kind: Kind,
    event: Event,
    at: float,
    request_id: str = "",
    card: int | None = None,
    verdict: str = "",
    *,
    body: Mapping[str, Value],
) -> Entry:
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
        body=body,
    )


def _input(event: Event) -> Value:
    return event.tool.input if event.tool else None


def _told(event: Event) -> dict[str, Value]:
    """Return the event's name and fields, without those that have a column of their own."""
    columns = {event.session, event.cwd, event.name, event.agent_id, event.agent_type} - {""}
    if event.tool:
        columns |= {event.tool.name, event.tool.use_id} - {""}
    rest = {
        key: value
        for key, value in event.fields.items()
        if not (isinstance(value, str) and value in columns)
    }
    return {"event": event.name, "fields": rest}
