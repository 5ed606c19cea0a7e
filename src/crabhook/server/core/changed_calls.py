"""The rulings about calls that an operator changed, asked once for each change of a card."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field

from crabhook.broker.broker import Broker
from crabhook.broker.messages import Rulings
from crabhook.datatypes import Bounded
from crabhook.model.card import NO_RISK, Risk
from crabhook.model.decision import Decision
from crabhook.model.errors import DecisionError
from crabhook.model.event import Event
from crabhook.model.jsontext import Value
from crabhook.server.core.desk_queries import DeskQueries

CHANGES_KEPT = 64  # of cards, each with its last change


@dataclass(slots=True)
class _Change:
    """A card's changed calls and the rulings about them; None while the rules are asked.

    `calls` are the changed calls by request id; `edition` is the rules' edition. `risk` is the
    risk of the worst call.
    """

    updated_input: Mapping[str, Value] | None
    calls: Mapping[str, Event]
    edition: Hashable = None
    rulings: Rulings | None = None
    risk: Risk = NO_RISK
    asked_by: list[Callable[[Rulings, Risk], object]] = field(default_factory=list)

    def is_of(self, decision: Decision, calls: Mapping[str, Event]) -> bool:
        """Whether this is the decision's change; Python alone would take 1 and true for equal."""
        same = self.updated_input == decision.updated_input
        return same and _fingerprints(self.calls) == _fingerprints(calls)

    def is_judged(self, rulings: Rulings, edition: Hashable, risk: Risk) -> None:
        """Store the rulings, and send them to all callers."""
        self.rulings, self.edition, self.risk = rulings, edition, risk
        asked_by, self.asked_by = self.asked_by, []
        for deliver in asked_by:
            deliver(rulings, risk)


def _fingerprints(calls: Mapping[str, Event]) -> dict[str, bytes]:
    return {leg: call.tool.fingerprint for leg, call in calls.items() if call.tool is not None}


class ChangedCalls:
    """The rulings about cards' calls as a decision changes them, for the desk that asks."""

    def __init__(self, broker: Broker, queries: DeskQueries) -> None:
        self._broker, self._queries = broker, queries
        self._changes: Bounded[int, _Change] = Bounded(CHANGES_KEPT)

    def ask(
        self, number: int, decision: Decision, deliver: Callable[[Rulings, Risk], object]
    ) -> None:
        """Ask the rules in force, once for all callers with the same change of a card."""
        calls, change = self._broker.changed(number, decision), self._changes.get(number)
        is_same = change is not None and change.is_of(decision, calls)
        if not calls:
            deliver({}, NO_RISK)
        elif change is not None and is_same and change.rulings is None:
            change.asked_by.append(deliver)
        elif change is not None and is_same and change.edition == self._queries.edition(calls):
            deliver(change.rulings or {}, change.risk)
        else:
            change = self._changes[number] = _Change(decision.updated_input, calls)
            change.asked_by.append(deliver)
            self._queries.rulings(calls, change.is_judged)

    def said(self, number: int, decision: Decision) -> tuple[Rulings, Risk | None]:
        """Return the rulings about a change, and its risk; none where nobody asked.

        Raises DecisionError where the rules have changed since: no operator saw their new rulings.
        """
        change = self._changes.get(number)
        if change is None or not change.rulings:
            return {}, None
        if not change.is_of(decision, self._broker.changed(number, decision)):
            return {}, None
        if change.edition != self._queries.edition(change.calls):
            raise DecisionError(
                f"the rules may have changed since #{number} was edited: edit it again to see what "
                "they say now. Nothing was sent"
            )
        return change.rulings, change.risk
