"""A desk signs what strict hooks are to print: by its own reading of their input, and no other's.

The server sends each input byte for byte. The desk draws the call from it, writes the reply by its
own code, and signs both. So a server that shows another call, or sends another reply, gets a
signature that its hook refuses.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from time import time
from typing import NamedTuple, TypeAlias

from crabhook.broker.cards import same_call
from crabhook.datatypes import Bounded, frozen
from crabhook.desk.commands import Decide
from crabhook.model import ballot as ledger
from crabhook.model.card import Card, Leg, State
from crabhook.model.decision import Decision
from crabhook.model.errors import CrabhookError, PayloadError
from crabhook.model.event import Event
from crabhook.model.signing import DecisionSignature
from crabhook.model.statements import is_strict, signed_terms, statement_of, vote_of
from crabhook.platforms import PLATFORMS

SignStatement: TypeAlias = Callable[[bytes], Awaitable[bytes]]
"""Signs a statement by a person's key; raises CrabhookError."""

AGAIN_WITHIN = 60.0  # seconds in which another hook of a decided call is signed for without asking
_KEPT = 64  # decisions


class Signatory(NamedTuple):
    """Who signs: ids of team, person and key, and the kind of the key."""

    team: str
    operator: str
    key: str
    kind: int


class StatementSigner(NamedTuple):
    """A person's key at a desk, and how it signs."""

    who: Signatory
    sign: SignStatement


def to_sign(
    card: Card, decision: Decision, who: Signatory, at: int
) -> tuple[DecisionSignature, ...]:
    """Return what a person has to sign to decide a card, for each of its strict hooks.

    The signatures themselves are still empty. `at`: milliseconds since 1970. Raises CrabhookError
    for a hook whose input is not here, or that takes no such decision.
    """
    meant = decision if card.ballot is None else ledger.proposed(card.ballot, decision)
    legs = (leg for leg in card.requests if leg.strict)
    return tuple(_unsigned(card, leg, decision, meant, who, at) for leg in legs)


def _unsigned(  # noqa: PLR0913, PLR0917 - what a statement is of
    card: Card, leg: Leg, decision: Decision, meant: Decision, who: Signatory, at: int
) -> DecisionSignature:
    if leg.strict is None or not leg.strict.payload:
        raise CrabhookError(
            f"#{card.number}: its hook's input cannot be read here, and nothing is signed "
            "unseen. Update crabhook here, or decide at another desk"
        )
    platform = PLATFORMS[leg.event.platform]
    platform.check(leg.event, meant)
    verdict = decision.verdict.value
    about = (
        leg.id,
        who.kind,
        who.operator,
        who.key,
        at,
        verdict,
        card.number,
        signed_terms(card.ballot),
    )
    bare = DecisionSignature(*about, signature=b"")
    reply = platform.write(leg.event, meant)
    text = statement_of(bytes.fromhex(who.team), leg, reply, vote_of(bare))
    return replace(bare, statement=text)


def as_drawn(leg: Leg) -> Leg:
    """Return a strict hook's leg with the event that this desk reads in its input.

    What it cannot read it signs nothing for: the leg is without its input then.
    """
    if leg.strict is None or not leg.strict.payload:
        return leg
    platform = PLATFORMS.get(leg.event.platform)
    try:
        event = platform.read(leg.strict.payload) if platform else None
    except PayloadError:
        event = None
    if event is None:
        return replace(leg, strict=replace(leg.strict, payload=b""))
    return replace(leg, event=replace(event, machine=leg.event.machine))


@frozen
class _Given:
    """A decision that was signed here, and the calls that it was for."""

    events: tuple[Event, ...]
    decision: Decision
    at: float


class Signatures:
    """Signs a desk's decisions for strict hooks, by one key; None signs nothing.

    `clock` tells seconds.
    """

    def __init__(self, signer: StatementSigner | None, clock: Callable[[], float]) -> None:
        self._signer, self._clock = signer, clock
        self._given: Bounded[int, _Given] = Bounded(_KEPT)

    async def of(self, command: Decide, card: Card | None) -> Decide:
        """Return a decision with its signatures; as it is where no hook wants any.

        Raises CrabhookError where the key does not sign.
        """
        signer = self._signer
        if signer is None or card is None or not is_strict(card) or command.signed:
            return command
        unsigned = to_sign(card, command.decision, signer.who, round(time() * 1000))
        signed = tuple(
            [replace(each, signature=await signer.sign(each.statement)) for each in unsigned]
        )
        return replace(command, signed=signed)

    def keep(self, command: Decide, card: Card) -> None:
        """Keep a signed decision that the server took, for the next hook of the same call."""
        if command.signed:
            events = tuple(leg.event for leg in card.requests if leg.strict)
            self._given[card.number] = _Given(events, command.decision, self._clock())

    def again(self, card: Card) -> Decide | None:
        """Return the decision of a call that this desk signed a moment ago, for its next hook.

        The card has to say that it repeats. This desk has to find the very same call among its own,
        of another kind of event, and does so once.
        """
        if not card.repeats or card.state is not State.WAITING or not is_strict(card):
            return None
        for number, earlier in tuple(self._given.items()):
            if self._clock() - earlier.at > AGAIN_WITHIN:
                continue
            asked = [leg.event for leg in card.requests]
            if all(_is_again(event, earlier.events) for event in asked):
                self._given[number] = replace(earlier, events=(*earlier.events, *asked))
                return Decide(card.number, card.revision, earlier.decision)
        return None


def _is_again(event: Event, earlier: tuple[Event, ...]) -> bool:
    names = {each.name for each in earlier}
    return event.name not in names and any(same_call(each, event) for each in earlier)
