"""Arguments of several commands: times as people write them, and the owner's rules.

Rules are in files here, or as documents in a record that servers share. A change of a shared
document is a proposal to the writing server. With a team, its authority signs the proposal, with a
key that a person's passphrase opens.
"""

import argparse
import getpass
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from socket import gethostname
from time import time
from typing import TypeAlias

from crabhook import config
from crabhook.app.places import rule_files
from crabhook.cli.terminal import agrees
from crabhook.model.actor import Actor
from crabhook.model.errors import CrabhookError
from crabhook.rulebook.files import RULES, TRUSTED, RuleFiles, RulesError, read_text, write_text
from crabhook.store.interface import NoRecordError, Proposal
from crabhook.store.opening import Place, is_shared, open_history, propose
from crabhook.store.record import Document, iso
from crabhook.team.folder import TEAM, Folder, TeamError, private
from crabhook.ui.console import say

Sign: TypeAlias = Callable[[bytes], bytes]

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def when(text: str) -> str:
    """Return a past time as the record writes it; what has no zone is meant in this machine's."""
    if text[:-1].isdigit() and text[-1:] in _UNITS:
        try:
            ago = timedelta(**{_UNITS[text[-1]]: int(text[:-1])})
            return iso((datetime.now(UTC) - ago).timestamp())
        except (OverflowError, ValueError):
            why = f"{text!r} is longer ago than there are years"
            raise argparse.ArgumentTypeError(why) from None
    today = datetime.now().astimezone().date().isoformat()
    for written in (f"{today}T{text}", text):
        try:
            return iso(datetime.fromisoformat(written).timestamp())
        except ValueError:
            continue
    raise argparse.ArgumentTypeError(
        f"{text!r} is no time: write 2026-01-31, 2026-01-31T10:00, 10:00 or 2h"
    )


def moment(text: str) -> datetime:
    """Return the time at which a rule ends; what has no zone is meant in UTC."""
    try:
        ends = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no date and time") from None
    return ends if ends.tzinfo else ends.replace(tzinfo=UTC)


def count(text: str) -> int:
    """Return a number of things, 0 or more."""
    try:
        return max(0, int(text))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from None


class SharedDocuments:
    """The documents as they were when the command began, as `rulebook.files.SharedTexts` too."""

    where = "the shared record"

    def __init__(self, place: Place) -> None:
        """Raises StoreError if the record is unreadable."""
        self.place = place
        with open_history(place) as history:
            self.known = dict(history.documents())

    def get(self, name: str) -> Document:
        """Return a document; raises CrabhookError if no server has begun it."""
        if (document := self.known.get(name)) is None:
            raise CrabhookError(
                f"{self.where} has no {name} yet: the first server that writes it gives those of "
                "its machine"
            )
        return document

    def read(self, name: str) -> str:
        """Return the text of a document."""
        return self.get(name).text

    def edition(self, name: str) -> object:
        """Return a text that differs for each version."""
        return self.get(name).version

    def write(self, name: str, text: str, by: Actor) -> None:  # noqa: ARG002 - a person, always
        """Replace the text that was read; raises CrabhookError."""
        self.put(name, text)

    def put(self, name: str, text: str, sign: Sign | None = None) -> Document:
        """Replace the text that was read; raises CrabhookError.

        `sign` is the team's authority, if it is open already. A team's file needs none.
        """
        before, who = self.get(name), (getpass.getuser(), gethostname())
        sign = sign or (None if name == TEAM else self._sign)
        if sign:
            who = _operator_here() or who
        asked = Proposal(secrets.token_hex(16), name, before.version, text, *who)
        if sign:
            asked = replace(asked, signature=sign(asked.signed))
        if why := propose(self.place, asked):
            raise CrabhookError(f"{why}: nothing was changed")
        self.known[name] = replace(before, version=before.version + 1, text=text, by="you")
        return self.known[name]

    @property
    def takes_a_passphrase(self) -> bool:
        """Whether a team's authority must sign changes."""
        return Folder(config.team_folder()).exists

    @cached_property
    def _sign(self) -> Sign | None:
        """Return the signer; the passphrase is asked for once."""
        if not self.takes_a_passphrase:
            return None
        from crabhook.cli.team.asking import with_passphrase, yours  # it needs cryptography
        from crabhook.team.team_file import authority_of, team_in  # likewise

        folder = Folder(config.team_folder())
        return with_passphrase(yours(team_in(folder).name), partial(authority_of, folder)).sign


def _operator_here() -> tuple[str, str] | None:
    """Return the ids of the operator and device whose team keys are on this machine."""
    from crabhook.team.desk_keys import desk_of  # it needs cryptography
    from crabhook.team.membership import Principal  # likewise
    from crabhook.team.team_file import team_in  # likewise

    team = team_in(Folder(config.team_folder()))
    with suppress(TeamError):
        certificate = private(desk_of(config.config_folder(), team.id).path / "device.pem")
        principal = team.identify(certificate, time())
        if isinstance(principal, Principal):
            return principal.operator, principal.device
    return None


def rules_in_force() -> RuleFiles:
    """Return the owner's rules: from the record that servers share, or else from files."""
    shared = _documents_with(RULES)
    return replace(
        rule_files(), shared=shared, signed=shared is not None and shared.takes_a_passphrase
    )


def _documents_with(name: str) -> SharedDocuments | None:
    """Return the documents of the shared record, if it has a document of this name."""
    place = config.record_place()
    if not is_shared(place):
        return None
    with suppress(NoRecordError):
        there = SharedDocuments(place)
        return there if name in there.known else None
    return None


def shared_place(place: Place | None = None, how: str = "") -> Place:
    """Return a record's place, else that in the settings; raises CrabhookError."""
    place = place or config.record_place()
    if not is_shared(place):
        raise CrabhookError(
            f"no store that servers share is named here. Name it {how}in "
            f"{config.config_folder() / 'settings.toml'}, "
            '[record] store = "postgresql://USER@HOST/DATABASE", and run this again. A server '
            "without a shared store reads the files of its own machine"
        )
    return place


def team_on_record() -> SharedDocuments | None:
    """Return the documents of the record that servers share, where there is a team among them."""
    return _documents_with(TEAM)  # a team may be founded before the first server begins


def say_whose(files: RuleFiles) -> None:
    """Say which rules are used, if not the files of this machine."""
    if files.shared:
        say(f"By the {files.where(RULES)}:")


def push_rules(arguments: argparse.Namespace) -> int:
    """Put this machine's files in the place of the rules that servers share; return 0."""
    there, changed = _differing(arguments.store)
    for name, (path, text) in changed.items():
        _show(there.get(name).text, text, _named(there.get(name)), str(path))
    if not changed:
        say(f"The rules in {there.where} are the rules of this machine: there is nothing to do.")
        return 0
    if not arguments.yes:
        _agreed(f"Put this in {there.where}, for all its servers?")
    elif not there.takes_a_passphrase:
        raise CrabhookError(
            "--yes takes the passphrase of a team's authority, and no team is here: answer at a "
            "terminal, without --yes"
        )
    for name, (_, text) in changed.items():
        now = there.put(name, text)
        say(f"{name} in {there.where} is of version {now.version} now, and in force.")
    return 0


def pull_rules(arguments: argparse.Namespace) -> int:
    """Put the rules that servers share in the place of this machine's files; return 0."""
    there, changed = _differing(arguments.store)
    for name, (path, text) in changed.items():
        _show(text, there.read(name), str(path), _named(there.get(name)))
    if not changed:
        say(f"The files of this machine are as the rules in {there.where}: there is nothing to do.")
        return 0
    if not arguments.yes or _widens(there, changed):
        from crabhook.cli.consent import consent  # it reads rules

        consent(rule_files(), [], "Write this into the files of this machine?")
    for name, (path, _) in changed.items():
        write_text(path, there.read(name))
        say(f"{path} is as {name} in {there.where}, version {there.get(name).version}.")
    return 0


def _widens(there: SharedDocuments, changed: Mapping[str, tuple[Path, str]]) -> bool:
    """Whether the shared texts let more happen than those of this machine."""
    from crabhook.policy.rulefile import read_rules  # slow, as is the next
    from crabhook.rulebook.edit import widening

    if TRUSTED in changed:
        return True
    _, text = changed[RULES]
    with suppress(CrabhookError):
        return bool(widening(read_rules(text, RULES), read_rules(there.read(RULES), RULES)))
    return True  # what nobody can read may have denied anything


def _differing(place: Place | None) -> tuple[SharedDocuments, Mapping[str, tuple[Path, str]]]:
    """Return the shared documents, and this machine's files of another text, each with its text."""
    there, files = SharedDocuments(shared_place(place, "in --store, or ")), rule_files()
    own = {RULES: files.user, TRUSTED: files.trusted}
    here = {name: (path, read_text(path)) for name, path in own.items()}
    return there, {
        name: path_and_text
        for name, path_and_text in here.items()
        if path_and_text[1] != there.read(name)
    }


def _named(document: Document) -> str:
    return f"{document.name}, version {document.version}, by {document.by}"


def _show(old: str, new: str, old_name: str, new_name: str) -> None:
    """Print the difference between two texts."""
    import difflib  # for push and pull alone

    lines = (old.splitlines(), new.splitlines())
    for line in difflib.unified_diff(*lines, old_name, new_name, lineterm=""):
        say(line)


def _agreed(question: str) -> None:
    if not agrees(question):
        raise RulesError("nothing was changed")
