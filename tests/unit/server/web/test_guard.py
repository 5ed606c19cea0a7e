"""Which pages count as our own, by the name that a browser calls the server."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict

from crabhook.server.address import TcpAddress
from crabhook.server.web.guard import BrowserGuard


@pytest.mark.parametrize(
    ("host", "tls", "schemes"),
    [
        ("crabhook.localhost:7446", False, {"http", "https"}),
        ("me.localhost:8080", False, {"http", "https"}),
        ("127.0.0.1:7446", False, {"http", "https"}),
        ("[::1]:7446", False, {"http", "https"}),
        ("me.localhost:8080", True, {"https"}),
        ("desk.example", False, {"https"}),
        ("me.localhost.desk.example", False, {"https"}),
    ],
)
def test_without_tls_only_names_of_the_browsers_own_machine_are_ours(
    host: str, tls: bool, schemes: set[str]
) -> None:
    guard = BrowserGuard(("desk.example", "me.localhost", "me.localhost.desk.example"))
    here = TcpAddress("127.0.0.1", 7446)
    ours = guard.origins(CIMultiDict({"Host": host}), here, tls=tls)
    assert ours == {f"{scheme}://{host}" for scheme in schemes}
