"""One row of the table of keys, and rows that belong together.

A key is named as prompt_toolkit names it; keys pressed one after the other
are joined by `_`.
"""

from dataclasses import dataclass

from crabhook.ui.full.act import Act
from crabhook.ui.full.filters import When

_SHOWN = {
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "tab": "tab",
    "s-tab": "shift-tab",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}


@dataclass(frozen=True, slots=True)
class Key:
    """One row of the table.

    `shown` is what a person calls the key, `name` what the help line says (a
    row without one is left to the help page), `does` the help page's words.
    """

    keys: tuple[str, ...]
    shown: str
    name: str
    does: str
    act: Act
    when: When


@dataclass(frozen=True, slots=True)
class Group:
    """Keys of one theme.

    On the help page a group without a title goes on with the one before it,
    and those to know first come first.
    """

    title: str
    keys: tuple[Key, ...]
    first: bool = False


def group(title: str, when: When, *rows: tuple[str, str, str, Act]) -> Group:
    """Return a group of keys that apply at the same moments."""
    return Group(title, tuple(_key(when, *row) for row in rows))


def first_group(title: str, *rows: tuple[When, str, str, str, Act]) -> Group:
    """Return a group of keys to know first, each with moments of its own."""
    return Group(title, tuple(_key(*row) for row in rows), first=True)


def _key(when: When, keys: str, name: str, does: str, act: Act) -> Key:
    names = tuple(keys.split())
    digits = len(names) == 9 and names[0] == "1"
    shown = "1-9" if digits else " ".join(map(_shown, names))
    return Key(names, shown, name, does, act, when)


def _shown(name: str) -> str:
    """Return what a person calls a key: ctrl-c for c-c."""
    return " ".join(_SHOWN.get(one) or one.replace("c-", "ctrl-", 1) for one in _presses(name))


def terminal_keys(name: str) -> tuple[str, ...]:
    """Return the presses a key's name stands for, each as the terminal layer names it."""
    return (" ",) if name == "space" else _presses(name)


def _presses(name: str) -> tuple[str, ...]:
    """Return the presses of a chord; the sign `_` itself is one of `c-_`."""
    return (name,) if name.endswith("_") else tuple(name.split("_"))
