"""What an agent's settings put into the environment of its hooks, and what that does to ours.

A project's settings may hold an `env` too.  An installed hook names its server,
its patience and its token's file itself, so that none of this moves it; hooks of
an older version, and what the linker is told, are another matter.
"""

from collections.abc import Iterable, Iterator, Mapping

MOVES: Mapping[str, str] = {
    "CRABHOOK_SERVER": "a hook that names no server asks this one",
    "XDG_RUNTIME_DIR": "a hook that names no server looks for its socket here",
    "CRABHOOK_TOKEN": "a hook with no token file shows this, and with a wrong one asks nobody",
    "CRABHOOK_WAIT": "a hook that names no time waits so long",
    "CRABHOOK_WHEN_UNREACHABLE": "it says what a hook does that reaches nobody",
    "CRABHOOK_WHEN_LOST": "it says what a hook does that loses its server",
    "LD_PRELOAD": "its code runs in every hook, and can answer for it",
    "LD_LIBRARY_PATH": "code from there runs in every hook, and can answer for it",
    "DYLD_INSERT_LIBRARIES": "its code runs in every hook, and can answer for it",
    "DYLD_LIBRARY_PATH": "code from there runs in every hook, and can answer for it",
}
"""A variable, and what it does to a hook of ours that does not say otherwise itself."""


def moves(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield those of the variables that have a say in our hooks, each with what it does."""
    for name in names:
        if name in MOVES:
            yield name, MOVES[name]
