"""The head of a card: who asks, with what, where, and how it stands."""

from crabhook.broker.card import Card
from crabhook.model.request import Origin
from crabhook.ui.full.clock import Clock
from crabhook.ui.full.letters import Speller, clip
from crabhook.ui.full.paper import Line, Sheet, ends
from crabhook.ui.full.standing import Standing
from crabhook.ui.summary import agent_label, brief, session_label, tool_label


def head_lines(standing: Standing, sheet: Sheet, clock: Clock) -> list[Line]:
    """Return two rows above a card's content; what they cut short stands whole in the content."""
    return [
        ends(_title(standing, sheet), _facts(standing.card, sheet), sheet.columns),
        _sending(standing, clock) or _outcome(standing, sheet) or _place(standing.card, sheet),
    ]


def _title(standing: Standing, sheet: Sheet) -> Line:
    card = standing.card
    asked = " → ".join(brief(leg.event.name, sheet.spell) for leg in card.requests)
    told = card.event.tool is not None or len(card.requests) > 1
    return [
        (standing.number_style, f"#{card.number}"),
        ("", "  "),
        (standing.style, tool_label(card.event, sheet.spell)),
        ("dim", f" · {asked}" if told else ""),
    ]


def _facts(card: Card, sheet: Sheet) -> Line:
    session = session_label(card.event, sheet.spell)
    mode = brief(card.event.permission_mode, sheet.spell)
    return [("dim", " " + " · ".join(part for part in (session, mode) if part))]


def _place(card: Card, sheet: Sheet) -> Line:
    """Return where the agent works, and who it is."""
    agent = agent_label(card.event, sheet.spell)
    who = " · ".join(
        part for part in (agent, _origin(card.requests[0].origin, sheet.spell)) if part
    )
    return ends(
        [("", "    " + brief(card.event.cwd, sheet.spell))],
        [("dim", " " + clip(who, sheet.columns // 2))],
        sheet.columns,
    )


def _sending(standing: Standing, clock: Clock) -> Line:
    return [("", "    "), *standing.sending(clock)] if standing.held else []


def _outcome(standing: Standing, sheet: Sheet) -> Line:
    """Return how an ended card ended, and why."""
    if not standing.ended:
        return []
    card = standing.card
    said = card.why or (card.decision.reason or card.decision.note if card.decision else "")
    fate = {True: "delivered", False: "NOT DELIVERED, the hook had gone", None: ""}[card.delivered]
    parts = [part for part in (card.outcome, brief(said, sheet.spell), fate) if part]
    return [("outcome", f"    {' · '.join(parts)}")]


def _origin(origin: Origin, spell: Speller) -> str:
    """Return who the client says it is."""
    user, host = brief(origin.user, spell), brief(origin.host, spell)
    name = f"{user}@{host}" if user and host else user or host
    return " ".join([*([name] if name else []), *([f"pid {origin.pid}"] if origin.pid else [])])
