"""The program of a hook: this interpreter, its stub, and the environment from settings.

A project's settings may have an `env`. An installed hook has its server and its timeout as options,
and its Python by an absolute path with `-I -S` and no shell. So most variables do not affect it.
They do affect hooks of older versions or written by hand, and the dynamic linker.
"""

import compileall
import importlib.util
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path

from crabhook.data_files import tables
from crabhook.datatypes import frozen
from crabhook.model.errors import InstallError

# A folder in the interpreter's path -> what is wrong with writing it into settings.
_FRAGILE = {
    "shims": "is a version manager's shim, which costs ten starts of Python at every call",
    "archive-v0": "lies in uv's cache and may be cleared away: install crabhook for good",
}


def interpreter() -> str:
    """Return the absolute path of the Python that a hook starts; raises InstallError.

    Of a virtual environment it is the Python that the environment was made with. That Python is
    still there where pipx or uv removed the environment, so that the hook can end in silence; a
    program that is gone is an error at each of the agent's events. Links are not followed: the name
    `python3` outlives an upgrade.
    """
    if not sys.executable:
        raise InstallError("Python does not know its own path, so no hook can name it")
    made_with = Path(getattr(sys, "_base_executable", None) or sys.executable).absolute()
    return str(made_with if made_with.is_file() else Path(sys.executable).absolute())


def interpreters() -> tuple[Path, ...]:
    """Return every path by which a hook of this installation may name its Python."""
    return Path(interpreter()), Path(sys.executable).absolute()


def own_command(*words: str) -> list[str]:
    """Return a command of this very crabhook, as isolated as this process is.

    It ignores the current folder. It ignores Python's variables where this process ignores them:
    otherwise they may be how Python finds crabhook.
    """
    isolated = ("-E",) if sys.flags.ignore_environment else ()
    return [sys.executable, *isolated, "-P", "-m", "crabhook", *words]


def stub() -> str:
    """Return the absolute path of the hook's stub, `crabhook/hook/run.py`, without importing it."""
    path = _hook_folder() / "run.py"
    if not path.is_file():
        raise InstallError(f"crabhook's installation is not complete: there is no {path}")
    return str(path)


def compile_hook() -> bool:
    """Byte-compile a hook's imports, since some installers do not; return whether that worked.

    In a read-only folder it does not, and every hook call compiles again: slower, but correct.
    """
    folder = _hook_folder()
    package = folder.parent / "__init__.py"
    done = compileall.compile_file(package, quiet=2)
    return bool(compileall.compile_dir(folder, quiet=2) and done)


def is_compiled() -> bool:
    """Whether all imports of a hook are byte-compiled, as `compile_hook` does."""
    folder = _hook_folder()
    files = (folder.parent / "__init__.py", *folder.glob("*.py"))
    return all(Path(importlib.util.cache_from_source(str(file))).is_file() for file in files)


def misgivings(path: str) -> Iterator[str]:
    """Yield the reasons against this interpreter's path in settings."""
    for folder, trouble in _FRAGILE.items():
        if folder in Path(path).parts:
            yield f"{path} {trouble}"


def unshared(*files: str) -> Iterator[str]:
    """Yield why other users cannot run these files, or why a user could change them for all.

    Managed settings are for everybody: a user without read access has no hook, and a user with
    write access decides for all.
    """
    for file in files:
        for place, about in _way_to(file):
            if not about.st_mode & (stat.S_IXOTH if place.is_dir() else stat.S_IROTH):
                yield f"other users cannot get to {file} by {place}, so for them no hook runs"
                break
            if _not_roots_alone(about):
                yield f"not only root can write {place}: who can decides for every user"
                break


def replaceable(file: str) -> Path | None:
    """Return by which place on the way to a file others than root can replace it; None for none."""
    return next((place for place, about in _way_to(file) if _not_roots_alone(about)), None)


def _way_to(file: str) -> Iterator[tuple[Path, os.stat_result]]:
    for place in (Path(file), *Path(file).parents):
        with suppress(OSError):
            yield place, place.stat()


def _not_roots_alone(about: os.stat_result) -> bool:
    return bool(about.st_uid or (about.st_mode & 0o022 and not about.st_mode & stat.S_ISVTX))


def _hook_folder() -> Path:
    spec = importlib.util.find_spec("crabhook.hook")
    folders = list(spec.submodule_search_locations or []) if spec else []
    if not folders:
        raise InstallError("crabhook's installation is not complete: its hook client is missing")
    return Path(folders[0]).absolute()


class AffectedHooks(Enum):
    """Which hooks a variable affects."""

    EVERY = "every hook that is a program"
    UNSAID = "a hook that does not say this itself"
    SEARCHED = "a hook whose program is not an absolute path"
    PYTHON = "a hook whose Python is started without -I"
    SHELL = "a hook that is a line for a shell, or goes through one"


@frozen
class Move:
    """A variable, the hooks that it affects, and its effect."""

    name: str
    reach: AffectedHooks
    effect: str


MOVES: Mapping[str, Move] = {
    name: Move(name, AffectedHooks[reach], effect)
    for reach, effects in tables(__file__, "environment").items()
    for names, effect in effects.items()
    for name in names.split()
}
"""Every variable that affects a hook.

PYTHONSTARTUP is not here: only an interactive Python reads it.
"""

_FUNCTION = "BASH_FUNC_"


def moves(names: Iterable[str]) -> Iterator[Move]:
    """Yield the variables that affect a hook, each with its effect."""
    for name in names:
        if name in MOVES:
            yield MOVES[name]
        elif name.startswith(_FUNCTION):
            effect = "a hook that goes through bash may run this function for a program's name"
            yield Move(name, AffectedHooks.SHELL, effect)
