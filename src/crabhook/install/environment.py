"""What an agent's settings put into the environment of its hooks, and what that does to ours.

A project's settings may hold an `env` too.  An installed hook names its server and its
patience itself, and its Python by an absolute path with `-I -S` and no shell, so most
variables have no say in it.  A hook that an older version or a person wrote is another
matter, and so is what the linker is told.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum


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


_BY_REACH: Mapping[Reach, Mapping[str, str]] = {
    Reach.UNSAID: {
        "CRABHOOK_SERVER": "a hook that names no server asks this one",
        "XDG_RUNTIME_DIR": "a hook that names no server looks for its socket here",
        "CRABHOOK_TOKEN": "a hook with no token file shows this, and with a wrong one asks nobody",
        "CRABHOOK_WAIT": "a hook that names no time waits so long",
        "CRABHOOK_WHEN_UNREACHABLE": (
            "a hook without --fail-closed does this where it reaches nobody"
        ),
        "CRABHOOK_WHEN_LOST": "a hook without --fail-closed does this where it loses its server",
    },
    Reach.EVERY: {
        "LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES": (
            "its code runs in every hook, and can answer for it"
        ),
        "LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH": (
            "code from there runs in every hook, and can answer for it"
        ),
    },
    Reach.SEARCHED: {
        "PATH": "a hook whose program is not an absolute path may start another program",
    },
    Reach.PYTHON: {
        "PYTHONPATH PYTHONHOME PYTHONPLATLIBDIR PYTHONUSERBASE PYTHONPYCACHEPREFIX": (
            "a hook whose Python is started without -I takes modules from there"
        ),
        "PYTHONWARNINGS": "a hook whose Python is started without -I may import what it names",
    },
    Reach.SHELL: {
        "BASH_ENV": "a hook that goes through bash runs this file first",
        "ENV": "a hook that goes through a ksh may run this file first",
    },
}
"""The variables by which hooks they reach, those with the same effect with blanks between them."""

MOVES: Mapping[str, Move] = {
    name: Move(name, reach, effect)
    for reach, effects in _BY_REACH.items()
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
