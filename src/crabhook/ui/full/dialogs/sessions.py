"""What can be said to a live session, and done about it."""

from collections.abc import Iterator
from functools import partial

from crabhook.desk.commands import Steer, StopSession, TakeBackNote
from crabhook.desk.replica import Replica
from crabhook.model.actor import OrderKind
from crabhook.model.order import Order
from crabhook.model.session import AgentView, SessionView
from crabhook.ui.cards.session import ID_SHOWN, agent_name
from crabhook.ui.cards.summary import brief
from crabhook.ui.full.dialogs.orders import ask_how_long, give
from crabhook.ui.full.dialogs.prompts import AskLine, Choice, Menu, Purpose
from crabhook.ui.full.effects import Effects, Say, submit


def offer(view: SessionView, desk: Replica) -> Effects:
    """Show what can be done about a session, its subagents and its notes."""
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


def note_to(view: SessionView) -> Effects:
    """Ask for a note to the session's main agent."""
    return next(_about(view, AgentView("", "", view.since))).does()


def stop(view: SessionView) -> Effects:
    """Ask why the session is to stop at its next call."""
    _, stopping = _about(view, AgentView("", "", view.since))
    return stopping.does()


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
