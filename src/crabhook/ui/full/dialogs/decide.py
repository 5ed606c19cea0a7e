"""Deciding a card at once or with a typed line, and changing how long it waits."""

from collections.abc import Callable, MutableMapping, MutableSet

from crabhook.desk.commands import Done, Extend, Outcome, Snooze
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.order import CAP
from crabhook.ui.commands.decide import DECIDING
from crabhook.ui.commands.second_yes import doubts
from crabhook.ui.full.dialogs.prompts import AskLine, Purpose
from crabhook.ui.full.dialogs.question import Form
from crabhook.ui.full.effects import Effects, Give, Go, PassOver, Say, Submit, submit
from crabhook.ui.full.filters import Mode
from crabhook.ui.text.clock import lasting

LONGER = 600.0  # seconds a card is given by one key
ASIDE = 300.0  # seconds a card is put aside for
_LEFT_TO_DECIDE = 60.0  # seconds before its end at which a card is back at the latest


def allow(form: Form | None) -> Effects:
    """Allow; answers already made in the card's form are not thrown away by it."""
    if form is None:
        return (Give(Decision(Verdict.ALLOW)),)
    if form.answers():
        return Go(Mode.REVIEW), Say("there are answers here: look at them, then send them")
    said = "allowed without answers: the agent shows its own dialog"
    return (Give(Decision(Verdict.ALLOW), said=said),)


def _deciding(purpose: Purpose, needs: str, decided: Callable[[str], Decision]) -> AskLine:
    """Return the question for the line with which the selected card is decided."""
    return AskLine(purpose, lambda text: (Give(decided(text)),), needs=needs)


_DENIAL_READ = "a denial needs a reason: the model reads it to know what to do instead"
ALLOW_WITH_NOTE = _deciding(
    Purpose.NOTE,
    "type the note, or leave with esc and allow with a",
    lambda text: Decision(Verdict.ALLOW, note=text),
)
NO_REASON = "The operator denied this and gave no reason."
DENY = _deciding(Purpose.REASON, "", lambda text: Decision(Verdict.DENY, reason=text or NO_REASON))
DENY_AND_END_TURN = _deciding(
    Purpose.INTERRUPT,
    _DENIAL_READ,
    lambda text: Decision(Verdict.DENY, reason=text, interrupt=True),
)
_KEEP_GOING = _deciding(
    Purpose.KEEP_GOING,
    "say how to go on: the model reads it",
    lambda text: Decision(Verdict.KEEP_GOING, reason=text),
)


def keep_going(card: Card) -> Effects:
    """Tell an agent that wants to stop how to go on."""
    return _KEEP_GOING, Say(f"it was kept going {card.kept_going} of {CAP} times in a row")


def halt(card: Card, desk: Replica) -> Effects:
    """End the session's turn, for a reason its user reads."""

    def then(text: str) -> Effects:
        now = desk.card(card.number) or card  # it may have been asked again meanwhile
        return (Give(DECIDING["halt"](now, text).decision),)

    return (AskLine(Purpose.HALT, then, needs="say why the session stops: its user reads it"),)


def tell_user(card: Card, messages: MutableMapping[int, str]) -> Effects:
    """Keep a message to the agent's user, to go with the decision; an empty message is dropped."""
    number = card.number

    def then(text: str) -> Effects:
        if text:
            messages[number] = text
            return (Say(f"it goes with your decision about #{number}: nothing is sent yet"),)
        if messages.pop(number, None):
            return (Say(f"no message goes with your decision about #{number}"),)
        return ()

    return (AskLine(Purpose.MESSAGE, then, messages.get(number, ""), kept=True),)


def hush(card: Card, quiet: MutableSet[int]) -> Effects:
    """Have suppressOutput go with the decision, or not go with it after all."""
    quiet ^= {card.number}
    said = "suppressOutput goes" if card.number in quiet else "no suppressOutput goes"
    return (Say(f"{said} with your decision about #{card.number}: nothing is sent yet"),)


def snooze(card: Card, now: float) -> Effects:
    """Put the card aside and go on with the next; or bring it back."""
    if card.snoozed_until > 0:
        back = Snooze(card.number, 0.0)
        return (submit(back, Go(Mode.QUEUE), Say(f"#{card.number} is back")),)
    left = card.wait_until - now
    seconds = min(ASIDE, max(left - _LEFT_TO_DECIDE, left / 2))
    said = f"#{card.number} is aside for {lasting(seconds)}"
    return (submit(Snooze(card.number, seconds), Go(Mode.QUEUE), PassOver(), Say(said)),)


def extend(card: Card, desk: Replica) -> Effects:
    """Let the card wait longer, as far as its agent can."""

    def then(outcome: Outcome) -> Effects:
        longer = desk.card(card.number)
        if outcome != Done() or longer is None:
            return (Say(outcome.why),)
        gained = longer.wait_until - card.wait_until
        return (Say(f"#{card.number} waits {lasting(gained)} longer"),)

    return (Submit(Extend(card.number, LONGER), then),)


_DOES = {
    Verdict.ALLOW: "allows it",
    Verdict.RETRY: "lets it try again",
    Verdict.PASS: "passes it",
    Verdict.DEFER: "defers it",
    Verdict.ASK: "hands it back",
}


def second_yes(card: Card, decision: Decision, desk: Replica) -> str:
    """Return what the operator is asked before the decision is given; empty for nothing."""
    doubt = doubts(card, decision, desk)
    told = (*doubt.unasked, *doubt.dangers)
    if not told:
        return ""
    return f"▲▲ {' · '.join(told)}: enter {_DOES[decision.verdict]}, esc goes back"
