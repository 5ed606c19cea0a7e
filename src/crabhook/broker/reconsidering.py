"""A rule was added on a card: the other calls that wait and that it allows go their way, too.

It is the law that lets them go, as if they had only now arrived; whoever
wants everything of a session to wait is asked on.
"""

from collections.abc import Sequence
from itertools import islice

from crabhook.broker.books import Books
from crabhook.broker.card import Card
from crabhook.broker.effects import Effect
from crabhook.broker.ending import Rulings, answered
from crabhook.broker.facts import Answered, Reconsidered, RuleAdded
from crabhook.broker.law import said_by
from crabhook.model import wording
from crabhook.model.actor import OrderKind
from crabhook.model.choices import Beside
from crabhook.model.decision import Decided, Verdict

LOOKED_AT = 100  # cards; each is judged anew


def rule_added(books: Books, fact: RuleAdded) -> list[Effect]:
    """Tell of the rule; what else waits is judged anew by it, and told of then."""
    return [books.note(fact.now, fact.event, f"from now on: {fact.rule}")]


def reconsidered(books: Books, fact: Reconsidered) -> list[Effect]:
    """Decide what the rules allow of what waits already."""
    effects: list[Effect] = []
    for card in books.shelf.waiting():
        if decided := _allowed(books, card, fact.rulings):
            allow, by = decided.decision, decided.by
            effects += answered(books, Answered(card.number, allow, by, fact.now))
            line = f"{allow.verdict.done}: {wording.who(by)}"
            effects.append(books.note(fact.now, card.event, line, card.number))
    return effects


def alike(books: Books, number: int) -> Sequence[Card]:
    """Return the cards that wait for a call of the same tool as this one; LOOKED_AT at most."""
    card = books.shelf.card(number)
    name = card.event.tool.name if card and card.event.tool else ""
    waiting = (one for one in books.shelf.waiting() if Beside.RULE in one.choices.beside)
    same = (one for one in waiting if one.event.tool and one.event.tool.name == name)
    return tuple(islice(same, LOOKED_AT))


def _allowed(books: Books, card: Card, rulings: Rulings) -> Decided | None:
    """Return the rules' allow, where they allow every leg of the card."""
    if any(leg.id not in rulings for leg in card.requests):
        return None
    orders = books.orders.standing()
    if any(one.kind is OrderKind.HOLD_ALL and one.speaks_of(card.event) for one in orders):
        return None
    found = [said_by(rulings[leg.id]).decided for leg in card.requests]
    first = found[0]
    if first is None or any(
        one is None or one.decision.verdict is not Verdict.ALLOW for one in found
    ):
        return None
    return first
