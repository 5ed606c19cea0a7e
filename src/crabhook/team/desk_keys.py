"""What a device keeps of its team: where the server is, and two keys.

The opening key is encrypted and only decrypted in a desk's memory. The closing key is not, and its
certificate says so: with it the server allows looking, denying, holding and stopping.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from crabhook.datatypes import frozen
from crabhook.safe_open import write_own
from crabhook.team.call_signature import Sign
from crabhook.team.certificates import Key, new_key, plain, request_of, unsealed
from crabhook.team.folder import TeamError, private, raising_team_error
from crabhook.team.invitation import Joined
from crabhook.team.membership import fingerprint_of
from crabhook.team.team_file import Seal


@frozen
class DeskFacts:
    """A device's place in a team, as told when it joined."""

    server: str
    team: str
    operator: str
    role: str
    device: str


class Credentials(NamedTuple):
    """A client's side of TLS: the authority to trust, a key, its certificate; all PEM.

    `sign`: the person's SSH key, if commands need its signature. `sign_as`: that key as it signs
    decisions for strict hooks: its id, its kind, and how it signs.
    """

    authority: bytes
    key: bytes
    certificate: bytes
    sign: Sign | None = None
    sign_as: tuple[str, int, Sign] | None = None


class DeskFolder(NamedTuple):
    """Where a device keeps what it has of one team."""

    path: Path

    def facts(self) -> DeskFacts:
        """Return the facts about the team; raises TeamError."""
        try:
            written = json.loads(private(self._facts))
            return DeskFacts(**{key: str(value) for key, value in written.items()})
        except (ValueError, TypeError, AttributeError) as error:
            raise TeamError(f"{self._facts} cannot be read: {error}") from None

    def enter(self, facts: DeskFacts) -> "DeskFolder":
        """Write the facts about the team, which completes the folder; raises TeamError."""
        with raising_team_error(self.path, "written"):
            write_own(self._facts, json.dumps(asdict(facts), indent=1).encode())
        return self

    @property
    def _facts(self) -> Path:
        return self.path / "desk.json"

    @property
    def half_made(self) -> bool:
        """Whether a kill left keys without the facts about the team."""
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
        with raising_team_error(file, "written"):
            write_own(file, f"{key}\n".encode()) if key else file.unlink(missing_ok=True)

    def _with(self, key: bytes, certificate: str) -> Credentials:
        authority = private(self.path / "authority.pem")
        return Credentials(authority, key, private(self.path / certificate))


def desk_folders(config_folder: Path) -> Iterable[DeskFolder]:
    """Return the folder of each team that this device is in."""
    paths = sorted((config_folder / "desks").glob("*/desk.json"))
    return [DeskFolder(path.parent) for path in paths]


def half_made_folders(config_folder: Path) -> Sequence[DeskFolder]:
    """Return where keys were written for a team, and a kill came before the rest."""
    folders = (
        DeskFolder(key_file.parent) for key_file in (config_folder / "desks").glob("*/device.pem")
    )
    return [folder for folder in folders if folder.half_made]


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
    """Write a device's keys over old keys; `seal` encrypts the opening key.

    `DeskFolder.enter` comes last and completes the folder. Raises TeamError.
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
    with raising_team_error(folder.path, "written"):
        for name in ("desk.json", "device.pem", "closing.key", "closing.pem"):
            (folder.path / name).unlink(missing_ok=True)
        for name, content in files.items():
            write_own(folder.path / name, content)
    return folder


def desk_of(config_folder: Path, team: str) -> DeskFolder:
    """Return a device's folder for the team of that id; the other end cannot choose the folder."""
    return DeskFolder(config_folder / "desks" / team[:16])


def keep(
    config_folder: Path, keys: DeskKeys, joined: Joined, device: str, seal: Seal
) -> DeskFolder:
    """Write all that a device has of a team, over what it had; raises TeamError."""
    facts = DeskFacts(joined.server, joined.team, joined.name, joined.role, device)
    return keep_keys(config_folder, keys, joined, seal).enter(facts)
