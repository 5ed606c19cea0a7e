"""The keys of the three views: the queue, the live sessions, the history; part of `keys.TABLE`."""

from collections.abc import Callable

from crabhook.desk.acts import Guard, Place, key_of
from crabhook.model.session import SessionView
from crabhook.present.summary import copied
from crabhook.ui.full import effects as do
from crabhook.ui.full import filters as when
from crabhook.ui.full import keyrow as on
from crabhook.ui.full.dialogs import decide, orders
from crabhook.ui.full.dialogs.prompts import AskLine, Purpose
from crabhook.ui.full.effects import Effects, Go
from crabhook.ui.full.filters import Filter, Mode
from crabhook.ui.full.focus import Focus
from crabhook.ui.full.keyrow import Group, Handler, Key, group
from crabhook.ui.full.screen import Screen

_FREE = Guard.FREE
_BACK = on.focus(Focus.back)
_SESSION = when.on_a_row & when.at(Mode.SESSIONS)
_VIEWS = when.at(*when.VIEWS, Mode.TEXT, Mode.ENTRY)
_ENTRY = when.on_a_row & when.at(Mode.HISTORY, Mode.ENTRY)


def _of_act(act: str, place: Place, where: Filter, handler: Handler) -> Key:
    key = key_of(act, place)
    return on.of_act(key, where & when.allowed(key.act), handler)


def _its_cards(screen: Screen, view: SessionView) -> None:
    screen.want(f"session:{view.session}")
    screen.look_into(Mode.QUEUE)


def _filter(subject: str, wanted: str, want: Callable[[str], None]) -> Effects:
    return (AskLine(Purpose.FILTER, lambda _: (), wanted, subject=subject, typed=want),)


def _open(screen: Screen, _: str) -> Effects:
    screen.history.open()
    return (Go(Mode.ENTRY),)


def _copy(screen: Screen, _: str) -> Effects:
    whole = screen.history.whole
    return () if whole is None else (do.Copy(copied(whole.card.event)),)


# fmt: off
GROUPS: tuple[Group, ...] = (
    group("arranging the queue", when.at(Mode.QUEUE),
        ("/", "filter…", "show what tells your words: also risk: agent: machine: session: tool:",
         _FREE, lambda s, _: _filter("the queue", s.queue.arranged.wanted, s.want)),
        ("s", "sort", "by arrival, by risk, or by session", _FREE, on.screen(Screen.sort)),
        ("g", "group", "put the cards of a session together, or no longer",
         _FREE, on.screen(Screen.group)),
    ),
    group("", when.with_filter, ("escape", "show all", "show all that waits again",
         _FREE, lambda s, _: s.want(""))),
    Group("on a live session", (
        _of_act("note", Place.SESSION, _SESSION, on.session(orders.note_to)),
        _of_act("stop", Place.SESSION, _SESSION, on.session(orders.stop)),
    )),
    group("", _SESSION,
        ("c", "its cards", "the queue, with what it asks alone", _FREE, on.at_session(_its_cards)),
        ("enter", "more…", "its subagents and notes; hold or allow all of it for a while",
         _FREE, on.at_session(lambda s, view: orders.offer_session(view, s.desk))),
    ),
    group("in the history", when.on_a_row & when.at(Mode.HISTORY),
        ("enter tab right", "open", "all of the entry", _FREE, _open)),
    Group("", (_of_act("always-allow", Place.ENTRY, _ENTRY,
        on.at_entry(lambda s, entry: decide.offer_rules_of(entry, s.desk))),)),
    group("", when.on_a_row & when.at(Mode.ENTRY),
        ("y", "", "copy the command, as it is on record", _FREE, _copy)),
    group("", when.at(Mode.HISTORY),
        ("/", "filter…", "show what tells the words you type, as in the queue; also who decided",
         _FREE, lambda s, _: _filter("the history", s.history.wanted, s.history.want))),
    group("", when.with_past_filter, ("escape", "show all", "show all that ended again",
         _FREE, lambda s, _: s.history.want(""))),
    group("", when.at(Mode.ENTRY),
        ("escape tab left", "history", "back to the history", _FREE, _BACK)),
    group("in the sessions, and in the history",
        when.at(Mode.SESSIONS, Mode.HISTORY) & ~when.with_past_filter,
        ("escape", "queue", "back to the queue", _FREE, _BACK)),
    group("", when.at(Mode.SESSIONS, Mode.HISTORY),
        ("up k", "", "the row above", _FREE, on.by(Screen.move, -1)),
        ("down j", "next", "the row below", _FREE, on.by(Screen.move, +1)),
        ("pageup", "", "a page of rows up", _FREE, on.by(Screen.move_page, -1)),
        ("pagedown", "", "a page of rows down", _FREE, on.by(Screen.move_page, +1)),
    ),
    group("the three views", _VIEWS,
        ("Q", "", "the queue: what waits for you", _FREE, on.does(Go(Mode.QUEUE))),
    ),
    Group("", (
        _of_act("sessions", Place.DESK, _VIEWS, on.by(Screen.look_into, Mode.SESSIONS)),
        _of_act("history", Place.DESK, _VIEWS, on.by(Screen.look_into, Mode.HISTORY)),
    )),
)
# fmt: on
