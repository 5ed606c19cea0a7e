"""What a filter looks at in a card, and which cards its words keep."""

from collections.abc import Mapping

from crabhook.model.card import Card
from crabhook.ui.cards.summary import agent_label, agent_name, project, summary, tool_label

# The words by which a filter knows a level of risk: the start of one is enough.
_LEVELS = ("none 0", "caution ▲ ! 1", "danger ▲▲ !! 2")
_FIELDS = ("tool", "project", "agent", "session", "risk")


def told_of(card: Card, *more: str) -> Mapping[str, str]:
    """Return the parts of a card that a filter looks at; the whole, and `more`, under no name."""
    event = card.event
    agent = f"{event.platform} {agent_name(event)} {agent_label(event)}"
    parts = (tool_label(event), project(event), agent, event.session)
    told = [part.casefold() for part in parts]
    rest = [part.casefold() for part in (summary(event), *more)]
    levels = _LEVELS[card.risk.level]
    return dict(zip(_FIELDS, (*told, levels), strict=True)) | {"": " ".join([*told[:3], *rest])}


def wants(wanted: str, told: Mapping[str, str]) -> bool:
    """Whether a filter's words keep what tells this: each in any part, `agent:codex` in its own."""
    for word in wanted.casefold().split():
        name, _, value = word.partition(":")
        if name == "risk" and value:
            found = any(level.startswith(value) for level in told["risk"].split())
        elif name == "session" and value:
            found = told["session"].startswith(value)
        else:
            found = value in told[name] if name in _FIELDS else word in told[""]
        if not found:
            return False
    return True
