"""`crabhook passphrase`: set, change or remove the passphrase that `crabhook away` asks for."""

import argparse
from pathlib import Path

from crabhook import config
from crabhook.cli.presence import reporting
from crabhook.cli.unseen import ask
from crabhook.server.passphrase import NAME, Passphrase, PassphraseError, keep, load, remove

_NEXT_START = (
    "It counts from the server's next start: one that runs goes on with what it read at its own."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare that it may be removed, too."""
    parser.add_argument("--remove", action="store_true", help="keep no passphrase any more")


def run(arguments: argparse.Namespace) -> int:
    """Do it; return 0, or 1 with the reason on standard error and nothing changed."""
    act = _remove if arguments.remove else _set
    return reporting("passphrase", lambda: act(config.state_folder() / NAME))


def _set(path: Path) -> str:
    changed = _ask_for_the_old(path)
    new = ask("New passphrase: ")
    kept = Passphrase.of(new)
    if ask("The same again: ") != new:
        raise PassphraseError("the two differ; nothing was changed")
    keep(path, kept)
    return f"The passphrase is {'changed' if changed else 'set'}.  {_NEXT_START}"


def _remove(path: Path) -> str:
    if not _ask_for_the_old(path):
        return "There is no passphrase; nothing was changed."
    remove(path)
    return f"The passphrase is removed.  {_NEXT_START}"


def _ask_for_the_old(path: Path) -> bool:
    """Return whether there is one; raises PassphraseError if it is not known to who types."""
    old = load(path)
    if old is None:
        return False
    if not old.matches(ask("Old passphrase: ")):
        raise PassphraseError("that is not the passphrase; nothing was changed")
    return True
