"""One row of the table of keys, and groups of rows; `_` joins the keys of a chord."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias, TypeVar

from crabhook.datatypes import frozen
from crabhook.desk.acts import Act, ActKey, Guard
from crabhook.model.decision import Decision
from crabhook.ui.full.effects import Effect, Effects
from crabhook.ui.full.filters import Filter, Mode
from crabhook.ui.full.screen import Screen

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


_Part = TypeVar("_Part")
Handler: TypeAlias = Callable[[Screen, str], Effects | None]


@frozen
class Key:
    """One row of the table.

    `shown` is the key's name for people. The help line shows `name` (rows without a name are only
    on the help page), the help page shows `does`. `do` gets the screen and the key; `guard` says
    when. `act`: the act that it does, if it is one; `leads`: the decision about the selected card
    that it gives or ends in, where that may be stricter than a held one.
    """

    keys: tuple[str, ...]
    shown: str
    name: str
    does: str
    guard: Guard
    do: Handler
    when: Filter
    act: Act | None = None
    leads: Decision | None = None


@frozen
class Group:
    """Keys of one theme.

    A group without a title continues the group before it on the help page.
    """

    title: str
    keys: tuple[Key, ...]
    first: bool = False


def group(title: str, when: Filter, *rows: tuple[str, str, str, Guard, Handler]) -> Group:
    """Return a group of keys that apply at the same moments."""
    return Group(title, tuple(_key(when, *row) for row in rows))


def of_act(key: ActKey, when: Filter, do: Handler) -> Key:
    """Return the row of an act's key."""
    row = _key(when, key.key, key.label, key.means, key.guard, do)
    return replace(row, act=key.act, leads=key.leads)


def _key(  # noqa: PLR0913, PLR0917 - the columns of a row
    when: Filter, keys: str, name: str, does: str, guard: Guard, do: Handler
) -> Key:
    names = tuple(keys.split())
    digits = len(names) == 9 and names[0] == "1"
    shown = "1-9" if digits else " ".join(map(_shown, names))
    return Key(names, shown, name, does, guard, do, when)


def _shown(name: str) -> str:
    """Return the key's name for people: ctrl-c for c-c."""
    return " ".join(_SHOWN.get(one) or one.replace("c-", "ctrl-", 1) for one in _presses(name))


def terminal_keys(name: str) -> tuple[str, ...]:
    """Return the presses in a key's name, each as the terminal layer names it."""
    return (" ",) if name == "space" else _presses(name)


def _presses(name: str) -> tuple[str, ...]:
    """Return the presses of a chord; the `_` of `c-_` is a key itself."""
    return (name,) if name.endswith("_") else tuple(name.split("_"))


def does(effect: Effect) -> Handler:
    """Return the handler that has the same effect in every view."""
    return lambda *_: (effect,)


def by(do: Callable[[Screen, _Part], Effects | None], to: _Part) -> Handler:
    """Return the handler that moves the screen by a step, or to a view."""
    return lambda screen, _: do(screen, to)


def _at(
    part: Callable[[Screen], _Part | None],
) -> Callable[[Callable[[Screen, _Part], Effects | None]], Handler]:
    """Return a function that makes handlers for one part of the screen, and the screen."""

    def handler(do: Callable[[Screen, _Part], Effects | None]) -> Handler:
        return lambda screen, _: None if (found := part(screen)) is None else do(screen, found)

    return handler


def _on(
    part: Callable[[Screen], _Part | None],
) -> Callable[[Callable[[_Part], Effects | None]], Handler]:
    """Return a function that makes handlers for one part of the screen alone."""
    return lambda do: _at(part)(lambda _, found: do(found))


def visits(mode: Mode) -> Handler:
    """Return the handler that sends keys to a mode, to come back from there."""
    return focus(lambda focus: focus.visit(mode))


screen = _on(lambda screen: screen)
focus = _on(lambda screen: screen.focus)
typing = _on(lambda screen: screen.focus.typing)
finder = _on(lambda screen: screen.focus.finder)
card = _on(lambda screen: screen.card)
form = _on(lambda screen: screen.form)
filling = _on(lambda screen: screen.filling)
plan = _on(lambda screen: screen.plan)
session = _on(lambda screen: screen.sessions.chosen)
at_card = _at(lambda screen: screen.card)
at_edit = _at(lambda screen: screen.focus.edit)
at_session = _at(lambda screen: screen.sessions.chosen)
at_entry = _at(lambda screen: screen.history.chosen)
