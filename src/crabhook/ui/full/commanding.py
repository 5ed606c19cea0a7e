"""Standing orders from the screen: the list to give one or to end one, and being away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.broker.orders import Kind, Order
from crabhook.broker.stops import CAP
from crabhook.model.errors import CrabhookError
from crabhook.ui.durations import read_duration
from crabhook.ui.full.box import Purpose
from crabhook.ui.full.clock import lasting
from crabhook.ui.full.menu import Choice, Menu
from crabhook.ui.full.ordersaid import scope_of, what_of
from crabhook.ui.full.proposal import Proposal, Statement
from crabhook.ui.summary import brief, project

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.ui.full.screen import Screen

_STOP = "Stop"
_HELD_FIRST = (_STOP, "SubagentStop", "UserPromptSubmit", "PostToolUse")


def offer_orders(screen: Screen) -> None:
    """Show the orders that stand, each to be ended, and those that can be given."""
    now = screen.desk.now()
    ends = [_ending(screen, order, now) for order in screen.desk.orders()]
    title = "standing orders: choose one to end it, or give another"
    screen.offer(Menu(title, (*ends, *_for_session(screen), *_for_all(screen))))


def _ending(screen: Screen, order: Order, now: float) -> Choice:
    left = f", {lasting(order.until - now)} left" if order.until is not None else ""
    times = f", {order.times} times more" if order.times is not None else ""
    ours = f"END: {what_of(order)}{left}{times}"
    return Choice(ours, lambda: _revoke(screen, order), _behind(scope_of(order)))


def _behind(theirs: str) -> str:
    return f" · {theirs}" if theirs else ""


def _for_session(screen: Screen) -> list[Choice]:
    """Return the orders that can be given about the selected card's session and project."""
    card = screen.card
    if card is None or not card.event.session:
        return []
    session, folder = card.event.session, card.event.cwd.rstrip("/")
    about = _behind(scope_of(Order(Kind.HOLD, session=session)))
    hold_all, hold_stop = (
        Order(Kind.HOLD_ALL, session=session),
        Order(Kind.HOLD, _STOP, session=session),
    )
    named: tuple[tuple[str, Callable[[], object]], ...] = (
        ("allow everything of this session for a while…", lambda: _ask_how_long(screen, session)),
        ("hold everything of this session", lambda: _give(screen, hold_all)),
        ("hold Stop of this session", lambda: _give(screen, hold_stop)),
        ("keep this session going at its next stops…", lambda: _ask_how_often(screen, session)),
        ("hold another event of this session…", _holding(screen, session)),
    )
    rows = [Choice(ours, does, about) for ours, does in named]
    if folder:
        order = Order(Kind.HOLD, _STOP, project=folder)
        where = _behind(project(card.event))
        rows.append(Choice("hold Stop of this project", lambda: _give(screen, order), where))
    return rows


def _for_all(screen: Screen) -> list[Choice]:
    return [
        Choice("hold Stop of every session", lambda: _give(screen, Order(Kind.HOLD, _STOP))),
        Choice("hold another event of every session…", _holding(screen, "")),
    ]


def _holding(screen: Screen, session: str) -> Callable[[], None]:
    """Return how to ask which event is to be held."""

    def ask() -> None:
        events = screen.desk.holdable()
        ordered = sorted(events, key=lambda name: (name not in _HELD_FIRST, events.index(name)))
        about = _behind(scope_of(Order(Kind.HOLD, session=session)))
        rows = tuple(_hold_row(screen, name, session, about) for name in ordered)
        screen.offer(Menu("hold which event?", rows))

    return ask


def _hold_row(screen: Screen, name: str, session: str, about: str) -> Choice:
    order = Order(Kind.HOLD, name, session=session)
    return Choice(f"hold {name}", lambda: _give(screen, order), about)


def _give(screen: Screen, order: Order) -> None:
    try:
        screen.desk.order(order)
    except CrabhookError as error:
        screen.say(str(error))
    else:
        screen.say(f"from now on: {what_of(order)}; O lists it and ends it")


def _revoke(screen: Screen, order: Order) -> None:
    try:
        screen.desk.revoke(lambda one: one == order)
    except CrabhookError as error:
        screen.say(str(error))
    else:
        screen.say(f"ended: {what_of(order)}")


def _ask_how_long(screen: Screen, session: str) -> None:
    """Ask for how long everything of a session is to be allowed, then for a yes."""
    name = brief(session[:8])

    def then(text: str) -> None:
        if (seconds := _seconds(screen, text)) is None:
            return
        said = Statement(
            (
                (f"ALLOW EVERYTHING of one session for {lasting(seconds)}", ""),
                ("Until then every call is allowed without being shown, of the session", session),
                ("Questions, plans and forms still wait for you. What waits now still waits.", ""),
            )
        )
        screen.propose(Proposal(lambda: said, lambda: order(seconds)))

    def order(seconds: float) -> None:
        until = screen.desk.now() + seconds
        _give(screen, Order(Kind.ALLOW_ALL, session=session, until=until))

    subject = f"allow everything of {name}"
    screen.type(Purpose.FOR_HOW_LONG, then, text="10m", subject=subject, needs=_NEEDS_TIME)


def _ask_how_often(screen: Screen, session: str) -> None:
    """Ask how often and with which words a session is to be kept going."""

    def then(text: str) -> None:
        often, _, words = text.partition(" ")
        if not often.isdecimal() or not 0 < int(often) <= CAP or not words.strip():
            screen.say(f"write how often, 1 to {CAP}, and how to go on: 3 run the tests again")
            return
        order = Order(
            Kind.KEEP_GOING, _STOP, session=session, times=int(often), words=words.strip()
        )
        _give(screen, order)

    subject = f"keep {brief(session[:8])} going"
    screen.type(Purpose.KEEP_GOING_TIMES, then, subject=subject, needs="say how often, and how")


_NEEDS_TIME = "say for how long: 30s, 10m, 2h"


def _seconds(screen: Screen, text: str) -> float | None:
    try:
        return read_duration(text, "30s, 10m, 2h or 1h30m")
    except CrabhookError as error:
        screen.say(str(error))
        return None


def go_away(screen: Screen) -> None:
    """Ask for how long, or for no end, and then for a yes."""

    def then(text: str) -> None:
        seconds = _seconds(screen, text) if text else 0.0
        if seconds is not None:
            screen.propose(
                Proposal(lambda: _away(screen, seconds), lambda: _leave(screen, seconds))
            )

    screen.type(Purpose.FOR_HOW_LONG, then, subject="away (enter: until b)")


def _away(screen: Screen, seconds: float) -> Statement:
    """Say what being away does, to what waits now and to what comes."""
    waiting = len(screen.selection.waiting())
    end = f"for {lasting(seconds)}" if seconds else "until you press b"
    now = f"{waiting} waiting {'request goes' if waiting == 1 else 'requests go'} back"
    return Statement(
        (
            (f"AWAY {end}: {now} to the agents now, with no opinion", ""),
            ("Whatever comes meanwhile passes with no opinion as well; the feed shows it.", ""),
        )
    )


def _leave(screen: Screen, seconds: float) -> None:
    until = screen.desk.now() + seconds if seconds else None
    _give(screen, Order(Kind.AWAY, until=until))


def come_back(screen: Screen) -> None:
    """Be back at the desk."""
    try:
        screen.desk.revoke(lambda order: order.kind is Kind.AWAY)
    except CrabhookError as error:
        screen.say(str(error))
    else:
        screen.say("you are back: requests wait for you again")
