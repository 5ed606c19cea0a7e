"""The parts that a runner is made of; `app/wiring.py` puts them together.

A part that changes while the server runs is a value of its own. Its owner keeps it and the runner
reads it: so nothing is set on a runner once it is made.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Protocol, TypeAlias

from crabhook.broker.messages import Refusal
from crabhook.broker.pending import LIMITS, Limits
from crabhook.datatypes import frozen
from crabhook.model.ballot import NOBODY_VOTES, Electorate
from crabhook.model.decision import Decided
from crabhook.model.event import Event
from crabhook.platforms.interface import Platform
from crabhook.server.core.desk_queries import OfferedFrom
from crabhook.server.core.persisted_orders import KeptOrders
from crabhook.server.core.rules_in_force import NoRules, Rules
from crabhook.server.metrics.tally import Tally
from crabhook.store.change import Change
from crabhook.store.recorder import Recorder

Fault: TypeAlias = Callable[[], str]
"""Returns a fault that there is now, in words; empty while there is none."""
HearDecided: TypeAlias = Callable[[Event, Decided], object]


class Faults:
    """What is wrong with a server now: its parts report here, and screens and status read it.

    `below` are faults that count here too, such as those of the process in each of its runners.
    """

    def __init__(self, below: "Faults | None" = None) -> None:
        self._below = below
        self._faults: list[Fault] = []

    def __repr__(self) -> str:
        return f"<Faults {self.now()}>"

    def report(self, fault: Fault) -> None:
        """Ask `fault` too, from now on."""
        self._faults.append(fault)

    @contextmanager
    def reporting(self, fault: Fault) -> Iterator[None]:
        """Ask `fault` too, while the context lasts."""
        self._faults.append(fault)
        try:
            yield
        finally:
            self._faults.remove(fault)

    def now(self) -> tuple[str, ...]:
        """Return the current faults, in the order in which their parts came."""
        below = self._below.now() if self._below else ()
        return (*filter(None, (fault() for fault in self._faults)), *below)


@frozen
class Elsewhere:
    """Why this server takes nothing in now, and where to ask instead.

    `hooks` and `desks` are that server's addresses, HOST:PORT; empty if unknown.
    """

    refusal: Refusal
    hooks: str = ""
    desks: str = ""


class Sharing(Protocol):
    """What a server is among those that share its record, as of now."""

    @property
    def part(self) -> str:
        """Its part, in the word that desks are told; ALONE where no other shares its record."""

    @property
    def desks_at(self) -> str:
        """Where desks reach the server that takes requests in, HOST:PORT; empty if unknown."""

    @property
    def page_at(self) -> str:
        """Where browsers reach that server, a URL; empty if unknown."""

    @property
    def elsewhere(self) -> Elsewhere | None:
        """Where to ask instead; None where this server takes requests in."""


ALONE = "alone"


@frozen
class Alone:
    """A server whose record no other shares."""

    part: str = ALONE
    desks_at: str = ""
    page_at: str = ""
    elsewhere: None = None


class Counts(Protocol):
    """What desks show of the decisions of this day."""

    def today(self) -> str:
        """Return the counts in words; empty where nothing is counted."""

    def alike(self, event: Event) -> tuple[int, int, str]:
        """Return how many calls like this were allowed, how many denied, and what they are."""


class NoCounts:
    """No counts, as of a server without a desk."""

    def today(self) -> str:
        """Return nothing."""
        return ""

    def alike(self, _event: Event, /) -> tuple[int, int, str]:
        """Return that nothing is known of such calls."""
        return (0, 0, "")


class Export(Protocol):
    """What is shown of the export of the record."""

    @property
    def behind(self) -> int:
        """How many records the receiver has not taken yet."""

    @property
    def failing(self) -> bool:
        """Whether the receiver did not take the last records that it was sent."""


class TextsOfAll(Protocol):
    """The texts of a shared record, at the server that writes it."""

    def read(self, name: str) -> str:
        """Return a text, empty for none; raises CrabhookError if it differs from the record."""

    def next(self, name: str, text: str, words: str) -> Change:
        """Return the change that replaces a text, for the record at once.

        `words` name the author.
        """


def _none_silent() -> int:
    return 0


def _unheard() -> None:
    pass


def _no_electorate(_event: Event) -> Electorate:
    return NOBODY_VOTES


@frozen
class Parts:
    """What a runner is made of; all but `platforms` may be left out.

    `electorate` returns who may decide a card about an event, as the team is now.

    `offers` is what rules are offered from, `standing` keeps standing orders for the next server.
    `silent` returns how many listeners do not answer. `witness` hears of every fact, `decided` of
    every decision. `writer_ended` is called once, where the record takes nothing more from here.
    `exporter` sends the record elsewhere, if anything does. `texts` are those that all servers of
    the record have; None where another server writes it.
    """

    platforms: Mapping[str, Platform]
    recorder: Recorder | None = None
    rules: Rules = field(default_factory=NoRules)
    offers: OfferedFrom | None = None
    bounds: Limits = LIMITS
    standing: KeptOrders = field(default_factory=KeptOrders)
    sharing: Sharing = field(default_factory=Alone)
    faults: Faults = field(default_factory=Faults)
    silent: Callable[[], int] = _none_silent
    witness: Tally = field(default_factory=Tally)
    counts: Counts = field(default_factory=NoCounts)
    decided: Sequence[HearDecided] = ()
    writer_ended: Callable[[], object] = _unheard
    exporter: Export | None = None
    texts: TextsOfAll | None = None
    electorate: Callable[[Event], Electorate] = _no_electorate
