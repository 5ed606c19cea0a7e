"""What was decided, counted for people: today for an empty desk, and at the end of a sitting.

It is told of every decision by the server, since what a rule decides never becomes a card.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from textwrap import wrap
from time import localtime

from crabhook.model.actor import Actor, Operator, Rule, StandingOrder
from crabhook.model.decision import Decided, Verdict
from crabhook.model.event import Event
from crabhook.ui.cards.sentence import target
from crabhook.ui.cards.summary import said

MOST_ALIKE = 100_000  # different calls that are counted apart
COLUMNS = 78  # of a line of the summary
BY_RULES, BY_ORDERS = "by rules", "by standing orders"
NO_OPINION = (
    "What waits gets no opinion: its agent goes by its own rules, or asks its own user; "
    "a hook that was installed to fail closed denies."
)
"""What becomes of what waits when the desk is left."""
_FIRST = ("allowed", "denied", "answered", "approved", "sent back")  # the others follow


def counted_as(event: Event, decided: Decided) -> str:
    """Return under which word a decision is counted; empty where nobody decided."""
    return _BY.get(type(decided.by)) or (
        said(event, decided.decision).lower() if isinstance(decided.by, Operator) else ""
    )


_BY: Mapping[type[Actor], str] = {Rule: BY_RULES, StandingOrder: BY_ORDERS}


class Tally:
    """How much was decided since the desk was opened, and earlier on the same day."""

    def __init__(self) -> None:
        self._here: Counter[str] = Counter()
        self._earlier: Counter[str] = Counter()
        self._alike: Counter[tuple[object, ...]] = Counter()

    def __repr__(self) -> str:
        return f"<Tally {self.today()}>"

    def count(self, event: Event, decided: Decided) -> None:
        """Count a decision."""
        self._count(self._here, event, decided)

    def count_earlier(self, event: Event, decided: Decided) -> None:
        """Count a decision of today that was made before the desk was opened."""
        self._count(self._earlier, event, decided)

    def _count(self, words: Counter[str], event: Event, decided: Decided) -> None:
        if word := counted_as(event, decided):
            words[word] += 1
        if event.tool is not None and len(self._alike) < MOST_ALIKE:
            self._alike[_today(), event.tool.name, target(event), decided.decision.verdict] += 1

    def alike(self, event: Event, verdict: Verdict) -> int:
        """Return how many calls like an event's, of the same tool and target, ended so today."""
        name = event.tool.name if event.tool else ""
        return self._alike[_today(), name, target(event), verdict]

    def today(self) -> str:
        """Return what happened today, in one line."""
        return _told(self._here + self._earlier) or "nothing was decided yet"

    def summary(self, waiting: int) -> Iterator[str]:
        """Yield what is said once the desk was left with so many requests that still waited."""
        yield f"crabhook: {_told(self._here) or 'nothing was decided'}."
        if waiting:
            requests = "1 request" if waiting == 1 else f"{waiting} requests"
            yield from wrap(f"{requests} still waited. {NO_OPINION}", COLUMNS)


def _today() -> tuple[int, ...]:
    return tuple(localtime()[:3])


def _told(words: Mapping[str, int]) -> str:
    last = (BY_RULES, BY_ORDERS)
    between = sorted(word for word in words if word not in (*_FIRST, *last))
    order = [word for word in (*_FIRST, *between, *last) if words.get(word)]
    return " · ".join(f"{words[word]} {word}" for word in order)
