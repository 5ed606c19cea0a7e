"""What would be decided about many cards at once, drawn: each different request once and whole."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from crabhook.broker.card import Card
from crabhook.model.decision import Decision
from crabhook.ui.full.code import plain_rows
from crabhook.ui.full.detail import Item
from crabhook.ui.full.draw import request_rows
from crabhook.ui.full.framed import framed
from crabhook.ui.full.letters import Speller, wrapped
from crabhook.ui.full.marks import refusal
from crabhook.ui.full.paper import Line, Sheet
from crabhook.ui.summary import project, session_label, tool_label

_NAMED = 12  # cards or sessions whose names are listed


@dataclass(frozen=True, slots=True)
class Bundle:
    """Cards to be decided alike, by what they ask, and those that cannot be."""

    groups: tuple[tuple[Card, ...], ...]
    left_out: tuple[tuple[Card, str], ...]

    @property
    def cards(self) -> tuple[Card, ...]:
        """All to be decided, by number."""
        every = (card for group in self.groups for card in group)
        return tuple(sorted(every, key=lambda card: card.number))

    @property
    def sessions(self) -> int:
        """How many sessions they are of."""
        return len({(card.event.platform, card.event.session) for card in self.cards})


def bundle_of(marked: Sequence[Card], decision: Decision) -> Bundle:
    """Return which of the marked cards can be told the decision."""
    why = {card.number: refusal(card, decision.verdict) for card in marked}
    groups: dict[Hashable, list[Card]] = {}
    for card in marked:
        if not why[card.number]:
            groups.setdefault(_asked(card), []).append(card)
    left_out = tuple((card, why[card.number]) for card in marked if why[card.number])
    return Bundle(tuple(map(tuple, groups.values())), left_out)


def _asked(card: Card) -> Hashable:
    """Return what is the same for cards that ask the very same, with the very same to read."""
    events = tuple(leg.event for leg in card.requests)
    if events[0].tool is None:
        return card.number
    first = events[0]
    tools = tuple(
        (event.name, event.tool and (event.tool.name, event.tool.fingerprint)) for event in events
    )
    return first.platform, first.cwd, tools


@dataclass(frozen=True, slots=True)
class BundleContent:
    """How many, of which sessions, and what they ask: the same thing once, whoever asks it."""

    marked: Sequence[Card]
    bundle: Bundle
    decision: Decision

    @property
    def key(self) -> Hashable:
        """The cards with their legs, and what they would be told."""
        cards = tuple((one.number, tuple(leg.id for leg in one.requests)) for one in self._cards)
        return "bundle", cards, self.decision.verdict, self.decision.reason

    @property
    def _cards(self) -> tuple[Card, ...]:
        return self.bundle.cards

    @property
    def count(self) -> int:
        """The sentence, an item for each thing that is asked, and what is left out."""
        return len(self.bundle.groups) + 2

    def item(self, place: int) -> Item:
        """Return the sentence, something that is asked, or what is left out."""
        if place == 0:
            return Item((self.key, "what"), self._what)
        if place > len(self.bundle.groups):
            return Item((self.key, "left out"), self._left_out)
        group = self.bundle.groups[place - 1]
        return Item((self.key, place), lambda sheet: _group_rows(group, sheet))

    def _what(self, sheet: Sheet) -> Iterator[Line]:
        count, sessions = len(self._cards), self.bundle.sessions
        requests = "request" if count == 1 else "requests"
        of = "1 session" if sessions == 1 else f"{sessions} sessions"
        listed = _listed([f"#{card.number}" for card in self._cards])
        said = f"{self.decision.verdict.upper()} {count} {requests} of {of}: {listed}"
        for row in wrapped(said, sheet.columns, str, words=True):
            yield [("heading", row)]
        if self.decision.reason:
            yield [("label", "the model reads")]
            yield from framed(plain_rows(self.decision.reason, sheet.inner, sheet.spell))

    def _left_out(self, sheet: Sheet) -> Iterator[Line]:
        for card, why in self.bundle.left_out:
            said = f"#{card.number} is left out, {why}"
            for row in wrapped(said, sheet.columns, str, words=True):
                yield [("warning", row)]


def _group_rows(group: tuple[Card, ...], sheet: Sheet) -> Iterator[Line]:
    """Return who asks, and once what all of them ask."""
    who = _listed(list(dict.fromkeys(_whose(one, sheet.spell) for one in group)))
    names = _listed([f"#{one.number}" for one in group])
    said = f"{names} · {tool_label(group[0].event, sheet.spell)} · {who}"
    for row in wrapped(said, sheet.columns, str, words=True):
        yield [("label", row)]
    yield from request_rows(group[0], sheet)


def _whose(card: Card, spell: Speller) -> str:
    return f"{project(card.event, spell)} {session_label(card.event, spell)}"


def _listed(names: list[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
