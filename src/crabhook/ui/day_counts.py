"""Counts of decisions for people: today on an empty desk, and at the end of a sitting.

The server reports every decision, since a rule decides without a card.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from textwrap import wrap
from time import localtime, time

from crabhook.model.actor import Operator, RuleActor, StandingOrder
from crabhook.model.decision import Decided, Verdict
from crabhook.model.event import Event
from crabhook.model.wording import plural
from crabhook.policy.calls.subject import LONGEST
from crabhook.present.sentence import counted, named_target, target, target_in
from crabhook.present.summary import said

MOST_ALIKE = 20_000  # different calls that are counted apart
_READ_AT_ONCE = 1_000  # lines that one count reads at most, the latest first
_KEPT = LONGEST + 1  # letters of a line, enough to tell that it is too long to be read
COLUMNS = 78  # of a line of the summary
BY_RULES, BY_ORDERS = "by rules", "by standing orders"
NO_OPINION = (
    "What waits gets no opinion: its agent goes by its own rules, or asks its own user. "
    "A hook that was installed to fail closed denies."
)
"""What becomes of what waits when the desk is left."""
WAITS_ON = "The server goes on without this desk, and what waits goes on waiting there."
"""What becomes of it when a desk elsewhere is left."""
_ALLOWED, _EDITED = "allowed", "allowed edited"
_FIRST = ("allowed", "denied", "answered", "approved", "sent back")  # the others follow


def counted_as(event: Event, decided: Decided) -> str:
    """Return the word under which a decision is counted; empty for the end of a wait."""
    match decided.by:
        case RuleActor():
            return BY_RULES
        case StandingOrder():
            return BY_ORDERS
        case Operator():
            return said(event, decided.decision).lower()
    return ""


class DayCounts:
    """Counts since the desk was opened, and counts of this day by this machine's clock."""

    def __init__(self) -> None:
        self._here: Counter[str] = Counter()
        self._minute, self._day = 0.0, tuple[int, ...]()
        self._on_day: Counter[str] = Counter()
        # A decision by a rule must not wait for its line to be read: who asks for a count reads it.
        self._alike: Counter[tuple[str, str, str, Verdict]] = Counter()
        self._targets: dict[tuple[str, str], str] = {}

    def count(self, event: Event, decided: Decided, *, earlier: bool = False) -> None:
        """Count a decision; `earlier` is today, before the desk was opened."""
        self._turn()
        if word := counted_as(event, decided):
            self._on_day[word] += 1
            if not earlier:
                self._here[word] += 1
        if event.tool is not None and len(self._alike) < MOST_ALIKE:
            key, text = named_target(event)
            self._alike[event.tool.name, key, text[:_KEPT], decided.decision.verdict] += 1

    def _turn(self) -> None:
        """Begin again at zero on another day, which begins with a minute in all the world."""
        if (minute := time() // 60) != self._minute:
            self._minute, before, self._day = minute, self._day, localtime(minute * 60)[:3]
            if self._day != before:
                self._on_day.clear()
                self._alike.clear()
                self._targets.clear()

    def alike(self, event: Event) -> tuple[int, int, str]:
        """Return how many calls alike were allowed today, how many denied, and which these are."""
        self._turn()
        tool, mine = event.tool.name if event.tool else "", target(event)
        program, unread, totals = mine.split(" ")[0].rstrip(","), _READ_AT_ONCE, Counter[Verdict]()
        for (other, key, text, verdict), times in reversed(self._alike.items()):
            if other != tool or program not in text:
                continue
            if (its := self._targets.get((key, text))) is None:
                if not unread:
                    continue
                unread -= 1
                its = self._targets[key, text] = target_in(key, text)
            totals[verdict] += times if its == mine else 0
        return totals[Verdict.ALLOW], totals[Verdict.DENY], counted(event)

    def today(self) -> str:
        """Return what happened today, in one line; empty for nothing."""
        self._turn()
        return _told(self._on_day)

    def summary(self, waiting: int, follows: str = NO_OPINION) -> Iterator[str]:
        """Yield the summary after leaving `waiting` requests, which become what `follows` says."""
        yield f"crabhook: {_told(self._here) or 'nothing was decided'}."
        if waiting:
            requests = plural(waiting, "request")
            yield from wrap(f"{requests} still waited. {follows}", COLUMNS)


def _told(words: Mapping[str, int]) -> str:
    edited, allowed = words.get(_EDITED, 0), words.get(_ALLOWED, 0) + words.get(_EDITED, 0)
    if edited:
        words = {**words, _ALLOWED: allowed}
    last = (BY_RULES, BY_ORDERS)
    between = sorted(word for word in words if word not in (*_FIRST, *last, _EDITED))
    order = [word for word in (*_FIRST, *between, *last) if words.get(word)]
    of_them = "" if not edited else ", edited" if allowed == 1 else f", {edited} of them edited"
    beside = {_ALLOWED: of_them}
    return " · ".join(f"{words[word]} {word}{beside.get(word, '')}" for word in order)
