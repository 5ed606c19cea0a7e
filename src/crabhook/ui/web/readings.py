"""What a page has read for a card: what the rules say of an edit, and which rules are offered."""

from collections.abc import Mapping

from crabhook.desk.acts import Guard, Place, key_of
from crabhook.desk.replica import Replica
from crabhook.desk.updates import ObjectionsReady, Offer, Offering, OffersReady
from crabhook.model.card import Card
from crabhook.model.jsontext import Value, at, pretty
from crabhook.model.wording import until
from crabhook.present.cover import masked
from crabhook.present.document import CallRisk, TextChange
from crabhook.present.phrases import joined as phrase
from crabhook.ui.commands.decide import LIVES, covered, tried, undoing, undone
from crabhook.ui.edits import asked_tool, text_paths
from crabhook.ui.web import blocks
from crabhook.ui.web.acts import (
    Button,
    buttons,
    edit_choice,
    edit_yes,
    entry_choice,
    rule_yes,
    turns_round,
)
from crabhook.ui.web.buttons import button, edited, offers_place, with_field
from crabhook.ui.web.html import NOTHING, Html, el, labelled
from crabhook.ui.web.texts import Pen

_UNDONE_SHOWN = 20
_LIFE = {"day": "for a day", "forever": "for ever"}


def objections(ready: ObjectionsReady, card: Card, desk: Replica) -> Html:
    """Return what an edit changes, what it may do then, what the rules say, and its button."""
    place, decision = f"edit-{card.number}", ready.decision
    offered = _offered("edit", card, desk)
    if offered is None or decision.updated_input is None:
        return el("div", id=place)
    at_text, _, before = edited(card)
    after = _after(card, decision.updated_input, at_text)
    return el(
        "div",
        blocks.drawn([TextChange({}, before, after)], Pen()),
        el("h3", "what it may do then"),
        blocks.risk_items(CallRisk(ready.risk), Pen()),
        *(el("p", f"! {masked(each)}", class_="warning") for each in ready.objections),
        button(
            offered,
            "allow it edited",
            edit_choice(at_text, ready.objections),
            edit_yes(card, decision, ready.objections, desk),
        ),
        id=place,
    )


def _after(card: Card, changed: Mapping[str, Value], place: int | None) -> str:
    """Return the edited text as it would be sent."""
    tool_input = dict(changed)
    text = None if place is None else at(tool_input, text_paths(asked_tool(card))[place])
    return text if isinstance(text, str) else pretty(tool_input)


def _offered(act: str, card: Card, desk: Replica) -> Button | None:
    return next((each for each in buttons(card, desk) if each.act == act), None)


def offers(ready: OffersReady, card: Card, desk: Replica) -> Html:
    """Return the rules that are offered for a card, each with a button that takes it."""
    act = "always-deny" if ready.denies else "always-allow"
    offered, offering = _offered(act, card, desk), ready.offering
    if offered is None or not offering.offers:
        why = f"no rule is offered. {offering.why}"
        return offers_place(card.number, el("p", why, class_="words"), denies=ready.denies)
    rules = (
        _rule(each, button(offered, _BY_THIS.format(offered.label), each.id, yes))
        for each in offering.offers
        for yes in [rule_yes(card, each, desk)]
    )
    return offers_place(card.number, _tried(offering), *rules, denies=ready.denies)


_BY_THIS = "{} by this rule"


def _tried(offering: Offering) -> Html:
    return el("p", f"rules from narrow to wide, {tried(offering)}", class_="dim")


def offers_of_entry(ready: OffersReady) -> Html:
    """Return the rules that are offered for calls like the call of an entry of the history."""
    row, offering = key_of("always-allow", Place.ENTRY), ready.offering
    offered = Button(row.act.id, row.act.name, row.means, Guard.ARMED)
    rules = (
        _rule(each, button(offered, _BY_THIS.format(offered.label), choice, turns_round(each)))
        for each in offering.offers
        for choice in [entry_choice(ready.entry, each.id)]
    )
    why = f"no rule is offered. {offering.why}"
    head = _tried(offering) if offering.offers else el("p", why, class_="words")
    return el("div", head, *rules, id=f"entry-offers-{ready.entry}")


def _rule(offer: Offer, takes: Html) -> Html:
    """Return a rule: what it covers, what more it allows, what it would have turned round."""
    shown, more = undone(offer, _UNDONE_SHOWN)
    undoes = phrase(undoing(offer), *shown, more)
    ends = el("p", f"{masked(offer.rule)} · {until(offer.expires)}", class_="rule")
    return with_field(
        el("h3", f"{covered(offer)}: {masked(offer.covers)}"),
        ends,
        *(el("p", f"! {masked(each)}", class_="warning") for each in offer.gives_away),
        el("p", f"! It {masked(undoes)}", class_="warning") if undoes else NOTHING,
        _life(offer),
        _reason() if offer.denies else NOTHING,
        takes,
    )


def _life(offer: Offer) -> Html:
    options = (el("option", _LIFE.get(life) or until(offer.expires), value=life) for life in LIVES)
    choice = el("select", *options, data_field="rule", data_name="life")
    return labelled("it holds", choice)


def _reason() -> Html:
    typed = el("input", type="text", data_field="rule", data_name="reason", autocomplete="off")
    return labelled("reason (the model reads it)", typed)
