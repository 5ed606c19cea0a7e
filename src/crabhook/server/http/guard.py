"""Who may ask over HTTP: nobody's browser, under no borrowed name, and only with the token.

Any user of the machine reaches its loopback, and so does any web page that its
owner has open: hence the token there too, and hence no other name than our
own (a page's name can be made to lead here, DNS rebinding) and nothing that
only a browser sends.
"""

import re
from collections.abc import Collection
from http import HTTPStatus
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Protocol, TypeAlias

from crabhook.server.address import TcpAddress
from crabhook.server.http.turned import TurnedAwayError
from crabhook.server.token import shows

_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9._-]+))(?::([0-9]{1,5}))?")
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
_USUAL_PORT = {False: 80, True: 443}  # by whether it is TLS

_Number: TypeAlias = IPv4Address | IPv6Address


class Headers(Protocol):
    """What is asked of a request's headers; their names know no case."""

    def getall(self, key: str, default: list[str], /) -> list[str]:
        """Return all values of a header, or `default`."""


class Guard:
    """Looks at requests' headers, and raises TurnedAwayError for those that may not ask.

    `names` are those that the door goes by beside its address.
    """

    def __init__(self, token: str, names: Collection[str] = ()) -> None:
        self._token = token
        self._names = frozenset(name.lower().rstrip(".") for name in names)

    def __repr__(self) -> str:
        return f"<Guard for {sorted(self._names)}>"

    def no_browser(self, headers: Headers) -> None:
        """Turn away what a web page sends; a person's own typing in the address bar is none."""
        sites = headers.getall("Sec-Fetch-Site", [])
        if headers.getall("Origin", []) or any(site != "none" for site in sites):
            raise TurnedAwayError(
                HTTPStatus.FORBIDDEN,
                "no web page may ask here",
                told="a web page's request was turned away",
                ends=True,
            )

    def our_name(self, headers: Headers, here: TcpAddress, *, tls: bool) -> None:
        """Turn away whoever calls us by another name than ours; `here` is the connection's end."""
        hosts = headers.getall("Host", [])
        found = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        if found is None or not self._is_ours(found, here, tls=tls):
            raise TurnedAwayError(
                HTTPStatus.MISDIRECTED_REQUEST,
                f"the header Host must name this server as it was opened, such as {here}; "
                "--http-name adds a name",
                told="a request that called this server by another name was turned away "
                "(--http-name adds a name)",
                ends=True,
            )

    def shows_token(self, headers: Headers) -> None:
        """Turn away whoever does not show the token."""
        shown = headers.getall("Authorization", [])
        if len(shown) != 1 or not shown[0].isascii() or not shows(self._token, shown[0]):
            raise TurnedAwayError(
                HTTPStatus.UNAUTHORIZED,
                "no token, or a wrong one: the agent needs the server's token in CRABHOOK_TOKEN",
                told="no CRABHOOK_TOKEN, or a wrong one: a request was turned away "
                "(is it set where the agent was started?)",
                ends=True,
                headers={"WWW-Authenticate": "Bearer"},
            )

    def _is_ours(self, host: "re.Match[str]", here: TcpAddress, *, tls: bool) -> bool:
        name = (host[1] or host[2]).lower().rstrip(".")
        if name in self._names:
            return True  # whatever the port: it may be another's, that leads here
        if int(host[3] or _USUAL_PORT[tls]) != here.port:
            return False
        if here.loopback and name in _LOOPBACK_NAMES:
            return True
        return _number(name) is not None and _number(name) == _number(here.host)


def _number(text: str) -> _Number | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
