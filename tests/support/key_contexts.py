"""Every moment a key can be pressed in: each way the desk can stand, before each kind of event."""

from __future__ import annotations

from itertools import product

from crabhook.desk.acts import Asked, kind_of
from crabhook.model.decision import Beside, Choices, Verdict
from crabhook.model.event import Event, ToolCall
from crabhook.platforms import PLATFORMS
from crabhook.platforms.claude.events import EVENTS as OF_CLAUDE
from crabhook.platforms.claude.events import PLAN_TOOL
from crabhook.platforms.codex.events import EVENTS as OF_CODEX
from crabhook.platforms.gemini.events import EVENTS as OF_GEMINI
from crabhook.ui.full.filters import KeyContext, Mode
from crabhook.vocabulary import vocabulary

_EVENTS = {"claude": OF_CLAUDE, "codex": OF_CODEX, "gemini": OF_GEMINI}
_TOOLS = (
    None,
    *(ToolCall(name, {}) for name in ("Bash", PLAN_TOOL, *sorted(vocabulary().questions))),
)


def _choices() -> frozenset[Choices]:
    """Return every set of choices that some event of some agent offers."""
    return frozenset(
        PLATFORMS[platform].choices(Event(platform, name, tool=tool))
        for platform, events in _EVENTS.items()
        for name, tool in product(events, _TOOLS)
    )


CHOICES = sorted(_choices(), key=repr)

# What a card can be at once.
_CARDS: tuple[dict[str, bool], ...] = (
    {},
    {"card": True},
    {"card": True, "waits": True},
    {"card": True, "waits": True, "form": True},
    {"card": True, "waits": True, "form": True, "suggests": True},
    {"card": True, "waits": True, "suggests": True},
    {"card": True, "waits": True, "fields": True},
    {"card": True, "waits": True, "plan": True},
    {"card": True, "waits": True, "plan": True, "revised": True, "suggests": True},
)
_DESKS: tuple[dict[str, bool], ...] = (
    {},
    {"held": True},
    {"marked": True},
    {"away": True},
    {"turns": True},
    {"keeps": True},
    {"offers": True},
    {"filters": True},
    {"filtered": True},
    {"marked": True, "filtered": True},
    {"entry": True},
    {"entry": True, "filtered": True},
    {"held": True, "marked": True, "away": True},
)


def _can_be(card: dict[str, bool], choices: Choices) -> bool:
    """Whether a card that can be told these can be such a card."""
    if card.get("form") and Beside.INPUT not in choices.beside:
        return False  # its questions cannot be answered any more
    return not card.get("fields") or Verdict.ACCEPT in choices.verdicts


def _context(mode: Mode, card: dict[str, bool], desk: dict[str, bool], to: Choices) -> KeyContext:
    """Return the moment before a card that can be told `to`."""
    kind = kind_of(to, questions=card.get("form", False), plan=card.get("plan", False))
    asked = Asked(to, kind, card.get("suggests", False))
    flags = {flag: card[flag] for flag in card if flag != "suggests"}
    return KeyContext(mode=mode, asked=asked, **flags, **desk)


CONTEXTS = [
    _context(mode, card, desk, choices)
    for mode, card, desk, choices in product(Mode, _CARDS, _DESKS, CHOICES)
    if _can_be(card, choices)
]
