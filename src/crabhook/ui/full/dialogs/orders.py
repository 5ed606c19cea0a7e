"""Orders that last a while: standing orders, being away, and notes and stops for a live session."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf, isfinite

from crabhook.desk.acts import Place, key_of
from crabhook.desk.commands import EndOrders, GiveOrder, Steer, StopSession, TakeBackNote
from crabhook.desk.other_acts import away, here
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card
from crabhook.model.order import CAP, OF_A_CALL, UNHEARD_DAYS, Order, Standing
from crabhook.model.session import AgentView, SessionView
from crabhook.model.wording import plural
from crabhook.present.past import ID_SHOWN, name_in_session
from crabhook.present.phrases import Clock, lasting
from crabhook.present.safe import Speller
from crabhook.present.summary import brief, project
from crabhook.ui.commands.words import read_duration
from crabhook.ui.full.dialog import Group, group, row_of
from crabhook.ui.full.dialogs.page import ScreenPage
from crabhook.ui.full.dialogs.prompts import AskLine, Choice, Menu, Purpose, YesPage, statement
from crabhook.ui.full.effects import Effects, Say, submit
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.text.layout import Content, Line

_WHAT = {
    OrderKind.HOLD: "hold {}",
    OrderKind.KEEP_GOING: "keep going at {}",
    OrderKind.HOLD_ALL: "hold everything",
    OrderKind.ALLOW_ALL: "allow everything",
    OrderKind.AWAY: "away",
    OrderKind.HALT: "halted until its next prompt",
    OrderKind.LET_ONCE: "let a call run once",
    OrderKind.DENY_AGAIN: "deny a call if it comes again",
}


def what_of(order: Order) -> str:
    """Return what an order does, in words of ours alone."""
    return _WHAT[order.kind].format(order.name)


def scope_of(order: Order) -> str:
    """Return about whom an order is, in an agent's words: not yet safe to show."""
    parts = [f"session {order.session[:ID_SHOWN]}" if order.session else ""]
    parts += [f"project {order.project}" if order.project else ""]
    parts += [f"machine {order.machine}" if order.machine else ""]
    parts += [f"{order.name} {order.words}" if order.kind in OF_A_CALL else ""]
    return brief(", ".join(filter(None, parts)), str)


def orders_in_title(desk: Replica) -> list[Standing]:
    """Return the orders that the title names: no halt of a session that is not there any more."""
    return [
        order for order in desk.orders() if order.kind is not OrderKind.HALT or desk.is_live(order)
    ]


def orders_line(orders: Sequence[Order], clock: Clock, spell: Speller) -> Line:
    """Return the standing orders in a few words; those that let calls pass stand out."""
    loud = (OrderKind.AWAY, OrderKind.ALLOW_ALL, OrderKind.HALT)
    away, allowing, halted = ([order for order in orders if order.kind is kind] for kind in loud)
    others = [order for order in orders if order.kind not in loud]
    spans: Line = []
    if away:
        until = away[0].until
        end = "" if until is None else f" until {clock.of_day(until)[:5]}"
        spans.append(("held", f"AWAY{end}"))
    if allowing:
        first = min(allowing, key=_end)
        end = "without end" if first.until is None else lasting(first.until - clock.now)
        spans.append(("held", f"ALLOWING {_whose(first, allowing, spell)} {end}"))
    if halted:
        spans.append(("held", f"HALTED {_whose(halted[0], halted, spell)}"))
    if others:
        left = min(map(_end, others)) - clock.now
        ends = f", next ends {lasting(left)}" if isfinite(left) else ""
        spans.append(("count", f"{plural(len(others), 'order')}{ends}"))
    return [span for part in spans for span in (part, ("", " · "))]


def _whose(first: Order, orders: Sequence[Order], spell: Speller) -> str:
    more = f" +{len(orders) - 1}" if len(orders) > 1 else ""
    return f"{spell(first.session[:ID_SHOWN])}{more}"


def _end(order: Order) -> float:
    return inf if order.until is None else order.until


_STOP = "Stop"
_HELD_FIRST = (_STOP, "SubagentStop", "UserPromptSubmit", "PostToolUse")
_ALLOW_ALL = "allow everything of this session for a while…"
_HOLD_ALL = "hold everything of this session"


def offer_orders(card: Card | None, desk: Replica) -> Effects:
    """Show the standing orders, to end, and the orders that the operator can give."""
    title = "standing orders: choose one to end it, or give another"
    rows = [_ending(order, desk) for order in sorted(desk.orders(), key=desk.is_live, reverse=True)]
    if desk.may_hold():
        rows += _for_session(card, desk) if card is not None and card.event.session else ()
        rows.append(_giving("ask me before any session finishes", Order(OrderKind.HOLD, _STOP)))
        which = partial(_ask_which, "", desk)
        rows.append(Choice("ask me about another event of every session…", which))
    if not rows:
        return (Say("no order stands, and a viewer gives none"),)
    return (Menu(title, tuple(rows)),)


_UNHEARD = f", of a session not heard of any more: ends after {UNHEARD_DAYS} days"


def _ending(order: Standing, desk: Replica) -> Choice:
    left = f", {lasting(order.until - desk.now())} left" if order.until is not None else ""
    times = f", {order.times} times more" if order.times is not None else ""
    end = submit(EndOrders(frozenset({order.id})), Say(f"ended: {what_of(order)}"))
    unseen = "" if desk.is_live(order) else _UNHEARD
    ours, behind = f"{what_of(order)}{left}{times}{unseen}", _behind(scope_of(order))
    if desk.may_end(order):
        return Choice(f"END: {ours}", lambda: (end,), behind, faint=bool(unseen))
    ends = "an admin can end this order, and you are none"
    return Choice(f"it stands: {ours}", lambda: (Say(ends),), behind, faint=True)


def _giving(ours: str, order: Order, theirs: str = "") -> Choice:
    return Choice(ours, partial(give, order), theirs)


def _behind(theirs: str) -> str:
    return f" · {theirs}" if theirs else ""


def _for_session(card: Card, desk: Replica) -> Iterator[Choice]:
    session, folder = card.event.session, card.event.cwd.rstrip("/")
    hold_all = Order(OrderKind.HOLD_ALL, session=session)
    behind = _behind(scope_of(hold_all))
    if desk.may_order():
        yield Choice(_ALLOW_ALL, partial(_ask_how_long, session, desk), behind)
    yield _giving(_HOLD_ALL, hold_all, behind)
    hold_stop = Order(OrderKind.HOLD, _STOP, session=session)
    yield _giving("ask me before this session finishes", hold_stop, behind)
    if desk.may_order():
        going = "keep this session going at its next stops…"
        yield Choice(going, partial(_ask_how_often, session), behind)
    another = "ask me about another event of this session…"
    yield Choice(another, partial(_ask_which, session, desk), behind)
    if folder:
        hold_stop = Order(OrderKind.HOLD, _STOP, project=folder)
        yield _giving(
            "ask me before a session of this project finishes",
            hold_stop,
            _behind(project(card.event)),
        )


def _ask_which(session: str, desk: Replica) -> Effects:
    events = desk.holdable()  # of all agents, whose names for events may be the same
    ordered = sorted(events, key=lambda name: (name not in _HELD_FIRST, events.index(name)))
    orders = (Order(OrderKind.HOLD, name, session=session) for name in ordered)
    rows = (_giving(what_of(order), order, _behind(scope_of(order))) for order in orders)
    return (Menu("hold which event?", tuple(rows)),)


def give(order: Order) -> Effects:
    """Give a standing order, and say how to end it."""
    notice = f"from now on: {what_of(order)}. O lists it and ends it"
    return (submit(GiveOrder(order), Say(notice)),)


def _ask_how_long(session: str, desk: Replica) -> Effects:
    """Ask for how long to allow everything of a session, then for a yes."""

    def ask(seconds: float) -> Effects:
        page = statement(
            (f"ALLOW EVERYTHING of one session for {lasting(seconds)}", ""),
            ("Until then every call is allowed without being shown, of the session", session),
            ("Questions, plans and forms still wait for you. What waits now still waits.", ""),
        )
        return (YesPage(lambda: page, lambda: allow(seconds)),)

    def allow(seconds: float) -> Effects:
        return give(Order(OrderKind.ALLOW_ALL, session=session, until=desk.now() + seconds))

    subject = f"allow everything of {brief(session[:ID_SHOWN])}"
    needs = "say for how long: 30s, 10m, 2h"
    return (AskLine(Purpose.FOR_HOW_LONG, _with_seconds(ask), "10m", needs, subject),)


def _ask_how_often(session: str) -> Effects:

    def then(text: str) -> Effects:
        often, _, words = text.partition(" ")
        words = words.strip()
        if not often.isdecimal() or not 0 < int(often) <= CAP or not words:
            needed = f"write how often, 1 to {CAP}, and how to go on: 3 run the tests again"
            return (Say(needed),)
        times = int(often)
        return give(Order(OrderKind.KEEP_GOING, _STOP, session=session, times=times, words=words))

    subject = f"keep {brief(session[:ID_SHOWN])} going"
    needs = "say how often, and how"
    return (AskLine(Purpose.KEEP_GOING_TIMES, then, needs=needs, subject=subject),)


def _with_seconds(then: Callable[[float], Effects]) -> Callable[[str], Effects]:
    """Return what a typed length of time continues with; an empty line means 0."""
    return lambda text: then(read_duration(text, "30s, 10m, 2h or 1h30m") if text else 0.0)


def go_away(desk: Replica, waiting: Callable[[], int]) -> Effects:
    """Ask for how long, or for no end, and then for a yes; `waiting` counts the cards that wait."""
    if not desk.may_order():
        return (Say("only an admin can be away, since calls pass then"),)

    def ask(seconds: float) -> Effects:
        return (YesPage(lambda: _away(waiting(), seconds), lambda: leave(seconds)),)

    def leave(seconds: float) -> Effects:
        return give(away(desk.now(), seconds or None))

    subject = "away (empty: until you press b)"
    return (AskLine(Purpose.FOR_HOW_LONG, _with_seconds(ask), subject=subject),)


def _away(waiting: int, seconds: float) -> Content:
    end = f"for {lasting(seconds)}" if seconds else "until you press b"
    now = f"{waiting} waiting {'request goes' if waiting == 1 else 'requests go'} back"
    return statement(
        (f"AWAY {end}: {now} to the agents now, with no opinion", ""),
        ("Every request that comes meanwhile passes with no opinion too. The feed shows it.", ""),
    )


def come_back(desk: Replica) -> Effects:
    """Be back at the desk."""
    notice = Say("you are back: requests wait for you again")
    return () if (back := here(desk.orders())) is None else (submit(back, notice),)


# To one live session.

_MAIN_AGENT = AgentView("", "", 0.0)
_NEEDS_WORDS = "write it: the agent reads it"


def offer_session(view: SessionView, desk: Replica) -> Effects:
    """Show what can be done about a session, its subagents and its notes."""
    allows = ": only “allow everything” lets calls run" if desk.may_order() else ""
    title = f"a session of {view.title}{allows}"
    behind = f" · {view.session[:ID_SHOWN]}"
    if not desk.may_hold():
        return (Say("a viewer steers no session"),)
    rows: list[Choice] = []
    for agent in view.agents:
        about = f" · {name_in_session(agent)}" if agent.id else ""
        whom = "a subagent" if agent.id else "its main agent"
        rows.append(Choice(f"note to {whom}…", partial(note_to, view, agent), about))
        ours = f"stop {_stopped(agent)} at its next call…"
        rows.append(Choice(ours, partial(stop, view, agent), about))
    for note in view.notes:
        if note.waits:
            ours = f"take back note {note.id}"
            rows.append(Choice(ours, partial(_take_back, note.id), f" · {note.text}"))
    rows.append(_giving(_HOLD_ALL, Order(OrderKind.HOLD_ALL, session=view.session), behind))
    if desk.may_order():
        rows.append(Choice(_ALLOW_ALL, partial(_ask_how_long, view.session, desk), behind))
    return (Menu(title, tuple(rows)),)


def note_to(view: SessionView, agent: AgentView = _MAIN_AGENT) -> Effects:
    """Ask for a note to one of the session's agents."""

    def then(text: str) -> Effects:
        notice = "it waits for the agent's next call: S shows when it was delivered"
        return (submit(Steer(view.session, text, agent.id), Say(notice)),)

    subject = _subject(view, agent)
    return (AskLine(Purpose.STEER, then, needs=_NEEDS_WORDS, subject=subject),)


def stop(view: SessionView, agent: AgentView = _MAIN_AGENT) -> Effects:
    """Ask why the session, or its subagent, is to stop at its next call."""

    def then(why: str) -> Effects:
        notice = f"{_stopped(agent)} stops at its next call. O ends that"
        return (submit(StopSession(view.session, why, agent.id), Say(notice)),)

    return (AskLine(Purpose.STOP, then, needs=_NEEDS_WORDS, subject=_subject(view, agent)),)


def _take_back(note: int) -> Effects:
    return (submit(TakeBackNote(note), Say(f"note {note} is taken back")),)


def _stopped(agent: AgentView) -> str:
    return "this subagent" if agent.id else "the session"


def _subject(view: SessionView, agent: AgentView) -> str:
    session = f"session {brief(view.session[:ID_SHOWN])}"
    return f"{name_in_session(agent)} of {session}" if agent.id else session


# Its keys.


def _is_away(page: ScreenPage) -> bool:
    return any(order.kind is OrderKind.AWAY for order in page.screen.desk.orders())


def _offer_orders(page: ScreenPage, _: str) -> Effects:
    screen = page.screen
    return offer_orders(None if screen.listing else screen.card, screen.desk)


def _go_away(page: ScreenPage, _: str) -> Effects:
    screen = page.screen
    return go_away(screen.desk, lambda: screen.queue.count)


# fmt: off
COME_BACK: Group[ScreenPage] = group(KeyTheme.AWAY,
    lambda page: _is_away(page) and page.may("here"),
    row_of(key_of("here", Place.DESK), lambda page, _: come_back(page.screen.desk)))
ORDERS: Group[ScreenPage] = group(KeyTheme.ORDERS, lambda page: page.may("orders"),
    row_of(key_of("orders", Place.DESK), _offer_orders))
GO_AWAY: Group[ScreenPage] = group(KeyTheme.ORDERS,
    lambda page: not _is_away(page) and page.may("away"),
    row_of(key_of("away", Place.DESK), _go_away))
# fmt: on
