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


_MODULES = "a hook whose Python is started without -I takes modules from there"
_LINKER = "code from there runs in every hook, and can answer for it"

MOVES: Mapping[str, Move] = {
    one.name: one
    for one in (
        Move("CRABHOOK_SERVER", Reach.UNSAID, "a hook that names no server asks this one"),
        Move(
            "XDG_RUNTIME_DIR",
            Reach.UNSAID,
            "a hook that names no server looks for its socket here",
        ),
        Move(
            "CRABHOOK_TOKEN",
            Reach.UNSAID,
            "a hook with no token file shows this, and with a wrong one asks nobody",
        ),
        Move("CRABHOOK_WAIT", Reach.UNSAID, "a hook that names no time waits so long"),
        Move(
            "CRABHOOK_WHEN_UNREACHABLE",
            Reach.UNSAID,
            "a hook without --fail-closed does this where it reaches nobody",
        ),
        Move(
            "CRABHOOK_WHEN_LOST",
            Reach.UNSAID,
            "a hook without --fail-closed does this where it loses its server",
        ),
        Move("LD_PRELOAD", Reach.EVERY, "its code runs in every hook, and can answer for it"),
        Move("LD_AUDIT", Reach.EVERY, "its code runs in every hook, and can answer for it"),
        Move("LD_LIBRARY_PATH", Reach.EVERY, _LINKER),
        Move(
            "DYLD_INSERT_LIBRARIES",
            Reach.EVERY,
            "its code runs in every hook, and can answer for it",
        ),
        Move("DYLD_LIBRARY_PATH", Reach.EVERY, _LINKER),
        Move("DYLD_FRAMEWORK_PATH", Reach.EVERY, _LINKER),
        Move(
            "PATH",
            Reach.SEARCHED,
            "a hook whose program is not an absolute path may start another program",
        ),
        Move("PYTHONPATH", Reach.PYTHON, _MODULES),
        Move("PYTHONHOME", Reach.PYTHON, _MODULES),
        Move("PYTHONPLATLIBDIR", Reach.PYTHON, _MODULES),
        Move("PYTHONUSERBASE", Reach.PYTHON, _MODULES),
        Move("PYTHONPYCACHEPREFIX", Reach.PYTHON, _MODULES),
        Move(
            "PYTHONWARNINGS",
            Reach.PYTHON,
            "a hook whose Python is started without -I may import what it names",
        ),
        Move("BASH_ENV", Reach.SHELL, "a hook that goes through bash runs this file first"),
        Move("ENV", Reach.SHELL, "a hook that goes through a ksh may run this file first"),
    )
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
