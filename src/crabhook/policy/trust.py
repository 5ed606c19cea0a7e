"""How much of a project's rule file counts: nothing, until the user has trusted its exact bytes."""

import hashlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

from crabhook.policy.paths import normal
from crabhook.policy.rule import RuleSet, Trust
from crabhook.policy.rulefile import RuleFileError, read_rules

PROJECT_FILE = ".crabhook/rules.toml"


@dataclass(frozen=True, slots=True)
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
    found = digest(content)
    for one in trusted:
        if normal(one.folder) == normal(folder) and one.sha256 == found:
            return one.level
    return Trust.NONE


def project_rules(folder: str, content: bytes, trusted: Iterable[Trusted]) -> RuleSet:
    """Return what a project's rule file adds to the law.

    A file that is not trusted is not even read.  Raises RuleFileError for a
    trusted one that is wrong.
    """
    trust = trust_in(folder, content, trusted)
    if trust is Trust.NONE:
        return RuleSet(folder=folder, trust=trust)
    name = f"{folder}/{PROJECT_FILE}"
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise RuleFileError(name, 1, f"it is not UTF-8 (byte {error.start})") from error
    return read_rules(text, name, folder, trust)


def read_trusted(text: str, name: str) -> tuple[Trusted, ...]:
    """Return the user's list of trusted files: tables `[[trusted]]` with folder, sha256, level.

    Raises RuleFileError for one that is wrong.
    """
    try:
        listed = tomllib.loads(text).get("trusted", [])
        return tuple(Trusted(one["folder"], one["sha256"], Trust(one["level"])) for one in listed)
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise RuleFileError(name, 1, f"it is no list of trusted files: {error}") from error


def write_trusted(trusted: Iterable[Trusted]) -> str:
    """Return the list as `read_trusted` reads it."""
    head = "# Rule files of projects that you have trusted, by their bytes; crabhook writes this.\n"
    tables = (
        f'\n[[trusted]]\nfolder = {toml_text(one.folder)}\nsha256 = "{one.sha256}"\n'
        f'level = "{one.level}"\n'
        for one in trusted
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
