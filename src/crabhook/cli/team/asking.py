"""Passphrases, typed by a person on the terminal itself, and read from nowhere else."""

import ctypes
import resource
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from crabhook.cli.terminal import ask
from crabhook.model.errors import CrabhookError
from crabhook.team.certificates import (
    SHORTEST,
    CertificateError,
    WrongPassphraseError,
    fair,
    normal,
)
from crabhook.ui.text.safe import safe

TRIES = 3
NEW = f"Your new passphrase, {SHORTEST} characters or more: "
AGAIN = "The same again: "

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


def yours(team: str) -> str:
    """Return the prompt for the passphrase that a person chose when they founded or joined a team.

    The founder of a team has the same passphrase for the team and for their own desk.
    """
    return f"Your passphrase for the team {safe(team)}: "


def new_passphrase() -> str:
    """Return a passphrase that was typed twice the same, which is asked for three times at most."""
    unread_by_others()
    prompt = NEW
    for left in reversed(range(TRIES)):
        try:
            new = fair(ask(prompt))
            if normal(ask(AGAIN)) == new:
                return new
            why = "The two differ"
        except CertificateError as error:
            why = f"{str(error)[0].upper()}{str(error)[1:]}"
        prompt = f"{why} ({left} more).  {NEW}"
    raise PassphrasesError(f"no passphrase was chosen in {TRIES} tries; nothing was changed")


def with_passphrase(prompt: str, opened: Callable[[str], T]) -> T:
    """Return what a passphrase opens, which is asked for three times at most."""
    unread_by_others()
    for left in reversed(range(TRIES)):
        try:
            return opened(ask(prompt))
        except WrongPassphraseError:
            prompt = f"That is not it ({left} more).  {prompt.rpartition('.  ')[2]}"
    raise PassphrasesError(f"{TRIES} wrong passphrases; nothing was changed")
