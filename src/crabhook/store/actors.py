"""Actors and ends of waits, as JSON in the record beside the words.

The readers also accept records from before 73c5562, which had sentences alone (`by`, `rule`,
`why`).
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields

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
    RuleActor,
    StandingOrder,
    TimeUp,
)
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object

_ANSWERED, _TIME_UP = "answered-at-agent", "time-up"
_ENDS = {words: end for end, words in wording.ENDS.items()}
_FOLLOWS = {words: follows for follows, words in wording.FOLLOWS.items()}
_ORDERS = {words: kind for kind, words in wording.ORDERS.items()}
_TIMES = re.compile(", ([0-9]{1,3}) times")


def actor_data(actor: Actor) -> dict[str, Value]:
    """Return the JSON of an actor."""
    match actor:
        case Operator(name, own, desk, address, role, shown):
            who: dict[str, Value] = {"kind": "operator", "id": name, "name": own, "desk": desk}
            beside: dict[str, Value] = {"address": address, "role": role, "shown": shown}
            return who | {key: value for key, value in beside.items() if value}
        case RuleActor(ref):
            return {"kind": "rule", "ref": ref}
        case StandingOrder(number, kind, times):
            data: dict[str, Value] = {"kind": "order", "id": number, "order": kind.name.lower()}
            return data if times is None else data | {"times": times}
        case Headless():
            return {"kind": "headless"}
        case Nobody(why):
            return {"kind": "nobody", "end": end_data(why)}


def decider_data(by: Actor) -> dict[str, Value]:
    """Return what the body of a decision tells of who made it."""
    who = wording.who(by)
    where = {"where": "the desk"} if isinstance(by, Operator) else {"where": "at once", "rule": who}
    return {"by": who, "actor": actor_data(by), **where}


def end_data(end: EndReason) -> dict[str, Value]:
    """Return the JSON of how a wait ended."""
    match end:
        case AnsweredAtAgent(outcome):
            return {"kind": _ANSWERED, "outcome": outcome}
        case TimeUp(follows):
            return {"kind": _TIME_UP, "follows": follows.value}
        case _:
            return {"kind": end.value}


def actor_in(body: Mapping[str, object]) -> Actor:
    """Return the actor of the decision in a record's body."""
    data = body.get("actor")
    if isinstance(data, Mapping):
        with suppress(KeyError, TypeError, ValueError):
            return _actor(data)
    written, reason = str(body.get("rule") or body.get("by") or ""), str(body.get("reason", ""))
    return _older_actor(written, reason)


def end_in(body: Mapping[str, object]) -> EndReason | None:
    """Return how the wait in a record's body ended; None if unknown."""
    data = body.get("end")
    if isinstance(data, Mapping):
        with suppress(KeyError, ValueError):
            return _end(data)
    return _older_end(str(body.get("why", "")))


def _actor(data: Mapping[str, object]) -> Actor:
    match data["kind"]:
        case "operator":
            beside = (str(data.get(key, "")) for key in ("address", "role", "shown"))
            return Operator(str(data["id"]), str(data["name"]), str(data["desk"]), *beside)
        case "rule":
            return RuleActor(str(data["ref"]))
        case "order":
            kind, times = OrderKind[str(data["order"]).upper()], data.get("times")
            often = None if times is None else int(str(times))
            return StandingOrder(int(str(data["id"])), kind, often)
        case "headless":
            return Headless()
        case "nobody":
            end = data["end"]
            if isinstance(end, Mapping):
                return Nobody(_end(end))
    raise ValueError(data)


def _end(data: Mapping[str, object]) -> EndReason:
    match data["kind"]:
        case "answered-at-agent":
            return AnsweredAtAgent(str(data["outcome"]))
        case "time-up":
            return TimeUp(Follows(str(data["follows"])))
        case kind:
            return Ended(str(kind))


def _older_actor(written: str, reason: str) -> Actor:
    if written == wording.OPERATOR:
        return UNKNOWN
    if written == wording.HEADLESS:
        return Headless()
    if written in ("", wording.CRABHOOK):
        away = reason.startswith(wording.AWAY)
        return Nobody(Ended.AWAY if away else _older_end(reason) or Ended.LEFT_BEFORE)
    if written in _ORDERS:
        return StandingOrder(0, _ORDERS[written])
    if written.startswith(wording.KEEP_GOING) and (often := _TIMES.search(written)):
        return StandingOrder(0, OrderKind.KEEP_GOING, int(often[1]))
    return RuleActor("" if written == wording.ANY_RULE else written.removeprefix(wording.RULE))


def _older_end(why: str) -> EndReason | None:
    if why in _ENDS:
        return _ENDS[why]
    head, _, rest = why.partition(": ")
    if head == wording.ANSWERED_AT_AGENT:
        return AnsweredAtAgent(rest)
    if head == wording.NOBODY_IN_TIME and rest in _FOLLOWS:
        return TimeUp(_FOLLOWS[rest])
    return None


def decided_text(decided: Decided, machine: str = "") -> bytes:
    """Return a decision as JSON: all its fields, its maker, and the call's machine."""
    data = {each.name: getattr(decided.decision, each.name) for each in fields(Decision)}
    who = {"by": wording.who(decided.by), "actor": actor_data(decided.by)}
    whose = {"machine": machine} if machine else {}
    return compact(data | who | whose).encode()


def decided_read(text: bytes) -> tuple[Decided, str]:
    """Read the JSON of `decided_text`, also if a server wrote the actor in words only."""
    data = parse_object(text, WRITTEN_DEPTH)
    by = actor_in(data)
    machine = str(data.pop("machine", ""))
    for name in ("by", "actor"):
        data.pop(name, None)
    data["verdict"] = Verdict(str(data["verdict"]))
    listed = {key: tuple(data.get(key, ())) for key in ("permissions", "despite")}  # type: ignore[arg-type]
    return Decided(Decision(**{**data, **listed}), by), machine  # type: ignore[arg-type]
