"""Standing orders as an operator writes them: hold, allow-all, hold-all, away, and their ends."""

import re
from collections.abc import Callable

from crabhook.desk.other_acts import away
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.present.cover import covered
from crabhook.present.phrases import countdown, joined
from crabhook.present.safe import excerpt
from crabhook.present.summary import brief
from crabhook.ui.commands.parse import known_session, shown_session
from crabhook.ui.commands.words import WORDS, LineError, Word, read_duration

_ABOUT_AN_EVENT = frozenset({OrderKind.HOLD, OrderKind.KEEP_GOING})
_KINDS = {
    "allow-all": OrderKind.ALLOW_ALL,
    "hold-all": OrderKind.HOLD_ALL,
    "halt": OrderKind.HALT,
    "retry": OrderKind.LET_ONCE,
    "denied": OrderKind.DENY_AGAIN,
}


def read_order(word: str, rest: str, desk: Replica) -> Order:
    """Return the order that hold, allow-all, hold-all or away gives; raises LineError."""
    usage = WORDS[word].usage()
    if word == "hold":
        return _hold(rest, desk, usage)
    if word == "away":
        return away(desk.now(), read_duration(rest, usage) if rest else None)
    session, *lengths = rest.split()
    if len(lengths) != 1:
        raise LineError("which session, and for how long?", usage)
    length = read_duration(lengths[0], usage)
    session = known_session(session.removeprefix("session="), desk, usage)
    return Order(_KINDS[word], session=session, until=desk.now() + length)


def read_agent(rest: str, desk: Replica, word: Word) -> tuple[str, str, str]:
    """Return the live session that a line names, its subagent or nothing, and the text.

    A subagent follows the session: `SESSION/AGENT`. Raises LineError.
    """
    usage = word.usage()
    named, _, text = rest.partition(" ")
    if not text.strip():
        raise LineError("which session, and in which words?", usage)
    start, _, agent = named.removeprefix("session=").partition("/")
    session = known_session(start, desk, usage)
    if not agent:
        return session, "", text
    views = [view for view in desk.live() if view.session == session]
    subagents = [live.id for view in views for live in view.agents if live.id]
    ids = [name for name in subagents if shown_session(name).startswith(agent)]
    if len(ids) != 1:
        wrong = f"{len(ids) or 'no'} live subagents of it begin with {excerpt(agent)}"
        raise LineError(wrong, WORDS["sessions"].usage())
    return session, ids[0], text


def read_release(rest: str, desk: Replica) -> Callable[[Order], bool]:
    """Return which orders a release ends: about an event, of a kind, or all.

    Only `here` ends being away, so that nobody comes back by mistake. Raises LineError.
    """
    usage = WORDS["release"].usage()
    name, *more = rest.split()
    options = _options(more, {"session"}, usage)
    session = known_session(options["session"], desk, usage) if options else ""
    kind = _KINDS.get(name.lower())
    event = None if kind or name.lower() == "all" else _event(name, desk, usage)

    def matches(order: Order) -> bool:
        if order.kind is OrderKind.AWAY or session not in ("", order.session):
            return False
        if event is not None:
            return order.kind in _ABOUT_AN_EVENT and order.name == event
        return kind in (None, order.kind)

    return matches


def keep_going_order(event: Event, times: int, words: str) -> Order:
    """Return the order that tells an agent to keep going, `times` more."""
    return Order(
        OrderKind.KEEP_GOING, name=event.name, session=event.session, times=times, words=words
    )


def order_line(order: Order, now: float) -> str:
    """Return a standing order in one line that begins with a dot; `now` is on the desk's clock."""
    left = f"{countdown(order.until - now)} left" if order.until is not None else ""
    if order.kind is OrderKind.AWAY:
        return joined("· away: what agents ask goes to their own users; here ends it", left)
    return joined(f"· order: {brief(str(order), covered)}", left)


def _hold(rest: str, desk: Replica, usage: str) -> Order:
    name, *more = rest.split()
    options = _options(more, {"session", "project", "times"}, usage)
    session = options.get("session", "")
    times = options.get("times")
    if times is not None and not re.fullmatch("[0-9]{1,3}", times):
        raise LineError(f'"{excerpt(times)}" is no number of times', usage)
    return Order(
        OrderKind.HOLD,
        name=_event(name, desk, usage),
        session=known_session(session, desk, usage) if session else "",
        project=options.get("project", "").rstrip("/"),
        times=None if times is None else int(times),
    )


def _event(name: str, desk: Replica, usage: str) -> str:
    events = {each.lower(): each for each in desk.holdable()}
    if name.lower() not in events:
        wrong = f'"{excerpt(name)}" is no event that is held on request'
        raise LineError(f"{wrong}; those are {', '.join(events.values())}", usage)
    return events[name.lower()]


def _options(words: list[str], names: set[str], usage: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for word in words:
        name, _, value = word.partition("=")
        if name.lower() not in names or not value or name.lower() in options:
            raise LineError(f"cannot read {excerpt(word)}", usage)
        options[name.lower()] = value
    return options
