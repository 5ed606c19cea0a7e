"""Checks what a browser sends before a route sees it, and says what a page of ours may do.

Any page that a person has open can send requests here. It may be of another site, of a name that
leads to this machine, or of an agent's own server on another port. None of them may act, read or
frame our page.
"""

from collections.abc import Collection, Mapping
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import urlsplit

from multidict import MultiMapping

from crabhook.server.address import TcpAddress
from crabhook.server.http.connections import SERVER
from crabhook.server.http.middleware import OwnNames, TurnedAwayError
from crabhook.team.web_enrolling import is_this_machine

OWN_NAME = "crabhook.localhost"
"""A name of every machine's own, for the web desk alone: its passkeys are of no other server."""

_POLICY = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types crabhook",
    "report-uri /csp",
)
HEADERS: Mapping[str, str] = MappingProxyType(
    {
        **SERVER,
        "Content-Security-Policy": "; ".join(_POLICY),
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cross-Origin-Embedder-Policy": "require-corp",
        "Permissions-Policy": "publickey-credentials-get=(self), "
        "publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Cache-Control": "no-store",
    }
)
"""The headers of every answer."""


class BrowserGuard:
    """Turns away requests that no page of ours sends; `names` are those that lead here."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = OwnNames((*names, OWN_NAME), "--web-name")

    def origins(self, headers: MultiMapping[str], here: TcpAddress, *, tls: bool) -> frozenset[str]:
        """Return the origins that a page of ours has by the name that a request calls us.

        Behind a proxy the browser speaks TLS though this end does not. Raises TurnedAwayError for a
        name that is not ours.
        """
        self._names.our_name(headers, here, tls=tls)
        host = headers["Host"].lower()
        plain = not tls and is_this_machine(urlsplit(f"//{host}").hostname or "")
        return frozenset({f"https://{host}", *([f"http://{host}"] if plain else [])})

    def own_page(self, headers: MultiMapping[str], origins: Collection[str]) -> None:
        """Turn away a request that may change something, and does not come from our own page."""
        from_page = headers.getall("Origin", [])
        sites = headers.getall("Sec-Fetch-Site", ["same-origin"])
        if len(from_page) != 1 or from_page[0] not in origins or sites != ["same-origin"]:
            raise TurnedAwayError(
                HTTPStatus.FORBIDDEN,
                "only this desk's own page may ask here",
                notice="another web page's request to the web desk was turned away",
                ends=True,
            )

    def not_another_page(self, headers: MultiMapping[str]) -> None:
        """Turn away what another page would load from here, but for a link that is followed."""
        sites = headers.getall("Sec-Fetch-Site", ["none"])
        followed = headers.get("Sec-Fetch-Mode") == "navigate"
        if followed and headers.get("Sec-Fetch-Dest", "document") == "document":
            return
        if any(site not in ("same-origin", "none") for site in sites):
            raise TurnedAwayError(HTTPStatus.FORBIDDEN, "no other page may load this", ends=True)
