"""Where a person opens the page of a server."""

from __future__ import annotations

import pytest

from crabhook.app.admission import Admitted
from crabhook.app.listeners import advertised
from crabhook.app.web import page_of
from crabhook.config import Settings
from crabhook.server.address import TcpAddress, Tokens


@pytest.mark.parametrize(
    ("names", "at", "tls", "page"),
    [
        ((), TcpAddress("127.0.0.1", 7446), False, "http://crabhook.localhost:7446"),
        ((), TcpAddress("192.168.1.7", 7446), True, "https://192.168.1.7:7446"),
        (("desk.example",), TcpAddress("127.0.0.1", 7446), False, "https://desk.example"),
        (("desk.example:8443",), TcpAddress("127.0.0.1", 7446), False, "https://desk.example:8443"),
        (("localhost",), TcpAddress("127.0.0.1", 7446), False, "http://localhost:7446"),
        (("me.localhost:8080",), TcpAddress("127.0.0.1", 7446), False, "http://me.localhost:8080"),
        (("localhost:8443",), TcpAddress("127.0.0.1", 7446), True, "https://localhost:8443"),
        (("desk.example", "b"), TcpAddress("0.0.0.0", 7446), True, "https://desk.example:7446"),
        (("desk.example",), TcpAddress("0.0.0.0", 443), True, "https://desk.example"),
        (("desk.example:443",), TcpAddress("0.0.0.0", 7446), True, "https://desk.example"),
    ],
)
def test_the_page_has_the_first_name_and_the_port_that_leads_there(
    names: tuple[str, ...], at: TcpAddress, tls: bool, page: str
) -> None:
    assert page_of(Settings(web="127.0.0.1:7446", web_name=names), at, tls=tls) == page


@pytest.mark.parametrize(
    ("settings", "page"),
    [
        (Settings(), ""),
        (Settings(web="127.0.0.1:7446"), ""),
        (Settings(web="127.0.0.1:7446", web_name=("a.example",)), "https://a.example"),
        (Settings(web="0.0.0.0:7446", web_name=("a.example",)), "https://a.example:7446"),
    ],
)
def test_other_servers_are_told_of_a_page_that_has_a_name(settings: Settings, page: str) -> None:
    assert advertised(settings, (), Admitted(Tokens(), None, None)).page == page
