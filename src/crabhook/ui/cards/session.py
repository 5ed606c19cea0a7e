"""A live session in words: what its agents do now, what waits, what it shares, what it was told."""

from collections.abc import Callable, Iterator

from crabhook.model.event import Event
from crabhook.model.session import Activity, AgentView, Note, SessionView
from crabhook.ui.cards.summary import brief, project, summary, tool_label
from crabhook.ui.secrets import covered
from crabhook.ui.text.clock import countdown

ID_SHOWN = 8  # characters of a session's or an agent's id; the start of it names it
_FILES_SHOWN, _CARDS_SHOWN = 5, 3
MAIN = "main agent"
TIMES = "\N{MULTIPLICATION SIGN}"


def head(view: SessionView, now: float) -> str:
    """Return which session it is: its id's start, agent, project, mode, and since when."""
    place = place_of(view, covered)
    parts = (
        brief(view.session[:ID_SHOWN], covered) or "(no id)",
        view.title,
        place,
        view.mode and f"mode {brief(view.mode, covered)}",
        f"{countdown(now - view.since)} old",
        f"heard of {countdown(now - view.heard)} ago",
        waiting(view),
    )
    return " · ".join(part for part in parts if part)


def place_of(view: SessionView, spell: Callable[[str], str]) -> str:
    """Return the last part of the folder a session works in."""
    return project(Event(view.platform, "", cwd=view.cwd), spell)


def waiting(view: SessionView) -> str:
    """Return which of the session's cards wait; nothing where none does."""
    if not view.waiting:
        return ""
    shown = ", ".join(f"#{number}" for number in view.waiting[:_CARDS_SHOWN])
    more = len(view.waiting) - _CARDS_SHOWN
    return f"waits for you: {shown}{f' and {more} more' if more > 0 else ''}"


def details(view: SessionView, now: float) -> Iterator[str]:
    """Yield a line for each agent, file that another session changes too, and note."""
    for agent in view.agents:
        yield f"{agent_name(agent)}: {doing(agent.doing, now)}"
    for one in view.shared:
        others = ", ".join(brief(session[:ID_SHOWN], covered) for _, session, _ in one.sessions)
        yield f"! {others} changes the same file: {brief(one.path, covered)}"
    if view.files:
        shown = [brief(one, covered) for one in view.files[-_FILES_SHOWN:]]
        more = len(view.files) - len(shown)
        yield f"changed: {', '.join(shown)}{f' and {more} more' if more else ''}"
    yield from map(note_line, view.notes)


def agent_name(agent: AgentView) -> str:
    """Return how an agent of the session is called, with the start of its id."""
    if not agent.id:
        return MAIN
    kind = brief(agent.kind, covered) or "subagent"
    return f"{kind} {brief(agent.id[:ID_SHOWN], covered)}"


def doing(activity: Activity | None, now: float) -> str:
    """Return what an agent does now, or did last: the call, how often, what came of it, when."""
    if activity is None:
        return "nothing heard of yet"
    event = activity.event
    what = " ".join(filter(None, (tool_label(event, covered), summary(event, covered))))
    often = f" {TIMES}{activity.times}" if activity.times > 1 else ""
    outcome = brief(activity.outcome, covered)
    return " · ".join(
        filter(None, (f"{what}{often}", outcome, f"{countdown(now - activity.at)} ago"))
    )


def note_line(note: Note) -> str:
    """Return a note and where it is on its way."""
    call = brief(note.call, covered)
    fate = f"delivered with {call}" if not note.waits else "waits for its next call"
    return f"{brief(note.label, covered)}: {brief(note.text, covered)} · {fate}"
