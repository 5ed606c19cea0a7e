"""What was decided by one fact: each call once, by a rule at once or about its card."""

from collections.abc import Iterator, Sequence

from crabhook.broker.effects import Effect, Resolve, Show
from crabhook.broker.facts import Answered, Arrived, Fact
from crabhook.model.decision import Decision
from crabhook.model.event import Event


def decided(fact: Fact, effects: Sequence[Effect]) -> Iterator[tuple[Event, Decision]]:
    """Yield the event, with all its agent sent, and the decision about it.

    A reply given again to a client that had lost it is no decision.
    """
    for effect in effects:
        match fact, effect:
            case Arrived(request), Resolve(request_id, decision=Decision() as made):
                if request_id == request.id:
                    yield request.event, made
            case Answered(number, made), Show(card) if card.number == number:
                yield card.event, made
            case _:
                pass
