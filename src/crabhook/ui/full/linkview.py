"""An address that an MCP server asks to open: shown to its last letter, its host in words."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from crabhook.broker.card import Card
from crabhook.ui.full.code import plain_rows
from crabhook.ui.full.detail import Item
from crabhook.ui.full.draw import request_rows
from crabhook.ui.full.framed import framed
from crabhook.ui.full.paper import Line, Sheet
from crabhook.ui.safe import hidden
from crabhook.ui.summary import brief

LONGEST = 4096  # letters of an address that is taken apart; a longer one is only shown
_USUAL = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class LinkContent:
    """The address, what is to be known of it, then the request in full."""

    card: Card

    @property
    def key(self) -> Hashable:
        """The address of which card."""
        return self.card.number, "address", tuple(leg.id for leg in self.card.requests)

    @property
    def count(self) -> int:
        """One item: it is read as a whole."""
        return 1

    def item(self, _place: int) -> Item:
        """Return the address and the request."""
        return Item(self.key, self._rows)

    def _rows(self, sheet: Sheet) -> Iterator[Line]:
        event = self.card.event
        server = brief(event.text("mcp_server_name"), sheet.spell) or "an MCP server"
        yield [("label", f"{server} asks to open this address:")]
        url = event.text("url")
        yield from framed(plain_rows(url, sheet.inner, sheet.spell, style="name"))
        for style, said in _told(url):
            yield from _sentence(style, said, sheet)
        if message := event.text("message"):
            yield [("label", "it says")]
            yield from framed(plain_rows(message, sheet.inner, sheet.spell, words=True))
        yield [("dim", "accept lets the agent go on; nothing is opened on this machine by it")]
        yield []
        yield [("label", "the request in full")]
        yield from request_rows(self.card, sheet)


def _sentence(style: str, said: str, sheet: Sheet) -> Iterator[Line]:
    for _, row in plain_rows(said, sheet.columns, sheet.spell, style=style, words=True):
        yield row


def _told(url: str) -> Iterator[tuple[str, str]]:
    """Return what a person has to know of an address, in sentences and the style of each."""
    parts = _taken_apart(url)
    if parts is None:
        yield "warning", "! this is no address that can be read: do not trust it"
        return
    scheme, host, port, user = parts
    yield "heading", f"it goes to the host {host}" + (f", port {port}" if port else "")
    for wrong, said in (
        (scheme != "https", f'it is not encrypted: its scheme is "{scheme}"'),
        (user, f'what stands before the "@" ({user}) is not the host'),
        (not host.isascii() or "xn--" in host, "its host has letters that can look like others"),
        (host.replace(".", "").isdigit() or ":" in host, "its host is a number, not a name"),
        ("\\" in url, "it has a backslash, which programs read in different ways"),
        (hidden(url) or " " in url, "it has letters that cannot be seen, or blanks"),
    ):
        if wrong:
            yield "warning", f"! {said}"


def _taken_apart(url: str) -> tuple[str, str, int | None, str] | None:
    """Return scheme, host, an unusual port and the user's name; None where there is no host."""
    if len(url) > LONGEST:
        return None
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if not host or not parts.scheme:
        return None
    user = parts.netloc.rpartition("@")[0]
    return parts.scheme, host, port if port != _USUAL.get(parts.scheme) else None, user
