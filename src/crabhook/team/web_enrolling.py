"""Enrolling a passkey: the admin's command on one side, the server that shows pages on the other.

A browser cannot reach the command, and the team's passphrase is typed there. So each side writes
one file in the team's folder and reads the other's. `PageSide` is for the server, `CommandSide` for
the command.

A program that can read that folder cannot enrol: the files hold a digest of what the page shows,
and not what it shows. A program that can write there cannot enrol either. The command checks the
passkey by the secret, and a person compares six words that are made of it.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, field, replace
from hashlib import sha256
from ipaddress import ip_address
from pathlib import Path
from secrets import token_hex, token_urlsafe
from typing import Any
from urllib.parse import urlsplit

from crabhook.datatypes import frozen
from crabhook.hook.statement import framed
from crabhook.model.card import number_of
from crabhook.model.errors import CrabhookError
from crabhook.safe_open import read_own, write_own
from crabhook.team.certificates import DAY, DEVICE_DAYS
from crabhook.team.edit_team import new_id
from crabhook.team.folder import Folder, raising_team_error
from crabhook.team.invitation import LONGEST_NAME, TRIES, VALID, six_words
from crabhook.team.membership import Member, Passkey, Team
from crabhook.team.passkeys import ALGORITHMS, Enrolled, Registration, enrolled, to_text

_LARGEST = 64 << 10  # bytes of a file
_SHOWN_FOR = b"crabhook-enrol-v1\0"


class EnrolError(CrabhookError):
    """A passkey that is not enrolled; says why."""


class WrongSecretError(EnrolError):
    """A page that knows the secret of no invitation."""


class OverError(EnrolError):
    """An invitation by which nobody comes any more."""


def shown_of(secret: str) -> bytes:
    """Return what a page shows as proof that it knows the secret.

    A page has the secret behind the `#` of its address, and no browser sends that part.
    """
    return sha256(_SHOWN_FOR + secret.encode()).digest()


@frozen
class WebInvitation:
    """What the command writes: for whom a passkey is made, for which page, and what came of it.

    `passkeys` are the person's on that host, beside which a browser makes no second. `over` says
    why nobody comes by it any more, `device` is the name of the passkey that came into the team.
    """

    id: str
    shown_sha256: str
    team: str
    team_name: str
    operator: str
    name: str
    origin: str
    until: int
    passkeys: tuple[str, ...] = ()
    over: str = ""
    device: str = ""

    @property
    def host(self) -> str:
        """The host whose pages the passkey signs for."""
        return urlsplit(self.origin).hostname or ""

    def challenge(self, shown: bytes) -> bytes:
        """Return what the new passkey signs."""
        return hmac.digest(shown, framed(b"challenge", self.id.encode()), "sha256")

    def made_by(self, shown: bytes, registration: Registration) -> Enrolled:
        """Return the passkey that was made for this invitation; raises PasskeyError."""
        return enrolled(registration, self.challenge(shown), self.host, (self.origin,))

    def words(self, shown: bytes, made: Enrolled, device: str) -> str:
        """Return the words that both sides show."""
        secret = hmac.digest(shown, framed(b"words", self.id.encode()), "sha256")
        fields = (made.credential, made.key, self.operator, device)
        return six_words(self.team.encode(), secret, *(text.encode() for text in fields))


@frozen
class WebOffer:
    """What the server writes: the passkey as its browser sent it, and what was refused.

    `wrong` counts pages without the secret, `repeated` the passkeys after the first. `here`: the
    browser runs on the server's machine.
    """

    invitation: str
    wrong: int = 0
    repeated: int = 0
    device: str = ""
    here: bool = False
    registration: Mapping[str, Any] = field(default_factory=dict)


# Each side reads what the other wrote.


def _invitation_in(folder: Folder) -> WebInvitation | None:
    """Return what the command wrote last; None for nothing that can be used."""
    try:
        values = _values(folder.web_invitation)
        until, passkeys = int(values.pop("until")), tuple(map(str, values.pop("passkeys")))
        texts = {name: str(value) for name, value in values.items()}
        return WebInvitation(**texts, until=until, passkeys=passkeys)
    except _NOT_OURS:
        return None


def _offer_in(folder: Folder, invitation: str) -> WebOffer:
    """Return what the server wrote about an invitation: an empty offer where it wrote nothing."""
    try:
        values = _values(folder.web_offer)
        offer = WebOffer(
            str(values["invitation"]),
            int(values["wrong"]),
            int(values["repeated"]),
            str(values["device"]),
            bool(values["here"]),
            dict(values["registration"]),
        )
    except _NOT_OURS:
        return WebOffer(invitation)
    return offer if offer.invitation == invitation else WebOffer(invitation)


# What the other side did not write is as nothing.
_NOT_OURS = (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError)


def _values(path: Path) -> dict[str, Any]:
    return dict(json.loads(read_own(path, _LARGEST)))


def _write(path: Path, value: WebInvitation | WebOffer) -> None:
    with raising_team_error(path, "written"):
        write_own(path, json.dumps(asdict(value)).encode())


@frozen
class Begun:
    """What a page needs to make a passkey: `options` as `parseCreationOptionsFromJSON` reads them.

    `name` is the person's, `team` the team's.
    """

    name: str
    team: str
    options: Mapping[str, Any]


class PageSide:
    """The server's side: what a page asks for in turn, each time with what it shows.

    Each raises WrongSecretError for a page without the secret, OverError where the invitation is
    over, and both in words for the page.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def begin(self, shown: bytes, now: float) -> Begun:
        """Return what the page makes a passkey by, `now` in seconds since 1970."""
        invitation, _ = self._open(shown, now)
        return Begun(invitation.name, invitation.team_name, _options(invitation, shown))

    def offer(
        self, shown: bytes, registration: Registration, device: str, now: float, *, here: bool
    ) -> str:
        """Take the passkey of a device that is called so; return the six words for the page.

        `here`: the browser runs on this machine. The first passkey counts, also when it is sent
        again. Raises PasskeyError for a passkey that does not count.
        """
        invitation, offer = self._open(shown, now)
        if not 0 < len(device) <= LONGEST_NAME or not device.isprintable():
            raise EnrolError(f"a device's name has 1 to {LONGEST_NAME} letters")
        made = invitation.made_by(shown, registration)
        if offer.device:
            if Registration.from_json(offer.registration) != registration:
                _write(self._folder.web_offer, replace(offer, repeated=offer.repeated + 1))
                raise OverError("this invitation was used: ask for another invitation")
            return invitation.words(shown, made, offer.device)
        taken = replace(offer, device=device, here=here, registration=registration.json)
        _write(self._folder.web_offer, taken)
        return invitation.words(shown, made, device)

    def outcome(self, shown: bytes, now: float) -> str | None:
        """Return the name of the passkey that came into the team; None while an admin compares."""
        invitation, _ = self._proven(shown, now)
        if invitation.device:
            return invitation.device
        self._open(shown, now)
        return None

    def _open(self, shown: bytes, now: float) -> tuple[WebInvitation, WebOffer]:
        """Return the invitation by which a page may still come, and what was offered."""
        invitation, offer = self._proven(shown, now)
        if invitation.over or invitation.device:
            raise OverError(invitation.over or "this invitation was used")
        if now >= invitation.until:
            raise OverError(_TOO_LATE)
        if offer.wrong >= TRIES and not offer.device:
            raise OverError(_TOO_MANY)
        return invitation, offer

    def _proven(self, shown: bytes, now: float) -> tuple[WebInvitation, WebOffer]:
        """Return the invitation whose secret a page knows; a wrong secret is counted.

        A page without the secret never learns whether there is an invitation.
        """
        invitation = _invitation_in(self._folder)
        if invitation is not None:
            offer = _offer_in(self._folder, invitation.id)
            if hmac.compare_digest(_digest(shown).encode(), invitation.shown_sha256.encode()):
                return invitation, offer
            # Beyond the bound nothing is written: a stranger shall not keep the disk busy.
            if now < invitation.until and offer.wrong < TRIES:
                _write(self._folder.web_offer, replace(offer, wrong=offer.wrong + 1))
        # Of two servers that share a name, the other one may have it, or had it before.
        raise WrongSecretError(
            "this server has no such invitation: open its link at the server where it was made. "
            "If somebody there let this device in already, sign in"
        )


def _digest(shown: bytes) -> str:
    return sha256(b"crabhook-enrol-shown-v1\0" + shown).hexdigest()


_TOO_LATE = "nobody came in time: the invitation is over"
_TOO_MANY = f"{TRIES} wrong secrets were shown: the invitation is over, and nobody joined"


def _options(invitation: WebInvitation, shown: bytes) -> Mapping[str, Any]:
    name = invitation.name
    return {
        "rp": {"id": invitation.host, "name": f"crabhook {invitation.team_name}"},
        "user": {"id": to_text(invitation.operator.encode()), "name": name, "displayName": name},
        "challenge": to_text(invitation.challenge(shown)),
        "pubKeyCredParams": [{"type": "public-key", "alg": number} for number in ALGORITHMS],
        "excludeCredentials": [{"type": "public-key", "id": key} for key in invitation.passkeys],
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        },
        "attestation": "none",
        "timeout": VALID * 1000,
    }


@frozen
class Offered:
    """A passkey that a page offers, checked; `words` are what its page shows."""

    made: Enrolled
    device: str
    here: bool
    words: str


class CommandSide:
    """The admin's side: one invitation, which this object alone can check offers by.

    `origin` is where the page is, as `https://desk.example:7446`; `now` is in seconds since 1970.
    """

    def __init__(self, folder: Folder, team: Team, member: Member, origin: str, now: float) -> None:
        """Open the invitation; raises TeamError."""
        secret = token_urlsafe(32)
        self._folder, self._shown = folder, shown_of(secret)
        self.link = f"{origin}/enrol#{secret}"
        until = int(now) + VALID
        ids = (token_hex(8), _digest(self._shown), team.id, team.name, member.id, member.name)
        self.invitation = WebInvitation(*ids, origin, until)
        have = (
            key.credential
            for key in member.passkeys
            if key.rp == self.invitation.host and not key.revoked
        )
        self.invitation = replace(self.invitation, passkeys=tuple(have))
        _write(folder.web_invitation, self.invitation)

    def refused(self) -> tuple[int, int]:
        """Return how many pages had a wrong secret, and how many passkeys came after the first."""
        offer = _offer_in(self._folder, self.invitation.id)
        return offer.wrong, offer.repeated

    def look(self, now: float) -> Offered | None:
        """Return what is offered, None for nothing yet.

        Raises OverError where nobody can come any more, PasskeyError for an offer that no page of
        this invitation made.
        """
        current = _invitation_in(self._folder)
        if current is None or current.id != self.invitation.id:
            raise OverError("a newer invitation is open: this invitation is over")
        if now >= self.invitation.until:
            raise OverError(_TOO_LATE)
        offer = _offer_in(self._folder, self.invitation.id)
        if not offer.device:
            if offer.wrong >= TRIES:
                raise OverError(_TOO_MANY)
            return None
        made = self.invitation.made_by(self._shown, Registration.from_json(offer.registration))
        words = self.invitation.words(self._shown, made, offer.device)
        return Offered(made, offer.device, offer.here, words)

    def passkey(self, offered: Offered, now: float, *, agents_machine: bool) -> Passkey:
        """Return the passkey as it comes into the team."""
        made, host = offered.made, self.invitation.host
        return Passkey(
            new_id("p"),
            made.credential,
            made.key,
            host,
            offered.device,
            int(now),
            int(now) + DEVICE_DAYS * DAY,
            aaguid=made.aaguid,
            backup_eligible=made.backup_eligible,
            backed_up=made.backed_up,
            agents_machine=agents_machine or offered.here or is_this_machine(host),
        )

    def admitted(self, device: str) -> None:
        """Tell the page that its passkey is in the team, under this name; raises TeamError."""
        self._end(replace(self.invitation, device=device))

    def ended(self, why: str) -> None:
        """Tell the page why nobody comes by the invitation any more; raises TeamError."""
        self._end(replace(self.invitation, over=why))

    def _end(self, invitation: WebInvitation) -> None:
        current = _invitation_in(self._folder)
        if current is None or current.id == invitation.id:
            _write(self._folder.web_invitation, invitation)


def is_name(host: str) -> bool:
    """Whether a URL's host is a name: browsers make passkeys for no number and no nothing."""
    return bool(host) and ":" not in host and number_of(host) is None


def is_this_machine(host: str) -> bool:
    """Whether a host is the machine where the browser itself runs."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
