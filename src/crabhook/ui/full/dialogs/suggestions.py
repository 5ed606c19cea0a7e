"""Allowing from now on: the agent's suggestions, permission modes, and rules of the operator's own.

A rule that would have let a denied call through is taken only after a page that says so.
"""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from crabhook.desk.commands import AskOffers, Done, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering
from crabhook.model.card import Card
from crabhook.model.decision import Decision, Verdict
from crabhook.model.jsontext import Value, pretty
from crabhook.model.suggestion import MODES, PLACES, set_mode
from crabhook.model.wording import until
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.decide import suggestions
from crabhook.ui.commands.rules import covered, denials, end_of, let_through, tried
from crabhook.ui.full.dialogs.prompts import Arrived, Beneath, Choice, Menu, Proposal, statement
from crabhook.ui.full.effects import Effects, Give, Say, Submit

# Where a suggestion can be kept, in the words of the list.
_KEPT = {
    "session": "for this session alone",
    "local": "in this project, for you alone (local settings)",
    "project": "in this project, for everybody (project settings)",
    "user": "everywhere, for you (user settings)",
}
_AS_IT_CAME = "what the agent suggests; of it, the place to keep it alone is changed"


def offer_places(card: Card, key: str) -> Effects:
    """Ask where the suggestion with that number is to be kept."""
    offered = suggestions(card)
    place = int(key) - 1
    if place >= len(offered):
        return (Say(f"there is no suggestion {key}"),)
    chosen = offered[place]
    suggested = [PLACES[name] == chosen.update.get("destination") for name in _KEPT]
    rows = tuple(
        Choice(words + (", as suggested" if here else ""), _allowing(chosen.kept(name)))
        for here, (name, words) in zip(suggested, _KEPT.items(), strict=True)
    )
    title = f"allow #{card.number}, and keep suggestion {key} from now on:"
    beneath = Beneath(_AS_IT_CAME, f"{chosen.what}\n{pretty(dict(chosen.update))}")
    cursor = suggested.index(True) if any(suggested) else 0
    return (Menu(title, rows, card.number, (beneath,), cursor),)


def offer_modes(card: Card) -> Effects:
    """Ask for the permission mode to set with an allow."""
    now = Beneath("the mode now", brief(card.event.permission_mode, str))
    rows = tuple(Choice(mode, _allowing(set_mode(mode))) for mode in MODES)
    return (Menu(f"allow #{card.number}, and set the mode", rows, card.number, (now,)),)


def _allowing(update: Mapping[str, Value]) -> Callable[[], Effects]:
    return lambda: (Give(Decision(Verdict.ALLOW, permissions=(update,))),)


# When a rule may end, one after the other with each press of the key: as it was offered first.
_LIVES: tuple[Callable[[Offer], datetime | None], ...] = (
    lambda offer: offer.expires,
    lambda _: end_of(timedelta(days=1)),
    lambda _: None,
)
_DENIALS_SHOWN = 20


def offer_rules(card: Card, desk: Replica) -> Effects:
    """Show the rules offered for the card, now or as soon as they have been tried."""
    number = card.number
    waiting = Menu(f"#{number}: trying rules on what was decided before…", (), number)

    def then(outcome: Outcome) -> Effects:
        offering = desk.offers(number)
        if outcome == Done() and offering.offers:
            return (Arrived(waiting, _menu(number, offering, turns=0, cursor=0)),)
        said = outcome.why or f"#{number}: no rule is offered: {offering.why}"
        return (Arrived(waiting, then=(Say(said),)),)

    return waiting, Submit(AskOffers(number), then)


def _menu(number: int, offering: Offering, *, turns: int, cursor: int) -> Menu:
    """Return the list, its rules ending after one of the lives."""
    ended = _LIVES[turns % len(_LIVES)]
    ends = [ended(offer) for offer in offering.offers]
    order = f"rules from narrow to wide, {tried(offering)}"

    def turn(here: int) -> Menu:
        return _menu(number, offering, turns=turns + 1, cursor=here)

    return Menu(
        f"always allow what #{number} asks, {until(ends[0])}: {order}",
        tuple(map(partial(_choice, number), offering.offers, ends)),
        number,
        cursor=cursor,
        turn=turn,
    )


def _choice(number: int, offer: Offer, expires: datetime | None) -> Choice:
    """Return the row of a rule; below it the denials it undoes, else what it gives away beside."""
    shown, more = denials(offer, _DENIALS_SHOWN)
    denied = "\n".join(filter(None, (*shown, more)))
    undone, rule = let_through(offer), f"{offer.rule} · {until(expires)}"
    warning = (undone, f": {shown[0]}") if shown else (next(iter(offer.gives_away), ""), "")
    beneath = (
        Beneath("the rule", rule),
        Beneath("beside that", "\n".join(offer.gives_away), "warning"),
        Beneath(undone, denied, "warning"),
    )
    give = Give(Decision(Verdict.ALLOW), TakenOffer(offer.id, expires))
    said = statement(("ALWAYS ALLOW by this rule", rule), (f"! It {undone}:", denied))
    asked = Proposal(lambda: said, lambda: (give,), number)
    words = f": {offer.covers}"
    return Choice(covered(offer), lambda: (asked if shown else give,), words, warning, beneath)
