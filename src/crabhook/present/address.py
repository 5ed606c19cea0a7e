"""What a person must know of an address before they open it."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from crabhook.present.safe import hidden

LONGEST = 4096  # letters of an address that is taken apart; a longer one is only shown
_USUAL = {"http": 80, "https": 443}


def about_address(url: str) -> Iterator[tuple[str, str]]:
    """Return what a person must know of an address, as styled sentences."""
    try:
        parts = urlsplit(url if len(url) <= LONGEST else "")
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    scheme, host = parts.scheme, parts.hostname
    if not host or not scheme:
        yield "warning", "! this is no address that can be read: do not trust it"
        return
    user = parts.netloc.rpartition("@")[0]
    unusual = f", port {port}" if port and port != _USUAL.get(scheme) else ""
    yield "heading", f"it goes to the host {host}{unusual}"
    for wrong, warning in (
        (scheme != "https", f'it is not encrypted: its scheme is "{scheme}"'),
        (user, f'what stands before the "@" ({user}) is not the host'),
        (not host.isascii() or "xn--" in host, "its host has letters that can look like others"),
        (host.replace(".", "").isdigit() or ":" in host, "its host is a number, not a name"),
        ("\\" in url, "it has a backslash, which programs read in different ways"),
        (hidden(url) or " " in url, "it has letters that cannot be seen, or blanks"),
    ):
        if wrong:
            yield "warning", f"! {warning}"
