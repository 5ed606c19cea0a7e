"""What any operator's screen may see and do: the only door between a screen and the broker."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from crabhook.model.card import Card, FeedEntry
from crabhook.model.decision import Decision
from crabhook.model.order import Order, Standing
from crabhook.policy.propose import Offering, TakenOffer

News: TypeAlias = Card | FeedEntry


class Desk(Protocol):
    """The desk of one broker.

    Everything it hands out is frozen: a screen may keep it as long as it
    likes and can change nothing by it.
    """

    def now(self) -> float:
        """Return the broker's clock, seconds; `asked_at` and `wait_until` are on it."""

    def waiting(self) -> Sequence[Card]:
        """Return the cards that wait, the oldest first."""

    def card(self, number: int) -> Card | None:
        """Return a card that waits or ended not long ago."""

    def ended(self) -> Sequence[Card]:
        """Return the cards that ended not long ago, the newest last; bounded."""

    def last_words(self, number: int) -> str | None:
        """Return what the card's agent last said, from its transcript; empty where none is known.

        None while it is being read; ask again then.
        """

    def troubles(self) -> Sequence[str]:
        """Return what is wrong with the rules or the record, for as long as it is."""

    def feed(self) -> Sequence[FeedEntry]:
        """Return what went by, the newest last; bounded."""

    def sessions(self) -> int:
        """Return how many sessions were heard of and have not ended."""

    def answer(self, number: int, decision: Decision, seen: int | None = None) -> Card:
        """Decide a card as it was in the revision `seen`; return it as it is now.

        Raises TooLateError when it had already ended, StaleError when there is more to see since,
        DecisionError when its event cannot carry the decision; whichever it is, nothing changed.
        `seen` is None where nobody looks at cards.
        """

    def objections(self, number: int, decision: Decision) -> Sequence[str] | None:
        """Return what a deny rule or a protected place says of a call as a decision changes it.

        None while the rules are asked, which may take seconds for a long input: ask again then.
        Nothing for a call that is not changed.  An answer that has them is
        taken only with all of them in `Decision.despite`: the operator was
        shown them, and said yes all the same.  Raises TooLateError.
        """

    def offers(self, number: int) -> Offering | None:
        """Return the rules that a card could be allowed by from now on, or why there is none.

        None while they are being tried on what was decided before, which may
        take seconds; ask again then.
        """

    def remember(
        self, number: int, taken: TakenOffer, decision: Decision, seen: int | None = None
    ) -> Card:
        """Write a rule into the operator's own file, and decide the card it was offered for.

        Raises what `answer` does, or another CrabhookError where no such rule was offered for
        the card, or it cannot be written; whichever it is, nothing was written and nothing decided.
         What else waits and is allowed by it is decided too.
        """

    def holdable(self) -> Sequence[str]:
        """Return the names of the events that can be held on request, by a standing order."""

    def orders(self) -> Sequence[Standing]:
        """Return the standing orders, the oldest first; each ends by itself."""

    def order(self, order: Order) -> None:
        """Give a standing order; raises DecisionError for one that makes no sense."""

    def revoke(self, ids: frozenset[int]) -> None:
        """End the standing orders with these ids; raises DecisionError where none stands."""

    def extend(self, number: int, seconds: float) -> Card:
        """Let a card wait longer; raises TooLateError, or DecisionError past the agent's limit."""

    def snooze(self, number: int, seconds: float) -> Card:
        """Put a card aside for a while; it goes on waiting.  Raises TooLateError."""

    def subscribe(self, listener: Callable[[News], None]) -> Callable[[], None]:
        """Call `listener` with every new or changed card and feed entry; return how to stop."""
