"""The rows of the views in words.

A session: what its agents do now, what waits, what it shares, its notes. An entry of the history:
how a call ended, by whom, and when.
"""

import time
from collections.abc import Callable, Iterator

from crabhook.desk.updates import Past
from crabhook.model import actor
from crabhook.model.card import Card
from crabhook.model.decision import Suggestion, Verdict
from crabhook.model.event import Event
from crabhook.model.jsontext import pretty
from crabhook.model.session import Activity, AgentView, SessionView
from crabhook.model.wording import who
from crabhook.present.cover import covered
from crabhook.present.phrases import ago, countdown, joined, lasting
from crabhook.present.summary import (
    agent_label,
    agent_name,
    as_allowed,
    brief,
    on_machine,
    outcome,
    place,
    project,
    summary,
    told_of,
    tool_label,
    wants,
)

_LET_HAPPEN = frozenset({Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY, Verdict.KEEP_GOING})
_REFUSED = frozenset({Verdict.DENY, Verdict.DECLINE})
ID_SHOWN = 8  # characters of an id of a session or an agent; its start identifies it
_FILES_SHOWN, _CARDS_SHOWN = 5, 3
MAIN = "main agent"
TIMES = "\N{MULTIPLICATION SIGN}"


def look(card: Card) -> str:
    """Return the style of how a card ended: what was let happen, refused, or neither."""
    return "outcome" if card.decision is None else look_of(card.decision.verdict)


def look_of(verdict: Verdict) -> str:
    """Return the style of a verdict: green, red, or neither."""
    if verdict in _LET_HAPPEN:
        return "allowed"
    return "refused" if verdict in _REFUSED else "outcome"


def by_whom(past: Past) -> str:
    """Return who decided, in words that are not yet safe; empty for no person."""
    match past.card.decided and past.card.decided.by:
        case actor.Operator(name=name):
            return name or actor.OWNER.name
        case actor.RuleActor(ref):
            return f'rule "{ref}"' if ref else "the rules"
        case actor.StandingOrder() as order:
            return f"order: {who(order)}"
        case actor.Headless():
            return "a desk where nobody sits"
    return ""


def moment(at: float, now: float) -> str:
    """Return a moment: the time of day, and before it the day where that is another."""
    then, today = time.localtime(at), time.localtime(now)
    other_year, other_day = then[0] != today[0], then[:3] != today[:3]
    return time.strftime(f"{'%d %b ' * other_day}{'%Y ' * other_year}%H:%M", then)


def delivery(past: Past) -> str:
    """Return whether the answer reached its hook; empty where that is not told."""
    if past.card.delivered is None:
        return ""
    why = f": {past.missing}" if past.missing else ""
    return "delivered" if past.card.delivered else f"NOT DELIVERED{why}"


def facts(past: Past) -> Iterator[tuple[str, str]]:
    """Yield how an entry ended, label by label, in words that are not yet safe."""
    card, decision = past.card, past.card.decision
    whom = by_whom(past)
    yield "", joined(outcome(card), f"by {whom}" if whom else "", delivery(past))
    waited = f", waited {lasting(past.waited)}" if past.waited >= 1 else ""
    record = f" · record {past.id}" if past.recorded else ""
    number = f" · #{card.number}" if card.number else ", at once"
    at = time.strftime("%d %b %Y %H:%M:%S", time.localtime(past.at))
    yield "when", f"{at}{waited}{number}{record}"
    event = card.event
    agent = agent_label(event) if event.agent_id else f"{agent_label(event)} agent"
    yield "who", joined(agent_name(event), event.cwd, agent, f"session {event.session}")
    yield "machine", event.machine
    yield "why", card.why or past.why
    yield from (("! what ran", alarm) for alarm in card.alarms)
    if decision is None:
        return
    yield "reason", decision.reason
    yield "note", decision.note
    yield "its user was told", decision.user_message
    yield "the session was stopped", decision.halt
    yield "", "the turn was ended" if decision.interrupt else ""
    for objection in decision.despite:
        yield "although", objection
    for update in decision.permissions:
        kept = Suggestion(update)
        yield "from then on", joined(kept.what, kept.where, by=" → ")
    if decision.content:
        yield "with", pretty(dict(decision.content))


def is_wanted(past: Past, wanted: str) -> bool:
    """Whether a filter's words keep an entry: it tells how it ended, and by whom, as well."""
    return not wanted or wants(wanted, told_of(past.card, outcome(past.card), by_whom(past)))


def line(past: Past, now: float) -> str:
    """Return an entry in one line that is clear by itself, for a screen reader as well."""
    card, event = past.card, past.card.event
    about = joined(tool_label(event), summary(as_allowed(card)), by=": ")
    whom = f"by {brief(by_whom(past), str)}" if card.decided else ""
    return joined(moment(past.at, now), outcome(card), whom, place(event), about, delivery(past))


def head(view: SessionView, now: float) -> str:
    """Return which session it is: its id's start, agent, project, mode, and since when."""
    return joined(
        brief(view.session[:ID_SHOWN], covered) or "(no id)",
        view.title,
        joined(place_of(view, covered), on_machine(view.machine, covered), by=" "),
        view.mode and f"mode {brief(view.mode, covered)}",
        f"started {ago(now - view.since)} ago",
        f"last seen {ago(now - view.heard)} ago",
        waiting(view),
    )


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
        yield f"{name_in_session(agent)}: {doing(agent.doing, now)}"
    for file in view.shared:
        others = ", ".join(
            joined(brief(session[:ID_SHOWN], covered), on_machine(where), by=" ")
            for _, session, where in file.sessions
        )
        yield f"! {others} changes the same file: {brief(file.path, covered)}"
    if view.files:
        shown = [brief(path, covered) for path in view.files[-_FILES_SHOWN:]]
        more = len(view.files) - len(shown)
        yield f"changed: {', '.join(shown)}{f' and {more} more' if more else ''}"
    for note in view.notes:
        call = brief(note.call, covered)
        fate = "waits for its next call" if note.waits else f"delivered with {call}"
        yield f"{brief(note.label, covered)}: {brief(note.text, covered)} · {fate}"


def name_in_session(agent: AgentView) -> str:
    """Return how an agent of the session is called, with the start of its id."""
    if not agent.id:
        return MAIN
    kind = brief(agent.kind, covered) or "subagent"
    return f"{kind} {brief(agent.id[:ID_SHOWN], covered)}"


def doing(activity: Activity | None, now: float) -> str:
    """Return an agent's present or last act: the call, how often, its result, when."""
    if activity is None:
        return "nothing heard of yet"
    event = activity.event
    what = joined(tool_label(event, covered), summary(event, covered), by=" ")
    often = f" {TIMES}{activity.times}" if activity.times > 1 else ""
    at = f"{countdown(now - activity.at)} ago"
    return joined(f"{what}{often}", brief(activity.outcome, covered), at)
