"""A card as an article: what it asks, its risk, what is known around it, and its acts."""

from crabhook.desk.replica import Replica
from crabhook.model.card import Card, Level, State
from crabhook.model.statements import is_strict
from crabhook.present.around import around, calls_before
from crabhook.present.card import CardDocument, card_document
from crabhook.present.cover import COVER, masked
from crabhook.present.document import Fact
from crabhook.present.past import look
from crabhook.present.phrases import WENT_ON
from crabhook.present.phrases import joined as phrase
from crabhook.present.plan import denied_before, plan_of
from crabhook.present.sentence import (
    are_looking,
    asker,
    by_another,
    held_elsewhere,
    looking_elsewhere,
)
from crabhook.present.summary import agent_name, outcome, place
from crabhook.ui.commands.decide import asked_by
from crabhook.ui.web import blocks, texts
from crabhook.ui.web.acts import session_name
from crabhook.ui.web.buttons import UNCOVER_FIRST, acts
from crabhook.ui.web.html import NOTHING, Html, el, joined
from crabhook.ui.web.texts import Pen, StartOfText

_TITLED = frozenset({"mcp_server_name", "mode", "url"})
_RISKS = {Level.NONE: "none", Level.CAUTION: "caution", Level.DANGER: "danger"}


def card(card: Card, desk: Replica, seen: bytes, *, covers: bool = True) -> Html:
    """Return a whole card; `seen` names its inputs, and goes back with a decision.

    `covers`: its secrets are covered.
    """
    waits, number = card.state is State.WAITING, card.number
    pen = Pen(covers, card.number if waits else 0)
    document = card_document(card, around(card, desk), calls_before(card, desk.feed()))
    asked = el("div", _request(document, pen), class_="asked")
    offered = acts(card, desk, covers=covers) if waits else NOTHING
    return el(
        "article",
        _head(document, desk, pen),
        *(el("p", f"! {pen.words(alarm)}", class_="alarm", role="alert") for alarm in card.alarms),
        asked,
        _covers(asked, offered, pen),
        _changed_plan(card, desk, pen),
        _risk(document, pen),
        _section("Why it is here", blocks.reason(document.reason, pen) if waits else NOTHING),
        known(document, pen),
        *(blocks.sent(each, pen) for each in document.sent),
        offered,
        id=f"card-{number}",
        data_whole="no" if 'data-whole="no"' in asked else "yes",
        data_sha=seen.hex(),
        aria_labelledby=f"card-{number}-title",
        **attributes(card, desk),
    )


def _covers(asked: Html, offered: Html, pen: Pen) -> Html:
    """Return what shows the secrets of a request, or covers them again; nothing without any."""
    if pen.covers and COVER not in asked and UNCOVER_FIRST not in offered:
        return NOTHING
    words = "Show the secrets" if pen.covers else "Cover the secrets"
    return el("button", words, type="button", class_="uncover", data_covers=pen.covers or None)


def attributes(card: Card, desk: Replica) -> dict[str, str | int | None]:
    """Return what a row and an article tell of a card in their attributes."""
    waits = card.state is State.WAITING
    return {
        "data_card": card.number,
        "data_seen": card.revision,
        "data_state": card.state,
        "data_kind": asked_by(card).kind,
        "data_risk": _RISKS[card.risk.level],
        "data_session": session_name(card.event.session_key),
        "data_since": f"{card.asked_at:.3f}",
        "data_until": f"{card.wait_until:.3f}" if waits else None,
        "data_ended": None if waits else ended(card, desk),
        "data_strict": (waits and is_strict(card)) or None,
    }


def ended(card: Card, desk: Replica) -> str:
    """Return how a card ended, and by whom: "DENIED by Ann at laptop"; empty while it waits."""
    return phrase(outcome(card), by_another(card, desk, str, when=False), by=" ")


def _section(title: str, *inner: Html, id_: str | None = None) -> Html:
    """Return a part of a card under a heading; nothing for nothing."""
    if not any(inner):
        return NOTHING
    return el("section", el("h3", title), *inner, id=id_)


def _head(document: CardDocument, desk: Replica, pen: Pen) -> Html:
    card, event = document.card, document.card.event
    asks = document.asks(pen.words)
    who = phrase(f"#{card.number}", agent_name(event, pen.words), place(event, pen.words))
    title = el("h2", asks.asked, id=f"card-{card.number}-title", tabindex=-1)
    return el(
        "header",
        title,
        el("p", phrase(who, asker(event, pen.words)), class_="dim"),
        standing(card, desk),
    )


def standing(card: Card, desk: Replica) -> Html:
    """Return how a card stands: how long it waits, who else looks, or how it ended."""
    if card.state is not State.WAITING:
        why = card.why or (card.decision.reason or card.decision.note if card.decision else "")
        fate = {True: "delivered", False: "NOT DELIVERED, the hook did not take it", None: ""}
        words = phrase(ended(card, desk), masked(why), fate[card.delivered])
        return el("p", words, class_=phrase("state", look(card), by=" "), role="status")
    aside = "put aside" if card.snoozed_until > 0 else ""
    names = looking_elsewhere(card.number, desk)
    others = phrase(aside, are_looking(names, str), held_elsewhere(card, desk, str))
    more = el("p", others, class_="noted", role="status") if others else NOTHING
    return joined((waits(card), more))


def waits(card: Card) -> Html:
    """Return since when a card waits, and until when, for the page to tell in words."""
    since = el("time", data_since=f"{card.asked_at:.3f}")
    until_then = el("time", data_until=f"{card.wait_until:.3f}")
    if card.went_on:
        return el("p", f"{WENT_ON}, open: ", until_then, class_="times noted")
    return el("p", "waits ", since, " · ", until_then, class_="times")


def _request(document: CardDocument, pen: Pen) -> Html:
    """Return what a person must have seen before it is allowed."""
    server, asked = document.server, document.request
    if server is not None:  # the title and the address tell them
        asked = tuple(
            each for each in asked if not (isinstance(each, Fact) and each.key in _TITLED)
        )
    parts = [blocks.drawn(asked, pen)]
    if server is not None and server.is_link:
        parts.append(blocks.link(server, pen))
    return joined(parts)


def _changed_plan(card: Card, desk: Replica, pen: Pen) -> Html:
    """Return how a plan differs from the plan that was denied before it, for a person to open."""
    plan = plan_of(card)
    before = denied_before(card, desk) if plan else ""
    if not before:
        return NOTHING
    lines = blocks.changed_lines(StartOfText.of(before).text, StartOfText.of(plan).text, pen)
    inner = texts.rows_of(lines) if before != plan else texts.paragraph("it is the same plan again")
    return el("details", el("summary", "what changed since the last plan"), inner, class_="since")


def _risk(document: CardDocument, pen: Pen) -> Html:
    risk = document.risk
    return NOTHING if risk is None else _section("What it may do", blocks.risk_items(risk, pen))


def known(document: CardDocument, pen: Pen) -> Html:
    """Return what is known around a card; it comes again once its agent's words were read."""
    inner = (
        _section("What is known", blocks.context(document.context, pen)),
        _section("The session's last calls", blocks.last_calls(document.last_calls, pen)),
    )
    return el("div", *inner, id=f"known-{document.card.number}", class_="known")


def known_of(card: Card, desk: Replica) -> Html:
    """Return what is known around a card."""
    document = card_document(card, around(card, desk), calls_before(card, desk.feed()))
    return known(document, Pen())
