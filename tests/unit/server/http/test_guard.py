"""Nobody's browser, no borrowed name, nobody without the token."""

import pytest
from multidict import CIMultiDict

from crabhook.server.address import TcpAddress, Tokens
from crabhook.server.http.middleware import HeaderCheck, TurnedAwayError
from tests.support.rows import every_row

HERE = TcpAddress("127.0.0.1", 7780)
LAN = TcpAddress("192.0.2.7", 443)
GUARD = HeaderCheck(Tokens("secret"), ("desk.example", "Desk.Local."))


def admits(host: str | None, here: TcpAddress = HERE, *, tls: bool = False) -> bool:
    headers = CIMultiDict[str]({} if host is None else {"Host": host})
    try:
        GUARD.our_name(headers, here, tls=tls)
    except TurnedAwayError as error:
        return error.status != 421
    return True


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:7780", "localhost:7780", "LOCALHOST:7780", "localhost.:7780", "[::1]:7780"],
)
def test_the_loopback_has_its_names(host: str) -> None:
    assert admits(host)


@every_row(
    "host",
    [
        None,
        "",
        "127.0.0.1",
        "127.0.0.1:7781",
        "127.0.0.2:7780",
        "evil.example:7780",
        "localhost.evil.example:7780",
        "127.0.0.1:7780.evil.example",
        "127.0.0.1:7780, evil.example",
        "evil.example@127.0.0.1:7780",
        "0177.0.0.1:7780",
        "2130706433:7780",
        "[::1:7780",
        "192.0.2.7:7780",
        "127.0.0.1:99999",
    ],
)
def test_every_other_name_is_turned_away(host: str | None) -> None:
    assert not admits(host)


def test_two_hosts_are_none() -> None:
    headers = CIMultiDict([("Host", "127.0.0.1:7780"), ("host", "127.0.0.1:7780")])
    with pytest.raises(TurnedAwayError):
        GUARD.our_name(headers, HERE, tls=False)


@pytest.mark.parametrize(
    ("host", "tls", "ours"),
    [
        ("192.0.2.7", True, True),  # the usual port of https
        ("192.0.2.7:443", True, True),
        ("192.0.2.7", False, False),
        ("localhost:443", True, False),  # which leads to whoever asks
        ("127.0.0.1:443", True, False),
    ],
)
def test_beyond_the_loopback_the_number_that_was_reached_is_ours(
    host: str, tls: bool, ours: bool
) -> None:
    assert admits(host, LAN, tls=tls) is ours


@pytest.mark.parametrize("host", ["desk.example", "desk.example:9", "DESK.local:443"])
def test_a_name_that_was_given_is_ours_at_any_port(host: str) -> None:
    assert admits(host, LAN, tls=True)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, None),
        ({"Sec-Fetch-Site": "none"}, None),  # typed into the address bar
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "null"}, 403),
        ({"origin": ""}, 403),
    ],
)
def test_what_only_a_browser_sends_is_turned_away(
    headers: dict[str, str], status: int | None
) -> None:
    if status is None:
        GUARD.no_browser(CIMultiDict(headers))
        return
    with pytest.raises(TurnedAwayError) as turned:
        GUARD.no_browser(CIMultiDict(headers))
    assert turned.value.status == status


def test_the_token_admits() -> None:
    assert GUARD.shows_token(CIMultiDict({"authorization": "Bearer secret"})) == ""


def test_a_machines_own_token_admits_and_names_it_until_it_is_revoked() -> None:
    there = {"m1": "build1"}
    guard = HeaderCheck(Tokens("secret", there.get))
    shown = CIMultiDict({"authorization": "Bearer m1"})
    assert guard.shows_token(shown) == "build1"
    del there["m1"]
    with pytest.raises(TurnedAwayError):
        guard.shows_token(shown)


@pytest.mark.parametrize(
    "shown",
    [
        [],
        ["secret"],
        ["bearer secret"],
        ["Bearer secret "],
        ["Bearer "],
        ["Bearer s\udcffcret"],
        ["Bearer secret", "Bearer secret"],
    ],
)
def test_nothing_else_does(shown: list[str]) -> None:
    headers = CIMultiDict([("Authorization", value) for value in shown])
    with pytest.raises(TurnedAwayError) as turned:
        GUARD.shows_token(headers)
    assert (turned.value.status, turned.value.ends) == (401, True)
    assert "secret" not in f"{turned.value} {turned.value.notice} {turned.value.headers}"
