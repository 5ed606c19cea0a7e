"""The team's folder: its file, signed by its authority, and what the server needs for TLS.

The file is one line that names the format and holds the signature, then JSON.  Whoever can
write the file cannot change it: the authority's key lies encrypted under the passphrase.
"""

import asyncio
import base64
import binascii
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crabhook.model.errors import CrabhookError
from crabhook.ownfile import open_own, read_own, write_own
from crabhook.team.certificates import (
    Authority,
    CertificateError,
    Key,
    new_key,
    plain,
    signed_by,
    unsealed,
)
from crabhook.team.changes import news
from crabhook.team.membership import (
    KINDS,
    Device,
    Machine,
    Member,
    Refused,
    Role,
    Scope,
    Team,
    fingerprint_of,
)

FORMAT = 1
LOOK_EVERY = 1.0  # seconds, where nobody asks
Seal: TypeAlias = Callable[[Key], bytes]
_LARGEST = 4 << 20  # bytes: ten thousand members
_KIND = re.compile(rb"crabhook-team-v([0-9]{1,4}) ([A-Za-z0-9+/=]{1,200})\n")
_SIGNED_FOR = b"crabhook-team-v1\0"


class TeamError(CrabhookError):
    """A team's folder, or its file, that cannot be used."""


class Folder(NamedTuple):
    """Where a team lies, by the server: each file in it is its owner's alone."""

    path: Path

    @property
    def team(self) -> Path:
        """The signed file of who is in the team."""
        return self.path / "team"

    @property
    def authority(self) -> Path:
        """The authority's certificate, PEM."""
        return self.path / "authority.pem"

    @property
    def authority_key(self) -> Path:
        """Its key, which lies encrypted."""
        return self.path / "authority.key"

    @property
    def server(self) -> Path:
        """The server's certificate, PEM."""
        return self.path / "server.pem"

    @property
    def server_key(self) -> Path:
        """The server's key, which lies open: the server starts without a person."""
        return self.path / "server.key"

    @property
    def newest(self) -> Path:
        """The highest version of the file that a server has seen."""
        return self.path / "newest"

    @property
    def exists(self) -> bool:
        """Whether there is a team."""
        return self.authority.exists() or self.team.exists()


def found(folder: Folder, name: str, names: tuple[str, ...], seal: Seal, now: float) -> Authority:
    """Found a team: make its authority, its server's certificate and its file, with nobody in it.

    Raises TeamError where there is one, CertificateError for a poor passphrase or name.
    """
    if folder.exists:
        raise TeamError(f"there is a team already in {folder.path}; nothing was changed")
    authority = Authority.new(name, now)
    key = seal(authority.key)
    team = Team(fingerprint_of(authority.certificate), name, 1, names=names)
    with _told(folder.path, "written"):
        serve_as(folder, authority, names, now)
        write_own(folder.authority_key, key)
        write_own(folder.team, written(team, authority))
        write_own(folder.authority, authority.certificate)
    return authority


def serve_as(folder: Folder, authority: Authority, names: tuple[str, ...], now: float) -> None:
    """Give the server a new key and a certificate for these names."""
    key = new_key()
    write_own(folder.server_key, plain(key))
    write_own(folder.server, authority.for_server(key, names, now))


def authority_of(folder: Folder, passphrase: str) -> Authority:
    """Return the authority, opened; raises WrongPassphraseError, TeamError."""
    certificate, key = private(folder.authority), private(folder.authority_key)
    try:
        return Authority(certificate, unsealed(key, passphrase))
    except CertificateError as error:
        if type(error) is CertificateError:
            raise TeamError(f"{folder.authority_key} cannot be used: {error}") from None
        raise


def private(path: Path, at_most: int = 64 << 10) -> bytes:
    """Return what is in a file that is its owner's alone; raises TeamError."""
    try:
        with open_own(path) as (_, found):
            mode = stat.S_IMODE(found.st_mode)
        content = read_own(path, at_most)
    except FileNotFoundError:
        raise TeamError(f"there is no {path}") from None
    except OSError as error:
        raise TeamError(f"{path} cannot be read: {error.strerror}") from error
    if mode & 0o077:
        raise TeamError(f"{path} cannot be used: others can reach it: chmod 600 {path}")
    return content


def change(folder: Folder, authority: Authority, with_change: Callable[[Team], Team]) -> Team:
    """Write the team changed, one version on; one process at a time.  Raises TeamError."""
    with _locked(folder.path):
        before = read_team(private(folder.team, _LARGEST), authority.certificate)
        after = replace(with_change(before), version=before.version + 1)
        with _told(folder.team, "written"):
            write_own(folder.team, written(after, authority))
    return after


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with _told(folder, "locked"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def _told(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise TeamError(f"{path} cannot be {done}: {error.strerror}") from error


def written(team: Team, authority: Authority) -> bytes:
    """Return the file of a team, signed."""
    body = json.dumps(asdict(team), indent=1, sort_keys=True, ensure_ascii=True).encode()
    signature = base64.b64encode(authority.sign(_SIGNED_FOR + body)).decode()
    return f"crabhook-team-v{FORMAT} {signature}\n".encode() + body


def read_team(content: bytes, authority: bytes) -> Team:
    """Return the team in a file that this authority has signed; raises TeamError for any other."""
    kind = _KIND.match(content)
    if kind is None:
        raise TeamError("the team file is not what crabhook writes")
    if int(kind[1]) > FORMAT:
        raise TeamError("the team file was written by a newer crabhook: update this one")
    body = content[kind.end() :]
    try:
        signature = base64.b64decode(kind[2], validate=True)
    except binascii.Error:
        signature = b""
    if not signed_by(authority, signature, _SIGNED_FOR + body):
        raise TeamError("the team file was changed by somebody without the team's passphrase")
    try:
        team = _team(json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise TeamError(f"the team file cannot be read: {type(error).__name__}: {error}") from None
    if team.id != fingerprint_of(authority):
        raise TeamError("the team file is another team's")
    return team


def _team(told: Mapping[str, Any]) -> Team:
    return Team(
        str(told["id"]),
        str(told["name"]),
        int(told["version"]),
        tuple(_member(one) for one in told["members"]),
        tuple(Machine(**one) for one in told["machines"]),
        tuple(map(str, told["names"])),
    )


def _member(told: Mapping[str, Any]) -> Member:
    scope = Scope(**{key: tuple(map(str, value)) for key, value in told["scope"].items()})
    if unknown := set(scope.kinds) - set(KINDS):
        raise ValueError(f"no such kinds of card: {', '.join(sorted(unknown))}")
    devices = tuple(Device(**one) for one in told["devices"])
    return Member(str(told["id"]), str(told["name"]), Role(told["role"]), scope, devices)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read, and of which file: looked at anew when that is another."""

    stamp: tuple[int, int, int]
    outcome: Team | Refused


def team_in(folder: Folder) -> Team:
    """Return the team as its file has it now; raises TeamError."""
    if not folder.exists:
        raise TeamError("there is no team here: `crabhook team init` founds one")
    return read_team(private(folder.team, _LARGEST), private(folder.authority))


class TeamReader:
    """The team as it is now, for a server: its file is looked at whenever somebody asks.

    `changed` hears of each person, device and machine that comes or goes, `spoilt` why nobody is
    in the team now, both in words.

    The authority is the one that was there at the server's start.  While the file cannot be
    used, or is older than what was seen, nobody may do anything: silence opens no gate.
    """

    def __init__(self, folder: Folder) -> None:
        """Raises TeamError where there is no team that can be used."""
        self.folder = folder
        self.authority = private(folder.authority)
        self._newest = self._seen()
        self._digest = ""
        self._read = _Read((0, 0, 0), Refused("the team file was not read"))
        self._last: Team | None = None
        self.changed: Callable[[str], object] = lambda _: None
        self.spoilt: Callable[[str], object] = lambda _: None
        if isinstance(outcome := self.current(), Refused):
            raise TeamError(outcome.why)

    def __repr__(self) -> str:
        return f"<TeamReader {self.folder.path} version {self._newest}>"

    def current(self) -> Team | Refused:
        """Return the team, or why nobody is in it now."""
        try:
            found = os.stat(self.folder.team, follow_symlinks=False)  # noqa: PTH116 - no link
        except OSError as error:
            missing = Refused(f"{self.folder.team} cannot be read: {error.strerror}")
            if self._read.outcome != missing:
                self._read = _Read((0, 0, 0), missing)
                self._tell(missing)
            return missing
        stamp = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns)
        if stamp != self._read.stamp:
            self._read = _Read(stamp, self._anew())
            self._tell(self._read.outcome)
        return self._read.outcome

    def _tell(self, outcome: Team | Refused) -> None:
        if isinstance(outcome, Refused):
            self.spoilt(f"nobody elsewhere may do anything: {outcome.why}")
            return
        for words in news(self._last, outcome) if self._last else ():
            self.changed(words)
        self._last = outcome

    @property
    def trouble(self) -> str:
        """Why nobody is in the team now; empty while somebody may be."""
        outcome = self.current()
        return outcome.why if isinstance(outcome, Refused) else ""

    async def keep(self) -> None:
        """Look once in a while too: what changes is to be told though nobody asks."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self.current()

    def machine_of(self, token: str) -> str | None:
        """Return the name of the machine whose token this is now."""
        team = self.current()
        return None if isinstance(team, Refused) else team.machine_of(token)

    def server_pair(self) -> tuple[bytes, bytes]:
        """Return the server's key and certificate, as gRPC takes them; raises TeamError."""
        return private(self.folder.server_key), private(self.folder.server)

    def _anew(self) -> Team | Refused:
        try:
            content = private(self.folder.team, _LARGEST)
            team = read_team(content, self.authority)
        except TeamError as error:
            return Refused(str(error))
        digest = hashlib.sha256(content).hexdigest()
        if team.version < self._newest or (
            team.version == self._newest and self._digest not in ("", digest)
        ):
            return Refused(
                f"the team file is version {team.version}, and version {self._newest} was here "
                "before: somebody put an older one in its place"
            )
        if team.version > self._newest:
            with _told(self.folder.newest, "written"):
                write_own(self.folder.newest, f"{team.version}\n".encode())
        self._newest, self._digest = team.version, digest
        return team

    def _seen(self) -> int:
        try:
            return int(read_own(self.folder.newest, 64))
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise TeamError(f"{self.folder.newest} cannot be read: {error}") from None
