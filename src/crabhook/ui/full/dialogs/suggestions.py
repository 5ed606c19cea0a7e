"""Allowing from now on: the agent's suggestions, permission modes, and rules of the operator's own.

The list of rules is there at once, and filled when the rules have been tried.
A rule that would have let a denied call through is taken only after a page
that says so.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from crabhook.model.decision import Decision, Verdict
from crabhook.model.jsontext import pretty
from crabhook.model.suggestion import MODES, PLACES, set_mode
from crabhook.policy.offer import in_words, until
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.decide import suggestions
from crabhook.ui.commands.rules import covered, denials, ending, let_through, tried
from crabhook.ui.full.dialogs.decide import give
from crabhook.ui.full.dialogs.prompts import Beneath, Choice, Menu, Proposal, Statement
from crabhook.ui.full.filters import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crabhook.model.jsontext import Value
    from crabhook.model.suggestion import Suggestion
    from crabhook.policy.offer import Offer, Offering
    from crabhook.policy.rule import Rule
    from crabhook.ui.full.screen import Screen

# What the agent suggests.


# Where a suggestion can be kept, in the words of the list.
_KEPT = {
    "session": "for this session alone",
    "local": "in this project, for you alone (local settings)",
    "project": "in this project, for everybody (project settings)",
    "user": "everywhere, for you (user settings)",
}
_AS_IT_CAME = "what the agent suggests; of it, the place to keep it alone is changed"


def offer_places(screen: Screen, key: str) -> None:
    """Ask where the suggestion with that number is to be kept."""
    card = screen.card
    offered = suggestions(card) if card else ()
    place = int(key) - 1
    if card is None or place >= len(offered):
        screen.say(f"there is no suggestion {key}")
        return
    chosen = offered[place]
    menu = Menu(
        f"allow #{card.number}, and keep suggestion {key} from now on:",
        tuple(
            Choice(f"{words}{_as_suggested(chosen, name)}", _allowing(screen, chosen.kept(name)))
            for name, words in _KEPT.items()
        ),
        card.number,
        beneath=(_AS_IT_CAME, f"{chosen.what}\n{pretty(dict(chosen.update))}"),
    )
    own = [PLACES[name] for name in _KEPT]
    destination = chosen.update.get("destination")
    menu.cursor = own.index(destination) if destination in own else 0
    screen.offer(menu)


def _as_suggested(suggestion: Suggestion, name: str) -> str:
    return ", as suggested" if suggestion.update.get("destination") == PLACES[name] else ""


def offer_modes(screen: Screen) -> None:
    """Ask for the permission mode to set with an allow."""
    card = screen.card
    if card is None:
        return
    now = brief(card.event.permission_mode, str)
    rows = tuple(Choice(mode, _allowing(screen, set_mode(mode))) for mode in MODES)
    screen.offer(
        Menu(f"allow #{card.number}, and set the mode", rows, card.number, ("the mode now", now))
    )


def _allowing(screen: Screen, update: Mapping[str, Value]) -> Callable[[], str]:
    return lambda: give(screen, Decision(Verdict.ALLOW, permissions=(update,)))


# Rules of the operator's own.


_AS_OFFERED = "as offered"
# How long a rule may hold, one after the other with each press of the key.
_LIVES: tuple[timedelta | str | None, ...] = (_AS_OFFERED, timedelta(days=1), None)
_DENIALS_SHOWN = 20


def offer_rules(screen: Screen) -> None:
    """Show the rules offered for the selected card, now or as soon as they have been tried."""
    if (card := screen.card) is None:
        return
    number = card.number
    waiting = Menu(f"#{number}: trying rules on what was decided before…", (), number)

    def look() -> bool:
        if screen.menu is not waiting or screen.mode is not Mode.MENU:
            return True  # the list was left meanwhile
        offering = screen.desk.offers(number)
        if offering is not None:
            _show(screen, number, offering)
        return offering is not None

    screen.offer(waiting)
    if not look():
        screen.awaited = look


def _show(screen: Screen, number: int, offering: Offering) -> None:
    """Fill the list; where nothing is offered say why, and leave it."""
    if offering.offers:
        screen.menu = _menu(screen, number, offering, turns=0, cursor=0)
        return
    screen.menu = None
    screen.come_back()
    screen.say(f"#{number}: no rule is offered: {offering.why}")


def _menu(screen: Screen, number: int, offering: Offering, *, turns: int, cursor: int) -> Menu:
    """Return the list, its rules ending after one of the lives."""
    life = _LIVES[turns % len(_LIVES)]
    rules = [_ending(offer.proposal.rule, life) for offer in offering.offers]
    title = (
        f"always allow what #{number} asks, {until(rules[0])}: rules from narrow to wide, "
        f"{tried(offering)}"
    )
    choices = tuple(
        _choice(screen, number, offer, rule)
        for offer, rule in zip(offering.offers, rules, strict=True)
    )

    def turn() -> None:
        here = screen.menu.cursor if screen.menu else 0
        screen.menu = _menu(screen, number, offering, turns=turns + 1, cursor=here)

    return Menu(title, choices, number, cursor=cursor, turn=turn)


def _ending(rule: Rule, life: timedelta | str | None) -> Rule:
    return rule if isinstance(life, str) else ending(rule, life)


def _choice(screen: Screen, number: int, offer: Offer, rule: Rule) -> Choice:
    denied = _denied(offer)
    beneath = (
        Beneath("the rule", in_words(rule)),
        Beneath("beside that", "\n".join(offer.proposal.gives_away), "warning"),
        Beneath(let_through(offer), denied, "warning"),
    )
    does = _taking(screen, rule)
    if denied:
        does = _confirming(screen, number, offer, rule)
    words = f": {offer.proposal.covers}"
    return Choice(covered(offer), does, words, _warning(offer), beneath)


def _warning(offer: Offer) -> tuple[str, str]:
    """Return what to say below a rule: the denials it undoes, else what it gives away beside."""
    if not offer.trial.denials:
        return next(iter(offer.proposal.gives_away), ""), ""
    latest = next(iter(denials(offer)), "")
    return let_through(offer), f": {latest}"


def _denied(offer: Offer) -> str:
    """Return the calls that were denied, a line each."""
    every = denials(offer)
    more = [f"… and {len(every) - _DENIALS_SHOWN} more"] if len(every) > _DENIALS_SHOWN else []
    return "\n".join([*every[:_DENIALS_SHOWN], *more])


def _taking(screen: Screen, rule: Rule) -> Callable[[], object]:
    return lambda: give(screen, Decision(Verdict.ALLOW), rule)


def _confirming(screen: Screen, number: int, offer: Offer, rule: Rule) -> Callable[[], object]:
    """Return how to ask whether a rule is meant that undoes denials."""
    said = Statement(
        (
            ("ALWAYS ALLOW by this rule", in_words(rule)),
            (f"! It {let_through(offer)}:", _denied(offer)),
        )
    )
    return lambda: screen.propose(Proposal(lambda: said, _taking(screen, rule), number))
