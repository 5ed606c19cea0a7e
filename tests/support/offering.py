"""Rules offered for a card, as a server hands them to a screen once they have been tried."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime

from crabhook.desk.updates import Offer, Offering
from crabhook.model.event import Event, ToolCall

END = datetime(2026, 12, 22, 12, tzinfo=UTC)


def offer(
    text: str = "Bash(make)",
    covers: str = "exactly `make`, in this project",
    *,
    covered: int = 0,
    denied: tuple[str, ...] = (),
    gives_away: tuple[str, ...] = (),
) -> Offer:
    """Return one rule, what it would have covered, and the commands it would have let through."""
    denials = tuple(
        (Event("claude", "PreToolUse", tool=ToolCall("Bash", {"command": command})), times)
        for command, times in Counter(denied).items()
    )
    said = f"allow {text} · in project /work/app"
    return Offer(text, said, (text,), END, covers, gives_away, covered, len(denied), denials)


def denial(
    text: str = "Bash(make)",
    covers: str = "exactly `make`, in this project",
    *,
    covered: int = 0,
    allowed: tuple[str, ...] = (),
) -> Offer:
    """Return one rule that denies, what it would have denied, and the allowed commands of that."""
    rule = offer(text, covers, covered=covered, denied=allowed)
    return replace(rule, id=f"deny {text}", rule=rule.rule.replace("allow", "deny"), denies=True)


def offering(*offers: Offer, tried_on: int | None = 412) -> Offering:
    """Return what is offered, the narrowest first."""
    return Offering(offers, tried_on, file="~/.config/crabhook/rules.toml")


NARROW = offer(covered=3)
WIDE = offer(
    "Bash(make *)",
    "`make` with any arguments, in this project",
    covered=12,
    denied=("make deploy", "make \x1b[2J\u202e", "make deploy"),
)
BOTH = offering(NARROW, WIDE)
DENIALS = offering(
    denial(covered=3),
    denial(
        "Bash(make *)",
        "`make` with any arguments, in this project",
        covered=12,
        allowed=("make test", "make \x1b[2J\u202e", "make test"),
    ),
)
