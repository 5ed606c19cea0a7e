"""Deciding one card: at once, or with a line typed to go with it; and its time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crabhook.broker.stops import CAP
from crabhook.model.choices import Beside
from crabhook.model.decision import Decision, Verdict
from crabhook.model.errors import CrabhookError
from crabhook.ui.commands.decide import DECIDING
from crabhook.ui.full.dialogs.prompts import Purpose
from crabhook.ui.full.filters import Mode
from crabhook.ui.text.clock import lasting

if TYPE_CHECKING:
    from crabhook.policy.rule import Rule
    from crabhook.ui.full.screen import Screen

LONGER = 600.0  # seconds a card is given by one key
ASIDE = 300.0  # seconds a card is put aside for
_LEFT_TO_DECIDE = 60.0  # seconds before its end at which a card is back at the latest
_DENIAL_READ = "a denial needs a reason: the model reads it to know what to do instead"


def give(screen: Screen, decision: Decision, rule: Rule | None = None) -> str:
    """Give the selected card a decision, and its message to the user; return what went wrong.

    With an allow may go a `rule` for such calls from now on.
    """
    screen.mode = Mode.QUEUE
    card = screen.card
    if card is None:
        return ""
    if Beside.MESSAGE in card.choices.beside:
        decision = replace(decision, user_message=screen.messages.get(card.number, ""))
    if card.number in screen.quiet:
        decision = replace(decision, suppress_output=True)
    said = screen.answers.give(card, decision, rule)
    screen.say(said)
    return said


def allow(screen: Screen) -> None:
    """Allow; answers already made are not thrown away by it."""
    form = screen.form
    if form is not None and form.answers():
        screen.mode = Mode.REVIEW
        screen.say("there are answers here: look at them, then send them")
    elif not give(screen, Decision(Verdict.ALLOW)) and form is not None:
        screen.say("allowed without answers: the agent shows its own dialog")


def allow_with_note(screen: Screen) -> None:
    """Allow, with a line for the model."""
    needs = "type the note, or leave with esc and allow with a"
    screen.type(
        Purpose.NOTE, lambda text: give(screen, Decision(Verdict.ALLOW, note=text)), needs=needs
    )


def deny(screen: Screen, *, interrupt: bool) -> None:
    """Deny, with a reason; `interrupt` ends the agent's turn as well."""
    screen.type(
        Purpose.INTERRUPT if interrupt else Purpose.REASON,
        lambda text: give(screen, Decision(Verdict.DENY, reason=text, interrupt=interrupt)),
        needs=_DENIAL_READ,
    )


def keep_going(screen: Screen) -> None:
    """Tell an agent that wants to stop how to go on."""
    screen.type(
        Purpose.KEEP_GOING,
        lambda text: give(screen, Decision(Verdict.KEEP_GOING, reason=text)),
        needs="say how to go on: the model reads it",
    )
    if screen.card is not None:
        screen.say(f"it was kept going {screen.card.kept_going} of {CAP} times in a row")


def halt(screen: Screen) -> None:
    """End the session's turn, for a reason its user reads."""

    def then(text: str) -> None:
        if screen.card is not None:
            give(screen, DECIDING["halt"](screen.card, text).decision)

    screen.type(Purpose.HALT, then, needs="say why the session stops: its user reads it")


def tell_user(screen: Screen) -> None:
    """Keep a message to the agent's user, to go with what is decided; an empty one ends that."""
    card = screen.card
    if card is None:
        return
    number = card.number

    def then(text: str) -> None:
        if text:
            screen.messages[number] = text
            screen.say(f"it goes with your decision about #{number}: nothing is sent yet")
        elif screen.messages.pop(number, None):
            screen.say(f"no message goes with your decision about #{number}")

    screen.type(Purpose.MESSAGE, then, text=screen.messages.get(number, ""))


def hush(screen: Screen) -> None:
    """Have suppressOutput go with the decision, or not go with it after all."""
    if screen.card is not None:
        screen.quiet ^= {screen.card.number}
        on = screen.card.number in screen.quiet
        said = "suppressOutput goes" if on else "no suppressOutput goes"
        screen.say(f"{said} with your decision about #{screen.card.number}: nothing is sent yet")


def take_back(screen: Screen) -> None:
    """Take back an allow that is held."""
    screen.say(screen.answers.take_back(screen.card.number if screen.card else None))


def extend(screen: Screen) -> None:
    """Let the selected card wait longer."""
    if (card := screen.card) is None:
        return
    try:
        longer = screen.desk.extend(card.number, LONGER)
    except CrabhookError as error:
        screen.say(str(error))
        return
    gained = longer.wait_until - card.wait_until
    screen.say(f"#{card.number} waits {lasting(gained)} longer")


def snooze(screen: Screen) -> None:
    """Put the selected card aside and go on with the next; or bring it back."""
    if (card := screen.card) is None:
        return
    back = card.snoozed_until > 0
    left = card.wait_until - screen.desk.now()
    seconds = 0.0 if back else min(ASIDE, max(left - _LEFT_TO_DECIDE, left / 2))
    try:
        screen.desk.snooze(card.number, seconds)
    except CrabhookError as error:
        screen.say(str(error))
        return
    screen.mode = Mode.QUEUE
    if not back:
        screen.selection.pass_over()
    screen.say(f"#{card.number} " + ("is back" if back else f"is aside for {lasting(seconds)}"))


def enter_line(screen: Screen) -> None:
    """Do with the typed line what it was typed for."""
    typing, card = screen.typing, screen.card
    if typing is None:
        return
    number = typing.number
    if number is not None and (card is None or card.number != number or screen.selection.ended):
        screen.leave_line()
        screen.say(f"#{number} had ended: nothing was sent; ↑ in a box finds the line")
    elif typing.needs and not typing.box.text.strip():
        screen.say(typing.needs)
    else:
        typing.then(screen.leave_line())


def recall(screen: Screen, step: int) -> None:
    """Show a line typed before, or after that."""
    if screen.typing is not None:
        screen.typing.box.recall(step)
