"""Which requests a line is about: one by its number, several, a session's, or all that wait."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from crabhook.broker.card import Card
from crabhook.broker.desk import Desk
from crabhook.ui.sessions import find_session
from crabhook.ui.words import WORDS, LineError, Reach, Word


class Kind(StrEnum):
    """How requests are named."""

    OLDEST = "the oldest"
    NUMBERS = "numbers"
    SAME = "same"
    SESSION = "session"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Target:
    """The requests a line names: by `numbers`, or by the start of a `session`'s id."""

    kind: Kind = Kind.OLDEST
    numbers: tuple[int, ...] = ()
    session: str = ""

    @property
    def reach(self) -> Reach:
        """How many requests it may name."""
        if self.kind in (Kind.ALL, Kind.SESSION):
            return Reach.ANY
        return Reach.NAMED if self.kind is Kind.SAME or len(self.numbers) > 1 else Reach.ONE

    @property
    def number(self) -> int | None:
        """The number to write in a hint: the one that was named, if one was."""
        return self.numbers[0] if len(self.numbers) == 1 else None


OLDEST = Target()

_COMPARED = 500  # cards; among more, finding those that ask the same costs more than it tells

_NUMBER = r"#?[0-9]{1,9}"
NUMBERS = rf"{_NUMBER}(?:,{_NUMBER})*"
_WRITTEN = re.compile(
    rf"(?:(?P<numbers>{NUMBERS})|same=(?P<same>{_NUMBER})|session=(?P<session>\S+)|(?P<all>all))"
    r"(?:\s+|$)",
    re.IGNORECASE,
)


def read_target(text: str) -> tuple[Target, str]:
    """Return the target a line begins with, and the rest of the line; without one, the oldest."""
    found = _WRITTEN.match(text)
    if found is None:
        return OLDEST, text
    rest = text[found.end() :]
    if found["all"]:
        return Target(Kind.ALL), rest
    if found["session"]:
        return Target(Kind.SESSION, session=found["session"]), rest
    listed = found["same"] or found["numbers"]
    numbers = dict.fromkeys(int(number.lstrip("#")) for number in listed.split(","))
    return Target(Kind.SAME if found["same"] else Kind.NUMBERS, tuple(numbers)), rest


def named_cards(target: Target, desk: Desk, word: Word) -> Sequence[Card]:
    """Return the cards a target names, which may have ended; raises LineError for none."""
    if target.kind is Kind.ALL:
        return _some(desk.waiting())
    if target.kind is Kind.SESSION:
        waiting = desk.waiting()
        sessions = [card.event.session for card in waiting]
        session = find_session(target.session, sessions, f"session=ID {word.name}")
        return [card for card in waiting if card.event.session == session]
    cards = [_card(desk, number) for number in target.numbers]
    if target.kind is Kind.SAME:
        (one,) = cards
        return [one, *alike(one, desk.waiting())]
    return cards


def _card(desk: Desk, number: int) -> Card:
    card = desk.card(number)
    if card is None:
        raise LineError(f"there is no #{number}", f"{WORDS['list'].usage()}, to see what waits")
    return card


def _some(cards: Sequence[Card]) -> Sequence[Card]:
    if not cards:
        raise LineError("nothing waits", f"{WORDS['show'].usage()}, to read what has ended")
    return cards


def alike(card: Card, waiting: Sequence[Card]) -> list[Card]:
    """Return the other cards that ask the very same: the tool, its input and the folder alike.

    Whose agent asks does not matter.  What is about no tool is like no other.
    """
    return [other for other in waiting if other.number != card.number and _same(card, other)]


def first_alike(card: Card, waiting: Sequence[Card]) -> Card | None:
    """Return the oldest card that asks the very same and came before; none among very many.

    It is a hint, looked for whenever a card comes, so no more than one is compared to its end.
    """
    if len(waiting) > _COMPARED:
        return None
    earlier = (other for other in waiting if other.number < card.number)
    found = next((other for other in earlier if _looks_same(card, other)), None)
    return found if found is not None and _same(card, found) else None


def _same(one: Card, other: Card) -> bool:
    """Compare as an agent does: to Python 1 and true are equal."""
    first, second = one.event.tool, other.event.tool
    if not _looks_same(one, other) or first is None or second is None:
        return False
    return first.fingerprint == second.fingerprint


def _looks_same(one: Card, other: Card) -> bool:
    first, second = one.event, other.event
    if first.tool is None or second.tool is None:
        return False
    if (first.platform, first.name, first.cwd) != (second.platform, second.name, second.cwd):
        return False
    return (first.tool.name, first.tool.input) == (second.tool.name, second.tool.input)
