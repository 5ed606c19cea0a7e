"""Which events speak of the same call of a tool, and which tell that a wait is over.

The agent, the tool and its input have to agree, and the tool_use_id as well
where both events carry one.  Claude Code's PermissionRequest does not (hook
protocol, section 5).  An id alone is no proof: any program that can start a
hook can send an id, and an allow for one input must never reach another input.
"""

from collections.abc import Sequence
from typing import TypeAlias

from crabhook.model.event import Event, Scope
from crabhook.model.jsontext import Value, canonical

CallKey: TypeAlias = tuple[str | bytes, ...]


def same_agent(one: Event, other: Event) -> bool:
    """Whether both come from the same agent of the same session, subagents told apart."""
    return one.agent_key == other.agent_key


def same_call(one: Event, other: Event) -> bool:
    """Whether both events ask about the same call of a tool.

    The inputs must be equal, and equal as JSON: an allow for one input must
    never reach another that merely holds it, or that merely has its id.
    """
    if _same_id(one, other) is False or not _same_tool(one, other):
        return False
    return one.tool is not None and one.tool.fingerprint == other.tool.fingerprint  # type: ignore[union-attr]


def conflict(one: Event, other: Event) -> bool:
    """Whether both name one call by its id, and differ in the tool or in its input."""
    return _same_id(one, other) is True and not same_call(one, other)


def call_keys(event: Event) -> list[CallKey]:
    """Return the names under which another event of the same call would look for this one.

    Two events are of the same call, or in conflict about it, only if they share
    one: the call's id, or the tool with its input.
    """
    if event.tool is None:
        return []
    agent = event.agent_key
    keys: list[CallKey] = [(*agent, event.tool.name, event.tool.fingerprint)]
    if event.tool.use_id:
        keys.append((*agent, event.tool.use_id))
    return keys


def result_of(waiting: Event, news: Event) -> bool:
    """Whether `news` tells how the call went that `waiting` asked about.

    Without an id on both sides the result's input must hold all of the
    other: the agent's answers to questions are added to it on the way.
    """
    if not _same_tool(waiting, news) or waiting.tool is None or news.tool is None:
        return False
    if (by_id := _same_id(waiting, news)) is not None:
        return by_id
    whole, part = news.tool.bare, waiting.tool.bare
    if isinstance(whole, dict) and isinstance(part, dict):
        whole = {key: value for key, value in whole.items() if key in part}
    return _same_json(whole, part)


def named(event: Event) -> bool:
    """Whether the event's call has an id."""
    return event.tool is not None and bool(event.tool.use_id)


def _same_id(one: Event, other: Event) -> bool | None:
    """Compare the two calls' ids; None where one has none."""
    if one.tool is None or other.tool is None or not (one.tool.use_id and other.tool.use_id):
        return None
    return same_agent(one, other) and one.tool.use_id == other.tool.use_id


def _same_tool(one: Event, other: Event) -> bool:
    if one.tool is None or other.tool is None:
        return False
    return same_agent(one, other) and one.tool.name == other.tool.name


def _same_json(one: Value, other: Value) -> bool:
    """Compare as JSON does; to Python 1 and true are equal."""
    return one == other and canonical(one) == canonical(other)


def joins(legs: Sequence[Event], event: Event) -> bool:
    """Whether `event` is another leg of the call that `legs` ask about.

    Two events of one kind without an id are two calls that look alike, as a
    model makes them in parallel; they are never taken for one.  The event
    with the id comes first: one that comes after an event without is the
    beginning of another call.
    """
    first = legs[0]
    if not same_call(first, event):
        return False
    if _same_id(first, event):
        return True
    another_kind = all(leg.name != event.name for leg in legs)
    return another_kind and not named(event)


def over(waiting: Event, news: Event, closes: Scope) -> bool:
    """Whether `news`, which closes that much, tells that nobody waits for `waiting` any more.

    Nobody tells a hook that the person at the agent's own terminal answered
    first (section 5); what the same agent does next is the only sign.  What
    another agent of the session does is none: subagents run beside the main
    one under the same session id.
    """
    match closes:
        case Scope.CALL:
            return result_of(waiting, news)
        case Scope.AGENT:
            return same_agent(waiting, news)
        case Scope.SESSION:
            return waiting.session_key == news.session_key
        case _:
            return False
