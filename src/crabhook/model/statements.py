"""What people sign so that a strict hook prints a reply: of a card, its hook and its reply."""

from collections.abc import Mapping
from typing import NamedTuple

from crabhook.hook.statement import (
    DOMAIN,
    SignedTerms,
    SignedVote,
    of_call,
    of_reply,
    sha256,
    statement,
    terms_part,
    unframed,
)
from crabhook.model.ballot import Ballot
from crabhook.model.card import Card, Leg, Stance
from crabhook.model.decision import Reply, Verdict
from crabhook.model.signing import DecisionSignature

LETS = frozenset({Verdict.ALLOW, Verdict.ACCEPT, Verdict.RETRY, Verdict.KEEP_GOING})
"""The verdicts that nobody can bring about at such a hook without a signature."""

WHO_SIGNS = (
    "only signatures count here: people of the team sign at a desk, on a page or by a verb. What "
    "nobody signs, as at the server's own terminal or by a rule, allows nothing. The model reads "
    "fixed words instead"
)
"""What every face says of a card with a strict hook."""

STANCES: Mapping[Stance, int] = {Stance.GATE: 1, Stance.COMPANION: 2, Stance.SUPERVISOR: 3}
"""The number of a stance in a statement."""


def is_strict(card: Card) -> bool:
    """Whether a hook of the card prints signed replies alone."""
    return any(leg.strict for leg in card.requests)


def signed_terms(ballot: Ballot | None) -> bytes:
    """Return the part of a statement about who has to sign what is no denial of a card."""
    terms = ballot.terms if ballot else ()
    return terms_part(
        SignedTerms(
            each.need,
            each.of,
            not_self=each.not_self,
            step_up=each.step_up,
            after=tuple((round(step.after * 1000), step.to) for step in each.after),
        )
        for each in terms
    )


def statement_of(team: bytes, leg: Leg, reply: Reply, vote: SignedVote) -> bytes:
    """Return what is signed so that a leg's hook prints a reply; the leg is a strict hook's.

    `team` is the team's id in 32 bytes.
    """
    assert leg.strict is not None  # noqa: S101 - as the docstring says
    payload = sha256(leg.strict.payload).digest()
    stance = STANCES[leg.stance]
    call = of_call(
        team=team,
        request_id=leg.id,
        ticket=leg.strict.ticket,
        platform=leg.event.platform,
        stance=stance,
        payload=payload,
    )
    return statement(call, reply_part(reply), vote)


def vote_of(signature: DecisionSignature) -> SignedVote:
    """Return the part of a statement about who signs, as a signature says it."""
    return SignedVote(
        verdict=signature.verdict,
        card=signature.card,
        terms=signature.terms,
        operator=signature.operator,
        key=signature.key,
        signed_at_ms=signature.signed_at,
    )


class StatementFields(NamedTuple):
    """The fields of a statement, in their order."""

    domain: bytes
    team: bytes
    request_id: bytes
    ticket: bytes
    platform: bytes
    stance: bytes
    payload: bytes
    stdout: bytes
    stderr: bytes
    exit_code: bytes
    verdict: bytes
    card: bytes
    terms: bytes
    operator: bytes
    key: bytes
    signed_at: bytes

    @classmethod
    def read(cls, signed: bytes) -> "StatementFields":
        """Return the fields of a statement; raises ValueError for what is none."""
        fields = tuple(unframed(signed))
        if len(fields) != len(cls._fields) or fields[0] != DOMAIN:
            raise ValueError("it is no statement of a decision")
        return cls(*fields)


def reply_part(reply: Reply) -> bytes:
    """Return the part of a statement about a reply, as a port sends it."""
    return of_reply(reply.stdout, reply.stderr.encode("utf-8", "backslashreplace"), reply.exit_code)
