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
    Rule,
    StandingOrder,
    TimeUp,
)
from crabhook.model.decision import Decided, Decision, Verdict
from crabhook.model.jsontext import WRITTEN_DEPTH, Value, compact, parse_object

_ANSWERED, _TIME_UP = "answered-at-agent", "time-up"
_ENDS = {said: end for end, said in wording.ENDS.items()}
_FOLLOWS = {said: follows for follows, said in wording.FOLLOWS.items()}
_ORDERS = {said: kind for kind, said in wording.ORDERS.items()}
_TIMES = re.compile(", ([0-9]{1,3}) times")


def actor_told(actor: Actor) -> dict[str, Value]:
    """Return the JSON of an actor."""
    match actor:
        case Operator(name, own, desk, address, role, shown):
            who: dict[str, Value] = {"kind": "operator", "id": name, "name": own, "desk": desk}
            beside: dict[str, Value] = {"address": address, "role": role, "shown": shown}
            return who | {key: value for key, value in beside.items() if value}
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
    told = body.get("actor")
    if isinstance(told, Mapping):
        with suppress(KeyError, TypeError, ValueError):
            return _actor(told)
    said, reason = str(body.get("rule") or body.get("by") or ""), str(body.get("reason", ""))
    return _older_actor(said, reason)


def end_in(body: Mapping[str, object]) -> EndReason | None:
    """Return how the wait in a record's body ended; None if unknown."""
    told = body.get("end")
    if isinstance(told, Mapping):
        with suppress(KeyError, ValueError):
            return _end(told)
    return _older_end(str(body.get("why", "")))


def _actor(told: Mapping[str, object]) -> Actor:
    match told["kind"]:
        case "operator":
            beside = (str(told.get(key, "")) for key in ("address", "role", "shown"))
            return Operator(str(told["id"]), str(told["name"]), str(told["desk"]), *beside)
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


def decided_text(decided: Decided, machine: str = "") -> bytes:
    """Return a decision as JSON: all its fields, its maker, and the call's machine."""
    told = {each.name: getattr(decided.decision, each.name) for each in fields(Decision)}
    who = {"by": wording.who(decided.by), "actor": actor_told(decided.by)}
    whose = {"machine": machine} if machine else {}
    return compact(told | who | whose).encode()


def decided_read(text: bytes) -> tuple[Decided, str]:
    """Read the JSON of `decided_text`, also that of a server that wrote the actor in words only."""
    told = parse_object(text, WRITTEN_DEPTH)
    by = actor_in(told)
    machine = str(told.pop("machine", ""))
    for name in ("by", "actor"):
        told.pop(name, None)
    told["verdict"] = Verdict(str(told["verdict"]))
    listed = {key: tuple(told.get(key, ())) for key in ("permissions", "despite")}  # type: ignore[arg-type]
    return Decided(Decision(**{**told, **listed}), by), machine  # type: ignore[arg-type]
