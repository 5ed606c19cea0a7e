"""The words for who decided and how a wait ended: on screens, in the feed, the log and the record.

Nothing reads these words to learn anything from them, but for the records of servers that kept
nothing else (`crabhook.store.actors`).
"""

from collections.abc import Mapping
from datetime import datetime

from crabhook.model import actor
from crabhook.model.actor import Actor, Ended, EndReason, Follows, OrderKind

OPERATOR, HEADLESS, CRABHOOK = "operator", "headless", "crabhook"
RULE, ANY_RULE = "rule ", "the rules"
ANSWERED_AT_AGENT = "answered at the agent"
NOBODY_IN_TIME = "nobody decided in time"
KEEP_GOING = "keep going"
NOT_KNOWN = "how it ended is not known here"
AWAY = "the operator is away"
HALTED = "the operator halted this session"
HALTED_AGENT = "the operator stopped this subagent"

ORDERS: Mapping[OrderKind, str] = {
    OrderKind.ALLOW_ALL: "allow everything of this session",
    OrderKind.HALT: HALTED,
    OrderKind.KEEP_GOING: KEEP_GOING,
}
"""The orders that decide by themselves."""

ENDS: Mapping[Ended, str] = {
    Ended.HOOK_LEFT: "the hook was ended by the agent, or its connection was lost",
    Ended.DESK_CLOSED: "the operator closed the desk",
    Ended.SERVER_STOPPED: "the server was stopped",
    Ended.AWAY: AWAY,
    Ended.NEVER_CAME_BACK: "its hook did not come back after the server's restart",
    Ended.LEFT_BEFORE: "left to the agent's own user a moment ago",
    Ended.SESSION_OVER: "its agent had gone on, and ended before anybody ruled",
}

_OWN_RULES = "the agent goes on by its own rules, which may run it unasked"
_OWN_USER = "the agent's own user decides"
_OR = "denied if its hook fails closed, else"
FOLLOWS: Mapping[Follows, str] = {
    Follows.GOES_ON: "the agent goes on as without crabhook",
    Follows.DENIED: "denied, as its hook was installed to",
    Follows.USER_ASKED: "the agent's own user is asked, where it can be told to",
    Follows.OWN_RULES: _OWN_RULES,
    Follows.OWN_USER: _OWN_USER,
    Follows.DENIED_OR_OWN_RULES: f"{_OR} {_OWN_RULES}",
    Follows.DENIED_OR_OWN_USER: f"{_OR} {_OWN_USER}",
}


def plural(count: int, what: str) -> str:
    """Return how many there are of something: "1 request", "2 requests"."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def who(decider: Actor) -> str:
    """Return who decided, in the words that the record has had from the beginning.

    Every operator is "operator": what their name is stands beside it.
    """
    match decider:
        case actor.Operator():
            return OPERATOR
        case actor.RuleActor(ref):
            return f"{RULE}{ref}" if ref else ANY_RULE
        case actor.StandingOrder(_, kind, times):
            often = "" if times is None else f", {times} times"
            return f"{ORDERS.get(kind, kind.value)}{often}"
        case actor.Headless():
            return HEADLESS
        case actor.Nobody():
            return CRABHOOK


def why(end: EndReason) -> str:
    """Return how a wait ended, without a full stop; an agent's letters may be in it."""
    match end:
        case actor.AnsweredAtAgent(outcome):
            return f"{ANSWERED_AT_AGENT}: {outcome}" if outcome else ANSWERED_AT_AGENT
        case actor.TimeUp(follows):
            return f"{NOBODY_IN_TIME}: {FOLLOWS[follows]}"
        case _:
            return ENDS[end]


def stays_open(times: int, *, went_on: bool) -> tuple[str, ...]:
    """Return what a decision means for a call that nobody decided in time, a sentence each."""
    open_card = "the agent went on: a yes lets the very same call run once, a no denies it"
    asked = f"it was asked {times} times, and nobody decided it in time before"
    return (*((open_card,) if went_on else ()), *((asked,) if times > 1 else ()))


def until(end: datetime | None) -> str:
    """Return when a rule ends, as a day of the operator's own calendar."""
    return f"until {end.astimezone():%Y-%m-%d}" if end else "for ever"
