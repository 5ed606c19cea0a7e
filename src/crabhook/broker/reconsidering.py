"""A rule was added on a card: the other calls that wait and that it allows go their way, too.

It is the law that lets them go, as if they had only now arrived; whoever
wants everything of a session to wait is asked on.
"""

from collections.abc import Iterator
from itertools import islice

from crabhook.broker.books import Books
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect
from crabhook.broker.ending import answered
from crabhook.broker.facts import Answered, RuleAdded
from crabhook.broker.law import said_by
from crabhook.model import wording
from crabhook.model.actor import OrderKind
from crabhook.model.choices import Beside
from crabhook.model.decision import Decided, Verdict

LOOKED_AT = 100  # cards; each takes about a millisecond, and agents wait for it


def rule_added(books: Books, fact: RuleAdded) -> list[Effect]:
    """Tell of the rule, and decide what it allows of what waits already."""
    card = books.shelf.card(fact.number)
    effects: list[Effect] = []
    if card is not None:
        effects.append(books.note(fact.now, fact.event, f"from now on: {fact.rule}"))
        for other in islice(_like(books, card), LOOKED_AT):
            if decided := _allowed(books, other):
                allow, by = decided.decision, decided.by
                effects += answered(books, Answered(other.number, allow, by, fact.now))
                line = f"{allow.verdict.done}: {wording.who(by)}"
                effects.append(books.note(fact.now, other.event, line, other.number))
    return effects


def _like(books: Books, card: Card) -> Iterator[Card]:
    """Return the cards that wait for a call of the same tool."""
    name = card.event.tool.name if card.event.tool else ""
    for other in books.shelf.waiting():
        tool = other.event.tool
        if tool and tool.name == name and Beside.RULE in other.choices.beside:
            yield other


def _allowed(books: Books, card: Card) -> Decided | None:
    """Return the rules' allow, where they allow every leg of the card."""
    event = card.event
    orders = books.orders.standing()
    if any(order.kind is OrderKind.HOLD_ALL and order.speaks_of(event) for order in orders):
        return None
    found = [said_by(books.judge(leg.event)).decided for leg in card.requests]
    first = found[0]
    if first is None or any(
        one is None or one.decision.verdict is not Verdict.ALLOW for one in found
    ):
        return None
    return first
