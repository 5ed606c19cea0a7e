"""A browser is invited from a terminal, and its passkey is in the team after the six words."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from argparse import Namespace
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from crabhook.cli.team import members, web_inviting
from crabhook.cli.team.web_inviting import described, page_of, warnings_of
from crabhook.model.actor import Role
from crabhook.team.enrolling import InvitingError
from crabhook.team.membership import Member, Principal
from crabhook.team.passkeys import Registration, signed_in
from crabhook.team.team_file import team_in
from crabhook.team.web_enrolling import OverError, PageSide, WrongSecretError, shown_of
from tests.support.authenticator import CAN_BE_COPIED, ORIGIN, PRESENT, VERIFIED, Authenticator
from tests.support.team import RIGHT, Founded, founded
from tests.support.typist import Typist

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

CRABHOOK = [sys.executable, "-m", "crabhook"]
SAME = "Does its screen show: "


@pytest.fixture
def ours(tmp_path: Path) -> Founded:
    made = founded(tmp_path / "state" / "crabhook" / "team", time.time())
    made.let_in("ann", Role.ADMIN)
    return made


def environment(home: Path) -> Mapping[str, str]:
    folders = {"XDG_STATE_HOME": str(home / "state"), "XDG_CONFIG_HOME": str(home / "config")}
    kept = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    return {**kept, "HOME": str(home), "USER": "ann", **folders}


@contextmanager
def inviting(home: Path, *words: str) -> Iterator[tuple[Typist, str]]:
    """Invite at a terminal; give it with the link's secret."""
    command = [*CRABHOOK, "team", "invite", *words, "--web", "--page", ORIGIN]
    with Typist(command, environment(home)) as admin:
        admin.answer("Your passphrase", f"{RIGHT}\n")
        assert admin.process.stdout is not None
        for line in admin.process.stdout:
            if found := re.search(rb"  https://desk.example:7446/enrol#(\S+)", line):
                yield admin, found[1].decode()
                return
        raise AssertionError(admin.finish())


def of_ann(page: str) -> Namespace:
    none: list[str] = []
    limits = {"only_project": none, "only_machine": none, "only_kind": none}
    return Namespace(name="ann", role=None, page=page, agents_machine=False, **limits)


def comes(ours: Founded, secret: str, phone: Authenticator, device: str = "Pixel") -> str:
    """Have a browser come by the link; return the words that it shows."""
    side, shown = PageSide(ours.folder), shown_of(secret)
    begun = side.begin(shown, time.time())
    text = begun.options["challenge"]
    challenge = Registration.from_json(
        {"response": {"clientDataJSON": text, "attestationObject": ""}}
    ).client_data
    return side.offer(shown, phone.register(challenge), device, time.time(), here=False)


@pytest.mark.process
def test_a_passkey_whose_words_are_the_same_is_in_the_team(ours: Founded, tmp_path: Path) -> None:
    phone = Authenticator(flags=PRESENT | VERIFIED | CAN_BE_COPIED)
    with inviting(tmp_path, "zoe", "--role", "viewer") as (admin, secret):
        with pytest.raises(WrongSecretError):
            comes(ours, "guessed", Authenticator())
        words = comes(ours, secret, phone)
        admin.answer(f"zoe (on Pixel) wants to join. {SAME}{words} ?", "y\n")
        code, said, complained = admin.finish()
    assert (code, complained) == (0, ""), complained
    assert "zoe has joined as viewer, by a passkey on Pixel." in said
    assert "Google Password Manager may copy it" in said
    team = team_in(ours.folder)
    who = signed_in(phone.sign(b"x" * 32), b"x" * 32, team, time.time(), (ORIGIN,))
    assert isinstance(who, Principal)
    assert (who.name, who.role, who.closing) == ("zoe", Role.VIEWER, True)
    assert PageSide(ours.folder).outcome(shown_of(secret), time.time()) == "Pixel"
    assert [attempt.what for attempt in team.attempts] == [
        "the invitation for zoe: a wrong secret was shown (1 of 5): refused"
    ]
    (passkey,) = team.members[-1].passkeys

    def asked(*words: str) -> str:
        command = [*CRABHOOK, "team", *words]
        return subprocess.run(
            command, env=environment(tmp_path), capture_output=True, text=True, check=True
        ).stdout

    assert described(passkey) in " ".join(asked("list").split())
    assert json.loads(asked("list", "--json"))["members"][-1]["passkeys"][0]["id"] == passkey.id


@pytest.mark.process
def test_a_passkey_whose_words_are_not_the_same_is_not_let_in(
    ours: Founded, tmp_path: Path
) -> None:
    before = team_in(ours.folder).members
    with inviting(tmp_path, "ann") as (admin, secret):
        comes(ours, secret, Authenticator())
        admin.answer(SAME, "n\n")
        code, _, complained = admin.finish()
    assert code != 0
    assert "not said to be the same" in complained
    assert team_in(ours.folder).members == before
    with pytest.raises(OverError, match="the words were not"):
        PageSide(ours.folder).outcome(shown_of(secret), time.time())


@pytest.mark.process
def test_an_invitation_that_the_admin_ends_is_over(ours: Founded, tmp_path: Path) -> None:
    with inviting(tmp_path, "ann", "--agents-machine") as (admin, secret):
        admin.type(b"\x03")
        admin.finish()
    with pytest.raises(OverError, match="the admin ended"):
        comes(ours, secret, Authenticator())


def test_an_invitation_that_ends_while_its_link_is_printed_is_over(
    ours: Founded, monkeypatch: pytest.MonkeyPatch
) -> None:
    links: list[str] = []

    def interrupted(link: str) -> None:
        links.append(link)
        raise KeyboardInterrupt

    monkeypatch.setattr(web_inviting, "team_folder", lambda: ours.folder)
    monkeypatch.setattr(web_inviting, "with_passphrase", lambda *_: ours.authority)
    monkeypatch.setattr(web_inviting, "_show", interrupted)
    with pytest.raises(KeyboardInterrupt):
        web_inviting.invite_browser(of_ann(ORIGIN))
    with pytest.raises(OverError, match="the admin ended"):
        comes(ours, links[0].partition("#")[2], Authenticator())


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("https://desk.example", "On the phone, within 15 minutes, once:"),
        ("http://crabhook.localhost:7446", "A phone cannot open this page: `crabhook doc"),
    ],
)
def test_only_a_link_that_a_phone_can_open_is_for_its_camera(
    ours: Founded,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    page: str,
    words: str,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(web_inviting, "team_folder", lambda: ours.folder)
    monkeypatch.setattr(web_inviting, "with_passphrase", lambda *_: ours.authority)
    monkeypatch.setattr(web_inviting, "_offered", interrupted)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    with pytest.raises(KeyboardInterrupt):
        web_inviting.invite_browser(of_ann(page))
    shown = capsys.readouterr().out
    assert shown.startswith(words)
    assert ("█" in shown) is words.startswith("On the phone")
    assert f"  {page}/enrol#" in shown


@pytest.mark.process
def test_an_admin_vouches_for_a_passkey_on_a_machine_of_the_agents(
    ours: Founded, tmp_path: Path
) -> None:
    with inviting(tmp_path, "ann", "--agents-machine") as (admin, secret):
        comes(ours, secret, Authenticator(), "desktop")
        admin.answer(SAME, "y\n")
        _, said, _ = admin.finish()
    (passkey,) = team_in(ours.folder).members[0].passkeys
    assert not passkey.counts
    assert f"crabhook team keys trust ann --passkey {passkey.id}" in said
    trust = [*CRABHOOK, "team", "keys", "trust", "ann", "--passkey", "desktop"]
    with Typist(trust, environment(tmp_path)) as admin:
        admin.answer("Your passphrase", f"{RIGHT}\n")
        code, said, complained = admin.finish()
    assert (code, complained) == (0, ""), complained
    (passkey,) = team_in(ours.folder).members[0].passkeys
    assert passkey.counts


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("team invite ann --web --machine", "--page says where it leads"),
        ("team invite ann --web --server a:1", "--page says where it leads"),
        ("team invite ann --page https://a.example", "are for --web"),
        ("team keys trust ann", "an SSH key, or a passkey"),
        ("team invite ann --web", "no server runs here that shows pages"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    ours: Founded, tmp_path: Path, words: str, why: str
) -> None:
    done = subprocess.run(
        [*CRABHOOK, *words.split()], env=environment(tmp_path), capture_output=True, check=False
    )
    assert done.returncode == 1
    assert why in done.stderr.decode()


def test_the_page_is_where_the_server_here_says(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ["https://desk.example:7446", "http://localhost:7446"]
    monkeypatch.setattr(web_inviting, "status_here", lambda: {"pages": pages})
    assert page_of(None) == pages[0]
    monkeypatch.setattr(web_inviting, "status_here", lambda: None)
    with pytest.raises(InvitingError, match="crabhook up --web"):
        page_of(None)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("desk.example:7446", "is no page's address"),
        ("https://desk.example/other", "is no page's address"),
        ("https://192.0.2.7:7446", "which is no name"),
        ("https://[2001:db8::1]:7446", "which is no name"),
        ("http://desk.example:7446", "which has no TLS"),
    ],
)
def test_a_page_where_browsers_make_no_passkey_is_refused_in_words(
    address: str, words: str
) -> None:
    with pytest.raises(InvitingError, match=words):
        page_of(address)


@pytest.mark.parametrize(
    "address",
    ["https://desk.example", "https://laptop:7446", "http://crabhook.localhost:7446"],
)
def test_a_page_where_browsers_make_a_passkey_is_its_origin(address: str) -> None:
    assert page_of(f"{address}/") == address


@pytest.mark.parametrize(
    ("told", "words", "warned"),
    [
        ({}, "until 36812-02-20, of an unknown kind, stays on its device", 0),
        ({"revoked": 7}, "revoked 1970-01-01", 0),
        ({"until": 7}, "ended 1970-01-01", 0),
        ({"backup_eligible": True}, "may be copied", 1),
        ({"backup_eligible": True, "backed_up": True}, "copied to other devices", 1),
        ({"aaguid": "fbfc3007-154e-4ecc-8c0b-6e020557d7bd"}, "iCloud Keychain", 0),
        ({"agents_machine": True}, "looks and closes only", 1),
        ({"agents_machine": True, "confirmed": True}, "opens, as an admin says", 0),
    ],
)
def test_the_list_says_what_a_passkey_is_and_whether_it_counts(
    told: dict[str, object], words: str, warned: int
) -> None:
    passkey = Authenticator().passkey(**told)
    assert described(passkey).startswith("passkey on Pixel (p-Pixel), since 1970-01-01, ")
    assert words in described(passkey)
    assert len(list(warnings_of(passkey, "ann"))) == warned


@pytest.mark.parametrize(
    ("device", "closing", "words"),
    [
        ("Pixel", True, "Pixel at 192.0.2.7, since 2026-11-29T03:00Z, on a page"),
        ("laptop", True, "Z, by its open key"),
        ("laptop", False, "laptop at 192.0.2.7, since 2026-11-29T03:00Z"),
    ],
)
def test_the_list_says_who_has_a_page_open(device: str, words: str, *, closing: bool) -> None:
    ann = Member("o", "ann", Role.ADMIN, passkeys=(Authenticator().passkey(),))
    desk = {"device": device, "address": "192.0.2.7", "since": "2026-11-29T03:00:07Z"}
    assert members._attached({**desk, "closing": closing}, ann).endswith(words)
