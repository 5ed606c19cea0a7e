"""Cards whose hooks print signed replies alone: what people have to sign, and whether they did.

A hook that was installed so checks the signatures itself (docs/decisions/0059). The broker looks
whether they are for this card, and for the very reply that the server encodes. Whether a key made
them, the service of desks elsewhere has looked.
"""

from dataclasses import replace

from crabhook.broker.cards import StaleError
from crabhook.broker.messages import Answered, Effect, VotesVoid
from crabhook.broker.state import BrokerState
from crabhook.model import ballot as ledger
from crabhook.model.actor import Operator
from crabhook.model.card import Because, Brought, Card, Leg
from crabhook.model.decision import Decided, Decision, Reply, Verdict
from crabhook.model.errors import DecisionError
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import (
    LETS,
    StatementFields,
    reply_part,
    signed_terms,
    statement_of,
    vote_of,
)

_UNSIGNED = (
    "its hook prints signed replies alone, and nothing signs here: this would reach nobody. Decide "
    "it at the desk of a device in the team (`crabhook`), on a page, or by a verb"
)


FIXED_WORDS = "nobody signed it, so its hook prints its own fixed words"
"""What becomes of a reply that a strict hook does not print."""
NOT_SIGNED_YET = Because(Brought.ORDER, "it may run once, which nobody has signed yet")
"""Why a strict hook's call comes to a card that a person has let run once."""
NO_NOTE = "its hooks print signed replies alone"
"""Why a note to an agent goes with no answer to its calls."""


def wants_anew(leg: Leg, earlier: Decided) -> bool:
    """Whether a hook wants a person's decision of the same call signed for itself too."""
    passes = earlier.decision.verdict is Verdict.PASS
    return leg.strict is not None and isinstance(earlier.by, Operator) and not passes


def asked_again(state: BrokerState, card: Card, leg: Leg) -> tuple[Card, list[Effect]]:
    """Return a card that a strict hook joined: who said yes so far did not sign for that hook."""
    if leg.strict is None or card.ballot is None or not card.ballot.votes:
        return card, []
    void, after = card.ballot.votes, replace(card, ballot=ledger.without_votes(card.ballot))
    line = f"the yes of {ledger.names_of(void)} is void: another hook asks for a signature"
    return after, [VotesVoid(after, void), state.note(card.event, line, card.number)]


def told(card: Card, fact: Answered, signed: tuple[DecisionSignature, ...]) -> str:
    """Return who signed what the card's strict hooks print, in words for the feed."""
    if not signed:
        return FIXED_WORDS
    several = card.ballot is not None and any(vote.signed for vote in card.ballot.votes)
    if several and card.ballot is not None:
        return f"signed by {ledger.names_of(card.ballot.votes)}"
    return f"signed by {fact.by.name}" if isinstance(fact.by, Operator) else FIXED_WORDS


def check(state: BrokerState, card: Card, fact: Answered, decision: Decision) -> None:
    """Raise where a decision about a card is not signed as its hooks want it.

    `decision` is what the answer means. Raises DecisionError; StaleError where a hook came after
    the signatures.
    """
    legs = [leg for leg in card.requests if leg.strict]
    if not legs:
        return
    if not fact.signed:
        if decision.verdict in LETS and isinstance(fact.by, Operator):
            raise DecisionError(f"#{card.number}: {_UNSIGNED}. Nothing was sent")
        return
    if card.ballot is not None and decision.note:
        raise DecisionError(
            f"#{card.number} needs several people, who sign the same reply: leave the note out. "
            "Nothing was sent"
        )
    by_leg = {each.request_id: each for each in fact.signed}
    for leg in legs:
        signature = by_leg.get(leg.id)
        if signature is None:
            raise StaleError(
                f"#{card.number} was asked again, and that hook's reply is not signed: this answer "
                "changed nothing"
            )
        reply = state.platforms[leg.event.platform].write(leg.event, decision)
        _check_one(card, leg, reply, signature, fact)


def _check_one(
    card: Card, leg: Leg, reply: Reply, signature: DecisionSignature, fact: Answered
) -> None:
    try:
        fields = StatementFields.read(signature.statement)
    except ValueError as error:
        raise DecisionError(f"#{card.number}: {error}. Nothing was sent") from None
    if reply_part(reply) not in signature.statement:
        raise DecisionError(
            f"#{card.number}: this desk signed another reply than the server would send. Are both "
            "of the same version? `crabhook --version` tells. Nothing was sent"
        )
    by = fact.by.id if isinstance(fact.by, Operator) else ""
    whole = statement_of(fields.team, leg, reply, vote_of(signature))
    if whole != signature.statement or signature.operator != by:
        raise DecisionError(
            f"#{card.number}: what was signed is not this card as it is now. Nothing was sent"
        )
    signed = signature.verdict, signature.card, signature.terms
    if signed != (fact.decision.verdict.value, card.number, signed_terms(card.ballot)):
        why = "what was signed is another decision"
        raise DecisionError(f"#{card.number}: {why}. Nothing was sent")
