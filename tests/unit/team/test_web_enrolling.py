"""A passkey comes into the team by two files: once, in time, from a page that knows the secret."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crabhook.model.actor import Role
from crabhook.model.errors import CrabhookError
from crabhook.team.certificates import DEVICE_DAYS
from crabhook.team.folder import Folder
from crabhook.team.invitation import TRIES, VALID
from crabhook.team.membership import Member, Passkey, Team
from crabhook.team.passkeys import PasskeyError, Registration, to_text
from crabhook.team.web_enrolling import (
    CommandSide,
    EnrolError,
    OverError,
    PageSide,
    WrongSecretError,
    is_this_machine,
    shown_of,
)
from tests.support.authenticator import CAN_BE_COPIED, ORIGIN, PRESENT, VERIFIED, Authenticator
from tests.support.examples import examples

NOW = time.time()
TEAM, ANN = Team("t", "ours", 1), Member("o-ann", "ann", Role.ADMIN)


@dataclass
class Page:
    """What a browser has: the link's secret, and an authenticator."""

    side: PageSide
    shown: bytes
    phone: Authenticator
    now: float = NOW

    def begin(self) -> bytes:
        """Return the challenge."""
        challenge = self.side.begin(self.shown, self.now).options["challenge"]
        return Registration.from_json(
            {"response": {"clientDataJSON": challenge, "attestationObject": ""}}
        ).client_data

    def offer(self, device: str = "Pixel", *, here: bool = False) -> str:
        return self.sends(self.phone.register(self.begin()), device, here=here)

    def sends(self, made: Registration, device: str = "Pixel", *, here: bool = False) -> str:
        return self.side.offer(self.shown, made, device, self.now, here=here)


@dataclass
class Ends:
    """Both ends of an invitation for ann."""

    folder: Folder
    command: CommandSide
    page: Page

    def wrong(self) -> None:
        with pytest.raises(WrongSecretError):
            replace(self.page, shown=shown_of("guessed")).begin()


def ends_in(path: Path, member: Member = ANN, origin: str = ORIGIN) -> Ends:
    folder = Folder(path)
    command = CommandSide(folder, TEAM, member, origin, NOW)
    secret = command.link.removeprefix(f"{origin}/enrol#")
    return Ends(folder, command, Page(PageSide(folder), shown_of(secret), Authenticator()))


@pytest.fixture
def ends(tmp_path: Path) -> Ends:
    return ends_in(tmp_path / "team")


def test_a_passkey_is_offered_compared_and_let_in(ends: Ends) -> None:
    assert ends.command.look(NOW) is None
    ends.page.phone.flags = PRESENT | VERIFIED | CAN_BE_COPIED
    words = ends.page.offer()
    assert ends.page.side.outcome(ends.page.shown, NOW) is None
    offered = ends.command.look(NOW)
    assert offered is not None
    assert (offered.words, offered.device) == (words, "Pixel")
    assert len(set(words.split())) > 1
    passkey = ends.command.passkey(offered, NOW, agents_machine=False)
    phone, until = ends.page.phone, int(NOW) + DEVICE_DAYS * 86400
    ids = (passkey.id, to_text(phone.credential), to_text(phone.public))
    kind = "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4"
    assert passkey == Passkey(
        *ids, "desk.example", "Pixel", int(NOW), until, aaguid=kind, backup_eligible=True
    )
    assert passkey.counts
    ends.command.admitted("Pixel-2")
    assert ends.page.side.outcome(ends.page.shown, NOW + VALID) == "Pixel-2"
    with pytest.raises(OverError):
        ends.page.begin()


def test_a_browser_makes_a_passkey_for_this_person_that_asks_who_is_there(tmp_path: Path) -> None:
    old = Authenticator().passkey("old")
    others = (
        replace(old, credential="x", rp="other.example"),
        replace(old, credential="y", revoked=5),
    )
    ends = ends_in(tmp_path, replace(ANN, passkeys=(old, *others)))
    begun = ends.page.side.begin(ends.page.shown, NOW)
    assert (begun.name, begun.team) == ("ann", "ours")
    assert begun.options["rp"] == {"id": "desk.example", "name": "crabhook ours"}
    assert begun.options["user"]["id"] == to_text(b"o-ann")
    assert begun.options["authenticatorSelection"]["userVerification"] == "required"
    assert begun.options["excludeCredentials"] == [{"type": "public-key", "id": old.credential}]


def test_neither_file_holds_what_a_page_must_show_and_both_are_their_owners_alone(
    ends: Ends,
) -> None:
    ends.page.offer()
    secret = ends.command.link.partition("#")[2]
    for path in (ends.folder.web_invitation, ends.folder.web_offer):
        content = path.read_text()
        assert path.stat().st_mode & 0o777 == 0o600
        for kept in (secret, ends.page.shown.hex(), to_text(ends.page.shown)):
            assert kept not in content
    shown = json.loads(ends.folder.web_invitation.read_text())["shown_sha256"]
    with pytest.raises(WrongSecretError):
        replace(ends.page, shown=bytes.fromhex(shown)).begin()


def test_a_wrong_secret_is_counted_and_after_five_nobody_comes(ends: Ends) -> None:
    for number in range(1, TRIES + 1):
        ends.wrong()
        assert ends.command.refused() == (number, 0)
    ends.wrong()
    assert ends.command.refused() == (TRIES, 0)  # nor is the disk kept busy
    for come in (ends.page.begin, lambda: ends.command.look(NOW)):
        with pytest.raises(OverError, match="5 wrong secrets"):
            come()


def test_wrong_secrets_take_nothing_from_a_passkey_that_was_offered(ends: Ends) -> None:
    ends.page.offer()
    for _ in range(TRIES + 1):
        ends.wrong()
    assert ends.command.look(NOW) is not None


def test_an_invitation_counts_for_a_quarter_of_an_hour(ends: Ends) -> None:
    ends.page.now = NOW + VALID - 1
    ends.page.offer()
    ends.page.now = NOW + VALID
    late: list[Callable[[], object]] = [
        ends.page.begin,
        lambda: ends.page.side.outcome(ends.page.shown, NOW + VALID),
        lambda: ends.command.look(NOW + VALID),
    ]
    for come in late:
        with pytest.raises(OverError, match="nobody came in time"):
            come()


def test_the_first_passkey_counts_also_when_it_is_sent_again(ends: Ends) -> None:
    challenge = ends.page.begin()
    made = ends.page.phone.register(challenge)
    words = ends.page.sends(made)
    assert ends.page.sends(made, "another name") == words
    with pytest.raises(OverError, match="was used"):
        ends.page.sends(Authenticator().register(challenge))
    assert ends.command.refused() == (0, 1)
    offered = ends.command.look(NOW)
    assert offered is not None
    assert (offered.device, offered.words) == ("Pixel", words)


def test_what_the_admin_refuses_is_told_to_the_page(ends: Ends) -> None:
    ends.page.offer()
    ends.command.ended("the words were not said to be the same")
    with pytest.raises(OverError, match="the words were not"):
        ends.page.side.outcome(ends.page.shown, NOW)


@pytest.mark.parametrize("device", ["", "x" * 65, "a\nb", "a\u202eb"])
def test_a_device_has_a_name_that_can_be_shown(ends: Ends, device: str) -> None:
    with pytest.raises(EnrolError, match="1 to 64 letters"):
        ends.page.offer(device)
    ends.page.offer()  # the refusal took nothing


def test_a_passkey_that_does_not_count_is_not_offered(ends: Ends) -> None:
    ends.page.phone.flags = PRESENT
    with pytest.raises(PasskeyError):
        ends.page.offer()
    assert ends.command.look(NOW) is None


@pytest.mark.parametrize(
    ("origin", "here", "agents"),
    [
        (ORIGIN, False, False),
        (ORIGIN, True, True),
        ("http://crabhook.localhost:7446", False, True),
        ("http://localhost:7446", False, True),
    ],
)
def test_a_passkey_of_the_servers_machine_does_not_count_by_itself(
    tmp_path: Path, origin: str, *, here: bool, agents: bool
) -> None:
    ends = ends_in(tmp_path, origin=origin)
    phone = ends.page.phone
    phone.origin, phone.rp = origin, ends.command.invitation.host
    ends.page.offer(here=here)
    offered = ends.command.look(NOW)
    assert offered is not None
    assert ends.command.passkey(offered, NOW, agents_machine=False).counts is not agents
    assert not ends.command.passkey(offered, NOW, agents_machine=True).counts


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("a.localhost", True), ("127.0.0.2", True), ("[::1]", True), ("desk.example", False), ("192.0.2.1", False), ("", False)],
)  # fmt: skip
def test_a_host_is_this_machine_where_every_browser_finds_itself(host: str, *, here: bool) -> None:
    assert is_this_machine(host) is here


# A program of the same user may write into the folder.


def test_a_forged_offer_has_no_words_that_a_page_shows(ends: Ends) -> None:
    ends.page.offer()
    value = json.loads(ends.folder.web_offer.read_text())
    for challenge in (b"x" * 32, ends.page.phone.credential):
        value["registration"] = Authenticator().register(challenge).json
        ends.folder.web_offer.write_text(json.dumps(value))
        with pytest.raises(PasskeyError, match="not what was asked"):
            ends.command.look(NOW)


def test_a_forged_invitation_lets_nobody_into_the_one_that_an_admin_waits_by(ends: Ends) -> None:
    ends.page.offer()
    theirs = ends_in(ends.folder.path)
    theirs.page.offer()
    with pytest.raises(OverError, match="newer invitation"):
        ends.command.look(NOW)
    value = json.loads(ends.folder.web_invitation.read_text())
    value["id"] = ends.command.invitation.id
    ends.folder.web_invitation.write_text(json.dumps(value))
    page = replace(theirs.page, side=PageSide(ends.folder))
    page.offer()
    with pytest.raises(PasskeyError, match="not what was asked"):
        ends.command.look(NOW)


PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(st.binary(max_size=99) | VALUES.map(lambda value: json.dumps(value).encode()), st.data())
@examples(100)
def test_any_bytes_in_either_file_are_nothing_or_an_error_in_words(
    content: bytes, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as path:
        ends = ends_in(Path(path))
        ends.page.offer()
        file = data.draw(st.sampled_from([ends.folder.web_invitation, ends.folder.web_offer]))
        if data.draw(st.booleans()):
            value = json.loads(file.read_bytes())
            value[data.draw(st.sampled_from(sorted(value)))] = data.draw(VALUES)
            content = json.dumps(value).encode()
        file.write_bytes(content)
        for come in (ends.page.begin, ends.page.offer, lambda: ends.command.look(NOW)):
            with suppress(CrabhookError):
                come()
