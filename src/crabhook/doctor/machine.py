"""What the doctor looks at on this machine whatever the agent is."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from crabhook import config
from crabhook.doctor.facts import Case, Wish
from crabhook.install import program


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine, for one wish.

    `guarded` are the files and folders that nobody else may write: who can
    decides for the owner.
    """

    wish: Wish
    guarded: Sequence[Path]


def machine(wish: Wish, cases: Iterable[Case]) -> Machine:
    """Return this machine as the cases use it."""
    places: dict[Path, None] = {}
    for place in _deciding(cases):
        for one in (place, *place.parents):
            if os.path.lexists(one):
                places[one] = None
    return Machine(wish, tuple(places))


def _deciding(cases: Iterable[Case]) -> Iterator[Path]:
    """Yield the files whose writer decides: rules, settings, the programs that are started."""
    folder = config.config_folder()
    yield from (folder / name for name in ("settings.toml", "rules.toml", "trusted.toml"))
    yield config.state_folder() / "passphrase"
    yield Path(program.stub())
    for case in cases:
        for settings in case.hooked:
            yield settings.path
        for one in case.programs:
            yield from (Path(word) for word in (one.interpreter, one.stub) if word.startswith("/"))
