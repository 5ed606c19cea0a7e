"""The live sessions, a row each: what each does now; and what can be said to the one chosen."""

from collections.abc import Iterator
from functools import partial

from crabhook.desk.commands import Steer, StopSession, TakeBackNote
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.event import Event
from crabhook.model.order import Order
from crabhook.model.session import AgentView, SessionView
from crabhook.ui.cards.session import ID_SHOWN, agent_name, details, doing, waiting
from crabhook.ui.cards.summary import brief, project
from crabhook.ui.full.dialogs.orders import ask_how_long, give
from crabhook.ui.full.dialogs.prompts import AskLine, Beneath, Choice, Menu, Purpose
from crabhook.ui.full.effects import Effects, Say, submit
from crabhook.ui.text.clock import countdown


def offer_sessions(desk: Replica) -> Effects:
    """Show every live session, the one that was heard of last first; each can be chosen."""
    now = desk.now()
    live = sorted(desk.live(), key=lambda view: -view.heard)
    if not live:
        return (Say("no session was heard of yet: agents are heard of by their hooks"),)
    title = f"sessions: {len(live)} live; choose one to tell it something, or to stop it"
    return (Menu(title, tuple(_row(view, desk, now) for view in live)),)


def _row(view: SessionView, desk: Replica, now: float) -> Choice:
    """Return a session's row: our words, behind them its project and what its main agent does."""
    subagents = len(view.agents) - 1
    ours = (
        view.title,
        f"{countdown(now - view.heard)} ago",
        waiting(view),
        f"{subagents} subagent{'' if subagents == 1 else 's'}" if subagents > 0 else "",
        "SAME FILE as another session" if view.shared else "",
    )
    place = project(Event(view.platform, "", cwd=view.cwd), str)
    main = next((one.doing for one in view.agents if not one.id), None)
    theirs = f" · {brief(place, str)} {view.session[:ID_SHOWN]} · {doing(main, now)}"
    beneath = Beneath("what it does, and was told", "\n".join(details(view, now)))
    does = partial(_offer, view, desk)
    return Choice(" · ".join(filter(None, ours)), does, theirs, beneath=(beneath,))


def _offer(view: SessionView, desk: Replica) -> Effects:
    """Show what can be done about one session."""
    title = f"a session of {view.title}: nothing here allows a call but the row that says so"
    behind = f" · {view.session[:ID_SHOWN]}"
    hold = Order(OrderKind.HOLD_ALL, session=view.session)
    rows = (
        *(row for agent in view.agents for row in _about(view, agent)),
        *(
            Choice(
                f"take back note {note.id}",
                partial(_take_back, note.id),
                f" · {note.text}",
            )
            for note in view.notes
            if note.waits
        ),
        Choice("hold everything of this session", partial(give, hold), behind),
        Choice(
            "allow everything of this session for a while…",
            partial(ask_how_long, view.session, desk),
            behind,
        ),
    )
    return (Menu(title, rows),)


def _about(view: SessionView, agent: AgentView) -> Iterator[Choice]:
    """Return the rows about the main agent, or about one subagent."""
    subject = f"session {brief(view.session[:ID_SHOWN])}"
    if agent.id:
        whom, stops, behind = "a subagent", "this subagent", f" · {agent_name(agent)}"
        subject = f"{agent_name(agent)} of {subject}"
    else:
        whom, stops, behind = "its main agent", "the session", ""

    def note(text: str) -> Effects:
        said = "it waits for its next call; S shows when it was delivered"
        return (submit(Steer(view.session, text, agent.id), Say(said)),)

    def stop(why: str) -> Effects:
        said = f"{stops} stops at its next call; O ends that"
        return (submit(StopSession(view.session, why, agent.id), Say(said)),)

    needs = "write it: the agent reads it"
    yield Choice(
        f"note to {whom}…",
        lambda: (AskLine(Purpose.STEER, note, needs=needs, subject=subject),),
        behind,
    )
    yield Choice(
        f"stop {stops} at its next call…",
        lambda: (AskLine(Purpose.STOP, stop, needs=needs, subject=subject),),
        behind,
    )


def _take_back(note: int) -> Effects:
    return (submit(TakeBackNote(note), Say(f"note {note} is taken back")),)
