"""The page in fragments: an element's id and its HTML, "" where it goes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from crabhook.desk import updates
from crabhook.desk.acts import ACTS, Guard
from crabhook.desk.replica import Replica
from crabhook.desk.updates import News
from crabhook.model.actor import OrderKind
from crabhook.model.card import Card, State
from crabhook.model.order import LETS_PASS, Standing
from crabhook.model.session import SessionView
from crabhook.present.past import ID_SHOWN
from crabhook.present.phrases import joined as phrase
from crabhook.ui.web import history, readings
from crabhook.ui.web.acts import Button, session_name
from crabhook.ui.web.buttons import button
from crabhook.ui.web.card import known_of
from crabhook.ui.web.html import NOTHING, Html, el
from crabhook.ui.web.queue import Seen, row
from crabhook.ui.web.sessions import session

_AWAY_WORDS = "you are away: agents ask their own users"
_AWAY = (("for an hour", 3600), ("for four hours", 4 * 3600))


class Fragment(NamedTuple):
    """An element of the page by its id, and its HTML; none where it goes."""

    id: str
    html: str


def everything(desk: Replica, seen: Seen) -> Sequence[Fragment]:
    """Return all that the desk shows; `seen` names the inputs of a card."""
    return (
        Fragment("desk", head(desk)),
        *(Fragment(f"row-{card.number}", row(card, desk, seen)) for card in desk.waiting()),
        *map(_session_of(desk), desk.live()),
    )


def changed(news: News, desk: Replica, seen: Seen) -> Sequence[Fragment]:
    """Return what a piece of news changes on the page; `desk` has taken it up."""
    match news:
        case updates.Snapshot():
            return everything(desk, seen)
        case Card():
            return (*_card(news, desk, seen),)
        case updates.Claimed(card=number) if (card := desk.card(number)) is not None:
            return (*_card(card, desk, seen),) if card.state is State.WAITING else ()
        case updates.SessionsSeen(sessions, ended):
            gone = (Fragment(f"session-{session_name(key)}", "") for key in ended)
            return (*map(_session_of(desk), sessions), *gone)
    if isinstance(news, _OF_THE_HEAD):
        return (Fragment("desk", head(desk)),)
    return (*(Fragment(name, html) for name, html in _read(news, desk)),)


def _card(card: Card, desk: Replica, seen: Seen) -> Iterator[Fragment]:
    if card.state is State.WAITING:
        yield Fragment(f"row-{card.number}", row(card, desk, seen))
    else:
        yield Fragment(f"row-{card.number}", "")
        yield Fragment(f"entry-card-{card.number}", history.just_ended(card, desk))


def _session_of(desk: Replica) -> Callable[[SessionView], Fragment]:
    return lambda view: Fragment(f"session-{session_name(view.key)}", session(view, desk))


_OF_THE_HEAD = (
    updates.OrdersChanged,
    updates.TroublesChanged,
    updates.HouseChanged,
    updates.DesksChanged,
    updates.LinkChanged,
)


def _read(news: News, desk: Replica) -> Iterable[tuple[str, Html]]:
    """Yield what was read for the page."""
    match news:
        case updates.HistoryRead():
            yield from history.page(news, desk)
        case updates.EntryRead(number, None):
            gone = el("li", "this entry is kept no more", id=f"entry-{number}", class_="dim")
            yield f"entry-{number}", gone
        case updates.EntryRead(number, updates.Past() as entry):
            yield f"entry-{number}", history.entry(entry, desk, whole=True)
        case updates.ContextReady(card=number) if (card := desk.card(number)) is not None:
            yield f"known-{number}", known_of(card, desk)
        case updates.ObjectionsReady(card=number) if (card := desk.card(number)) is not None:
            yield f"edit-{number}", readings.objections(news, card, desk)
        case updates.OffersReady(entry=entry_id) if entry_id:
            yield f"entry-offers-{entry_id}", readings.offers_of_entry(news)
        case updates.OffersReady(card=number) if (card := desk.card(number)) is not None:
            kind = "denials" if news.denies else "offers"
            yield f"{kind}-{number}", readings.offers(news, card, desk)


# What stands above all.


def head(desk: Replica) -> Html:
    """Return what is wrong, which orders stand, the day's counts, and being away."""
    house = desk.house()
    return el(
        "div",
        *(el("p", f"! {trouble}", class_="alarm", role="alert") for trouble in desk.troubles()),
        *(_order(order, desk) for order in desk.orders()),
        el("p", state, class_="dim") if (state := phrase(house.amiss, house.today)) else NOTHING,
        _away(desk),
        id="desk",
    )


def _order(order: Standing, desk: Replica) -> Html:
    """Return a standing order, and what ends it."""
    left = (" · ", el("time", data_until=f"{order.until:.3f}")) if order.until is not None else ()
    whose = f"session {order.session[:ID_SHOWN]}" if order.session else ""
    what = _AWAY_WORDS if order.kind is OrderKind.AWAY else phrase(order.kind, order.name, by=" ")
    words = phrase(what, whose, order.words)
    return el("p", words, *left, " ", _ends(order, desk), class_="order")


def _ends(order: Standing, desk: Replica) -> Html:
    if not desk.may_end(order):
        return NOTHING
    away = order.kind is OrderKind.AWAY
    act, label = (ACTS["here"], "I am back") if away else (ACTS["release"], "end it")
    key = "cookie" if order.kind in LETS_PASS else "passkey"
    offered = Button(act.id, label, act.means, Guard.ARMED, key=key)
    return button(offered, value="" if away else str(order.id))


def _away(desk: Replica) -> Html:
    """Return how to be away, for who may order that and is not."""
    act = ACTS["away"]
    if not act.is_for(desk.role()) or any(each.kind is OrderKind.AWAY for each in desk.orders()):
        return NOTHING
    for_ = (
        button(Button(act.id, words, act.means, Guard.ARMED), value=str(seconds))
        for words, seconds in _AWAY
    )
    return el("details", el("summary", "be away"), *for_, class_="away")
