"""Cards that need certain people, or several: a yes is a vote, until a ballot has all it needs.

`model/ballot.py` computes who may vote and what is still missing. Here the facts come in: a yes, a
first look, a change of the team, a step of the ladder. A denial needs no vote, and one ends a card.
"""

from dataclasses import replace

from crabhook.broker.messages import (
    Answered,
    Effect,
    ElectoratesChanged,
    Escalated,
    FirstClaim,
    LookedAt,
    Voted,
    VotesVoid,
)
from crabhook.broker.state import BrokerState
from crabhook.model import ballot as ledger
from crabhook.model.actor import Operator
from crabhook.model.ballot import Ballot, Electorate, Terms
from crabhook.model.card import Card, State
from crabhook.model.decision import Beside, Choices, Decision, Verdict
from crabhook.model.errors import DecisionError

CLOSES = frozenset({Verdict.DENY, Verdict.DECLINE, Verdict.CANCEL, Verdict.KEEP_GOING})
"""The verdicts that let nothing run: one person is enough for each of them."""


def opened(
    state: BrokerState, card: Card, terms: tuple[Terms, ...], electorate: Electorate
) -> tuple[Card, list[Effect]]:
    """Return a card with a ballot for these terms, or with more terms; and when to look again."""
    if not terms:
        return card, []
    if card.ballot is not None:
        opening = ledger.with_terms(card.ballot, terms)
    else:
        opening = Ballot(terms, card.asked_at, electorate)
    return replace(card, ballot=opening), wakes(state, opening)


def wakes(state: BrokerState, ballot: Ballot) -> list[Effect]:
    """Return when each further step of the ladder comes."""
    return [state.wake(at) for at in ledger.ends_of_steps(ballot) if at > state.now]


def meant(card: Card, decision: Decision) -> Decision:
    """Return what a decision means on a card: a plain allow agrees with what is proposed."""
    return decision if card.ballot is None else ledger.proposed(card.ballot, decision)


def check(card: Card, fact: Answered, now: float) -> None:
    """Raise DecisionError where the rules do not let this person, or anybody, decide it so."""
    if card.ballot is None or fact.decision.verdict in CLOSES:
        return
    if fact.decision.verdict not in card.choices.verdicts:
        raise DecisionError(
            f"#{card.number} must be allowed by the people that a rule names, or be denied: "
            f'"{fact.decision.verdict}" would leave it to the agent. Nothing was sent'
        )
    if not isinstance(fact.by, Operator):
        raise DecisionError(f"#{card.number} must be allowed by the people that a rule names")
    if not _is_shown(fact.decision):
        raise DecisionError(
            f"#{card.number} needs the people that a rule names: a yes may change the input and "
            "have a note to the model, no more. Nothing was sent"
        )
    ballot = ledger.with_electorate(card.ballot, fact.electorate)
    if why := ledger.why_not(ballot, fact.by, now):
        raise DecisionError(f"#{card.number}: {why}")


def _is_shown(decision: Decision) -> bool:
    """Whether the next person is shown all that this yes brings along."""
    shown = replace(decision, note="", updated_input=None, despite=())
    return shown == Decision(Verdict.ALLOW)


def with_vote(card: Card, fact: Answered, now: float) -> Card:
    """Return the card with a person's yes; see `check`."""
    assert card.ballot is not None  # noqa: S101 - the caller has looked
    assert isinstance(fact.by, Operator)  # noqa: S101 - `check` has
    here = ledger.with_electorate(card.ballot, fact.electorate)
    return replace(card, ballot=ledger.with_vote(here, fact.by, fact.decision, now, fact.signed))


def voted(state: BrokerState, before: Card, card: Card) -> list[Effect]:
    """Tell of a yes that is not enough yet, and of the votes that it voids; show the card."""
    assert before.ballot is not None  # noqa: S101 - the caller has looked
    assert card.ballot is not None  # noqa: S101 - as above
    void = ledger.voided(before.ballot, card.ballot)
    effects: list[Effect] = [Voted(card, card.ballot.votes[-1], void)]
    if void:
        line = f"the yes of {ledger.names_of(void)} is void: the call was changed"
        effects.append(state.note(card.event, line, card.number))
    why = ledger.who_may(card.ballot, state.now).why
    return [*effects, state.put(card), state.note(card.event, why, card.number)]


def sum_of(ballot: Ballot, choices: Choices) -> Decision:
    """Return what all votes decide; the agent's user is told who said yes, where that can be.

    Nothing is added to a reply that people have signed.
    """
    decision = ledger.decision_of(ballot)
    signed = any(vote.signed for vote in ballot.votes)
    if signed or decision.user_message or Beside.MESSAGE not in choices.beside:
        return decision
    return replace(decision, user_message=f"Allowed by {ledger.names_of(ballot.votes)}.")


def looked_at(state: BrokerState, fact: LookedAt) -> list[Effect]:
    """Note the first look of a person of the audience: it puts off the next step of the ladder."""
    card = state.cards.card(fact.number)
    if card is None or card.state is not State.WAITING or card.ballot is None:
        return []
    ballot = ledger.with_look(card.ballot, fact.by, fact.now)
    if ballot is card.ballot:
        return []
    seen = replace(card, ballot=ballot)
    return [FirstClaim(seen, fact.by), state.put(seen), *wakes(state, ballot)]


def electorates_changed(state: BrokerState, fact: ElectoratesChanged) -> list[Effect]:
    """Take the team as it is now: a person who left it has no vote any more."""
    effects: list[Effect] = []
    for number, electorate in fact.electorates.items():
        card = state.cards.card(number)
        if card is None or card.state is not State.WAITING or card.ballot is None:
            continue
        ballot = ledger.with_electorate(card.ballot, electorate)
        if ballot == card.ballot:
            continue
        after = replace(card, ballot=ballot)
        if void := ledger.voided(card.ballot, ballot):
            effects.append(VotesVoid(after, void))
            line = f"the yes of {ledger.names_of(void)} counts no more: not in the team any more"
            effects.append(state.note(card.event, line, number))
        effects.append(state.put(after))
    return effects


def escalated(state: BrokerState) -> list[Effect]:
    """Tell of the steps of ladders that have come since they were told last."""
    effects: list[Effect] = []
    for number, ballot in tuple(state.ballots.items()):
        steps = ledger.steps_due(ballot, state.now)
        if len(steps) <= ballot.told:
            continue
        card = state.cards.card(number)
        assert card is not None  # noqa: S101 - the ballots are those of waiting cards
        after = replace(card, ballot=replace(ballot, told=len(steps)))
        new = steps[ballot.told :]
        effects.append(Escalated(after, new))
        whom = ", ".join(dict.fromkeys(step.to for step in new))
        effects.append(state.note(card.event, f"nobody decided so far: {whom} may too", number))
        effects.append(state.put(after))
    return effects
