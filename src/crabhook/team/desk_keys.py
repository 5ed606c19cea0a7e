"""What a device keeps of a team that it is in: where its server is, and two keys.

The key that opens lies encrypted and is opened in a desk's own memory.  The other lies open,
and its certificate says so: with it the server lets one look, deny, hold and stop.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from crabhook.ownfile import write_own
from crabhook.team.certificates import Key, new_key, plain, request_of, unsealed
from crabhook.team.joining import Joined
from crabhook.team.membership import fingerprint_of
from crabhook.team.team_file import Seal, TeamError, private


@dataclass(frozen=True, slots=True)
class DeskFacts:
    """What a device knows of its place in a team, as it was told when it joined."""

    server: str
    team: str
    operator: str
    role: str
    device: str


class Credentials(NamedTuple):
    """What TLS wants of a client: the authority to trust, a key, its certificate; all PEM."""

    authority: bytes
    key: bytes
    certificate: bytes


class DeskFolder(NamedTuple):
    """Where a device keeps what it has of one team."""

    path: Path

    def facts(self) -> DeskFacts:
        """Return what is known of the team; raises TeamError."""
        try:
            told = json.loads(private(self.path / "desk.json"))
            return DeskFacts(**{key: str(value) for key, value in told.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise TeamError(f"{self.path / 'desk.json'} cannot be read: {error}") from None

    def opened(self, passphrase: str) -> Credentials:
        """Return what opens gates; raises WrongPassphraseError, TeamError."""
        key = plain(unsealed(private(self.path / "device.key"), passphrase))
        return self._with(key, "device.pem")

    def closing(self) -> Credentials | None:
        """Return what only closes gates, with no passphrase; None where there is none."""
        file = self.path / "closing.key"
        return self._with(private(file), "closing.pem") if file.exists() else None

    def _with(self, key: bytes, certificate: str) -> Credentials:
        authority = private(self.path / "authority.pem")
        return Credentials(authority, key, private(self.path / certificate))


def desk_folders(config_folder: Path) -> Iterable[DeskFolder]:
    """Return what is kept of each team that this device is in."""
    found = sorted((config_folder / "desks").glob("*/desk.json"))
    return [DeskFolder(one.parent) for one in found]


class DeskKeys(NamedTuple):
    """New keys of a device, in memory alone; `closing` is None for none."""

    opening: Key
    closing: Key | None

    @classmethod
    def new(cls, *, closing: bool) -> "DeskKeys":
        """Make them."""
        return cls(new_key(), new_key() if closing else None)

    def requests(self) -> tuple[bytes, bytes]:
        """Return the requests for their certificates; the second empty for none."""
        return request_of(self.opening), request_of(self.closing) if self.closing else b""


def keep(
    config_folder: Path, keys: DeskKeys, joined: Joined, device: str, seal: Seal
) -> DeskFolder:
    """Write what a device has of a team, over what it had; `seal` encrypts the key that opens.

    Raises TeamError.  The folder's name is the team's fingerprint: no other end chooses it.
    """
    folder = DeskFolder(config_folder / "desks" / fingerprint_of(joined.authority)[:16])
    facts = DeskFacts(joined.server, joined.team, joined.name, joined.role, device)
    files = {
        "authority.pem": joined.authority,
        "device.key": seal(keys.opening),
        "device.pem": joined.certificate,
        "desk.json": json.dumps(asdict(facts), indent=1).encode(),
    }
    if keys.closing and joined.closing_certificate:
        files |= {"closing.key": plain(keys.closing), "closing.pem": joined.closing_certificate}
    try:
        for name in ("closing.key", "closing.pem"):
            (folder.path / name).unlink(missing_ok=True)
        for name, content in files.items():
            write_own(folder.path / name, content)
    except OSError as error:
        raise TeamError(f"{folder.path} cannot be written: {error.strerror}") from error
    return folder
