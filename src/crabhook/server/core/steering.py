"""What is kept of operators' stops and notes that no agent may have heard yet, as rows of a store.

A row has a key and a text.  A session's stop is the session's id and why; anything else has a key
that is JSON, so that a server before this one takes it for the stop of a session nobody has.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress

from crabhook.model.actor import UNKNOWN, OrderKind
from crabhook.model.errors import CrabhookError
from crabhook.model.jsontext import Value, compact, parse_object
from crabhook.model.order import Standing
from crabhook.model.session import KeptNote, Note
from crabhook.model.wording import who
from crabhook.store.actors import actor_in, actor_told
from crabhook.store.change import Halt

_TEXTS = ("platform", "session", "agent", "text", "call")


def kept(
    halts: Iterable[Standing], notes: Iterable[KeptNote], now: float, wall: float
) -> tuple[Halt, ...]:
    """Return the rows of stops and notes; times are on the broker's clock, and wall seconds."""
    stops = (Halt(_stop_key(one), one.words) for one in halts)
    told = (Halt(compact({"note": one.note.id}), _note_text(one, wall - now)) for one in notes)
    return (*stops, *told)


def _stop_key(order: Standing) -> str:
    if order.agent or order.session.startswith("{"):
        return compact({"session": order.session, "agent": order.agent})
    return order.session


def _note_text(one: KeptNote, ahead: float) -> str:
    note = one.note
    told: dict[str, Value] = {name: getattr(note, name) for name in _TEXTS}
    told |= {"by": who(note.by), "actor": actor_told(note.by), "machine": note.machine}
    return compact(told | {"at": note.at + ahead, "request": one.request_id})


def taken_up(
    rows: Iterable[Halt], now: float, wall: float
) -> tuple[tuple[Standing, ...], tuple[KeptNote, ...]]:
    """Return the stops and the notes of rows; no time is later than `now`."""
    halts, notes = list[Standing](), list[KeptNote]()
    for row in rows:
        key = _key(row.session)
        if "note" in key:
            notes += _notes(key["note"], row.why, now, wall)
            continue
        session, agent = str(key.get("session", row.session)), str(key.get("agent", ""))
        halts.append(
            Standing(OrderKind.HALT, session=session, agent=agent, words=row.why, id=0, by=UNKNOWN)
        )
    return tuple(halts), tuple(sorted(notes, key=lambda one: one.note.id))


def _key(text: str) -> dict[str, Value]:
    if text.startswith("{"):
        with suppress(CrabhookError):
            return dict(parse_object(text.encode()))
    return {}


def _notes(number: Value, text: str, now: float, wall: float) -> Iterator[KeptNote]:
    """Yield the note of a row; nothing of one that cannot be read."""
    with suppress(CrabhookError, ValueError, TypeError, KeyError):
        told = parse_object(text.encode())
        platform, session, agent, words, call = (str(told[name]) for name in _TEXTS)
        at = min(now, now - (wall - float(told["at"])))  # type: ignore[arg-type]
        by, request = actor_in(told), str(told["request"])
        machine = str(told.get("machine", ""))  # of an older server's, none
        whose = platform, session, agent
        note = Note(int(number), *whose, words, by, at, call, machine=machine)  # type: ignore[arg-type]
        yield KeptNote(note, request)
