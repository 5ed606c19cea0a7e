"""An operator at a desk of a runner: does something, and looks at what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crabhook.broker.messages import Answered
from crabhook.desk.commands import (
    AskContext,
    AskObjections,
    AskOffers,
    Command,
    Decide,
    DecideWithRule,
    Done,
    EndOrders,
    Extend,
    GiveOrder,
    Outcome,
    Snooze,
)
from crabhook.desk.replica import Replica
from crabhook.model.actor import OWNER, Actor
from crabhook.model.card import Card, FeedEntry
from crabhook.server.core.local_desk import LocalDesk

if TYPE_CHECKING:
    from collections.abc import Callable

    from crabhook.desk.commands import TakenOffer
    from crabhook.desk.updates import Desk, Offering
    from crabhook.model.decision import Decision
    from crabhook.model.order import Order
    from crabhook.server.core.runner import Runner


class Seat:
    """Submits commands by a replica of its own; what it sees of a card is how the card is now."""

    def __init__(self, desk: Desk, runner: Runner) -> None:
        self._runner = runner
        self.replica = Replica(desk, runner.now)
        self.leave = self.replica.follow()

    def outcome(self, command: Command) -> Outcome | None:
        """Submit a command; return what became of it, None while that is not settled."""
        outcomes: list[Outcome] = []
        self.replica.submit(command, outcomes.append)
        return outcomes[0] if outcomes else None

    def done(self, command: Command) -> None:
        """Submit a command that is done at once."""
        assert self.outcome(command) == Done()

    def decide(self, number: int, decision: Decision) -> Outcome | None:
        """Decide a card as it is; return what became of that."""
        return self.outcome(Decide(number, self._revision(number), decision))

    def answer(self, number: int, decision: Decision) -> Card:
        """Decide a card as it is, which is done at once."""
        self.done(Decide(number, self._revision(number), decision))
        return self._card(number)

    def remember(self, number: int, taken: TakenOffer, decision: Decision) -> Outcome | None:
        """Allow a card with a rule; return what became of that."""
        return self.outcome(DecideWithRule(number, self._revision(number), taken, decision))

    def order(self, order: Order) -> None:
        """Give a standing order."""
        self.done(GiveOrder(order))

    def revoke(self, ids: frozenset[int]) -> None:
        """End standing orders."""
        self.done(EndOrders(ids))

    def extend(self, number: int, seconds: float) -> Card:
        """Let a card wait longer."""
        self.done(Extend(number, seconds))
        return self._card(number)

    def snooze(self, number: int, seconds: float) -> Card:
        """Put a card aside."""
        self.done(Snooze(number, seconds))
        return self._card(number)

    def last_words(self, number: int) -> str | None:
        """Ask what a card's agent last said; None while it is read."""
        self.outcome(AskContext(number))
        around = self.replica.around(number)
        return None if around is None else around.words

    def offers(self, number: int) -> Offering | None:
        """Ask for the rules offered for a card; None while they are tried."""
        return self.replica.offers(number) if self.outcome(AskOffers(number)) == Done() else None

    def objections(self, number: int, decision: Decision) -> tuple[str, ...] | None:
        """Ask what the rules say against a changed call; None while they are asked."""
        asked = self.outcome(AskObjections(number, decision))
        return self.replica.objections(number, decision) if asked == Done() else None

    def _revision(self, number: int) -> int:
        card = self._runner.broker.card(number)
        return card.revision if card else 0

    def _card(self, number: int) -> Card:
        card = self.replica.card(number)
        assert card is not None
        return card


def seat(runner: Runner, by: Actor = OWNER) -> Seat:
    """Return somebody at a desk on the runner, `by` unless told otherwise."""
    return Seat(LocalDesk(runner, by), runner)


def hears(runner: Runner, listener: Callable[[Card | FeedEntry], object]) -> Callable[[], object]:
    """Tell `listener` of cards and of what goes by, and of nothing else; return how to stop."""
    return runner.listen(
        lambda news: listener(news) if isinstance(news, Card | FeedEntry) else None
    )


def decide(runner: Runner, number: int, decision: Decision, by: Actor = OWNER) -> None:
    """Decide a card of a runner without rules: they say nothing of a call that is changed."""
    changed = runner.broker.changed(number, decision)
    rulings = dict.fromkeys(changed)
    runner.handle(Answered(number, decision, by, runner.now(), rulings=rulings))
