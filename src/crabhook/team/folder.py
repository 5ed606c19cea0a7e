"""Where a team lies by its server, and how that folder comes to be: whole, or not at all."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from crabhook.model.errors import CrabhookError
from crabhook.safe_open import open_own, read_own

TEAM, AUTHORITY, AUTHORITY_KEY = "team", "authority", "authority-key"
"""What the files of a team are called that all servers of it have, where they share a record."""

_HALF = "founding-"  # how the folder of a founding that goes on begins, beside the team's own


class TeamError(CrabhookError):
    """A team's folder, or its file, that cannot be used."""


class Folder:
    """Where a team lies, by the server: each file in it is its owner's alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.team = path / "team"  # signed: who is in the team
        self.authority = path / "authority.pem"  # the authority's certificate
        self.authority_key = path / "authority.key"  # encrypted
        self.server = path / "server.pem"  # the server's certificate
        self.server_key = path / "server.key"  # not encrypted: the server starts without a person
        self.sealing_key = path / "sealing.key"  # of all servers of the team, by the authority's
        self.newest = path / "newest"  # the highest version of the team that a server has seen
        self.web_invitation = path / "web-invitation"  # for a passkey, by `team invite --web`
        self.web_offer = path / "web-offer"  # the passkey that came by it, by the server
        self.looks = path / "looks"  # what the identity provider said last, and refresh tokens
        self.client_secret = path / "client-secret"  # of our client there, if it has one

    @property
    def shared(self) -> Mapping[str, Path]:
        """The files that all servers of the team have; the key among them lies encrypted."""
        return {TEAM: self.team, AUTHORITY: self.authority, AUTHORITY_KEY: self.authority_key}

    @property
    def exists(self) -> bool:
        """Whether there is a team; a folder with neither of these files holds none."""
        return self.authority.exists() or self.team.exists()


def private(path: Path, at_most: int = 64 << 10) -> bytes:
    """Return the content of a file that only its owner may access; raises TeamError."""
    try:
        with open_own(path) as (_, status):
            mode = stat.S_IMODE(status.st_mode)
        content = read_own(path, at_most)
    except FileNotFoundError:
        raise TeamError(f"there is no {path}") from None
    except OSError as error:
        raise TeamError(f"{path} cannot be read: {error.strerror}") from error
    if mode & 0o077:
        raise TeamError(f"{path} cannot be used: others can reach it: chmod 600 {path}")
    return content


@contextmanager
def raising_team_error(path: Path, done: str) -> Iterator[None]:
    """Turn an OSError into a TeamError that says what could not be done with a path."""
    try:
        yield
    except OSError as error:
        raise TeamError(f"{path} cannot be {done}: {error.strerror}") from error


@contextmanager
def founding(folder: Folder) -> Iterator[Folder]:
    """Give an empty folder that becomes the team's if the context ends without an error.

    A broken founding, even by kill -9, leaves no team. Raises TeamError if there is a team already,
    and then changes nothing.
    """
    if folder.exists:
        raise TeamError(
            f"there is a team already in {folder.path}: nothing was changed. `crabhook team "
            "invite NAME` lets a person in. `crabhook team names HOST` gives its server other names"
        )
    above = folder.path.parent
    with raising_team_error(above, "written"):
        above.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in above.glob(f"{_HALF}*"):
            if not _lives(left.name.removeprefix(_HALF).partition("-")[0]):
                shutil.rmtree(left, ignore_errors=True)
        new = Path(tempfile.mkdtemp(prefix=f"{_HALF}{os.getpid()}-", dir=above))
    try:
        yield Folder(new)
        with raising_team_error(folder.path, "written"):
            _put_aside(folder)
            os.rename(new, folder.path)  # noqa: PTH104 - onto an empty folder, and no other
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _lives(process: str) -> bool:
    """Whether a process of that number runs, which may be founding a team."""
    try:
        os.kill(int(process), 0)
    except (OSError, ValueError, OverflowError):
        return False
    return True


def _put_aside(folder: Folder) -> None:
    """Move away a folder with files but no team: they may be the last of an old team."""
    if folder.path.is_dir() and not folder.exists and any(folder.path.iterdir()):
        folder.path.rename(tempfile.mkdtemp(prefix="team-left-", dir=folder.path.parent))
