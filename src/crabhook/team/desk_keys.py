"""What a device keeps of a team that it is in: where its server is, and two keys.

The key that opens lies encrypted and is opened in a desk's own memory.  The other lies open,
and its certificate says so: with it the server lets one look, deny, hold and stop.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

from crabhook.ownfile import write_own
from crabhook.team.certificates import Key, new_key, plain, request_of, unsealed
from crabhook.team.folder import TeamError, private, told
from crabhook.team.invitation import Joined
from crabhook.team.membership import fingerprint_of
from crabhook.team.presence import Sign
from crabhook.team.team_file import Seal


@dataclass(frozen=True, slots=True)
class DeskFacts:
    """What a device knows of its place in a team, as it was told when it joined."""

    server: str
    team: str
    operator: str
    role: str
    device: str


class Credentials(NamedTuple):
    """What TLS wants of a client: the authority to trust, a key, its certificate; all PEM.

    `sign` is the person's SSH key, where each command is to be signed by one.
    """

    authority: bytes
    key: bytes
    certificate: bytes
    sign: Sign | None = None


class DeskFolder(NamedTuple):
    """Where a device keeps what it has of one team."""

    path: Path

    def facts(self) -> DeskFacts:
        """Return what is known of the team; raises TeamError."""
        try:
            found = json.loads(private(self._facts))
            return DeskFacts(**{key: str(value) for key, value in found.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise TeamError(f"{self._facts} cannot be read: {error}") from None

    def enter(self, facts: DeskFacts) -> "DeskFolder":
        """Write what is known of the team, which makes the folder one; raises TeamError."""
        with told(self.path, "written"):
            write_own(self._facts, json.dumps(asdict(facts), indent=1).encode())
        return self

    @property
    def _facts(self) -> Path:
        return self.path / "desk.json"

    @property
    def half_made(self) -> bool:
        """Whether there are keys, and a kill came before what is known was written."""
        return (self.path / "device.pem").exists() and not self._facts.exists()

    def opened(self, passphrase: str) -> Credentials:
        """Return what opens gates; raises WrongPassphraseError, TeamError."""
        key = plain(unsealed(private(self.path / "device.key"), passphrase))
        return self._with(key, "device.pem")

    def closing(self) -> Credentials | None:
        """Return what only closes gates, with no passphrase; None where there is none."""
        file = self.path / "closing.key"
        return self._with(private(file), "closing.pem") if file.exists() else None

    def signing_key(self) -> Path | None:
        """Return the file of the SSH key that signs in place of the passphrase; None for none."""
        file = self.path / "ssh-key"
        return Path(private(file).decode("utf-8", "replace").strip()) if file.exists() else None

    def sign_with(self, key: Path | None) -> None:
        """Have a key sign from now on, or none; raises TeamError."""
        file = self.path / "ssh-key"
        with told(file, "written"):
            write_own(file, f"{key}\n".encode()) if key else file.unlink(missing_ok=True)

    def _with(self, key: bytes, certificate: str) -> Credentials:
        authority = private(self.path / "authority.pem")
        return Credentials(authority, key, private(self.path / certificate))


def desk_folders(config_folder: Path) -> Iterable[DeskFolder]:
    """Return what is kept of each team that this device is in."""
    found = sorted((config_folder / "desks").glob("*/desk.json"))
    return [DeskFolder(one.parent) for one in found]


def half_made_folders(config_folder: Path) -> Sequence[DeskFolder]:
    """Return where keys were written for a team, and a kill came before the rest."""
    found = (DeskFolder(one.parent) for one in (config_folder / "desks").glob("*/device.pem"))
    return [one for one in found if one.half_made]


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


def keep_keys(config_folder: Path, keys: DeskKeys, joined: Joined, seal: Seal) -> DeskFolder:
    """Write a device's keys, over what it had; `seal` encrypts the key that opens.

    `DeskFolder.enter` comes last and makes it whole.  Raises TeamError.
    """
    folder = desk_of(config_folder, fingerprint_of(joined.authority))
    files = {
        "authority.pem": joined.authority,
        "device.key": seal(keys.opening),
        "device.pem": joined.certificate,
    }
    if keys.closing and joined.closing_certificate:
        files = {
            "closing.key": plain(keys.closing),
            "closing.pem": joined.closing_certificate,
        } | files
    with told(folder.path, "written"):
        for name in ("desk.json", "device.pem", "closing.key", "closing.pem"):
            (folder.path / name).unlink(missing_ok=True)
        for name, content in files.items():
            write_own(folder.path / name, content)
    return folder


def desk_of(config_folder: Path, team: str) -> DeskFolder:
    """Return where a device keeps what it has of the team of that id: no other end chooses it."""
    return DeskFolder(config_folder / "desks" / team[:16])


def keep(
    config_folder: Path, keys: DeskKeys, joined: Joined, device: str, seal: Seal
) -> DeskFolder:
    """Write all that a device has of a team, over what it had; raises TeamError."""
    facts = DeskFacts(joined.server, joined.team, joined.name, joined.role, device)
    return keep_keys(config_folder, keys, joined, seal).enter(facts)
