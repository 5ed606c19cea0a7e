"""What a strict hook is installed with: a team file, and the authority that has to have signed it.

The authority is named at the installation and written into each hook's command, so another team's
file in its place is refused. It needs the standard library alone, as the hook does.
"""

from pathlib import Path

from crabhook.datatypes import frozen
from crabhook.hook.fallback import can
from crabhook.hook.signed import SigningTeam, UnsignedError
from crabhook.hook.strict import team_content
from crabhook.install.program import replaceable
from crabhook.model.ballot import Terms
from crabhook.model.errors import InstallError
from crabhook.platforms.installation import StrictHooks
from crabhook.team.membership import der_of, fingerprint_of

AUTHORITY = "authority.pem"
"""What the authority's certificate is called beside a team file."""

# A public key on P-256 as certificates have it (RFC 5480), up to the point's two coordinates.
_KEY = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
_SAID = 2 * (32 + 33)  # hexadecimal digits of an authority as a hook's command has it


@frozen
class TeamAtHooks:
    """A team file as strict hooks would take it: its version, and who can sign for them.

    `keyless` may decide too, and no key of theirs signs.
    """

    version: int
    people: tuple[str, ...]
    keyless: tuple[str, ...] = ()


def authority_in(certificate: bytes) -> str:
    """Return an authority's id and public key, in hexadecimal; raises InstallError."""
    der = der_of(certificate)
    at = der.find(_KEY) + len(_KEY)
    x, y = der[at : at + 32], der[at + 32 : at + 64]
    if len(y) != 32 or at < len(_KEY):
        raise InstallError("it holds no certificate of a team's authority")
    return fingerprint_of(certificate) + bytes((2 + (y[-1] & 1),)).hex() + x.hex()


def strict_hooks(
    platform: str, team: Path, authority: str | None, terms: Terms, when_unsigned: str
) -> StrictHooks:
    """Return what hooks of an agent are to check by; raises InstallError.

    `terms`: how many people have to sign an allow, and of whom. `authority` is a file with its
    certificate, or what a hook's command has; by default the file beside the team file.
    """
    if not can(platform, when_unsigned):
        raise InstallError(f"{platform} cannot be told to {when_unsigned}: say pass or deny")
    pinned = authority if authority and is_pinned(authority) else _from(authority, team)
    there = team_at(str(team), pinned, of=terms.of)
    strict = StrictHooks(str(team), pinned, there.version, terms.need, when_unsigned, terms.of)
    if len(there.people) < terms.need:
        raise InstallError(
            f"{strict.people} have to sign, and the team file {team} has {len(there.people)} "
            "who can"
        )
    return strict


def team_at(path: str, authority: str, least: int = 0, of: tuple[str, ...] = ()) -> TeamAtHooks:
    """Return the team file at a path as a hook takes it, with its people of these names or groups.

    Raises InstallError.
    """
    team = signing_team(path, authority, least)
    signing = {True: list[str](), False: list[str]()}
    for name, signs in team.deciders(of):
        signing[signs].append(name)
    return TeamAtHooks(team.version, tuple(signing[True]), tuple(signing[False]))


def signing_team(path: str, authority: str, least: int = 0) -> SigningTeam:
    """Return the people of the team file at a path, and their keys; raises InstallError."""
    try:
        return SigningTeam(team_content(path), bytes.fromhex(authority), least)
    except OSError as error:
        raise InstallError(f"the team file {path} cannot be read: {error.strerror}") from error
    except (UnsignedError, ValueError) as error:
        raise InstallError(f"the team file {path} does not count: {error}") from error


def team_trouble(path: str) -> str:
    """Say what speaks against where a team file lies; empty for nothing."""
    place = replaceable(path)
    if place is None:
        return ""
    return (
        f"not only root can write {place}: an agent may put an older team file there, with people "
        f"who have left. Have root keep it, as in /etc/crabhook, with {AUTHORITY} beside it"
    )


def is_pinned(text: str) -> bool:
    """Whether it is an authority as a hook's command has it, and no file."""
    return len(text) == _SAID and not text.strip("0123456789abcdef")


def _from(authority: str | None, team: Path) -> str:
    path = Path(authority) if authority else team.with_name(AUTHORITY)
    try:
        certificate = path.read_bytes()
    except OSError as error:
        raise InstallError(
            f"the certificate of the team's authority, {path}, cannot be read: {error.strerror}. "
            "Name it with --authority FILE"
        ) from error
    try:
        return authority_in(certificate)
    except InstallError as error:
        raise InstallError(f"{path}: {error}") from error
