"""The desk without a person: an open request gets one answer, at once or after a while.

The answer was chosen at the server's start. It is never an allow: only a rule allows here.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic
from typing import Protocol

from crabhook.desk.commands import Decide, Outcome, Refused
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Desk, News, Snapshot
from crabhook.model.card import Card, State
from crabhook.model.decision import Decision, Verdict

HEADLESS = "no person is at the desk: crabhook serve --headless"

# For each choice, the verdicts to try; the first that the event can carry is given.
_TOLD: Mapping[Verdict, Mapping[Verdict, str]] = {
    Verdict.PASS: {},
    Verdict.ASK: {Verdict.ASK: "hands back what no rule decides"},
    Verdict.DENY: {
        Verdict.DENY: "denies what no rule allows",
        Verdict.DECLINE: "declines what no rule allows",
    },
}
_NO_OPINION = "has no opinion on what no rule decides"


def answer_to(card: Card, otherwise: Verdict, nobody: str = HEADLESS) -> Decision:
    """Return the answer to a card that nobody will look at: `otherwise`, or no opinion.

    The reason says in the words `nobody` that no person was there; and which rule wanted one.
    """
    reasons = {**_TOLD[otherwise], Verdict.PASS: _NO_OPINION}
    verdict = next(verdict for verdict in reasons if verdict in card.choices.verdicts)
    reason = card.reason
    wish = f" (a person was to decide: {reason.in_full})" if reason.of_rules else ""
    return Decision(verdict, reason=f"{nobody} {reasons[verdict]}{wish}")


class Presence(Protocol):
    """Tells since when no person is at a desk; calls `changed` when a person comes."""

    changed: Callable[[], object]

    @property
    def alone_since(self) -> float | None:
        """Return it in monotonic seconds; None while somebody is at a desk."""


async def run(desk: Desk, otherwise: Verdict) -> None:
    """Answer every card, the new cards and those already there, until cancelled."""
    replica = Replica(desk, monotonic)

    def on_news(news: News) -> None:
        for card in news.waiting if isinstance(news, Snapshot) else (news,):
            if isinstance(card, Card) and card.state is State.WAITING and not card.went_on:
                _answer(replica, card, otherwise, HEADLESS)

    leave = replica.follow(on_news)
    try:
        await asyncio.Event().wait()
    finally:
        leave()


async def stand_in(desk: Desk, otherwise: Verdict, after: float, presence: Presence) -> None:
    """Answer what waited for `after` seconds while no person is at a desk, until cancelled."""
    nobody = f"nobody has been at a desk for {after:g} s: crabhook serve --no-desk"
    replica, look = Replica(desk, monotonic), asyncio.Event()

    def on_news(news: News) -> None:
        if isinstance(news, Card | Snapshot):  # what goes by changes nothing here
            look.set()

    presence.changed = look.set
    leave = replica.follow(on_news)
    try:
        while True:
            look.clear()
            within = None  # nothing is due before something changes
            if (since := presence.alone_since) is not None:
                now = monotonic()
                ahead = replica.now() - now
                for card in (each for each in replica.waiting() if not each.went_on):
                    due = max(since, card.asked_at - ahead) + after - now
                    if due <= 0:
                        _answer(replica, card, otherwise, nobody)
                    else:
                        within = min(due, within or due)
            with suppress(TimeoutError):
                async with asyncio.timeout(within):
                    await look.wait()
    finally:
        leave()


def _answer(replica: Replica, card: Card, otherwise: Verdict, nobody: str) -> None:
    """Give a card its answer, or no opinion where its event cannot carry the answer."""
    passed = Decision(Verdict.PASS, reason=f"{nobody} {_NO_OPINION}")

    def decide(decision: Decision) -> None:
        def settled(outcome: Outcome) -> None:
            if isinstance(outcome, Refused) and decision != passed:
                decide(passed)  # whatever it is that cannot be told, nothing may wait

        replica.submit(Decide(card.number, card.revision, decision), settled)

    decide(answer_to(card, otherwise, nobody))
