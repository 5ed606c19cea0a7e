"""Passphrases, typed by a person on the terminal itself, and read from nowhere else."""

from collections.abc import Callable
from typing import TypeVar

from crabhook.cli.terminal import ask
from crabhook.model.errors import CrabhookError
from crabhook.team.certificates import WrongPassphraseError, fair

TRIES = 3

T = TypeVar("T")


class PassphrasesError(CrabhookError):
    """Nobody typed the passphrase; nothing was changed."""


def new_passphrase(prompt: str) -> str:
    """Return a passphrase that was typed twice; raises CrabhookError for a poor one."""
    new = fair(ask(prompt))
    if fair(ask("The same again: ")) != new:
        raise PassphrasesError("the two differ; nothing was changed")
    return new


def with_passphrase(prompt: str, opened: Callable[[str], T]) -> T:
    """Return what a passphrase opens, which is asked for three times at most."""
    for left in reversed(range(TRIES)):
        try:
            return opened(ask(prompt))
        except WrongPassphraseError:
            prompt = f"That is not it ({left} more).  {prompt.rpartition('.  ')[2]}"
    raise PassphrasesError(f"{TRIES} wrong passphrases; nothing was changed")
