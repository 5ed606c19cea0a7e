"""What a server says of its page where it begins."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crabhook.app.page_words import invites, page_words, reaches_phones
from crabhook.model.actor import Role
from crabhook.team.membership import Member, Scope, Team, TeamRefusal
from tests.support.authenticator import Authenticator

PHONES = "https://desk.example:7446"
ANN = Member("o-ann", "ann", Role.ADMIN, Scope())
ALONE = Team("t", "ours", 1, (ANN,))
WITH_PHONE = Team("t", "ours", 1, (replace(ANN, passkeys=(Authenticator().passkey("phone"),)),))


@pytest.mark.parametrize(
    ("page", "reaches"),
    [
        (PHONES, True),
        ("https://laptop.tail1234.ts.net", True),
        ("http://desk.example:7446", False),
        ("http://crabhook.localhost:7446", False),
        ("https://crabhook.localhost:7446", False),
        ("https://192.168.1.7:7446", False),
        ("https://[::1]:7446", False),
        ("https://0.0.0.0:7446", False),
        ("", False),
    ],
)
def test_a_phone_needs_a_name_and_tls(page: str, reaches: bool) -> None:
    assert reaches_phones(page) is reaches


def test_the_first_browser_is_invited_until_one_is_in() -> None:
    assert invites(ALONE) == "crabhook team invite ann --web"
    two = replace(ALONE, members=(ANN, replace(ANN, id="o-bob", name="bob")))
    assert invites(two) == invites(TeamRefusal("gone")) == "crabhook team invite NAME --web"
    assert invites(WITH_PHONE) == ""


def test_what_is_said_grows_with_what_is_missing() -> None:
    assert [*page_words(PHONES, WITH_PHONE)] == [f"The page: {PHONES}"]
    here = [*page_words("http://crabhook.localhost:7446", ALONE)]
    assert "crabhook doctor web" in here[1]
    assert invites(ALONE) in here[2]
