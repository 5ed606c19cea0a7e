"""Which events speak of the same call of a tool, and which tell that a wait is over.

A call is named by its tool_use_id where both events carry one; Claude Code's
PermissionRequest does not (hook protocol, section 5), and there the agent, the
tool and its input must do.
"""

from collections.abc import Sequence

from crabhook.model.event import Event, Scope
from crabhook.model.jsontext import Value


def same_agent(one: Event, other: Event) -> bool:
    """Whether both come from the same agent of the same session, subagents told apart."""
    return (one.platform, one.session, one.agent_id) == (
        other.platform,
        other.session,
        other.agent_id,
    )


def same_call(earlier: Event, later: Event) -> bool:
    """Whether `later` speaks of the call that `earlier` asked about.

    Without an id on both sides the later input must hold all of the earlier
    one: the agent's answers to questions are added to it on the way.
    """
    if not same_agent(earlier, later) or earlier.tool is None or later.tool is None:
        return False
    if earlier.tool.use_id and later.tool.use_id:
        return earlier.tool.use_id == later.tool.use_id
    return earlier.tool.name == later.tool.name and _holds(later.tool.input, earlier.tool.input)


def _holds(whole: Value, part: Value) -> bool:
    if isinstance(whole, dict) and isinstance(part, dict):
        return all(key in whole and whole[key] == value for key, value in part.items())
    return whole == part


def joins(legs: Sequence[Event], event: Event) -> bool:
    """Whether `event` is another leg of the call that `legs` ask about.

    Two events of one kind without an id are two calls that look alike, as a
    model makes them in parallel; they are never taken for one.
    """
    first = legs[0]
    by_id = first.tool and event.tool and first.tool.use_id and event.tool.use_id
    another_kind = all(leg.name != event.name for leg in legs)
    return bool(by_id or another_kind) and same_call(first, event)


def over(waiting: Event, news: Event, closes: Scope) -> bool:
    """Whether `news`, which closes that much, tells that nobody waits for `waiting` any more.

    Nobody tells a hook that the person at the agent's own terminal answered
    first (section 5); what the same agent does next is the only sign.  What
    another agent of the session does is none: subagents run beside the main
    one under the same session id.
    """
    match closes:
        case Scope.CALL:
            return same_call(waiting, news)
        case Scope.AGENT:
            return same_agent(waiting, news)
        case Scope.SESSION:
            return (waiting.platform, waiting.session) == (news.platform, news.session)
        case _:
            return False
