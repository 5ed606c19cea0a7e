"""Passphrases, typed by a person on the terminal itself, and read from nowhere else."""

import ctypes
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from crabhook.cli.terminal import ask
from crabhook.model.errors import CrabhookError
from crabhook.team.certificates import WrongPassphraseError, fair

TRIES = 3

T = TypeVar("T")


class PassphrasesError(CrabhookError):
    """Nobody typed the passphrase; nothing was changed."""


_SET_DUMPABLE = 4  # prctl's, of Linux alone


def unread_by_others() -> None:
    """Let no other process of this user read our memory, and no core be written, from now on.

    Where the system has no such thing, we go on without: SECURITY.md says so.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0, 0, 0, 0)


def new_passphrase(prompt: str) -> str:
    """Return a passphrase that was typed twice; raises CrabhookError for a poor one."""
    unread_by_others()
    new = fair(ask(prompt))
    if fair(ask("The same again: ")) != new:
        raise PassphrasesError("the two differ; nothing was changed")
    return new


def with_passphrase(prompt: str, opened: Callable[[str], T]) -> T:
    """Return what a passphrase opens, which is asked for three times at most."""
    unread_by_others()
    for left in reversed(range(TRIES)):
        try:
            return opened(ask(prompt))
        except WrongPassphraseError:
            prompt = f"That is not it ({left} more).  {prompt.rpartition('.  ')[2]}"
    raise PassphrasesError(f"{TRIES} wrong passphrases; nothing was changed")
