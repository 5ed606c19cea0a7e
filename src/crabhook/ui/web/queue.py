"""The queue: a row for each card that waits, the worst risk first, then the oldest."""

from collections.abc import Callable

from crabhook.desk.acts import Kind
from crabhook.desk.replica import Replica
from crabhook.model.card import Card
from crabhook.present.card import card_document
from crabhook.present.document import CallRisk
from crabhook.present.phrases import joined as phrase
from crabhook.present.sentence import has_risk, sentence
from crabhook.present.summary import agent_name, json_start, place, session_label
from crabhook.ui.commands.decide import asked_by
from crabhook.ui.web import blocks, texts
from crabhook.ui.web.buttons import first_acts
from crabhook.ui.web.card import attributes, standing
from crabhook.ui.web.html import NOTHING, Html, el
from crabhook.ui.web.texts import Pen

Seen = Callable[[Card], bytes]
"""What names the inputs of a card."""

_LETTERS, _LINES = 1_000, 10  # of a request that is decided from its row


def row(card: Card, desk: Replica, seen: Seen) -> Html:
    """Return the row of a card that waits; a short request is decided from it."""
    pen, event = Pen(), card.event
    asks = sentence(card, pen.words)
    where = phrase(agent_name(event, pen.words), place(event, pen.words))
    asked = _asked(card, pen)
    return el(
        "li",
        el("h2", el("a", asks.asked, href=f"#card-{card.number}", class_="open")),
        el("p", phrase(f"#{card.number}", where), class_="dim"),
        asked or el("p", texts.line(asks.exactly), class_="exactly"),
        blocks.risk_items(CallRisk(card.risk), pen) if has_risk(card) else NOTHING,
        standing(card, desk),
        first_acts(card, desk) if asked else NOTHING,
        id=f"row-{card.number}",
        data_into="queue-list",
        data_order=_order(card),
        data_of=phrase(where, session_label(event)),
        data_sha=seen(card).hex() if asked else None,
        **attributes(card, desk),
    )


def _order(card: Card) -> str:
    """Return a text by which rows are sorted: not put aside, the worst risk, the oldest."""
    return f"{card.snoozed_until > 0:d}{9 - card.risk.level}{card.number:012d}"


def _asked(card: Card, pen: Pen) -> Html:
    """Return all of a short request; nothing if it needs a page of its own."""
    letters = sum(len(json_start(dict(leg.event.fields), _LETTERS)) for leg in card.requests)
    is_long = letters > _LETTERS
    if is_long or card.alarms or asked_by(card).kind not in (Kind.CALL, Kind.STOP, Kind.DENIAL):
        return NOTHING
    asked = el("div", blocks.drawn(card_document(card).request, pen), class_="asked")
    return asked if asked.count('class="line') <= _LINES else NOTHING
