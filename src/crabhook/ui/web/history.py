"""What ended: a row for each entry, the newest first, and one of them whole."""

from collections.abc import Iterator

from crabhook.desk.acts import Place, key_of
from crabhook.desk.replica import Replica
from crabhook.desk.updates import HistoryRead, Past
from crabhook.model.card import Card
from crabhook.present import past
from crabhook.present.card import card_document
from crabhook.present.cover import masked
from crabhook.present.phrases import joined as phrase
from crabhook.present.sentence import MARKS
from crabhook.present.summary import agent_name, as_allowed, called, outcome, place
from crabhook.ui.web import blocks
from crabhook.ui.web.acts import session_name
from crabhook.ui.web.card import ended
from crabhook.ui.web.html import NOTHING, Html, el, joined
from crabhook.ui.web.texts import Pen

_LATER = 10**15


def entry(each: Past, desk: Replica, *, whole: bool = False) -> Html:
    """Return an entry of the history; `whole`: all of it, where that was read."""
    card = each.card
    heading = el("h2", el("a", _line(card), href=f"#entry-{each.id}", class_="open"))
    at = el("time", past.moment(each.at, each.at), data_at=f"{each.at:.3f}")
    by = past.by_whom(each)
    how = phrase(outcome(card), f"by {by}" if by else "", by=" ")
    fate = phrase(how, past.delivery(each))
    return el(
        "li",
        heading,
        el("p", at, " ", el("strong", fate, class_=past.look(card)), class_="dim"),
        _whole(each) if whole else NOTHING,
        _rules(each, desk) if whole else NOTHING,
        id=f"entry-{each.id}",
        data_into="history-list",
        data_order=f"{_LATER - each.id:016d}",
        data_session=session_name(card.event.session_key),
        data_of=_whose(card),
        data_card=None if whole else card.number or None,
        data_ended=how,
    )


def _whose(card: Card) -> str:
    """Return whose call it was, for a person who chooses one session's."""
    agent, where = agent_name(card.event, masked), place(card.event, masked)
    return phrase(agent, where, card.event.session[: past.ID_SHOWN])


def _line(card: Card) -> Html:
    event = as_allowed(card)
    _, mark = MARKS[card.risk.level]
    bar = el("span", f"{mark} ", class_="bar", aria_hidden="true") if mark else NOTHING
    return joined((bar, el("span", phrase(place(event, masked), called(event, masked)))))


def _whole(each: Past) -> Html:
    facts = ((label, words) for label, words in past.facts(each) if words)
    pairs = ((el("dt", label or "end"), el("dd", masked(words))) for label, words in facts)
    document = card_document(each.card)
    return joined(
        (
            el("dl", *(part for pair in pairs for part in pair), class_="fields"),
            el("div", blocks.drawn(document.request, Pen()), class_="asked"),
            *(blocks.sent(sent, Pen()) for sent in document.sent),
        )
    )


def _rules(each: Past, desk: Replica) -> Html:
    """Return what asks for the rules that would allow such calls, for who may keep one."""
    row = key_of("always-allow", Place.ENTRY)
    if each.card.event.tool is None or not row.act.is_for(desk.role()):
        return NOTHING
    asks = el(
        "button",
        f"{row.act.name}…",
        type="button",
        class_="ask",
        data_ask="offers",
        data_entry=each.id,
    )
    return el("form", asks, el("div", id=f"entry-offers-{each.id}"), class_="acts")


def just_ended(card: Card, desk: Replica) -> Html:
    """Return a card that ended just now; it is in the list only where the history was read."""
    return el(
        "li",
        el("h2", el("a", _line(card), href=f"#card-{card.number}", class_="open")),
        el("p", el("strong", ended(card, desk), class_=past.look(card)), class_="dim"),
        id=f"entry-card-{card.number}",
        data_into="history-list" if desk.page(0).entries else None,
        data_order=f"0{_LATER - card.number:015d}",
        data_session=session_name(card.event.session_key),
        data_of=_whose(card),
        data_card=card.number,
        data_ended=ended(card, desk),
    )


def page(read: HistoryRead, desk: Replica) -> Iterator[tuple[str, Html]]:
    """Yield the entries of a page of the history, and what reads on."""
    for each in read.entries:
        yield f"entry-{each.id}", entry(each, desk)
        yield f"entry-card-{each.card.number}", NOTHING
    yield "history-more", _more(read)


def _more(read: HistoryRead) -> Html:
    """Return what reads the next page; nothing behind the last."""
    if read.why:
        return el("li", read.why, id="history-more", class_="warning", **_LAST)
    if not read.goes_on:
        return NOTHING
    older = el(
        "button", "older", type="button", class_="ask", data_ask="history", data_before=read.goes_on
    )
    return el("li", older, id="history-more", **_LAST)


_LAST = {"data_into": "history-list", "data_order": "~"}
