"""An entry of the history in words: how it ended, by whom, and when."""

import time
from collections.abc import Iterator, Mapping

from crabhook.desk.updates import Past
from crabhook.model.actor import (
    OWNER,
    AnsweredAtAgent,
    Ended,
    Headless,
    Operator,
    Rule,
    StandingOrder,
)
from crabhook.model.card import Card, State
from crabhook.model.decision import Suggestion, Verdict
from crabhook.model.jsontext import pretty
from crabhook.model.wording import who
from crabhook.ui.cards.summary import (
    agent_label,
    agent_name,
    as_allowed,
    brief,
    outcome,
    project,
    told_of,
    tool_label,
    wants,
)
from crabhook.ui.cards.summary import summary as subject
from crabhook.ui.text.clock import lasting

_GONE: Mapping[object, str] = {
    Ended.HOOK_LEFT: "GONE",
    Ended.NEVER_CAME_BACK: "GONE",
    Ended.DESK_CLOSED: "LET GO",
    Ended.AWAY: "LET GO",
}
LET_HAPPEN = frozenset({Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY, Verdict.KEEP_GOING})


def fate(card: Card) -> str:
    """Return how a card ended, in a word or two."""
    if card.state is State.EXPIRED:
        return "TIMED OUT"
    if card.state is State.WITHDRAWN:
        answered = isinstance(card.end, AnsweredAtAgent)
        return "ANSWERED THERE" if answered else _GONE.get(card.end, card.outcome)
    return outcome(card)


def look(card: Card) -> str:
    """Return the style of how a card ended: what was let happen, refused, or neither."""
    if card.decision is None:
        return "dim"
    if card.decision.verdict in LET_HAPPEN:
        return "answered"
    return "remove" if card.decision.verdict is Verdict.DENY else "outcome"


def by_whom(past: Past) -> str:
    """Return who decided, in words that are not yet safe; empty where nobody did."""
    match past.card.decided and past.card.decided.by:
        case Operator(name=name):
            return name or OWNER.name
        case Rule(ref):
            return f'rule "{ref}"' if ref else "the rules"
        case StandingOrder() as order:
            return f"order: {who(order)}"
        case Headless():
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
    parts = (fate(card), f"by {whom}" if whom else "", delivery(past))
    yield "", " · ".join(filter(None, parts))
    waited = f", waited {lasting(past.waited)}" if past.waited >= 1 else ""
    record = f" · record {past.id}" if past.recorded else ""
    number = f" · #{card.number}" if card.number else ", at once"
    yield (
        "when",
        f"{time.strftime('%d %b %Y %H:%M:%S', time.localtime(past.at))}{waited}{number}{record}",
    )
    yield "who", _who(card)
    yield "why", card.why or past.why
    yield from (("! what ran", alarm) for alarm in card.alarms)
    if decision is None:
        return
    yield "reason", decision.reason
    yield "note", decision.note
    yield "its user was told", decision.user_message
    yield "the session was stopped", decision.halt
    yield "", "the turn was ended" if decision.interrupt else ""
    for said in decision.despite:
        yield "although", said
    for update in decision.permissions:
        kept = Suggestion(update)
        yield "from then on", " → ".join(filter(None, (kept.what, kept.where)))
    if decision.content:
        yield "with", pretty(dict(decision.content))


def _who(card: Card) -> str:
    event = card.event
    label = f"{agent_label(event)} agent" if not event.agent_id else agent_label(event)
    parts = (agent_name(event), event.cwd, label, f"session {event.session}")
    return " · ".join(part for part in parts if part)


def is_wanted(past: Past, wanted: str) -> bool:
    """Whether a filter's words keep an entry: it tells how it ended, and by whom, as well."""
    return not wanted or wants(wanted, told_of(past.card, fate(past.card), by_whom(past)))


def line(past: Past, now: float) -> str:
    """Return an entry in one line that is clear by itself, for a screen reader as well."""
    card, event = past.card, past.card.event
    asked = as_allowed(card)
    about = ": ".join(filter(None, (tool_label(event), subject(asked))))
    whom = f"by {brief(by_whom(past), str)}" if past.card.decided else ""
    parts = (moment(past.at, now), fate(card), whom, project(event), about, delivery(past))
    return " · ".join(filter(None, parts))
