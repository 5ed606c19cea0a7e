"""A dialog: what gets the keys while it lies on top, the table of its keys, and the stack of them.

A view lies at the bottom of the stack: the queue, the sessions, the history. Over it open pages and
dialogs: a line, a text, a list, or a page that asks for a yes.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from crabhook.datatypes import frozen
from crabhook.desk.acts import Act, ActKey, Guard
from crabhook.model.card import Card
from crabhook.model.decision import Decision
from crabhook.ui.full.effects import Close, Effects, Give, Look, ScreenEffect
from crabhook.ui.full.panes.views import Listing
from crabhook.ui.full.text_input import LineInput, TextInput
from crabhook.ui.full.themes import KeyTheme
from crabhook.ui.full.work import Marks
from crabhook.ui.text.layout import Content, Detail

D = TypeVar("D", contravariant=True)  # noqa: PLC0105 - a dialog

_SHOWN = {
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "s-tab": "shift-tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}
DIGITS = "1 2 3 4 5 6 7 8 9"


@frozen
class KeyRow(Generic[D]):
    """A row of a dialog's table: keys, each of which does the same.

    `shown` is the keys' name for people. The help line shows `name` (rows without a name are only
    on the page of keys), the page of keys shows `does`. `do` gets the dialog and the key; `guard`
    says when it is obeyed. `act_key`: the key of the act that it does, if it is one.
    """

    keys: tuple[str, ...]
    shown: str
    name: str
    does: str
    guard: Guard
    do: Callable[[D, str], Effects | None]
    act_key: ActKey | None = None

    @property
    def act(self) -> Act | None:
        """The act that it does."""
        return self.act_key.act if self.act_key is not None else None

    @property
    def leads(self) -> Decision | None:
        """The decision about the selected card that it gives, or ends in, if it is an act's."""
        return self.act_key.leads if self.act_key is not None else None


@frozen
class Group(Generic[D]):
    """Rows of one theme that apply at the same moments of a dialog."""

    theme: KeyTheme
    when: Callable[[D], bool]
    rows: tuple[KeyRow[D], ...]
    keys: frozenset[str]

    def now(self, dialog: D) -> Sequence[KeyRow[D]]:
        """Return the rows that apply now."""
        return self.rows if self.when(dialog) else ()

    def row(self, dialog: D, key: str) -> KeyRow[D] | None:
        """Return what a key does now."""
        return next((row for row in self.now(dialog) if key in row.keys), None)


Table: TypeAlias = tuple[Group[Any], ...]
"""All keys of a dialog, in the order of the help line."""


def row(
    keys: str, name: str, does: str, guard: Guard, do: Callable[[D, str], Effects | None]
) -> KeyRow[D]:
    """Return the row of some keys, which are named one after the other; `_` joins a chord."""
    names = tuple(keys.split())
    shown = "1-9" if keys == DIGITS else " ".join(map(_shown, names))
    return KeyRow(names, shown, name, does, guard, do)


def row_of(key: ActKey, do: Callable[[D, str], Effects | None]) -> KeyRow[D]:
    """Return the row of an act's key."""
    plain = row(key.key, key.label, key.means, key.guard, do)
    return KeyRow(plain.keys, plain.shown, plain.name, plain.does, plain.guard, do, key)


def group(theme: KeyTheme, when: Callable[[D], bool], *rows: KeyRow[D]) -> Group[D]:
    """Return rows that apply at the same moments."""
    return Group(theme, when, rows, keys_of(rows))


def keys_of(rows: Iterable[KeyRow[Any]]) -> frozenset[str]:
    """Return the keys of rows."""
    return frozenset(key for row in rows for key in row.keys)


def always(_: object) -> bool:
    """Whether rows apply that apply at each moment of their dialog."""
    return True


def _shown(name: str) -> str:
    """Return the key's name for people: ctrl-c for c-c."""
    return " ".join(
        _SHOWN.get(press) or press.replace("c-", "ctrl-", 1) for press in _presses(name)
    )


def terminal_keys(name: str) -> tuple[str, ...]:
    """Return the presses in a key's name, each as the terminal layer names it."""
    return (" ",) if name == "space" else _presses(name)


def _presses(name: str) -> tuple[str, ...]:
    """Return the presses of a chord; the `_` of `c-_` is a key itself."""
    return (name,) if name.endswith("_") else tuple(name.split("_"))


class Dialog(ScreenEffect):
    """What gets the keys while it lies on top of the stack; as an effect it is opened.

    `KEYS` is its table, in the order of the help line, the most needed first. `COVERS`: it is drawn
    in place of the card, by `content`. `FILLS`: it takes the whole screen. `ASKS`: it is a page
    that asks for a choice or a yes. `CHOOSES`: digits choose in it, and enter takes the marked row.
    `LETS_GO`: a click on a row of the view leaves it for that row.
    """

    KEYS: ClassVar[Table] = ()
    COVERS: ClassVar[bool] = False
    FILLS: ClassVar[bool] = False
    ASKS: ClassVar[bool] = False
    CHOOSES: ClassVar[bool] = False
    LETS_GO: ClassVar[bool] = False

    # What of it the screen asks for.

    number: int | None = None  # the card that it is about, where it asks for something
    doubt: Give | None = None  # the decision that waits for its second yes

    @property
    def enters(self) -> str:
        """What enter does now, in words, where the table cannot know it."""
        return ""

    @property
    def field(self) -> LineInput | TextInput | None:
        """What letters are typed into."""
        return None

    @property
    def listing(self) -> Listing[Any] | None:
        """The rows of the view, where that is not the queue."""
        return None

    def content(self) -> Content | None:
        """Return what is drawn in place of the card."""
        return None

    def shows(self, card: Card | None, marks: Marks) -> Sequence[Card]:
        """Return which are seen in it of the selected card and the marked cards."""
        del marks
        return () if card is None else (card,)

    def acts_on(self, card: Hashable, *, marked: bool) -> Hashable:
        """Return an identity of the view, for all that matters to a decision; None for no view.

        `card` tells the selected card from any other; the set of cards that a key decides is part
        of the view as well.
        """
        return None if card is None else (card, marked)

    # Its keys.

    def rows(self) -> list[KeyRow[Any]]:
        """Return the rows that apply now."""
        return [row for group in self.KEYS for row in group.now(self)]

    def row(self, key: str) -> KeyRow[Any] | None:
        """Return what a key does now."""
        rows = (group.row(self, key) for group in self.KEYS if key in group.keys)
        return next(filter(None, rows), None)

    def supposing(self, *, role: str | None = None, waits: bool = False) -> "Dialog":
        """Return the dialog as for someone of another role, or at a card that still waits."""
        del role, waits
        return self

    # What keys of many dialogs do.

    def move(self, step: int) -> Effects:
        """Go down a row, up with a negative step."""
        return (Look(lambda window: window.scroll(step)),)

    def far(self, step: int) -> Effects:
        """Go to the first row, or to the last."""
        return (Look(Detail.to_start if step < 0 else Detail.to_end),)

    # Opening and leaving it.

    def takes_place_of(self, top: "Dialog") -> bool:
        """Whether it is opened in place of what lies on top, not over it: one of its own kind."""
        return type(top) is type(self)

    def back(self) -> "Dialog | None":
        """Return what takes its place when it is left; None for the dialog below."""
        return None

    def closed(self) -> None:
        """Take in that it was left."""


@frozen
class Go(ScreenEffect):
    """Send keys to a dialog that is open, or to a page; without one, to the queue.

    A view closes all that is open. Another page is opened over the top.
    """

    page: type[Dialog] | None = None


def closes(*_: object) -> Effects:
    """Leave the dialog on top, and do nothing else."""
    return (Close(),)


class Stack:
    """The dialogs that are open; keys go to the top, and back leads one down."""

    def __init__(self) -> None:
        self._dialogs: list[Dialog] = []

    @property
    def dialogs(self) -> Sequence[Dialog]:
        """The stack as it stands, to `restore` it later."""
        return tuple(self._dialogs)

    def restore(self, dialogs: Sequence[Dialog]) -> None:
        """Let the stack be as it was."""
        self._dialogs = list(dialogs)

    @property
    def top(self) -> Dialog:
        """The dialog that gets the keys."""
        return self._dialogs[-1]

    @property
    def view(self) -> Dialog:
        """The view at the bottom."""
        return self._dialogs[0]

    @property
    def below(self) -> Dialog:
        """The dialog under the top; at the bottom the view itself."""
        return self._dialogs[-2:][0]

    def open(self, dialog: Dialog) -> None:
        """Put a dialog on top, or in place of the top."""
        if self._dialogs and dialog.takes_place_of(self.top):
            self._close(len(self._dialogs) - 1)
        self._dialogs.append(dialog)

    def begin(self, *dialogs: Dialog) -> None:
        """Close all, then open these, a view at their bottom."""
        self._close(0)
        self._dialogs = list(dialogs)

    def back(self) -> None:
        """Leave the top; the last view stays."""
        instead = self.top.back()
        if instead is not None or len(self._dialogs) > 1:
            self._close(len(self._dialogs) - 1)
        if instead is not None:
            self._dialogs.append(instead)

    def back_to(self, kind: type[Dialog]) -> bool:
        """Close what lies over a dialog of this kind; return whether there is one."""
        kinds = [type(dialog) for dialog in self._dialogs]
        if kind in kinds:
            self._close(kinds.index(kind) + 1)
        return kind in kinds

    def _close(self, height: int) -> None:
        """Close the dialogs above that height."""
        for dialog in self._dialogs[height:]:
            dialog.closed()
        del self._dialogs[height:]
