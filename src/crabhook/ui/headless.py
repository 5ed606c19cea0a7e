"""The desk where nobody sits: what the rules leave open gets one answer, at once.

The answer was chosen when the server began.  It is never an allow: only a rule
allows here.
"""

import asyncio
from collections.abc import Mapping
from time import monotonic

from crabhook.desk.commands import Decide, Outcome, Refused
from crabhook.desk.interface import Desk
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News, Snapshot
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict

_NOBODY = "no person is at the desk; crabhook serve --headless"

# What an event is told for each choice: the first of them that it can be told.
_TOLD: Mapping[Verdict, Mapping[Verdict, str]] = {
    Verdict.PASS: {},
    Verdict.ASK: {Verdict.ASK: "hands back what no rule decides"},
    Verdict.DENY: {
        Verdict.DENY: "denies what no rule allows",
        Verdict.DECLINE: "declines what no rule allows",
    },
}
_NO_OPINION = "has no opinion on what no rule decides"


def answer_to(card: Card, otherwise: Verdict) -> Decision:
    """Return the answer to a card that nobody will look at: `otherwise`, or no opinion.

    The reason says that nobody was there and, where a rule wants a person to
    decide, which.
    """
    told = {**_TOLD[otherwise], Verdict.PASS: _NO_OPINION}
    verdict = next(verdict for verdict in told if verdict in card.choices.verdicts)
    wish = f" (a person was to decide: {card.law})" if card.law else ""
    return Decision(verdict, reason=f"{_NOBODY} {told[verdict]}{wish}")


async def run(desk: Desk, otherwise: Verdict) -> None:
    """Answer every card as it comes, and those that are there already, until cancelled."""
    replica = Replica(desk, monotonic)

    def hear(news: News) -> None:
        cards = news.waiting if isinstance(news, Snapshot) else (news,)
        for card in cards:
            if isinstance(card, Card) and card.state is State.WAITING:
                answer(card, answer_to(card, otherwise))

    def answer(card: Card, decision: Decision) -> None:
        def settled(outcome: Outcome) -> None:
            passed = Decision(Verdict.PASS, reason=f"{_NOBODY} {_NO_OPINION}")
            if isinstance(outcome, Refused) and decision != passed:
                answer(card, passed)  # whatever it is that cannot be told, nothing may wait

        replica.submit(Decide(card.number, card.revision, decision), settled)

    leave = replica.follow(hear)
    try:
        await asyncio.Event().wait()
    finally:
        leave()
