"""The team's folder: its file, signed by its authority, and the server's TLS files.

The file is a line with format and signature, then JSON. Writing the file is not enough to change
the team: the authority's key is encrypted under the passphrase.
"""

import asyncio
import base64
import binascii
import fcntl
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from time import time
from typing import Any, TypeAlias

from crabhook.model.actor import Role
from crabhook.safe_open import read_own, write_own
from crabhook.team import certificates, membership
from crabhook.team.edit_team import doubts, news, refusals
from crabhook.team.folder import Folder, TeamError, private, raising_team_error
from crabhook.team.identity import Identity, OidcPolicy
from crabhook.team.looks import Looks, confirmed, looks_in, taken_away

FORMAT, BY_PROVIDER = 1, 2
"""The formats of the file. A crabhook that asks no identity provider shall not read the second."""

LOOK_EVERY = 1.0  # seconds between looks without a request
Seal: TypeAlias = Callable[[certificates.Key], bytes]
_LARGEST = 4 << 20  # bytes: ten thousand members
_KIND = re.compile(rb"crabhook-team-v([0-9]{1,4}) ([A-Za-z0-9+/=]{1,200})\n")


def found_team(
    folder: Folder, name: str, names: tuple[str, ...], seal: Seal, now: float
) -> certificates.Authority:
    """Found a team: its authority, its server's certificate and its file, without members.

    Raises TeamError if there is one, CertificateError for a poor passphrase or name.
    """
    if folder.exists:
        raise TeamError(f"there is a team already in {folder.path}: nothing was changed")
    authority = certificates.Authority.new(name, now)
    key = seal(authority.key)
    team = membership.Team(membership.fingerprint_of(authority.certificate), name, 1, names=names)
    serve_as(folder, authority, names, now)
    with raising_team_error(folder.path, "written"):
        write_own(folder.authority_key, key)
        write_own(folder.team, written(team, authority))
        write_own(folder.authority, authority.certificate)
    return authority


def serve_as(
    folder: Folder, authority: certificates.Authority, names: tuple[str, ...], now: float
) -> None:
    """Give the server a certificate for these names, a key if it has none, and the sealing key.

    An existing key stays: the certificate alone is one file, so no kill leaves half a pair.
    """
    try:
        key = certificates.opened(private(folder.server_key))
    except (TeamError, certificates.CertificateError):
        key = certificates.new_key()
    with raising_team_error(folder.path, "written"):
        write_own(folder.server_key, certificates.plain(key))
        write_own(folder.server, authority.for_server(key, names, now))
    share_seals(folder, authority)


def share_seals(folder: Folder, authority: certificates.Authority) -> None:
    """Let the server read what the team's other servers seal; raises TeamError."""
    with raising_team_error(folder.sealing_key, "written"):
        write_own(folder.sealing_key, authority.sealing_key.hex().encode())


def authority_of(folder: Folder, passphrase: str) -> certificates.Authority:
    """Return the authority, opened; raises WrongPassphraseError, TeamError."""
    certificate, key = private(folder.authority), private(folder.authority_key)
    try:
        return certificates.Authority(certificate, certificates.unsealed(key, passphrase))
    except certificates.CertificateError as error:
        if type(error) is certificates.CertificateError:
            raise TeamError(f"{folder.authority_key} cannot be used: {error}") from None
        raise


def change(
    folder: Folder,
    authority: certificates.Authority,
    with_change: Callable[[membership.Team], membership.Team],
    put: Callable[[bytes], object] = lambda _: None,
) -> membership.Team:
    """Write the changed team with the next version, one process at a time; raises TeamError.

    `put` gets the file first, for servers that share a team; if it raises, nothing changes.
    """
    with _locked(folder.path):
        before = read_team(private(folder.team, _LARGEST), authority.certificate)
        after = replace(with_change(before), version=before.version + 1)
        content = written(after, authority)
        put(content)
        with raising_team_error(folder.team, "written"):
            write_own(folder.team, content)
    return after


def take(folder: Folder, content: bytes) -> None:
    """Replace the file by a newer version; an older version changes nothing.

    A change of the team here goes first, so try again. Raises TeamError for a version that this
    team's authority has not signed.
    """
    with suppress(BlockingIOError), _locked(folder.path, wait=False):
        here = private(folder.team, _LARGEST)
        if here == content:
            return
        authority = private(folder.authority)
        if read_team(content, authority).version > read_team(here, authority).version:
            with raising_team_error(folder.team, "written"):
                write_own(folder.team, content)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    with raising_team_error(folder, "locked"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(handle)


def written(team: membership.Team, authority: certificates.Authority) -> bytes:
    """Return the file of a team, signed."""
    body = json.dumps(_plain(team), indent=1, sort_keys=True, ensure_ascii=True).encode()
    asks = team.oidc or any(member.identity for member in team.members)
    form = BY_PROVIDER if asks else FORMAT
    signature = base64.b64encode(authority.sign(_signed(form, body))).decode()
    return f"crabhook-team-v{form} {signature}\n".encode() + body


def _signed(form: int, body: bytes) -> bytes:
    return f"crabhook-team-v{form}\0".encode() + body


def _plain(team: membership.Team) -> dict[str, Any]:
    """Return a team as its file has it: without what is of the moment, and what nobody uses."""
    plain = asdict(team)
    if plain["oidc"] is None:
        del plain["oidc"]
    for member in plain["members"]:
        del member["doubt"]
        if member["identity"] is None:
            del member["identity"]
    return plain


def read_team(content: bytes, authority: bytes) -> membership.Team:
    """Return the team in a file that this authority has signed; raises TeamError for any other."""
    kind = _KIND.match(content)
    if kind is None:
        raise TeamError("the team file is not what crabhook writes")
    if int(kind[1]) not in (FORMAT, BY_PROVIDER):
        raise TeamError("the team file was written by a newer crabhook: update crabhook here")
    body = content[kind.end() :]
    try:
        signature = base64.b64decode(kind[2], validate=True)
    except binascii.Error:
        signature = b""
    if not certificates.signed_by(authority, signature, _signed(int(kind[1]), body)):
        raise TeamError("the team file was changed by somebody without the team's passphrase")
    try:
        team = _team(json.loads(body))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise TeamError(f"the team file cannot be read: {type(error).__name__}: {error}") from None
    if team.id != membership.fingerprint_of(authority):
        raise TeamError("the team file is another team's")
    return team


def _team(team: Mapping[str, Any]) -> membership.Team:
    return membership.Team(
        str(team["id"]),
        str(team["name"]),
        int(team["version"]),
        tuple(_member(member) for member in team["members"]),
        tuple(membership.Machine(**machine) for machine in team["machines"]),
        tuple(map(str, team["names"])),
        tuple(
            membership.Attempt(int(attempt["at"]), str(attempt["what"]))
            for attempt in team.get("attempts", ())
        ),
        tuple(
            membership.TeamGroup(str(group["name"]), tuple(map(str, group["members"])))
            for group in team.get("groups", ())
        ),
        str(team.get("owner", "")),
        _policy(team["oidc"]) if team.get("oidc") else None,
    )


def _policy(values: Mapping[str, Any]) -> OidcPolicy:
    issuer, client, audience, claim = (
        str(values[key]) for key in ("issuer", "client", "audience", "claim")
    )
    roles = tuple((str(value), Role(role)) for value, role in values["roles"])
    groups = tuple((str(value), str(group)) for value, group in values["groups"])
    times = int(values["every"]), int(values["bound"])
    return OidcPolicy(issuer, client, audience, claim, roles, groups, *times)


def _member(member: Mapping[str, Any]) -> membership.Member:
    scope = membership.Scope(
        **{key: tuple(map(str, value)) for key, value in member["scope"].items()}
    )
    if unknown := set(scope.kinds) - set(membership.KINDS):
        raise ValueError(f"no such kinds of card: {', '.join(sorted(unknown))}")
    devices = tuple(membership.Device(**device) for device in member["devices"])
    keys = tuple(membership.SshKey(**key) for key in member.get("keys", ()))
    passkeys = tuple(membership.Passkey(**passkey) for passkey in member.get("passkeys", ()))
    identity = Identity(**member["identity"]) if member.get("identity") else None
    who = str(member["id"]), str(member["name"]), Role(member["role"])
    return membership.Member(*who, scope, devices, keys, passkeys, identity)


def _by_provider(team: membership.Team | membership.TeamRefusal) -> bool:
    """Whether somebody in the team joined by an identity provider."""
    return isinstance(team, membership.Team) and any(member.identity for member in team.members)


def _stamp(path: Path) -> "_Stamp":
    try:
        status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - no link
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    return status.st_ino, status.st_mtime_ns, status.st_ctime_ns


def team_in(folder: Folder) -> membership.Team:
    """Return the team as its file has it now; raises TeamError."""
    if not folder.exists:
        raise TeamError("there is no team here: `crabhook team init` founds one")
    return read_team(private(folder.team, _LARGEST), private(folder.authority))


def teams_by_digest(folder: Folder, others: Iterable[bytes] = ()) -> dict[str, membership.Team]:
    """Return the team by the SHA-256 of its file here, and of other files of it, such as older.

    Raises TeamError for a file that this team's authority has not signed.
    """
    authority = private(folder.authority)
    contents = (*others, private(folder.team, _LARGEST))
    return {hashlib.sha256(each).hexdigest(): read_team(each, authority) for each in contents}


_Stamp: TypeAlias = tuple[int, int, int] | str
"""What differs for each version of a file, or why there is none."""


class TeamReader:
    """The present team, for a server: each use looks at the file.

    `warn` hears of persons, devices and machines that come or go. As an alarm it hears of failed
    attempts to join, of people whom the provider does not confirm, and of an unusable file.

    The authority is the team's authority at the server's start. With an unusable or outdated file
    nobody may do anything: silence opens no gate.

    `shared`: the record of servers that share a team; the file is then a copy.
    """

    def __init__(self, folder: Folder) -> None:
        """Raises TeamError if there is no usable team."""
        self.folder, self.shared = folder, ""
        self.authority = private(folder.authority)
        self._newest = self._seen()
        self._digest, self._unnoted, self._unread, self._content = "", "", "", b""
        self._stamps: tuple[_Stamp, _Stamp] = "", ""  # of the file and of the looks
        self._signed: membership.Team | membership.TeamRefusal = membership.TeamRefusal("")
        self._looks: Looks = {}
        self._asks = False  # whether somebody joined by an identity provider
        self._holds = 0.0, 0.0  # from when to when the outcome counts
        self._outcome: membership.Team | membership.TeamRefusal = self._signed
        self._last: membership.Team | None = None
        self.warn: Callable[..., object] = lambda *_, **__: None
        if isinstance(outcome := self.current(), membership.TeamRefusal):
            raise TeamError(outcome.why)

    def current(self) -> membership.Team | membership.TeamRefusal:
        """Return the present team, or why it is unusable.

        That is the signed team, without what the last looks at the identity provider take away.
        """
        stamp = _stamp(self.folder.team)
        looks: _Stamp = ""
        if stamp != self._stamps[0]:
            self._signed = membership.TeamRefusal(stamp) if isinstance(stamp, str) else self._anew()
            self._asks = _by_provider(self._signed)
        if self._asks:
            looks = _stamp(self.folder.looks)
            if looks != self._stamps[1]:
                self._look_anew()
        since, until = self._holds
        if (stamp, looks) != self._stamps or not since <= time() < until:
            self._stamps = stamp, looks
            self._confirm(time())
        if self._unnoted:
            self._note()
        return self._outcome

    def _look_anew(self) -> None:
        self._looks, self._unread = {}, ""
        try:
            self._looks = looks_in(self.folder)
        except TeamError as error:
            self._unread = str(error)

    def _confirm(self, now: float) -> None:
        self._holds = now, inf
        self._outcome = self._signed
        if isinstance(self._signed, membership.Team):
            self._outcome, until = confirmed(self._signed, self._looks, now)
            self._holds = now, until
        self._report(self._outcome)

    def _report(self, outcome: membership.Team | membership.TeamRefusal) -> None:
        if isinstance(outcome, membership.TeamRefusal):
            self.warn(f"nobody elsewhere may do anything: {outcome.why}")
            return
        if self._last:
            for words in news(self._last, outcome):
                self.warn(words, alarm=False)
            for words in (*refusals(self._last, outcome), *doubts(self._last, outcome)):
                self.warn(words)
        self._last = outcome

    @property
    def trouble(self) -> str:
        """Why the team is unusable, or what else is wrong; empty for nothing."""
        outcome = self.current()
        if isinstance(outcome, membership.TeamRefusal):
            return outcome.why
        return self._unnoted or self._unread

    @property
    def taken_away(self) -> Mapping[str, str]:
        """What the looks take away, in words by people's names."""
        present, signed = self.current(), self._signed
        if isinstance(present, membership.Team) and isinstance(signed, membership.Team):
            return taken_away(signed, present)
        return {}

    @property
    def digest(self) -> str:
        """The SHA-256 of the team's file; empty while that is unusable."""
        return "" if isinstance(self.current(), membership.TeamRefusal) else self._digest

    @property
    def content(self) -> bytes:
        """The team's file, for others who check its signature; empty while it is unusable."""
        return b"" if isinstance(self.current(), membership.TeamRefusal) else self._content

    async def keep(self) -> None:
        """Look once in a while too, to tell of changes without a request."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            self.current()

    def machine_of(self, token: str) -> str | None:
        """Return the name of the machine whose token this is now."""
        team = self.current()
        return None if isinstance(team, membership.TeamRefusal) else team.machine_of(token)

    def server_pair(self) -> tuple[bytes, bytes]:
        """Return the server's key and certificate, as gRPC takes them; raises TeamError."""
        return private(self.folder.server_key), private(self.folder.server)

    def _anew(self) -> membership.Team | membership.TeamRefusal:
        try:
            content = private(self.folder.team, _LARGEST)
            team = read_team(content, self.authority)
        except TeamError as error:
            return membership.TeamRefusal(str(error))
        digest = hashlib.sha256(content).hexdigest()
        if team.version < self._newest or (
            team.version == self._newest and self._digest not in ("", digest)
        ):
            return membership.TeamRefusal(
                f"the team file is version {team.version}, and version {self._newest} was here "
                "before: somebody put an older file in its place"
            )
        newer = team.version > self._newest
        self._newest, self._digest, self._content = team.version, digest, content
        if newer:
            self._note()
        return team

    def _note(self) -> None:
        """Store the version for the next start; on failure, report and retry later.

        The file counts all the same: a revoked person is out at once.
        """
        try:
            write_own(self.folder.newest, f"{self._newest}\n".encode())
        except OSError as error:
            self._unnoted = (
                f"{self.folder.newest} cannot be written ({error.strerror}): after a restart, "
                "an older team file in its place would not be noticed"
            )
        else:
            self._unnoted = ""

    def _seen(self) -> int:
        try:
            return int(read_own(self.folder.newest, 64))
        except FileNotFoundError:
            return 0
        except (OSError, ValueError) as error:
            raise TeamError(f"{self.folder.newest} cannot be read: {error}") from None
