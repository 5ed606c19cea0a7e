"""What would be done, shown whole before it is done: a difference, many answers, an order."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass

from crabhook.ui.full.code import plain_rows
from crabhook.ui.full.detail import Content, Item
from crabhook.ui.full.framed import framed
from crabhook.ui.full.letters import wrapped
from crabhook.ui.full.moment import Mode
from crabhook.ui.full.paper import Line, Sheet


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something to be confirmed.

    `content` is made anew each time it is looked at, so that what it says is
    true; with another key it has to be in view for a while again.  `number`
    is the card it is about, None for one about more or about none.  `back`
    is where keys go after it.
    """

    content: Callable[[], Content]
    carry_out: Callable[[], object]
    number: int | None = None
    back: Mode = Mode.QUEUE


@dataclass(frozen=True, slots=True)
class Statement:
    """A few sentences of ours, each with an agent's words beneath it."""

    said: tuple[tuple[str, str], ...]

    @property
    def key(self) -> Hashable:
        """What it says."""
        return "statement", self.said

    @property
    def count(self) -> int:
        """An item a sentence."""
        return len(self.said)

    def item(self, place: int) -> Item:
        """Return a sentence and what stands beneath it."""
        ours, theirs = self.said[place]
        style = "heading" if place == 0 else ""
        return Item((self.key, place), lambda sheet: _sentence(ours, theirs, style, sheet))


def _sentence(ours: str, theirs: str, style: str, sheet: Sheet) -> Iterator[Line]:
    for row in wrapped(ours, sheet.columns, str, words=True):
        yield [(style, row)]
    if theirs:
        yield from framed(plain_rows(theirs, sheet.inner, sheet.spell))
