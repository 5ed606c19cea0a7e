"""Allowing from now on: the agent's suggestions, permission modes, and rules of the operator's own.

A rule that would have let a denied call through is taken only after a page that says so.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from crabhook.desk.commands import AskOffers, Done, KeepRule, Outcome, TakenOffer
from crabhook.desk.replica import Replica
from crabhook.desk.updates import Offer, Offering, Past
from crabhook.model.card import Card
from crabhook.model.decision import MODES, PLACES, Decision, Verdict, set_mode
from crabhook.model.jsontext import Value, pretty
from crabhook.model.wording import until
from crabhook.ui.cards.summary import brief
from crabhook.ui.commands.decide import covered, denials, end_of, let_through, suggestions, tried
from crabhook.ui.full.dialogs.prompts import Arrived, Beneath, Choice, Menu, Proposal, statement
from crabhook.ui.full.effects import Effect, Effects, Give, Go, Say, Submit, submit
from crabhook.ui.full.filters import Mode

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
    about = _About(f"#{number}", number, lambda taken: Give(Decision(Verdict.ALLOW), taken))
    return _offer(about, AskOffers(number), lambda: desk.offers(number))


def offer_rules_of(entry: Past, desk: Replica) -> Effects:
    """Show the rules offered for such calls as that of an entry of the history."""

    def keep(taken: TakenOffer) -> Effect:
        said = Say("the rule is in your own file, and counts from now on")
        return submit(KeepRule(entry.id, taken), said)

    about = _About(f"entry {entry.id}", None, keep, Mode.HISTORY)
    return _offer(about, AskOffers(entry=entry.id), lambda: desk.offers(0, entry.id))


@dataclass(frozen=True, slots=True)
class _About:
    """What rules are offered for: its name, its card if it has one, and what takes a rule."""

    name: str
    number: int | None
    take: Callable[[TakenOffer], Effect]
    back: Mode = Mode.QUEUE


def _offer(about: _About, ask: AskOffers, offered: Callable[[], Offering]) -> Effects:
    name, waits = about.name, "trying rules on what was decided before…"
    waiting = Menu(f"{name}: {waits}", (), about.number)

    def then(outcome: Outcome) -> Effects:
        offering = offered()
        if outcome == Done() and offering.offers:
            return (Arrived(waiting, _menu(about, offering, turns=0, cursor=0)),)
        said = outcome.why or f"{name}: no rule is offered: {offering.why}"
        return (Arrived(waiting, then=(Say(said),)),)

    return waiting, Submit(ask, then)


def _menu(about: _About, offering: Offering, *, turns: int, cursor: int) -> Menu:
    """Return the list, its rules ending after one of the lives."""
    ended = _LIVES[turns % len(_LIVES)]
    ends = [ended(offer) for offer in offering.offers]
    order = f"rules from narrow to wide, {tried(offering)}"

    def turn(here: int) -> Menu:
        return _menu(about, offering, turns=turns + 1, cursor=here)

    return Menu(
        f"always allow what {about.name} asks, {until(ends[0])}: {order}",
        tuple(map(partial(_choice, about), offering.offers, ends)),
        about.number,
        cursor=cursor,
        turn=turn,
    )


def _choice(about: _About, offer: Offer, expires: datetime | None) -> Choice:
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
    give = about.take(TakenOffer(offer.id, expires))
    said = statement(("ALWAYS ALLOW by this rule", rule), (f"! It {undone}:", denied))
    asked = Proposal(lambda: said, lambda: (Go(about.back), give), about.number, about.back)
    words = f": {offer.covers}"
    return Choice(covered(offer), lambda: (asked if shown else give,), words, warning, beneath)
