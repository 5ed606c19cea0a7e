"""The desk where nobody sits: what the rules leave open gets one answer, at once.

The answer was chosen when the server began.  It is never an allow: only a rule
allows here.
"""

import asyncio
from collections.abc import Mapping

from crabhook.broker.cards import TooLateError
from crabhook.desk.interface import Desk, News
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import DecisionError

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
    stirred = asyncio.Event()

    def hear(news: News) -> None:
        if isinstance(news, Card):
            stirred.set()

    unsubscribe = desk.subscribe(hear)
    try:
        while True:
            stirred.clear()
            for card in desk.waiting():
                _answer(desk, card, otherwise)
            await stirred.wait()
    finally:
        unsubscribe()


def _answer(desk: Desk, card: Card, otherwise: Verdict) -> None:
    try:
        desk.answer(card.number, answer_to(card, otherwise), card.revision)
    except TooLateError:
        pass  # its hook has gone
    except DecisionError:  # whatever it is that cannot be told, nothing may wait
        passed = Decision(Verdict.PASS, reason=f"{_NOBODY} {_NO_OPINION}")
        desk.answer(card.number, passed, card.revision)
