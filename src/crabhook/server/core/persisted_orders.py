"""Operators' stops, notes, votes and standing orders in the store, for the next server.

Stops, orders about one call and notes without a receipt are rows of the store. So are the ballots
of waiting cards, and how often a card was asked. A row has a key and a text. A stop's key is the
session's id and its text the reason; every other key is JSON, so that an older server takes it for
an unknown session's stop.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from time import time
from typing import TYPE_CHECKING

from crabhook.datatypes import frozen
from crabhook.model.actor import UNKNOWN, OrderKind
from crabhook.model.ballot import Ballot
from crabhook.model.card import TimesAsked
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value, compact, parse_object
from crabhook.model.order import LASTING, LET_ONCE_FOR, OF_A_CALL, RULED_FOR, Order, Standing
from crabhook.model.session import KeptNote, Note
from crabhook.model.wording import who
from crabhook.store.actors import actor_data, actor_in
from crabhook.store.ballots import ballot_in, ballot_text
from crabhook.store.change import Change, Halt
from crabhook.store.record import ORDERS

if TYPE_CHECKING:
    from crabhook.server.core.documents import Documents

_LOG = logging.getLogger(__name__)

_ABOUT = ("name", "session", "project", "times", "words")
_ONCE, _NEVER = "once", "never"  # the keys of the rows of orders about one call
_OF = "of"  # a session, in a key that servers before this kind of row take for no session's
_MOMENT = 1e-3  # seconds; a time of 0 would say that an agent waits
_SAME = 0.5  # seconds by which an order's end may differ between two clock readings
_TEXTS = ("platform", "session", "agent", "text", "call")


@frozen
class Steering:
    """What operators have given and the next server takes up.

    `lasting` are stops and orders about one call, `notes` those without a receipt, `ballots` those
    of waiting cards. `asked` tells of the waiting cards that stayed open without their agents.
    """

    lasting: tuple[Standing, ...] = ()
    notes: tuple[KeptNote, ...] = ()
    ballots: Mapping[int, Ballot] = field(default_factory=dict)
    asked: Mapping[int, TimesAsked] = field(default_factory=dict)


def kept(steering: Steering, now: float, wall: float) -> tuple[Halt, ...]:
    """Return the rows to store; times are on the broker's clock, and wall seconds."""
    lasting, notes = steering.lasting, steering.notes
    stops = (
        _call_row(order, wall - now, wall)
        if order.kind in OF_A_CALL
        else Halt(_stop_key(order, wall - now), order.words)
        for order in lasting
    )
    kept_notes = (
        Halt(compact({"note": note.note.id}), _note_text(note, wall - now)) for note in notes
    )
    ballots = (
        Halt(compact({"ballot": number}), ballot_text(ballot, wall - now))
        for number, ballot in steering.ballots.items()
    )
    asked = (
        Halt(compact({"asked": number}), _asked_text(asked, wall - now))
        for number, asked in steering.asked.items()
    )
    return (*stops, *kept_notes, *ballots, *asked)


def _asked_text(asked: TimesAsked, ahead: float) -> str:
    at = asked.went_on_at + ahead if asked.went_on_at else 0.0
    return compact({"times": asked.times, "went_on": at})


def _asked_in(text: str, now: float, wall: float) -> TimesAsked:
    content = parse_object(text.encode())
    times, at = int(str(content["times"])), float(str(content["went_on"]))
    return TimesAsked(times, max(now - max(0.0, wall - at), _MOMENT) if at else 0.0)


def _stop_key(order: Standing, ahead: float) -> str:
    whose = {} if order.machine is None else {"machine": order.machine}
    if whose or order.agent or order.session.startswith("{"):
        about: dict[str, Value] = {"session": order.session, "agent": order.agent, **whose}
        return compact(about | {"heard": round(order.heard + ahead)})
    return order.session


def _call_row(order: Standing, ahead: float, wall: float) -> Halt:
    """Return the row of an order about one call; `wall` is the time of writing."""
    key, of = (_ONCE, "session") if order.kind is OrderKind.LET_ONCE else (_NEVER, _OF)
    about: dict[str, Value] = {key: order.call, of: order.session}
    about |= {"agent": order.agent, "machine": order.machine}
    content: dict[str, Value] = {"name": order.name, "words": order.words, "at": wall}
    content |= {"note": order.note, "law": order.law}
    content |= {"until": (order.until or 0.0) + ahead, "heard": round(order.heard + ahead)}
    return Halt(compact(about), compact(content | {"actor": actor_data(order.by)}))


def _ruling_in(key: dict[str, Value], text: str, now: float, wall: float) -> Iterator[Standing]:
    """Yield the order in a row; nothing where its time is over, or the row cannot be read."""
    with suppress(CrabhookError, ValueError, TypeError, KeyError):
        content = parse_object(text.encode())
        until, at = (float(content[name]) for name in ("until", "at"))  # type: ignore[arg-type]
        law, once = str(content.get("law", "")), _ONCE in key
        left = min(until - wall, until - at, RULED_FOR if law else LET_ONCE_FOR)
        if left <= 0:
            return
        names = ("session", "agent", _ONCE) if once else (_OF, "agent", _NEVER)
        session, agent, call = (str(key[name]) for name in names)
        machine = key["machine"]
        order = Order(
            OrderKind.LET_ONCE if once else OrderKind.DENY_AGAIN,
            *(str(content["name"]), session),
            until=now + left,
            times=1 if once else None,
            words=str(content["words"]),
            agent=agent,
            machine=None if machine is None else str(machine),
            call=call,
            note=int(content.get("note", 0)),  # type: ignore[arg-type]
            law=law,
        )
        heard = _heard_at(content.get("heard"), now, wall)
        yield Standing.of(order, 0, actor_in(content), heard)


def _note_text(kept: KeptNote, ahead: float) -> str:
    note = kept.note
    content: dict[str, Value] = {name: getattr(note, name) for name in _TEXTS}
    content |= {"by": who(note.by), "actor": actor_data(note.by), "machine": note.machine}
    return compact(content | {"at": note.at + ahead, "request": kept.request_id})


def taken_up(rows: Iterable[Halt], now: float, wall: float) -> Steering:
    """Return what the rows hold; no order was heard of after `now`."""
    halts, notes, ballots = list[Standing](), list[KeptNote](), dict[int, Ballot]()
    asked = dict[int, TimesAsked]()
    for row in rows:
        key = _key(row.session)
        if "note" in key:
            notes += _notes(key["note"], row.why, now, wall)
            continue
        if "ballot" in key:
            with suppress(CrabhookError, ValueError, TypeError, KeyError):
                ballots[int(str(key["ballot"]))] = ballot_in(row.why, now, wall)
            continue
        if "asked" in key:
            with suppress(CrabhookError, ValueError, TypeError, KeyError):
                asked[int(str(key["asked"]))] = _asked_in(row.why, now, wall)
            continue
        if _ONCE in key or _NEVER in key:
            halts += _ruling_in(key, row.why, now, wall)
            continue
        session, agent = str(key.get("session", row.session)), str(key.get("agent", ""))
        machine = str(key["machine"]) if "machine" in key else None
        about = Order(OrderKind.HALT, "", session, words=row.why, agent=agent, machine=machine)
        halts.append(Standing.of(about, 0, UNKNOWN, _heard_at(key.get("heard"), now, wall)))
    ordered = tuple(sorted(notes, key=lambda kept: kept.note.id))
    return Steering(tuple(halts), ordered, ballots, asked)


def _heard_at(stored: Value, now: float, wall: float) -> float:
    """Return when a session was heard of; an older server stored no time, and then it is now."""
    return now - max(0.0, wall - stored) if isinstance(stored, int | float) else now


def _key(text: str) -> dict[str, Value]:
    if text.startswith("{"):
        with suppress(CrabhookError):
            return dict(parse_object(text.encode()))
    return {}


def _notes(number: Value, text: str, now: float, wall: float) -> Iterator[KeptNote]:
    """Yield the note in a row; nothing for an unreadable row."""
    with suppress(CrabhookError, ValueError, TypeError, KeyError):
        content = parse_object(text.encode())
        platform, session, agent, words, call = (str(content[name]) for name in _TEXTS)
        at = min(now, now - (wall - float(content["at"])))  # type: ignore[arg-type]
        by, request = actor_in(content), str(content["request"])
        machine = str(content.get("machine", ""))  # an older server wrote none
        whose = platform, session, agent
        note = Note(int(number), *whose, words, by, at, call, machine=machine)  # type: ignore[arg-type]
        yield KeptNote(note, request)


class KeptOrders:
    """The standing orders except those that are rows, in a shared record, for its next server.

    Without `documents` they end with the server.
    """

    def __init__(
        self, documents: "Documents | None" = None, wall: Callable[[], float] = time
    ) -> None:
        self._documents, self._wall = documents, wall
        self._seen: list[tuple[Standing, float]] = []
        self._rows: list[dict[str, Value]] = []

    def __repr__(self) -> str:
        return f"<KeptOrders {len(self._rows)}>"

    def changes(self, orders: tuple[Standing, ...], now: float) -> list[Change]:
        """Return the change to write where the orders differ from before."""
        seen = [(order, order.heard) for order in orders]  # by which no order is compared
        if self._documents is None or seen == self._seen:
            return []
        ahead, self._seen = self._wall() - now, seen
        rows = [_order_row(order, ahead) for order in orders if order.kind not in LASTING]
        if _alike(rows, self._rows):
            return []
        self._rows = rows
        at: Value = self._wall()
        text = compact({"at": at, "orders": list[Value](rows)})
        return [self._documents.next(ORDERS, text, "the server")]

    def taken_up(self, now: float) -> tuple[Standing, ...]:
        """Return the orders that still stand; a clock that was set makes none of them longer."""
        if self._documents is None:
            return ()
        try:
            self._rows, standing = orders_in(self._documents.read(ORDERS), now, self._wall())
        except CrabhookError as error:
            _LOG.error("the standing orders are not taken up: %s", error)
            return ()
        return standing


def orders_in(
    text: str, now: float, wall: float
) -> tuple[list[dict[str, Value]], tuple[Standing, ...]]:
    """Return what the document tells, and the orders of it that stand still.

    Raises CrabhookError.
    """
    content = parse_object((text or "{}").encode())
    rows = content.get("orders")
    each = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    orders = (_order_in(row, content.get("at"), now, wall) for row in each)
    return each, tuple(order for order in orders if order is not None)


def _order_row(order: Standing, ahead: float) -> dict[str, Value]:
    content: dict[str, Value] = {name: getattr(order, name) for name in _ABOUT}
    until = None if order.until is None else order.until + ahead
    content |= {} if order.machine is None else {"machine": order.machine}
    content |= {"heard": round(order.heard + ahead)} if order.session else {}
    return {
        "kind": order.kind.name.lower(),
        **content,
        "until": until,
        "actor": actor_data(order.by),
    }


def _alike(some: Sequence[dict[str, Value]], others: Sequence[dict[str, Value]]) -> bool:
    """Whether these are the same orders, read with two clocks."""

    def rest(row: dict[str, Value]) -> dict[str, Value]:
        return {key: value for key, value in row.items() if key not in ("until", "heard")}

    def same(time: Value, other: Value) -> bool:
        if not isinstance(time, int | float) or not isinstance(other, int | float):
            return time == other
        return abs(time - other) <= _SAME

    return len(some) == len(others) and all(
        rest(row) == rest(other)
        and same(row.get("until"), other.get("until"))
        and same(row.get("heard"), other.get("heard"))
        for row, other in zip(some, others, strict=True)
    )


def _order_in(row: dict[str, Value], at: Value, now: float, wall: float) -> Standing | None:
    """Return a stored order, read at a wall time; None where its time is over."""
    with suppress(ValueError, TypeError, KeyError):
        kind, times, until = OrderKind[str(row["kind"]).upper()], row["times"], None
        if row["until"] is not None:
            end = float(row["until"])  # type: ignore[arg-type]
            left = min(end - wall, end - float(at))  # type: ignore[arg-type]
            until = now + left
            if left <= 0:
                return None
        elif kind is OrderKind.ALLOW_ALL:
            return None
        name, session, project, words = (str(row[key]) for key in _ABOUT if key != "times")
        return Standing(
            *(kind, name, session, project, until),
            times=None if times is None else int(times),  # type: ignore[arg-type]
            words=words,
            machine=str(row["machine"]) if "machine" in row else None,
            id=0,
            by=actor_in(row),
            heard=_heard_at(row.get("heard"), now, wall),
        )
    return None
