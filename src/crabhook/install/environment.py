"""What an agent's settings put into the environment of its hooks, and what that does to ours.

A project's settings may hold an `env` too.  An installed hook names its server and its
patience itself, and its Python by an absolute path with `-I -S` and no shell, so most
variables have no say in it.  A hook that an older version or a person wrote is another
matter, and so is what the linker is told.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from crabhook.tables import tables


class Reach(Enum):
    """Which hooks a variable has a say in."""

    EVERY = "every hook that is a program"
    UNSAID = "a hook that does not say this itself"
    SEARCHED = "a hook whose program is not an absolute path"
    PYTHON = "a hook whose Python is started without -I"
    SHELL = "a hook that is a line for a shell, or goes through one"


@dataclass(frozen=True, slots=True)
class Move:
    """A variable, the hooks that it reaches, and what it does to those."""

    name: str
    reach: Reach
    effect: str


MOVES: Mapping[str, Move] = {
    name: Move(name, Reach[reach], effect)
    for reach, effects in tables(__file__, "environment").items()
    for names, effect in effects.items()
    for name in names.split()
}
"""Every variable that has a say in some hook.

PYTHONSTARTUP is not among them: a Python that is not interactive never reads it.
"""

_FUNCTION = "BASH_FUNC_"


def moves(names: Iterable[str]) -> Iterator[Move]:
    """Yield those of the variables that have a say in some hook, each with what it does."""
    for name in names:
        if name in MOVES:
            yield MOVES[name]
        elif name.startswith(_FUNCTION):
            effect = "a hook that goes through bash may run this function for a program's name"
            yield Move(name, Reach.SHELL, effect)
