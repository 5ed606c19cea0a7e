"""An address is taken apart for whoever has to judge it."""

from __future__ import annotations

from typing import Any

from crabhook.present.safe import safe
from crabhook.ui.full.panes.card import card_content
from crabhook.ui.text.layout import Sheet
from tests.support.rows import every_row
from tests.support.sitting import Sitting


def shown(url: Any) -> str:
    sitting = Sitting()
    event = {"hook_event_name": "Elicitation", "session_id": "s", "cwd": "/", "mode": "url"}
    sitting.desk.ask({**event, "mcp_server_name": "pay", "url": url, "message": "Sign in."})
    lines = card_content(sitting.screen, sitting.card).item(0).rows(Sheet(400, safe))
    return "\n".join("".join(said for _, said in line) for line in lines)


def test_a_plain_address_is_named_by_its_host_and_warned_about_in_nothing() -> None:
    text = shown("https://pay.example/x?y=1")
    assert "│ https://pay.example/x?y=1" in text
    assert "it goes to the host pay.example" in text
    assert "!" not in text
    assert "│ Sign in." in text


@every_row(
    "url, said",
    [
        ("http://x.example/", "not encrypted"),
        ("https://github.com@evil.example/", "the host evil.example"),
        ("https://github.com@evil.example/", 'before the "@" (github.com)'),
        ("https://x.example:8443/", "port 8443"),
        ("https://xn--gthub-n4a.example/", "look like others"),
        ("https://g\u0131thub.example/", "look like others"),
        ("https://127.0.0.1/", "a number, not a name"),
        ("https://[::1]/", "a number, not a name"),
        ("https://x.example\\@y.example/", "backslash"),
        ("https://x.example/\u202eoc", "cannot be seen"),
        ("file:///etc/passwd", "no address that can be read"),
        ("javascript:alert(1)", "no address that can be read"),
        ("https://[", "no address that can be read"),
    ],
)
def test_what_is_doubtful_is_said(url: str, said: str) -> None:
    assert said in shown(url)
