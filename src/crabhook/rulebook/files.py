"""The rule files on the disk: the user's own, projects', and the list of trusted projects.

A project's file has no effect until the user has trusted its exact bytes.
"""

import hashlib
import tomllib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from crabhook.datatypes import frozen
from crabhook.model.actor import OWNER, Actor, Operator
from crabhook.model.errors import CrabhookError
from crabhook.model.wording import who
from crabhook.policy.paths import normal
from crabhook.policy.rule import RuleFileError, RuleSet, Trust
from crabhook.rulebook.receipts import ChangeReceipt, ChangeReceipts, ReceiptError, digest_of_text
from crabhook.safe_open import read_own, write_own
from crabhook.store.actors import actor_data

if TYPE_CHECKING:
    from crabhook.policy.evaluate import Policy
    from crabhook.policy.protected import Protected

PROJECT_FILE = ".crabhook/rules.toml"
LARGEST = 1 << 20  # bytes of a rule file: ten thousand rules


@frozen
class Trusted:
    """A user's word on one project's file: these bytes, in this folder, this far."""

    folder: str
    sha256: str
    level: Trust = Trust.RESTRICT


def digest(content: bytes) -> str:
    """Return what a file's bytes are known by."""
    return hashlib.sha256(content).hexdigest()


def trust_in(folder: str, content: bytes, trusted: Iterable[Trusted]) -> Trust:
    """Return how far the user trusts these bytes as the rules of `folder`."""
    these = (normal(folder), digest(content))
    levels = (entry.level for entry in trusted if (normal(entry.folder), entry.sha256) == these)
    return next(levels, Trust.NONE)


def project_rules(folder: str, content: bytes, trusted: Iterable[Trusted]) -> RuleSet:
    """Return the rules of a project's file, read only if trusted; RuleFileError if it is wrong."""
    trust = trust_in(folder, content, trusted)
    if trust is Trust.NONE:
        return RuleSet(folder=folder, trust=trust)
    name = f"{folder}/{PROJECT_FILE}"
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise RuleFileError(name, 1, f"it is not UTF-8 (byte {error.start})") from error
    return _read_rules(text, name, folder, trust)


def read_trusted(text: str, name: str) -> tuple[Trusted, ...]:
    """Return the user's trusted files, tables of folder, sha256 and level; raises RuleFileError."""
    try:
        listed = tomllib.loads(text).get("trusted", [])
        return tuple(Trusted(row["folder"], row["sha256"], Trust(row["level"])) for row in listed)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RuleFileError(name, 1, f"trusted files are not listed there: {error}") from error


def write_trusted(trusted: Iterable[Trusted]) -> str:
    """Return the list as `read_trusted` reads it."""
    head = "# Rule files of projects that you have trusted, by their bytes. crabhook writes this.\n"
    tables = (
        f'\n[[trusted]]\nfolder = {toml_text(entry.folder)}\nsha256 = "{entry.sha256}"\n'
        f'level = "{entry.level}"\n'
        for entry in trusted
    )
    return head + "".join(tables)


def toml_text(text: str) -> str:
    """Return `text` as a TOML string."""
    escaped = "".join(
        {"\\": "\\\\", '"': '\\"'}.get(letter)
        or (letter if letter.isprintable() else f"\\U{ord(letter):08x}")
        for letter in text
    )
    return f'"{escaped}"'


RULES, TRUSTED = "rules", "trusted"
"""What the owner's texts are called: the rules, and the list of the trusted files of projects."""


class SharedTexts(Protocol):
    """The owner's texts where several servers go by the same: in a shared record."""

    where: str
    """What messages call that place."""

    def read(self, name: str) -> str:
        """Return a text, empty where there is none; raises CrabhookError."""

    def write(self, name: str, text: str, by: Actor) -> None:
        """Replace the text that was read; raises CrabhookError."""

    def edition(self, name: str) -> object:
        """Return a text that differs for each version."""


class RulesError(CrabhookError):
    """A rule file that cannot be read or written; nothing was changed."""


@frozen
class RuleFiles:
    """Where the files are; `folder` is the user's settings folder.

    `own_places`: other folders of crabhook, protected too; `program`: what crabhook is run from.
    With rules `shared` by servers, the owner's texts are in the record and files of these names are
    ignored; `by` is who changes them.
    `receipts` tell a server who made a change of a file.
    `signed`: each change takes a person's passphrase, which opens the key that signs it.
    """

    folder: Path
    own_places: tuple[str, ...] = ()
    shared: SharedTexts | None = None
    by: Actor = OWNER
    signed: bool = False
    program: tuple[str, ...] = ()
    receipts: ChangeReceipts | None = None

    @property
    def user(self) -> Path:
        """The user's own rules."""
        return self.path(RULES)

    @property
    def trusted(self) -> Path:
        """The list of projects' files that the user has trusted."""
        return self.path(TRUSTED)

    def where(self, name: str) -> str:
        """Return what messages call the place of a text of the owner's, RULES or TRUSTED."""
        return f"{name} in {self.shared.where}" if self.shared else str(self.path(name))

    def read(self, name: str) -> str:
        """Return a text of the owner's, empty where there is none; raises CrabhookError."""
        return self.shared.read(name) if self.shared else read_text(self.path(name))

    def write(self, name: str, text: str) -> None:
        """Write a text of the owner's whole, or not at all; raises CrabhookError."""
        if self.shared:
            self.shared.write(name, text, self.by)
            return
        if self.receipts:  # before the text, which a server may see at once
            receipt = ChangeReceipt(
                _author(self.by), actor_data(self.by), digest_of_text(self.read(name))
            )
            try:
                self.receipts.leave(name, digest_of_text(text), receipt)
            except ReceiptError as error:
                raise RulesError(str(error)) from error
        write_text(self.path(name), text)

    def edition(self, name: str) -> object:
        """Return a text that changes with any text of the owner's."""
        return self.shared.edition(name) if self.shared else stamp_of(self.path(name))

    def path(self, name: str) -> Path:
        """Return the file of a text of the owner's."""
        return self.folder / f"{name}.toml"

    def user_rules(self) -> RuleSet:
        """Return the user's own rules, their tests held; none where there is no file."""
        return self._with_tests_held(_read_once(self.read(RULES), self.where(RULES)))

    def trusted_files(self) -> tuple[Trusted, ...]:
        """Return what the user has trusted."""
        return read_trusted(self.read(TRUSTED), self.where(TRUSTED))

    def project_rules(self, project: Path) -> RuleSet:
        """Return what the project's file adds, as far as it is trusted."""
        return self.rules_of(project, self.trusted_files())

    def rules_of(self, project: Path, trusted: Iterable[Trusted]) -> RuleSet:
        """Return what the project's file adds; unless it is trusted it is not even opened."""
        theirs = [entry for entry in trusted if normal(entry.folder) == normal(str(project))]
        if not theirs:
            return RuleSet(folder=str(project), trust=Trust.NONE)
        return self._with_tests_held(
            project_rules(str(project), read_project_file(project), theirs)
        )

    def _with_tests_held(self, rules: RuleSet) -> RuleSet:
        if not rules.tests:
            return rules
        from crabhook.rulebook.rule_tests import with_tests_held  # as `_read_rules`

        return with_tests_held(rules, self.protected)

    def policy(self, project: Path) -> "Policy":
        """Return the present rules for agents in the project."""
        from crabhook.policy.evaluate import Policy  # as `_read_rules`

        return Policy([self.user_rules(), self.project_rules(project)], self.protected)

    @property
    def protected(self) -> "Protected":
        """What always reaches a person, crabhook's own places among it."""
        from crabhook.policy.protected import Protected  # as `_read_rules`

        return Protected((str(self.folder), *self.own_places), program=self.program)


def _author(by: Actor) -> str:
    """Return who changes a file, in words."""
    if not isinstance(by, Operator) or by == OWNER:
        return f"{who(by)}, by a command or a desk here"
    return f"{by.name}, at {by.desk}"


@lru_cache(maxsize=4)  # thousands of rules take a second
def _read_once(text: str, name: str) -> RuleSet:
    return _read_rules(text, name) if text else RuleSet()


def _read_rules(text: str, name: str, folder: str = "", trust: Trust = Trust.FULL) -> RuleSet:
    # What reads rules reads shell lines too; a server without rules listens before it is there.
    from crabhook.policy.rulefile import read_rules

    return read_rules(text, name, folder, trust)


def read_text(path: Path) -> str:
    """Return the text of a user's file or link, empty if missing; raises CrabhookError."""
    try:
        return _read(path, links=True).decode()
    except UnicodeDecodeError as error:
        raise RuleFileError(str(path), 1, f"it is not UTF-8 (byte {error.start})") from error


def read_project_file(project: Path) -> bytes:
    """Return the bytes of a project's rule file, empty if missing; raises RulesError for a link.

    A link in a repository could lead to another file.
    """
    return _read(project.absolute() / PROJECT_FILE, links=False)


def _read(path: Path, *, links: bool) -> bytes:
    try:
        return read_own(path, LARGEST, links=links)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise RulesError(f"{path} cannot be read: {error.strerror}") from error


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all, for its owner's eyes; raises RulesError."""
    try:
        write_own(path.resolve(), text.encode())  # a link to a file kept elsewhere stays a link
    except OSError as error:
        raise RulesError(f"{path} cannot be written: {error.strerror}") from error


def stamp_of(path: Path) -> object:
    """Return what changes with each change of a file: nobody can set back its inode's time."""
    try:
        stat = path.stat()
    except (OSError, ValueError):
        return None
    return (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)
